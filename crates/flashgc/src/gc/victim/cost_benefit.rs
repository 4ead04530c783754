//! Cost-benefit: the free space gained, times the age of the pages that move, over the work of
//! moving them.
//!
//! The score of a block with valid share u is (1 - u) * age / (1 + u), the age counted from the
//! block's sealing. It is compared in whole numbers, so no rounding can change a choice.

use super::{Candidates, Choice, VictimPolicy};
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId};
use crate::rng::Random;
use std::cmp::Ordering;

pub use super::NoSettings as Settings;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "cost-benefit",
    about: "the sealed block with the greatest (1 - u) * age / (1 + u); the lowest number among \
            equals",
    keys: &[],
    source: "Rosenblum and Ousterhout 1992 (LFS)",
};

/// The policy keeps nothing: ages change with every choice.
pub struct Policy {}

impl Policy {
    /// Nothing to prepare.
    pub fn new(_settings: &Settings, _geometry: &Geometry) -> Self {
        Policy {}
    }
}

impl VictimPolicy for Policy {
    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        _random: &mut Random,
    ) -> Option<BlockId> {
        let mut best: Option<(BlockId, u128, u128)> = None;
        for block in candidates.sealed(plane).filter(|&b| candidates.invalid(b) > 0) {
            let gain = u128::from(candidates.invalid(block)) * u128::from(candidates.age_ns(block));
            let cost = u128::from(candidates.data_pages() + candidates.valid(block));
            let better = match best {
                None => true,
                Some((_, best_gain, best_cost)) => {
                    (gain * best_cost).cmp(&(best_gain * cost)) == Ordering::Greater
                }
            };
            if better {
                best = Some((block, gain, cost));
            }
        }
        best.map(|(block, ..)| block)
    }
}
