//! Requirements of the workload's requests on the run: reads, and an order of operations on a page.

use crate::workload::WorkloadPlan;
use flashgc_workload::synthetic::{Mix, PhasePlan, Size};

/// Whether the host reads at all.
pub fn has_reads(workload: &WorkloadPlan) -> bool {
    let WorkloadPlan::Synthetic(workload) = workload else { return true };
    let reads = |mix: &Mix| !matches!(mix, Mix::Shares { read_share, .. } if *read_share == 0.0);
    workload.plan.phases.iter().any(|phase| reads(&phase.mix))
}

/// Whether operations on one page could pass each other even in one queue: a write of a part of a
/// page reads first, and a trim needs no unit.
pub fn may_pass(workload: &WorkloadPlan, page_bytes: u64) -> bool {
    match workload {
        WorkloadPlan::Trace(_) | WorkloadPlan::Fitted(_) | WorkloadPlan::Jobs(_) => true,
        WorkloadPlan::Synthetic(workload) => {
            let plan = &workload.plan;
            let is_whole = |size: &Size| size.is_whole_pages(plan.align_bytes, page_bytes);
            let trims =
                |mix: &Mix| matches!(mix, Mix::Shares { trim_share, .. } if *trim_share > 0.0);
            let passes = |phase: &PhasePlan| {
                let mut sizes = phase.read.sizes.iter().chain(&phase.write.sizes);
                trims(&phase.mix) || !sizes.all(is_whole)
            };
            plan.align_bytes % page_bytes != 0 || plan.phases.iter().any(passes)
        }
    }
}
