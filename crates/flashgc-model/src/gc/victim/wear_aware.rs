//! Wear-aware greedy: skips blocks that are more worn than the plane's mean.
//!
//! Paper preemptible-gc, section V-B: among the greedy candidates the first one that is not above
//! the mean number of erases is taken; when all blocks with invalid pages are above it, the least
//! worn of those with the fewest valid pages.
//!
//! The candidates of a plane are in two heaps, fit blocks and worn ones. The mean never falls and
//! the erases of a candidate stay the same, so that a worn block becomes fit once and a fit one
//! stays so: a third heap has the worn blocks in the order in which the mean reaches them.

use super::{Candidates, Choice, VictimPolicy};
use crate::device::Geometry;
use crate::gc::heap::{self, Order};
use crate::ids::{BlockId, PlaneId};
use crate::memory::bytes_of;
use crate::rng::Random;

pub use super::NoSettings as Settings;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "wear-aware",
    about: "as greedy, but skips blocks erased more often than their plane's mean",
    keys: &[],
    source: "paper preemptible-gc, section V-B",
};

const NOWHERE: u32 = u32::MAX;

/// A candidate in the order of choice, where the erases of fit blocks count as 0; or in the order
/// in which the mean reaches worn ones, where their valid pages do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked {
    valid: u32,
    erases: u32,
    block: u32,
}

/// Notes the place of each block in its heap.
struct Places<'a>(&'a mut [u32]);

impl Order<Ranked> for Places<'_> {
    fn is_above(&self, a: &Ranked, b: &Ranked) -> bool {
        a < b
    }

    fn moved(&mut self, member: &Ranked, place: u32) {
        self.0[member.block as usize] = place;
    }
}

/// The candidates of a plane.
#[derive(Clone, Default)]
struct PlaneHeaps {
    /// Whether they have been read, which the first choice does.
    is_filled: bool,
    /// Blocks that were sealed since the last choice.
    sealed: Vec<BlockId>,
    fit: Vec<Ranked>,
    worn: Vec<Ranked>,
    by_wear: Vec<Ranked>,
}

/// The policy and its heaps.
#[derive(Clone)]
pub struct Policy {
    planes: Vec<PlaneHeaps>,
    /// The place of each block in the heap of fit or of worn blocks.
    place: Vec<u32>,
    /// The place of each worn block in the order of wear; [`NOWHERE`] for fit ones.
    wear_place: Vec<u32>,
}

impl Policy {
    /// Empty heaps; none where blocks differ in size.
    pub fn new(_settings: &Settings, geometry: &Geometry) -> Self {
        let is_one = geometry.shape.kinds.is_one();
        let [planes, blocks] = [geometry.planes, geometry.blocks].map(|count| match is_one {
            true => count as usize,
            false => 0,
        });
        Policy {
            planes: vec![PlaneHeaps::default(); planes],
            place: vec![NOWHERE; blocks],
            wear_place: vec![NOWHERE; blocks],
        }
    }

    fn insert(&mut self, plane: PlaneId, block: BlockId, wear: &Wear<'_>) {
        let (valid, erases) = (wear.candidates.valid(block), wear.candidates.erases(block));
        let PlaneHeaps { fit, worn, by_wear, .. } = &mut self.planes[plane.index()];
        let (place, block) = (&mut Places(&mut self.place), block.0);
        if !wear.is_above_mean(erases) {
            heap::push(fit, Ranked { valid, erases: 0, block }, place);
            return;
        }
        heap::push(worn, Ranked { valid, erases, block }, place);
        heap::push(by_wear, Ranked { valid: 0, erases, block }, &mut Places(&mut self.wear_place));
    }

    fn remove(&mut self, plane: PlaneId, block: BlockId) {
        let PlaneHeaps { fit, worn, by_wear, .. } = &mut self.planes[plane.index()];
        let place = std::mem::replace(&mut self.place[block.index()], NOWHERE);
        let wear_place = std::mem::replace(&mut self.wear_place[block.index()], NOWHERE);
        let (from, places) =
            (if wear_place == NOWHERE { fit } else { worn }, &mut Places(&mut self.place));
        heap::remove(from, place as usize, places);
        if wear_place != NOWHERE {
            heap::remove(by_wear, wear_place as usize, &mut Places(&mut self.wear_place));
        }
    }

