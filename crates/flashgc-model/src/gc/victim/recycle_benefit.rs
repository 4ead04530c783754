//! Recycle benefit: the window of sub-blocks that frees the most invalid pages per unit of time.
//!
//! This is the greedy scanning method (GSM) of paper speedup-gc, section II-A, which scans every
//! window of every block. Here each block has a *distance*: the least number of its pages that must
//! become invalid before any of its windows can reach a level, kept a little below the best of the
//! plane. An invalidation counts it down; only when it reaches zero are the block's windows
//! examined again. The result is exactly that of the scan (`index = "scan"`), which a test checks.

use super::{About, Candidates, Choice, VictimPolicy, Word};
use crate::device::Geometry;
use crate::gc::heap::{self, Order};
use crate::gc::windows::{Benefit, Parts, Window};
use crate::ids::{BlockId, PlaneId};
use crate::memory::bytes_of;
use crate::rng::Random;
use flashgc_config::Reader;
use serde::Serialize;
use std::cmp::Reverse;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "recycle-benefit",
    about:
        "the run of sub-blocks that frees the most pages per unit of time; among equals the one in \
         the lowest block, then the shortest, then the lowest in its block",
    keys: &[&INDEX],
    source: "Chang et al., CODES+ISSS 2016 (GSM), as in paper speedup-gc, section II-A",
};

/// Whether every block is scanned.
const INDEX: Word<bool> = Word {
    name: "index",
    words: &[("kept", false), ("scan", true)],
    default: 0,
    about: About::All("search method; the victims are the same"),
};

/// The search for the best window.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    /// Not part of the resolved configuration: it changes no result.
    #[serde(skip)]
    scan: bool,
}

impl Settings {
    /// From `[gc.victim.recycle-benefit]`.
    pub fn read(table: &Reader<'_>) -> Self {
        Settings { scan: INDEX.read(table) }
    }
}

/// A block that waits to be examined.
const DUE: u32 = u32::MAX;
/// The distance of a block that has no window.
const FAR: u32 = u32::MAX - 1;
/// About one block of a plane in `NEAR_SHARE` is near, and at least `NEAR_LEAST` blocks.
const NEAR_SHARE: usize = 16;
const NEAR_LEAST: usize = 8;
/// The number of blocks among which a new level is found.
const SAMPLE: u32 = 128;

/// The policy and its index.
#[derive(Clone)]
pub struct Policy {
    scan: bool,
    sub_blocks: u32,
    blocks_per_plane: u32,
    planes: Vec<PlaneIndex>,
    /// For each block, how many more of its pages must become invalid before it is examined.
    distance: Vec<u32>,
    /// For each block, its place among the near ones, or `DUE`.
    place: Vec<u32>,
    /// Room for the sub-blocks of one block.
    parts: Box<Parts>,
    /// The last pick: the block's first sub-block, and the window.
    picked: Option<(u32, Window)>,
}

/// A block, and the benefit of its best window.
type Near = (u32, Benefit);

/// The greatest benefit first; the lowest block among equals.
struct ByBenefit<'a>(&'a mut [u32]);

impl Order<Near> for ByBenefit<'_> {
    fn is_above(&self, &(a, benefit): &Near, &(b, other): &Near) -> bool {
        (benefit, Reverse(a)) > (other, Reverse(b))
    }

    fn moved(&mut self, &(block, _): &Near, place: u32) {
        self.0[block as usize] = place;
    }
}

#[derive(Clone, Default)]
struct PlaneIndex {
    /// Blocks whose best window reaches this are near, and in a heap: the best is at its root.
    level: Option<Benefit>,
    near: Vec<Near>,
    /// Blocks to examine.
    due: Vec<u32>,
}

impl Policy {
    /// An index in which nothing is near.
    pub fn new(settings: &Settings, geometry: &Geometry) -> Self {
        let blocks = (geometry.blocks / geometry.shape.sub_blocks) as usize;
        Policy {
            scan: settings.scan,
            sub_blocks: geometry.shape.sub_blocks,
            blocks_per_plane: geometry.shape.blocks_per_plane / geometry.shape.sub_blocks,
            planes: vec![PlaneIndex::default(); geometry.planes as usize],
            distance: vec![FAR; blocks],
            place: vec![DUE; blocks],
            parts: Box::default(),
            picked: None,
        }
    }

