//! The data for the balance of a run, recorded during the run, and the end of a run that continues
//! until it is in balance.

use super::Sim;
use crate::plan::Arrivals;
use crate::stats::steady::{Balance, Before, Evidence, Verdict, judge, rounded};
use crate::stats::tail::Tail;
use crate::stats::{Latency, Sums};
use crate::verify::Watch;
use serde::Serialize;

/// Parts of the overwriting whose write amplification is kept.
const PARTS_OF_OVERWRITING: u64 = 4;
/// The percentile whose interval is calculated, in parts of 10,000.
const TAIL_PER_MYRIAD: u64 = 9_990;
/// The confidence of intervals where none is requested.
const CONFIDENCE: f64 = 0.95;
/// A run is checked again when it is longer by this part.
const LOOK_AGAIN: u64 = 4;
/// Number of successive checks that must find it in balance: one positive check may be chance.
const LOOKS: u32 = 2;

/// Pages overwritten before the measured part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Overwritten {
    pages: u64,
    /// Copies made until it began.
    moved_before: u64,
}

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
    /// Whether the run ends as soon as it is in balance.
    pub until: Option<Until>,
}

/// The conditions under which a run ends by itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Until {
    /// The confidence of all intervals.
    pub confidence: f64,
    /// Half the interval of the percentile p99.9 is at most this share of it.
    pub within: f64,
    /// The most drive writes that are tried.
    pub at_most: f64,
}

/// How a run ended that continues until it is in balance.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct UntilEnd {
    /// Whether it was in balance; else the bound ended it.
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
pub(super) struct Watched {
    circumstances: Circumstances,
    tail: Option<Box<Tail>>,
    next_look_pages: u64,
    looks: u32,
    reached: bool,
}

impl Watched {
    /// A request is done.
    #[inline(always)]
    pub(super) fn served(&mut self, latency_ns: u64) {
        if let Some(tail) = &mut self.tail {
            tail.record(latency_ns);
        }
    }
}

impl<W: Watch> Sim<W> {
    /// The facts that decide the verdict on this run; set before it starts.
    pub fn judge_by(&mut self, circumstances: Circumstances) {
        let tail = circumstances.until.map(|_| Box::default());
        self.balance = Watched { circumstances, tail, ..Watched::default() };
    }

    /// A batch of pages written is over. Copies count when their collection has ended, so that it
    /// makes no difference whether a collection ran as one event.
    #[cold]
    pub(super) fn batch_ended(&mut self) {
        let counters = &self.counters;
        let copies = counters.moved_in_jobs + counters.background_moved;
        let written = counters.host_written;
        let programmed = counters.array_programs + copies;
        let merges = self.batches.end(Sums { written, programmed });
        let Some(tail) = &mut self.balance.tail else { return };
        tail.end_batch(merges);
        if written >= self.balance.next_look_pages && !self.host.source_ended() {
            self.balance.next_look_pages = written + written / LOOK_AGAIN;
            self.look_at_balance();
        }
    }

    /// Ends the run where it is in balance.
    fn look_at_balance(&mut self) {
        if self.plan.arrivals == Arrivals::Open {
            self.note_end_of_arrivals();
        }
        let is_steady = self.balance().verdict == Verdict::Yes && self.tail_is_known();
        self.balance.looks = if is_steady { self.balance.looks + 1 } else { 0 };
        if self.balance.looks < LOOKS {
            return;
        }
        self.balance.reached = true;
        self.host.end_source(&mut context!(self));
    }

    fn tail_interval(&self) -> Option<[u64; 2]> {
        let (tail, until) = self.balance.tail.as_ref().zip(self.balance.circumstances.until)?;
        tail.interval(&self.all_latencies(), TAIL_PER_MYRIAD, until.confidence)
    }

    fn all_latencies(&self) -> Latency {
        let mut all = self.read_latency.clone();
        all.add(&self.write_latency);
        all
    }

    fn tail_is_known(&self) -> bool {
        let within = self.balance.circumstances.until.map_or(0.0, |until| until.within);
        let middle = self.all_latencies().percentile(TAIL_PER_MYRIAD) as f64;
        self.tail_interval().is_some_and(|[low, high]| (high - low) as f64 / 2.0 <= within * middle)
    }

    /// How a run ended that continues until it is in balance.
    pub(super) fn until_end(&self) -> Option<UntilEnd> {
        let Until { confidence, within, .. } = self.balance.circumstances.until?;
        let p99_9_interval_ns = self.tail_interval();
        Some(UntilEnd { reached: self.balance.reached, confidence, within, p99_9_interval_ns })
    }

    /// Whether the run up to now represents the long run.
    pub(super) fn balance(&self) -> Balance {
        let (counters, known) = (&self.counters, &self.balance.circumstances);
        let jobs_open = self.jobs.iter().filter(|job| job.is_open()).count() as u64;
        judge(&Evidence {
            batches: &self.batches,
            written_pages: counters.array_programs,
            // Pre-migrated pages took space that the erase of their block frees.
            reclaimed_pages: counters.reclaimed_pages.saturating_sub(counters.background_moved),
            moved_pages: counters.gc_moved + counters.background_moved,
            free_pages: [self.free_pages_begin, self.ftl.frontiers.free_total()],
            physical_pages: u64::from(self.plan.geometry.pages),
            collections: counters.jobs + jobs_open,
            before: Before {
                quarters: &known.quarters_before,
                programmed_pages: known.programmed_before,
            },
            requests: counters.requests.iter().sum(),
            requests_to_first: self.requests_to_first(),
            saturated: self.is_saturated(),
            phases: known.phases,
            can_go_on: known.can_go_on,
            confidence: known.until.map_or(CONFIDENCE, |until| until.confidence),
        })
    }

    /// Erased pages that the host can fill before collection begins, about.
    pub(super) fn pages_to_first(&self) -> u64 {
        let gc = &self.plan.gc;
        let planes = u64::from(self.plan.geometry.planes);
        let kept = planes * gc.trigger.soft.pages(&self.plan.geometry.shape);
        let kept = gc.used_space.map_or(kept, |used| used.free_pages.max(kept));
        self.ftl.frontiers.free_total().saturating_sub(kept)
    }

    fn requests_to_first(&self) -> Option<u64> {
        let counters = &self.counters;
        let requests: u64 = counters.requests.iter().sum();
        let pages = self.pages_to_first().max(1) as f64;
        let per_page = requests as f64 / counters.array_programs as f64;
        (counters.array_programs > 0).then(|| rounded((pages * per_page) as u64))
    }

    /// Pages were overwritten before the measured part.
    #[inline(always)]
    pub(super) fn note_overwritten(&mut self, pages: u64) {
        self.overwritten.pages += pages;
        if self.overwritten.pages >= self.batches.next_at() {
            let written = self.overwritten.pages;
            let copies = self.counters.gc_moved - self.overwritten.moved_before;
            self.batches.end(Sums { written, programmed: written + copies });
        }
    }

    /// Overwriting continues, or begins.
    pub(super) fn overwriting_begins(&mut self) {
        if self.overwritten.pages == 0 {
            self.overwritten.moved_before = self.counters.gc_moved;
        }
    }

    /// Write amplification of the quarters of the overwriting.
    pub fn quarters_overwritten(&self) -> Vec<f64> {
        self.batches.parts(PARTS_OF_OVERWRITING)
    }

    /// Bytes of the writes that are done.
    pub fn written_bytes(&self) -> u64 {
        self.counters.bytes[1]
    }
}
