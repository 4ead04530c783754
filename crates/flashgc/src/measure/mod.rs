//! The record of a run, and its results.
//!
//! The simulation records latencies and batches here. [`Seen`] is a read-only view of all rooms,
//! from which samples, the verdict on the run and the results are made; asking changes nothing.

mod audit;
mod balance;
mod before;
mod digest;
mod load;
mod results;
mod sample;

pub use balance::{Circumstances, UntilEnd, Watched};
pub use before::Before;
pub use load::Load;
pub use results::{HostShares, JobResults, Results, Shares};

use crate::background::Undone;
use crate::collect::{At, Jobs};
use crate::flash::{Flash, Prices};
use crate::host::{Host, Served};
use crate::owner::Owner;
use crate::plan::Plan;
use crate::stats::{Batches, Counters, Latency, Sums};
use crate::store::{Overwritten, Store};
use crate::workload::HostOp;

/// Parts of the overwriting whose write amplification is kept.
const PARTS_OF_OVERWRITING: u64 = 4;

/// The records of a run.
#[derive(Clone, Default)]
pub struct Measure {
    /// Latencies of reads.
    pub read: Latency,
    /// Latencies of writes.
    pub write: Latency,
    /// Latencies of flushes.
    pub flush: Latency,
    /// Write amplification over the course of overwriting, then of the measured part.
    pub batches: Batches,
    /// Pages overwritten before the measured part.
    pub overwritten: Overwritten,
    /// The data for the balance of the run.
    pub balance: Watched,
    /// How the load developed.
    pub load: Load,
    /// Erased pages at the start of the measured part.
    pub free_pages_begin: u64,
    /// The counts at the end of the latest ramp of a job; `read`, `write` and `flush` are those
    /// since then.
    pub before: Option<Box<Before>>,
}

impl Measure {
    /// The measured part begins.
    pub fn start(&mut self, free_pages: u64) {
        self.batches = Batches::default();
        self.free_pages_begin = free_pages;
    }

    /// A ramp has ended.
    pub fn ramp_ended(&mut self, mut before: Before) {
        before.latencies = [&mut self.read, &mut self.write, &mut self.flush].map(std::mem::take);
        if let Some(earlier) = self.before.take() {
            for (all, part) in before.latencies.iter_mut().zip(&earlier.latencies) {
                all.add(part);
            }
        }
        self.before = Some(Box::new(before));
    }

    /// A request is done. Returns whether a batch of pages written is over.
    #[inline(always)]
    pub fn served(&mut self, served: &Served, counters: &mut Counters) -> bool {
        let &Served { op, bytes, latency_ns } = served;
        match op {
            HostOp::Read => self.read.record(latency_ns),
            HostOp::Write => self.write.record(latency_ns),
            HostOp::Trim => {}
            HostOp::Flush => {
                self.flush.record(latency_ns);
                return false;
            }
        }
        counters.requests[op as usize] += 1;
        if op != HostOp::Trim {
            self.balance.served(latency_ns);
            counters.bytes[op as usize] += bytes;
        }
        counters.host_written >= self.batches.next_at()
    }

    /// A batch of pages written is over. Copies count when their collection has ended, so that it
    /// makes no difference whether a collection ran as one event. Returns whether the balance of
    /// the run is to be checked.
    #[cold]
    pub fn batch_ended(&mut self, counters: &Counters) -> bool {
        let copies = counters.moved_in_jobs + counters.background_moved;
        let written = counters.host_written;
        let programmed = counters.array_programs + copies;
        let merges = self.batches.end(Sums { written, programmed });
        self.balance.batch_ended(written, merges)
    }

    /// Write amplification of the quarters of the overwriting.
    pub fn quarters_overwritten(&self) -> Vec<f64> {
        self.batches.parts(PARTS_OF_OVERWRITING)
    }
}

/// All rooms, read-only.
pub struct Seen<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The present, in ns.
    pub now_ns: u64,
    /// The pages.
    pub store: &'a Store,
    /// The flash.
    pub flash: &'a Flash<Owner>,
    /// What operations cost.
    pub prices: &'a Prices,
    /// The collections.
    pub jobs: &'a Jobs,
    /// The background work under way.
    pub undone: Undone,
    /// The host.
    pub host: &'a Host,
    /// The counters of the run.
    pub counters: &'a Counters,
    /// The records of the run.
    pub measure: &'a Measure,
}

impl Seen<'_> {
    fn at(&self) -> At<'_> {
        At { plan: self.plan, now_ns: self.now_ns, flash: self.flash, prices: self.prices }
    }
}
