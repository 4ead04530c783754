//! Suspension: an operation of the collection gives way in the middle, and continues later.
//!
//! Paper preemptible-gc, section IV. One operation of a unit is suspended at a time; it keeps its
//! page buffer, and an operation in between uses a second one. The time that it has left stays
//! exact.

use super::Sim;
use super::host::OpKind;
use super::overlap::Overlap;
use crate::device::{Phase, Phases, Worker};
use crate::gc::Suspends;
use crate::gc::job::Stage;
use crate::ids::UnitId;
use crate::plan::READS;
use crate::verify::{Happened, Watch, What};

use super::service::Next;

/// An operation that was suspended in its array phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Suspended {
    phases: Phases,
    at: u8,
    left_ns: u64,
}

impl<W: Watch> Sim<W> {
    /// A request has come to a unit that works for its collection. Table III: a read whose page is
    /// in the page buffer suspends nothing.
    pub(super) fn knock(&mut self, unit: UnitId, op: u32) {
        if self.preempting.rules.suspends != Suspends::Any {
            return self.try_suspend(unit);
        }
        let state = &self.units[unit.index()];
        let is_write = self.slabs.ops[op as usize].kind == OpKind::Write;
        if state.worker != Worker::Gc || is_write || !self.is_in_register(unit, op) {
            return self.try_suspend(unit);
        }
        let is_free = self.preempting.units[unit.index()].overlap == Overlap::Nothing;
        let is_first = self.queues.peek(&self.slabs.ops, unit, READS) == Some(op);
        match self.gc.jobs[unit.index()].stage {
            // It is served when the page is in the register.
            Stage::Reading => {}
            Stage::Programming if is_free && is_first && self.in_array_phase(unit) => {
                self.answer_beside(unit, op, READS);
            }
            _ => self.try_suspend(unit),
        }
    }

    fn in_array_phase(&self, unit: UnitId) -> bool {
        let state = &self.units[unit.index()];
        matches!(state.phases.get(state.at), Some(Phase::Array(_)))
    }

    /// Suspends the collection's operation if a request may preempt and the operation may be
    /// suspended.
    pub(super) fn try_suspend(&mut self, unit: UnitId) {
        let state = &self.units[unit.index()];
        let suspends = self.preempting.rules.suspends;
        if state.worker != Worker::Gc || suspends == Suspends::Nothing || state.waiting == 0 {
            return;
        }
        let may = match self.gc.jobs[unit.index()].stage {
            Stage::Erasing => true,
            Stage::Reading | Stage::Programming => suspends == Suspends::Any,
            _ => false,
        };
        if let Some(left_ns) = self.left_to_suspend(unit).filter(|_| may)
            && self.entrant(unit).is_some_and(|(op, _)| self.would_go_before(unit, op))
        {
            self.suspend(unit, left_ns);
        }
    }

    /// Whether a preempting request would be served before the operation continues: a read of a
    /// page that is being read into the register waits for it.
    fn would_go_before(&self, unit: UnitId, op: u32) -> bool {
        let is_write = self.slabs.ops[op as usize].kind == OpKind::Write;
        let reads = self.gc.jobs[unit.index()].stage == Stage::Reading;
        is_write || !reads || !self.is_in_register(unit, op)
    }

    /// The time that the operation under way has left, in ns, if it can be suspended now.
    fn left_to_suspend(&self, unit: UnitId) -> Option<u64> {
        let entry = &self.preempting.units[unit.index()];
        let state = &self.units[unit.index()];
        let Some(Phase::Array(ns)) = state.phases.get(state.at) else { return None };
        let left_ns = state.phase_since_ns + ns - self.now_ns;
        let resumes = entry.is_resuming && state.at == 0;
        let cost = self.plan.timing.suspend?;
        let rules = &self.preempting.rules;
        let is_worth_it = !rules.worth_it || left_ns > cost.suspend_ns + cost.resume_ns;
        let may = !resumes && entry.overlap == Overlap::Nothing;
        (may && left_ns > 0 && is_worth_it && entry.suspends < rules.most_suspends)
            .then_some(left_ns)
    }

    fn suspend(&mut self, unit: UnitId, left_ns: u64) {
        let Some(cost) = self.plan.timing.suspend else { return };
        self.events.clear(unit.index());
        let state = &mut self.units[unit.index()];
        let (phases, at) = (state.phases, state.at);
        let (since_ns, phase_since_ns) = (state.since_ns, state.phase_since_ns);
        state.spent.add(true, self.now_ns - since_ns);
        if self.now_ns > phase_since_ns {
            self.job_worked(unit, self.now_ns - phase_since_ns);
            self.tell_busy(What::Array, unit, phase_since_ns, true);
        }
        if self.now_ns > since_ns {
            self.tell_operation(unit, since_ns);
        }
        self.counters.gc_blocking_ns += self.now_ns - since_ns;
        self.counters.suspended += 1;
        self.gc.jobs[unit.index()].extra_ns += cost.suspend_ns;
        self.units[unit.index()].worker = Worker::Nobody;
        self.loads[unit.index()] -= 1;
        let entry = &mut self.preempting.units[unit.index()];
        entry.suspended = Some(Suspended { phases, at, left_ns });
        entry.suspends += 1;
        let mut phases = Phases::new();
        phases.array(cost.suspend_ns);
        self.begin(unit, Worker::Suspending, phases);
    }

    /// The next operation of a unit whose collection has a suspended operation.
    pub(super) fn next_while_suspended(&mut self, unit: UnitId) -> Next {
        let Some((op, list)) = self.entrant(unit) else { return Next::Resume };
        let is_write = self.slabs.ops[op as usize].kind == OpKind::Write;
        if is_write || !self.is_in_register(unit, op) {
            return Next::Host(op, list);
        }
        match self.gc.jobs[unit.index()].stage {
            Stage::Reading => Next::Resume,
            _ => Next::Answer(op, list),
        }
    }

    /// The suspended operation continues. A read whose pages the host has rewritten meanwhile is
    /// discarded (Table III).
    #[inline(never)]
    pub(super) fn resume(&mut self, unit: UnitId) {
        let suspended = self.preempting.units[unit.index()].suspended.take();
        let Some(Suspended { phases: before, at, left_ns }) = suspended else { return };
        let resume_ns = self.plan.timing.suspend.map_or(0, |cost| cost.resume_ns);
        if self.gc.jobs[unit.index()].stage == Stage::Reading && self.step_is_stale(unit) {
            let read_ns = self.step_read(unit).array_ns();
            let job = &mut self.gc.jobs[unit.index()];
            job.stage = Stage::Copying;
            job.step.clear();
            job.reads -= 1;
            job.extra_ns += read_ns - left_ns;
            let entry = &mut self.preempting.units[unit.index()];
            (entry.suspends, entry.is_resuming, entry.read_ahead) = (0, false, false);
            self.tell(Happened::ReadGivenUp { unit });
            return;
        }
        let mut phases = Phases::new();
        phases.array(resume_ns);
        phases.array(left_ns);
        phases.append(&before, at + 1);
        self.gc.jobs[unit.index()].extra_ns += resume_ns;
        self.preempting.units[unit.index()].is_resuming = resume_ns > 0;
        self.begin(unit, Worker::Gc, phases);
    }

    /// Whether no page of the step is valid any more.
    fn step_is_stale(&self, unit: UnitId) -> bool {
        let job = &self.gc.jobs[unit.index()];
        let is_valid = |&at: &usize| self.ftl.is_valid(&self.plan.geometry, job.copies[at].from);
        !job.step.iter().any(is_valid)
    }
}
