//! The plan: a checked configuration with all derived values. Only a plan reaches the simulation.

mod jitter;
mod jobs;
mod service;
mod stages;
mod switches;

use crate::device::{BusOrder, BusRules, FailurePlan, Geometry, Level, Pools, ReadRetry, Timing};
use crate::ftl::frontier::FrontierRules;
use crate::gc::windows::Costs;
use crate::gc::{GcPlan, Isolation};
pub use jitter::{Additions, Jitter};
pub use jobs::{JobQueues, Limit};
pub use service::{HIGH, READS, Served, Service, WRITES};
pub use stages::{
    Completions, Drain, Duplex, Firmware, Front, HostLink, Places, QueueOrder, Stage, WriteBuffer,
    WriteCompletion,
};
pub use switches::Switches;

/// How writes find their plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Allocation {
    /// Logical page modulo planes, fixed at acceptance.
    Striped,
    /// A plane of the page's pool: the least busy when the write is queued, then the one with most
    /// erased pages. In a pool inside one unit, the latter when it starts.
    Dynamic,
    /// A plane of the first unit of the page's pool that is idle, units and planes in turn.
    WhenIdle,
}

/// When requests arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// At their own times, whatever the drive does.
    Open,
    /// A fixed number of outstanding requests: the next one arrives when one is done.
    Closed(u32),
    /// The source decides at each instant: several jobs with loops and rates of their own.
    Jobs,
}

/// The conditions under which a run ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Until {
    /// The confidence of all intervals.
    pub confidence: f64,
    /// Half the interval of the percentile p99.9 is at most this share of it.
    pub within: f64,
    /// The most drive writes that are tried.
    pub at_most: f64,
}

/// The work of the registers of a unit in parallel with its array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct CacheOperations {
    /// The next page is read while the one before it leaves over the bus.
    pub reads: bool,
    /// The next data comes in while the data before it is programmed.
    pub programs: bool,
}

impl CacheOperations {
    /// Whether there is any.
    #[inline(always)]
    pub fn is_some(self) -> bool {
        self.reads || self.programs
    }
}

/// The most classes of a placement: a set of them has a bit for each.
pub const CLASSES_MAX: usize = u32::BITS as usize;

/// The input of the simulation.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The seed of every random stream.
    pub seed: u64,
    /// Planes, units and buses.
    pub geometry: Geometry,
    /// Times of the operations.
    pub timing: Timing,
    /// How requests come in and are done.
    pub front: Front,
    /// The work of the registers of a unit in parallel with its array.
    pub cache: CacheOperations,
    /// When a page is read again, where reads have errors.
    pub read_retry: Option<ReadRetry>,
    /// Programs and erases that fail, where any do.
    pub failures: Option<FailurePlan>,
    /// The write buffer, where there is one.
    pub write_buffer: Option<WriteBuffer>,
    /// How writes find their plane.
    pub allocation: Allocation,
    /// The level of the pools of planes, where dynamic allocation has any smaller than the device.
    pub pool: Option<Level>,
    /// The planes that the writes of a logical page may go to.
    pub pools: Pools,
    /// The order of service at a unit.
    pub service: Service,
    /// The scheme.
    pub gc: GcPlan,
    /// When requests arrive.
    pub arrivals: Arrivals,
    /// The jobs, where there are any.
    pub jobs: JobQueues,
    /// Whether operations on one logical page must be kept in order by a table: they could pass
    /// each other in the queues.
    pub ordered: bool,
    /// Whether the host reads at all.
    pub reads: bool,
    /// Whether a collection that nothing can interrupt or observe runs as one event.
    pub coalesce: bool,
    /// Whether the measured part runs in logical time: requests in order, without a clock.
    pub untimed: bool,
    /// Whether writes that take no time go to the plane of the most erased pages, where allocation
    /// is dynamic, and not to the planes in turn.
    pub untimed_by_erased: bool,
}

impl Plan {
    /// The rules of the frontiers.
    pub fn frontier_rules(&self) -> FrontierRules {
        FrontierRules {
            separate_gc: self.gc.separate_gc,
            classes: self.gc.classes(),
            always_open: self.gc.always_open(),
            parity: self.parity(),
            reserve_blocks: self.gc.reserve_blocks,
            reserve_pages: self.gc.reserve_pages,
            lag: self.timing.passes.map_or(0, |passes| passes.lag),
        }
    }

