//! `[workload]`: a synthetic workload, or how a trace is replayed.

mod address;
mod arrivals;
mod fitted;
mod hints;
mod jobs;
mod length;
mod limit;
mod plan;
mod sizes;
mod synthetic;
mod tenants;
mod trace;

pub use jobs::check_fit as check_jobs;
pub use plan::{JobsWorkload, SyntheticWorkload, TracePlan, WorkloadPlan};

use flashgc_config::Reader;
use flashgc_model::plan::Until;

/// The source of requests, as far as the configuration does not say it.
#[derive(Clone, Copy)]
pub struct Given {
    /// A trace was given in addition to the configuration.
    pub has_trace: bool,
    /// Requests come from outside: they are those of a trace that is being written.
    pub is_live: bool,
}

/// Reads the table. Errors are noted; `None` where there is no workload.
pub fn read(
    table: &Reader<'_>,
    page_bytes: u64,
    Given { has_trace, is_live }: Given,
) -> (Option<WorkloadPlan>, Option<Until>) {
    let (synthetic, trace) = (table.table("synthetic"), table.table("trace"));
    let fitted = table.table("fitted");
    let jobs = table.table("jobs");
    // The caller turns the file into [workload.jobs], a layer below this one.
    let fio = if table.has("fio") { table.string("fio") } else { None };
    let until = length::until(table);
    let tenants = tenants::read(table, is_live);
    table.finish();
    if fio.is_some() && !jobs.exists() {
        table.error(
            "fio",
            "the job file of `workload.fio` was not read",
            "run it with the command `flashgc` or the Python package",
        );
        return (None, until);
    }
    let tables = [synthetic, fitted, jobs, trace];
    let mut plan = one_of(table, tables, page_bytes, has_trace, until.as_ref());
    if let (Some(WorkloadPlan::Trace(trace)), Some(tenants)) = (&mut plan, tenants) {
        trace.tenants = tenants;
    }
    (plan, until)
}

fn one_of(
    table: &Reader<'_>,
    [synthetic, fitted, jobs, trace]: [Reader<'_>; 4],
    page_bytes: u64,
    has_trace: bool,
    until: Option<&Until>,
) -> Option<WorkloadPlan> {
    let other = [&synthetic, &fitted, &jobs].into_iter().find(|other| other.exists());
    if let (Some(other), false, Some(key)) = (other, has_trace, trace.keys().first())
        && !trace.has("file")
    {
        needs_trace(&trace, key, other);
        return None;
    }
    if jobs.exists() && (!has_trace || jobs.has("trace")) {
        if let Some(other) = [&synthetic, &fitted, &trace].into_iter().find(|other| other.exists())
        {
            table.error(
                "jobs",
                format!("both [workload.jobs] and [{}] are configured", other.path()),
                "keep one of them",
            );
        }
        return jobs::read(&jobs, page_bytes, until).map(|jobs| WorkloadPlan::Jobs(Box::new(jobs)));
    }
    if fitted.exists() && !has_trace {
        if synthetic.exists() || trace.exists() {
            table.error(
                "fitted",
                "more than one workload is configured",
                "keep one of [workload.fitted], [workload.synthetic] and [workload.trace]",
            );
        }
        return fitted::read(&fitted, until).map(|plan| WorkloadPlan::Fitted(Box::new(plan)));
    }
    if has_trace || trace.exists() {
        if trace.exists() && synthetic.exists() && !has_trace {
            table.error(
                "synthetic",
                "both a synthetic workload and a trace are configured",
                "keep one of [workload.synthetic] and [workload.trace]",
            );
        }
        return trace::read(&trace, until).map(|plan| WorkloadPlan::Trace(Box::new(plan)));
    }
    if !synthetic.exists() {
        table.error(
            "synthetic",
            "no workload is configured",
            "add [workload.synthetic], or [workload.trace], or give a trace with --trace",
        );
        return None;
    }
    synthetic::read(&synthetic, page_bytes, until).map(WorkloadPlan::Synthetic)
}

/// Settings of a trace have options, which may have been given without `--trace`.
fn needs_trace(trace: &Reader<'_>, key: &str, other: &Reader<'_>) {
    let option = match key {
        "fit" | "format" | "on_bad_line" | "sort_window" => {
            format!(" (option `--{}`)", key.replace('_', "-"))
        }
        _ => String::new(),
    };
    let path = trace.path();
    trace.error(
        key,
        format!("`{path}.{key}` needs a trace, but the requests are those of [{}]", other.path()),
        format!("give a trace with `--trace`, or remove `{path}.{key}`{option}"),
    );
}

/// Keys of the other workload, which have no effect.
pub fn unused(root: &Reader<'_>, has_trace: bool) -> Vec<String> {
    let (workload, mut unused) = (root.table("workload"), Vec::new());
    let of_jobs = workload.table("jobs").has("trace");
    if !has_trace || of_jobs {
        return synthetic::unused(&workload.table("synthetic"));
    }
    for name in ["synthetic", "fitted", "jobs"] {
        let keys = workload.table(name).keys();
        unused.extend(keys.iter().map(|key| format!("workload.{name}.{key}")));
    }
    unused
}
