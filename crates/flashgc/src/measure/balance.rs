//! The data for the balance of a run, recorded during the run, and the end of a run that continues
//! until steady state.

use super::Seen;
use crate::gc::counted;
use crate::gc::used_space::SpaceOf;
use crate::ids::PlaneId;
use crate::plan::{Arrivals, Until};
use crate::stats::steady::{Balance, Before, Evidence, Losses, Verdict, judge, rounded};
use crate::stats::tail::Tail;
use crate::stats::{Counters, Latency};
use serde::Serialize;

/// The percentile whose interval is calculated, in parts of 10,000.
const TAIL_PER_MYRIAD: u64 = 9_990;
/// The confidence of intervals where none is requested.
const CONFIDENCE: f64 = 0.95;
/// A run is checked again when it is longer by this part.
const LOOK_AGAIN: u64 = 4;
/// Number of successive checks that must find steady state: one positive check may be chance.
const LOOKS: u32 = 2;

/// Facts about a run that a session knows before the run begins.
#[derive(Clone, Debug, Default)]
pub struct Circumstances {
    /// Write amplification of the quarters of the overwriting, where it was done by the same scheme
    /// with the same workload; else none.
    pub quarters_before: Vec<f64>,
    /// Pages programmed in that overwriting.
    pub programmed_before: u64,
    /// Parts of the workload that differ.
    pub phases: u64,
    /// Whether a longer run is possible.
    pub can_go_on: bool,
    /// Whether the run ends as soon as it has reached steady state.
    pub until: Option<Until>,
}

/// How a run ended that continues until steady state.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct UntilEnd {
    /// Whether it had reached steady state; else the bound ended it.
    pub reached: bool,
    /// Confidence of the intervals.
    pub confidence: f64,
    /// The share that was requested.
    pub within: f64,
    /// The interval of p99.9 over all requests, in ns.
    pub p99_9_interval_ns: Option<[u64; 2]>,
}

/// The state of a run that its balance needs.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    circumstances: Circumstances,
    tail: Option<Box<Tail>>,
    next_look_pages: u64,
    looks: u32,
    reached: bool,
}

impl Watched {
    /// A run that is judged by these facts.
    pub fn new(circumstances: Circumstances) -> Self {
        let tail = circumstances.until.map(|_| Box::default());
        Watched { circumstances, tail, ..Watched::default() }
    }

    /// A request is done.
    #[inline(always)]
    pub(super) fn served(&mut self, latency_ns: u64) {
        if let Some(tail) = &mut self.tail {
            tail.record(latency_ns);
        }
    }

    /// A batch of pages written is over. Returns whether the balance of the run is to be checked.
    pub fn batch_ended(&mut self, written: u64, merges: bool) -> bool {
        let Some(tail) = &mut self.tail else { return false };
        tail.end_batch(merges);
        let is_due = written >= self.next_look_pages;
        if is_due {
            self.next_look_pages = written + written / LOOK_AGAIN;
        }
        is_due
    }

    /// The run was checked. Returns whether it ends, since enough checks in a row found it in
    /// steady state.
    pub fn was_checked(&mut self, is_steady: bool) -> bool {
        self.looks = if is_steady { self.looks + 1 } else { 0 };
        self.reached = self.looks >= LOOKS;
        self.reached
    }
}

