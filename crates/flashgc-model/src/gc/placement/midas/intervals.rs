//! The distribution of update intervals, from a sample of the pages.
//!
//! Time is pages that the host has written, in units of a quarter of a block in each plane. An
//! epoch is as many units as four drives of pages. Intervals of at least a unit are counted for one
//! page in 100; shorter ones, of which the sample sees too few, for all pages within ten units.

use super::super::saved::{keep_whole, take_whole};
use crate::device::Geometry;
use crate::ids::Lpn;
use std::slice::Iter;

/// Units of an epoch in which all pages are followed.
const WATCHED: u64 = 10;
/// Pages that are followed at least, before it is one in 100.
const LEAST_FOLLOWED: u32 = 1 << 14;
/// Units in a block.
pub const UNITS: u32 = 4;
/// The mark of the first write in an epoch.
const FIRST: u64 = 1;

/// The intervals of an epoch.
#[derive(Clone)]
pub struct Intervals {
    /// One page in this many is followed.
    sample: u32,
    /// Pages of a unit.
    unit: u64,
    /// Units of the first epoch.
    first_units: usize,
    /// Counts by length in units.
    counts: Vec<u64>,
    /// For each page that is followed: 0, or twice the time of its last write in the epoch plus 2,
    /// plus 1 for the first.
    last: Vec<u64>,
    /// Overwrites until the first epoch begins.
    wait: u64,
    /// Pages written in the epoch.
    now: u64,
    /// Pages among them since the start of the last unit in which all pages are followed.
    at: u64,
    /// The pages that were written in a unit in which all are followed.
    watched: Vec<u32>,
    /// Pages of such units that had been written before in theirs.
    repeats: u64,
}

impl Intervals {
    /// The first epoch begins when the drive has been overwritten once.
    pub fn new(geometry: &Geometry) -> Self {
        let block = u64::from(geometry.shape.data_pages()) * u64::from(geometry.planes);
        Intervals::of(geometry.exported_pages, block, geometry.shape.blocks_per_plane)
    }

    /// Intervals of a drive with this number of user pages, of pages of a block in each plane, and
    /// of blocks of a plane.
    pub(super) fn of(pages: u32, block: u64, blocks: u32) -> Self {
        let sample = (pages / LEAST_FOLLOWED).clamp(1, 100);
        let units = blocks as usize * 4 * UNITS as usize;
        Intervals {
            sample,
            unit: (block / u64::from(UNITS)).max(1),
            first_units: units,
            counts: vec![0; units],
            last: vec![0; pages.div_ceil(sample) as usize],
            wait: pages.into(),
            now: 0,
            at: 0,
            watched: Vec::new(),
            repeats: 0,
        }
    }

    /// Pages of an epoch.
    pub fn pages(&self) -> u64 {
        self.counts.len() as u64 * self.unit
    }

    /// The host writes a page. Returns whether the epoch ends with it.
    #[inline]
    pub fn write(&mut self, lpn: Lpn, is_update: bool) -> bool {
        if self.wait > 0 {
            self.wait -= u64::from(is_update);
            return false;
        }
        if lpn.0.is_multiple_of(self.sample) {
            self.count(lpn, true);
        }
        self.now += 1;
        self.watch(lpn)
    }

    /// The host trims a page.
    pub fn trim(&mut self, lpn: Lpn) {
        if self.wait == 0 && lpn.0.is_multiple_of(self.sample) {
            self.count(lpn, false);
        }
    }

    fn count(&mut self, lpn: Lpn, is_write: bool) {
        let last = &mut self.last[(lpn.0 / self.sample) as usize];
        if *last != 0 {
            let units = (self.now + 1).saturating_sub(*last / 2) / self.unit;
            let bin = (units as usize).min(self.counts.len() - 1);
            self.counts[bin] += 1;
        }
        let is_first = is_write && *last == 0;
        *last = if is_write { (self.now + 1) * 2 + u64::from(is_first) } else { 0 };
    }

    /// The page is the `now`-th of the epoch. Ten units that lie at equal distances are watched.
    #[inline]
    fn watch(&mut self, lpn: Lpn) -> bool {
        let end = self.pages();
        if self.sample == 1 {
            return self.now == end;
        }
        self.at += 1;
        if self.at <= self.unit {
            self.watched.push(lpn.0);
            if self.at == self.unit {
                self.end_watch();
            }
        }
        if self.at >= end / WATCHED {
            self.at = 0;
        }
        self.now == end
    }

    #[cold]
    fn end_watch(&mut self) {
        let written = self.watched.len();
        self.watched.sort_unstable();
        self.watched.dedup();
        self.repeats += (written - self.watched.len()) as u64;
        self.watched.clear();
    }

    /// The counts of the epoch: pages that were written once are in the last bin, counts of the
    /// first bin come from all pages, and others are raised for the intervals that the epoch cut.
    pub fn counted(&self) -> Vec<u64> {
        let (mut counts, units) = (self.counts.clone(), self.counts.len() as u64);
        let once = self.last.iter().filter(|&&last| last % 2 == FIRST).count() as u64;
        counts[units as usize - 1] += once;
        if self.sample > 1 {
            counts[0] = self.repeats * units / (WATCHED * u64::from(self.sample));
        }
        for (length, count) in (1..).zip(&mut counts[1..]) {
            let left = 2 * (units % length) + length;
            *count += left * *count / (2 * units);
        }
        counts
    }

