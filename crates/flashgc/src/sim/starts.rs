//! Page operations of the host start, and with them those that can share their array time.

use super::Sim;
use crate::collect::Stage;
use crate::device::Level;
use crate::flash::{self, Phases};
use crate::host::{Op, OpKind};
use crate::ids::{Lpn, PlaneId, Ppn, UnitId};
use crate::operation::{Given, Then};
use crate::owner::Owner;
use crate::verify::{Happened, Watch};

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

    /// No read that waits goes before the suspended program any more.
    #[inline(never)]
    pub(super) fn program_goes_on(&mut self, unit: UnitId) {
        let Some(yielded) = self.units[unit.index()].yielded.take() else { return };
        let Some((resume_ns, suspended)) = self.arbiter.program_resumed(unit) else { return };
        let (op, riders) = *yielded;
        riders.served(op).for_each(|op| self.notify(Happened::GoesOn { op, unit, resume_ns }));
        self.units[unit.index()].riders = riders;
        let phases = suspended.resumed(resume_ns);
        self.start_command(unit, flash::Command::new(Owner::Host(op), flash::Class::Host, phases));
        self.may_be_loaded(unit);
    }

    /// Takes a page operation of the host and those that can share its array time. Returns the
    /// phases of all, if they need the array.
    #[inline(always)]
    pub(super) fn take_with_others(&mut self, unit: UnitId, op: u32, list: u8) -> Option<Phases> {
        let kind = self.host.waiting.op(op).kind;
        let plane = self.start_page(unit, op, list)?;
        if self.plan.geometry.shape.multi_plane > 1 {
            self.share(unit, plane, kind == OpKind::Write, list);
        } else if self.plan.geometry.shape.read_slots() > 1 && kind != OpKind::Write {
            self.join_reads(unit, op, list);
        }
        self.note_programmed(unit, op);
        if self.background.counts_reads() && kind != OpKind::Write {
            self.pages_are_read(unit, op);
        }
        Some(binding!(self).phases((op, kind), &self.units[unit.index()].riders))
    }

    /// Where planes read by themselves: starts a read of the host in its plane, with those that
    /// need slots of the same flash page. A read that needs no array is done at once.
    #[inline(never)]
    pub(super) fn read_in_plane(&mut self, unit: UnitId, op: u32, list: u8) {
        if self.start_page(unit, op, list).is_none() {
            return;
        }
        let mut last = self.page_of(op);
        let reader = self.plan.geometry.reader_of(last);
        self.notify(Happened::ReadsInPlane { op, reader });
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
            self.notify(Happened::ReadsInPlane { op: next, reader });
            self.units[reader.index()].riders.ops.push(next);
            last = self.page_of(next);
        }
        if self.background.counts_reads() {
            self.pages_are_read(reader, op);
        }
        let kind = self.host.waiting.op(op).kind;
        let phases = binding!(self).phases((op, kind), &self.units[reader.index()].riders);
        self.store.alloc.one_more(unit);
        self.arbiter.reads_in_plane(unit, reader);
        let (owner, of_unit) = (Owner::Host(op), Owner::Planes);
        let command = flash::Command::new(owner, flash::Class::Host, phases);
        let (now_ns, events) = (self.now_ns, &mut self.events);
        let moved = self.flash.start_in_plane(reader, command, of_unit, now_ns, events);
        self.notify_beginning(reader, owner, &moved);
        self.has_begun(reader, moved);
    }

    /// The array reads the pages of an operation of the host: each flash page once.
    #[cold]
    #[inline(never)]
    fn pages_are_read(&mut self, reader: UnitId, op: u32) {
        let served = self.units[reader.index()].riders.served(op);
        let pages: Vec<Ppn> = served.map(|op| self.page_of(op)).collect();
        for together in pages.chunk_by(|&a, &b| self.prices.shares_flash_page(a, b)) {
            self.background.page_read(together[0], &mut rest!(self));
        }
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
    /// page is not in a suspended program, in a register, or in a block that a collection closes.
    pub(super) fn may_begin_in_plane(&self, unit: UnitId, lpn: Lpn) -> bool {
        let (page, geometry) = (self.store.ftl.map.ppn_of(lpn), &self.plan.geometry);
        if !page.is_some() || geometry.unit_of(geometry.plane_of(page)) != unit {
            // It starts elsewhere, or needs no flash.
            return true;
        }
        if self.arbiter.awaits_suspended(unit, page, &self.plan) {
            return false;
        }
        let (job, gc) = (&self.jobs[unit], &self.plan.gc);
        self.flash.is_free(geometry.reader_of(page))
            && !job.has_in_register(page, &self.plan)
            && !(gc.blocking.blocks && job.closes(page, gc, geometry))
    }

    /// The write that has waited longest gets a unit. Returns whether a unit has it, or
    /// collects for it.
    #[inline(never)]
    pub(super) fn give_places(&mut self) -> bool {
        if self.store.alloc.stripes.has_waiting() { self.give_page() } else { self.give_to_idle() }
    }

    /// The write that has waited longest gets the next page of the block that planes share.
    /// Returns whether it has one, or a unit may collect for it.
    fn give_page(&mut self) -> bool {
        let given = binding!(self).give_page();
        self.pass_facts();
        match given {
            // A unit that collects for the write is checked now, not at the next event.
            None => {
                self.look_at_parts();
                return !self.ready.is_empty();
            }
            Some(Given::Nothing(op)) => {
                self.serve_without_flash(op);
            }
            Some(Given::Page(op, plane)) => {
                self.queue_at(op, plane);
                self.place_flushes();
            }
        }
        true
    }

    /// Writes wait for pages that open collections free: those that rest continue unpaid.
    fn look_at_parts(&mut self) {
        if !self.arbiter.is_preemptive() {
            return;
        }
        for unit in (0..self.plan.geometry.units).map(UnitId) {
            let rests = self.jobs[unit].stage() == Stage::Copying && self.flash.is_free(unit);
            if rests && view!(self).awaits_pages(unit) {
                self.notify(Happened::NeedNotPay { unit });
                self.look_at(unit);
            }
        }
    }

    /// The write that has waited longest for any unit of its pool gets one that is idle. Units
    /// that could start something of their own have started it before. Returns whether one has it.
    fn give_to_idle(&mut self) -> bool {
        if self.jobs.unseen(0).is_some() && self.has_no_room() {
            // A unit may take a write although a collection has closed its channel.
            self.look_into_all();
        }
        let (flash, waiting) = (&self.flash, &self.host.waiting);
        let taken = self.store.alloc.when_idle.take(
            &self.plan.pools,
            |unit| flash.is_free(unit) && flash.is_bus_free(unit) && waiting.count(unit) == 0,
            |plane| self.store.ftl.host_has_room(plane),
            |plane| !waiting.is_held(plane),
        );
        let Some((op, plane)) = taken else { return false };
        self.queue_at(op, plane);
        true
    }

    /// Whether no plane of a pool that writes wait for has a page for them.
    fn has_no_room(&self) -> bool {
        let has_room = |plane| self.store.ftl.host_has_room(plane);
        self.store.alloc.when_idle.has_full_pool(&self.plan.pools, has_room)
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
            return self.start_write(unit, plane, (op, lpn)).then_some(plane);
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
        self.notify(Happened::Started { op, lpn });
        if self.store.ftl.is_in_controller(&self.plan.geometry, ppn) {
            self.notify(Happened::ReadBegun { ppn, lpn });
            self.answered(op);
            return None;
        }
        self.notify(Happened::Read { ppn, lpn });
        Some(from)
    }

    /// A write of the host takes its pages. Returns whether its program begins; else the operation
    /// is over.
    #[inline(always)]
    fn start_write(&mut self, unit: UnitId, plane: PlaneId, (op, lpn): (u32, Lpn)) -> bool {
        self.look_into_page(lpn);
        let bound = binding!(self).starts(plane, op, lpn);
        self.has_bound(unit, bound);
        if bound.fills > 0 {
            self.units[unit.index()].riders.fills += bound.fills;
        }
        match bound.then {
            Then::Begins => {}
            Then::BeginsWithFlushes => self.place_flushes(),
            Then::Kept => self.host_operation_ended(op),
        }
        bound.then != Then::Kept
    }

    /// The next reads of the list that need slots of the same flash page join: the array reads it
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

    /// Multi-plane operation: the next operations of the list that do the same in other planes of
    /// the die join, in their order, up to the first that does not fit.
    pub(super) fn share(&mut self, unit: UnitId, first: PlaneId, writes: bool, list: u8) {
        let mut planes = vec![first];
        while planes.len() < self.plan.geometry.shape.multi_plane as usize {
            let Some(op) = self.host.waiting.peek(unit, list) else { return };
            if !self.arbiter.lets_join(unit, (op, list), view!(self)) {
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
        let is_programming = self.jobs[unit].is_programming(ppn, &self.plan)
            || self.arbiter.awaits_suspended(unit, ppn, &self.plan);
        if !kind.is_read() || !ppn.is_some() || is_programming {
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
        let lpn = self.host.waiting.op(op).lpn;
        let pool = self.plan.pools.of_page(&self.plan.geometry, lpn);
        let plane =
            self.store.alloc.best_beside(&self.plan, &self.store.ftl, pool, planes, |plane| {
                !self.host.waiting.is_held(plane)
            })?;
        if !self.arbiter.lets_write(unit, plane, &view!(self)) {
            return None;
        }
        // It waits first in the unit, and so it does in the queue of its new plane.
        self.host.waiting.take(unit, op, list);
        self.host.waiting.queue_at(op, plane, 0);
        Some(plane)
    }
}
