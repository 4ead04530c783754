//! The simulation: the event loop, and the path of every request through the modules.
//!
//! A host write, module by module: the *workload* gives a request; [`host`] accepts it and cuts it
//! into page operations; they wait in the queue of their unit; [`service`] starts one when its unit
//! is free; [`space`] takes a page, binds the map and marks the old page invalid; events end its
//! phases on bus and array; `stats` takes one sample. When a plane runs short, [`collect`] opens a
//! collection on the plane's unit.
//!
//! Units that may have something to start are put on a list, and the loop checks them after each
//! event. Nothing calls back into the loop.

/// The blocks as policies see them now: a view of some fields, so that others can be changed.
macro_rules! candidates {
    ($sim:expr) => {
        crate::gc::victim::Candidates {
            geometry: &$sim.plan.geometry,
            blocks: &$sim.ftl.blocks,
            age_now_ns: $sim.age_base_ns + $sim.now_ns,
            costs: $sim.gc.costs,
            most_valid: u32::MAX,
        }
    };
}

mod ahead;
mod away;
mod balance;
mod blocked;
mod blocking;
mod buffer;
mod buffered;
mod classes;
mod collect;
mod digest;
mod drive;
mod extents;
mod fill;
mod halves;
mod host;
mod idle;
mod instant;
mod jobs;
mod layers;
mod link;
mod order;
mod overlap;
mod pacing;
mod planes;
mod precondition;
mod preemption;
mod queues;
mod results;
mod sample;
mod service;
mod space;
mod suspend;
mod used_space;

use crate::device::{Bus, Unit, Worker};
use crate::event::Events;
use crate::ftl::Ftl;
use crate::gc::{Gc, Victim};
use crate::ids::{BlockId, BusId, PlaneId, Ppn, UnitId};
use crate::plan::{Arrivals, Plan};
use crate::stats::{Batches, Counters, Latency};
use crate::verify::{Happened, Unwatched, Watch};
use crate::workload::{HostRequest, Source, SourceError};
use ahead::Ahead;
pub use balance::{Circumstances, Until, UntilEnd};
use balance::{Overwritten, Watched};
use blocked::Aside;
use buffer::Buffer;
pub use fill::{FillState, TraceFilled};
use host::Slabs;
use idle::IdleTrigger;
use instant::Instant;
use link::Link;
use order::PageOrder;
use pacing::Pacing;
pub use precondition::{Preconditioning, Steady, SteadyWatch};
use preemption::Preempting;
use queues::Queues;
pub use results::Results;
use service::Recipes;
use std::collections::VecDeque;

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimError {
    /// The workload failed; the text names the place.
    Source(SourceError),
    /// Requests wait for space that collection cannot free.
    Full {
        /// A plane in which a write waits.
        plane: PlaneId,
        /// Its erased pages.
        free_pages: u32,
        /// Invalid pages in its sealed blocks.
        reclaimable: u32,
        /// Requests that wait.
        waiting: u64,
    },
    /// The simulated time does not fit into a word with the number of its slot.
    TooLong {
        /// The last instant that fits, in ns.
        limit_ns: u64,
    },
    /// Units are checked again and again without effect: a fault of the engine.
    Endless {
        /// When, in ns.
        at_ns: u64,
        /// The units.
        units: Vec<UnitId>,
        /// Requests that wait.
        waiting: u64,
    },
}

impl From<SourceError> for SimError {
    fn from(error: SourceError) -> Self {
        SimError::Source(error)
    }
}

/// How far a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Whether every request is done.
    pub finished: bool,
    /// Requests done.
    pub requests: u64,
    /// Simulated time, in ns.
    pub now_ns: u64,
}

