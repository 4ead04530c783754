//! Copies that run unseen (`collect/unseen.rs`): those of a collection that has its bus to itself,
//! and what preemption keeps of them.

use super::preemptive::Preemptive;
use super::run_to_end;
use super::view::{Choice, Turn, View};
use crate::collect::Jobs;
use crate::flash::Flash;
use crate::gc::Suspends;
use crate::host;
use crate::ids::UnitId;
use crate::owner::Owner;
use crate::plan::Plan;

/// As where collections run to their end. Copies of one that has its bus to itself run unseen.
#[inline(always)]
pub(super) fn next_alone(unit: UnitId, turn: &mut Turn, view: &mut View<'_>) -> Choice {
    match run_to_end::next(unit, turn, view) {
        Choice::Step if has_its_bus(unit, view.plan, view.jobs, view.flash) => Choice::Steps,
        choice => choice,
    }
}

/// Whether the bus of a unit rests while its collection moves pages, and no other unit at the bus
/// needs it for an operation under way or moves pages for a collection of its own.
#[inline(never)]
fn has_its_bus(unit: UnitId, plan: &Plan, jobs: &Jobs, flash: &Flash<Owner>) -> bool {
    let geometry = &plan.geometry;
    let leaves_it =
        |&other: &UnitId| other == unit || !jobs[other].moves_pages() && !flash.transfers_on(other);
    let units = geometry.units_of_bus(geometry.bus_of(unit));
    flash.is_bus_free(unit) && units.iter().all(leaves_it)
}

impl Preemptive {
    /// Whether the requests that wait, and may not preempt, cannot before a block is erased, opened
    /// or filled: the plane of each is below its hard threshold. One for a page of the victims
    /// would be served from the register.
    #[inline(always)]
    pub(super) fn stay_refused(&self, unit: UnitId, view: &mut View<'_>) -> bool {
        view.waiting.count(unit) == 0 || self.all_stay_refused(unit, view)
    }

    #[inline(never)]
    fn all_stay_refused(&self, unit: UnitId, view: &mut View<'_>) -> bool {
        let is_shut = self.is_shut(unit, view);
        let (job, geometry) = (&view.jobs[unit], &view.plan.geometry);
        view.waiting.heads(unit).into_iter().flatten().all(|(op, _)| {
            let host::Op { lpn, plane, .. } = *view.waiting.op(op);
            let ppn = view.ftl.map.ppn_of(lpn);
            let is_moved = ppn.is_some()
                && job.victims().iter().any(|victim| victim.block == geometry.block_of(ppn));
            let is_refused = || view.is_write(op) && view.refuses_writes(unit, plane);
            !is_moved && (is_shut || is_refused())
        })
    }

    /// A request was queued behind one that may not preempt, while copies ran unseen.
    pub(super) fn refused_unseen(&mut self, unit: UnitId, left_ns: u64, now_ns: u64, plan: &Plan) {
        if self.rules.suspends == Suspends::Any && self.would_suspend(unit, left_ns, plan) {
            self.units[unit.index()].refused_ns = now_ns;
        }
    }
}
