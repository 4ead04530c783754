//! First in, first out: the block that was sealed first, whatever its valid pages.

use super::{Candidates, Choice, VictimPolicy};
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId};
use crate::rng::Random;
use std::collections::VecDeque;

pub use super::NoSettings as Settings;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "fifo",
    about: "the block that was sealed first, even if all its pages are valid",
    keys: &[],
    source: "log-structured stores; models by Desnoyers 2012, Luojie and Kurkoski 2011",
};

/// Each plane's sealed blocks in order of sealing.
#[derive(Clone)]
pub struct Policy {
    queues: Vec<VecDeque<BlockId>>,
}

impl Policy {
    /// Empty queues.
    pub fn new(_settings: &Settings, geometry: &Geometry) -> Self {
        Policy { queues: vec![VecDeque::new(); geometry.planes as usize] }
    }
}

impl VictimPolicy for Policy {
    fn sealed(&mut self, plane: PlaneId, block: BlockId, _valid: u32) {
        self.queues[plane.index()].push_back(block);
    }

    fn claimed(&mut self, plane: PlaneId, block: BlockId, _valid: u32) {
        let queue = &mut self.queues[plane.index()];
        if let Some(at) = queue.iter().position(|&b| b == block) {
            queue.remove(at);
        }
    }

    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        _random: &mut Random,
    ) -> Option<BlockId> {
        self.queues[plane.index()].iter().copied().find(|&block| candidates.is_sealed(block))
    }

    fn table_bytes(&self) -> u64 {
        self.queues.iter().map(|queue| queue.capacity() as u64 * 4).sum()
    }
}
