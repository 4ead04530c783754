//! Notes on the plan for the user.

use crate::precondition::{Fill, PreconditionPlan};
use crate::slots::trigger::used_space;
use crate::slots::{copy, erase, pacing, tokens};
use crate::workload::WorkloadPlan;
use flashgc_model::plan::{Arrivals, Plan};

/// The subject of the notes.
struct Of<'a> {
    plan: &'a Plan,
    precondition: &'a PreconditionPlan,
    workload: &'a WorkloadPlan,
}

/// Notes in the order in which users read them.
const NOTES: &[fn(&Of<'_>) -> Option<String>] = &[
    starts_erased,
    finds_data,
    |of| copy::note(of.plan),
    |of| used_space::note(of.plan),
    is_never_idle,
    has_no_priority,
    |of| erase::note(of.plan),
    |of| pacing::note(of.plan),
    |of| tokens::note(of.plan),
    times_commands,
];

/// The notes on a plan.
pub fn notes(plan: &Plan, precondition: &PreconditionPlan, workload: &WorkloadPlan) -> Vec<String> {
    let of = Of { plan, precondition, workload };
    NOTES.iter().filter_map(|note| note(&of)).collect()
}

fn starts_erased(of: &Of<'_>) -> Option<String> {
    let is_erased = of.precondition.fill == Fill::None && of.precondition.reads.are_left();
    is_erased.then(|| {
        "the drive starts erased, so collection begins only after it has been filled".into()
    })
}

fn finds_data(of: &Of<'_>) -> Option<String> {
    let WorkloadPlan::Jobs(jobs) = of.workload else { return None };
    let job = jobs.plan.jobs.iter().find(|job| job.sprandom.is_some())?;
    (of.precondition.fill != Fill::None).then(|| {
        format!(
            "job \"{}\" has `sprandom`, which is for an erased drive, and this one holds data: \
             set precondition.fill = \"none\" without overwriting",
            job.name
        )
    })
}

fn is_never_idle(of: &Of<'_>) -> Option<String> {
    let plan = of.plan;
    let waits_for_idle = plan.gc.idle.is_some()
        || plan.gc.background.waits_for_idle()
        || plan.write_buffer.is_some_and(|buffer| buffer.flushes_when_idle);
    (waits_for_idle && matches!(plan.arrivals, Arrivals::Closed(_))).then(|| {
        "in a closed loop the drive is never idle, so the scheme's idle-time work does not run"
            .into()
    })
}

fn has_no_priority(of: &Of<'_>) -> Option<String> {
    let has_state_s3 = of.plan.gc.preemption.is_some() && of.plan.gc.trigger.hard.is_some();
    (marks_writes(of.workload) && !has_state_s3).then(|| {
        "high-priority writes are served like all others: priority needs a scheme that serves \
         requests during a collection (gc.preemption) and has a hard threshold"
            .into()
    })
}

fn times_commands(of: &Of<'_>) -> Option<String> {
    (of.plan.timing.command_ns > 0).then(|| {
        "commands take bus time, so copies are simulated one by one and the run is slower".into()
    })
}

/// Whether a synthetic workload marks writes as of high priority.
fn marks_writes(workload: &WorkloadPlan) -> bool {
    let WorkloadPlan::Synthetic(workload) = workload else { return false };
    workload.plan.phases.iter().any(|phase| phase.high_share.write > 0.0)
}
