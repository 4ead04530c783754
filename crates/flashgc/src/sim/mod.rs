//! The simulation: the event loop, and what crosses from one room to another.
//!
//! A host write, room by room: the *workload* gives a request; `host` cuts it into page operations;
//! `allocation` names a plane, in whose queue each waits; the `arbiter` chooses one when its unit
//! is free; `store` takes a page, binds the map and marks the old page invalid; `flash` runs its
//! phases, whose ends are events; `measure` takes one sample. When a plane runs short, a collection
//! begins on the plane's unit (`collect`).
//!
//! Units that may have something to start are put on a list, and the loop checks them after each
//! event. Nothing calls back into the loop.

/// The surroundings that a room may use, apart from its own state.
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
            ftl: &$sim.store.ftl,
            gc: &$sim.store.gc,
            flash: &$sim.flash,
            prices: &$sim.prices,
            jobs: &mut $sim.jobs,
            alloc: &mut $sim.store.alloc,
            waiting: &mut $sim.host.waiting,
            counters: &mut $sim.counters,
            is_starving: !$sim.starved.is_empty(),
        }
    };
}

/// The operations of the host, with what they may use.
macro_rules! binding {
    ($sim:expr) => {
        crate::operation::Binding {
            host: &mut $sim.host,
            store: &mut $sim.store,
            prices: &$sim.prices,
            cx: context!($sim),
        }
    };
}

/// The collections, with what they may use.
macro_rules! collecting {
    ($sim:expr) => {
        crate::collect::Collecting {
            jobs: &mut $sim.jobs,
            store: &mut $sim.store,
            waiting: &mut $sim.host.waiting,
            prices: &$sim.collection_prices,
            host_prices: &$sim.prices,
            is_starving: !$sim.starved.is_empty(),
            cx: context!($sim),
        }
    };
}

/// The rooms as a background task sees them.
macro_rules! rest {
    ($sim:expr) => {
        crate::background::Rest {
            host: &mut $sim.host,
            store: &mut $sim.store,
            jobs: &$sim.jobs,
            prices: &$sim.collection_prices,
            cx: context!($sim),
        }
    };
}

mod at_once;
mod commands;
mod compiled;
pub mod ending;
mod ends;
mod error;
mod instant;
mod interrupts;
pub mod live;
mod overlap;
mod ready;
mod requests;
mod service;
mod sight;
mod start;
mod starts;
mod unseen;
mod untimed;
mod yielding;

use crate::arbiter::Arbiter;
use crate::background::Background;
use crate::collect::Jobs;
use crate::drive::{Carried, Drive, DriveFault};
use crate::event::{Events, Slot};
use crate::flash::{Flash, Prices};
use crate::ftl::Ftl;
use crate::host::Host;
use crate::ids::UnitId;
use crate::measure::{Circumstances, Measure, Watched};
use crate::operation::{self, Riders};
use crate::owner::Owner;
use crate::plan::{Allocation, Plan, Switches};
use crate::stats::Counters;
use crate::store::{self, Store};
use crate::verify::blame::Blame;
use crate::verify::{Overview, Watch};
use crate::workload::Source;
use at_once::AtOnce;
pub use compiled::Compiled;
pub use error::SimError;
use instant::Instant;
use ready::Ready;

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

/// What waits in front of a unit, apart from what the flash itself does; of a reader, its group.
#[derive(Clone, Default)]
struct Station {
    /// The host's part in the operation under way, where the host owns it.
    riders: Riders,
    /// The host's part in the operation that has begun in parallel with it (`overlap.rs`).
    beside: Riders,
    /// The same of the program that is suspended for reads, and its owner (`yielding.rs`).
    yielded: Option<Box<(u32, Riders)>>,
    /// Whether this unit is already on the list of units to check.
    listed: bool,
}

