//! SFS: segments of similar hotness (Min and others, FAST 2012). The hotness of a page is its
//! number of writes divided by the time since the last one, that of a block the writes of its
//! valid pages divided by the sum of their ages. The hotness of the sealed blocks is divided into
//! as many groups as there are classes (`k-means` in one dimension), and a page goes to the class
//! of the nearest centre. Class 0 is the hottest. All times are pages that the host has written.

use super::numbered::{self, Numbered};
use super::page_table::{LastWrites, Numbers};
use super::saved::{keep_fraction, keep_whole, take_fraction, take_whole};
use super::{Copied, Placement, State, Write};
use crate::device::Geometry;
use crate::ftl::BlockFacts;
use crate::gc::choice::{Choice, Count};
use crate::ids::{BlockId, Lpn};
use std::slice::Iter;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "sfs",
    about: "a page goes to the class of blocks that are as hot: writes divided by the time since \
            the last one",
    keys: &[&CLASSES],
    source: "Min and others 2012 (SFS)",
};

const CLASSES: Count =
    Count { name: "classes", default: 6, least: 1, most: 16, about: "number of groups of blocks" };

/// Writes and their times.
pub const STATE: State = State {
    by: "sfs ",
    name: "writes of pages",
    without: "as if its pages had never been overwritten",
};

/// Rounds of the division into groups, at a time.
const ROUNDS: u32 = 3;
/// The groups are found anew after one collection for each such number of blocks, so that their
/// cost for each collection does not grow with the drive.
const BLOCKS_PER_COLLECTION: usize = 256;
/// No block.
const NOWHERE: u32 = 0;

/// The number of classes.
pub type Settings = numbered::Settings<Rules>;

/// Copies go to all classes.
#[derive(Clone, Debug)]
pub struct Rules;

impl Numbered for Rules {
    const CLASSES: &'static Count = &CLASSES;
    const STATE: State = STATE;
    const KEEPS_BLOCKS: bool = true;
}

/// The valid pages of a block.
#[derive(Clone, Copy, Default)]
struct Sums {
    pages: u64,
    writes: u64,
    /// The sum of the clocks of their last writes.
    last: u64,
    is_sealed: bool,
}

impl Sums {
    /// Writes divided by ages; `None` without pages.
    fn hotness(&self, clock: u64) -> Option<f64> {
        let ages = (self.pages * clock).saturating_sub(self.last).max(1);
        (self.pages > 0).then(|| self.writes as f64 / ages as f64)
    }
}

/// Writes of pages and sums of blocks.
#[derive(Clone)]
pub struct Policy {
    /// Writes of each page.
    writes: Numbers,
    last: LastWrites,
    /// The block in whose sums a page is, plus 1; `NOWHERE` for none.
    home: Numbers,
    blocks: Vec<Sums>,
    /// The hotness of the classes, the highest first.
    centres: Vec<f64>,
    /// Collections since they were found.
    collections: u32,
    clock: u64,
}

impl Policy {
    /// No page was written.
    pub fn new(settings: &Settings, geometry: &Geometry, _seed: u64) -> Self {
        Policy {
            writes: Numbers::new(geometry),
            last: LastWrites::new(geometry),
            home: Numbers::new(geometry),
            blocks: vec![Sums::default(); geometry.blocks as usize],
            centres: vec![0.0; usize::from(settings.highest()) + 1],
            collections: 0,
            clock: 0,
        }
    }

    /// The page enters the sums of a block.
    fn enter(&mut self, lpn: Lpn, block: BlockId) {
        self.home.set(lpn, block.0 + 1);
        let last = self.clock.saturating_sub(self.last.since(lpn, self.clock));
        let sums = &mut self.blocks[block.index()];
        sums.pages += 1;
        sums.writes += u64::from(self.writes.get(lpn));
        sums.last += last;
    }

    /// The page leaves the sums that it is in. A last write of 2^32 pages ago looks young.
    fn leave(&mut self, lpn: Lpn) {
        let home = self.home.get(lpn);
        if home == NOWHERE {
            return;
        }
        self.home.set(lpn, NOWHERE);
        let last = self.clock.saturating_sub(self.last.since(lpn, self.clock));
        let sums = &mut self.blocks[home as usize - 1];
        sums.pages -= 1;
        sums.writes -= u64::from(self.writes.get(lpn));
        sums.last = sums.last.saturating_sub(last);
    }

    fn hotness(&self, lpn: Lpn) -> f64 {
        let age = self.last.since(lpn, self.clock).max(1);
        f64::from(self.writes.get(lpn)) / age as f64
    }

