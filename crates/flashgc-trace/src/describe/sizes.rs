//! Sizes of requests.

use super::spread::{Spread, SpreadInfo};
use super::totals::ratio;
use crate::FOOTPRINT_PAGE_BYTES;
use crate::record::{Op, Record};
use serde::Serialize;

/// Sizes in whole sectors up to this are counted one by one.
const EXACT_MAX: usize = 2048;
const SECTOR_BYTES: u64 = 512;
/// The largest number of frequent sizes that are listed.
const COMMON_MAX: usize = 16;

/// Sizes by operation, in bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sizes {
    /// Sizes of reads.
    pub read: SizeInfo,
    /// Sizes of writes.
    pub write: SizeInfo,
}

/// Sizes of one kind of requests, in bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeInfo {
    /// Their distribution.
    #[serde(flatten)]
    pub spread: SpreadInfo,
    /// The most frequent sizes of whole sectors up to 1 MiB, with their share of the requests.
    pub common: Vec<(u64, f64)>,
    /// Share of the requests that begin and end at multiples of 4 KiB.
    pub aligned_share: Option<f64>,
}

/// Sizes of one kind, while a trace is read.
#[derive(Clone)]
struct OfOne {
    spread: Spread,
    exact: Vec<u64>,
    aligned: u64,
}

impl OfOne {
    fn new() -> Self {
        OfOne { spread: Spread::default(), exact: vec![0; EXACT_MAX + 1], aligned: 0 }
    }

    #[inline]
    fn add(&mut self, record: &Record) {
        let size = record.size_bytes;
        self.spread.add(size);
        let sectors = size / SECTOR_BYTES;
        if size.is_multiple_of(SECTOR_BYTES) && sectors <= EXACT_MAX as u64 {
            self.exact[sectors as usize] += 1;
        }
        let parts = (record.offset_bytes | size) % FOOTPRINT_PAGE_BYTES;
        self.aligned += u64::from(parts == 0);
    }

    fn info(&self) -> SizeInfo {
        let count = self.spread.count();
        let sizes = self.exact.iter().enumerate().filter(|&(_, &count)| count > 0);
        let mut common: Vec<(u64, u64)> =
            sizes.map(|(sectors, &count)| (sectors as u64 * SECTOR_BYTES, count)).collect();
        common.sort_by_key(|&(size, count)| (std::cmp::Reverse(count), size));
        common.truncate(COMMON_MAX);
        let share = |(size, part): (u64, u64)| (size, part as f64 / count as f64);
        SizeInfo {
            spread: self.spread.info(),
            common: common.into_iter().map(share).collect(),
            aligned_share: ratio(self.aligned, count),
        }
    }
}

/// Sizes of reads and writes.
pub(super) struct AllSizes {
    read: OfOne,
    write: OfOne,
}

impl AllSizes {
    pub(super) fn new() -> Self {
        AllSizes { read: OfOne::new(), write: OfOne::new() }
    }

    #[inline]
    pub(super) fn add(&mut self, record: &Record) {
        match record.op {
            Op::Read => self.read.add(record),
            Op::Write => self.write.add(record),
            Op::Trim | Op::Other => {}
        }
    }

    pub(super) fn info(&self) -> Sizes {
        Sizes { read: self.read.info(), write: self.write.info() }
    }
}
