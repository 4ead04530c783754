//! d choices: the best of d sealed blocks drawn at random, with replacement.

use super::{Candidates, Choice, Count, VictimPolicy};
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId};
use crate::rng::Random;
use flashgc_config::Reader;
use serde::Serialize;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "d-choices",
    about: "the block with the fewest valid pages among d sealed blocks drawn at random",
    keys: &[&D],
    source: "Van Houdt 2013",
};

const D: Count = Count {
    name: "d",
    default: 10,
    least: 1,
    most: 1000,
    about: "number of blocks drawn; 1 equals random, a large number approaches greedy",
};

/// The number of blocks that are drawn.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    d: u32,
}

impl Settings {
    /// From `[gc.victim.d-choices]`.
    pub fn read(table: &Reader<'_>) -> Self {
        Settings { d: D.read(table) }
    }
}

/// The policy keeps nothing but d.
#[derive(Clone)]
pub struct Policy {
    d: u32,
}

impl Policy {
    /// Nothing to prepare.
    pub fn new(settings: &Settings, _geometry: &Geometry) -> Self {
        Policy { d: settings.d }
    }
}

impl VictimPolicy for Policy {
    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        random: &mut Random,
    ) -> Option<BlockId> {
        let drawn = (0..self.d).filter_map(|_| sample(plane, candidates, random));
        // `min_by_key` keeps the first among equals, so the draw decides.
        drawn.min_by_key(|&block| candidates.valid(block))
    }
}

/// One sealed block of the plane, each with the same probability.
pub fn sample(plane: PlaneId, candidates: &Candidates<'_>, random: &mut Random) -> Option<BlockId> {
    let blocks = candidates.geometry.blocks_of(plane);
    let count = u64::from(blocks.end - blocks.start);
    // Nearly every block is sealed when space is short, so a few draws are enough.
    for _ in 0..64 {
        let block = BlockId(blocks.start + random.below(count) as u32);
        if candidates.is_sealed(block) {
            return Some(block);
        }
    }
    let sealed: Vec<BlockId> = candidates.sealed(plane).collect();
    if sealed.is_empty() {
        return None;
    }
    Some(sealed[random.below(sealed.len() as u64) as usize])
}
