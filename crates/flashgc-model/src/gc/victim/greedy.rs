//! Greedy: the sealed block with the fewest valid pages, the lowest or the highest among equals.
//!
//! An index of buckets makes a choice cheap. For each plane and each count of valid pages up to a
//! *level*, one bit per block marks the blocks with that count; blocks above the level are skipped,
//! since most invalidations happen in blocks that are far from being victims. When the buckets are
//! empty, one walk over the plane's blocks finds the new level. The result is exactly that of a
//! full scan (`index = "scan"`), which a test checks.

use super::{About, Candidates, Choice, VictimPolicy, Word};
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId};
use crate::memory::bytes_of;
use crate::rng::Random;
use flashgc_config::Reader;
use serde::Serialize;
use std::cmp::Reverse;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "greedy",
    about: "the sealed block with the fewest valid pages; the lowest or highest number among \
            equals",
    keys: &[&INDEX, &TIES],
    source: "the common baseline of the five papers",
};

const INDEX: Word<Index> = Word {
    name: "index",
    words: &[("buckets", Index::Buckets), ("scan", Index::Scan)],
    default: 0,
    about: About::All("search method; the victims are the same"),
};
const TIES: Word<Ties> = Word {
    name: "ties",
    words: &[("lowest", Ties::Lowest), ("highest", Ties::Highest)],
    default: 0,
    about: About::All("block number that wins among equals"),
};

/// The search for the minimum.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// Not part of the resolved configuration: it changes no result.
    #[serde(skip)]
    index: Index,
    /// The block among equals.
    #[serde(skip_serializing_if = "Ties::is_lowest")]
    ties: Ties,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Ties {
    Lowest,
    Highest,
}

impl Ties {
    fn is_lowest(&self) -> bool {
        *self == Ties::Lowest
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Index {
    Buckets,
    Scan,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { index: Index::Buckets, ties: Ties::Lowest }
    }
}

impl Settings {
    /// From `[gc.victim.greedy]`.
    pub fn read(table: &Reader<'_>) -> Self {
        Settings { index: INDEX.read(table), ties: TIES.read(table) }
    }
}

/// The range of the buckets above the present victim's count, as a share of a block.
const MARGIN_SHARE: u32 = 16;

/// The policy and its buckets.
#[derive(Clone)]
pub struct Policy {
    scan: bool,
    ties: Ties,
    blocks_per_plane: u32,
    data_pages: u32,
    words_per_row: usize,
    planes: Vec<PlaneBuckets>,
    /// Rows of bits, by plane and count of valid pages.
    rows: Vec<u64>,
    /// For each word of a row, one bit: whether it holds any block. A long row is not walked.
    summaries: Vec<u64>,
    words_per_summary: usize,
    /// Bits set in each row.
    counts: Vec<u32>,
}

#[derive(Clone, Copy)]
struct PlaneBuckets {
    /// Counts up to this one, inclusive, are kept in buckets; none at -1.
    level: i32,
    /// No bucket below this count has a block.
    lowest: u32,
}

impl Policy {
    /// Empty buckets.
    pub fn new(settings: &Settings, geometry: &Geometry) -> Self {
        let scan = settings.index == Index::Scan;
        let words_per_row = geometry.shape.blocks_per_plane.div_ceil(64) as usize;
        let words_per_summary = words_per_row.div_ceil(64);
        let counts = geometry.planes as usize * geometry.shape.data_pages() as usize;
        let rows = if scan { 0 } else { counts };
        Policy {
            scan,
            ties: settings.ties,
            blocks_per_plane: geometry.shape.blocks_per_plane,
            data_pages: geometry.shape.data_pages(),
            words_per_row,
            planes: vec![PlaneBuckets { level: -1, lowest: 0 }; geometry.planes as usize],
            rows: vec![0; rows * words_per_row],
            summaries: vec![0; rows * words_per_summary],
            words_per_summary,
            counts: vec![0; rows],
        }
    }

    #[inline(always)]
    fn is_kept(&self, plane: PlaneId, valid: u32) -> bool {
        valid as i32 <= self.planes[plane.index()].level
    }

    #[inline(always)]
    fn row(&self, plane: PlaneId, valid: u32) -> usize {
        plane.index() * self.data_pages as usize + valid as usize
    }

