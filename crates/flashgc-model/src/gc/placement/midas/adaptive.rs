//! Groups that adapt: at the end of each epoch sizes are searched, and applied if they promise less
//! write amplification than there was. Groups that turn out otherwise are merged.

use super::super::saved::{keep_fraction, keep_whole, take_fraction, take_whole};
use super::super::{Copied, Write};
use super::chain::{Chain, Tally};
use super::filter::{Filter, Seen};
use super::intervals::Intervals;
use super::model::{Drive, GROUPS, Sums};
use super::sizes::{Found, Hots, search};
use super::{FIRST, HOT};
use crate::device::Geometry;
use crate::ftl::BlockFacts;
use crate::ids::Lpn;
use std::collections::VecDeque;
use std::slice::Iter;

/// Windows of the hot group over which a mean is taken.
const WINDOWS: usize = 10;
/// The largest hot group that is planned, in blocks of each plane.
const MOST_HOT: u32 = 29;
/// The longest epoch, in lengths of the first one.
const MOST_EPOCHS: usize = 16;
/// Collections in each plane without a write between them, after which groups are merged.
const MOST_IN_A_ROW: u64 = 25;
/// A valid share this far above the forecast makes a group irregular.
const IRREGULAR: f64 = 0.10;
/// The largest part of the drive that the last group keeps whatever it gains, and its most blocks.
const MARGIN: (u32, u32) = (8, 50);

/// Writes and copies while the drive is written once.
#[derive(Clone, Copy, Default)]
struct Traffic {
    writes: u64,
    copies: u64,
}

/// The forecast for the groups in use, and their measured values.
#[derive(Clone, Default)]
struct Watched {
    /// The valid shares of the groups behind the hot one; none where no sizes are applied.
    expected: Vec<f64>,
    /// By group.
    found: Vec<Tally>,
    /// Whether every group was collected, and the writes since then.
    are_all: bool,
    writes: u64,
}

/// The memory of an adaptive chain.
#[derive(Clone)]
pub struct Adaptive {
    filter: Filter,
    intervals: Intervals,
    /// The last windows of the hot group, with its blocks.
    windows: VecDeque<(Seen, u64)>,
    traffic: Traffic,
    /// The write amplification when the drive was written once last.
    measured: Option<f64>,
    watched: Watched,
    /// Whether a merge came too soon in this epoch, and epochs in a row in which one did.
    erred: bool,
    errors: u32,
    /// The length of an epoch, in lengths of the first one.
    epochs: usize,
    /// Pages with data.
    mapped: u32,
    /// The clock of the last collection, and collections since it changed.
    clock: u64,
    in_a_row: u64,
    most_groups: usize,
    pages: u64,
    planes: u64,
    exported: u32,
}

impl Adaptive {
    /// Nothing is known. There are at most this many groups, the hot one included.
    pub fn new(groups: u32, geometry: &Geometry) -> Self {
        Adaptive {
            filter: Filter::new(geometry),
            intervals: Intervals::new(geometry),
            windows: VecDeque::new(),
            traffic: Traffic::default(),
            measured: None,
            watched: Watched::default(),
            erred: false,
            errors: 0,
            epochs: 1,
            mapped: 0,
            clock: 0,
            in_a_row: 0,
            most_groups: (groups as usize - 1).min(GROUPS),
            pages: u64::from(geometry.shape.data_pages()) * u64::from(geometry.blocks),
            planes: geometry.planes.into(),
            exported: geometry.exported_pages,
        }
    }

    /// The class of a write by the host.
    #[inline]
    pub fn class_of_write(&mut self, write: Write, chain: &mut Chain) -> u8 {
        let Write { lpn, is_update, clock, old, .. } = write;
        if is_update {
            let group = old.and_then(|old| chain.group(old.block));
            let age = old.and_then(|old| old.sealed).map_or(0, |sealed| clock - sealed);
            if let Some(seen) = self.filter.overwritten(lpn, group, age) {
                self.note_window(seen, chain);
            }
            // Another scheme has filled the drive: all of it, as far as is known.
            self.mapped = if self.mapped == 0 { self.exported } else { self.mapped };
        } else {
            self.mapped = (self.mapped + 1).min(self.exported);
        }
        self.traffic.writes += 1;
        if self.traffic.writes == self.pages {
            self.measure();
        }
        if self.intervals.write(lpn, is_update) {
            self.end_epoch(chain);
        }
        if self.watched.are_all {
            self.watch(chain);
        }
        if self.filter.is_hot(lpn) { HOT } else { FIRST }
    }

    /// A page is copied.
    #[inline]
    pub fn copied(&mut self, copy: &Copied, chain: &Chain) {
        self.traffic.copies += 1;
        let group = copy.from.and_then(|from| chain.group(from.block));
        if copy.is_current {
            self.filter.copied(copy.lpn, group);
        }
    }

