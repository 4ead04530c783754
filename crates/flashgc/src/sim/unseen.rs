//! Somebody looks at a collection whose copies run unseen (`collect/unseen.rs`).

use super::Sim;
use crate::host::OpKind;
use crate::ids::{Ppn, UnitId};
use crate::owner::Owner;
use crate::verify::Watch;

impl<W: Watch> Sim<W> {
    /// No request can preempt before somebody looks: the copies that are left run unseen.
    pub(super) fn steps(&mut self, unit: UnitId) {
        let command = collecting!(self).run_unseen(unit);
        if !self.begins(unit, command) {
            self.step(unit);
        }
    }

    /// Whether events of the present instant come later than those of a unit.
    fn is_behind(&self, unit: UnitId) -> bool {
        unit.index() < self.at_place
    }

    /// A request was queued at a unit whose copies run unseen. Returns whether it leaves them
    /// unseen: another one waits before it, and may not preempt either.
    pub(super) fn waits_unseen(&mut self, unit: UnitId, op: u32) -> bool {
        let is_write = self.host.waiting.op(op).kind == OpKind::Write;
        if !is_write || self.host.waiting.is_first(unit, op) {
            return false;
        }
        let progress = self.jobs[unit].unseen_by(self.now_ns, self.is_behind(unit));
        if let Some(preemptive) = self.arbiter.preemptive() {
            preemptive.refused_unseen(unit, progress.left_ns, self.now_ns, &self.plan);
        }
        true
    }

    /// Somebody looks at the collection of a unit.
    #[inline]
    pub(super) fn look_into(&mut self, unit: UnitId) {
        if self.jobs[unit].is_unseen() {
            self.catch_up(unit);
        }
    }

    #[inline(never)]
    fn catch_up(&mut self, unit: UnitId) {
        let progress = self.jobs[unit].unseen_by(self.now_ns, self.is_behind(unit));
        self.jobs.worked(unit, Owner::Collection, progress.before_ns, &mut self.counters);
        self.counters.gc_blocking_ns += progress.before_ns;
        let phases = collecting!(self).catch_up(unit, progress);
        self.flash.becomes(unit, phases, progress.since_ns, &mut self.events);
        if let Some(preemptive) = self.arbiter.preemptive() {
            preemptive.caught_up(unit, progress);
        }
    }

    /// Somebody looks at the whole drive.
    pub(super) fn look_into_all(&mut self) {
        if self.runs_unseen {
            (0..self.plan.geometry.units).map(UnitId).for_each(|unit| self.look_into(unit));
        }
    }

    /// A page is about to be trimmed, which may be one that a collection moves.
    pub(super) fn look_into_page(&mut self, page: Ppn) {
        if self.runs_unseen && page.is_some() {
            let plane = self.plan.geometry.plane_of(page);
            self.look_into(self.plan.geometry.unit_of(plane));
        }
    }

    /// A block is about to be erased, so that free space is least now: pages that were taken unseen
    /// are taken.
    pub(super) fn count_taken_unseen(&mut self) {
        if self.runs_unseen {
            let taken = self.jobs.taken_unseen(self.now_ns, self.at_place);
            self.store.ftl.frontiers.note_taken(taken);
        }
    }
}
