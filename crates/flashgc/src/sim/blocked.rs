//! Blocking `blocks`: which reads wait for a block under collection, and for how long.
//!
//! Paper on-demand-gc takes this from Ae and Hong 2022, of which it quotes little; the rules are on
//! docs/schemes/bbgc.md#the-two-closed-blocks. Requests are served between the copies of a
//! collection. Two blocks are closed to them, the *victim*, and the *destination*, into which the
//! last copy was programmed:
//! 1. A read is next, and its page lies in one of them: it stands aside until the victim is erased,
//!    even if the page moves meanwhile. Then it goes before later requests.
//! 2. But a page that this very collection has moved is read at its new place, like any other page.
//!    It lies in the destination, which is the one case in which the two rules meet.
//! 3. Writes go to the host's own open block, and so touch neither.

use super::Sim;
use crate::ids::{BlockId, Ppn, UnitId};
use crate::plan::READS;
use crate::verify::Watch;

/// The reads that stand aside, by unit, in the order in which they would have been served.
#[derive(Default)]
pub(super) struct Aside {
    units: Vec<Vec<u32>>,
}

impl Aside {
    /// No reads yet; no lists where the scheme blocks more than single blocks.
    pub(super) fn new(units: u32, is_used: bool) -> Self {
        Aside { units: vec![Vec::new(); if is_used { units as usize } else { 0 }] }
    }

    /// Whether any stands aside at this unit.
    pub(super) fn waits_at(&self, unit: UnitId) -> bool {
        self.units.get(unit.index()).is_some_and(|ops| !ops.is_empty())
    }
}

impl<W: Watch> Sim<W> {
    /// The reads that are next stand aside as far as they touch a closed block.
    #[inline(never)]
    pub(super) fn set_aside(&mut self, unit: UnitId) {
        while let Some(op) = self.host.waiting.peek(unit, READS) {
            let ppn = self.ftl.map.ppn_of(self.host.waiting.op(op).lpn);
            if !ppn.is_some() || !self.is_closed(unit, ppn) {
                return;
            }
            self.take_from_queue(unit, op, READS);
            self.aside.units[unit.index()].push(op);
            self.counters.blocked += 1;
        }
    }

    /// Whether a page lies in a block that the unit's collection closes.
    fn is_closed(&self, unit: UnitId, ppn: Ppn) -> bool {
        let job = &self.jobs[unit];
        if !job.is_open() {
            return false;
        }
        let block = self.plan.geometry.block_of(ppn);
        if job.victims.iter().any(|victim| victim.block == block) {
            return true;
        }
        self.destination(unit) == Some(block) && !job.copies.iter().any(|copy| copy.to == ppn)
    }

    /// The block into which the unit's collection programmed its last copy.
    fn destination(&self, unit: UnitId) -> Option<BlockId> {
        let job = &self.jobs[unit];
        let made = job.copies[..job.next].iter().rev();
        let last = made.map(|copy| copy.to).find(|to| to.is_some())?;
        Some(self.plan.geometry.block_of(last))
    }

    /// The victim is erased: the reads that stood aside are back at their places in the queue.
    #[inline(never)]
    pub(super) fn let_back(&mut self, unit: UnitId) {
        while let Some(op) = self.aside.units[unit.index()].pop() {
            self.host.waiting.put_back(op);
            self.alloc.one_more(unit);
        }
    }
}
