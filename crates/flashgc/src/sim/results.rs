//! The results of a run: raw metrics, clipped at the last completion of the host.

use super::{Sim, SimError, UntilEnd};
use crate::collect::Stage;
use crate::device::Spent;
use crate::flash::Class;
use crate::ids::{PlaneId, UnitId};
use crate::owner::Owner;
use crate::plan::Arrivals;
use crate::stats::steady::Balance;
use crate::stats::{Counters, Latency, Spread};
use crate::verify::checker::Busy;
use crate::verify::{Watch, Watchers};
use serde::Serialize;

/// How the load of an open loop developed.
#[derive(Clone, Debug, Default)]
pub struct Load {
    arrivals: u64,
    /// Requests under way when the number of arrivals last doubled, and the time before that.
    backlog_at_doubling: [u64; 2],
    backlog_at_end: u64,
    /// Share of the time until the last arrival in which the busiest unit worked.
    busiest_share: f64,
}

/// Below this share of the time the busiest unit has room.
const SATURATED_SHARE: f64 = 0.95;

impl Load {
    /// A request came; `outstanding` requests are under way.
    #[inline(always)]
    pub(super) fn arrived(&mut self, outstanding: u64) {
        self.arrivals += 1;
        if self.arrivals.is_power_of_two() {
            self.backlog_at_doubling = [outstanding, self.backlog_at_doubling[0]];
        }
    }

    /// Whether arrivals outran service: the queue still grew at the end and a unit never rested.
    fn is_saturated(&self, units: u64) -> bool {
        // When between a quarter and a half of the requests had come.
        let earlier = self.backlog_at_doubling[1];
        self.busiest_share >= SATURATED_SHARE
            && self.backlog_at_end > 4 * units
            && self.backlog_at_end as f64 > 1.2 * earlier as f64
    }
}

/// Shares of the time, over all units or all buses.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Shares {
    /// For the host.
    pub host: f64,
    /// For garbage collection.
    pub gc: f64,
    /// Neither.
    pub idle: f64,
}

/// Shares of the time of the host's link.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LinkShares {
    /// For the host.
    pub host: f64,
    /// Nothing crosses.
    pub idle: f64,
}

/// The updates that the identifier of hot pages has seen, and the memory that it takes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HotnessCounts {
    /// Writes of pages that held data.
    pub updates: u64,
    /// Those of them that found their page hot.
    pub hot_updates: u64,
    /// Times that all counters were halved.
    pub decays: u64,
    /// Bytes of the counters.
    pub counter_bytes: u64,
    /// Bytes that keep the block groups.
    pub group_bytes: u64,
    /// Times that all groups of a plane were formed anew.
    pub groups_formed: u64,
}

/// The raw results of a run.
pub struct Results {
    /// Counters of the measured part.
    pub counters: Counters,
    /// Latencies of reads.
    pub read: Latency,
    /// Latencies of writes.
    pub write: Latency,
    /// From the first arrival to the last completion, in ns.
    pub simulated_ns: u64,
    /// Collections open at the end.
    pub jobs_open: u64,
    /// Bus time of collections, in ns.
    pub gc_transfer_ns: u64,
    /// The work of each unit, work under way included.
    pub units: Vec<Spent>,
    /// The same of each bus.
    pub buses: Vec<Spent>,
    /// Use of the units.
    pub unit: Shares,
    /// Use of the buses.
    pub bus: Shares,
    /// Use of the host's link, where there is one.
    pub host_link: Option<LinkShares>,
    /// Pages in the write buffer at the end, where there is one.
    pub buffer_dirty_pages: Option<u64>,
    /// Flushes of it whose program has not ended.
    pub flushes_open: u64,
    /// Pages that were being pre-migrated.
    pub ahead_open: u64,
    /// Which pages were hot, and the cost of knowing it, where pages are placed by hotness.
    pub hotness: Option<HotnessCounts>,
    /// Erases of the blocks in the measured part.
    pub wear: Spread,
    /// Bytes of the tables that grow with the drive.
    pub table_bytes: u64,
    /// Whether arrivals outran service.
    pub saturated: bool,
    /// Whether the run represents the long run.
    pub balance: Balance,
    /// How a run ended that continues until it is in balance.
    pub until: Option<UntilEnd>,
    /// Erased pages that the host can fill before collection begins, about.
    pub pages_to_first: u64,
}

