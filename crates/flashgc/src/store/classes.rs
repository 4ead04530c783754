//! Classes: placement puts each page into the class that follows from the page's history.

use super::Store;
use crate::context::Context;
use crate::ftl::Stream;
use crate::gc::placement::{Placement, Write};
use crate::ids::{Lpn, PlaneId};
use crate::verify::Watch;

impl Store {
    /// The stream of a write by the host; that of a page that holds data is an update.
    #[inline(never)]
    pub(super) fn stream_of_write<W: Watch>(
        &mut self,
        plane: PlaneId,
        lpn: Lpn,
        job: u16,
        cx: &mut Context<'_, W>,
    ) -> Stream {
        let write = Write { lpn, is_update: self.ftl.map.ppn_of(lpn).is_some(), job };
        let placement = self.gc.placement.as_mut();
        let class = placement.map_or(0, |placement| placement.class_of_write(write));
        Stream::Class(self.class_with_page(plane, class, false, cx))
    }

    /// The stream of a page that a collection copies, or that is pre-migrated.
    #[inline(never)]
    pub(super) fn stream_of_copy<W: Watch>(
        &mut self,
        plane: PlaneId,
        lpn: Lpn,
        cx: &mut Context<'_, W>,
    ) -> Stream {
        let Some(placement) = &self.gc.placement else { return Stream::Gc };
        let class = placement.class_of_copy(lpn);
        Stream::Class(self.class_with_page(plane, class, true, cx))
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
