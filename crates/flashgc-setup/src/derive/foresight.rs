//! Settings for which the future of a run is unknown before it (docs/placement.md#oracle).

use super::refused::{Refused, refuse, refused};
use crate::precondition::{Fill, PreconditionPlan};
use crate::workload::WorkloadPlan;
use flashgc_config::Reader;
use flashgc_model::gc::placement::Classes;
use flashgc_model::plan::Plan;

/// Checks a run whose placement needs the next change of each page. `is_filled_by_other` where
/// another scheme preconditions the drive, so that the future begins with the measured part.
pub fn check(
    root: &Reader<'_>,
    plan: &Plan,
    workload: &WorkloadPlan,
    precondition: &PreconditionPlan,
    is_filled_by_other: bool,
) -> Option<()> {
    let Some(placement) = plan.gc.placement.as_ref().filter(|own| own.foresees()) else {
        return Some(());
    };
    let own = if is_filled_by_other { Vec::new() } else { preconditioning(precondition) };
    let by = format!("gc.placement.use = \"{}\"", placement.name());
    refuse(root, run(plan, workload).into_iter().chain(own), &by, "choose another gc.placement.use")
}

fn run(plan: &Plan, workload: &WorkloadPlan) -> Vec<Refused> {
    vec![
        refused(
            plan.write_buffer.is_some(),
            ("device.write_buffer", None),
            "which writes a write buffer merges depends on the time that pages stay in it, \
             so the future of the pages is not known before the run",
        ),
        refused(
            matches!(workload, WorkloadPlan::Jobs(_)),
            ("workload.jobs", None),
            "which of several jobs issues the next request depends on the time that the \
             requests take, so the future of the pages is not known before the run",
        ),
    ]
}

fn preconditioning(plan: &PreconditionPlan) -> Vec<Refused> {
    vec![
        refused(
            plan.fill == Fill::Trace,
            ("precondition.fill", Some("\"sequential\"")),
            "fill = \"trace\" lasts until the drive is full, so the future of the pages is \
             not known before it",
        ),
        refused(
            !plan.reads.are_left(),
            ("precondition.reads", None),
            "which pages are mapped is found while they are written, so the future of the \
             pages is not known before it",
        ),
        refused(
            plan.until_steady,
            ("precondition.until", None),
            "until = \"steady\" depends on the copies, so the future of the pages is not \
             known before it",
        ),
    ]
}
