//! Overlap: a transfer of the host in parallel with an operation of the collection, or the reverse.
//!
//! Paper preemptible-gc, section III-C: two operations of the same kind can be pipelined. At point
//! A a write of the host is loaded into the register's second half while the copy's page is
//! programmed; when that ends it is programmed at once. At point B a read of the host leaves over
//! the bus while the collection's next page is read. And a read of a page that is being programmed
//! is answered from its buffer (Table III).

use super::Sim;
use super::preemption::Preempting;
use crate::device::{Phase, Phases, Unit, Worker};
use crate::gc::Suspends;
use crate::gc::job::Stage;
use crate::ids::{BusId, UnitId};
use crate::verify::{Watch, What};

/// The work in parallel with the operation of a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Overlap {
    /// Nothing.
    #[default]
    Nothing,
    /// Data of the host's write is loaded while a copy is programmed.
    Write {
        /// The write.
        op: u32,
        /// Whether it has arrived.
        loaded: bool,
    },
    /// A read of the host is answered with a page that is being programmed.
    Answer {
        /// The read.
        op: u32,
    },
    /// The collection's next pages are read while a read of the host leaves.
    Read {
        /// Whether they are in the register.
        done: bool,
    },
}

impl Preempting {
    /// Whether the unit's transfer is the host's while its array works for the collection.
    pub(super) fn transfers_beside(&self, unit: UnitId) -> bool {
        let overlap = self.units[unit.index()].overlap;
        matches!(overlap, Overlap::Write { loaded: false, .. } | Overlap::Answer { .. })
    }

    /// Since when the unit's array reads for the collection while the host's transfer is under way.
    pub(super) fn reads_beside_since(&self, at: usize, unit: &Unit) -> Option<u64> {
        let entry = self.units.get(at)?;
        let reads = entry.overlap == Overlap::Read { done: false } && !unit.worker.is_gc();
        reads.then_some(entry.overlap_since_ns)
    }
}

impl<W: Watch> Sim<W> {
    /// Bus time that the unit needs.
    fn bus_ns(&self, unit: UnitId) -> Option<u64> {
        match self.preempting.units[unit.index()].overlap {
            Overlap::Write { loaded: false, .. } => return self.load_ns(),
            Overlap::Answer { .. } => return Some(self.answer_ns()),
            _ => {}
        }
        let state = &self.units[unit.index()];
        match state.phases.get(state.at) {
            Some(Phase::Bus(ns)) => Some(ns),
            _ => None,
        }
    }

    /// Bus time of a write's data.
    fn load_ns(&self) -> Option<u64> {
        match self.recipes.program[0].get(0) {
            Some(Phase::Bus(ns)) => Some(ns),
            _ => None,
        }
    }

    /// Whether the unit's array works for the collection while the host's transfer is under way.
    pub(super) fn reads_beside(&self, unit: UnitId) -> bool {
        let state = &self.units[unit.index()];
        self.preempting.reads_beside_since(unit.index(), state).is_some()
    }

    #[inline(never)]
    fn ask_for_bus(&mut self, unit: UnitId, ns: u64) {
        let bus = self.plan.geometry.bus_of(unit);
        if self.buses[bus.index()].holder.is_none() {
            self.grant(bus, unit, ns);
        } else {
            self.buses[bus.index()].waiting.extend([unit]);
        }
    }

    /// A transfer has ended on a drive with preemption: of the unit's operation, or of the work in
    /// parallel with it.
    #[inline(never)]
    pub(super) fn transfer_ended_preempting(&mut self, bus: BusId) {
        let state = &mut self.buses[bus.index()];
        let unit = state.holder.take().expect("a transfer that ends has a unit");
        let (since_ns, next) = (state.since_ns, state.waiting.pop_front());
        let beside = self.preempting.transfers_beside(unit);
        let gc = self.units[unit.index()].worker.is_gc() && !beside;
        self.buses[bus.index()].spent.add(gc, self.now_ns - since_ns);
        self.tell_busy(What::Bus, unit, since_ns, gc);
        if let Some((next, ns)) = next.and_then(|next| Some((next, self.bus_ns(next)?))) {
            self.grant(bus, next, ns);
        }
        if beside {
            return self.transferred_beside(unit);
        }
        self.advance_preempting(unit);
    }

