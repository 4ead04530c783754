//! Times between arrivals, and requests that arrive together.

use super::spread::{Spread, SpreadInfo};
use super::totals::ratio;
use crate::record::{Op, Record};
use serde::Serialize;

/// Gaps below this are short: the bound of the tables in Lee et al., preemptible GC.
const SHORT_NS: u64 = 1_500_000;

/// Times between rows, in ns. A row that is earlier than one before it in the file counts as
/// arriving with that one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interarrival {
    /// From row to row, whatever they do.
    pub all: GapInfo,
    /// From read to read.
    pub read: GapInfo,
    /// From write to write.
    pub write: GapInfo,
}

/// The gaps between rows of one kind, in ns.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GapInfo {
    /// Their distribution.
    #[serde(flatten)]
    pub spread: SpreadInfo,
    /// Share of gaps below 1.5 ms.
    pub below_1_5_ms_share: Option<f64>,
    /// Share of gaps of 0: both rows bear one time.
    pub equal_share: Option<f64>,
}

/// Neighbouring rows of one time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Batches {
    /// Groups of two rows and more.
    pub count: u64,
    /// Rows of such a group, on average.
    pub mean_rows: Option<f64>,
    /// Rows of the largest group.
    pub max_rows: u64,
    /// Share of all rows that belong to one.
    pub rows_share: Option<f64>,
}

/// Gaps of one kind, while a trace is read.
#[derive(Default)]
struct Gaps {
    last_ns: Option<u64>,
    spread: Spread,
    short: u64,
    equal: u64,
}

impl Gaps {
    #[inline]
    fn add(&mut self, at_ns: u64) {
        if let Some(last_ns) = self.last_ns {
            let gap_ns = at_ns.saturating_sub(last_ns);
            self.spread.add(gap_ns);
            self.short += u64::from(gap_ns < SHORT_NS);
            self.equal += u64::from(gap_ns == 0);
        }
        self.last_ns = Some(at_ns);
    }

    fn info(&self) -> GapInfo {
        let count = self.spread.count();
        GapInfo {
            spread: self.spread.info(),
            below_1_5_ms_share: ratio(self.short, count),
            equal_share: ratio(self.equal, count),
        }
    }
}

/// All gaps of a trace.
#[derive(Default)]
pub(super) struct Arrivals {
    all: Gaps,
    read: Gaps,
    write: Gaps,
    rows: u64,
    batch: u64,
    batches: u64,
    batched: u64,
    batch_max: u64,
}

impl Arrivals {
    /// Takes a row, and returns the latest time so far.
    #[inline]
    pub(super) fn add(&mut self, record: &Record) -> u64 {
        let at_ns = self.all.last_ns.map_or(record.at_ns, |last| last.max(record.at_ns));
        if self.all.last_ns != Some(at_ns) {
            self.end_batch();
        }
        self.rows += 1;
        self.batch += 1;
        self.all.add(at_ns);
        match record.op {
            Op::Read => self.read.add(at_ns),
            Op::Write => self.write.add(at_ns),
            Op::Trim | Op::Other => {}
        }
        at_ns
    }

    fn end_batch(&mut self) {
        if self.batch > 1 {
            self.batches += 1;
            self.batched += self.batch;
            self.batch_max = self.batch_max.max(self.batch);
        }
        self.batch = 0;
    }

    pub(super) fn info(mut self) -> (Interarrival, Batches) {
        self.end_batch();
        let gaps =
            Interarrival { all: self.all.info(), read: self.read.info(), write: self.write.info() };
        let batches = Batches {
            count: self.batches,
            mean_rows: ratio(self.batched, self.batches),
            max_rows: self.batch_max,
            rows_share: ratio(self.batched, self.rows),
        };
        (gaps, batches)
    }
}
