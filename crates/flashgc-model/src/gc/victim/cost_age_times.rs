//! Cost, age, times: as cost-benefit, and blocks that were erased often go later.
//!
//! Chiang and Chang 1999: the least `u / (1 - u) * 1 / age * times`, where u is the share of valid
//! pages and `times` the number of erases. The erase to come is counted too, so that a drive
//! without erases has an order. The age counts from the sealing, in pages that the host has
//! written. Scores are compared in whole numbers.

use super::fraction::Fraction;
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

/// The policy keeps nothing.
#[derive(Clone)]
pub struct Policy {}

impl Policy {
    /// Nothing to prepare.
    pub fn new(_settings: &Settings, _geometry: &Geometry) -> Self {
        Policy {}
    }
}

/// The score turned over: the higher one goes first. A block without valid pages goes before all
/// others.
fn score(block: BlockId, candidates: &Candidates<'_>) -> Fraction {
    let invalid = u128::from(candidates.invalid(block));
    let times = u64::from(candidates.erases(block)) + 1;
    match u64::from(candidates.valid(block)) * times {
        0 => Fraction { over: u128::MAX >> 48, under: 1 },
        under => Fraction { over: invalid * u128::from(candidates.age_pages(block)), under },
    }
}

impl VictimPolicy for Policy {
    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        _random: &mut Random,
    ) -> Option<BlockId> {
        let gaining = candidates.sealed(plane).filter(|&b| candidates.invalid(b) > 0);
        gaining.min_by_key(|&block| (Reverse(score(block, candidates)), block))
    }
}
