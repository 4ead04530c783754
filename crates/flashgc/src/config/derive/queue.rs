//! The queues of jobs before the device.

use crate::config::device::Device;
use crate::config::workload::WorkloadPlan;
use crate::plan::QueueOrder;
use flashgc_config::Reader;

/// Queues that take turns need jobs. Notes an error where there are none.
pub fn check(root: &Reader<'_>, device: &Device, workload: &WorkloadPlan) -> Option<()> {
    let by_turns = device.places.is_some_and(|places| places.order == QueueOrder::RoundRobin);
    if by_turns && !matches!(workload, WorkloadPlan::Jobs(_)) {
        root.table("device").error(
            "queue_order",
            "queue_order = \"round-robin\" serves the queues of jobs by turns, and the workload \
             has no jobs",
            "describe the jobs in [workload.jobs], or set queue_order = \"arrival\"",
        );
        return None;
    }
    Some(())
}