    /// A new epoch begins, with this multiple of the first one's length.
    pub fn begin(&mut self, times: usize) {
        self.counts.clear();
        self.counts.resize(self.first_units * times, 0);
        self.last.fill(0);
        self.watched.clear();
        (self.now, self.at, self.repeats) = (0, 0, 0);
    }

    /// Appends the state to save with the drive.
    pub fn keep(&self, numbers: &mut Vec<u32>) {
        for number in [self.wait, self.now, self.at, self.repeats] {
            keep_whole(number, numbers);
        }
        numbers.extend([self.counts.len(), self.watched.len()].map(|length| length as u32));
        numbers.extend(&self.watched);
        self.counts.iter().chain(&self.last).for_each(|&number| keep_whole(number, numbers));
    }

    /// Takes it from the front of these numbers. Returns how many times as long the epoch is as the
    /// first one, `most` times at most.
    pub fn take_kept(&mut self, numbers: &mut Iter<'_, u32>, most: usize) -> Option<usize> {
        let mut times = [0; 4];
        for time in &mut times {
            *time = take_whole(numbers).filter(|&number| number < 1 << 48)?;
        }
        let (units, watched) = (*numbers.next()? as usize, *numbers.next()? as usize);
        let epochs = units / self.first_units;
        let is_fit = (1..=most).contains(&epochs) && units.is_multiple_of(self.first_units);
        if !is_fit || watched as u64 > self.unit {
            return None;
        }
        self.begin(epochs);
        [self.wait, self.now, self.at, self.repeats] = times;
        self.watched.extend(numbers.by_ref().take(watched));
        for number in self.counts.iter_mut().chain(&mut self.last) {
            *number = take_whole(numbers).filter(|&number| number < 1 << 48)?;
        }
        (self.now < self.pages()).then_some(epochs)
    }

    /// Bytes of its tables.
    pub fn bytes(&self) -> u64 {
        ((self.counts.len() + self.last.len()) * size_of::<u64>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Random;

    /// Two pages in turn, and one that is written once, on a drive of 16 pages whose pages are all
    /// followed. A unit has 2 pages and an epoch 16 units.
    #[test]
    fn intervals_by_hand() {
        let mut intervals = Intervals::of(16, 8, 1);
        (0..16).for_each(|page| assert!(!intervals.write(Lpn(page), true)));
        intervals.write(Lpn(9), false);
        for at in 1..31 {
            assert!(!intervals.write(Lpn(at % 2), true));
        }
        // The epoch has 32 pages; the last of them ends it.
        assert!(intervals.write(Lpn(1), true));
        let counts = intervals.counted();
        // 28 intervals of 2 pages, a unit; and one from 29 to 31. Page 9 was written once.
        let mut expected = vec![0; 16];
        expected[1] = 29;
        // 29 intervals of a unit are cut at the end of 16: 29 x 1 / 32 is less than one.
        expected[15] = 1;
        assert_eq!(counts, expected);
        intervals.begin(2);
        assert_eq!((intervals.pages(), intervals.counted()), (64, vec![0; 32]));
    }

    #[test]
    fn a_trim_ends_an_interval() {
        let mut intervals = Intervals { wait: 0, ..Intervals::of(16, 8, 1) };
        intervals.write(Lpn(3), true);
        for _ in 0..5 {
            intervals.write(Lpn(4), true);
        }
        intervals.trim(Lpn(3));
        intervals.trim(Lpn(3));
        assert_eq!(intervals.counts[2..4], [0, 1]);
    }

    /// The interval of independent writes with shares p is longer than x with the probability sum p
    /// exp(-p x). On the larger drive one page in 16 is followed.
    #[test]
    fn counted_intervals_are_those_of_independent_writes() {
        for (bits, block, sample, off) in [(14, 64, 1, 0.02), (18, 256, 16, 0.08)] {
            let pages: u32 = 1 << bits;
            let sum: f64 = (1..=pages).map(|rank| 1.0 / f64::from(rank)).sum();
            let shares: Vec<f64> = (1..=pages).map(|rank| 1.0 / f64::from(rank) / sum).collect();
            let mut below = 0.0;
            let ends = shares.iter().map(|share| {
                below += share;
                below
            });
            let ends: Vec<f64> = ends.collect();
            let blocks = pages / block + pages / block / 8;
            let mut intervals = Intervals { wait: 0, ..Intervals::of(pages, block.into(), blocks) };
            assert_eq!(intervals.sample, sample);
            let mut random = Random::named(3, "intervals");
            loop {
                let at = random.unit();
                let rank = (ends.partition_point(|&end| end < at) as u32).min(pages - 1);
                // Scattered, so that the sample has popular pages as well as others.
                let page = (rank.wrapping_mul(0x9e37_79b1) << (32 - bits)).reverse_bits();
                if intervals.write(Lpn(page), true) {
                    break;
                }
            }
            let counts = intervals.counted();
            let all = counts.iter().sum::<u64>() as f64;
            for units in [1, 10, 100, counts.len() / 8] {
                let x = (units as u64 * intervals.unit) as f64;
                let longer: f64 = shares.iter().map(|p| p * libm::exp(-p * x)).sum();
                let found = counts[units..].iter().sum::<u64>() as f64 / all;
                assert!((found - longer).abs() < off, "{pages} {units}: {found}, {longer}");
            }
        }
    }
}
