//! The source of a run's requests.

use super::tenants::{self, Tenant};
use flashgc_config::units::Share;
use flashgc_model::plan::{Arrivals, JobQueues};
use flashgc_trace::OpenOptions;
use flashgc_workload::fitted::FittedPlan;
use flashgc_workload::hints::PageHints;
use flashgc_workload::jobs::JobsPlan;
use flashgc_workload::layout::AddressPolicy;
use flashgc_workload::length::Length;
use flashgc_workload::synthetic::SyntheticPlan;
use serde::{Serialize, Serializer};

/// The source of requests.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum WorkloadPlan {
    /// Drawn from distributions.
    Synthetic(SyntheticWorkload),
    /// Drawn from the distributions of a trace.
    Fitted(Box<FittedPlan>),
    /// Issued by concurrent jobs.
    Jobs(Box<JobsWorkload>),
    /// Read from a trace.
    Trace(Box<TracePlan>),
}

/// A synthetic workload and its arrivals.
#[derive(Clone, Debug, Serialize)]
pub struct SyntheticWorkload {
    /// The pattern of addresses.
    #[serde(flatten)]
    pub plan: SyntheticPlan,
    /// The arrivals of requests.
    pub arrivals: Arrivals,
}

/// Jobs, the last of which may replay a trace.
#[derive(Clone, Debug, Serialize)]
pub struct JobsWorkload {
    /// All of them.
    #[serde(flatten)]
    pub plan: JobsPlan,
    /// The trace that the last one replays, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TracePlan>,
}

/// The replay of a trace.
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
    /// The arrivals of requests.
    pub arrivals: Arrivals,
    /// The number of its replays, one after the other.
    #[serde(skip_serializing_if = "flashgc_model::device::is_one")]
    pub loops: u32,
    /// The longest repetition, where it is repeated until the run is steady.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repeated: Option<Length>,
    /// The tenants whose requests come from outside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tenants: Vec<Tenant>,
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

    /// The trace that is replayed, alone or together with jobs.
    pub fn trace(&self) -> Option<&TracePlan> {
        match self {
            WorkloadPlan::Trace(trace) => Some(trace),
            WorkloadPlan::Jobs(jobs) => jobs.trace.as_ref(),
            _ => None,
        }
    }

    /// The hints with which a drive of this size is filled, where writes have hints by page.
    pub fn fill_hints(&self, exported_pages: u32, page_bytes: u64) -> Option<PageHints> {
        match self {
            WorkloadPlan::Synthetic(workload) => {
                workload.plan.fill_hints(exported_pages, page_bytes)
            }
            WorkloadPlan::Jobs(jobs) => jobs.plan.fill_hints(exported_pages, page_bytes),
            WorkloadPlan::Fitted(_) | WorkloadPlan::Trace(_) => None,
        }
    }

    /// The arrivals of requests.
    pub fn arrivals(&self) -> Arrivals {
        match self {
            WorkloadPlan::Synthetic(workload) => workload.arrivals,
            WorkloadPlan::Fitted(_) => Arrivals::Open,
            WorkloadPlan::Jobs(_) => Arrivals::Jobs,
            WorkloadPlan::Trace(trace) => trace.arrivals,
        }
    }

    /// The jobs' queues in the device.
    pub fn queues(&self) -> JobQueues {
        match self {
            WorkloadPlan::Jobs(jobs) => JobQueues {
                of_clone: jobs.plan.job_of_clones().collect(),
                weights: jobs.plan.jobs.iter().map(|job| job.weight).collect(),
                limits: jobs.plan.jobs.iter().map(|job| job.limit).collect(),
            },
            WorkloadPlan::Trace(plan) => tenants::queues(&plan.tenants),
            _ => JobQueues::default(),
        }
    }

    /// The tenants whose requests come from outside.
    pub fn tenants(&self) -> &[Tenant] {
        match self {
            WorkloadPlan::Trace(plan) => &plan.tenants,
            _ => &[],
        }
    }

    /// Its length; a trace ends with its rows, or has the bound of its repetitions.
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
            WorkloadPlan::Jobs(side_by_side) => 1 + side_by_side.plan.changes(),
            WorkloadPlan::Fitted(_) | WorkloadPlan::Trace(_) => 1,
        }
    }

    /// Derives amounts of work from the user capacity in bytes.
    pub fn on_drive(&mut self, exported_bytes: u64) {
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
