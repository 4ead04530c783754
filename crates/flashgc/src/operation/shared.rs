//! Writes where planes share their blocks: each gets its page when it is queued, and starts in it.

use super::flushed::Flushed;
use super::{Binding, Bound, Then};
use crate::host::OpKind;
use crate::ids::{Lpn, PlaneId, Ppn};
use crate::store::Store;
use crate::verify::Watch;

/// A write that waited for a page of a block that planes share.
#[derive(Clone, Copy)]
pub enum Given {
    /// It has one, in this plane.
    Page(u32, PlaneId),
    /// It needs none: all pages of the flush were trimmed.
    Nothing(u32),
}

impl<W: Watch> Binding<'_, W> {
    /// The write that has waited longest gets the next page of the block that planes share. `None`
    /// where there is none: their planes need space.
    pub fn give_page(&mut self) -> Option<Given> {
        let plan = self.cx.plan;
        let Store { alloc, ftl, gc, .. } = &mut *self.store;
        let gives_of_closed = plan.gives_pages_of_closed_planes();
        // Where copies go to the blocks of the host, pages of a blocked plane belong to the copies.
        let is_open = |plane: PlaneId| {
            (gives_of_closed || !self.host.waiting.is_held(plane))
                && !gc.refuses_pages(&plan.gc, ftl, plane)
        };
        let Some((op, plane)) = alloc.next_for_page(plan, ftl, is_open) else {
            self.store.request_space_of_stripes(plan);
            return None;
        };
        if self.host.waiting.op(op).kind == OpKind::Trim {
            return Some(Given::Nothing(op));
        }
        let flushed = Flushed::of(self, op, plane);
        let stream = match &flushed {
            Some(flushed) => flushed.class.1,
            None => {
                let lpn = self.host.waiting.op(op).lpn;
                let writer = || self.host.writer_of(op, lpn);
                self.store.stream(plane, lpn, writer, &mut self.cx)
            }
        };
        let page = self.store.reserve_pages(plane, stream, &mut self.cx);
        let class = flushed.as_ref().map(|flushed| flushed.class);
        self.store.alloc.stripes.gets(op, page, class);
        self.takes_pages(op, flushed, plan.geometry.shape.left_of_program(page));
        // A unit programs its pages of a block in their order.
        self.host.waiting.comes_last(op);
        Some(Given::Page(op, plane))
    }

    /// A write starts in the page that it got when it was queued.
    #[inline(never)]
    pub(super) fn starts_in_its_page(&mut self, op: u32, lpn: Lpn) -> Bound {
        let (page, cause) = (self.store.alloc.stripes.page_of(op), self.cause_of(op));
        self.store.write_reserved(page, lpn, cause, &mut self.cx);
        Bound { fills: 0, pays: 1, then: Then::Begins }
    }

    /// A flush starts in the slots that it got when it was queued. Some of its pages may have been
    /// trimmed since: others of the buffer take their places, or no data does.
    pub(super) fn starts_in_its_slots(&mut self, op: u32) -> Bound {
        let first = self.store.alloc.stripes.page_of(op);
        let slots = self.cx.plan.geometry.shape.left_of_program(first);
        let class = self.store.alloc.stripes.class_of(op);
        self.fill_up(op, slots, class.map(|(own, _)| own));
        self.host.write_starts(op, Lpn::NONE, &mut self.cx);
        let (pages, cause) = (self.host.pages_of(op), self.cause_of(op));
        for at in 0..slots {
            let page = Ppn(first.0 + at);
            if at < pages {
                let lpn = self.host.page_at(op, at);
                if let Some((own, stream)) = class {
                    self.store.count_write(lpn, stream, own);
                }
                self.store.write_reserved(page, lpn, cause, &mut self.cx);
            } else {
                self.store.pad_reserved(page, &mut self.cx);
            }
        }
        Bound { fills: 0, pays: pages, then: Then::BeginsWithFlushes }
    }
}
