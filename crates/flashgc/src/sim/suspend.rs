//! Suspension: an operation of the collection gives way in the middle, and continues later.
//!
//! Paper preemptible-gc, section IV. One operation of a unit is suspended at a time; it keeps its
//! page buffer, and an operation in between uses a second one. The time that it has left stays
//! exact.

use super::Sim;
use super::owner::Owner;
use crate::collect::Stage;
use crate::flash::{Flash, Kind, Suspended};
use crate::gc::Suspends;
use crate::host::OpKind;
use crate::ids::UnitId;
use crate::plan::READS;
use crate::verify::{Happened, Watch, What};

use super::service::Next;

impl<W: Watch> Sim<W> {
    /// A request has come to a unit that works for its collection. Table III: a read whose page is
    /// in the page buffer suspends nothing.
    pub(super) fn knock(&mut self, unit: UnitId, op: u32) {
        if self.preempting.rules.suspends != Suspends::Any {
            return self.try_suspend(unit);
        }
        let collects = self.flash.owner(unit) == Some(Owner::Collection);
        let is_write = self.host.waiting.op(op).kind == OpKind::Write;
        if !collects || is_write || !self.is_in_register(unit, op) {
            return self.try_suspend(unit);
        }
        let is_free = self.flash.second(unit).is_none();
        let is_first = self.host.waiting.peek(unit, READS) == Some(op);
        match self.jobs[unit].stage {
            // It is served when the page is in the register.
            Stage::Reading => {}
            Stage::Programming if is_free && is_first && self.in_array_phase(unit) => {
                self.answer_beside(unit, op, READS);
            }
            _ => self.try_suspend(unit),
        }
    }

    pub(super) fn in_array_phase(&self, unit: UnitId) -> bool {
        self.flash.phase(unit).is_some_and(|phase| !phase.kind.is_on_bus())
    }

    /// Suspends the collection's operation if a request may preempt and the operation may be
    /// suspended.
    pub(super) fn try_suspend(&mut self, unit: UnitId) {
        let suspends = self.preempting.rules.suspends;
        let collects = self.flash.owner(unit) == Some(Owner::Collection);
        let waits = self.host.waiting.count(unit) > 0;
        if !collects || suspends == Suspends::Nothing || !waits {
            return;
        }
        let may = match self.jobs[unit].stage {
            Stage::Erasing => true,
            Stage::Reading | Stage::Programming => suspends == Suspends::Any,
            _ => false,
        };
        if may
            && self.may_be_suspended(unit)
            && self.entrant(unit).is_some_and(|(op, _)| self.would_go_before(unit, op))
        {
            self.suspend(unit);
        }
    }

    /// Whether a preempting request would be served before the operation continues: a read of a
    /// page that is being read into the register waits for it.
    fn would_go_before(&self, unit: UnitId, op: u32) -> bool {
        let is_write = self.host.waiting.op(op).kind == OpKind::Write;
        let reads = self.jobs[unit].stage == Stage::Reading;
        is_write || !reads || !self.is_in_register(unit, op)
    }

    /// Whether the operation under way can be suspended now.
    fn may_be_suspended(&self, unit: UnitId) -> bool {
        let left_ns = self.flash.left_ns(unit, self.now_ns);
        let (Some(left_ns), Some(cost)) = (left_ns, self.plan.timing.suspend) else {
            return false;
        };
        let resumes = self.flash.phase(unit).is_some_and(|phase| phase.kind == Kind::Switch);
        let rules = &self.preempting.rules;
        let is_worth_it = !rules.worth_it || left_ns > cost.suspend_ns + cost.resume_ns;
        let suspends = self.preempting.units[unit.index()].suspends;
        !resumes && left_ns > 0 && is_worth_it && suspends < rules.most_suspends
    }

    fn suspend(&mut self, unit: UnitId) {
        let Some(cost) = self.plan.timing.suspend else { return };
        let suspended = self.flash.suspend(unit, self.now_ns, &mut self.events);
        let Suspended { since_ns, phase_since_ns, .. } = suspended;
        if self.now_ns > phase_since_ns {
            self.job_worked(unit, Owner::Collection, self.now_ns - phase_since_ns);
            self.tell_busy(What::Array, unit, phase_since_ns, true);
        }
        if self.now_ns > since_ns {
            self.tell_operation(unit, Owner::Collection, since_ns);
        }
        self.counters.gc_blocking_ns += self.now_ns - since_ns;
        self.counters.suspended += 1;
        self.jobs[unit].extra_ns += cost.suspend_ns;
        self.alloc.one_less(unit);
        let entry = &mut self.preempting.units[unit.index()];
        entry.suspended = Some(suspended);
        entry.suspends += 1;
        self.start_command(unit, Flash::switch(Owner::Suspending, cost.suspend_ns));
    }

    /// The next operation of a unit whose collection has a suspended operation.
    pub(super) fn next_while_suspended(&mut self, unit: UnitId) -> Next {
        let Some((op, list)) = self.entrant(unit) else { return Next::Resume };
        let is_write = self.host.waiting.op(op).kind == OpKind::Write;
        if is_write || !self.is_in_register(unit, op) {
            return Next::Host(op, list);
        }
        match self.jobs[unit].stage {
            Stage::Reading => Next::Resume,
            _ => Next::Answer(op, list),
        }
    }

    /// The suspended operation continues. A read whose pages the host has rewritten meanwhile is
    /// discarded (Table III).
    #[inline(never)]
    pub(super) fn resume(&mut self, unit: UnitId) {
        let suspended = self.preempting.units[unit.index()].suspended.take();
        let Some(suspended) = suspended else { return };
        let resume_ns = self.plan.timing.suspend.map_or(0, |cost| cost.resume_ns);
        if self.jobs[unit].stage == Stage::Reading && self.step_is_stale(unit) {
            let read_ns = self.step_read(unit).array_ns();
            let job = &mut self.jobs[unit];
            job.stage = Stage::Copying;
            job.step.clear();
            job.reads -= 1;
            job.extra_ns += read_ns - suspended.left_ns;
            let entry = &mut self.preempting.units[unit.index()];
            (entry.suspends, entry.read_ahead) = (0, false);
            self.tell(Happened::ReadGivenUp { unit });
            return;
        }
        self.jobs[unit].extra_ns += resume_ns;
        self.begin(unit, Owner::Collection, suspended.resumed(resume_ns));
    }

    /// Whether no page of the step is valid any more.
    fn step_is_stale(&self, unit: UnitId) -> bool {
        let job = &self.jobs[unit];
        let is_valid = |&at: &usize| self.ftl.is_valid(&self.plan.geometry, job.copies[at].from);
        !job.step.iter().any(is_valid)
    }
}