    /// An array phase has ended on a drive with preemption.
    #[inline(never)]
    pub(super) fn array_ended_preempting(&mut self, unit: UnitId) {
        if self.reads_beside(unit) {
            return self.read_beside_ended(unit);
        }
        let state = &self.units[unit.index()];
        let (worker, since_ns) = (state.worker, state.phase_since_ns);
        // The array rests while the queue is polled.
        if worker != Worker::Polling {
            if worker.is_gc() {
                self.job_worked(unit, self.now_ns - since_ns);
            }
            self.tell_busy(What::Array, unit, since_ns, worker.is_gc());
        }
        self.advance_preempting(unit);
    }

    /// The next phase begins, and with it the work that can run in parallel.
    fn advance_preempting(&mut self, unit: UnitId) {
        self.units[unit.index()].at += 1;
        let worker = self.units[unit.index()].worker;
        if worker == Worker::Ahead {
            self.ahead_phase_begins(unit);
        }
        self.begin_phase(unit);
        if self.units[unit.index()].worker != worker {
            return;
        }
        match worker {
            Worker::Gc => self.job_phase_overlaps(unit),
            Worker::Host(_) if self.preempting.rules.pipeline => self.may_read_ahead(unit),
            _ => {}
        }
    }

    /// A phase of the collection's operation begins. With the last of a program, a write is loaded
    /// in parallel; and a request that waited for a transfer of the collection may suspend it now.
    #[inline(never)]
    pub(super) fn job_phase_overlaps(&mut self, unit: UnitId) {
        let state = &self.units[unit.index()];
        let is_last_array = matches!(state.phases.get(state.at), Some(Phase::Array(_)))
            && state.phases.get(state.at + 1).is_none();
        let is_program = self.gc.jobs[unit.index()].stage == Stage::Programming;
        let first = !self.preempting.units[unit.index()].is_resuming
            && self.preempting.units[unit.index()].suspends == 0;
        if is_last_array && is_program && first && self.preempting.rules.pipeline {
            self.load_write(unit);
        }
        if self.units[unit.index()].waiting > 0 {
            self.try_suspend(unit);
        }
    }

    /// At point A: the write that may preempt is loaded while the copy is programmed.
    fn load_write(&mut self, unit: UnitId) {
        let entry = &self.preempting.units[unit.index()];
        if entry.overlap != Overlap::Nothing || self.preempting.rules.suspends == Suspends::Any {
            return;
        }
        let Some((op, list)) = self.preempting_write(unit) else { return };
        if self.start_page(unit, op, list).is_none() {
            return;
        }
        self.note_host_page(unit, op);
        self.counters.pipelined_writes += 1;
        let load_ns = self.load_ns();
        let entry = &mut self.preempting.units[unit.index()];
        entry.overlap = Overlap::Write { op, loaded: load_ns.is_none() };
        entry.overlap_since_ns = self.now_ns;
        if let Some(ns) = load_ns {
            self.ask_for_bus(unit, ns);
        }
    }

    /// A read of a page that is being programmed is answered from its buffer.
    pub(super) fn answer_beside(&mut self, unit: UnitId, op: u32, list: u8) {
        self.take_answer(unit, op, list);
        let ns = self.answer_ns();
        if ns == 0 {
            self.note_left(unit);
            return self.answered(op);
        }
        let entry = &mut self.preempting.units[unit.index()];
        entry.overlap = Overlap::Answer { op };
        entry.overlap_since_ns = self.now_ns;
        self.ask_for_bus(unit, ns);
    }

    /// A transfer in parallel with the collection's operation has ended.
    #[inline(never)]
    pub(super) fn transferred_beside(&mut self, unit: UnitId) {
        let entry = &mut self.preempting.units[unit.index()];
        match entry.overlap {
            Overlap::Write { op, .. } => entry.overlap = Overlap::Write { op, loaded: true },
            Overlap::Answer { op } => {
                entry.overlap = Overlap::Nothing;
                self.note_left(unit);
                self.tell_busy(What::Operation("read", 0), unit, self.now_ns, false);
                self.answered(op);
                self.try_suspend(unit);
            }
            _ => {}
        }
    }