impl Seen<'_> {
    /// Whether the run has reached steady state by now, and its tail is known as well as was
    /// requested.
    pub fn is_in_balance(&self) -> bool {
        self.balance(self.counters).verdict == Verdict::Yes && self.tail_is_known()
    }

    fn tail_interval(&self) -> Option<[u64; 2]> {
        let watched = &self.measure.balance;
        let (tail, until) = watched.tail.as_ref().zip(watched.circumstances.until)?;
        tail.interval(&self.all_latencies(), TAIL_PER_MYRIAD, until.confidence)
    }

    fn all_latencies(&self) -> Latency {
        let mut all = self.measure.read.clone();
        all.add(&self.measure.write);
        all
    }

    fn tail_is_known(&self) -> bool {
        let until = self.measure.balance.circumstances.until;
        let within = until.map_or(0.0, |until| until.within);
        let middle = self.all_latencies().percentile(TAIL_PER_MYRIAD) as f64;
        self.tail_interval().is_some_and(|[low, high]| (high - low) as f64 / 2.0 <= within * middle)
    }

    /// How a run ended that continues until steady state.
    pub(super) fn until_end(&self) -> Option<UntilEnd> {
        let watched = &self.measure.balance;
        let Until { confidence, within, .. } = watched.circumstances.until?;
        let p99_9_interval_ns = self.tail_interval();
        Some(UntilEnd { reached: watched.reached, confidence, within, p99_9_interval_ns })
    }

    /// Whether the run up to now is in steady state.
    pub(super) fn balance(&self, counters: &Counters) -> Balance {
        let known = &self.measure.balance.circumstances;
        judge(&Evidence {
            batches: &self.measure.batches,
            written_pages: counters.array_programs,
            // Pre-migrated pages took space that the erase of their block frees.
            reclaimed_pages: counters.reclaimed_pages.saturating_sub(counters.background_moved),
            moved_pages: counters.gc_moved + counters.background_moved,
            free_pages: [self.measure.free_pages_begin, self.store.ftl.frontiers.free_total()],
            physical_pages: u64::from(self.plan.geometry.pages),
            collections: counters.jobs + self.jobs_open(),
            before: Before {
                quarters: &known.quarters_before,
                programmed_pages: known.programmed_before,
            },
            requests: counters.requests.iter().sum(),
            requests_to_first: self.requests_to_first(counters),
            saturated: self.is_saturated(),
            phases: known.phases,
            can_go_on: known.can_go_on,
            losses: self.losses(counters),
            confidence: known.until.map_or(CONFIDENCE, |until| until.confidence),
        })
    }

    fn losses(&self, counters: &Counters) -> Option<Losses> {
        let bad = self.store.ftl.bad_blocks()?;
        Some(Losses {
            lost: counters.program_failures + counters.erase_failures,
            left: u64::from(bad.spare) * self.plan.pools.count() as u64,
            is_read_only: bad.is_read_only,
        })
    }

    /// Collections that are open.
    pub(super) fn jobs_open(&self) -> u64 {
        self.jobs.iter().filter(|job| job.is_its_own()).count() as u64
    }

    /// Whether arrivals outran service in an open loop.
    pub(super) fn is_saturated(&self) -> bool {
        let units = u64::from(self.plan.geometry.units);
        self.plan.arrivals == Arrivals::Open && self.measure.load.is_saturated(units)
    }

    /// Erased pages that the host can fill before collection begins, about.
    pub(super) fn pages_to_first(&self) -> u64 {
        let gc = &self.plan.gc;
        let planes = u64::from(self.plan.geometry.planes);
        let kept = planes * gc.trigger.soft.pages(&self.plan.geometry.shape);
        let ftl = &self.store.ftl;
        let left = ftl.frontiers.free_total().saturating_sub(kept);
        gc.used_space.map_or(left, |rules| {
            let of = |plane| rules.measure.pages_left(counted(&rules, PlaneId(plane), ftl));
            let counted_apart =
                if rules.of == SpaceOf::Device { 1 } else { self.plan.geometry.planes };
            left.min((0..counted_apart).map(of).fold(0, u64::saturating_add))
        })
    }

    /// Requests until the first collection, about. `None` where there would be none: nothing is
    /// written, or the write buffer takes every page of the drive and none goes to flash.
    fn requests_to_first(&self, counters: &Counters) -> Option<u64> {
        let requests: u64 = counters.requests.iter().sum();
        let (mut pages, mut of) = (self.pages_to_first().max(1), counters.array_programs);
        if of == 0 {
            let buffer = self.plan.write_buffer?;
            let fits = buffer.pages >= self.plan.geometry.exported_pages;
            of = self.host.dirty_pages().filter(|_| !fits)?;
            pages += u64::from(buffer.pages).saturating_sub(of);
        }
        let per_page = requests as f64 / of as f64;
        (of > 0).then(|| rounded((pages as f64 * per_page) as u64))
    }
}
