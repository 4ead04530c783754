//! Settings without a meaning in a run without a clock (docs/untimed.md).

use super::refused::{Refused, refuse, refused};
use crate::workload::WorkloadPlan;
use flashgc_config::Reader;
use flashgc_model::plan::{Allocation, Plan};

/// Checks a run in logical time. Notes an error for the first part that needs a clock.
pub fn check(
    root: &Reader<'_>,
    plan: &Plan,
    workload: &WorkloadPlan,
    until_steady: bool,
) -> Option<()> {
    if !plan.untimed {
        return Some(());
    }
    let rows = [device(plan), scheme(plan), requests(workload, until_steady)];
    let rows = rows.into_iter().flatten();
    let by = "engine.timing = \"none\"";
    refuse(root, rows, by, &format!("remove {by}"))
}

fn device(plan: &Plan) -> Vec<Refused> {
    let shape = &plan.geometry.shape;
    let joins = "pages that one program joins wait for each other in the write buffer, and its \
                 merges depend on the time that they stay there";
    vec![
        refused(shape.slots > 1, ("device.mapping_unit", None), joins),
        refused(shape.program_slots > 1, ("device.pages_per_program", None), joins),
        refused(
            plan.write_buffer.is_some(),
            ("device.write_buffer", None),
            "what a write buffer merges depends on the time that its pages stay in it",
        ),
        refused(
            plan.allocation != Allocation::Striped,
            ("device.allocation", Some("\"striped\"")),
            "dynamic allocation chooses among planes by the work that waits in their units, \
             and nothing waits without time",
        ),
        refused(
            plan.read_retry.is_some(),
            ("device.read_retry", None),
            "retries of reads cost time and change no page",
        ),
    ]
}

fn scheme(plan: &Plan) -> Vec<Refused> {
    let gc = &plan.gc;
    vec![
        refused(
            gc.idle.is_some(),
            ("gc.trigger.use", Some("\"watermark\"")),
            "the trigger \"idle\" begins collections after a time without requests, and \
             there is no such time",
        ),
        refused(
            !gc.trigger.idle_units,
            ("gc.trigger.watermark.idle_units", Some("true")),
            "no request waits, so that with idle_units = false no unit would collect",
        ),
        refused(
            gc.is_paced(),
            ("gc.pacing.use", Some("\"at-once\"")),
            "a collection runs to its end as soon as it is due and cannot be paced",
        ),
        refused(
            gc.preemption.is_some(),
            ("gc.preemption.use", Some("\"never\"")),
            "a collection runs to its end as soon as it is due, and no request preempts it",
        ),
        refused(
            gc.background.uses_units() || gc.background.flushes_buffer,
            ("gc.background.use", Some("\"nothing\"")),
            "background work runs while the drive is idle, and there is no such time",
        ),
        refused(
            gc.background.read_reclaim.is_some(),
            ("gc.background.use", Some("\"nothing\"")),
            "reads that take no time are not counted by block",
        ),
        refused(
            gc.copy.at_once() > 1,
            ("gc.copy.use", Some("\"copyback\"")),
            "copies are made one after the other, so that none run in parallel",
        ),
        refused(
            gc.victim.ages_by_time(),
            ("gc.victim.use", None),
            "this choice of a victim needs the time at which pages were written",
        )
        .remedied_by(("gc.victim.cost-benefit.form", Some("\"sqrt-age\""))),
    ]
}

fn requests(workload: &WorkloadPlan, until_steady: bool) -> Vec<Refused> {
    vec![
        refused(
            matches!(workload, WorkloadPlan::Jobs(_)),
            ("workload.jobs", None),
            "which of several jobs issues the next request depends on the time that the \
             requests take",
        ),
        refused(
            until_steady,
            ("workload.until", None),
            "until = \"steady\" waits for a percentile of latencies, and there are none",
        ),
    ]
}
