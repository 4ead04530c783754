//! Settings without a meaning in a run without a clock (docs/untimed.md).

use super::refused::{Refused, refuse};
use crate::config::workload::WorkloadPlan;
use crate::plan::{Allocation, Plan};
use flashgc_config::Reader;

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
    let by = "engine.timing = \"none\"";
    refuse(root, rows, by, &format!("remove {by}"))
}

fn device(plan: &Plan) -> Vec<Refused> {
    const DEVICE: &[&str] = &["device"];
    let shape = &plan.geometry.shape;
    let joins = "pages that one program joins wait for each other in the write buffer, and its \
                 merges depend on the time that they stay there";
    vec![
        Refused {
            is_used: shape.slots > 1,
            at: (DEVICE, "mapping_unit"),
            why: joins,
            remedy: ("device.mapping_unit", None),
        },
        Refused {
            is_used: shape.program_slots > 1,
            at: (DEVICE, "pages_per_program"),
            why: joins,
            remedy: ("device.pages_per_program", None),
        },
        Refused {
            is_used: plan.write_buffer.is_some(),
            at: (DEVICE, "write_buffer"),
            why: "what a write buffer merges depends on the time that its pages stay in it",
            remedy: ("device.write_buffer", None),
        },
        Refused {
            is_used: plan.allocation != Allocation::Striped,
            at: (DEVICE, "allocation"),
            why: "dynamic allocation chooses among planes by the work that waits in their units, \
                  and nothing waits without time",
            remedy: ("device.allocation", Some("\"striped\"")),
        },
        Refused {
            is_used: plan.read_retry.is_some(),
            at: (DEVICE, "read_retry"),
            why: "retries of reads cost time and change no page",
            remedy: ("device.read_retry", None),
        },
    ]
}

fn scheme(plan: &Plan) -> Vec<Refused> {
    let gc = &plan.gc;
    vec![
        Refused {
            is_used: gc.idle.is_some(),
            at: (&["gc", "trigger"], "use"),
            why: "the trigger \"idle\" begins collections after a time without requests, and \
                  there is no such time",
            remedy: ("gc.trigger.use", Some("\"watermark\"")),
        },
        Refused {
            is_used: !gc.trigger.idle_units,
            at: (&["gc", "trigger", "watermark"], "idle_units"),
            why: "no request waits, so that with idle_units = false no unit would collect",
            remedy: ("gc.trigger.watermark.idle_units", Some("true")),
        },
        Refused {
            is_used: gc.is_paced(),
            at: (&["gc", "pacing"], "use"),
            why: "a collection runs to its end as soon as it is due and cannot be paced",
            remedy: ("gc.pacing.use", Some("\"at-once\"")),
        },
        Refused {
            is_used: gc.preemption.is_some(),
            at: (&["gc", "preemption"], "use"),
            why: "a collection runs to its end as soon as it is due, and no request preempts it",
            remedy: ("gc.preemption.use", Some("\"never\"")),
        },
        Refused {
            is_used: gc.background.uses_units() || gc.background.flushes_buffer,
            at: (&["gc", "background"], "use"),
            why: "background work runs while the drive is idle, and there is no such time",
            remedy: ("gc.background.use", Some("\"nothing\"")),
        },
        Refused {
            is_used: gc.copy.at_once() > 1,
            at: (&["gc", "copy"], "use"),
            why: "copies are made one after the other, so that none run in parallel",
            remedy: ("gc.copy.use", Some("\"copyback\"")),
        },
        Refused {
            is_used: gc.victim.ages_by_time(),
            at: (&["gc", "victim"], "use"),
            why: "this choice of a victim needs the time at which pages were written",
            remedy: ("gc.victim.cost-benefit.form", Some("\"sqrt-age\"")),
        },
    ]
}

fn requests(workload: &WorkloadPlan, until_steady: bool) -> Vec<Refused> {
    vec![
        Refused {
            is_used: matches!(workload, WorkloadPlan::Jobs(_)),
            at: (&["workload"], "jobs"),
            why: "which of several jobs issues the next request depends on the time that the \
                  requests take",
            remedy: ("workload.jobs", None),
        },
        Refused {
            is_used: until_steady,
            at: (&["workload"], "until"),
            why: "until = \"steady\" waits for a percentile of latencies, and there are none",
            remedy: ("workload.until", None),
        },
    ]
}
