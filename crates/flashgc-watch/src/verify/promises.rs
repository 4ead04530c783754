//! The promises of a plan, which the checker verifies.

use super::time_slices;
use super::tokens::Paid;
use flashgc_model::device::{BusOrder, Timing};
use flashgc_model::gc::{BlockingChoice, Isolation, TimeSlices};
use flashgc_model::plan::{Completions, Firmware, HostLink, Plan};

/// The promises of a plan about its copies, which the checker verifies.
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
    /// The isolation of sub-blocks, where they are erased.
    pub isolation: Option<Isolation>,
    /// Requests may preempt a collection: a page of a step may be lost before it is programmed.
    pub preempts: bool,
    /// The blocks of a collection that are blocked for the host; `None` where more is.
    pub closes_blocks: Option<ClosedBlocks>,
    /// The time slices of a collection, where no other rule makes the host wait for it, and with
    /// how much erased space a write waits.
    pub turns: Option<(TimeSlices, time_slices::Kept)>,
    /// The pay for collections, where no other rule makes them run or the host wait.
    pub paid: Option<Paid>,
    /// Whether background work needs no more than a unit without requests.
    pub rests_by_unit: bool,
    /// The part that a collection blocks for the host; `None` where requests preempt collections,
    /// and without a clock.
    pub blocking: Option<BlockingChoice>,
    /// The times of operations of the host and of collections; `None` where the checker does not
    /// check them.
    pub timing: Option<[Timing; 2]>,
    /// The order of transfers that wait for a bus.
    pub bus_order: BusOrder,
    /// Operations that end at an instant end before the next one leaves its queue. `false` where
    /// requests preempt collections, or reads suspend programs: a request that comes may suspend
    /// the operation under way.
    pub ends_together: bool,
    /// Requests in the device at once, at most; `None` without a bound.
    pub queue_length: Option<u32>,
    /// The seed of the streams from which times are drawn.
    pub seed: u64,
    /// The host's link, where it takes time.
    pub host_link: Option<HostLink>,
    /// The write buffer may lose its pages: a flush waits until they are programmed.
    pub drains: bool,
    /// Whether jobs have limits.
    pub limits: bool,
    /// The firmware, where it takes time.
    pub firmware: Option<Firmware>,
    /// Whether reads, and programs, may begin in parallel with other operations of the host.
    pub cache: [bool; 2],
    /// Word lines by which the fine pass of a program lags behind the coarse one.
    pub lag: u32,
}

/// The block that is blocked for the host in addition to the victims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClosedBlocks {
    /// The one that copies fill, which the host does not write to.
    Destination,
    /// The one that the host fills, since copies go there too, for a whole batch.
    OpenBlock,
}

impl ClosedBlocks {
    fn of(plan: &Plan) -> Option<Self> {
        let gc = &plan.gc;
        let closes =
            if gc.separate_gc { ClosedBlocks::Destination } else { ClosedBlocks::OpenBlock };
        gc.blocking.blocks.then_some(closes)
    }
}

impl Promises {
    /// The promises of this plan.
    pub fn of(plan: &Plan) -> Self {
        let copy = plan.gc.copy;
        let holds = plan.gc.preemption.is_none() && !plan.untimed;
        Promises {
            in_order: !plan.parity(),
            in_plane: !copy.is_global(),
            at_once: plan.copies_at_once(),
            by_block: copy.lists_by_block(),
            isolation: plan.gc.sub_blocks,
            preempts: plan.gc.preemption.is_some(),
            closes_blocks: ClosedBlocks::of(plan),
            turns: time_slices::promised(plan),
            paid: Paid::of(plan),
            rests_by_unit: plan
                .gc
                .background
                .pre_migration
                .is_some_and(|rules| rules.when_unit_idle),
            blocking: Some(plan.gc.blocking).filter(|_| holds),
            timing: (!plan.untimed).then(|| [plan.timing, plan.collection_timing()]),
            bus_order: plan.front.bus_order,
            ends_together: plan.front.completions == Completions::Together
                && plan.gc.preemption.is_none()
                && !plan.suspends_programs(),
            queue_length: plan.front.places.map(|places| places.count),
            seed: plan.seed,
            host_link: plan.front.host_link,
            drains: plan.write_buffer.is_some_and(|buffer| !buffer.is_protected),
            limits: plan.jobs.has_limits(),
            firmware: plan.front.firmware,
            cache: [plan.cache.reads, plan.cache.programs],
            lag: plan.timing.passes.map_or(0, |passes| passes.lag),
        }
    }
}