    /// The host trims a page.
    pub fn trimmed(&mut self, lpn: Lpn) {
        self.mapped = self.mapped.saturating_sub(1);
        self.filter.trimmed(lpn);
        self.intervals.trim(lpn);
    }

    /// A block of a group is collected.
    pub fn collected(&mut self, group: u8, facts: BlockFacts, clock: u64, chain: &mut Chain) {
        if group == HOT {
            self.filter.collected(clock - facts.sealed.unwrap_or(clock), facts.valid);
        }
        let watched = &mut self.watched;
        if let Some(tally) = watched.found.get_mut(usize::from(group)) {
            tally.add(facts.valid);
            watched.are_all |= watched.found.iter().all(|tally| tally.collections > 0);
        }
        self.in_a_row = if clock == self.clock { self.in_a_row + 1 } else { 0 };
        self.clock = clock;
        if self.in_a_row == MOST_IN_A_ROW * self.planes {
            self.in_a_row = 0;
            self.merge(group.min(chain.last).saturating_sub(1).max(FIRST), chain);
        }
    }

    fn note_window(&mut self, seen: Seen, chain: &Chain) {
        if seen.traffic > 0.0 {
            self.windows.push_back((seen, chain.hot_blocks()));
            if self.windows.len() > WINDOWS {
                self.windows.pop_front();
            }
        }
    }

    /// The drive was written once.
    #[cold]
    fn measure(&mut self) {
        let Traffic { writes, copies } = std::mem::take(&mut self.traffic);
        self.measured = Some(1.0 + copies as f64 / writes as f64);
    }

    /// An epoch is over.
    #[cold]
    fn end_epoch(&mut self, chain: &mut Chain) {
        let found = self.search(chain);
        let times = match found {
            Err(times) => times,
            Ok(found) => {
                let is_better = |found: &Found| {
                    self.measured.is_none_or(|now| found.forecast.write_amplification <= now)
                };
                self.errors = if self.erred { self.errors + 1 } else { self.errors };
                match found.filter(is_better) {
                    Some(found) => self.apply(&found, chain),
                    None => 1,
                }
            }
        };
        self.erred = false;
        self.windows.clear();
        let longer = self.epochs * times;
        self.epochs = if longer <= MOST_EPOCHS { longer } else { self.epochs };
        self.intervals.begin(self.epochs);
    }

    /// The best sizes; or, where the epoch was too short for a decision, the length of the next one
    /// in lengths of the first.
    fn search(&self, chain: &Chain) -> Result<Option<Found>, usize> {
        let blocks_in_all = self.pages as f64 / f64::from(chain.data_pages);
        let planes = self.planes as f64;
        let per_plane = (blocks_in_all / planes) as u32;
        let blocks = per_plane - chain.erased.min(per_plane - 1);
        let hot = self.mean_window();
        let most = if hot.2 > 1.0 { 0.18 } else { 0.30 };
        if hot.1 > most || !chain.has_last() {
            return Err(2);
        }
        let sums = Sums::new(&self.intervals.counted());
        if sums.all() <= 0.0 {
            return Ok(None);
        }
        let whole = f64::from(chain.whole_blocks()) * f64::from(chain.data_pages);
        let drive = Drive {
            block_pages: f64::from(chain.data_pages) * planes,
            blocks,
            mapped: self.mapped.into(),
            untouched: if whole >= 0.2 * self.pages as f64 { whole } else { 0.0 },
            margin: (per_plane / MARGIN.0).min(MARGIN.1).into(),
        };
        let hots = if hot.1 > 0.1 || hot.0 < 0.15 {
            Hots::Measured(sums.measured(libm::round(hot.2) as u32, hot.0, hot.1))
        } else {
            Hots::Planned(sums.planned(MOST_HOT))
        };
        Ok(search(&sums, &drive, &hots, self.most_groups))
    }

    /// The means of share of the writes, valid share and blocks of the hot group.
    fn mean_window(&self) -> (f64, f64, f64) {
        if self.windows.is_empty() {
            return (0.01, 0.05, 1.0);
        }
        let mean = |value: &dyn Fn(&(Seen, u64)) -> f64| {
            self.windows.iter().map(value).sum::<f64>() / self.windows.len() as f64
        };
        let blocks = mean(&|window| window.1 as f64) / self.planes as f64;
        // And the open one.
        let blocks = libm::round(blocks + 1.0);
        (mean(&|window| window.0.traffic), mean(&|window| window.0.valid), blocks)
    }