    fn block_of(&self, sub_block: BlockId) -> u32 {
        sub_block.0 / self.sub_blocks
    }

    fn read(&self, parts: &mut Parts, candidates: &Candidates<'_>, block: u32) {
        let Candidates { geometry, blocks, costs, .. } = candidates;
        parts.read(geometry, blocks, costs, BlockId(block * self.sub_blocks));
    }

    /// The block is examined before the next choice.
    #[inline]
    fn touch(&mut self, plane: PlaneId, block: u32) {
        if self.distance[block as usize] != DUE {
            self.distance[block as usize] = DUE;
            self.planes[plane.index()].due.push(block);
        }
    }

    /// The block has fewer windows now: one that is not near is not nearer.
    fn loses(&mut self, plane: PlaneId, block: u32) {
        if self.place[block as usize] != DUE {
            self.touch(plane, block);
        }
    }

    /// Finds whether the block is near, and how far it is if not.
    fn look(&mut self, plane: PlaneId, block: u32, level: Benefit, candidates: &Candidates<'_>) {
        let mut parts = std::mem::take(&mut self.parts);
        self.read(&mut parts, candidates, block);
        let costs = &candidates.costs;
        let distance = parts.distance(level, costs);
        let best = if distance == Some(0) { parts.near_best(level, costs) } else { None };
        self.parts = parts;
        match best.map(|window| window.benefit(costs)).filter(|&benefit| benefit >= level) {
            Some(benefit) => {
                self.distance[block as usize] = 1;
                self.come_near(plane, block, benefit);
            }
            None => {
                self.distance[block as usize] = distance.map_or(FAR, |by| by.clamp(1, FAR));
                self.go_away(plane, block);
            }
        }
    }

    fn come_near(&mut self, plane: PlaneId, block: u32, benefit: Benefit) {
        let near = &mut self.planes[plane.index()].near;
        let place = self.place[block as usize];
        let order = &mut ByBenefit(&mut self.place);
        if place == DUE {
            heap::push(near, (block, benefit), order);
        } else {
            near[place as usize].1 = benefit;
            heap::settle(near, place as usize, order);
        }
    }

    fn go_away(&mut self, plane: PlaneId, block: u32) {
        let place = std::mem::replace(&mut self.place[block as usize], DUE);
        if place != DUE {
            let near = &mut self.planes[plane.index()].near;
            heap::remove(near, place as usize, &mut ByBenefit(&mut self.place));
        }
    }

    fn near_at_most(&self) -> usize {
        (self.blocks_per_plane as usize / NEAR_SHARE).max(NEAR_LEAST)
    }

    /// The benefits of some blocks, of those that have any.
    fn scan(&self, plane: PlaneId, candidates: &Candidates<'_>, every: u32) -> Vec<Near> {
        let first = plane.0 * self.blocks_per_plane;
        let blocks = (first..first + self.blocks_per_plane).step_by(every as usize);
        let mut parts = Parts::default();
        let best = |block| {
            self.read(&mut parts, candidates, block);
            Some((block, parts.best(&candidates.costs)?.benefit(&candidates.costs)))
        };
        blocks.filter_map(best).collect()
    }

    /// No block is near: the level goes down to where some are. It is guessed from a sample, and
    /// if that fails found among all blocks.
    fn lower_level(&mut self, plane: PlaneId, least: Benefit, candidates: &Candidates<'_>) {
        let every = (self.blocks_per_plane / SAMPLE).max(1);
        let sample = self.scan(plane, candidates, every);
        let guess = Self::level_of(&sample, sample.len().div_ceil(NEAR_SHARE));
        let guess = guess.filter(|&guess| Some(guess) < self.planes[plane.index()].level);
        if let Some(guess) = guess {
            self.set_level(plane, guess, candidates);
        }
        if self.planes[plane.index()].near.is_empty() {
            let all = self.scan(plane, candidates, 1);
            let level = Self::level_of(&all, self.near_at_most()).unwrap_or(least);
            self.set_level(plane, level, candidates);
        }
    }

