//! SepBIT: separation by inferred block invalidation times (Wang and others, FAST 2022). A page
//! that was overwritten soon after its last write is expected to be overwritten soon again; a page
//! that has lived for long in collected blocks is expected to live on.
//!
//! Class 0 takes updates of pages that lived less than ℓ, class 1 all other writes of the host.
//! Copies from class 0 go to class 2, others by the time since their page was last written: below
//! 4 ℓ to class 3, below 16 ℓ to class 4, else to class 5. ℓ is the mean lifetime of the last
//! 16 blocks of class 0 that were collected, and infinite before there were any. All times are
//! pages that the host has written.

use super::numbered::{self, Numbered};
use super::page_table::LastWrites;
use super::saved::{keep_whole, take_whole};
use super::{Copied, Placement, State, Write};
use crate::device::Geometry;
use crate::ftl::BlockFacts;
use crate::gc::choice::{Choice, Count};
use crate::ids::Lpn;
use std::slice::Iter;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "sepbit",
    about: "writes go by the time since the page was last written, and copies too; the thresholds \
            follow the lifetime of blocks with short-lived pages",
    keys: &[&CLASSES],
    source: "Wang and others 2022 (SepBIT)",
};

const CLASSES: Count = Count {
    name: "classes",
    default: 6,
    least: 1,
    most: 6,
    about: "number of classes; pages of those above the last go to the last",
};

/// The times of writes, and ℓ.
pub const STATE: State = State {
    by: "sepbit ",
    name: "times of writes",
    without: "as if its pages had been written long ago",
};

/// Blocks over which a lifetime is averaged.
const BLOCKS: u32 = 16;

/// The number of classes.
pub type Settings = numbered::Settings<Rules>;

/// Copies go to those from 2 on, or to the last one.
#[derive(Clone, Debug)]
pub struct Rules;

impl Numbered for Rules {
    const CLASSES: &'static Count = &CLASSES;
    const STATE: State = STATE;
    const KEEPS_BLOCKS: bool = true;

    fn classes_of_copies(classes: u32) -> u32 {
        classes.saturating_sub(2).max(1)
    }
}

/// The lifetimes of blocks of class 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Lifetimes {
    /// The sum over the last `BLOCKS` blocks: ℓ times `BLOCKS`; `None` before the first `BLOCKS`.
    threshold: Option<u64>,
    /// The sum since then, and of how many.
    sum: u64,
    count: u32,
}

impl Lifetimes {
    fn add(&mut self, lifetime: u64) {
        self.sum += lifetime;
        self.count += 1;
        if self.count == BLOCKS {
            self.threshold = Some(std::mem::take(&mut self.sum));
            self.count = 0;
        }
    }

    /// Whether a time is below this multiple of ℓ.
    #[inline]
    fn exceed(&self, time: u64, times: u64) -> bool {
        self.threshold.is_none_or(|sum| time * u64::from(BLOCKS) < times * sum)
    }
}

/// The times of writes, and ℓ.
#[derive(Clone)]
pub struct Policy {
    last: LastWrites,
    lifetimes: Lifetimes,
    highest: u8,
}

impl Policy {
    /// No page was written, and ℓ is infinite.
    pub fn new(settings: &Settings, geometry: &Geometry, _seed: u64) -> Self {
        Policy {
            last: LastWrites::new(geometry),
            lifetimes: Lifetimes::default(),
            highest: settings.highest(),
        }
    }
}

impl Placement for Policy {
    #[inline]
    fn class_of_write(&mut self, write: Write) -> u8 {
        let lived = self.last.since(write.lpn, write.clock);
        self.last.set(write.lpn, write.clock);
        let is_short = write.is_update && self.lifetimes.exceed(lived, 1);
        u8::from(!is_short).min(self.highest)
    }

    #[inline]
    fn class_of_copy(&mut self, copy: Copied) -> u8 {
        if copy.from.and_then(|block| block.class) == Some(0) {
            return 2.min(self.highest);
        }
        let age = self.last.since(copy.lpn, copy.clock);
        let is_below = |times| self.lifetimes.exceed(age, times);
        let class = if is_below(4) { 3 } else { 5 - u8::from(is_below(16)) };
        class.min(self.highest)
    }

    fn collected(&mut self, block: BlockFacts, clock: u64) {
        if block.class == Some(0) {
            self.lifetimes.add(clock - block.opened);
        }
    }

    #[inline]
    fn prefetch(&self, lpn: Lpn) {
        self.last.prefetch(lpn);
    }

    fn keep(&self, numbers: &mut Vec<u32>) {
        let Lifetimes { threshold, sum, count } = self.lifetimes;
        numbers.extend([count, u32::from(threshold.is_some())]);
        keep_whole(threshold.unwrap_or(0), numbers);
        keep_whole(sum, numbers);
        self.last.keep(numbers);
    }

    fn take_kept(&mut self, numbers: &mut Iter<'_, u32>) -> Option<()> {
        let count = *numbers.next().filter(|&&count| count < BLOCKS)?;
        let has_threshold = *numbers.next()? == 1;
        let (threshold, sum) = (take_whole(numbers)?, take_whole(numbers)?);
        let is_fit = threshold.max(sum) < 1 << 56;
        let threshold = has_threshold.then_some(threshold);
        self.lifetimes = is_fit.then_some(Lifetimes { threshold, sum, count })?;
        self.last.take_kept(numbers)
    }

    fn table_bytes(&self) -> u64 {
        self.last.bytes()
    }
}
