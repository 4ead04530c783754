//! Page operations of the host start, and with them those that can share their array time.

use super::Sim;
use super::flushed::{self, Flushed};
use crate::device::Level;
use crate::flash::{self, Phases};
use crate::ftl::Stream;
use crate::host::{Op, OpKind};
use crate::ids::{Lpn, PlaneId, Ppn, UnitId};
use crate::operation::{self, Program};
use crate::owner::Owner;
use crate::plan::Allocation;
use crate::store::Store;
use crate::verify::{Cause, Happened, Watch};

impl<W: Watch> Sim<W> {
    /// Starts a page operation of the host, and those that can share its array time.
    #[inline(never)]
    pub(super) fn start_host(&mut self, unit: UnitId, op: u32, list: u8) {
        if self.plan.geometry.readers > 0 && self.host.waiting.op(op).kind != OpKind::Write {
            return self.read_in_plane(unit, op, list);
        }
        if let Some(phases) = self.take_with_others(unit, op, list) {
            self.begin(unit, Owner::Host(op), phases);
            self.may_be_loaded(unit);
        }
    }

    /// Takes a page operation of the host and those that can share its array time. Returns the
    /// phases of all, if they need the array.
    #[inline(always)]
    pub(super) fn take_with_others(&mut self, unit: UnitId, op: u32, list: u8) -> Option<Phases> {
        let kind = self.host.waiting.op(op).kind;
        let plane = self.start_page(unit, op, list)?;
        let mut shared = 0;
        if self.plan.geometry.shape.multi_plane > 1 {
            self.share(unit, plane, kind == OpKind::Write, list);
            shared = self.units[unit.index()].riders.ops.len();
        } else if self.plan.geometry.shape.read_slots() > 1 && kind != OpKind::Write {
            self.join_reads(unit, op, list);
            shared = self.units[unit.index()].riders.ops.len();
        }
        let filled = self.units[unit.index()].riders.fills;
        let (price, count) = match kind {
            // What a program joins is one operation.
            OpKind::Write => {
                let joined = self.plan.geometry.shape.program_slots as usize;
                (flash::Op::Program, (shared + 1).max(joined))
            }
            _ => (flash::Op::Read, shared + 1),
        };
        if filled == 0 && !self.prices.depends_on_pages() {
            return Some(self.prices.nominal(price, count));
        }
        Some(self.price_by_pages(unit, op, price, count))
    }

    /// The phases of the host's operations that share an array operation, where pages differ or
    /// have been the last of their blocks: at a unit, or at a plane that reads by itself.
    #[inline(never)]
    fn price_by_pages(&mut self, at: UnitId, op: u32, price: flash::Op, count: usize) -> Phases {
        let riders = &self.units[at.index()].riders;
        let ops = riders.served(op);
        if price == flash::Op::Program {
            let pages = ops.map(|op| self.written_page(op));
            let program = Program { pages, fills: riders.fills };
            return program.phases((price, count), &self.prices, &self.store.ftl);
        }
        let pages = ops.map(|op| self.page_of(op));
        let tables = (&self.store.ftl, &self.plan.geometry);
        let phases = operation::reading((price, count), pages, &self.prices, tables);
        if self.plan.read_retry.is_some() {
            self.note_retries(at, op, &phases);
        }
        phases
    }

