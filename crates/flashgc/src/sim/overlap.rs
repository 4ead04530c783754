//! Overlap: a transfer of the host in parallel with an operation of the collection, or the reverse.
//!
//! Paper preemptible-gc, section III-C: two operations of the same kind can be pipelined. At point
//! A a write of the host is loaded into the register's second half while the copy's page is
//! programmed; when that ends it is programmed at once. At point B a read of the host leaves over
//! the bus while the collection's next page is read.

use super::Sim;
use crate::arbiter::Choice;
use crate::collect::Stage;
use crate::flash::{self, Class, Command, Kind};
use crate::host::OpKind;
use crate::ids::UnitId;
use crate::operation;
use crate::owner::Owner;
use crate::verify::{Happened, Watch};

impl<W: Watch> Sim<W> {
    /// A phase has begun, and with it the work that can run in parallel.
    #[inline(never)]
    pub(super) fn phase_begun(&mut self, unit: UnitId, owner: Owner) {
        match owner {
            Owner::Collection => self.job_phase_overlaps(unit),
            // During reads of planes, the collection reads no page in advance.
            Owner::Host(_) if self.arbiter.overlaps()[0] && !self.plan.geometry.is_reader(unit) => {
                self.may_read_ahead(unit);
            }
            _ => {}
        }
    }

    /// A phase of the collection's operation begins. With the last of a program, a write is loaded
    /// in parallel; and a request that waited for a transfer of the collection may suspend it now.
    #[inline(always)]
    pub(super) fn job_phase_overlaps(&mut self, unit: UnitId) {
        let [pipelines, suspends] = self.arbiter.overlaps();
        if pipelines || suspends {
            self.may_overlap(unit, pipelines, suspends);
        }
    }

    #[inline(never)]
    fn may_overlap(&mut self, unit: UnitId, pipelines: bool, suspends: bool) {
        if pipelines && self.jobs[unit].stage() == Stage::Programming {
            let [_, is_last] = self.flash.is_first_or_last_phase(unit);
            if is_last && self.in_array_phase(unit) {
                self.load_write(unit);
            }
        }
        if suspends && self.host.waiting.count(unit) > 0 {
            self.try_suspend(unit);
        }
    }

    /// At point A: the write that may preempt is loaded while the copy is programmed.
    pub(super) fn load_write(&mut self, unit: UnitId) {
        let Some((op, list)) = self.arbiter.write_to_load(unit, view!(self)) else { return };
        if self.start_page(unit, op, list).is_none() {
            return;
        }
        self.note_programmed(unit, op);
        let page = binding!(self).page_at_register(op);
        let state = &mut self.units[unit.index()];
        state.beside = std::mem::take(&mut state.riders);
        state.beside.pages.extend(page);
        self.notify(Happened::Loaded { op });
        self.counters.pipelined_writes += 1;
        let phases = operation::loading(&self.prices);
        self.begin_beside(unit, Command::new(Owner::Host(op), Class::Host, phases));
    }

    /// At point B: the collection's next pages are read while a read of the host leaves.
    #[inline(never)]
    pub(super) fn may_read_ahead(&mut self, unit: UnitId) {
        if !self.arbiter.reads_ahead(unit, view!(self)) {
            return;
        }
        // A read of no length leaves no time for other work.
        let read = self.collection_prices.nominal(flash::Op::ReadRegisters, 1).get(0);
        if read.is_none_or(|first| first.kind != Kind::Read) {
            return;
        }
        if let Some(command) = collecting!(self).read_ahead(unit) {
            self.begin_beside(unit, command);
        }
    }

    /// The unit works: the next operation of the host may begin in a register, or in another plane.
    #[inline(never)]
    pub(super) fn begin_beside_another(&mut self, unit: UnitId) {
        self.may_begin_cached(unit);
        self.read_in_other_planes(unit);
    }

    /// Where the device has cache operations: the next operation of the host begins with the last
    /// phase of one, if it would be the next of the unit. A program is loaded while the array
    /// programs; a page is read while the one before it leaves over the bus.
    #[inline(never)]
    pub(super) fn may_begin_cached(&mut self, unit: UnitId) {
        while let Some((op, list)) = self.next_cached(unit) {
            let state = &mut self.units[unit.index()];
            let own = std::mem::take(&mut state.riders);
            let is_write = self.host.waiting.op(op).kind == OpKind::Write;
            if W::OPERATIONS {
                self.notify(Happened::BeginsBeside { unit, reads: !is_write });
            }
            let phases = self.take_with_others(unit, op, list);
            let next = std::mem::replace(&mut self.units[unit.index()].riders, own);
            let Some(phases) = phases else { continue };
            self.counters.cached[usize::from(is_write)] += 1;
            next.served(op).for_each(|op| self.notify(Happened::Beside { op }));
            self.units[unit.index()].beside = next;
            self.store.alloc.one_more(unit);
            return self.begin_beside(unit, Command::new(Owner::Host(op), Class::Host, phases));
        }
        // The operation that was taken needs no program, and a read may have come with it.
        self.try_suspend_program(unit);
    }

    /// An operation of the host has ended, and the one that has begun in parallel takes over.
    pub(super) fn cached_takes_over(&mut self, unit: UnitId, op: u32) {
        let riders = std::mem::take(&mut self.units[unit.index()].beside);
        for op in riders.served(op) {
            self.host_begins(unit, op);
            self.notify(Happened::TakesOver { op, unit });
        }
        self.units[unit.index()].riders = riders;
        let moved = self.flash.take_over(unit, |_| {}, self.now_ns, &mut self.events);
        if let Some(moved) = moved {
            self.notify_beginning(unit, Owner::Host(op), &moved);
            self.has_begun(unit, moved);
            self.may_be_loaded(unit);
        }
    }

    /// The operation that may begin in parallel with the one under way, and its list.
    fn next_cached(&mut self, unit: UnitId) -> Option<(u32, u8)> {
        let Some(Owner::Host(first)) = self.flash.owner(unit) else { return None };
        let is_write = |op: u32| self.host.waiting.op(op).kind == OpKind::Write;
        let programs = is_write(first);
        let (has_it, op, last) = match programs {
            true => (self.plan.cache.programs, flash::Op::Program, Kind::Program),
            false => (self.plan.cache.reads, flash::Op::Read, Kind::DataOut),
        };
        let is_due = has_it
            && self.flash.second(unit).is_none()
            && self.flash.phase(unit).is_some_and(|phase| phase.kind == last)
            && self.flash.is_first_or_last_phase(unit)[1];
        let begins = if programs { Kind::DataIn } else { Kind::Read };
        let first_phase = self.prices.nominal(op, 1).get(0);
        if !is_due
            || first_phase.is_none_or(|phase| phase.kind != begins)
            || self.jobs.has_arrivals(unit)
        {
            return None;
        }
        match self.arbiter.next_after_host(unit, view!(self)) {
            Some(Choice::Host(op, list)) => {
                let kind = self.host.waiting.op(op).kind;
                ((kind == OpKind::Write) == programs).then_some((op, list))
            }
            _ => None,
        }
    }

    pub(super) fn in_array_phase(&self, unit: UnitId) -> bool {
        self.flash.phase(unit).is_some_and(|phase| !phase.kind.is_on_bus())
    }
}
