//! Classes: placement puts each page into the class that follows from the page's history.

use super::Store;
use crate::context::Context;
use crate::ftl::{BlockFacts, Parity, Placed, Stream, Writer};
use crate::gc::placement::{Copied, Placement, Write};
use crate::ids::{Lpn, PlaneId, Ppn};
use crate::plan::Plan;
use crate::verify::{Cause, Watch};

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

    /// The stream of a write where pages have classes; the write of a page that holds data is an
    /// update.
    #[inline(never)]
    fn stream_of_write<W: Watch>(
        &mut self,
        plane: PlaneId,
        lpn: Lpn,
        writer: Writer,
        cx: &mut Context<'_, W>,
    ) -> Stream {
        let own = self.class_of_write(lpn, writer, cx);
        let stream = self.stream_of_class(plane, own, cx);
        self.count_write(lpn, stream, own);
        stream
    }

    /// Prefetches the tables that are read by the number of a logical page alone.
    #[inline(always)]
    pub fn prefetch(&self, lpn: Lpn) {
        self.ftl.map.prefetch(lpn);
        if let Some(placement) = &self.gc.placement {
            placement.prefetch(lpn);
        }
    }

    /// The class of a write by the host.
    pub fn class_of_write<W: Watch>(
        &mut self,
        lpn: Lpn,
        writer: Writer,
        cx: &Context<'_, W>,
    ) -> u8 {
        let old = self.ftl.map.ppn_of(lpn);
        let write = Write {
            lpn,
            is_update: old.is_some(),
            writer,
            clock: self.ftl.clock(&cx.plan.geometry) + 1,
            old: self.block_facts(old, cx.plan),
        };
        let placement = self.gc.placement.as_mut();
        placement.map_or(0, |placement| placement.class_of_write(write))
    }

    /// The stream in a plane of writes of this class.
    pub fn stream_of_class<W: Watch>(
        &mut self,
        plane: PlaneId,
        class: u8,
        cx: &mut Context<'_, W>,
    ) -> Stream {
        Stream::Class(self.class_with_page(plane, class, false, cx))
    }

    /// A write of this class goes to this stream.
    #[inline(always)]
    pub fn count_write(&mut self, lpn: Lpn, stream: Stream, own: u8) {
        let (Stream::Class(class), Some(placement)) = (stream, &mut self.gc.placement) else {
            return;
        };
        placement.took_page(lpn, false);
        self.gc.by_class[class as usize].writes += 1;
        self.gc.class_fallbacks += u64::from(class != own);
    }

    /// Writes a page of this class, which was chosen before. Returns whether it filled its block.
    pub fn write_in_class<W: Watch>(
        &mut self,
        plane: PlaneId,
        (own, stream): (u8, Stream),
        lpn: Lpn,
        cause: Cause,
        cx: &mut Context<'_, W>,
    ) -> bool {
        self.count_write(lpn, stream, own);
        self.write_to(plane, stream, Parity::Any, lpn, cause, cx)
    }

    /// The class of a copy, chosen before its page is taken, in whose frontier a page is left.
    pub fn class_of_copy<W: Watch>(
        &mut self,
        from: Ppn,
        plane: PlaneId,
        cx: &mut Context<'_, W>,
    ) -> u8 {
        let class = self.classify_copy(from, cx);
        self.class_with_page(plane, class, true, cx)
    }

    fn classify_copy<W: Watch>(&mut self, from: Ppn, cx: &Context<'_, W>) -> u8 {
        let lpn = self.ftl.map.lpn_of(from);
        let is_current = self.ftl.map.ppn_of(lpn) == from;
        // The class of a write that waits in the buffer was chosen before it counts.
        let waits = u64::from(cx.plan.geometry.shape.program_slots > 1);
        let clock = self.ftl.clock(&cx.plan.geometry) + waits;
        let from = self.block_facts(from, cx.plan);
        let placement = self.gc.placement.as_mut();
        placement.map_or(0, |it| it.class_of_copy(Copied { lpn, clock, from, is_current }))
    }

    /// The stream of a page that a collection copies, or that is pre-migrated; of this class, if it
    /// was chosen before.
    #[inline(never)]
    pub(super) fn stream_of_copy<W: Watch>(
        &mut self,
        from: Ppn,
        plane: PlaneId,
        requested: Option<u8>,
        cx: &mut Context<'_, W>,
    ) -> Stream {
        let class = requested.unwrap_or_else(|| self.classify_copy(from, cx));
        let class = self.class_with_page(plane, class, true, cx);
        if let Some(placement) = &mut self.gc.placement {
            placement.took_page(self.ftl.map.lpn_of(from), true);
        }
        self.gc.by_class[class as usize].copies += 1;
        Stream::Class(class)
    }

    /// Placement is notified of the block that a valid page of a class went to.
    #[inline(always)]
    pub(super) fn notify_placed(&mut self, lpn: Lpn, placed: Placed, plan: &Plan) {
        if let Some(placement) = self.gc.placement.as_mut().filter(|_| placed.current) {
            placement.placed(lpn, plan.geometry.block_of(placed.ppn));
        }
    }

    /// Placement is notified of a trim, if the data has left a page.
    pub(super) fn notify_trimmed(&mut self, lpn: Lpn, left: Ppn) {
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
    /// host goes to the nearest class that has a block open, and so does a copy without any.
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
        let Some(block) = chosen.or_else(|| self.ftl.frontiers.free_list(plane).next()) else {
            // Only while a drive is taken over that has less than the reserve. Elsewhere it was too
            // small, and the caller that takes the page will report it.
            return self.ftl.frontiers.class_with_room(plane, class).unwrap_or(class);
        };
        self.ftl.open_chosen(&cx.plan.geometry, plane, class, block);
        self.pass_on_facts(cx);
        class
    }
}