    /// Where planes read by themselves: starts a read of the host in its plane, with those that
    /// want slots of the same flash page. What needs no array is done at once.
    #[inline(never)]
    pub(super) fn read_in_plane(&mut self, unit: UnitId, op: u32, list: u8) {
        if self.start_page(unit, op, list).is_none() {
            return;
        }
        let mut last = self.page_of(op);
        let reader = self.plan.geometry.reader_of(last);
        self.tell(Happened::ReadsInPlane { op, reader });
        while self.plan.geometry.shape.slots > 1 {
            let joins = |op: &Op| {
                let slot = self.store.ftl.map.ppn_of(op.lpn);
                slot.is_some()
                    && self.prices.shares_flash_page(last, slot)
                    && self.may_begin_in_plane(unit, op.lpn)
            };
            let Some(next) = self.host.waiting.next_read(unit, list, joins) else { break };
            if self.start_page(unit, next, list).is_none() {
                break;
            }
            self.tell(Happened::ReadsInPlane { op: next, reader });
            self.units[reader.index()].riders.ops.push(next);
            last = self.page_of(next);
        }
        let count = 1 + self.units[reader.index()].riders.ops.len();
        let phases = self.price_by_pages(reader, op, flash::Op::Read, count);
        self.store.alloc.one_more(unit);
        if let Some(preemptive) = self.arbiter.preemptive() {
            preemptive.reads_in_plane(unit, reader);
        }
        let (owner, of_unit) = (Owner::Host(op), Owner::Planes);
        let command = flash::Command::new(owner, flash::Class::Host, phases);
        let (now_ns, events) = (self.now_ns, &mut self.events);
        let moved = self.flash.start_in_plane(reader, command, of_unit, now_ns, events);
        self.tell_beginning(reader, owner, &moved);
        self.has_begun(reader, moved);
    }

    /// While planes of a unit read by themselves, reads of others begin, if they are next: a read
    /// passes those that wait for their own plane, and nothing else.
    #[inline(never)]
    pub(super) fn read_in_other_planes(&mut self, unit: UnitId) {
        while self.flash.owner(unit) == Some(Owner::Planes) && !self.jobs.has_arrivals(unit) {
            let Some(list) = self.arbiter.reads_beside(unit, view!(self)) else { return };
            let may_begin = |op: &Op| self.may_begin_in_plane(unit, op.lpn);
            let Some(op) = self.host.waiting.next_read(unit, list, may_begin) else { return };
            self.read_in_plane(unit, op, list);
        }
    }

    /// Whether a read may begin while other planes of the unit read: its own plane rests, and its
    /// page is neither in a register nor in a block that a collection closes.
    pub(super) fn may_begin_in_plane(&self, unit: UnitId, lpn: Lpn) -> bool {
        let (page, geometry) = (self.store.ftl.map.ppn_of(lpn), &self.plan.geometry);
        if !page.is_some() || geometry.unit_of(geometry.plane_of(page)) != unit {
            // It starts elsewhere, or needs no flash.
            return true;
        }
        let (job, gc) = (&self.jobs[unit], &self.plan.gc);
        self.flash.is_free(geometry.reader_of(page))
            && !job.has_in_register(page, &self.plan)
            && !(gc.blocking.blocks && job.closes(page, gc, geometry))
    }

    /// The host's operations that an array read serves begin: their retries are counted, and the
    /// watcher is told how much longer they make it.
    #[cold]
    fn note_retries(&mut self, unit: UnitId, first: u32, phases: &Phases) {
        let ops: Vec<u32> = self.units[unit.index()].riders.served(first).collect();
        let pages: Vec<Ppn> = ops.iter().map(|&op| self.page_of(op)).collect();
        for together in pages.chunk_by(|&a, &b| self.prices.shares_flash_page(a, b)) {
            let retries = self.store.ftl.retries(&self.plan.geometry, together[0]);
            self.counters.add_retries(false, retries);
        }
        if W::OPERATIONS {
            for (&op, &ppn) in ops.iter().zip(&pages) {
                let is_lost = self.store.ftl.is_uncorrectable(&self.plan.geometry, ppn);
                if is_lost {
                    self.tell(Happened::Uncorrectable { ppn, op });
                }
            }
        }
        if W::OPERATIONS {
            let (read, slots) = (flash::Op::Read, pages.iter().copied());
            let at_once = self.prices.reading(read, pages.len(), slots, |_| 0);
            let added_ns = phases.total_ns() - at_once.total_ns();
            for op in ops.into_iter().filter(|_| added_ns > 0) {
                self.tell(Happened::Retries { op, added_ns });
            }
        }
    }

    /// Gives the write that has waited longest to a unit. Returns whether a unit has it, or
    /// collects for it.
    #[inline(never)]
    pub(super) fn give_places(&mut self) -> bool {
        if self.plan.geometry.has_superblocks() { self.give_page() } else { self.give_to_idle() }
    }

