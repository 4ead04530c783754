//! Classes: placement puts each page into the class that follows from the page's history.

use super::Sim;
use crate::ftl::{Parity, Stream};
use crate::ids::{Lpn, PlaneId};
use crate::verify::Watch;

impl<W: Watch> Sim<W> {
    /// A write by the host; that of a page that holds data is an update.
    #[inline(never)]
    pub(super) fn write_page_of_class(&mut self, plane: PlaneId, lpn: Lpn, op: u32) -> bool {
        let is_update = self.ftl.map.ppn_of(lpn).is_some();
        let placement = self.gc.placement.as_mut();
        let class = placement.map_or(0, |placement| placement.class_of_write(lpn, is_update));
        let class = self.class_with_page(plane, class, false);
        self.write_page_to(plane, Stream::Class(class), lpn, op, Parity::Any)
    }

    /// The stream of a page that a collection copies, or that is pre-migrated.
    #[inline(always)]
    pub(super) fn stream_of_copy(&mut self, plane: PlaneId, lpn: Lpn) -> Stream {
        let Some(placement) = &self.gc.placement else { return Stream::Gc };
        let class = placement.class_of_copy(lpn);
        Stream::Class(self.class_with_page(plane, class, true))
    }

    /// A class whose frontier has a page for one of this class: the class itself, if necessary in
    /// the erased block that placement chooses. At the reserve, which is for copies, a write by the
    /// host goes to the nearest class that has a block open.
    #[inline(always)]
    fn class_with_page(&mut self, plane: PlaneId, class: u8, is_copy: bool) -> u8 {
        if self.ftl.frontiers.has_page(plane, class) {
            return class;
        }
        self.open_chosen(plane, class, is_copy)
    }

    #[cold]
    fn open_chosen(&mut self, plane: PlaneId, class: u8, is_copy: bool) -> u8 {
        let frontiers = &self.ftl.frontiers;
        if !is_copy && !frontiers.is_above_reserve(plane) {
            return frontiers.class_with_room(plane, class).unwrap_or(class);
        }
        let candidates = self.gc.candidates(&sight!(self));
        let placement = self.gc.placement.as_mut();
        let chosen = placement.and_then(|p| p.choose(plane, class, &self.ftl, &candidates));
        // Without any, the reserve was too small, and the caller that takes the page will report
        // it.
        if let Some(block) = chosen.or_else(|| self.ftl.frontiers.free_list(plane).next()) {
            self.ftl.open_chosen(&self.plan.geometry, plane, class, block);
            self.pass_on_facts();
        }
        class
    }
}
