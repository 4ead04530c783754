//! A request is queued while its unit works: it may suspend the operation, or be answered during
//! it (paper preemptible-gc, section IV and Table III).

use super::Sim;
use crate::arbiter::Interrupt;
use crate::collect::Stage;
use crate::flash::{Class, Command, Flash, Kind, Phases, Suspended};
use crate::ids::UnitId;
use crate::owner::Owner;
use crate::verify::{Happened, Watch, What};

impl<W: Watch> Sim<W> {
    /// An operation was queued: records when, and interrupts the unit's operation if it may.
    #[inline(never)]
    pub(super) fn note_queued(&mut self, unit: UnitId, op: u32) {
        self.arbiter.queued(op, self.now_ns);
        if self.jobs[unit].is_unseen() {
            if self.waits_unseen(unit, op) {
                return;
            }
            self.look_into(unit);
        }
        let pages = &self.units[unit.index()].riders.programs;
        match self.arbiter.request_came(unit, op, pages, view!(self)) {
            Interrupt::None => {}
            Interrupt::Suspend => self.suspend(unit),
            Interrupt::SuspendProgram => self.suspend_program(unit),
            Interrupt::Answer => self.answer_beside(unit, op, crate::plan::READS),
        }
    }

    /// Suspends the collection's operation if a request may preempt and the operation may be
    /// suspended.
    pub(super) fn try_suspend(&mut self, unit: UnitId) {
        if self.arbiter.may_interrupt(unit, view!(self)) {
            self.suspend(unit);
        }
    }

    pub(super) fn suspend(&mut self, unit: UnitId) {
        let suspended = self.flash.suspend(unit, self.now_ns, &mut self.events);
        let Suspended { since_ns, phase_since_ns, .. } = suspended;
        if self.now_ns > phase_since_ns {
            let ns = self.now_ns - phase_since_ns;
            self.jobs.worked(unit, Owner::Collection, ns, &mut self.counters);
            self.notify_busy(What::Array, unit, phase_since_ns, true);
        }
        self.notify_worked(unit);
        if self.now_ns > since_ns {
            self.notify_operation(unit, Owner::Collection, since_ns);
        }
        self.counters.gc_blocking_ns += self.now_ns - since_ns;
        self.counters.suspended += 1;
        self.store.alloc.one_less(unit);
        let suspend_ns = self.arbiter.suspended(unit, suspended);
        self.jobs[unit].switched(suspend_ns);
        self.start_command(unit, Flash::switch(Owner::Suspending, Class::Gc, suspend_ns));
    }

    /// Takes a read that the register answers out of its queue. Returns whether the page has to
    /// leave the register: until the end of its fine pass the controller has the page, and needs no
    /// flash.
    pub(super) fn take_answer(&mut self, unit: UnitId, op: u32, list: u8) -> bool {
        self.take_from_queue(unit, op, list);
        self.host_begins(unit, op);
        let lpn = self.host.waiting.op(op).lpn;
        let ppn = self.store.ftl.map.ppn_of(lpn);
        self.notify(Happened::Started { op, lpn });
        let has_passes = self.plan.timing.passes.is_some();
        let has_data = has_passes && self.jobs[unit].stage() == Stage::Programming;
        if has_data || self.store.ftl.is_in_controller(&self.plan.geometry, ppn) {
            self.notify(Happened::ReadBegun { ppn, lpn });
            self.leaves_at_once(unit, op);
            return false;
        }
        self.notify(Happened::Read { ppn, lpn });
        self.notify(Happened::InRegister { ppn });
        self.counters.merged_reads += 1;
        true
    }

    /// A read of a page that is being programmed is answered from its buffer.
    pub(super) fn answer_beside(&mut self, unit: UnitId, op: u32, list: u8) {
        if !self.take_answer(unit, op, list) {
            return;
        }
        let phases = self.prices.answer();
        if phases.count() == 0 {
            return self.leaves_at_once(unit, op);
        }
        self.begin_beside(unit, Command::new(Owner::Answer(op), Class::Host, phases));
    }

    fn leaves_at_once(&mut self, unit: UnitId, op: u32) {
        self.at_once.leaves(unit, op);
    }

    pub(super) fn begin_beside(&mut self, unit: UnitId, command: Command<Owner>) {
        self.flash.start_beside(unit, command, self.now_ns, &mut self.events);
    }

    /// A write found no page anywhere: collections that pause continue.
    #[cold]
    pub(super) fn hurry_all(&mut self) {
        if !self.plan.gc.is_paced() {
            return;
        }
        for unit in (0..self.plan.geometry.units).map(UnitId) {
            if self.jobs[unit].stage() == Stage::Copying {
                self.look_at(unit);
            }
        }
    }

    /// Checks the units again whose write found no page.
    #[inline(always)]
    pub(super) fn look_at_starved(&mut self) {
        while let Some(unit) = self.starved.pop() {
            self.look_at(unit);
        }
    }

    /// The collector polls the queue.
    #[inline(never)]
    pub(super) fn poll(&mut self, unit: UnitId) {
        let phases = Phases::new().then(Kind::Rest, self.arbiter.polls(unit));
        self.begin(unit, Owner::Polling, phases);
    }

    /// The suspended operation continues. A read whose pages the host has rewritten meanwhile is
    /// discarded (Table III).
    #[inline(never)]
    pub(super) fn resume(&mut self, unit: UnitId) {
        let Some((resume_ns, suspended)) = self.arbiter.resumed(unit) else { return };
        if collecting!(self).gives_up_read(unit, suspended.left_ns) {
            self.arbiter.gave_up_read(unit);
            self.notify(Happened::ReadGivenUp { unit });
            return;
        }
        self.jobs[unit].switched(resume_ns);
        self.begin(unit, Owner::Collection, suspended.resumed(resume_ns));
    }
}
