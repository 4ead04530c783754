//! Static wear levelling: greedy, but at times the block that was sealed first.
//!
//! Greedy leaves blocks of cold pages alone, which therefore are never erased. While the erases of
//! a plane are a multiple of `every`, its victim is the block that was sealed first, whatever is
//! valid in it: cold pages move, and their block wears as others do. Without any state of its own,
//! the policy continues with a drive from a file as with the one that was saved.

use super::greedy;
use super::{Candidates, Choice, Count, VictimPolicy};
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId};
use crate::rng::Random;
use flashgc_config::Reader;
use serde::Serialize;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "static-levelling",
    about: "as greedy, but each `every`-th victim of a plane is the block that was sealed first, \
            even if all its pages are valid",
    keys: &[&EVERY],
    source: "a simple form of static wear levelling, as by Chang, Hsieh and Kuo 2007",
};

const EVERY: Count = Count {
    name: "every",
    default: 8,
    least: 1,
    most: 1_000_000,
    about: "one of this many victims is the block that was sealed first; 1 equals fifo",
};

/// The period of the levelling.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    every: u32,
}

impl Settings {
    /// From `[gc.victim.static-levelling]`.
    pub fn read(table: &Reader<'_>) -> Self {
        Settings { every: EVERY.read(table) }
    }
}

/// The buckets of greedy, for all other victims.
#[derive(Clone)]
pub struct Policy {
    every: u64,
    greedy: greedy::Policy,
}

impl Policy {
    /// Empty buckets.
    pub fn new(settings: &Settings, geometry: &Geometry) -> Self {
        let greedy = greedy::Policy::new(&greedy::Settings::default(), geometry);
        Policy { every: settings.every.into(), greedy }
    }
}

impl VictimPolicy for Policy {
    fn sealed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.greedy.sealed(plane, block, valid);
    }

    fn invalidated(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.greedy.invalidated(plane, block, valid);
    }

    fn claimed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.greedy.claimed(plane, block, valid);
    }

    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        random: &mut Random,
    ) -> Option<BlockId> {
        let erases = candidates.blocks.erases_of_plane(plane);
        if erases.is_multiple_of(self.every) {
            return candidates.sealed(plane).min_by_key(|&block| candidates.seal_number(block));
        }
        self.greedy.pick(plane, candidates, random)
    }

    fn table_bytes(&self) -> u64 {
        self.greedy.table_bytes()
    }
}
