//! Random: any sealed block, each with the same probability.

use super::{Candidates, Choice, VictimPolicy, d_choices};
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId};
use crate::rng::Random;

pub use super::NoSettings as Settings;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "random",
    about: "any sealed block with equal probability, even if all its pages are valid",
    keys: &[],
    source: "the literature's lower bound; write amplification 1 / (1 - utilisation)",
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

impl VictimPolicy for Policy {
    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        random: &mut Random,
    ) -> Option<BlockId> {
        d_choices::sample(plane, candidates, random)
    }
}