/// One drive, one scheme, one workload.
#[derive(Clone)]
pub struct Sim<W: Watch = Overview> {
    plan: Plan,
    now_ns: u64,
    instant: Instant,
    events: Events,
    host: Host,
    store: Store,
    flash: Flash<Owner>,
    /// Prices of operations of the host, and of those of collections and background tasks.
    prices: Prices,
    collection_prices: Prices,
    jobs: Jobs,
    arbiter: Arbiter,
    background: Background<W>,
    units: Vec<Station>,
    at_once: AtOnce,
    /// Units to check before the next event.
    ready: Ready,
    /// Units whose next write waits for space that no collection can free yet.
    starved: Vec<UnitId>,
    switches: Switches,
    counters: Counters,
    measure: Measure,
    watch: W,
}

impl<W: Watch> Sim<W> {
    fn with_erased(plan: Plan, watch: W) -> Self {
        let store = Store::erased(&plan);
        Sim::with_store(plan, store, watch)
    }

    fn with_state(plan: Plan, drive: Drive, watch: W) -> Result<(Self, Carried), DriveFault> {
        let (store, mut carried) = store::restored(&plan, drive)?;
        let mut sim = Sim::with_store(plan, store, watch);
        sim.store.refill_reserves(&mut carried, &mut context!(sim))?;
        Ok((sim, carried))
    }

    fn with_store(plan: Plan, store: Store, watch: W) -> Self {
        let geometry = &plan.geometry;
        let background = Background::new(&plan);
        let [prices, collection_prices] = operation::prices(&plan);
        let has_causes_of_steps = W::OPERATIONS && plan.allocation == Allocation::WhenIdle;
        let runs_unseen = !watch.needs_copies()
            && plan.runs_unseen()
            && !background.is_some()
            && !store.gc.keeps_books
            && !has_causes_of_steps
            && !prices.needs_pages();
        let bus_rules = plan.bus_rules(W::OPERATIONS, background.is_some());
        Sim {
            now_ns: 0,
            instant: Instant::default(),
            events: Events::new(plan.event_slots()),
            host: Host::new(&plan),
            store,
            flash: Flash::new(geometry, bus_rules),
            prices,
            collection_prices,
            jobs: Jobs::new(&plan),
            arbiter: Arbiter::new(&plan, runs_unseen),
            switches: Switches::new(&plan, background.is_some(), runs_unseen),
            background,
            units: geometry.units_and_readers().map(|_| Station::default()).collect(),
            at_once: AtOnce::default(),
            ready: Ready::new(geometry.units),
            starved: Vec::new(),
            counters: Counters::default(),
            measure: Measure::default(),
            watch,
            plan,
        }
    }

    /// The drive in its present state, and the watcher. Nothing may be under way.
    pub fn into_drive(self) -> (Drive, W) {
        assert!(self.host.outstanding() == 0 && self.events.is_empty(), "requests are under way");
        (self.store.into_drive(&self.plan), self.watch)
    }

    /// The facts that decide the verdict on this run; set before it starts.
    pub fn judge_by(&mut self, circumstances: Circumstances) {
        self.measure.balance = Watched::new(circumstances);
    }

    fn run_events(&mut self, source: &mut dyn Source, budget: u64) -> Result<Progress, SimError> {
        if self.plan.untimed {
            return untimed::run(self, source, budget);
        }
        self.run_until(source, budget, u64::MAX)
    }