    /// Gives the write that has waited longest the next page of the block that planes share.
    /// Returns whether it has one, or a unit may collect for it.
    fn give_page(&mut self) -> bool {
        let Store { alloc, ftl, .. } = &mut self.store;
        let is_open = |plane| !self.host.waiting.is_held(plane);
        let Some((op, plane)) = alloc.next_for_page(&self.plan, ftl, is_open) else {
            self.store.want_space_of_stripes(&self.plan);
            self.hear();
            // A unit that collects for the write is checked now, not at the next event.
            return !self.ready.is_empty();
        };
        if self.host.waiting.op(op).kind == OpKind::Trim {
            // All pages of the flush were trimmed.
            self.serve_without_flash(op);
            return true;
        }
        let flushed = Flushed::of(self, op, plane);
        let stream = match &flushed {
            Some(flushed) => flushed.class.1,
            None => {
                let lpn = self.host.waiting.op(op).lpn;
                let writer = || self.host.writer_of(op, lpn);
                self.store.stream(plane, lpn, writer, &mut context!(self))
            }
        };
        let page = self.store.reserve_pages(plane, stream, &mut context!(self));
        self.hear();
        let class = flushed.as_ref().map(|flushed| flushed.class);
        self.store.alloc.stripes.gets(op, page, class);
        let room = self.plan.geometry.shape.left_of_program(page);
        flushed::takes_pages(self, op, flushed, room);
        // A unit programs its pages of a block in their order.
        self.host.waiting.comes_last(op);
        self.queue_at(op, plane);
        self.place_flushes();
        true
    }

    /// Gives the write that has waited longest for any unit of its pool to one that is idle. Units
    /// that could start something of their own have started it before. Returns whether one has it.
    fn give_to_idle(&mut self) -> bool {
        let (flash, waiting) = (&self.flash, &self.host.waiting);
        let taken = self.store.alloc.when_idle.take(
            |unit| flash.is_free(unit) && flash.is_bus_free(unit) && waiting.count(unit) == 0,
            |plane| self.store.ftl.host_has_room(plane),
            |plane| !waiting.is_held(plane),
        );
        let Some((op, plane)) = taken else { return false };
        self.queue_at(op, plane);
        true
    }

    /// Takes a page operation out of its queue and starts its part of an array operation. Returns
    /// its plane, or `None` where it needs no array or went to another unit.
    #[inline(always)]
    pub(super) fn start_page(&mut self, unit: UnitId, op: u32, list: u8) -> Option<PlaneId> {
        self.take_from_queue(unit, op, list);
        self.host_begins(unit, op);
        let Op { lpn, kind, plane, next, .. } = *self.host.waiting.op(op);
        if let Some(next) = self.host.waiting.get(next) {
            // What the next write in a queue needs, one operation in advance.
            self.store.ftl.prefetch_old(&self.plan.geometry, next.lpn);
        }
        if kind == OpKind::Write {
            if self.store.alloc.chooses_at_start() {
                self.store.alloc.has_chosen(&self.plan, plane);
            }
            if self.plan.geometry.shape.program_slots > 1 {
                return self.write_slots(unit, plane, op).then_some(plane);
            }
            self.host.write_starts(op, lpn, &mut context!(self));
            if self.write_page(plane, lpn, op) {
                self.units[unit.index()].riders.fills += 1;
            }
            return Some(plane);
        }
        let ppn = self.store.ftl.map.ppn_of(lpn);
        if kind == OpKind::Trim || !ppn.is_some() {
            if self.serve_without_flash(op) {
                self.place_again(op);
            }
            return None;
        }
        let from = self.plan.geometry.plane_of(ppn);
        let is_closed = from != plane && self.host.waiting.is_held(from);
        if is_closed || self.plan.geometry.unit_of_page(ppn) != unit {
            // The page has moved since the read was queued.
            self.place_again(op);
            return None;
        }
        self.tell(Happened::Started { op, lpn });
        if self.plan.geometry.shape.program_slots > 1
            && self.store.ftl.is_in_controller(&self.plan.geometry, ppn)
        {
            self.tell(Happened::ReadBegun { ppn, lpn });
            self.answered(op);
            return None;
        }
        self.tell(Happened::Read { ppn, lpn });
        Some(from)
    }

