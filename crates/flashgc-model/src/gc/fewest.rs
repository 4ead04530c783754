//! The block of a plane with the fewest valid pages, which is collected where a list is empty and
//! the plane is down to the reserve of collection.
//!
//! The index is that of greedy. It is empty until the first choice, so that a scheme whose list is
//! never empty does not pay for it.

use super::GcPlan;
use super::victim::greedy::{self, Policy};
use super::victim::{Candidates, VictimPolicy};
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId};
use crate::rng::Random;

/// The index, where the scheme has lists and all blocks are of one size.
#[derive(Clone)]
pub struct Fewest(Option<Box<Policy>>);

impl Fewest {
    /// An empty index, if the scheme needs one.
    pub fn new(plan: &GcPlan, geometry: &Geometry) -> Self {
        // Counts of valid pages order only blocks of one size.
        let is_needed = plan.used_space.is_some() && geometry.shape.kinds.is_one();
        let settings = greedy::Settings::default();
        Fewest(is_needed.then(|| Box::new(Policy::new(&settings, geometry))))
    }

    /// A block is full and became a candidate.
    pub fn sealed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if let Some(index) = &mut self.0 {
            index.sealed(plane, block, valid);
        }
    }

    /// A candidate lost a valid page and has `valid` left.
    pub fn invalidated(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if let Some(index) = &mut self.0 {
            index.invalidated(plane, block, valid);
        }
    }

    /// A collection took a candidate.
    pub fn claimed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if let Some(index) = &mut self.0 {
            index.claimed(plane, block, valid);
        }
    }

    /// The sealed block of a plane whose erase frees most, the lowest among equals; `None` where it
    /// frees nothing.
    pub fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        random: &mut Random,
    ) -> Option<BlockId> {
        let Some(index) = &mut self.0 else { return candidates.fewest_kept(plane) };
        let picked = index.pick(plane, candidates, random);
        candidates.compare(picked, || candidates.fewest_kept(plane));
        picked
    }

    /// Bytes of the index.
    pub fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, |index| index.table_bytes())
    }
}