impl<W: Watch> Sim<W> {
    /// The source of an open loop has ended.
    pub(super) fn note_end_of_arrivals(&mut self) {
        self.load.backlog_at_end = self.host.outstanding();
        if self.now_ns > 0 {
            let worked = self.flash.spent_of_units(self.now_ns).map(Spent::total_ns);
            let busiest = worked.max().unwrap_or(0);
            self.load.busiest_share = busiest as f64 / self.now_ns as f64;
        }
    }

    /// Whether arrivals outran service in an open loop.
    pub(super) fn is_saturated(&self) -> bool {
        matches!(self.plan.arrivals, Arrivals::Open)
            && self.load.is_saturated(self.units.len() as u64)
    }

    /// The results; called once every request is done. Work still under way counts up to now, and
    /// the simulation stays as it is, so that they can be requested again.
    pub fn results(&mut self) -> Results {
        let counters = self.counters.clone();
        let jobs: Vec<u64> = self.jobs.iter().map(|job| job.busy_ns).collect();
        let results = self.clipped();
        self.counters = counters;
        for (unit, busy_ns) in (0..).map(UnitId).zip(jobs) {
            self.jobs[unit].busy_ns = busy_ns;
        }
        results
    }

    /// The results, with the work under way added to the work that has ended.
    fn clipped(&mut self) -> Results {
        self.clip_operations();
        self.clip_jobs();
        self.clip_ahead();
        let elapsed_ns = self.now_ns;
        let units: Vec<Spent> = self.flash.spent_of_units(elapsed_ns).collect();
        let buses: Vec<Spent> = self.flash.spent_of_buses(elapsed_ns).collect();
        let on_units = Spent::sum(units.iter().copied());
        let on_buses = Spent::sum(buses.iter().copied());
        Results {
            counters: Counters {
                fallbacks: self.gc.fallbacks,
                free_pages_min: self.ftl.frontiers.free_total_min(),
                ..self.counters.clone()
            },
            read: self.read_latency.clone(),
            write: self.write_latency.clone(),
            simulated_ns: elapsed_ns,
            jobs_open: self.jobs.iter().filter(|job| job.is_open()).count() as u64,
            gc_transfer_ns: on_buses.gc_ns,
            unit: shares(on_units, units.len() as u64 * elapsed_ns),
            bus: shares(on_buses, buses.len() as u64 * elapsed_ns),
            units,
            buses,
            host_link: self.host.link_spent_ns().map(|host_ns| {
                let spent = Spent { host_ns, gc_ns: 0 };
                let Shares { host, idle, .. } = shares(spent, elapsed_ns);
                LinkShares { host, idle }
            }),
            buffer_dirty_pages: self.host.dirty_pages(),
            flushes_open: self.host.flushes_open(),
            ahead_open: self.moving_ahead(),
            hotness: self.gc.placement.as_ref().map(|placement| HotnessCounts {
                updates: placement.hotness.updates,
                hot_updates: placement.hotness.hot_updates,
                decays: placement.hotness.decays,
                counter_bytes: placement.hotness.bytes(),
                group_bytes: placement.group_bytes(),
                groups_formed: placement.groups_formed(),
            }),
            wear: Spread::of(self.ftl.blocks.measured_erases()),
            table_bytes: self.ftl.table_bytes() + self.gc.table_bytes(),
            saturated: self.is_saturated(),
            balance: self.balance(),
            until: self.until_end(),
            pages_to_first: self.pages_to_first(),
        }
    }

    /// Adds the time that collection has worked in operations that have not ended.
    fn clip_operations(&mut self) {
        for unit in (0..self.plan.geometry.units).map(UnitId) {
            let Some(owner) = self.flash.owner(unit) else { continue };
            let blocks = owner.class() == Class::Gc && owner != Owner::PreMigration;
            if blocks && self.arbiter.is_preemptive() {
                self.counters.gc_blocking_ns += self.now_ns - self.flash.since_ns(unit);
            }
            if let Some(since_ns) = self.flash.collects_since_ns(unit) {
                self.job_worked(unit, owner, self.now_ns - since_ns);
            }
        }
    }

