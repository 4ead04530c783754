//! Requests that begin where the one before ended.

use super::spread::{Spread, SpreadInfo};
use super::totals::ratio;
use crate::record::{Op, Record};
use serde::Serialize;

/// Sequential requests: they begin where the read or write before on their device ended,
/// whichever of the two it was.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sequential {
    /// Share of the reads that are.
    pub read_share: Option<f64>,
    /// Share of the writes that are.
    pub write_share: Option<f64>,
    /// Requests of a run: one that is not sequential, and those that continue it.
    pub run_requests: SpreadInfo,
    /// Bytes of a run.
    pub run_bytes: SpreadInfo,
}

/// The current run of one device.
#[derive(Default)]
pub(super) struct Position {
    next_bytes: Option<u64>,
    run_requests: u64,
    run_bytes: u64,
}

/// Runs of all devices.
#[derive(Default)]
pub(super) struct Runs {
    read: u64,
    write: u64,
    requests: Spread,
    bytes: Spread,
}

impl Runs {
    #[inline]
    pub(super) fn add(&mut self, position: &mut Position, record: &Record) {
        let sequential = position.next_bytes == Some(record.offset_bytes);
        match record.op {
            Op::Read => self.read += u64::from(sequential),
            Op::Write => self.write += u64::from(sequential),
            Op::Trim | Op::Other => return,
        }
        if !sequential {
            self.end(position);
        }
        position.next_bytes = Some(record.end_bytes());
        position.run_requests += 1;
        position.run_bytes = position.run_bytes.saturating_add(record.size_bytes);
    }

    /// The run of a device ends.
    pub(super) fn end(&mut self, position: &mut Position) {
        if position.run_requests > 0 {
            self.requests.add(position.run_requests);
            self.bytes.add(position.run_bytes);
        }
        (position.run_requests, position.run_bytes) = (0, 0);
    }

    /// The share of sequential requests among all reads and writes.
    pub(super) fn share(&self, requests: u64) -> Option<f64> {
        ratio(self.read + self.write, requests)
    }

    pub(super) fn info(&self, reads: u64, writes: u64) -> Sequential {
        Sequential {
            read_share: ratio(self.read, reads),
            write_share: ratio(self.write, writes),
            run_requests: self.requests.info(),
            run_bytes: self.bytes.info(),
        }
    }
}
