//! Overlap: a transfer of the host in parallel with an operation of the collection, or the reverse.
//!
//! Paper preemptible-gc, section III-C: two operations of the same kind can be pipelined. At point
//! A a write of the host is loaded into the register's second half while the copy's page is
//! programmed; when that ends it is programmed at once. At point B a read of the host leaves over
//! the bus while the collection's next page is read. And a read of a page that is being programmed
//! is answered from its buffer (Table III).

use super::Sim;
use crate::collect::Stage;
use crate::flash::{Class, Command, Ended, Kind, Moved, Op};
use crate::gc::Suspends;
use crate::ids::UnitId;
use crate::owner::Owner;
use crate::verify::{Watch, What};

impl<W: Watch> Sim<W> {
    /// A phase has begun, and with it the work that can run in parallel.
    #[inline(never)]
    pub(super) fn phase_begun(&mut self, unit: UnitId, owner: Owner) {
        match owner {
            Owner::Collection => self.job_phase_overlaps(unit),
            Owner::Host(_) if self.pipelines() => self.may_read_ahead(unit),
            _ => {}
        }
    }

    /// A phase of the collection's operation begins. With the last of a program, a write is loaded
    /// in parallel; and a request that waited for a transfer of the collection may suspend it now.
    #[inline(never)]
    pub(super) fn job_phase_overlaps(&mut self, unit: UnitId) {
        let [_, is_last] = self.flash.is_first_or_last_phase(unit);
        let is_last_array = is_last && self.in_array_phase(unit);
        let is_program = self.jobs[unit].stage == Stage::Programming;
        if is_last_array && is_program && self.pipelines() {
            self.load_write(unit);
        }
        if self.host.waiting.count(unit) > 0 {
            self.try_suspend(unit);
        }
    }

    /// At point A: the write that may preempt is loaded while the copy is programmed.
    fn load_write(&mut self, unit: UnitId) {
        let Some(preemptive) = self.arbiter.preemptive() else { return };
        let first = preemptive.units[unit.index()].suspends == 0;
        let suspends_any = preemptive.rules.suspends == Suspends::Any;
        if !first || suspends_any || self.flash.second(unit).is_some() {
            return;
        }
        let Some((op, list)) = preemptive.preempting_write(unit, &mut view!(self)) else { return };
        if self.start_page(unit, op, list).is_none() {
            return;
        }
        self.note_host_page(unit, op);
        self.counters.pipelined_writes += 1;
        let phases = self.prices.nominal(Op::Program, 1);
        self.begin_beside(unit, Command::new(Owner::Host(op), Class::Host, phases));
    }

    fn begin_beside(&mut self, unit: UnitId, command: Command<Owner>) {
        self.flash.start_beside(unit, command, self.now_ns, &mut self.events);
    }

    /// A read of a page that is being programmed is answered from its buffer.
    pub(super) fn answer_beside(&mut self, unit: UnitId, op: u32, list: u8) {
        self.take_answer(unit, op, list);
        let phases = self.prices.answer();
        if phases.count() == 0 {
            return self.left_at_once.push_back((unit, op));
        }
        self.begin_beside(unit, Command::new(Owner::Answer(op), Class::Host, phases));
    }

    /// The answers of no length have left.
    #[cold]
    pub(super) fn leave_at_once(&mut self) {
        while let Some((unit, op)) = self.left_at_once.pop_front() {
            self.note_left(unit);
            self.answered(op);
        }
    }

    /// The answer that was on its way in parallel with the collection's operation has left.
    #[inline(never)]
    pub(super) fn left_beside(&mut self, unit: UnitId, owner: Owner) {
        let Owner::Answer(op) = owner else { return };
        self.note_left(unit);
        self.tell_busy(What::Operation("read", 0), unit, self.now_ns, false);
        self.answered(op);
        self.try_suspend(unit);
    }

    /// A read of the host leaves over the bus and nothing waits: the collection's next pages are
    /// read.
    #[inline(never)]
    pub(super) fn may_read_ahead(&mut self, unit: UnitId) {
        let [is_first, is_last] = self.flash.is_first_or_last_phase(unit);
        let leaves = is_last && !is_first && !self.in_array_phase(unit);
        let is_free = self.flash.second(unit).is_none() && !self.arbiter.is_suspended(unit);
        let at_b = self.jobs[unit].stage == Stage::Copying;
        if !leaves || !is_free || !at_b || self.host.waiting.count(unit) > 0 {
            return;
        }
        let mut collecting = collecting!(self);
        collecting.take_step(unit);
        if collecting.jobs[unit].step.is_empty() {
            return;
        }
        let phases = collecting.step_read(unit);
        if phases.get(0).is_none_or(|first| first.kind != Kind::Read) {
            return;
        }
        collecting.begin_reading(unit);
        collecting.jobs[unit].read_ahead = true;
        self.begin_beside(unit, Command::new(Owner::Collection, Class::Gc, phases));
    }

    /// The host's read has left, or a copy is programmed: what began in parallel is the unit's
    /// operation from now on. The collection continues with the pages that were read; the write
    /// that was loaded is programmed next; and an answer that is still on its way has the unit
    /// until it has left.
    pub(super) fn second_takes_over(&mut self, unit: UnitId) {
        let Some(owner) = self.flash.second(unit) else { return };
        let filled = self.units[unit.index()].filled;
        let pages = match (owner, self.arbiter.preemptive()) {
            (Owner::Host(_), Some(preemptive)) => {
                preemptive.units[unit.index()].loaded_write_waited();
                std::mem::take(&mut self.jobs[unit].host_pages)
            }
            _ => Vec::new(),
        };
        let prices = &self.prices;
        let bind = |phases: &mut _| {
            if let Owner::Host(_) = owner {
                prices.bind(phases, pages.iter().copied(), filled);
            }
        };
        self.store.alloc.one_more(unit);
        match self.flash.take_over(unit, bind, self.now_ns, &mut self.events) {
            Some(Moved::Ended(Ended { owner: Owner::Collection, .. })) => {
                // The pages are in the register already, and took no time of the unit.
                self.store.alloc.one_less(unit);
                self.tell_operation(unit, Owner::Collection, self.now_ns);
                self.collection_advances(unit);
            }
            Some(moved) => self.has_begun(unit, moved),
            None => {}
        }
    }

    fn in_array_phase(&self, unit: UnitId) -> bool {
        self.flash.phase(unit).is_some_and(|phase| !phase.kind.is_on_bus())
    }
}