    /// Whether a write finds its plane when it starts, not when it is queued: all planes of its
    /// pool belong to one unit, and one queue serves them.
    pub fn chooses_at_start(&self) -> bool {
        let unit = self.geometry.shape.unit;
        self.allocation == Allocation::Dynamic
            && self.pool.is_some_and(|level| level >= unit)
            && self.gc.blocking.covers_unit(unit)
    }

    /// Whether a write waits before it is queued: for an idle unit, or for a page of a block that
    /// planes share.
    pub fn awaits_places(&self) -> bool {
        self.allocation == Allocation::WhenIdle || self.geometry.has_superblocks()
    }

    /// Whether a write may get a page of a plane that is closed to it, and wait there: copies have
    /// an open block of their own, and the write can go nowhere else.
    pub fn gives_pages_of_closed_planes(&self) -> bool {
        self.gc.separate_gc && self.allocation == Allocation::Striped
    }

    /// Whether one queue serves all operations on a page, one after the other. It does where a page
    /// has one plane, since two pages of a plane never share an array operation. With cache
    /// operations it does not: the next operation begins before the one under way is done; nor does
    /// it where reads of one plane pass those of another, or where a stage of the host holds an
    /// operation outside the queues. A read that suspends a program passes none: it is the first of
    /// its queue, and of no page of the program.
    pub fn queues_keep_order(&self) -> bool {
        let one_queue = match self.allocation {
            Allocation::Striped => true,
            Allocation::Dynamic => self.chooses_at_start() && self.geometry.shape.multi_plane == 1,
            Allocation::WhenIdle => false,
        };
        one_queue
            && !self.holds_operations()
            && !self.begins_beside()
            && !self.geometry.has_superblocks()
            && !self.service.splits_host()
            && self.gc.preemption.is_none()
    }

    /// The cost of moving a page and of an erase where windows of sub-blocks are ranked: read and
    /// program times, and the time of one erase (docs/schemes/gsm.md#the-recycle-benefit).
    pub fn window_costs(&self) -> Costs {
        let isolation = self.gc.sub_blocks.unwrap_or(Isolation::Hardware);
        let timing = self.timing.of_copies();
        let costs = Costs::new(timing.read_ns + timing.program_ns, timing.erase_ns, isolation);
        costs.with_parity(self.parity())
    }

    /// The most pages that a step of a collection moves: those that move in parallel, or those
    /// that a program joins.
    #[inline(always)]
    pub fn copies_at_once(&self) -> u32 {
        self.gc.copy.at_once().max(self.geometry.shape.program_slots)
    }

    /// Whether operations of the host may begin while one is under way: in a register, or in
    /// another plane.
    pub fn begins_beside(&self) -> bool {
        self.cache.is_some() || self.geometry.readers > 0
    }

    /// Whether a unit may have a second command, whose first phase runs in parallel with its
    /// operation.
    pub fn has_seconds(&self) -> bool {
        self.cache.is_some() || self.gc.preemption.is_some()
    }

    /// Whether the events of one instant have an order: commands before data, or all ends before
    /// any start.
    pub fn orders_instants(&self) -> bool {
        self.front.bus_order == BusOrder::CommandsFirst
            || self.front.completions == Completions::Together
    }

    /// Whether a read suspends a program of the host.
    pub fn suspends_programs(&self) -> bool {
        self.timing.host_programs().is_some()
    }

    /// Whether a phase of an operation of the host may release a write, begin the next operation,
    /// or be suspended.
    pub fn follows_phases(&self) -> bool {
        self.cache.is_some()
            || self.front.write_completion == WriteCompletion::Loaded
            || self.suspends_programs()
    }

    /// Whether copies keep the parity of their page.
    pub fn parity(&self) -> bool {
        self.gc.copy.parity()
    }

    /// Whether collections run as one event: their pages are fixed, nothing is released before
    /// their end, and no start waits for the end of a step at its instant. One of no length always
    /// does: between its steps other work would begin.
    pub fn coalesces_jobs(&self) -> bool {
        let is_one = self.coalesce
            && self.front.completions == Completions::OneByOne
            && self.gc.blocking.erasing.is_none();
        self.fixes_jobs() && (is_one || !self.gc.takes_time())
    }

