//! A write of the host takes its pages, and an array operation of the host has its price.

use super::flushed::Flushed;
use super::{Binding, Bound, Program, Riders, Then, reading};
use crate::flash::{Op, Phases};
use crate::ftl::Stream;
use crate::host::OpKind;
use crate::ids::{Lpn, PlaneId, Ppn};
use crate::verify::{Cause, Happened, Watch};

impl<W: Watch> Binding<'_, W> {
    /// A write starts in a plane.
    #[inline(always)]
    pub fn starts(&mut self, plane: PlaneId, op: u32, lpn: Lpn) -> Bound {
        let plan = self.cx.plan;
        if self.store.alloc.chooses_at_start() {
            self.store.alloc.has_chosen(plan, plane);
        }
        if plan.geometry.shape.program_slots > 1 {
            return self.apart().starts_with_slots(plane, op);
        }
        self.host.write_starts(op, lpn, &mut self.cx);
        if plan.geometry.has_superblocks() {
            return self.apart().starts_in_its_page(op, lpn);
        }
        let fills = u32::from(self.write(plane, lpn, op));
        Bound { fills, pays: 1, then: Then::Begins }
    }

    /// A page is written. Returns whether that filled its block.
    #[inline(always)]
    fn write(&mut self, plane: PlaneId, lpn: Lpn, op: u32) -> bool {
        let cause = self.cause_of(op);
        let writer = || self.host.writer_of(op, lpn);
        self.store.write_page(plane, lpn, cause, writer, &mut self.cx)
    }

    /// A write changes a page of the collection in this plane, in the register.
    pub fn merges(&mut self, plane: PlaneId, op: u32) -> Bound {
        self.host.waiting.set_plane(op, plane);
        let lpn = self.host.waiting.op(op).lpn;
        self.host.write_starts(op, lpn, &mut self.cx);
        let cause = self.cause_of(op);
        let writer = || self.host.writer_of(op, lpn);
        let filled = self.store.write_merged(plane, lpn, cause, writer, &mut self.cx);
        Bound { fills: u32::from(filled), pays: 1, then: Then::Begins }
    }

    /// The page of a write that was bound at the register, where it matters for the price. It is
    /// noted as the write binds: a page from the write buffer may be trimmed before it is
    /// programmed.
    #[inline]
    pub fn page_at_register(&self, op: u32) -> Option<Ppn> {
        self.prices.needs_pages().then(|| self.page_of(op))
    }

    /// A flush takes the slots that the plane's next program has left: pages beyond them stay in
    /// the buffer. If it completes the program, that begins.
    #[inline(never)]
    fn starts_with_slots(&mut self, plane: PlaneId, op: u32) -> Bound {
        let plan = self.cx.plan;
        if plan.geometry.has_superblocks() {
            return self.starts_in_its_slots(op);
        }
        let (geometry, shape) = (&plan.geometry, &plan.geometry.shape);
        let flushed = Flushed::of(self, op, plane);
        let class = flushed.as_ref().map(|flushed| flushed.class);
        let stream = class.map_or(Stream::Host, |(_, stream)| stream);
        let room = shape.program_slots - self.store.ftl.frontiers.begun(geometry, plane, stream);
        self.takes_pages(op, flushed, room);
        if shape.pads() && class.is_none() {
            self.host.fill_up(op, room, None);
        }
        let lpn = self.host.waiting.op(op).lpn;
        self.host.write_starts(op, lpn, &mut self.cx);
        let pages = self.host.pages_of(op);
        // They waited in the buffer for long, so that the accounts of the pages that they leave are
        // asked for together.
        for at in 0..pages {
            self.store.ftl.prefetch_old(geometry, self.host.page_at(op, at));
        }
        let mut fills = 0;
        for at in 0..pages {
            let lpn = self.host.page_at(op, at);
            fills += u32::from(match class {
                Some(class) => self.write_in_class(plane, class, lpn, op),
                None => self.write(plane, lpn, op),
            });
        }
        let is_full = pages == room;
        if !is_full && shape.pads() {
            self.store.pad_writes(plane, stream, &mut self.cx);
        }
        let begins = is_full || shape.pads();
        let then = if begins { Then::BeginsWithFlushes } else { Then::Kept };
        Bound { fills, pays: pages, then }
    }

    /// The phases of an array operation of the host: of this operation and of those that share its
    /// array time.
    #[inline(always)]
    pub fn phases(&mut self, (op, kind): (u32, OpKind), riders: &Riders) -> Phases {
        let together = riders.ops.len() + 1;
        let of = match kind {
            // What a program joins is one operation.
            OpKind::Write => {
                let joined = self.cx.plan.geometry.shape.program_slots as usize;
                (Op::Program, together.max(joined))
            }
            _ => (Op::Read, together),
        };
        if riders.fills == 0 && !self.prices.depends_on_pages() {
            return self.prices.nominal(of.0, of.1);
        }
        self.apart().phases_by_pages(op, riders, of)
    }

    /// The same where pages differ, or have been the last of their blocks.
    #[inline(never)]
    fn phases_by_pages(&mut self, op: u32, riders: &Riders, of: (Op, usize)) -> Phases {
        let ops = riders.served(op);
        if of.0 == Op::Program {
            let pages = ops.map(|op| self.written_page(op));
            let program = Program { pages, fills: riders.fills };
            return program.phases(of, self.prices, &self.store.ftl);
        }
        let pages = ops.map(|op| self.page_of(op));
        let tables = (&self.store.ftl, &self.cx.plan.geometry);
        let phases = reading(of, pages, self.prices, tables);
        if self.cx.plan.read_retry.is_some() {
            self.note_retries(op, riders, &phases);
        }
        phases
    }

    /// Reads of the host begin: their retries are counted, and the watcher receives the time that
    /// they add to the operation.
    #[cold]
    fn note_retries(&mut self, first: u32, riders: &Riders, phases: &Phases) {
        let ops: Vec<u32> = riders.served(first).collect();
        let pages: Vec<Ppn> = ops.iter().map(|&op| self.page_of(op)).collect();
        let (ftl, geometry) = (&self.store.ftl, &self.cx.plan.geometry);
        for together in pages.chunk_by(|&a, &b| self.prices.shares_flash_page(a, b)) {
            let retries = ftl.retries(geometry, together[0]);
            self.cx.counters.add_retries(false, retries);
        }
        if W::OPERATIONS {
            for (&op, &ppn) in ops.iter().zip(&pages) {
                if ftl.is_uncorrectable(geometry, ppn) {
                    self.cx.notify(Happened::Uncorrectable { ppn, op });
                }
            }
            let slots = pages.iter().copied();
            let at_once = self.prices.reading(Op::Read, pages.len(), slots, |_| 0);
            let added_ns = phases.total_ns() - at_once.total_ns();
            for op in ops.into_iter().filter(|_| added_ns > 0) {
                self.cx.notify(Happened::Retries { op, added_ns });
            }
        }
    }

    /// The page of an operation of the host that has begun.
    #[inline(always)]
    pub(super) fn page_of(&self, op: u32) -> Ppn {
        self.store.ftl.map.ppn_of(self.host.waiting.op(op).lpn)
    }

    /// The page of a write that has begun: where planes share their blocks, the one that it got as
    /// it was queued, since the pages of a flush may all be trimmed.
    pub fn written_page(&self, op: u32) -> Ppn {
        match self.cx.plan.geometry.has_superblocks() {
            true => self.store.alloc.stripes.page_of(op),
            false => self.page_of(op),
        }
    }

    /// Why a page operation programs its page, for the watcher.
    #[inline(always)]
    pub(super) fn cause_of(&self, op: u32) -> Cause {
        if W::OPERATIONS && self.host.is_flush(op) { Cause::Flush } else { Cause::Host { op } }
    }
}
