//! Facts of the translation layer are passed on here, to everyone who keeps something of them.

use super::Store;
use crate::context::Context;
use crate::ftl::{Fact, Lost};
use crate::ids::Ppn;
use crate::verify::{Happened, Watch};

impl Store {
    /// Reads all facts, the oldest first. To be called after each change of the translation layer,
    /// before anything is chosen.
    #[inline(always)]
    pub(super) fn pass_on_facts<W: Watch>(&mut self, cx: &mut Context<'_, W>) {
        if !self.ftl.facts.is_empty() {
            self.pass_on_all(cx);
        }
    }

    #[inline(never)]
    fn pass_on_all<W: Watch>(&mut self, cx: &mut Context<'_, W>) {
        loop {
            while let Some(fact) = self.ftl.facts.oldest() {
                self.block_has_changed(fact, cx);
            }
            let Some(closed) = self.ftl.closed_block() else { return };
            self.ftl.seal(&cx.plan.geometry, closed, self.age_base_ns + cx.now_ns);
        }
    }

    /// Data has left this page, if it is one, which is passed on behind the facts of the change.
    #[inline(always)]
    pub(super) fn lose<W: Watch>(&mut self, left: Ppn, cx: &Context<'_, W>) {
        if left.is_some() {
            let lost = self.ftl.lose(&cx.plan.geometry, left);
            self.page_was_lost(lost, cx);
        }
    }

    #[inline(always)]
    fn page_was_lost<W: Watch>(&mut self, lost: Lost, cx: &Context<'_, W>) {
        self.gc.page_was_lost(lost, &cx.plan.geometry, &self.ftl);
        if self.gc.keeps_books {
            self.gc.note_loss(lost, &sight!(self, cx));
        }
        if self.ftl.facts.passes_moves || self.gc.busy_planes[lost.plane.index()] {
            self.lost.push(lost);
        }
    }

    fn block_has_changed<W: Watch>(&mut self, fact: Fact, cx: &mut Context<'_, W>) {
        self.gc.block_has_changed(fact, &sight!(self, cx));
        match fact {
            Fact::Opened { block, .. } => cx.notify(Happened::Opened { block }),
            Fact::Claimed { block, valid, .. } => cx.notify(Happened::Claimed { block, valid }),
            Fact::Free { block, erased: true, .. } => {
                cx.counters.erases += 1;
                cx.notify(Happened::Erased { block });
            }
            Fact::ProgramFailed { page, .. } => {
                cx.counters.program_failures += 1;
                cx.notify(Happened::ProgramFailed(page));
            }
            Fact::Retired { block, failed, .. } => {
                cx.counters.erase_failures += u64::from(failed);
                let pages = cx.plan.geometry.data_pages_of(block);
                cx.counters.retired_pages += u64::from(pages);
                cx.notify(Happened::Retired(block, failed));
            }
            Fact::ReadOnly => {
                self.moved.push(fact);
                cx.notify(Happened::BecomesReadOnly);
            }
            _ => {}
        }
        if self.ftl.facts.passes_moves
            && let Fact::Moved { .. } | Fact::Claimed { .. } = fact
        {
            self.moved.push(fact);
        }
    }
}
