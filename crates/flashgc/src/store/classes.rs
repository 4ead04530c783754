//! Classes: placement puts each page into the class that follows from the page's history.

use super::Store;
use crate::context::Context;
use crate::ftl::{BlockFacts, Placed, Stream, Writer};
use crate::gc::placement::{Copied, Placement, Write};
use crate::ids::{Lpn, PlaneId, Ppn};
use crate::plan::Plan;
use crate::verify::Watch;

impl Store {
    /// The stream of a write by the host. `writer` is called only where pages have classes.
    #[inline(always)]
    pub fn stream<W: Watch>(
        &mut self,
        plane: PlaneId,
        lpn: Lpn,
        writer: impl FnOnce() -> Writer,
        cx: &mut Context<'_, W>,
    ) -> Stream {
        match self.gc.placement {
            Some(_) => self.stream_of_write(plane, lpn, writer(), cx),
            None => Stream::Host,
        }
    }

    /// The same where pages have classes; the write of a page that holds data is an update.
    #[inline(never)]
    fn stream_of_write<W: Watch>(
        &mut self,
        plane: PlaneId,
        lpn: Lpn,
        writer: Writer,
        cx: &mut Context<'_, W>,
    ) -> Stream {
        let old = self.ftl.map.ppn_of(lpn);
        let write = Write {
            lpn,
            is_update: old.is_some(),
            writer,
            clock: self.ftl.clock(&cx.plan.geometry) + 1,
            old: self.block_facts(old, cx.plan),
        };
        let placement = self.gc.placement.as_mut();
        let own = placement.map_or(0, |placement| placement.class_of_write(write));
        let class = self.class_with_page(plane, own, false, cx);
        self.gc.by_class[class as usize].writes += 1;
        self.gc.class_fallbacks += u64::from(class != own);
        Stream::Class(class)
    }

    /// The stream of a page that a collection copies, or that is pre-migrated.
    #[inline(never)]
    pub(super) fn stream_of_copy<W: Watch>(
        &mut self,
        from: Ppn,
        plane: PlaneId,
        lpn: Lpn,
        cx: &mut Context<'_, W>,
    ) -> Stream {
        let is_current = self.ftl.map.ppn_of(lpn) == from;
        let from = self.block_facts(from, cx.plan);
        let clock = self.ftl.clock(&cx.plan.geometry);
        let Some(placement) = &mut self.gc.placement else { return Stream::Gc };
        let class = placement.class_of_copy(Copied { lpn, clock, from, is_current });
        let class = self.class_with_page(plane, class, true, cx);
        self.gc.by_class[class as usize].copies += 1;
        Stream::Class(class)
    }

    /// Placement is notified of the block that a valid page of a class went to.
    #[inline(always)]
    pub(super) fn tell_placed(&mut self, lpn: Lpn, placed: Placed, plan: &Plan) {
        if let Some(placement) = self.gc.placement.as_mut().filter(|_| placed.current) {
            placement.placed(lpn, plan.geometry.block_of(placed.ppn));
        }
    }

    /// Placement is notified of a trim, if the data has left a page.
    pub(super) fn tell_trimmed(&mut self, lpn: Lpn, left: Ppn) {
        if let Some(placement) = self.gc.placement.as_mut().filter(|_| left.is_some()) {
            placement.trimmed(lpn);
        }
    }

    /// The block of a page, where placement keeps blocks and the page has one.
    #[inline(always)]
    fn block_facts(&self, page: Ppn, plan: &Plan) -> Option<BlockFacts> {
        if !page.is_some() || !self.ftl.stamps.are_kept() {
            return None;
        }
        self.ftl.facts_of(plan.geometry.block_of(page))
    }

    /// A class whose frontier has a page for one of this class: the class itself, if necessary in
    /// the erased block that placement chooses. At the reserve, which is for copies, a write by the
    /// host goes to the nearest class that has a block open.
    #[inline(always)]
    fn class_with_page<W: Watch>(
        &mut self,
        plane: PlaneId,
        class: u8,
        is_copy: bool,
        cx: &mut Context<'_, W>,
    ) -> u8 {
        if self.ftl.frontiers.has_page(plane, class) {
            return class;
        }
        self.open_chosen(plane, class, is_copy, cx)
    }

    #[cold]
    fn open_chosen<W: Watch>(
        &mut self,
        plane: PlaneId,
        class: u8,
        is_copy: bool,
        cx: &mut Context<'_, W>,
    ) -> u8 {
        if self.ftl.continue_started(&cx.plan.geometry, plane, class) {
            return class;
        }
        let frontiers = &self.ftl.frontiers;
        if !is_copy && !frontiers.is_above_reserve(plane) {
            return frontiers.class_with_room(plane, class).unwrap_or(class);
        }
        let candidates = self.gc.candidates(&sight!(self, cx));
        let placement = self.gc.placement.as_mut();
        let chosen = placement.and_then(|p| p.choose(plane, class, &self.ftl, &candidates));
        // Without any, the reserve was too small, and the caller that takes the page will report
        // it.
        if let Some(block) = chosen.or_else(|| self.ftl.frontiers.free_list(plane).next()) {
            self.ftl.open_chosen(&cx.plan.geometry, plane, class, block);
            self.pass_on_facts(cx);
        }
        class
    }
}
