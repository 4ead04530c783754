//! The results of a run: raw metrics, clipped at the last completion of the host.

use super::{Before, Seen, UntilEnd};
use crate::device::Spent;
use crate::ftl::BadBlocks;
use crate::gc::placement::{HotnessCounts, Placement, PlacementCounts};
use crate::host::StageUse;
use crate::ids::PlaneId;
use crate::plan::Stage;
use crate::stats::steady::Balance;
use crate::stats::{ByKind, Counters, Latency, Spread};
use crate::workload::jobs::Tally;
use serde::Serialize;

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

/// Shares of the time of a part that collections never use.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HostShares {
    /// For the host.
    pub host: f64,
    /// It is idle.
    pub idle: f64,
}

/// The results of a job, or of a tenant.
#[derive(Clone)]
pub struct JobResults {
    /// Its counts.
    pub tally: Tally,
    /// The latencies of its requests.
    pub latencies: ByKind,
}

/// The raw results of a run.
pub struct Results {
    /// Counters of the measured part.
    pub counters: Counters,
    /// Latencies of reads.
    pub read: Latency,
    /// Latencies of writes.
    pub write: Latency,
    /// Latencies of flushes.
    pub flush: Latency,
    /// From the first arrival to the last completion, in ns.
    pub simulated_ns: u64,
    /// The part of it before the counts, in ns: up to the end of the latest ramp of a job.
    pub ramp_ns: u64,
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
    /// Use of the stages of the host that there are and that one thing has to itself.
    pub stages: Vec<(Stage, HostShares)>,
    /// Pages in the write buffer at the end, where there is one.
    pub buffer_dirty_pages: Option<u64>,
    /// Flushes of it whose program has not ended.
    pub flushes_open: u64,
    /// Pages that were being pre-migrated.
    pub ahead_open: u64,
    /// Which pages were hot, and the cost of knowing it, where pages are placed by hotness.
    pub hotness: Option<HotnessCounts>,
    /// The pages of each class, where placement sorts them.
    pub placement: Option<PlacementCounts>,
    /// Bad blocks, where operations may fail.
    pub bad_blocks: Option<BadBlocks>,
    /// Erases of the blocks in the measured part.
    pub wear: Spread,
    /// Bytes of the tables that grow with the drive.
    pub table_bytes: u64,
    /// Whether arrivals outran service.
    pub saturated: bool,
    /// Whether the run has reached steady state.
    pub balance: Balance,
    /// How a run ended that continues until steady state.
    pub until: Option<UntilEnd>,
    /// Erased pages that the host can fill before collection begins, about.
    pub pages_to_first: u64,
}

