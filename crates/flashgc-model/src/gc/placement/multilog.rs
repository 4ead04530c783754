//! MultiLog: logs of pages that are updated about equally often (Stoica and Ailamaki, VLDB 2013).
//! Each page has a level, and each level is a class. A copy takes the page to the next colder
//! level; a write takes it to the next hotter one, the more probably the sooner it comes after the
//! last.
//!
//! The sooner is measured by the time after which half of the pages of a level would be
//! overwritten, if all were overwritten equally often: the pages that are valid in it, times the
//! share that was valid in its collected blocks, divided by 2. All times are pages that the host
//! has written.

use super::numbered::{self, Numbered};
use super::page_table::{LastWrites, Levels};
use super::{Copied, Placement, State, Write};
use crate::device::Geometry;
use crate::ftl::BlockFacts;
use crate::gc::choice::{Choice, Count};
use crate::ids::Lpn;
use crate::rng::Random;
use std::slice::Iter;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "multilog",
    about: "a copy takes a page to a colder level, a write that comes soon to a hotter one",
    keys: &[&CLASSES],
    source: "Stoica and Ailamaki 2013 (MultiLog)",
};

const CLASSES: Count =
    Count { name: "classes", default: 6, least: 1, most: 15, about: "most levels" };

/// The levels of the pages, and the times of writes.
pub const STATE: State = State {
    by: "multilog ",
    name: "levels and times of writes",
    without: "with all pages on the hottest level",
};

/// The sums over the collected blocks of a level are halved at this number of blocks.
const BLOCKS: u32 = 16;

/// The number of classes.
pub type Settings = numbered::Settings<Rules>;

/// Copies go to all classes: a level that has no colder one yet takes its own.
#[derive(Clone, Debug)]
pub struct Rules;

impl Numbered for Rules {
    const CLASSES: &'static Count = &CLASSES;
    const STATE: State = STATE;
    const KEEPS_BLOCKS: bool = true;
}

/// A level.
#[derive(Clone, Copy, Default)]
struct Level {
    /// Pages that are valid.
    valid: u32,
    /// Pages of its collected blocks, valid pages among them, and the number of blocks.
    collected: u32,
    moved: u32,
    blocks: u32,
}

impl Level {
    fn add(&mut self, pages: u32, valid: u32) {
        self.collected += pages;
        self.moved += valid;
        self.blocks += 1;
        if self.blocks == BLOCKS {
            self.blocks /= 2;
            self.collected /= 2;
            self.moved /= 2;
        }
    }

    /// The time in which half of the pages would be overwritten.
    fn half_life(&self) -> u64 {
        let valid = u64::from(self.valid);
        match self.collected {
            0 => valid / 2,
            pages => valid * u64::from(self.moved) / (2 * u64::from(pages)),
        }
    }
}

/// The levels.
#[derive(Clone)]
pub struct Policy {
    /// The level of each page, plus 1; 0 for a page that was never written.
    pages: Levels,
    last: LastWrites,
    levels: Vec<Level>,
    /// Levels in use.
    used: u8,
    /// A level of fewer pages than this has no colder one.
    least: u32,
    data_pages: u32,
    random: Random,
}

impl Policy {
    /// No page was written, and one level is in use.
    pub fn new(settings: &Settings, geometry: &Geometry, seed: u64) -> Self {
        let data_pages = geometry.shape.data_pages();
        Policy {
            pages: Levels::new(geometry),
            last: LastWrites::new(geometry),
            levels: vec![Level::default(); usize::from(settings.highest()) + 1],
            used: 1,
            least: data_pages.saturating_mul(geometry.planes),
            data_pages,
            random: Random::named(seed, "placement"),
        }
    }

    /// The page moves to a level.
    fn set(&mut self, lpn: Lpn, level: u8) {
        self.forget(lpn);
        self.pages.set(lpn, level + 1);
        self.levels[usize::from(level)].valid += 1;
    }

    fn forget(&mut self, lpn: Lpn) {
        if let Some(level) = self.pages.get(lpn).checked_sub(1) {
            self.levels[usize::from(level)].valid -= 1;
            self.pages.set(lpn, 0);
        }
    }

    /// The level of a page; the hottest one before its first write.
    fn level(&self, lpn: Lpn) -> u8 {
        self.pages.get(lpn).saturating_sub(1)
    }

    /// The level that a write after this time moves a page to.
    fn hotter(&mut self, level: u8, lived: u64) -> u8 {
        let half_life = self.levels[usize::from(level)].half_life();
        if level == 0 || lived >= half_life {
            return level;
        }
        level - u8::from(self.random.below(half_life) < half_life - lived)
    }

    /// The level after this one. The coldest has one once it holds a block of pages in each plane.
    fn colder(&mut self, level: u8) -> u8 {
        if level + 1 == self.used {
            let is_large = self.levels[usize::from(level)].valid >= self.least;
            if !is_large || usize::from(self.used) == self.levels.len() {
                return level;
            }
            self.used += 1;
        }
        level + 1
    }
}

impl Placement for Policy {
    fn class_of_write(&mut self, write: Write) -> u8 {
        let Write { lpn, is_update, clock, .. } = write;
        let lived = self.last.since(lpn, clock);
        self.last.set(lpn, clock);
        let level = if is_update { self.hotter(self.level(lpn), lived) } else { 0 };
        self.set(lpn, level);
        level
    }

    fn class_of_copy(&mut self, copy: Copied) -> u8 {
        let level = self.level(copy.lpn);
        if !copy.is_current {
            return level;
        }
        let level = self.colder(level);
        self.set(copy.lpn, level);
        level
    }

    fn trimmed(&mut self, lpn: Lpn) {
        self.forget(lpn);
    }

    fn collected(&mut self, block: BlockFacts, _clock: u64) {
        if let Some(class) = block.class {
            self.levels[usize::from(class)].add(self.data_pages, block.valid.min(self.data_pages));
        }
    }

    fn start_counting(&mut self, seed: u64) {
        self.random = Random::named(seed, "placement");
    }

    #[inline]
    fn prefetch(&self, lpn: Lpn) {
        self.pages.prefetch(lpn);
        self.last.prefetch(lpn);
    }

    fn keep(&self, numbers: &mut Vec<u32>) {
        numbers.push(self.used.into());
        let collected = |level: &Level| [level.collected, level.moved, level.blocks];
        numbers.extend(self.levels.iter().flat_map(collected));
        self.pages.keep(numbers);
        self.last.keep(numbers);
    }

    fn take_kept(&mut self, numbers: &mut Iter<'_, u32>) -> Option<()> {
        let count = self.levels.len();
        let used = *numbers.next().filter(|&&used| (1..=count as u32).contains(&used))?;
        self.used = used as u8;
        for level in &mut self.levels {
            level.collected = *numbers.next()?;
            level.moved = *numbers.next()?;
            level.blocks = *numbers.next()?;
            let most = self.data_pages.saturating_mul(BLOCKS);
            if level.moved > level.collected || level.collected > most || level.blocks >= BLOCKS {
                return None;
            }
        }
        self.pages.take_kept(numbers, self.used)?;
        self.pages.count_into(|level| {
            if let Some(at) = level.checked_sub(1) {
                self.levels[usize::from(at)].valid += 1;
            }
        });
        self.last.take_kept(numbers)
    }

    fn table_bytes(&self) -> u64 {
        self.pages.bytes() + self.last.bytes()
    }
}
