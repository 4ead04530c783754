//! The simulation: the event loop, and what crosses from one room to another.
//!
//! A host write, room by room: the *workload* gives a request; `host` cuts it into page operations;
//! `allocation` names a plane, in whose queue each waits; the `arbiter` chooses one when its unit
//! is free; `ftl` takes a page, binds the map and marks the old page invalid; `flash` runs its
//! phases, whose ends are events; `stats` takes one sample. When a plane runs short, a collection
//! begins on the plane's unit ([`collect`]).
//!
//! Units that may have something to start are put on a list, and the loop checks them after each
//! event. Nothing calls back into the loop.

/// The drive as the collector's policies see it now.
macro_rules! sight {
    ($sim:expr) => {
        crate::gc::Sight {
            geometry: &$sim.plan.geometry,
            rules: &$sim.plan.gc,
            ftl: &$sim.ftl,
            age_now_ns: $sim.age_base_ns + $sim.now_ns,
        }
    };
}

/// What a room may use, beside its own state.
macro_rules! context {
    ($sim:expr) => {
        crate::context::Context {
            plan: &$sim.plan,
            now_ns: $sim.now_ns,
            events: &mut $sim.events,
            counters: &mut $sim.counters,
            watch: &mut $sim.watch,
        }
    };
}

/// The rooms as an arbiter sees them.
macro_rules! view {
    ($sim:expr) => {
        crate::arbiter::View {
            plan: &$sim.plan,
            now_ns: $sim.now_ns,
            ftl: &$sim.ftl,
            gc: &$sim.gc,
            flash: &$sim.flash,
            prices: &$sim.prices,
            jobs: &mut $sim.jobs,
            alloc: &mut $sim.alloc,
            waiting: &mut $sim.host.waiting,
            counters: &mut $sim.counters,
            is_starving: !$sim.starved.is_empty(),
        }
    };
}

mod ahead;
mod away;
mod balance;
mod blocking;
mod classes;
mod collect;
mod digest;
mod drive;
mod extents;
mod facts;
mod fill;
mod halves;
mod idle;
mod instant;
mod overlap;
mod planes;
mod precondition;
mod preemption;
mod requests;
mod results;
mod sample;
mod service;
mod space;
mod station;

