//! The pages that a flush takes where pages have classes: those of one.

use super::Binding;
use crate::ftl::Stream;
use crate::host::classes;
use crate::ids::{Lpn, PlaneId};
use crate::verify::Watch;

/// The pages that a flush may take, and the class that it takes of them, with its stream in the
/// plane of the flush.
#[derive(Clone)]
pub(super) struct Flushed {
    pub(super) class: (u8, Stream),
    pages: Vec<Lpn>,
}

impl Flushed {
    /// Of a flush that has its plane; `None` where pages have no classes, or a flush has one page.
    /// The classes of the pages that wait are asked now.
    pub(super) fn of<W: Watch>(
        binding: &mut Binding<'_, W>,
        op: u32,
        plane: PlaneId,
    ) -> Option<Self> {
        let slots = binding.cx.plan.geometry.shape.program_slots;
        if binding.store.gc.placement.is_none() || slots == 1 {
            return None;
        }
        let pages = classes::may_join(binding.host, op);
        binding.classify(op, &pages);
        let own = classes::class_to_flush(binding.host, op, &pages);
        let stream = binding.store.stream_of_class(plane, own, &mut binding.cx);
        Some(Flushed { class: (own, stream), pages })
    }
}

impl<W: Watch> Binding<'_, W> {
    /// The classes of these pages of the buffer are asked, where they are not known.
    fn classify(&mut self, op: u32, pages: &[Lpn]) {
        for &lpn in pages {
            if classes::class_of(self.host, lpn).is_none() {
                let writer = self.host.writer_of(op, lpn);
                let class = self.store.class_of_write(lpn, writer, &self.cx);
                classes::has_class(self.host, lpn, class);
            }
        }
    }

    /// A flush that got this room begins. Others that wait take the places of its pages that were
    /// trimmed meanwhile; of its class, where they have any.
    pub(super) fn fill_up(&mut self, op: u32, room: u32, class: Option<u8>) {
        if class.is_some() {
            let pages = classes::may_fill_up(self.host, op, room);
            self.classify(op, &pages);
        }
        self.host.fill_up(op, room, class);
    }

    /// A flush takes at most this number of pages, of one class where they have any.
    pub(super) fn takes_pages(&mut self, op: u32, flushed: Option<Flushed>, room: u32) {
        match flushed {
            Some(Flushed { class: (own, _), pages }) => {
                classes::take_class(self.host, op, own, &pages, room);
            }
            None => self.host.keep_at_most(op, room),
        }
    }

    /// A page of a flush takes the next slot of its class. Returns whether that filled its block.
    pub(super) fn write_in_class(
        &mut self,
        plane: PlaneId,
        class: (u8, Stream),
        lpn: Lpn,
        op: u32,
    ) -> bool {
        let cause = self.cause_of(op);
        self.store.write_in_class(plane, class, lpn, cause, &mut self.cx)
    }
}