    /// Adds the copies that open collections have ended, and the time for which they blocked the
    /// host.
    fn clip_jobs(&mut self) {
        let summary_pages = u64::from(self.plan.geometry.shape.summary_pages);
        for at in (0..self.plan.geometry.units).map(UnitId) {
            let job = &self.jobs[at];
            if !job.is_open() {
                continue;
            }
            if job.stage == Stage::Whole {
                let ended = self.copies_made(at);
                self.counters.gc_moved += ended as u64;
                let fills = job.fills.iter().filter(|&&at| (at as usize) < ended).count();
                self.counters.overhead += fills as u64 * summary_pages;
            }
            // A copy that ends at this very instant has ended, whether or not its event is due
            // behind the one that ended the run.
            let is_local = !self.plan.gc.copy.is_global();
            let programs = matches!(job.stage, Stage::Copying | Stage::Programming);
            if programs && is_local && self.phase_ends_now(at) {
                self.counters.gc_moved += job.step.len() as u64;
                self.counters.overhead += u64::from(job.fills_of_step()) * summary_pages;
            }
            let wasted_open = self.wasted_and_open(at);
            let (copies, fills) = self.cross_unit_ends_now(at);
            self.counters.gc_moved += copies;
            self.counters.overhead += fills * summary_pages;
            self.counters.gc_busy_open_ns += job.busy_ns;
            // A copy that has not ended does not count yet, and so it does not count as wasted.
            self.counters.wasted_copies += u64::from(job.wasted) - wasted_open;
            if !self.arbiter.is_preemptive() {
                self.counters.gc_blocking_ns += self.now_ns - job.blocking_since_ns;
            }
        }
    }

    /// Copies of a collection whose page was lost and that have not ended.
    fn wasted_and_open(&self, at: UnitId) -> u64 {
        let job = &self.jobs[at];
        let is_open = |copy: &&u32| match job.stage {
            Stage::Whole => **copy as usize >= self.copies_made(at),
            Stage::Copying | Stage::Programming | Stage::Erasing if job.fixed => {
                **copy as usize >= self.copies_made(at)
            }
            Stage::Copying | Stage::Programming => !self.phase_ends_now(at),
            Stage::Sending => !self.cross_unit_copy_ends_now(at, **copy as usize),
            _ => false,
        };
        job.wasted_open.iter().filter(is_open).count() as u64
    }

    /// Whether the last phase of a collection's operation ends at the present instant.
    pub(super) fn phase_ends_now(&self, unit: UnitId) -> bool {
        // Polling the queue, or a suspension, ends no operation.
        let owner = self.flash.owner(unit);
        let works =
            matches!(owner, Some(Owner::Collection | Owner::CrossUnit | Owner::PreMigration));
        works && self.flash.ends_at(unit, self.now_ns)
    }

    /// The error of a drive on which no operation can continue.
    pub(super) fn full(&self) -> SimError {
        let starved = (0..self.units.len() as u32)
            .map(UnitId)
            .find(|&unit| self.host.waiting.count(unit) > 0)
            .and_then(|unit| {
                let planes = self.plan.geometry.planes_of(unit).iter();
                planes.copied().min_by_key(|&plane| self.ftl.frontiers.free_pages(plane))
            });
        self.full_plane(starved.unwrap_or(PlaneId(0)))
    }

    pub(super) fn full_plane(&self, plane: PlaneId) -> SimError {
        SimError::Full {
            plane,
            free_pages: self.ftl.frontiers.free_pages(plane),
            reclaimable: self.ftl.blocks.reclaimable[plane.index()],
            waiting: self.host.outstanding(),
        }
    }
}

impl Sim<Watchers> {
    /// The checker, where there is one, compares the whole drive with its own.
    pub fn audit(&self) {
        if let Some(checker) = &self.watch.checker {
            checker.audit(&self.ftl);
            checker.audit_buffer(self.host.buffered());
        }
    }

