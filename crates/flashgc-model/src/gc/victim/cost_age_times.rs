//! Cost, age, times: as cost-benefit, and blocks that were erased often go later.
//!
//! Chiang and Chang 1999: the least `u / (1 - u) * 1 / age * times`, where u is the share of valid
//! pages and `times` the number of erases. The erase to come is counted too, so that a drive
//! without erases has an order. The age counts from the sealing, in pages that the host has
//! written. Scores are compared in whole numbers.

use super::fraction::Fraction;
use super::seal_order::{LeastWeights, SealOrder};
use super::policy::rows_pay;
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
    index: Option<Index>,
}

/// The candidates by valid pages and order of sealing, and the least erases among neighbours there.
#[derive(Clone)]
struct Index {
    order: SealOrder,
    least: LeastWeights,
    /// Whether it has the candidates: from the first choice on.
    is_filled: bool,
}

impl Index {
    fn new(geometry: &Geometry) -> Self {
        let order = SealOrder::new(geometry);
        Index { least: LeastWeights::new(&order), order, is_filled: false }
    }

    /// The first of a plane's candidates.
    fn first(&mut self, plane: PlaneId, candidates: &Candidates<'_>) -> Option<BlockId> {
        if !std::mem::replace(&mut self.is_filled, true) {
            self.order.fill(candidates, |block| candidates.stamps.sealed_at(block));
        }
        let weight = |block| times(block, candidates);
        self.least.update(plane, &self.order, weight);
        let pages = candidates.data_pages();
        let rank = |valid, block, times| {
            rank(valid, pages - valid, candidates.age_pages(block), times)
        };
        self.order.first_weighted(plane, candidates.most_valid, &self.least, weight, rank)
    }
}

impl Policy {
    /// An empty index.
    pub fn new(_settings: &Settings, geometry: &Geometry) -> Self {
        Policy { index: rows_pay(geometry).then(|| Index::new(geometry)) }
    }

    /// The order of sealing, once it has the candidates.
    fn filled(&mut self) -> Option<&mut SealOrder> {
        self.index.as_mut().filter(|index| index.is_filled).map(|index| &mut index.order)
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
        if let Some(order) = self.filled() {
            order.seal(plane, block, valid);
        }
    }

    fn invalidated(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if let Some(order) = self.filled() {
            order.lower(plane, block, valid);
        }
    }

    fn claimed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if let Some(order) = self.filled() {
            order.claim(plane, block, valid);
        }
    }

    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        _random: &mut Random,
    ) -> Option<BlockId> {
        // The index has the blocks that placement excludes, too.
        let index = self.index.as_mut().filter(|_| candidates.only.is_none());
        let Some(index) = index else { return Self::scan(plane, candidates) };
        let first = index.first(plane, candidates);
        let walked = || Self::scan(plane, candidates);
        debug_assert_eq!(first, walked(), "the index finds what a walk does");
        first
    }

    fn table_bytes(&self) -> u64 {
        let bytes = |index: &Index| index.order.table_bytes() + index.least.table_bytes();
        self.index.as_ref().map_or(0, bytes)
    }
}