use crate::allocation::Allocation;
use crate::arbiter::Arbiter;
use crate::collect::Jobs;
use crate::event::{Events, Slot, Slots};
use crate::flash::{Ended, Flash, Prices};
use crate::ftl::Ftl;
use crate::gc::{Gc, Victim};
use crate::host::Host;
use crate::ids::{BlockId, PlaneId, Ppn, UnitId};
use crate::owner::Owner;
use crate::plan::{Arrivals, Plan};
use crate::stats::{Batches, Counters, Latency};
use crate::verify::{Happened, Unwatched, Watch};
use crate::workload::{Source, SourceError};
use ahead::Ahead;
pub use balance::{Circumstances, Until, UntilEnd};
use balance::{Overwritten, Watched};
pub use fill::{FillState, TraceFilled};
use idle::IdleTrigger;
use instant::Instant;
pub use precondition::{Preconditioning, Steady, SteadyWatch};
pub use results::Results;
use station::Station;
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
    flash: Flash<Owner>,
    prices: Prices,
    units: Vec<Station>,
    alloc: Allocation,
    jobs: Jobs,
    host: Host,
    /// The idle trigger, where the scheme has it.
    idle: Option<IdleTrigger>,
    /// Pre-migration, where the scheme has it.
    ahead: Option<Ahead>,
    /// Commands that ended as they began, and answers that left as they came.
    at_once: VecDeque<(UnitId, Ended<Owner>)>,
    left_at_once: VecDeque<(UnitId, u32)>,
    /// Units to check before the next event.
    ready: VecDeque<UnitId>,
    /// Units whose next write waits for space that no collection can free yet.
    starved: Vec<UnitId>,
    ftl: Ftl,
    gc: Gc,
    /// Space for the list of a victim's pages.
    scratch: Vec<Ppn>,
    arbiter: Arbiter,
    /// Whether the drive works while the host is idle: idle collection, or a write buffer.
    rests: bool,
    /// Space for the victims of an untimed collection.
    victims: Vec<Victim>,
    /// Space for the sub-blocks that one erase frees.
    erased_with: Vec<BlockId>,
    /// The age clock at the start of the measured part, in ns.
    age_base_ns: u64,
    /// How far the age clock advances for a page programmed before measuring, in ns.
    age_step_ns: u64,
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

    fn with_ftl(plan: Plan, mut ftl: Ftl, watch: W) -> Self {
        ftl.facts.tells_moves = plan.gc.pre_migration.is_some();
        let geometry = &plan.geometry;
        let pages = geometry.shape.multi_plane.max(plan.gc.copy.at_once());
        let slots = Slots::new(
            geometry.units,
            geometry.shape.channels,
            plan.host_link.is_some(),
            plan.write_buffer.is_some(),
            plan.gc.idle.is_some(),
        );
        Sim {
            now_ns: 0,
            instant: Instant::default(),
            events: Events::new(slots),
            alloc: Allocation::new(&plan),
            jobs: Jobs::new(&plan),
            flash: Flash::new(geometry),
            prices: Prices::new(&plan.timing, &geometry.shape, pages),
            units: vec![Station::default(); geometry.units as usize],
            host: Host::new(&plan),
            idle: plan.gc.idle.clone().map(|idle| IdleTrigger::new(idle, geometry.units)),
            ahead: plan.gc.pre_migration.map(|rules| Ahead::new(rules, geometry)),
            at_once: VecDeque::new(),
            left_at_once: VecDeque::new(),
            ready: VecDeque::new(),
            starved: Vec::new(),
            ftl,
            gc: Gc::new(&plan.gc, geometry, plan.window_costs(), plan.seed),
            scratch: Vec::new(),
            arbiter: Arbiter::new(&plan),
            rests: plan.gc.idle.is_some()
                || plan.write_buffer.is_some()
                || plan.gc.pre_migration.is_some(),
            victims: Vec::new(),
            erased_with: Vec::new(),
            age_base_ns: 0,
            age_step_ns: (plan.timing.program_ns / u64::from(geometry.units)).max(1),
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
        if self.plan.reads && !self.ftl.map.is_full() {
            self.host.keep_order();
        }
        match self.plan.arrivals {
            Arrivals::Open => self.fetch_arrival(source)?,
            Arrivals::Closed(depth) => {
                self.host.open_loop(depth);
                self.settle(source)?;
            }
            Arrivals::Jobs => {
                self.host.open_loop(1);
                self.settle(source)?;
            }
        }
        Ok(())
    }

    /// Runs at most `budget` events, and returns how far the run is.
    pub fn run(&mut self, source: &mut dyn Source, budget: u64) -> Result<Progress, SimError> {
        for _ in 0..budget {
            if self.host.is_finished() {
                break;
            }
            let Some(next) = self.events.next() else {
                self.retry_starved(source)?;
                continue;
            };
            let at_ns = next.at_ns;
            let limit_ns = self.events.time_limit_ns() / 2;
            if at_ns > limit_ns {
                return Err(SimError::TooLong { limit_ns });
            }
            debug_assert!(at_ns >= self.now_ns, "time ran backwards");
            self.let_look(at_ns);
            if at_ns > self.now_ns {
                self.instant.goes_on();
            }
            self.now_ns = at_ns;
            match self.events.take(next) {
                Slot::Unit(unit) => self.array_ended(unit),
                Slot::Bus(bus) => self.transfer_ended(bus),
                Slot::Link => self.crossing_ended(),
                Slot::Buffer => self.access_ended(),
                Slot::Arrival => self.request_arrived(source)?,
                Slot::Idle => self.idle_begins(),
            }
            self.look_at_starved();
            self.settle(source)?;
        }
        let (finished, requests) = (self.host.is_finished(), self.host.requests_done());
        Ok(Progress { finished, requests, now_ns: self.now_ns })
    }

    /// Issues what a closed loop may issue and starts what can start, until nothing is left.
    #[inline(always)]
    fn settle(&mut self, source: &mut dyn Source) -> Result<(), SimError> {
        loop {
            if self.instant.has_too_many_steps() {
                self.look_for_an_end()?;
            }
            self.end_at_once();
            if !self.left_at_once.is_empty() {
                self.leave_at_once();
            }
            if self.host.has_to_place() {
                self.place_all();
            }
            if let Some(unit) = self.ready.pop_front() {
                self.units[unit.index()].listed = false;
                self.start_unit(unit);
            } else if self.host.may_issue() {
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
        if self.events.is_empty() && !self.host.is_finished() {
            return Err(self.full());
        }
        Ok(())
    }

    /// Puts a unit on the list of units to check.
    #[inline(always)]
    fn look_at(&mut self, unit: UnitId) {
        let state = &mut self.units[unit.index()];
        if !state.listed && self.flash.is_free(unit) {
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