    /// Sealed blocks enter the heaps, and worn blocks that the mean has reached are fit.
    fn update(&mut self, plane: PlaneId, wear: &Wear<'_>) {
        let heaps = &mut self.planes[plane.index()];
        if !heaps.is_filled {
            heaps.is_filled = true;
            let all = Candidates { most_valid: u32::MAX, ..*wear.candidates };
            heaps.sealed = all.sealed(plane).collect();
        }
        for block in std::mem::take(&mut heaps.sealed) {
            // Some were claimed since, and sealed once more.
            let is_new = self.place[block.index()] == NOWHERE;
            if is_new && wear.candidates.blocks.is_sealed(block) {
                self.insert(plane, block, wear);
            }
        }
        while let Some(&Ranked { erases, block, .. }) = self.planes[plane.index()].by_wear.first()
            && !wear.is_above_mean(erases)
        {
            self.remove(plane, BlockId(block));
            self.insert(plane, BlockId(block), wear);
        }
    }
}

/// The mean number of erases of a plane, for comparisons without rounding.
struct Wear<'a> {
    candidates: &'a Candidates<'a>,
    blocks: u64,
    erases: u64,
}

impl<'a> Wear<'a> {
    fn of(plane: PlaneId, candidates: &'a Candidates<'a>) -> Self {
        let blocks = candidates.geometry.shape.blocks_per_plane.into();
        Wear { candidates, blocks, erases: candidates.blocks.erases_of_plane(plane) }
    }

    fn is_above_mean(&self, erases: u32) -> bool {
        u64::from(erases) * self.blocks > self.erases
    }

    /// The choice by a walk over all blocks of the plane.
    fn walk(&self, plane: PlaneId) -> Option<BlockId> {
        let at = self.candidates;
        let open = || at.sealed(plane).filter(|&b| at.invalid(b) > 0);
        open()
            .filter(|&block| !self.is_above_mean(at.erases(block)))
            .min_by_key(|&block| (at.valid(block), block))
            .or_else(|| open().min_by_key(|&b| (at.valid(b), at.erases(b), b)))
    }
}

impl VictimPolicy for Policy {
    fn sealed(&mut self, plane: PlaneId, block: BlockId, _valid: u32) {
        if let Some(heaps) = self.planes.get_mut(plane.index()).filter(|heaps| heaps.is_filled) {
            heaps.sealed.push(block);
        }
    }

    fn invalidated(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        let place = self.place.get(block.index()).copied().unwrap_or(NOWHERE);
        if place == NOWHERE {
            return;
        }
        let PlaneHeaps { fit, worn, .. } = &mut self.planes[plane.index()];
        let heap = if self.wear_place[block.index()] == NOWHERE { fit } else { worn };
        heap[place as usize].valid = valid;
        heap::settle(heap, place as usize, &mut Places(&mut self.place));
    }

    fn claimed(&mut self, plane: PlaneId, block: BlockId, _valid: u32) {
        if self.place.get(block.index()).is_some_and(|&place| place != NOWHERE) {
            self.remove(plane, block);
        }
    }

    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        _random: &mut Random,
    ) -> Option<BlockId> {
        let wear = Wear::of(plane, candidates);
        // The heaps have the blocks that placement excludes, too.
        if candidates.only.is_some() || self.planes.is_empty() {
            return wear.walk(plane);
        }
        self.update(plane, &wear);
        let PlaneHeaps { fit, worn, .. } = &self.planes[plane.index()];
        let most_valid = candidates.most_valid.min(candidates.data_pages() - 1);
        let best = |heap: &[Ranked]| {
            heap.first().filter(|best| best.valid <= most_valid).map(|best| BlockId(best.block))
        };
        let found = best(fit).or_else(|| best(worn));
        candidates.compare(found, || wear.walk(plane));
        found
    }

    fn table_bytes(&self) -> u64 {
        bytes_of(&self.place) + bytes_of(&self.wear_place)
    }
}
