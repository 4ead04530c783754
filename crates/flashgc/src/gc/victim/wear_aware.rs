//! Wear-aware greedy: skips blocks that are more worn than the plane's mean.
//!
//! Paper preemptible-gc, section V-B: among the greedy candidates the first one that is not above
//! the mean number of erases is taken; when all blocks with invalid pages are above it, the least
//! worn of those with the fewest valid pages.

use super::{Candidates, Choice, VictimPolicy};
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId};
use crate::rng::Random;

pub use super::NoSettings as Settings;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "wear-aware",
    about: "as greedy, but skips blocks erased more often than their plane's mean",
    keys: &[],
    source: "paper preemptible-gc, section V-B",
};

/// The policy keeps nothing: means change with every erase.
#[derive(Clone)]
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
        let all = candidates.geometry.blocks_of(plane);
        let count = u64::from(all.end - all.start);
        let erases: u64 = all.map(|b| u64::from(candidates.erases(BlockId(b)))).sum();
        let is_worn = |block: BlockId| u64::from(candidates.erases(block)) * count > erases;
        let open = || candidates.sealed(plane).filter(|&b| candidates.invalid(b) > 0);
        open()
            .filter(|&block| !is_worn(block))
            .min_by_key(|&block| (candidates.valid(block), block))
            .or_else(|| open().min_by_key(|&b| (candidates.valid(b), candidates.erases(b), b)))
    }
}
