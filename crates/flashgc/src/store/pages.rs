//! Pages are taken, bound and lost, and the trigger is checked.
//!
//! These steps are the same while a drive is preconditioned and while it is measured.

use super::Store;
use crate::context::Context;
use crate::ftl::{Parity, Placed, Stream, Writer};
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use crate::plan::Plan;
use crate::verify::{Cause, Happened, Watch};

impl Store {
    /// Takes a page for the host, binds it, and marks the old one invalid. `writer` is called only
    /// where pages have classes. Returns whether it filled its block.
    #[inline(always)]
    pub fn write_page<W: Watch>(
        &mut self,
        plane: PlaneId,
        lpn: Lpn,
        cause: Cause,
        writer: impl FnOnce() -> Writer,
        cx: &mut Context<'_, W>,
    ) -> bool {
        let stream = self.stream(plane, lpn, writer, cx);
        self.write_to(plane, stream, Parity::Any, lpn, cause, cx)
    }

    /// Writes a page whose copy is in the register, and is changed there.
    pub fn write_merged<W: Watch>(
        &mut self,
        plane: PlaneId,
        lpn: Lpn,
        cause: Cause,
        writer: impl FnOnce() -> Writer,
        cx: &mut Context<'_, W>,
    ) -> bool {
        // The page replaces the copy from which it is made, and so one of its parity: the pages
        // that are reserved for the collection's copies stay enough.
        if self.ftl.frontiers.keeps_parity() && !cx.plan.gc.separate_gc {
            let parity = self.parity_of(cx.plan, self.ftl.map.ppn_of(lpn));
            return self.write_to(plane, Stream::Host, parity, lpn, cause, cx);
        }
        self.write_page(plane, lpn, cause, writer, cx)
    }

    #[inline(always)]
    pub(super) fn write_to<W: Watch>(
        &mut self,
        plane: PlaneId,
        stream: Stream,
        parity: Parity,
        lpn: Lpn,
        cause: Cause,
        cx: &mut Context<'_, W>,
    ) -> bool {
        let placed = self.ftl.write(&cx.plan.geometry, plane, stream, parity, lpn);
        self.pass_on_facts(cx);
        self.lose(placed.left, cx);
        self.notify_placed(lpn, placed, cx.plan);
        cx.notify(Happened::Programmed { ppn: placed.ppn, lpn, cause, current: true });
        self.seal_if_filled(placed, cx);
        self.check_trigger(plane, cx);
        placed.filled.is_some()
    }

    /// After a page was taken: does the plane need space?
    #[inline(always)]
    pub fn check_trigger<W: Watch>(&mut self, plane: PlaneId, cx: &Context<'_, W>) {
        self.gc.check_trigger(plane, &cx.plan.gc, &cx.plan.geometry, &self.ftl);
        if self.gc.keeps_books {
            self.gc.check_used_space(plane, &sight!(self, cx));
        }
    }

    /// Closes the block that a page has filled.
    #[inline(always)]
    pub fn seal_if_filled<W: Watch>(&mut self, placed: Placed, cx: &mut Context<'_, W>) {
        if placed.filled.is_some() {
            self.seal(placed.filled, cx);
        }
    }

    pub(super) fn seal<W: Watch>(&mut self, block: BlockId, cx: &mut Context<'_, W>) {
        if self.ftl.waits_for_writes(block) {
            return;
        }
        self.ftl.seal(&cx.plan.geometry, block, self.age_base_ns + cx.now_ns);
        self.pass_on_facts(cx);
    }

    /// Copies the data of a page to another one: the only place where copies are made. The block
    /// that it leaves may have been emptied before, and its class chosen.
    #[inline(always)]
    pub fn copy_page<const EMPTIED: bool, W: Watch>(
        &mut self,
        from: Ppn,
        plane: PlaneId,
        requested: Option<u8>,
        cause: Cause,
        cx: &mut Context<'_, W>,
    ) -> Placed {
        let lpn = self.ftl.map.lpn_of(from);
        let stream = match self.gc.placement {
            Some(_) => self.stream_of_copy(from, plane, requested, cx),
            None => Stream::Gc,
        };
        let parity = self.parity_of(cx.plan, from);
        let geometry = &cx.plan.geometry;
        let placed = if EMPTIED {
            self.ftl.copy_emptied(geometry, from, plane, stream, parity)
        } else {
            self.ftl.copy(geometry, from, plane, stream, parity)
        };
        self.pass_on_facts(cx);
        if !EMPTIED {
            self.lose(placed.left, cx);
        }
        let Placed { ppn, current, .. } = placed;
        self.notify_placed(lpn, placed, cx.plan);
        cx.notify(Happened::Programmed { ppn, lpn, cause, current });
        placed
    }

    /// The host trims a page.
    pub fn trim<W: Watch>(&mut self, lpn: Lpn, cx: &mut Context<'_, W>) {
        let left = self.ftl.trim(lpn);
        self.notify_trimmed(lpn, left);
        cx.notify(Happened::Trimmed { lpn });
        self.lose(left, cx);
    }

    /// The plane that a page of a collection in this plane goes to, in another unit of the same
    /// pool: the one that a write of the host would take. Without any, the page stays.
    pub fn copy_target(&mut self, plan: &Plan, from: PlaneId) -> PlaneId {
        let own = plan.geometry.unit_of(from);
        let pool = plan.pools.of_plane(from);
        let best = self.alloc.best_plane(plan, &self.ftl, pool, |plane| {
            plan.geometry.unit_of(plane) != own && self.takes_cross_unit(plane)
        });
        let Some(chosen) = best else { return from };
        self.alloc.has_chosen(plan, chosen);
        chosen
    }

    /// Whether pages of other planes may come here. While the plane is collected its erased pages
    /// are for its own collection, which may have opened a block of the reserve.
    pub fn takes_cross_unit(&self, plane: PlaneId) -> bool {
        self.ftl.frontiers.copy_has_room(plane) && !self.gc.busy_planes[plane.index()]
    }

    /// The parity that the copy of a page needs.
    #[inline(always)]
    fn parity_of(&self, plan: &Plan, from: Ppn) -> Parity {
        if self.ftl.frontiers.keeps_parity() {
            Parity::Only(plan.geometry.block_and_page(from).1 % 2)
        } else {
            Parity::Any
        }
    }
}