/// One drive, one scheme, one workload.
pub struct Sim<W: Watch = Unwatched> {
    plan: Plan,
    now_ns: u64,
    /// Guards against an instant without end.
    instant: Instant,
    events: Events,
    time_limit_ns: u64,
    units: Vec<Unit>,
    /// Operations that wait at each unit or are under way: the input of dynamic allocation.
    loads: Vec<u32>,
    buses: Vec<Bus>,
    /// The host's link, where the device has one.
    link: Option<Link>,
    /// The write buffer, where the device has one.
    buffer: Option<Buffer>,
    /// The idle trigger, where the scheme has it.
    idle: Option<IdleTrigger>,
    /// Pre-migration, where the scheme has it.
    ahead: Option<Ahead>,
    /// The time slices of collections, where the scheme has them.
    pacing: Option<Pacing>,
    queues: Queues,
    /// Units to check before the next event.
    ready: VecDeque<UnitId>,
    /// Page operations that are next on their page, the oldest last.
    released: Vec<u32>,
    /// Units whose next write waits for space that no collection can free yet.
    starved: Vec<UnitId>,
    ftl: Ftl,
    gc: Gc,
    slabs: Slabs,
    order: PageOrder,
    recipes: Recipes,
    /// Planes that a collection blocks, by part of the blocking's level.
    domains: Vec<Vec<PlaneId>>,
    /// Space for the list of a victim's pages.
    scratch: Vec<Ppn>,
    /// Requests that preempt open collections.
    preempting: Preempting,
    /// Reads that wait for a block under collection, where the scheme blocks only single blocks.
    aside: Aside,
    /// Whether the drive works while the host is idle: idle collection, or a write buffer.
    rests: bool,
    /// Space for the victims of an untimed collection.
    victims: Vec<Victim>,
    /// Space for the sub-blocks that one erase frees.
    erased_with: Vec<BlockId>,
    arrival: Option<HostRequest>,
    source_ended: bool,
    /// Requests of a closed loop that may be issued now; of jobs, whether to ask the source.
    to_issue: u32,
    /// Requests of jobs that are done, of which the source has yet to hear.
    done: Vec<jobs::Done>,
    outstanding: u64,
    requests_done: u64,
    /// In each pool, the place of the plane that is checked first next time.
    next_in_pool: Vec<u32>,
    /// Writes that wait to be programmed together, by pool; empty where planes work alone.
    groups: Vec<planes::Group>,
    /// Whether a write finds its plane when it starts.
    chooses_at_start: bool,
    /// Whether operations on one page stay in order in the queue of their unit.
    queues_keep_order: bool,
    /// The age clock at the start of the measured part, in ns.
    age_base_ns: u64,
    /// How far the age clock advances for a page programmed before measuring, in ns.
    age_step_ns: u64,
    free_pages_total: u64,
    /// Erased pages at the start of the measured part.
    free_pages_begin: u64,
    /// Write amplification over the course of overwriting, then of the measured part.
    batches: Batches,
    overwritten: Overwritten,
    balance: Watched,
    counters: Counters,
    read_latency: Latency,
    write_latency: Latency,
    load: results::Load,
    watch: W,
}

impl<W: Watch> Sim<W> {
    /// A new drive, erased.
    pub fn new(plan: Plan, watch: W) -> Self {
        let ftl = Ftl::new(&plan.geometry, plan.frontier_rules());
        Sim::with_ftl(plan, ftl, watch)
    }

    fn with_ftl(plan: Plan, ftl: Ftl, watch: W) -> Self {
        let geometry = &plan.geometry;
        let recipes = Recipes::new(&plan);
        let slots = geometry.units + geometry.shape.channels + 1;
        let more = [plan.host_link.is_some(), plan.write_buffer.is_some(), plan.gc.idle.is_some()];
        let slots = slots as usize + more.into_iter().filter(|&is_there| is_there).count();
        Sim {
            now_ns: 0,
            instant: Instant::default(),
            events: Events::new(slots),
            time_limit_ns: Events::time_limit_ns(slots),
            loads: vec![0; geometry.units as usize],
            units: (0..geometry.units).map(|_| Unit::new()).collect(),
            buses: (0..geometry.shape.channels).map(|_| Bus::default()).collect(),
            link: plan.host_link.map(Link::new),
            buffer: plan.write_buffer.map(Buffer::new),
            idle: plan.gc.idle.clone().map(|idle| IdleTrigger::new(idle, geometry.units)),
            ahead: plan.gc.pre_migration.map(|rules| Ahead::new(rules, geometry)),
            pacing: plan.gc.time_slices.map(|rules| Pacing::new(rules, geometry.units)),
            queues: Queues::new(&plan),
            ready: VecDeque::new(),
            released: Vec::new(),
            starved: Vec::new(),
            ftl,
            gc: Gc::new(&plan.gc, geometry, plan.window_costs(), plan.seed),
            slabs: Slabs::default(),
            order: PageOrder::default(),
            recipes,
            domains: collect::domains(&plan),
            scratch: Vec::new(),
            preempting: Preempting::new(&plan),
            aside: Aside::new(geometry.units, plan.gc.blocking.blocks),
            rests: plan.gc.idle.is_some()
                || plan.write_buffer.is_some()
                || plan.gc.pre_migration.is_some(),
            victims: Vec::new(),
            erased_with: Vec::new(),
            arrival: None,
            source_ended: false,
            to_issue: 0,
            done: Vec::new(),
            outstanding: 0,
            requests_done: 0,
            next_in_pool: vec![0; plan.pools.count()],
            groups: planes::Group::of_pools(&plan),
            chooses_at_start: plan.chooses_at_start(),
            queues_keep_order: plan.queues_keep_order(),
            age_base_ns: 0,
            age_step_ns: (plan.timing.program_ns / u64::from(geometry.units)).max(1),
            free_pages_total: u64::from(geometry.planes) * geometry.shape.data_pages_per_plane(),
            free_pages_begin: 0,
            batches: Batches::default(),
            overwritten: Overwritten::default(),
            balance: Watched::default(),
            counters: Counters::default(),
            read_latency: Latency::new(),
            write_latency: Latency::new(),
            load: results::Load::default(),
            watch,
            plan,
        }
    }