    /// The same, up to and with this instant, or to the next pause of the host.
    fn run_until(
        &mut self,
        source: &mut dyn Source,
        budget: u64,
        until_ns: u64,
    ) -> Result<Progress, SimError> {
        let limit_ns = self.events.time_limit_ns() / 2;
        let last_ns = until_ns.min(limit_ns);
        for _ in 0..budget {
            if self.host.is_finished() {
                break;
            }
            if self.host.may_issue() && !instant::awaits_ends(self) {
                if self.host.pauses() {
                    break;
                }
                self.instant.goes_on();
                self.issue(source)?;
                self.settle()?;
                continue;
            }
            let Some(next) = self.events.peek() else {
                self.retry_starved()?;
                continue;
            };
            let at_ns = next.at_ns;
            if at_ns > last_ns {
                if until_ns <= limit_ns {
                    break;
                }
                return Err(SimError::TooLong { limit_ns });
            }
            debug_assert!(at_ns >= self.now_ns, "time ran backwards");
            if self.watch.looks_before(at_ns) && !self.watch_looks(at_ns)
                || self.switches.ends_unseen_together && self.ends_unseen(at_ns)
            {
                continue;
            }
            if at_ns > self.now_ns {
                self.instant.goes_on();
            }
            self.now_ns = at_ns;
            match self.events.take(next) {
                Slot::Unit(unit) => self.array_ended(unit),
                Slot::Bus(bus) => self.transfer_ended(bus),
                Slot::Stage(stage) => self.stage_ended(stage),
                Slot::Limit => self.limit_admits(),
                Slot::Arrival => self.request_arrived(source)?,
                Slot::Idle => {
                    self.background.timer_ended(&mut rest!(self));
                    self.pass_facts();
                }
            }
            self.look_at_starved();
            if !instant::awaits_ends(self) {
                self.settle()?;
            }
        }
        let (finished, requests) = (self.host.is_finished(), self.host.requests_done());
        if finished {
            self.look_into_all();
        }
        Ok(Progress { finished, requests, now_ns: self.now_ns })
    }

    /// Starts what can start, until nothing is left or a request may be issued.
    #[inline(always)]
    fn settle(&mut self) -> Result<(), SimError> {
        loop {
            if self.instant.has_too_many_steps() {
                instant::look_for_an_end(self)?;
            }
            if self.at_once.has_any() {
                self.at_once.takes();
                self.end_at_once();
                self.leave_at_once();
            }
            if self.host.has_to_place() {
                self.place_all();
            }
            if let Some(unit) = self.ready.pop() {
                self.units[unit.index()].listed = false;
                self.start_unit(unit);
            } else if self.store.alloc.has_waiting() && self.give_places() {
                // The unit has it, and starts it next.
            } else if self.at_once.has_any() && !self.host.may_issue() {
                // A read that was placed needs no flash, or its answer no bus: it leaves now.
            } else if self.switches.orders_instants && instant::goes_on_late(self) {
                // Data got a bus, or a request came in.
            } else if !self.switches.rests
                || self.host.may_issue()
                || self.host.outstanding() > 0
                || !self.rest()
            {
                return Ok(());
            }
        }
    }

    /// Nothing is left to start: the drive may work in the background. Returns whether it does.
    #[inline(never)]
    fn rest(&mut self) -> bool {
        let has_to_place = self.background.host_rests(&mut rest!(self));
        self.pass_facts();
        has_to_place || !self.ready.is_empty()
    }

    /// No event is left: the writes that starve are tried once more, and then the drive is full.
    fn retry_starved(&mut self) -> Result<(), SimError> {
        self.look_at_starved();
        self.settle()?;
        if self.events.is_empty() && !self.host.may_issue() && !self.host.is_finished() {
            let plane = self.seen().fullest_plane();
            return Err(SimError::full(self.store.no_space(plane), self.host.outstanding()));
        }
        Ok(())
    }

    /// The records of the run.
    pub fn measure(&self) -> &Measure {
        &self.measure
    }

    /// Bytes of the writes that are done.
    pub fn written_bytes(&self) -> u64 {
        self.counters.bytes[1]
    }

    /// The plan of the simulation.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// The translation layer, read-only.
    pub fn ftl(&self) -> &Ftl {
        &self.store.ftl
    }

    /// The parts of the latencies, if the watcher splits them.
    pub fn blame(&self) -> Option<&Blame> {
        self.watch.blame()
    }

    /// The watcher.
    pub fn watch(&mut self) -> &mut W {
        &mut self.watch
    }
}