    /// A write of the host takes its page. Returns whether that filled its block.
    #[inline(always)]
    pub(super) fn write_page(&mut self, plane: PlaneId, lpn: Lpn, op: u32) -> bool {
        let cause = self.cause_of(op);
        if self.plan.geometry.has_superblocks() {
            let page = self.store.alloc.stripes.page_of(op);
            self.write_reserved(page, lpn, cause);
            return false;
        }
        let writer = || self.host.writer_of(op, lpn);
        let has_filled = self.store.write_page(plane, lpn, cause, writer, &mut context!(self));
        self.note_written(plane);
        self.hear();
        has_filled
    }

    /// The same in the page that the write got when it was queued.
    #[inline(never)]
    fn write_reserved(&mut self, page: Ppn, lpn: Lpn, cause: Cause) {
        self.store.write_reserved(page, lpn, cause, &mut context!(self));
        self.hear();
    }

    /// A flush takes the slots that the plane's next program has left: pages beyond them stay in
    /// the buffer. Returns whether it completes the program, which begins then; else the controller
    /// keeps its pages with what is still to come, and the flush is over.
    #[inline(never)]
    fn write_slots(&mut self, unit: UnitId, plane: PlaneId, op: u32) -> bool {
        if self.plan.geometry.has_superblocks() {
            self.write_program(op);
            return true;
        }
        let flushed = Flushed::of(self, op, plane);
        let class = flushed.as_ref().map(|flushed| flushed.class);
        let stream = class.map_or(Stream::Host, |(_, stream)| stream);
        let geometry = &self.plan.geometry;
        let begun = self.store.ftl.frontiers.begun(geometry, plane, stream);
        let room = geometry.shape.program_slots - begun;
        flushed::takes_pages(self, op, flushed, room);
        if self.plan.geometry.shape.pads() && class.is_none() {
            self.host.fill_up(op, room, None);
        }
        let lpn = self.host.waiting.op(op).lpn;
        self.host.write_starts(op, lpn, &mut context!(self));
        let pages = self.host.pages_of(op);
        // They waited in the buffer for long, so that the accounts of the pages that they leave are
        // asked for together.
        for at in 0..pages {
            self.store.ftl.prefetch_old(&self.plan.geometry, self.host.page_at(op, at));
        }
        for at in 0..pages {
            let lpn = self.host.page_at(op, at);
            let has_filled = match class {
                Some(class) => flushed::write(self, plane, class, lpn, op),
                None => self.write_page(plane, lpn, op),
            };
            self.units[unit.index()].riders.fills += u32::from(has_filled);
        }
        let is_full = pages == room || self.pads(plane, stream);
        if is_full {
            self.place_flushes();
        } else {
            self.host_operation_ended(op);
        }
        is_full
    }

    /// A flush takes the slots that it got when it was queued. Some of its pages may have been
    /// trimmed since: others of the buffer take their places, or no data does.
    fn write_program(&mut self, op: u32) {
        let first = self.store.alloc.stripes.page_of(op);
        let slots = self.plan.geometry.shape.left_of_program(first);
        let class = self.store.alloc.stripes.class_of(op);
        flushed::fill_up(self, op, slots, class.map(|(own, _)| own));
        self.host.write_starts(op, Lpn::NONE, &mut context!(self));
        let (pages, cause) = (self.host.pages_of(op), self.cause_of(op));
        for at in 0..slots {
            let page = Ppn(first.0 + at);
            if at < pages {
                let lpn = self.host.page_at(op, at);
                if let Some((own, stream)) = class {
                    self.store.count_write(lpn, stream, own);
                }
                self.write_reserved(page, lpn, cause);
            } else {
                self.store.pad_reserved(page, &mut context!(self));
            }
        }
        self.hear();
        self.place_flushes();
    }

    /// Completes the program that the host has begun, where nothing may wait in the controller.
    fn pads(&mut self, plane: PlaneId, stream: Stream) -> bool {
        let pads = self.plan.geometry.shape.pads();
        if pads {
            self.store.pad_writes(plane, stream, &mut context!(self));
        }
        pads
    }