    /// The checker compares its own sums with those of the report.
    pub fn audit_counters(&self, results: &Results) {
        let Some(checker) = &self.watch.checker else { return };
        let counters = &results.counters;
        let programs = counters.array_programs + results.flushes_open;
        assert_eq!(checker.host_programs + checker.flushes, programs, "programs for the host");
        assert_eq!(checker.flushes, counters.flushed + results.flushes_open, "flushes");
        assert_eq!(checker.erases, counters.erases, "erases");
        // Copies of a collection that is still open are bound before they end.
        assert!(checker.copies >= counters.gc_moved, "copies: {}", checker.copies);
        if results.jobs_open == 0 {
            assert_eq!(checker.copies, counters.gc_moved, "copies");
        }
        assert!(checker.moved_ahead >= counters.background_moved, "pages ahead");
        if results.ahead_open == 0 {
            assert_eq!(checker.moved_ahead, counters.background_moved, "pages ahead");
        }
        if results.jobs_open + results.flushes_open == 0 {
            assert_eq!(checker.summaries, counters.overhead, "pages of summaries");
        }
        self.audit_collection_time(counters);
        let idle = [results.unit.idle, results.bus.idle];
        assert!(idle.iter().all(|share| (0.0..=1.0).contains(share)), "time: {idle:?}");
        self.audit_times(checker.busy());
    }

    /// The time of the collections that ended: a step of copies is a read and a program, however
    /// many pages it moves, and an erase frees its blocks in one erase time (paper parallel-gc,
    /// section V-D). Copies that pay for summaries take longer; where layers differ the checker
    /// calculates the time of each operation.
    fn audit_collection_time(&self, counters: &Counters) {
        let timing = &self.plan.timing;
        if timing.times_summaries_of_copies() || self.prices.asks_for_pages() {
            return;
        }
        let reads =
            if self.arbiter.is_preemptive() { counters.read_steps } else { counters.copy_steps };
        let programs = counters.copy_steps + counters.merged_programs;
        let steps_ns = reads * timing.read_ns + programs * timing.program_ns + counters.gc_extra_ns;
        // Pages that go to other units are programmed one by one, in as many units as possible.
        let sent = self.plan.gc.copy.is_global();
        let sent_ns = (counters.moved_in_jobs - counters.copy_steps) * timing.program_ns;
        let copies_ns = steps_ns + if sent { sent_ns } else { 0 };
        let expected_ns = copies_ns + counters.erase_operations * timing.erase_ns;
        let closed_ns = counters.gc_busy_ns - counters.gc_busy_open_ns;
        assert_eq!(closed_ns, expected_ns, "array time of the jobs that ended");
    }

    /// Where no operation is cut off at the end, the checker saw every ns that was accounted for.
    fn audit_times(&self, seen: Busy) {
        if (0..self.plan.geometry.units).any(|unit| !self.flash.is_free(UnitId(unit))) {
            return;
        }
        let units = Spent::sum(self.flash.spent_of_units(self.now_ns));
        let buses = Spent::sum(self.flash.spent_of_buses(self.now_ns));
        assert_eq!([units.host_ns, units.gc_ns], seen.unit_ns, "time of the units");
        assert_eq!([buses.host_ns, buses.gc_ns], seen.bus_ns, "time of the buses");
        let link_ns = self.host.link_spent_ns().unwrap_or(0);
        assert_eq!(link_ns, seen.link_ns, "time of the host's link");
        let busy_ns = self.counters.gc_busy_ns + self.counters.background_busy_ns;
        assert_eq!(busy_ns, seen.array_ns[1], "array time of collection");
    }
}

fn shares(spent: Spent, all_ns: u64) -> Shares {
    if all_ns == 0 {
        return Shares { host: 0.0, gc: 0.0, idle: 1.0 };
    }
    let share = |ns: u64| ns as f64 / all_ns as f64;
    let (host, gc) = (share(spent.host_ns), share(spent.gc_ns));
    let idle = share(all_ns - spent.total_ns());
    Shares { host, gc, idle }
}
