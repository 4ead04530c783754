//! Facts of the translation layer are passed on here, to everyone who keeps something of them.

use super::Sim;
use crate::ftl::blocks::BlockState;
use crate::ftl::{Fact, Lost};
use crate::gc::victim::VictimPolicy;
use crate::verify::{Happened, Watch};

impl<W: Watch> Sim<W> {
    /// Reads all facts, the oldest first. To be called after each change of the translation layer,
    /// before anything is chosen.
    #[inline(always)]
    pub(super) fn pass_on_facts(&mut self) {
        if self.ftl.facts.is_empty() {
            return;
        }
        let mut at = 0;
        while let Some(fact) = self.ftl.facts.get(at) {
            match fact {
                Fact::Lost(lost) => self.page_was_lost(lost),
                fact => self.block_has_changed(fact),
            }
            at += 1;
        }
        self.ftl.facts.clear();
    }

    #[inline(always)]
    fn page_was_lost(&mut self, lost: Lost) {
        let Lost { plane, page, block, valid, state } = lost;
        if state == BlockState::Sealed {
            self.gc.victim.invalidated(plane, block, valid);
            if let Some(placement) = &mut self.gc.placement {
                placement.invalidated(plane, block);
            }
            if self.ftl.blocks.reclaimable[plane.index()] == 1 && self.gc.wants[plane.index()] {
                // The plane needed space, and until now a collection would have freed none.
                self.look_at(self.plan.geometry.unit_of(plane));
            }
        }
        if self.gc.keeps_books {
            self.note_loss(lost);
        }
        if self.ahead.is_some() {
            self.ahead_loses(page);
        }
        if self.gc.busy_planes[plane.index()] {
            self.job_loses(plane, page);
        }
    }

    #[inline(never)]
    fn block_has_changed(&mut self, fact: Fact) {
        let (plane, block) = match fact {
            Fact::Lost(_) => return,
            Fact::Moved { from, to } => return self.ahead_moves(from, to),
            Fact::Opened { plane, block } => {
                self.gc.victim.opened(plane, block);
                self.tell(Happened::Opened { block });
                (plane, block)
            }
            Fact::Sealed { plane, block, valid } => {
                self.note_sealed(plane, block, valid);
                (plane, block)
            }
            Fact::Claimed { plane, block, valid } => {
                self.note_claimed(plane, block, valid);
                (plane, block)
            }
            Fact::Withheld { plane, block } => (plane, block),
            Fact::Free { plane, block, erased } => {
                self.gc.victim.erased(plane, block);
                if erased {
                    self.counters.erases += 1;
                    self.tell(Happened::Erased { block });
                }
                (plane, block)
            }
        };
        self.gc.changed(&self.ftl, &self.plan.geometry, plane, block);
    }
}
