//! `[workload]`: a synthetic workload, or how a trace is replayed.

mod address;
mod alike;
mod arrivals;
mod sizes;
mod synthetic;
mod trace;

use crate::plan::Arrivals;
use crate::workload::alike::AlikePlan;
use crate::workload::layout::AddressPolicy;
use crate::workload::synthetic::SyntheticPlan;
use flashgc_config::Reader;
use flashgc_trace::OpenOptions;
use serde::{Serialize, Serializer};

/// Where requests come from.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadPlan {
    /// Drawn from distributions.
    Synthetic(SyntheticWorkload),
    /// Drawn from the distributions of a trace.
    Alike(Box<AlikePlan>),
    /// Read from a trace.
    Trace(Box<TracePlan>),
}

/// A synthetic workload and its arrivals.
#[derive(Clone, Debug, Serialize)]
pub struct SyntheticWorkload {
    /// What is drawn.
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
    /// What becomes of addresses beyond the drive.
    pub address: AddressPolicy,
    /// Times between arrivals are multiplied by this.
    pub time_scale: f64,
    /// When requests arrive.
    pub arrivals: Arrivals,
}

/// The options have no form of their own in JSON.
fn options_text<S: Serializer>(options: &OpenOptions, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{options:?}"))
}

impl WorkloadPlan {
    /// When requests arrive.
    pub fn arrivals(&self) -> Arrivals {
        match self {
            WorkloadPlan::Synthetic(workload) => workload.arrivals,
            WorkloadPlan::Alike(_) => Arrivals::Open,
            WorkloadPlan::Trace(trace) => trace.arrivals,
        }
    }
}

/// Reads the table. Errors are noted; `None` where there is no workload.
pub fn read(table: &Reader<'_>, page_bytes: u64, has_trace: bool) -> Option<WorkloadPlan> {
    let (synthetic, trace) = (table.table("synthetic"), table.table("trace"));
    let alike = table.table("alike");
    table.finish();
    if alike.exists() && !has_trace {
        if synthetic.exists() || trace.exists() {
            table.error(
                "alike",
                "there is more than one workload",
                "keep one of [workload.alike], [workload.synthetic] and [workload.trace]",
            );
        }
        return alike::read(&alike).map(|plan| WorkloadPlan::Alike(Box::new(plan)));
    }
    if has_trace || trace.exists() {
        if trace.exists() && synthetic.exists() && !has_trace {
            table.error(
                "synthetic",
                "the workload is both synthetic and a trace",
                "keep one of [workload.synthetic] and [workload.trace]",
            );
        }
        return trace::read(&trace).map(|plan| WorkloadPlan::Trace(Box::new(plan)));
    }
    if !synthetic.exists() {
        table.error(
            "synthetic",
            "there is no workload",
            "add [workload.synthetic], or [workload.trace], or give a trace with --trace",
        );
        return None;
    }
    synthetic::read(&synthetic, page_bytes).map(WorkloadPlan::Synthetic)
}

/// Keys of the other workload, which have no effect.
pub fn unused(root: &Reader<'_>, has_trace: bool) -> Vec<String> {
    let (workload, mut unused) = (root.table("workload"), Vec::new());
    if !has_trace {
        return synthetic::unused(&workload.table("synthetic"));
    }
    for name in ["synthetic", "alike"] {
        let keys = workload.table(name).keys();
        unused.extend(keys.iter().map(|key| format!("workload.{name}.{key}")));
    }
    unused
}