    /// The next reads of the list that want slots of the same flash page join: the array reads it
    /// once. So do those of flash pages of the same number in planes in step, in their order.
    #[inline(never)]
    fn join_reads(&mut self, unit: UnitId, first: u32, list: u8) {
        let mut last = self.page_of(first);
        while let Some(op) = self.host.waiting.peek(unit, list) {
            let Op { lpn, kind, .. } = *self.host.waiting.op(op);
            let slot = self.store.ftl.map.ppn_of(lpn);
            let joins = kind.is_read()
                && slot.is_some()
                && (self.prices.shares_flash_page(last, slot)
                    || slot.0 > last.0 && self.prices.shares_read(last, slot));
            last = slot;
            if !joins || self.start_page(unit, op, list).is_none() {
                return;
            }
            self.units[unit.index()].riders.ops.push(op);
        }
    }

    /// The page of a write that was bound at the register, where it matters for the price. It is
    /// noted now: a page from the write buffer may be trimmed before it is programmed.
    #[inline]
    pub(super) fn bound_at_register(&self, op: u32) -> Option<Ppn> {
        self.prices.asks_for_pages().then(|| self.page_of(op))
    }

    /// Multi-plane operation: the next operations of the list that do the same in other planes of
    /// the die join, in their order, up to the first that does not fit.
    pub(super) fn share(&mut self, unit: UnitId, first: PlaneId, writes: bool, list: u8) {
        let mut planes = vec![first];
        while planes.len() < self.plan.geometry.shape.multi_plane as usize {
            let Some(op) = self.host.waiting.peek(unit, list) else { return };
            if let Some(preemptive) = self.arbiter.preemptive()
                && preemptive.entrant(unit, &mut view!(self)) != Some((op, list))
            {
                return;
            }
            let joins = match writes {
                true => self.plane_of_joining_write(unit, op, list, &planes),
                false => self.plane_of_joining_read(unit, op, &planes),
            };
            let Some(plane) = joins else { return };
            if self.start_page(unit, op, list).is_none() {
                return;
            }
            planes.push(plane);
            self.units[unit.index()].riders.ops.push(op);
        }
    }

    /// Whether a plane is another one of the die.
    pub(super) fn is_beside(&self, plane: PlaneId, planes: &[PlaneId]) -> bool {
        let die = |plane| self.plan.geometry.part_of(plane, Level::Die);
        die(plane) == die(planes[0]) && !planes.contains(&plane)
    }

    pub(super) fn plane_of_joining_read(
        &self,
        unit: UnitId,
        op: u32,
        planes: &[PlaneId],
    ) -> Option<PlaneId> {
        let Op { lpn, kind, .. } = *self.host.waiting.op(op);
        let ppn = self.store.ftl.map.ppn_of(lpn);
        if !kind.is_read() || !ppn.is_some() || self.jobs[unit].is_programming(ppn, &self.plan) {
            return None;
        }
        Some(self.plan.geometry.plane_of(ppn)).filter(|&plane| self.is_beside(plane, planes))
    }

    /// Where allocation is dynamic, the plane of a write may change when it joins.
    pub(super) fn plane_of_joining_write(
        &mut self,
        unit: UnitId,
        op: u32,
        list: u8,
        planes: &[PlaneId],
    ) -> Option<PlaneId> {
        if self.host.waiting.op(op).kind != OpKind::Write {
            return None;
        }
        let own = view!(self).plane_to_start(op);
        if self.is_beside(own, planes) && self.store.ftl.host_has_room(own) {
            return Some(own);
        }
        if self.plan.allocation == Allocation::Striped {
            return None;
        }
        let lpn = self.host.waiting.op(op).lpn;
        let pool = self.plan.pools.of_page(&self.plan.geometry, lpn);
        let plane =
            self.store.alloc.best_beside(&self.plan, &self.store.ftl, pool, planes, |plane| {
                !self.host.waiting.is_held(plane)
            })?;
        if self.arbiter.is_preemptive() && !view!(self).plane_takes_write(unit, plane) {
            return None;
        }
        // It waits first in the unit, and so it does in the queue of its new plane.
        self.host.waiting.take(unit, op, list);
        self.host.waiting.queue_at(op, plane, 0);
        Some(plane)
    }
}
