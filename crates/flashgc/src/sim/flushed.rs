//! The pages that a flush takes where pages have classes: those of one.

use super::Sim;
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
    pub(super) fn of<W: Watch>(sim: &mut Sim<W>, op: u32, plane: PlaneId) -> Option<Self> {
        if sim.store.gc.placement.is_none() || sim.plan.geometry.shape.program_slots == 1 {
            return None;
        }
        let pages = classes::may_join(&sim.host, op);
        ask(sim, op, &pages);
        let own = classes::class_to_flush(&sim.host, op, &pages);
        let stream = sim.store.stream_of_class(plane, own, &mut context!(sim));
        Some(Flushed { class: (own, stream), pages })
    }
}

/// The classes of these pages of the buffer are asked, where they are not known.
fn ask<W: Watch>(sim: &mut Sim<W>, op: u32, pages: &[Lpn]) {
    for &lpn in pages {
        if classes::class_of(&sim.host, lpn).is_none() {
            let writer = sim.host.writer_of(op, lpn);
            let class = sim.store.class_of_write(lpn, writer, &context!(sim));
            classes::has_class(&mut sim.host, lpn, class);
        }
    }
}

/// A flush that got this room begins. Others that wait take the places of its pages that were
/// trimmed meanwhile; of its class, where they have any.
pub(super) fn fill_up<W: Watch>(sim: &mut Sim<W>, op: u32, room: u32, class: Option<u8>) {
    if class.is_some() {
        let pages = classes::may_fill_up(&sim.host, op, room);
        ask(sim, op, &pages);
    }
    sim.host.fill_up(op, room, class);
}

/// A flush takes at most this number of pages, of one class where they have any.
pub(super) fn takes_pages<W: Watch>(
    sim: &mut Sim<W>,
    op: u32,
    flushed: Option<Flushed>,
    room: u32,
) {
    match flushed {
        Some(Flushed { class: (own, _), pages }) => {
            classes::take_class(&mut sim.host, op, own, &pages, room);
        }
        None => sim.host.keep_at_most(op, room),
    }
}

/// A page of a flush takes the next slot of its class. Returns whether that filled its block.
pub(super) fn write<W: Watch>(
    sim: &mut Sim<W>,
    plane: PlaneId,
    class: (u8, Stream),
    lpn: Lpn,
    op: u32,
) -> bool {
    let cause = sim.cause_of(op);
    let filled = sim.store.write_in_class(plane, class, lpn, cause, &mut context!(sim));
    sim.note_written(plane);
    sim.hear();
    filled
}