impl Seen<'_> {
    /// All counts up to now, without the latencies.
    pub fn before(&self) -> Before {
        Before {
            at_ns: self.now_ns,
            counters: self.counters_by_now(),
            units: self.flash.spent_of_units(self.now_ns).collect(),
            buses: self.flash.spent_of_buses(self.now_ns).collect(),
            stages_ns: self.stage_use().map(|(_, used)| used.map_or(0, |it| it.spent_ns)).collect(),
            erases: self.store.ftl.blocks.measured_erases().collect(),
            latencies: Default::default(),
        }
    }

    /// The results of the whole run.
    pub fn results(&self) -> Results {
        let mut results = self.results_since(&Before::default());
        if let Some(before) = &self.measure.before {
            let [read, write, flush] = &before.latencies;
            results.read.add(read);
            results.write.add(write);
            results.flush.add(flush);
        }
        results
    }

    /// The results since the end of the latest ramp, where a job has one that has ended.
    pub fn results_after_ramp(&self) -> Option<Results> {
        self.measure.before.as_deref().map(|before| self.results_since(before))
    }

    /// By number, the use of the stages of the host.
    fn stage_use(&self) -> impl Iterator<Item = (Stage, Option<StageUse>)> + '_ {
        Stage::ALL.into_iter().map(|stage| (stage, self.host.stage_use(stage, self.now_ns)))
    }

    fn stages_since(&self, before: &Before, elapsed_ns: u64) -> Vec<(Stage, HostShares)> {
        let shares = |(number, (stage, used)): (usize, (Stage, Option<StageUse>))| {
            let StageUse { spent_ns, at_once } = used?;
            let before_ns = before.stages_ns.get(number).copied().unwrap_or(0);
            let all_ns = u64::from(at_once) * elapsed_ns;
            Some((stage, for_host(spent_ns - before_ns, all_ns)))
        };
        self.stage_use().enumerate().filter_map(shares).collect()
    }

    /// The results since a time; latencies are those since the last ramp. Work still under way
    /// counts up to now.
    fn results_since(&self, before: &Before) -> Results {
        let counters = self.counters_by_now().since(&before.counters);
        let elapsed_ns = self.now_ns - before.at_ns;
        let units = Before::spent_since(&before.units, self.flash.spent_of_units(self.now_ns));
        let buses = Before::spent_since(&before.buses, self.flash.spent_of_buses(self.now_ns));
        let on_units = Spent::sum(units.iter().copied());
        let on_buses = Spent::sum(buses.iter().copied());
        Results {
            read: self.measure.read.clone(),
            write: self.measure.write.clone(),
            flush: self.measure.flush.clone(),
            simulated_ns: self.now_ns,
            ramp_ns: before.at_ns,
            jobs_open: self.jobs_open(),
            gc_transfer_ns: on_buses.gc_ns,
            unit: shares(on_units, units.len() as u64 * elapsed_ns),
            bus: shares(on_buses, buses.len() as u64 * elapsed_ns),
            units,
            buses,
            stages: self.stages_since(before, elapsed_ns),
            buffer_dirty_pages: self.host.dirty_pages(),
            flushes_open: self.host.flushes_open(),
            ahead_open: self.undone.open,
            hotness: self.store.gc.placement.as_ref().and_then(|placement| placement.counts()),
            placement: self.store.gc.placement_counts(&self.store.ftl),
            bad_blocks: self.store.ftl.bad_blocks(),
            wear: Spread::of(before.erases_since(self.store.ftl.blocks.measured_erases())),
            table_bytes: self.store.ftl.table_bytes() + self.store.gc.table_bytes(),
            saturated: self.is_saturated(),
            balance: self.balance(&counters),
            until: self.until_end(),
            pages_to_first: self.pages_to_first(),
            counters,
        }
    }

    /// The counters, with the work under way added to the work that has ended.
    fn counters_by_now(&self) -> Counters {
        let open = self.jobs.partial(&self.at());
        let mut counters = self.counters.clone();
        counters.fallbacks = self.store.gc.fallbacks;
        counters.free_pages_min = self.store.ftl.frontiers.free_total_min();
        counters.gc_moved += open.copies;
        counters.overhead += open.fills * u64::from(self.plan.geometry.shape.summary_pages);
        counters.wasted_copies += open.wasted + self.undone.wasted;
        counters.gc_busy_ns += open.array_ns;
        counters.gc_busy_open_ns += open.open_ns;
        counters.gc_blocking_ns += open.blocking_ns;
        counters.background_moved += self.undone.moved;
        counters.background_busy_ns += self.undone.array_ns;
        counters
    }

    /// Erased blocks that are not open: of the plane with the fewest, and of all planes.
    pub fn free_blocks(&self) -> (u32, u64) {
        let free = |plane| self.store.ftl.frontiers.free_blocks(PlaneId(plane));
        let planes = 0..self.plan.geometry.planes;
        (
            planes.clone().map(free).min().unwrap_or(0),
            planes.map(|plane| u64::from(free(plane))).sum(),
        )
    }

    /// The plane with the least erased space of the first unit at which a request waits.
    pub fn fullest_plane(&self) -> PlaneId {
        let waits = |&unit: &_| self.host.waiting.count(unit) > 0;
        let unit = self.at().units().find(waits);
        let planes = unit.map_or(&[][..], |unit| self.plan.geometry.planes_of(unit));
        let free = |&plane: &PlaneId| self.store.ftl.frontiers.free_pages(plane);
        planes.iter().copied().min_by_key(free).unwrap_or(PlaneId(0))
    }
}

fn for_host(host_ns: u64, all_ns: u64) -> HostShares {
    let Shares { host, idle, .. } = shares(Spent { host_ns, gc_ns: 0 }, all_ns);
    HostShares { host, idle }
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