    /// Flips the block's bit in a row, and returns the row.
    #[inline(always)]
    fn flip(&mut self, plane: PlaneId, block: BlockId, valid: u32) -> usize {
        let local = block.0 - plane.0 * self.blocks_per_plane;
        let row = self.row(plane, valid);
        let word = (local / 64) as usize;
        let bits = &mut self.rows[row * self.words_per_row + word];
        *bits ^= 1 << (local % 64);
        let summary = &mut self.summaries[row * self.words_per_summary + word / 64];
        let mask = 1 << (word % 64);
        *summary = if *bits == 0 { *summary & !mask } else { *summary | mask };
        row
    }

    /// The lowest block of a row, counted in its plane.
    fn first(&self, row: usize) -> Option<u32> {
        let summaries = &self.summaries[row * self.words_per_summary..][..self.words_per_summary];
        let (at, summary) = summaries.iter().enumerate().find(|(_, summary)| **summary != 0)?;
        let word = at * 64 + summary.trailing_zeros() as usize;
        let bits = self.rows[row * self.words_per_row + word];
        Some(word as u32 * 64 + bits.trailing_zeros())
    }

    /// The highest block of a row, counted in its plane.
    fn last(&self, row: usize) -> Option<u32> {
        let summaries = &self.summaries[row * self.words_per_summary..][..self.words_per_summary];
        let (at, summary) =
            summaries.iter().enumerate().rev().find(|(_, summary)| **summary != 0)?;
        let word = at * 64 + 63 - summary.leading_zeros() as usize;
        let bits = self.rows[row * self.words_per_row + word];
        Some(word as u32 * 64 + 63 - bits.leading_zeros())
    }

    #[inline(always)]
    fn insert(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        let row = self.flip(plane, block, valid);
        self.counts[row] += 1;
        let buckets = &mut self.planes[plane.index()];
        buckets.lowest = buckets.lowest.min(valid);
    }

    #[inline(always)]
    fn remove(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        let row = self.flip(plane, block, valid);
        self.counts[row] -= 1;
    }

    /// Walks over the plane's blocks and fills the buckets around its minimum.
    fn rebuild(&mut self, plane: PlaneId, candidates: &Candidates<'_>) {
        let Some(minimum) = candidates.sealed(plane).map(|b| candidates.kept(b)).min() else {
            return;
        };
        if minimum >= self.data_pages {
            return;
        }
        let margin = (self.data_pages / MARGIN_SHARE).max(1);
        let level = (minimum + margin).min(self.data_pages - 1).min(candidates.most_valid);
        self.planes[plane.index()] = PlaneBuckets { level: level as i32, lowest: minimum };
        for block in candidates.sealed(plane) {
            let valid = candidates.kept(block);
            if valid <= level {
                self.insert(plane, block, valid);
            }
        }
    }

    /// The lowest count with a block, if the buckets hold any.
    fn lowest(&mut self, plane: PlaneId) -> Option<u32> {
        let PlaneBuckets { level, lowest } = self.planes[plane.index()];
        let found = (lowest..(level + 1) as u32).find(|&v| self.counts[self.row(plane, v)] > 0);
        self.planes[plane.index()].lowest = found.unwrap_or((level + 1) as u32);
        found
    }
}

impl VictimPolicy for Policy {
    fn sealed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if self.is_kept(plane, valid) {
            self.insert(plane, block, valid);
        }
    }

    #[inline(always)]
    fn invalidated(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if !self.is_kept(plane, valid) {
            return;
        }
        if self.is_kept(plane, valid + 1) {
            self.remove(plane, block, valid + 1);
        }
        self.insert(plane, block, valid);
    }

    fn claimed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if self.is_kept(plane, valid) {
            self.remove(plane, block, valid);
        }
    }

    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        _random: &mut Random,
    ) -> Option<BlockId> {
        if self.scan || candidates.only.is_some() {
            if self.ties == Ties::Lowest {
                return candidates.fewest_kept(plane);
            }
            let sealed = candidates.sealed(plane);
            let fewest = sealed.min_by_key(|&b| (candidates.kept(b), Reverse(b)));
            return fewest.filter(|&b| candidates.invalid(b) > 0);
        }
        if self.lowest(plane).is_none() {
            self.rebuild(plane, candidates);
        }
        let lowest = self.lowest(plane)?;
        let row = self.row(plane, lowest);
        let local = match self.ties {
            Ties::Lowest => self.first(row)?,
            Ties::Highest => self.last(row)?,
        };
        Some(BlockId(plane.0 * self.blocks_per_plane + local))
    }

    fn table_bytes(&self) -> u64 {
        bytes_of(&self.rows) + bytes_of(&self.summaries) + bytes_of(&self.counts)
    }
}
