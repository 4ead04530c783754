//! `[workload]`: a synthetic workload, or how a trace is replayed.

mod address;
mod arrivals;
mod fitted;
mod jobs;
mod length;
mod sizes;
mod synthetic;
mod trace;

pub use jobs::check_fit as check_jobs;

use crate::measure::Until;
use crate::plan::Arrivals;
use crate::workload::fitted::FittedPlan;
use crate::workload::jobs::JobsPlan;
use crate::workload::layout::AddressPolicy;
use crate::workload::length::Length;
use crate::workload::synthetic::SyntheticPlan;
use flashgc_config::Reader;
use flashgc_config::units::Share;
use flashgc_trace::OpenOptions;
use serde::{Serialize, Serializer};

/// Where requests come from.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadPlan {
    /// Drawn from distributions.
    Synthetic(SyntheticWorkload),
    /// Drawn from the distributions of a trace.
    Fitted(Box<FittedPlan>),
    /// Issued by jobs side by side.
    Jobs(Box<JobsPlan>),
    /// Read from a trace.
    Trace(Box<TracePlan>),
}

/// A synthetic workload and its arrivals.
#[derive(Clone, Debug, Serialize)]
pub struct SyntheticWorkload {
    /// The pattern of addresses.
    #[serde(flatten)]
    pub plan: SyntheticPlan,
    /// When requests arrive.
    pub arrivals: Arrivals,
}

/// How a trace is replayed.
#[derive(Clone, Debug, Serialize)]
pub struct TracePlan {
    /// The trace that the configuration names.
    pub file: Option<String>,
    /// Format, bad lines, order and filter.
    #[serde(serialize_with = "options_text")]
    pub options: OpenOptions,
    /// The handling of addresses beyond the drive.
    pub address: AddressPolicy,
    /// The share of the user capacity that the trace touches, where the drive is sized by it.
    #[serde(skip)]
    pub fit: Option<Share>,
    /// Times between arrivals are multiplied by this.
    pub time_scale: f64,
    /// When requests arrive.
    pub arrivals: Arrivals,
    /// How long it is repeated at most, where it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Length>,
}

/// The options have no form of their own in JSON.
fn options_text<S: Serializer>(options: &OpenOptions, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{options:?}"))
}

impl WorkloadPlan {
    /// The share of the user capacity that a trace is to touch, where it sizes the drive.
    pub fn fit(&self) -> Option<Share> {
        match self {
            WorkloadPlan::Trace(trace) => trace.fit,
            _ => None,
        }
    }

    /// When requests arrive.
    pub fn arrivals(&self) -> Arrivals {
        match self {
            WorkloadPlan::Synthetic(workload) => workload.arrivals,
            WorkloadPlan::Fitted(_) => Arrivals::Open,
            WorkloadPlan::Jobs(_) => Arrivals::Jobs,
            WorkloadPlan::Trace(trace) => trace.arrivals,
        }
    }

    /// How long it is; a trace ends with its rows, or has the bound of its repetitions.
    pub fn length(&self) -> Option<Length> {
        match self {
            WorkloadPlan::Synthetic(workload) => Some(workload.plan.requests),
            WorkloadPlan::Fitted(plan) => Some(plan.requests),
            WorkloadPlan::Jobs(_) => None,
            WorkloadPlan::Trace(plan) => plan.repeated,
        }
    }

    /// Parts that differ from each other.
    pub fn phases(&self) -> u64 {
        match self {
            WorkloadPlan::Synthetic(workload) => workload.plan.phases.len() as u64,
            // Jobs begin and end at times of their own.
            WorkloadPlan::Jobs(plan) => 1 + jobs::changes(plan),
            WorkloadPlan::Fitted(_) | WorkloadPlan::Trace(_) => 1,
        }
    }

    /// Derives amounts of work from the user capacity in bytes.
    pub(super) fn on_drive(&mut self, exported_bytes: u64) {
        match self {
            WorkloadPlan::Synthetic(workload) => workload.plan.on_drive(exported_bytes),
            WorkloadPlan::Fitted(plan) => plan.requests = plan.requests.on_drive(exported_bytes),
            WorkloadPlan::Jobs(_) => {}
            WorkloadPlan::Trace(plan) => {
                plan.repeated = plan.repeated.map(|length| length.on_drive(exported_bytes));
            }
        }
    }
}

/// Reads the table. Errors are noted; `None` where there is no workload.
pub fn read(
    table: &Reader<'_>,
    page_bytes: u64,
    has_trace: bool,
) -> (Option<WorkloadPlan>, Option<Until>) {
    let (synthetic, trace) = (table.table("synthetic"), table.table("trace"));
    let fitted = table.table("fitted");
    let jobs = table.table("jobs");
    // The caller turns the file into [workload.jobs], a layer below this one.
    let fio = if table.has("fio") { table.string("fio") } else { None };
    let until = length::until(table);
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
    (one_of(table, tables, page_bytes, has_trace, until.as_ref()), until)
}

fn one_of(
    table: &Reader<'_>,
    [synthetic, fitted, jobs, trace]: [Reader<'_>; 4],
    page_bytes: u64,
    has_trace: bool,
    until: Option<&Until>,
) -> Option<WorkloadPlan> {
    if jobs.exists() && !has_trace {
        if let Some(other) = [&synthetic, &fitted, &trace].into_iter().find(|other| other.exists())
        {
            table.error(
                "jobs",
                format!("both [workload.jobs] and [{}] are configured", other.path()),
                "keep one of them",
            );
        }
        return jobs::read(&jobs, page_bytes, until).map(|plan| WorkloadPlan::Jobs(Box::new(plan)));
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

/// Keys of the other workload, which have no effect.
pub fn unused(root: &Reader<'_>, has_trace: bool) -> Vec<String> {
    let (workload, mut unused) = (root.table("workload"), Vec::new());
    if !has_trace {
        return synthetic::unused(&workload.table("synthetic"));
    }
    for name in ["synthetic", "fitted", "jobs"] {
        let keys = workload.table(name).keys();
        unused.extend(keys.iter().map(|key| format!("workload.{name}.{key}")));
    }
    unused
}