    /// Starts the measured part: the first requests are taken from the source.
    pub fn start(&mut self, source: &mut dyn Source) -> Result<(), SimError> {
        self.start_counting();
        // A read of a page that was never written needs no flash, and must not pass a write of its
        // page.
        self.plan.ordered |= self.plan.reads && !self.ftl.map.is_full();
        match self.plan.arrivals {
            Arrivals::Open => self.fetch_arrival(source)?,
            Arrivals::Closed(depth) => {
                self.to_issue = depth;
                self.settle(source)?;
            }
            Arrivals::Jobs => {
                self.to_issue = 1;
                self.settle(source)?;
            }
        }
        Ok(())
    }

    /// Runs at most `budget` events, and returns how far the run is.
    pub fn run(&mut self, source: &mut dyn Source, budget: u64) -> Result<Progress, SimError> {
        for _ in 0..budget {
            if self.is_finished() {
                break;
            }
            let Some((at_ns, slot)) = self.events.peek() else {
                self.retry_starved(source)?;
                continue;
            };
            if at_ns > self.time_limit_ns / 2 {
                return Err(SimError::TooLong { limit_ns: self.time_limit_ns / 2 });
            }
            debug_assert!(at_ns >= self.now_ns, "time ran backwards");
            self.let_look(at_ns);
            if at_ns > self.now_ns {
                self.instant.goes_on();
            }
            self.now_ns = at_ns;
            self.events.clear(slot);
            let units = self.units.len();
            if slot < units {
                self.array_ended(UnitId(slot as u32));
            } else if slot < units + self.buses.len() {
                self.transfer_ended(BusId((slot - units) as u32));
            } else if self.link.is_some() && slot == self.link_slot() {
                self.crossing_ended();
            } else if self.buffer.is_some() && slot == self.buffer_slot() {
                self.access_ended();
            } else if self.idle.is_some() && slot == self.idle_slot() {
                self.idle_begins();
            } else {
                self.request_arrived(source)?;
            }
            self.look_at_starved();
            self.settle(source)?;
        }
        let (finished, requests) = (self.is_finished(), self.requests_done);
        Ok(Progress { finished, requests, now_ns: self.now_ns })
    }

    /// Issues what a closed loop may issue and starts what can start, until nothing is left.
    #[inline(always)]
    fn settle(&mut self, source: &mut dyn Source) -> Result<(), SimError> {
        loop {
            if self.instant.has_too_many_steps() {
                self.look_for_an_end()?;
            }
            if let Some(op) = self.released.pop() {
                self.enqueue(op);
            } else if let Some(unit) = self.ready.pop_front() {
                self.units[unit.index()].listed = false;
                self.start_unit(unit);
            } else if self.to_issue > 0 && !self.source_ended {
                self.instant.goes_on();
                self.issue(source)?;
            } else if !self.rests || !self.rest() {
                return Ok(());
            }
        }
    }

    /// Nothing is left to start: the write buffer is flushed, pages are pre-migrated, or the idle
    /// trigger begins to wait. Returns whether there is an operation to start now.
    #[inline(never)]
    fn rest(&mut self) -> bool {
        if self.flush_if_idle() {
            return true;
        }
        self.wait_for_idle();
        self.look_ahead()
    }

    /// No event is left: the writes that starve are tried once more, and then the drive is full.
    fn retry_starved(&mut self, source: &mut dyn Source) -> Result<(), SimError> {
        self.look_at_starved();
        self.settle(source)?;
        if self.events.peek().is_none() && !self.is_finished() {
            return Err(self.full());
        }
        Ok(())
    }

    fn is_finished(&self) -> bool {
        self.source_ended && self.outstanding == 0
    }

    /// Puts a unit on the list of units to check.
    #[inline(always)]
    fn look_at(&mut self, unit: UnitId) {
        let state = &mut self.units[unit.index()];
        if !state.listed && state.worker == Worker::Nobody {
            state.listed = true;
            self.ready.push_back(unit);
        }
    }

    /// Reports an event to the watcher, if there is one.
    #[inline(always)]
    fn tell(&mut self, happened: Happened) {
        if W::ACTIVE {
            self.watch.see(self.now_ns, happened);
        }
    }

    /// The clock that ages are measured on: it also ran while the drive was preconditioned.
    #[inline(always)]
    fn age_now_ns(&self) -> u64 {
        self.age_base_ns + self.now_ns
    }

    /// The plan of the simulation.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The translation layer, read-only.
    pub fn ftl(&self) -> &Ftl {
        &self.ftl
    }

    /// The watcher.
    pub fn watch(&mut self) -> &mut W {
        &mut self.watch
    }
}