    /// Whether copies may run unseen, as one event, although requests preempt others, or other
    /// units use the bus between collections.
    ///
    /// The copies must take equal times, and no other operation may take pages of their plane; and
    /// each must be followed by the next before anything else of its instant. (Watchers, layers,
    /// background work and the books of policies are conditions apart: a write that waits for any
    /// idle unit has the cause of the first collection that works, as long as the step lasts.)
    pub fn runs_unseen(&self) -> bool {
        let gc = &self.gc;
        self.coalesce
            && gc.takes_time()
            && !gc.is_paced()
            && gc.placement.is_none()
            && gc.sub_blocks.is_none()
            && gc.reserve_pages == 0
            && !gc.blocking.blocks
            && gc.copy.at_once() == 1
            && !self.parity()
            && !self.timing.times_summaries_of_copies()
            && self.geometry.shape.multi_plane == 1
            && self.write_buffer.is_none()
            && (self.may_refuse_all() || self.may_have_its_bus())
    }

    /// How the buses work, for a watcher of operations or none, with background work or without.
    ///
    /// Transfers are joined where any follow one another, and nothing else may begin at the end of
    /// a phase.
    pub fn bus_rules(&self, is_watched: bool, works_ahead: bool) -> BusRules {
        let follow_another = !self.gc.copy.stays_in_plane();
        let joins_transfers = self.coalesce
            && follow_another
            && !is_watched
            && !works_ahead
            && self.gc.preemption.is_none()
            && !self.orders_instants()
            && !self.follows_phases()
            && !self.begins_beside()
            && !self.holds_operations();
        BusRules { order: self.front.bus_order, keeps_waits: is_watched, joins_transfers }
    }

    /// Whether there are times at which no request can preempt a collection, whose copies need no
    /// bus.
    fn may_refuse_all(&self) -> bool {
        let rules = self.gc.preemption;
        rules.is_some_and(|rules| rules.between_copies && rules.poll_ns == 0)
            && self.front.completions == Completions::OneByOne
            && self.gc.copy.stays_in_plane()
            && self.timing.command_ns == 0
            && self.allocation == Allocation::Striped
    }

    /// Whether there are times at which a collection that runs to its end has its bus to itself: no
    /// request enters its unit, and none elsewhere chooses a place by the state of the bus or by
    /// the pages that it takes. Where writes go to idle units, the whole channel must be closed.
    fn may_have_its_bus(&self) -> bool {
        let shape = &self.geometry.shape;
        self.gc.preemption.is_none()
            && !self.fixes_jobs()
            && !self.gc.copy.is_sent()
            && match self.allocation {
                Allocation::Striped => self.gc.blocking.covers_unit(shape.unit),
                Allocation::WhenIdle => self.gc.blocking.level == Level::Channel,
                Allocation::Dynamic => false,
            }
            && shape.program_slots == 1
            && self.read_retry.is_none()
            && self.timing.passes.is_none()
            && !self.begins_beside()
            && !self.geometry.has_superblocks()
    }

    /// Whether nothing can interrupt a collection, so that its pages are fixed when it begins.
    ///
    /// The copies must need no bus, not for summaries either, and the blocking must cover the unit
    /// that works. One whose operations take no time is not interrupted either, unless the scheme
    /// itself lets requests come between them, or sends its pages to units that may be busy.
    pub fn fixes_jobs(&self) -> bool {
        let needs_no_bus = self.gc.copy.stays_in_plane()
            && self.geometry.shape.program_slots == 1
            && self.timing.command_ns == 0
            && !self.timing.times_summaries_of_copies();
        let takes_the_unit = self.gc.blocking.covers_unit(self.geometry.shape.unit);
        let takes_no_time = !self.gc.takes_time() && !self.gc.copy.is_sent();
        self.gc.preemption.is_none() && (takes_no_time || needs_no_bus && takes_the_unit)
    }

    /// The times of collections and background tasks: those of the device, or none.
    pub fn collection_timing(&self) -> Timing {
        if self.gc.takes_time() { self.timing.of_copies() } else { Timing::NONE }
    }
}
