//! Space: taking pages, binding the map, losing old pages, and asking the trigger.
//!
//! These steps are the same while a drive is preconditioned and while it is measured.

use super::Sim;
use crate::ftl::{Ftl, Parity, Placed, Stream};
use crate::ids::{BlockId, Lpn, PlaneId, Ppn, UnitId};
use crate::plan::Allocation;
use crate::verify::{Cause, Happened, Watch};
use std::cmp::Reverse;

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
        if !self.gc.wants[plane.index()] {
            let trigger = &self.plan.gc.trigger;
            if trigger.soft.is_short(&self.ftl, plane, trigger.inclusive) {
                self.want_space(plane);
            }
        }
        if self.gc.keeps_books {
            self.ask_used_space(plane);
        }
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

    /// Copies the data of a page to another one: the only place where copies are made.
    #[inline(always)]
    pub(super) fn copy_page(&mut self, from: Ppn, plane: PlaneId, cause: Cause) -> Placed {
        let lpn = self.ftl.map.lpn_of(from);
        let (stream, parity) = (self.stream_of_copy(plane, lpn), self.parity_of(from));
        let placed = self.ftl.copy(&self.plan.geometry, from, plane, stream, parity);
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

    /// A plane needs space from now on.
    #[inline]
    pub(super) fn want_space(&mut self, plane: PlaneId) {
        if !self.gc.wants[plane.index()] {
            self.gc.wants[plane.index()] = true;
            self.units[self.plan.geometry.unit_of(plane).index()].wanting += 1;
        }
    }

    /// The next write of the unit finds no page anywhere.
    pub(super) fn starve(&mut self, unit: UnitId, lpn: Lpn) {
        self.starved.push(unit);
        if self.pacing.is_some() {
            self.hurry_all();
        }
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
                self.want_space(plane);
                self.look_at(self.plan.geometry.unit_of(plane));
            }
        }
    }

    /// After an erase: does the plane still need space?
    pub(super) fn ask_trigger_to_stop(&mut self, plane: PlaneId) {
        if self.gc.lists.is_some() {
            return self.used_space_won(plane);
        }
        let trigger = &self.plan.gc.trigger;
        if self.gc.wants[plane.index()]
            && !trigger.stop.is_short(&self.ftl, plane, trigger.inclusive)
        {
            self.wants_no_more(plane);
        }
    }

    /// A plane has enough.
    pub(super) fn wants_no_more(&mut self, plane: PlaneId) {
        if std::mem::take(&mut self.gc.wants[plane.index()]) {
            self.units[self.plan.geometry.unit_of(plane).index()].wanting -= 1;
        }
    }

    /// Dynamic allocation: the [`fittest_plane`](Self::fittest_plane). The next in turn is then the
    /// one after it.
    pub(super) fn least_busy_plane(&mut self, lpn: Lpn) -> PlaneId {
        let chosen = self.fittest_plane(lpn);
        self.has_chosen(chosen);
        chosen
    }

    /// In the page's pool: the least busy plane above its reserve, then the one with the most
    /// erased pages, then the next in turn. When every plane is at its reserve, the best of them.
    #[inline(always)]
    pub(super) fn fittest_plane(&self, lpn: Lpn) -> PlaneId {
        let pool = self.plan.pools.of_page(&self.plan.geometry, lpn);
        let chosen = self.best_plane(pool, |ftl, plane| ftl.host_has_room(plane));
        let chosen = chosen.or_else(|| self.best_plane(pool, |_, _| true));
        chosen.unwrap_or(self.plan.pools.planes(pool)[0])
    }

    /// The plane after this one is the next in turn of its pool.
    #[inline(always)]
    pub(super) fn has_chosen(&mut self, plane: PlaneId) {
        let pool = self.plan.pools.of_plane(plane);
        self.next_in_pool[pool] = self.plan.pools.place_after(plane);
    }

    /// The best of the pool's planes that are fit. Fitness costs more than rank, so it is checked
    /// last.
    #[inline(always)]
    pub(super) fn best_plane(
        &self,
        pool: usize,
        is_fit: impl Fn(&Ftl, PlaneId) -> bool,
    ) -> Option<PlaneId> {
        let (before, rest) =
            self.plan.pools.planes(pool).split_at(self.next_in_pool[pool] as usize);
        let mut best = None;
        let mut best_rank = (u32::MAX, Reverse(0));
        for &plane in rest.iter().chain(before) {
            let load = self.loads[self.plan.geometry.unit_of(plane).index()];
            let rank = (load, Reverse(self.ftl.frontiers.free_pages(plane)));
            if rank < best_rank && is_fit(&self.ftl, plane) {
                (best, best_rank) = (Some(plane), rank);
            }
        }
        best
    }
}