    /// The groups take these sizes, of which each has an open block. Returns how many times as long
    /// the next epoch is.
    fn apply(&mut self, found: &Found, chain: &mut Chain) -> usize {
        let groups = found.sizes.len();
        let sizes =
            std::iter::once(found.hot.blocks).chain(found.sizes[..groups - 1].iter().copied());
        let sizes: Vec<u32> = sizes.map(|size| size.saturating_sub(1)).collect();
        chain.resize(&sizes);
        self.watched = Watched {
            expected: found.forecast.valid[..groups].to_vec(),
            found: vec![Tally::default(); groups + 1],
            ..Watched::default()
        };
        self.errors = if self.erred { self.errors } else { 0 };
        if self.errors >= 2 { 2 } else { 1 }
    }

    /// A write has come since all groups were collected. From time to time the valid shares are
    /// compared with the forecast.
    #[cold]
    fn watch(&mut self, chain: &mut Chain) {
        self.watched.writes += 1;
        if self.watched.writes * 10 < self.intervals.pages() * 3 {
            return;
        }
        self.watched.writes = 0;
        let pages = f64::from(chain.data_pages);
        let is_irregular = |&group: &usize| {
            let tally = self.watched.found[group];
            let share = tally.valid as f64 / (tally.collections as f64 * pages);
            tally.collections > 0 && share - self.watched.expected[group - 1] >= IRREGULAR
        };
        let irregular = (1..self.watched.found.len()).find(is_irregular);
        self.watched.found.fill(Tally::default());
        if let Some(group) = irregular {
            self.merge(group as u8, chain);
        }
    }

    /// The groups from this one on are merged.
    fn merge(&mut self, from: u8, chain: &mut Chain) {
        if from == chain.last && chain.is_by_copies() {
            return;
        }
        let expected = self.watched.expected.len();
        self.erred |= usize::from(from) <= expected.div_ceil(2);
        chain.merge(from);
        let watched = &mut self.watched;
        watched.expected.truncate(usize::from(from) - 1);
        watched.found.truncate(from.into());
        if watched.expected.is_empty() {
            *watched = Watched::default();
        }
    }

    /// Appends the state to save with the drive.
    pub fn keep(&self, numbers: &mut Vec<u32>) {
        self.filter.keep(numbers);
        self.intervals.keep(numbers);
        numbers.push(self.windows.len() as u32);
        for (seen, blocks) in &self.windows {
            keep_fraction(seen.traffic, numbers);
            keep_fraction(seen.valid, numbers);
            keep_whole(*blocks, numbers);
        }
        let Watched { expected, found, are_all, writes } = &self.watched;
        keep_fraction(self.measured.unwrap_or(0.0), numbers);
        for number in [self.traffic.writes, self.traffic.copies, self.clock, self.in_a_row, *writes]
        {
            keep_whole(number, numbers);
        }
        numbers.extend([self.erred, *are_all].map(u32::from));
        numbers.extend([self.errors, self.mapped, expected.len() as u32, found.len() as u32]);
        expected.iter().for_each(|&share| keep_fraction(share, numbers));
        for tally in found {
            keep_whole(tally.collections, numbers);
            keep_whole(tally.valid, numbers);
        }
    }

    /// Takes it from the front of these numbers.
    pub fn take_kept(&mut self, numbers: &mut Iter<'_, u32>) -> Option<()> {
        let whole = |numbers: &mut Iter<'_, u32>| take_whole(numbers).filter(|&n| n < 1 << 48);
        self.filter.take_kept(numbers)?;
        self.epochs = self.intervals.take_kept(numbers, MOST_EPOCHS)?;
        let windows = *numbers.next().filter(|&&count| count as usize <= WINDOWS)?;
        self.windows.clear();
        for _ in 0..windows {
            let seen = Seen { traffic: take_fraction(numbers)?, valid: take_fraction(numbers)? };
            self.windows.push_back((seen, whole(numbers)?));
        }
        self.measured = Some(take_fraction(numbers)?).filter(|&measured| measured > 0.0);
        self.traffic.writes = whole(numbers).filter(|&writes| writes < self.pages)?;
        self.traffic.copies = whole(numbers)?;
        (self.clock, self.in_a_row) = (whole(numbers)?, whole(numbers)?);
        self.watched.writes = whole(numbers)?;
        (self.erred, self.watched.are_all) = (*numbers.next()? == 1, *numbers.next()? == 1);
        self.errors = *numbers.next().filter(|&&errors| errors < 1 << 30)?;
        self.mapped = *numbers.next().filter(|&&mapped| mapped <= self.exported)?;
        let (expected, found) = (*numbers.next()? as usize, *numbers.next()? as usize);
        if expected > self.most_groups || found > expected + 1 {
            return None;
        }
        self.watched.expected =
            (0..expected).map(|_| take_fraction(numbers)).collect::<Option<_>>()?;
        let tally = |_| Some(Tally { collections: whole(numbers)?, valid: whole(numbers)? });
        self.watched.found = (0..found).map(tally).collect::<Option<_>>()?;
        Some(())
    }

    /// Bytes of the tables.
    pub fn bytes(&self) -> u64 {
        self.filter.bytes() + self.intervals.bytes()
    }
}