    /// A read of the host leaves over the bus and nothing waits: the collection's next pages are
    /// read.
    #[inline(never)]
    pub(super) fn may_read_ahead(&mut self, unit: UnitId) {
        let state = &self.units[unit.index()];
        let leaves = matches!(state.phases.get(state.at), Some(Phase::Bus(_)))
            && state.at > 0
            && state.phases.get(state.at + 1).is_none();
        let entry = &self.preempting.units[unit.index()];
        let is_free = entry.overlap == Overlap::Nothing && entry.suspended.is_none();
        let at_b = self.gc.jobs[unit.index()].stage == Stage::Copying;
        if !leaves || !is_free || !at_b || state.waiting > 0 || entry.answers {
            return;
        }
        self.take_step(unit);
        let copies = self.gc.jobs[unit.index()].step.len();
        if copies == 0 {
            return;
        }
        let Some(Phase::Array(ns)) = self.step_read(unit).get(0) else { return };
        self.begin_reading(unit);
        let entry = &mut self.preempting.units[unit.index()];
        entry.overlap = Overlap::Read { done: false };
        entry.overlap_since_ns = self.now_ns;
        entry.read_ahead = true;
        self.events.post(unit.index(), self.now_ns + ns);
    }

    /// The collection's pages are in the register, and the host's read has not left yet.
    #[inline(never)]
    pub(super) fn read_beside_ended(&mut self, unit: UnitId) {
        let entry = &mut self.preempting.units[unit.index()];
        entry.overlap = Overlap::Read { done: true };
        let since_ns = entry.overlap_since_ns;
        self.job_worked(unit, self.now_ns - since_ns);
        self.tell_busy(What::Array, unit, since_ns, true);
    }

    /// The host's read has left: the collection continues with the pages that were read in
    /// parallel.
    pub(super) fn host_gave_way(&mut self, unit: UnitId) {
        let entry = &mut self.preempting.units[unit.index()];
        let Overlap::Read { done } = entry.overlap else { return };
        let since_ns = entry.overlap_since_ns;
        entry.overlap = Overlap::Nothing;
        let phases = self.step_read(unit);
        if done && phases.count() == 1 {
            self.units[unit.index()].worker = Worker::Gc;
            self.tell_operation(unit, self.now_ns);
            self.units[unit.index()].worker = Worker::Nobody;
            return self.job_operation_ended(unit);
        }
        self.take_over(unit, Worker::Gc, phases, since_ns);
        if done {
            self.units[unit.index()].at = 1;
            self.begin_phase(unit);
        }
    }

    /// A copy is programmed: the write that was loaded in parallel is programmed next, and an
    /// answer that is still on its way has the unit until it has left.
    pub(super) fn job_gave_way(&mut self, unit: UnitId) {
        let entry = &mut self.preempting.units[unit.index()];
        let (overlap, since_ns) = (entry.overlap, entry.overlap_since_ns);
        match overlap {
            Overlap::Write { op, loaded } => {
                entry.overlap = Overlap::Nothing;
                entry.loaded_write_waited();
                let mut phases = self.recipes.program[0];
                if self.recipes.layers.is_some() {
                    let ns = std::mem::take(&mut self.preempting.units[unit.index()].host_ns);
                    phases.set_array(0, ns);
                }
                let filled = self.units[unit.index()].filled;
                self.plan.timing.add_summaries(&mut phases, filled);
                self.take_over(unit, Worker::Host(op), phases, since_ns);
                if loaded {
                    let loads = u8::from(matches!(phases.get(0), Some(Phase::Bus(_))));
                    self.units[unit.index()].at = loads;
                    self.begin_phase(unit);
                }
            }
            Overlap::Answer { op } => {
                entry.overlap = Overlap::Nothing;
                entry.answers = true;
                let mut phases = Phases::new();
                phases.bus(self.answer_ns());
                self.take_over(unit, Worker::Host(op), phases, since_ns);
            }
            Overlap::Nothing | Overlap::Read { .. } => {}
        }
    }

    /// The work that ran in parallel is the unit's operation from now on.
    fn take_over(&mut self, unit: UnitId, worker: Worker, phases: Phases, phase_since_ns: u64) {
        let state = &mut self.units[unit.index()];
        debug_assert!(state.worker == Worker::Nobody);
        (state.worker, state.phases, state.at) = (worker, phases, 0);
        state.since_ns = self.now_ns;
        state.phase_since_ns = phase_since_ns;
        self.loads[unit.index()] += 1;
    }
}
