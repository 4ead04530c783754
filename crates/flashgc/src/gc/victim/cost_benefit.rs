//! Cost-benefit: the free space gained, times the age of the pages that move, over the work of
//! moving them.
//!
//! The score of a block with valid share u is (1 - u) * age / (1 + u), the age counted from the
//! block's sealing. It is compared in whole numbers, so no rounding can change a choice.

use super::fraction::Fraction;
use super::oldest::Oldest;
use super::{Candidates, Choice, VictimPolicy};
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId};
use crate::rng::Random;
use std::cmp::Reverse;

pub use super::NoSettings as Settings;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "cost-benefit",
    about: "the sealed block with the greatest (1 - u) * age / (1 + u); the lowest number among \
            equals",
    keys: &[],
    source: "Rosenblum and Ousterhout 1992 (LFS)",
};

/// The rank of a block: the higher score goes first.
type Rank = Reverse<Fraction>;

fn rank(invalid: u32, age_ns: u64, cost: u32) -> Rank {
    Reverse(Fraction { over: u128::from(invalid) * u128::from(age_ns), under: cost.into() })
}

/// The policy, with an index where that is shorter than a walk over the blocks.
pub struct Policy {
    index: Option<Oldest>,
    /// Whether the index has the candidates: from the first choice on.
    is_filled: bool,
    /// The time of the last choice: a block that was sealed later dates from a later time.
    chosen_at_ns: u64,
}

impl Policy {
    /// An empty index.
    pub fn new(_settings: &Settings, geometry: &Geometry) -> Self {
        let index = Oldest::pays(geometry).then(|| Oldest::new(geometry));
        Policy { index, is_filled: false, chosen_at_ns: 0 }
    }

    /// The index, once it has the candidates.
    fn filled(&mut self) -> Option<&mut Oldest> {
        self.index.as_mut().filter(|_| self.is_filled)
    }

    /// The first of a plane's candidates, by a walk over all of them.
    fn scan(plane: PlaneId, candidates: &Candidates<'_>) -> Option<BlockId> {
        let key = |&block: &BlockId| {
            let cost = candidates.data_pages() + candidates.valid(block);
            (rank(candidates.invalid(block), candidates.age_ns(block), cost), block)
        };
        candidates.sealed(plane).filter(|&b| candidates.invalid(b) > 0).min_by_key(key)
    }
}

impl VictimPolicy for Policy {
    fn sealed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if let Some(index) = self.filled() {
            index.insert(plane, block, valid);
        }
    }

    fn invalidated(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if let Some(index) = self.filled() {
            index.lower(plane, block, valid);
        }
    }

    fn claimed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if let Some(index) = self.filled() {
            index.remove(plane, block, valid);
        }
    }

    /// It will be sealed after the last choice.
    fn erased(&mut self, _plane: PlaneId, block: BlockId) {
        let chosen_at_ns = self.chosen_at_ns;
        if let Some(index) = self.filled() {
            index.set_bound(block, chosen_at_ns);
        }
    }

    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        _random: &mut Random,
    ) -> Option<BlockId> {
        let Some(index) = &mut self.index else { return Self::scan(plane, candidates) };
        if !self.is_filled {
            self.is_filled = true;
            index.fill(candidates, |block| candidates.blocks.sealed_at_ns(block));
        }
        self.chosen_at_ns = candidates.age_now_ns;
        let pages = candidates.data_pages();
        let first = index.first(
            plane,
            candidates.most_valid,
            |block| candidates.blocks.sealed_at_ns(block),
            |valid, sealed_ns| {
                let age_ns = candidates.age_now_ns - sealed_ns;
                rank(pages - valid, age_ns, pages + valid)
            },
        );
        debug_assert_eq!(first, Self::scan(plane, candidates), "the index finds what a walk does");
        first
    }

    fn table_bytes(&self) -> u64 {
        self.index.as_ref().map_or(0, Oldest::table_bytes)
    }
}
