//! The queues of jobs before the device.

use crate::device::Device;
use crate::workload::WorkloadPlan;
use flashgc_config::Reader;
use flashgc_model::plan::QueueOrder;

/// Queues that take turns need jobs. Notes an error where there are none.
pub fn check(root: &Reader<'_>, device: &Device, workload: &WorkloadPlan) -> Option<()> {
    let by_turns = device.front.places.is_some_and(|places| places.order == QueueOrder::RoundRobin);
    if by_turns && workload.queues().weights.is_empty() {
        root.table("device").error(
            "queue_order",
            "queue_order = \"round-robin\" serves the queues of jobs by turns, and the workload \
             has no jobs",
            "describe the jobs in [workload.jobs], or the tenants of a component in \
             [[workload.tenants]], or set queue_order = \"arrival\"",
        );
        return None;
    }
    completes(root, device, workload)
}

/// A flush finds the writes that are done in flash or in the write buffer. Notes an error where
/// they may be in a register.
fn completes(root: &Reader<'_>, device: &Device, workload: &WorkloadPlan) -> Option<()> {
    let WorkloadPlan::Jobs(jobs) = workload else { return Some(()) };
    let flushes = jobs.plan.jobs.iter().any(|job| job.flush_after.is_some() || job.fua_share > 0.0);
    if flushes && !device.front.write_completion.is_default() {
        root.table("device").error(
            "write_completion",
            "flushes and FUA writes do not cover writes that are done when they are in a register \
             (write_completion = \"loaded\")",
            "set write_completion = \"programmed\", or remove `flush_after` and `fua_share` \
             from the workload",
        );
        return None;
    }
    Some(())
}
