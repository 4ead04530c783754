//! Cost, age, times: as cost-benefit, and blocks that were erased often go later.
//!
//! Chiang and Chang 1999: the least `u / (1 - u) * 1 / age * times`, where u is the share of valid
//! pages and `times` the number of erases. The erase to come is counted too, so that a drive
//! without erases has an order. The age counts from the sealing, in pages that the host has
//! written. Scores are compared in whole numbers.

use super::fraction::Fraction;
use super::seal_order::{Index, LeastWeights};
use super::{Candidates, Choice, VictimPolicy};
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId};
use crate::rng::Random;
use std::cmp::Reverse;

pub use super::NoSettings as Settings;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "cost-age-times",
    about: "the block with the least u / (1 - u) / age x erases, where u is its share of valid \
            pages; the lowest number among equals",
    keys: &[],
    source: "Chiang and Chang 1999 (CAT)",
};

/// The rank of a block: the higher score goes first.
type Rank = Reverse<Fraction>;

/// The rank of a block whose erases, with the one to come, are these. A block without valid pages
/// goes before all others.
fn rank(valid: u32, invalid: u32, age: u64, times: u64) -> Rank {
    Reverse(match u64::from(valid) * times {
        0 => Fraction { over: u128::MAX >> 48, under: 1 },
        under => Fraction { over: u128::from(invalid) * u128::from(age), under },
    })
}

/// The erases of a block, with the one to come.
fn times(block: BlockId, candidates: &Candidates<'_>) -> u64 {
    u64::from(candidates.erases(block)) + 1
}

/// The policy, with an index where that is shorter than a walk over the blocks.
#[derive(Clone)]
pub struct Policy {
    index: Index,
    /// The least erases among neighbours in the order of sealing, from the first choice on.
    least: Option<LeastWeights>,
}

impl Policy {
    /// An empty index.
    pub fn new(_settings: &Settings, geometry: &Geometry) -> Self {
        Policy { index: Index::new(geometry), least: None }
    }

    /// The first of a plane's candidates, by a walk over all of them.
    fn scan(plane: PlaneId, candidates: &Candidates<'_>) -> Option<BlockId> {
        let key = |&block: &BlockId| {
            let (valid, invalid) = (candidates.valid(block), candidates.invalid(block));
            let age = candidates.age_pages(block);
            (rank(valid, invalid, age, times(block, candidates)), block)
        };
        candidates.sealed(plane).filter(|&b| candidates.invalid(b) > 0).min_by_key(key)
    }
}

impl VictimPolicy for Policy {
    fn sealed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.index.seal(plane, block, valid);
    }

    fn invalidated(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.index.lower(plane, block, valid);
    }

    fn claimed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.index.claim(plane, block, valid);
    }

    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        _random: &mut Random,
    ) -> Option<BlockId> {
        let sealed_at = |block| candidates.stamps.sealed_at(block);
        let Some(order) = self.index.for_choice(candidates, sealed_at) else {
            return Self::scan(plane, candidates);
        };
        let weight = |block| times(block, candidates);
        let least = self.least.get_or_insert_with(|| LeastWeights::new(order));
        least.update(plane, order, weight);
        let pages = candidates.data_pages();
        let rank = |valid, block, times| {
            rank(valid, pages - valid, candidates.age_pages(block), times)
        };
        let first = order.first_weighted(plane, candidates.most_valid, least, weight, rank);
        candidates.compare(first, || Self::scan(plane, candidates));
        first
    }

    fn table_bytes(&self) -> u64 {
        self.index.table_bytes() + self.least.as_ref().map_or(0, LeastWeights::table_bytes)
    }
}
