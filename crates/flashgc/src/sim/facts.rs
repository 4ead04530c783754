//! Facts of the translation layer are passed on here, to everyone who keeps something of them.

use super::Sim;
use crate::ftl::{Fact, Lost};
use crate::verify::{Happened, Watch};

impl<W: Watch> Sim<W> {
    /// Reads all facts, the oldest first. To be called after each change of the translation layer,
    /// before anything is chosen.
    #[inline(always)]
    pub(super) fn pass_on_facts(&mut self) {
        while let Some(fact) = self.ftl.facts.oldest() {
            self.block_has_changed(fact);
        }
        if let Some(lost) = self.ftl.facts.lost() {
            self.page_was_lost(lost);
        }
    }

    #[inline(always)]
    fn page_was_lost(&mut self, lost: Lost) {
        self.gc.page_was_lost(lost, &sight!(self));
        self.look_at_called();
        if self.ahead.is_some() {
            self.ahead_loses(lost.page);
        }
        if self.gc.busy_planes[lost.plane.index()] {
            self.job_loses(lost.plane, lost.page);
        }
    }

    #[inline(never)]
    fn block_has_changed(&mut self, fact: Fact) {
        self.gc.block_has_changed(fact, &sight!(self));
        self.look_at_called();
        match fact {
            Fact::Moved { from, to } => self.ahead_moves(from, to),
            Fact::Opened { block, .. } => self.tell(Happened::Opened { block }),
            Fact::Claimed { plane, block, .. } => {
                self.tell(Happened::Claimed { block });
                self.ahead_leaves(plane, block);
            }
            Fact::Free { block, erased: true, .. } => {
                self.counters.erases += 1;
                self.tell(Happened::Erased { block });
            }
            _ => {}
        }
    }
}