    /// The groups of the blocks, from the centres before. They are the blocks themselves where
    /// there are no more than groups.
    fn find_centres(&mut self) {
        let sealed = self.blocks.iter().filter(|sums| sums.is_sealed);
        let hotness: Vec<f64> = sealed.filter_map(|sums| sums.hotness(self.clock)).collect();
        if hotness.len() <= self.centres.len() {
            self.centres.fill(0.0);
            self.centres[..hotness.len()].copy_from_slice(&hotness);
        } else {
            (0..ROUNDS).for_each(|_| self.move_centres(&hotness));
        }
        self.centres.sort_by(|a, b| b.total_cmp(a));
    }

    /// Each centre moves to the mean of the blocks that are nearest to it, and to 0 without any.
    fn move_centres(&mut self, hotness: &[f64]) {
        let mut means = vec![(0.0, 0u32); self.centres.len()];
        for &hotness in hotness {
            let (sum, count) = &mut means[nearest(&self.centres, hotness)];
            (*sum, *count) = (*sum + hotness, *count + 1);
        }
        for (centre, (sum, count)) in self.centres.iter_mut().zip(means) {
            *centre = if count > 0 { sum / f64::from(count) } else { 0.0 };
        }
    }
}

/// The place of the nearest centre, the last one of several.
fn nearest(centres: &[f64], hotness: f64) -> usize {
    let distances = centres.iter().map(|centre| (centre - hotness).abs());
    let best = distances.enumerate().reduce(|a, b| if b.1 <= a.1 { b } else { a });
    best.map_or(0, |(at, _)| at)
}

impl Placement for Policy {
    fn class_of_write(&mut self, write: Write) -> u8 {
        let Write { lpn, is_update, clock, .. } = write;
        self.clock = clock;
        let class = if is_update { nearest(&self.centres, self.hotness(lpn)) } else { 0 };
        self.leave(lpn);
        self.writes.set(lpn, self.writes.get(lpn).saturating_add(1));
        self.last.set(lpn, clock);
        class as u8
    }

    fn class_of_copy(&mut self, copy: Copied) -> u8 {
        self.clock = copy.clock;
        nearest(&self.centres, self.hotness(copy.lpn)) as u8
    }

    fn placed(&mut self, lpn: Lpn, block: BlockId) {
        self.leave(lpn);
        self.enter(lpn, block);
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.leave(lpn);
        self.writes.set(lpn, 0);
    }

    fn opened(&mut self, block: BlockFacts) {
        self.blocks[block.block.index()].is_sealed = false;
    }

    fn sealed(&mut self, block: BlockFacts) {
        self.blocks[block.block.index()].is_sealed = true;
    }

    fn collected(&mut self, block: BlockFacts, clock: u64) {
        self.clock = clock;
        self.blocks[block.block.index()].is_sealed = false;
        self.collections += 1;
        if self.collections as usize * BLOCKS_PER_COLLECTION >= self.blocks.len() {
            self.collections = 0;
            self.find_centres();
        }
    }

    #[inline]
    fn prefetch(&self, lpn: Lpn) {
        self.writes.prefetch(lpn);
        self.last.prefetch(lpn);
        self.home.prefetch(lpn);
    }

    fn keep(&self, numbers: &mut Vec<u32>) {
        keep_whole(self.clock, numbers);
        numbers.push(self.collections);
        self.centres.iter().for_each(|&centre| keep_fraction(centre, numbers));
        numbers.extend(self.blocks.iter().map(|sums| u32::from(sums.is_sealed)));
        self.writes.keep(numbers);
        self.last.keep(numbers);
        self.home.keep(numbers);
    }

    fn take_kept(&mut self, numbers: &mut Iter<'_, u32>) -> Option<()> {
        self.clock = take_whole(numbers).filter(|&clock| clock < 1 << 40)?;
        self.collections = *numbers.next().filter(|&&count| count < 1 << 24)?;
        for centre in &mut self.centres {
            *centre = take_fraction(numbers)?;
        }
        for sums in &mut self.blocks {
            sums.is_sealed = *numbers.next()? == 1;
        }
        self.writes.take_kept(numbers)?;
        self.last.take_kept(numbers)?;
        self.home.take_kept(numbers)?;
        let homes: Vec<(Lpn, u32)> = self.home.all().collect();
        for (lpn, home) in homes.into_iter().filter(|&(_, home)| home != NOWHERE) {
            if home as usize > self.blocks.len() {
                return None;
            }
            self.enter(lpn, BlockId(home - 1));
        }
        Some(())
    }

    fn table_bytes(&self) -> u64 {
        let sums = (self.blocks.capacity() * size_of::<Sums>()) as u64;
        self.writes.bytes() + self.last.bytes() + self.home.bytes() + sums
    }
}