    /// Lowers or raises the level so that about the right number of blocks is near.
    fn set_level(&mut self, plane: PlaneId, level: Benefit, candidates: &Candidates<'_>) {
        self.planes[plane.index()].level = Some(level);
        let first = plane.0 * self.blocks_per_plane;
        for block in first..first + self.blocks_per_plane {
            self.look(plane, block, level, candidates);
        }
    }

    /// A level that `count` of these blocks reach.
    fn level_of(blocks: &[Near], count: usize) -> Option<Benefit> {
        let mut benefits: Vec<Benefit> = blocks.iter().map(|&(_, benefit)| benefit).collect();
        let at = count.checked_sub(1).filter(|&at| at < benefits.len())?;
        let (_, level, _) = benefits.select_nth_unstable_by_key(at, |&benefit| Reverse(benefit));
        Some(*level)
    }

    /// Brings the index up to date.
    fn refresh(&mut self, plane: PlaneId, candidates: &Candidates<'_>) {
        let least = candidates.costs.least(candidates.data_pages() * self.sub_blocks);
        let level = self.planes[plane.index()].level;
        let mut due = std::mem::take(&mut self.planes[plane.index()].due);
        if let Some(level) = level {
            due.drain(..).for_each(|block| self.look(plane, block, level, candidates));
        } else {
            due.clear();
        }
        self.planes[plane.index()].due = due;
        let index = &self.planes[plane.index()];
        let most = self.near_at_most();
        if level.is_none() || (index.near.is_empty() && level > Some(least)) {
            self.lower_level(plane, least, candidates);
        } else if index.near.len() > 4 * most
            && let Some(higher) = Self::level_of(&index.near, most) {
                self.raise_level(plane, higher, candidates);
            }
    }

    /// Fewer blocks are near from now on.
    fn raise_level(&mut self, plane: PlaneId, level: Benefit, candidates: &Candidates<'_>) {
        let index = &mut self.planes[plane.index()];
        if index.level == Some(level) {
            return;
        }
        index.level = Some(level);
        for (block, _) in index.near.clone() {
            self.look(plane, block, level, candidates);
        }
    }

    /// The best window of a block, with the block.
    fn window_of(&self, block: u32, candidates: &Candidates<'_>) -> Option<(u32, Window)> {
        let mut parts = Parts::default();
        self.read(&mut parts, candidates, block);
        Some((block, parts.best(&candidates.costs)?))
    }
}

impl VictimPolicy for Policy {
    fn sealed(&mut self, plane: PlaneId, block: BlockId, _valid: u32) {
        self.touch(plane, self.block_of(block));
    }

    #[inline(always)]
    fn invalidated(&mut self, plane: PlaneId, block: BlockId, _valid: u32) {
        let block = self.block_of(block);
        let distance = &mut self.distance[block as usize];
        if *distance < FAR {
            *distance -= 1;
            if *distance == 0 {
                self.touch(plane, block);
            }
        }
    }

    fn claimed(&mut self, plane: PlaneId, block: BlockId, _valid: u32) {
        self.loses(plane, self.block_of(block));
    }

    fn opened(&mut self, plane: PlaneId, block: BlockId) {
        self.loses(plane, self.block_of(block));
    }

    fn erased(&mut self, plane: PlaneId, block: BlockId) {
        self.touch(plane, self.block_of(block));
    }

    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        _random: &mut Random,
    ) -> Option<BlockId> {
        let best = if self.scan {
            let rank = |&(block, benefit): &Near| (benefit, Reverse(block));
            self.scan(plane, candidates, 1).into_iter().max_by_key(rank)
        } else {
            self.refresh(plane, candidates);
            self.planes[plane.index()].near.first().copied()
        };
        self.picked = best.and_then(|(block, _)| self.window_of(block, candidates));
        let (block, window) = self.picked?;
        Some(BlockId(block * self.sub_blocks + window.first))
    }

    fn erased_with(&self, _picked: BlockId, _candidates: &Candidates<'_>, into: &mut Vec<BlockId>) {
        if let Some((block, window)) = self.picked {
            let first = block * self.sub_blocks;
            into.extend((first + window.first..=first + window.last).map(BlockId));
        }
    }

    fn table_bytes(&self) -> u64 {
        bytes_of(&self.distance) + bytes_of(&self.place)
    }
}
