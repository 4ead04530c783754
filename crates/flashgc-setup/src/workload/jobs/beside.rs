//! `[workload.jobs.trace]`: a trace that is replayed together with the jobs, at its own times.

use super::super::{TracePlan, trace};
use super::{extent, or};
use crate::workload::limit;
use flashgc_config::Reader;
use flashgc_model::plan::{Arrivals, Limit};
use flashgc_workload::address::AddressChoice;
use flashgc_workload::hints::JobHintPlan;
use flashgc_workload::jobs::{Extent, File, FilesPlan, JobPlan, Places, RateCap, Think, Walk};
use flashgc_workload::synthetic::Size;

/// The job that replays, and its trace; `None` without this table.
pub(super) fn read(
    table: &Reader<'_>,
    jobs: &[Option<JobPlan>],
    page_bytes: u64,
) -> Option<Option<(JobPlan, TracePlan)>> {
    table.exists().then(|| both(table, jobs, page_bytes))
}

fn both(
    table: &Reader<'_>,
    jobs: &[Option<JobPlan>],
    page_bytes: u64,
) -> Option<(JobPlan, TracePlan)> {
    let name = table.string("name").unwrap_or("trace").to_string();
    let zero = Extent::Bytes(0);
    let offset = or(table, "offset", zero, |key| extent(table, key, 1.0));
    let span = if table.has("span") { Some(extent(table, "span", 1.0)) } else { None };
    let start_ns = table.duration_ns("delay").unwrap_or(0);
    let weight = or(table, "weight", 1, |key| table.u32(key, 1..=256));
    let limit = limit::read(table);
    let plan = trace::read(table, None);
    let has_groups = jobs.iter().flatten().any(|job| job.after_others);
    check(table, plan.as_ref(), has_groups)?;
    let size = match span {
        Some(span) => Some(span?),
        None => None,
    };
    let job = job(name, [offset?, zero], size, page_bytes);
    Some((JobPlan { start_ns, weight: weight?, limit: limit?, ..job }, plan?))
}

/// Rejects keys that a trace among jobs cannot have.
fn check(table: &Reader<'_>, plan: Option<&TracePlan>, has_groups: bool) -> Option<()> {
    let mut is_right = true;
    let mut refuse = |key: &str, why: &str, help: &str| {
        table.error(key, why, help);
        is_right = false;
    };
    if plan.is_some_and(|plan| plan.arrivals != Arrivals::Open) {
        refuse(
            "queue_depth",
            "a trace next to jobs arrives at its own times, and `queue_depth` has none",
            "remove `queue_depth`, or replay the trace alone ([workload.trace])",
        );
    }
    if plan.is_some_and(|plan| plan.fit.is_some()) {
        refuse(
            "fit",
            "`fit` sizes the drive to one trace, and jobs share this drive",
            "remove `fit`; address = \"compact\" and `span` place the trace on a part of the drive",
        );
    }
    if plan.is_some_and(|plan| plan.loops > 1) {
        refuse(
            "loops",
            "a trace next to jobs is replayed once",
            "remove `loops`, or replay the trace alone ([workload.trace])",
        );
    }
    if has_groups {
        refuse(
            "delay",
            "a trace begins with the first group, and `after_others` begins another",
            "remove `after_others`, and give those jobs `start`",
        );
    }
    is_right.then_some(())
}

/// A job whose requests come from a trace. Preconditioning treats it as a writer of pages.
fn job(
    name: String,
    [offset, offset_step]: [Extent; 2],
    size: Option<Extent>,
    page: u64,
) -> JobPlan {
    let one_page = || vec![Size::Fixed { bytes: page, weight: 1.0 }];
    let uniform = || Places::Choice(AddressChoice::Uniform);
    JobPlan {
        name,
        clones: 1,
        replays: true,
        file: File::Drive,
        files: FilesPlan::default(),
        offset,
        offset_step,
        size,
        file_size: None,
        amount: Extent::Share(1.0),
        requests: None,
        loops: 1,
        passes: None,
        runtime_ns: None,
        ramp_ns: 0,
        flow: None,
        time_based: false,
        start_ns: 0,
        after_others: false,
        read_share: 0.0,
        trim_share: 0.0,
        trim_then_write: false,
        random_share: [1.0; 3],
        walk: Walk::default(),
        once: false,
        sprandom: None,
        sizes: [one_page(), one_page(), one_page()],
        align_bytes: page,
        places: [uniform(), uniform(), uniform()],
        depth: 0,
        paces: [RateCap::default(); 3],
        poisson: false,
        overtake: false,
        weight: 1,
        flush_after: None,
        fua_share: 0.0,
        hints: JobHintPlan::default(),
        limit: Limit::default(),
        think: Think::default(),
    }
}
