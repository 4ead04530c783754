//! AutoStream by sequentiality, frequency and recency (SFR; Yang and others, SYSTOR 2017). Pages
//! lie in chunks, each with a count of its writes that is halved as time passes. The class is the
//! natural logarithm of the count, and a run stays in the class of its first page. Copies have the
//! last class to themselves.

use super::numbered::{self, Numbered};
use super::runs::Runs;
use super::{Copied, Placement, State, Write};
use crate::device::Geometry;
use crate::gc::choice::{Choice, Count};
use crate::memory::{bytes_of, zeros};
use std::slice::Iter;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "autostream",
    about: "chunks of 2 MiB that are written often and lately are hot; a run of pages stays in one \
            class, and copies have one of their own",
    keys: &[&CLASSES],
    source: "Yang and others 2017 (AutoStream, SFR)",
};

const CLASSES: Count = Count {
    name: "classes",
    default: 6,
    least: 1,
    most: 16,
    about: "number of classes, that of copies included",
};

/// The counts of the chunks.
pub const STATE: State =
    State { by: "autostream ", name: "counts of chunks", without: "with all chunks cold" };

/// The size of a chunk.
const CHUNK_BYTES: u32 = 2 << 20;
/// The count of a chunk is halved for each such number of pages that the host has written since it
/// was written last.
const HALVED_AFTER: u32 = 16_384;
/// The powers of e, rounded up: a count has the logarithm n from the n-th one on.
const POWERS_OF_E: [u32; 14] =
    [3, 8, 21, 55, 149, 404, 1_097, 2_981, 8_104, 22_027, 59_875, 162_755, 442_414, 1_202_605];

/// The number of classes.
pub type Settings = numbered::Settings<Rules>;

/// Copies go to the last class.
#[derive(Clone, Debug)]
pub struct Rules;

impl Numbered for Rules {
    const CLASSES: &'static Count = &CLASSES;
    const STATE: State = STATE;
    const KEEPS_BLOCKS: bool = false;

    fn classes_of_copies(_classes: u32) -> u32 {
        1
    }
}

/// The counts.
#[derive(Clone)]
pub struct Policy {
    counts: Vec<u32>,
    /// The clock of the last write of each chunk.
    last: Vec<u32>,
    /// Pages that the host has written, in 32 bits: where no history of blocks is kept, no other
    /// clock is saved with a drive.
    clock: u32,
    runs: Runs,
    /// The class of the run.
    class: u8,
    pages_per_chunk: u32,
    pages: u32,
    highest: u8,
}

impl Policy {
    /// No chunk was written.
    pub fn new(settings: &Settings, geometry: &Geometry, _seed: u64) -> Self {
        let pages_per_chunk = (CHUNK_BYTES / geometry.shape.page_bytes).max(1);
        let chunks = geometry.exported_pages.div_ceil(pages_per_chunk) as usize;
        Policy {
            counts: zeros(chunks),
            last: zeros(chunks),
            clock: 0,
            runs: Runs::default(),
            class: 0,
            pages_per_chunk,
            pages: geometry.exported_pages,
            highest: settings.highest(),
        }
    }

    /// A run writes in a chunk.
    fn count(&mut self, chunk: usize) {
        let since = self.clock.wrapping_sub(self.last[chunk]);
        let rest = self.counts[chunk].checked_shr(since / HALVED_AFTER).unwrap_or(0);
        self.counts[chunk] = rest.saturating_add(1);
        self.last[chunk] = self.clock;
    }

    /// The class of a run that begins in a chunk.
    fn class_of(&self, chunk: usize) -> u8 {
        let count = self.counts[chunk];
        let logarithm = POWERS_OF_E.partition_point(|&power| power <= count);
        (logarithm as u8).min(self.highest.saturating_sub(1))
    }
}

impl Placement for Policy {
    fn class_of_write(&mut self, write: Write) -> u8 {
        let lpn = write.lpn;
        self.clock = self.clock.wrapping_add(1);
        let goes_on = self.runs.are_continued_by(lpn);
        self.runs.write(lpn);
        let chunk = (lpn.0 / self.pages_per_chunk) as usize;
        if !goes_on || lpn.0.is_multiple_of(self.pages_per_chunk) {
            self.count(chunk);
        }
        if !goes_on {
            self.class = self.class_of(chunk);
        }
        self.class
    }

    fn class_of_copy(&mut self, _copy: Copied) -> u8 {
        self.highest
    }

    fn keep(&self, numbers: &mut Vec<u32>) {
        numbers.extend([self.class.into(), self.clock]);
        self.runs.keep(numbers);
        numbers.extend(&self.counts);
        numbers.extend(&self.last);
    }

    fn take_kept(&mut self, numbers: &mut Iter<'_, u32>) -> Option<()> {
        let class = *numbers.next().filter(|&&class| class <= self.highest.into())?;
        self.class = class as u8;
        self.clock = *numbers.next()?;
        self.runs.take_kept(numbers, self.pages)?;
        self.counts.iter_mut().chain(&mut self.last).try_for_each(|number| {
            *number = *numbers.next()?;
            Some(())
        })
    }

    fn table_bytes(&self) -> u64 {
        bytes_of(&self.counts) + bytes_of(&self.last)
    }
}
