//! What a plan promises, and the checker holds it to.

use super::time_slices;
use crate::device::Timing;
use crate::gc::{BlockingChoice, Isolation, TimeSlices};
use crate::plan::Plan;

/// What a plan promises of its copies, and the checker holds it to.
#[derive(Clone, Copy, Debug)]
pub struct Promises {
    /// Pages of a block are programmed in order of number.
    pub in_order: bool,
    /// Copies stay in their plane.
    pub in_plane: bool,
    /// Copies of one step, at most.
    pub at_once: u32,
    /// Each victim has steps of its own.
    pub by_block: bool,
    /// How sub-blocks are isolated, where they are erased.
    pub isolation: Option<Isolation>,
    /// Requests may enter a job: a page of a step may be lost before it is programmed.
    pub preempts: bool,
    /// The host stays out of the blocks that a job works on.
    pub closes_blocks: bool,
    /// The turns that a job takes, where nothing else lets the host wait for it.
    pub turns: Option<TimeSlices>,
    /// What a job closes to the host; `None` where requests enter jobs.
    pub blocking: Option<BlockingChoice>,
    /// What operations take; `None` where nobody looks.
    pub timing: Option<Timing>,
}

impl Promises {
    /// Those of this plan.
    pub fn of(plan: &Plan) -> Self {
        let copy = plan.gc.copy;
        Promises {
            in_order: !plan.parity(),
            in_plane: !copy.is_global(),
            at_once: copy.at_once(),
            by_block: copy.lists_by_block(),
            isolation: plan.gc.sub_blocks,
            preempts: plan.gc.preemption.is_some(),
            closes_blocks: plan.gc.blocking.blocks,
            turns: time_slices::promised(plan),
            blocking: Some(plan.gc.blocking).filter(|_| plan.gc.preemption.is_none()),
            timing: Some(plan.timing),
        }
    }
}
