//! Space: taking pages, binding the map, losing old pages, and asking the trigger.
//!
//! These steps are the same while a drive is preconditioned and while it is measured.

use super::Sim;
use crate::ftl::{Parity, Placed, Stream};
use crate::ids::{BlockId, Lpn, PlaneId, Ppn, UnitId};
use crate::plan::Allocation;
use crate::verify::{Cause, Happened, Watch};

impl<W: Watch> Sim<W> {
    /// Takes a page for the host, binds it, and marks the old one invalid. Returns whether it
    /// filled its block.
    #[inline(always)]
    pub(super) fn write_page(&mut self, plane: PlaneId, lpn: Lpn, op: u32) -> bool {
        if self.gc.placement.is_some() {
            return self.write_page_of_class(plane, lpn, op);
        }
        self.write_page_to(plane, Stream::Host, lpn, op, Parity::Any)
    }

    /// The same in this stream, on a page of this parity.
    #[inline(always)]
    pub(super) fn write_page_to(
        &mut self,
        plane: PlaneId,
        stream: Stream,
        lpn: Lpn,
        op: u32,
        parity: Parity,
    ) -> bool {
        let placed = self.ftl.write(&self.plan.geometry, plane, stream, parity, lpn);
        self.pass_on_facts();
        let (ppn, cause) = (placed.ppn, self.cause_of(op));
        self.tell(Happened::Programmed { ppn, lpn, cause, current: true });
        self.seal_if_filled(placed);
        self.ask_trigger(plane);
        placed.filled.is_some()
    }

    /// Why a page operation programs its page, for the watcher.
    #[inline(always)]
    fn cause_of(&self, op: u32) -> Cause {
        // Pages that are written untimed do not belong to an operation.
        if W::ACTIVE && self.host.waiting.get(op).is_some() && self.host.is_flush(op) {
            return Cause::Flush;
        }
        Cause::Host { op }
    }

    /// After a page was taken: does the plane need space?
    #[inline(always)]
    pub(super) fn ask_trigger(&mut self, plane: PlaneId) {
        self.gc.ask_trigger(plane, &sight!(self));
        self.look_at_called();
    }

    /// Closes the block that a page has filled.
    #[inline(always)]
    pub(super) fn seal_if_filled(&mut self, placed: Placed) {
        if placed.filled.is_some() {
            self.seal(placed.filled);
        }
    }

    fn seal(&mut self, block: BlockId) {
        let age_ns = self.age_now_ns();
        self.ftl.seal(&self.plan.geometry, block, age_ns);
        self.pass_on_facts();
    }

    /// Copies the data of a page to another one: the only place where copies are made. The block
    /// that it leaves may have been emptied before.
    #[inline(always)]
    pub(super) fn copy_page<const EMPTIED: bool>(
        &mut self,
        from: Ppn,
        plane: PlaneId,
        cause: Cause,
    ) -> Placed {
        let lpn = self.ftl.map.lpn_of(from);
        let (stream, parity) = (self.stream_of_copy(plane, lpn), self.parity_of(from));
        let geometry = &self.plan.geometry;
        let placed = if EMPTIED {
            self.ftl.copy_emptied(geometry, from, plane, stream, parity)
        } else {
            self.ftl.copy(geometry, from, plane, stream, parity)
        };
        self.pass_on_facts();
        let Placed { ppn, current, .. } = placed;
        self.tell(Happened::Programmed { ppn, lpn, cause, current });
        placed
    }

    /// Copies of a collection have been made, and filled this many blocks: the only place where
    /// they are counted.
    #[inline(always)]
    pub(super) fn count_copies(&mut self, copies: u64, filled: u64) {
        self.counters.gc_moved += copies;
        self.count_summaries(filled);
    }

    /// This many blocks got their summaries.
    #[inline(always)]
    pub(super) fn count_summaries(&mut self, filled: u64) {
        self.counters.overhead += filled * u64::from(self.plan.geometry.shape.summary_pages);
    }

    /// Brings the accounts of the page that a logical page will leave into the cache.
    #[inline(always)]
    pub(super) fn prefetch_old(&self, lpn: Lpn) {
        let ppn = self.ftl.map.ppn_of(lpn);
        if ppn.is_some() {
            let (block, page) = self.plan.geometry.block_and_page(ppn);
            self.ftl.blocks.prefetch(block, page);
        }
    }

    /// The next write of the unit finds no page anywhere.
    pub(super) fn starve(&mut self, unit: UnitId, lpn: Lpn) {
        self.starved.push(unit);
        self.hurry_all();
        if self.plan.allocation == Allocation::Dynamic {
            self.want_space_in_pool(lpn);
        }
    }

    /// No plane of the page's pool has a page for the host: each that can free a page needs space.
    pub(super) fn want_space_in_pool(&mut self, lpn: Lpn) {
        let pool = self.plan.pools.of_page(&self.plan.geometry, lpn);
        for at in 0..self.plan.pools.planes(pool).len() {
            let plane = self.plan.pools.planes(pool)[at];
            if self.ftl.blocks.reclaimable[plane.index()] > 0 && !self.ftl.host_has_room(plane) {
                self.gc.want_space(plane, &sight!(self));
                self.look_at(self.plan.geometry.unit_of(plane));
            }
        }
    }
}
