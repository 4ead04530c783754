//! What preemption keeps of copies that run unseen (`collect/unseen.rs`).

use super::preemptive::Preemptive;
use super::view::View;
use crate::collect::Progress;
use crate::gc::Suspends;
use crate::ids::UnitId;
use crate::plan::Plan;

impl Preemptive {
    /// Whether none of the requests that wait, and may not preempt, is for a page of the victims:
    /// it would be served from the register.
    pub(super) fn none_is_served(&self, unit: UnitId, view: &View<'_>) -> bool {
        let (job, geometry) = (&view.jobs[unit], &view.plan.geometry);
        let is_moved = |op| {
            let ppn = view.ftl.map.ppn_of(view.waiting.op(op).lpn);
            let is_victim = |block| job.victims.iter().any(|victim| victim.block == block);
            ppn.is_some() && is_victim(geometry.block_of(ppn))
        };
        !view.waiting.heads(unit).into_iter().flatten().any(|(op, _)| is_moved(op))
    }

    /// A request was queued behind one that may not preempt, while copies ran unseen.
    pub fn refused_unseen(&mut self, unit: UnitId, left_ns: u64, now_ns: u64, plan: &Plan) {
        if self.rules.suspends == Suspends::Any && self.would_suspend(unit, left_ns, plan) {
            self.units[unit.index()].refused_ns = now_ns;
        }
    }

    /// Copies that ran unseen are this far, and the last of their operations is under way.
    pub fn caught_up(&mut self, unit: UnitId, progress: Progress) {
        let entry = &mut self.units[unit.index()];
        if progress.has_ended() {
            entry.gc_was_last = true;
            entry.job_end_ns = progress.since_ns;
        }
        if progress.is_wanted {
            entry.refused_ns = entry.refused_ns.max(progress.since_ns);
        }
    }
}
