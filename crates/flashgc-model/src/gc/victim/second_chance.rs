//! Fifo with a second chance: an old block that is still valid for the most part is passed over
//! once.
//!
//! The rule of the page replacement of that name. A block that is passed over goes to the end of
//! its plane's queue, as if it had been sealed now, and is taken when it comes to the front again.

use super::{Candidates, Choice, VictimPolicy};
use crate::device::Geometry;
use crate::gc::choice::{Percent, as_number};
use crate::ids::{BlockId, PlaneId};
use crate::rng::Random;
use flashgc_config::Reader;
use flashgc_config::units::Share;
use serde::Serialize;
use std::collections::VecDeque;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "second-chance",
    about: "the block that was sealed first, but a block with many valid pages goes to the end of \
            the queue once",
    keys: &[&ABOVE],
    source: "the page replacement of that name, for blocks",
};

const ABOVE: Percent = Percent {
    name: "above",
    default: Share { numerator: 1, denominator: 2 },
    about: "a block with a larger share of valid pages has a second chance",
};

/// The settings of the choice.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    #[serde(serialize_with = "as_number")]
    above: Share,
}

impl Settings {
    /// From `[gc.victim.second-chance]`.
    pub fn read(table: &Reader<'_>) -> Self {
        Settings { above: ABOVE.read(table).unwrap_or(ABOVE.default) }
    }
}

/// A block in its plane's queue.
#[derive(Clone, Copy)]
struct Entry {
    block: BlockId,
    /// Whether it was passed over since it was sealed.
    is_second: bool,
}

/// Each plane's sealed blocks, in order of sealing and of second chances.
#[derive(Clone)]
pub struct Policy {
    queues: Vec<VecDeque<Entry>>,
    /// A block with more valid pages has a second chance.
    most_valid: u32,
}

impl Policy {
    /// Empty queues.
    pub fn new(settings: &Settings, geometry: &Geometry) -> Self {
        let pages = u64::from(geometry.shape.data_pages());
        Policy {
            queues: vec![VecDeque::new(); geometry.planes as usize],
            most_valid: settings.above.of(pages) as u32,
        }
    }
}

impl VictimPolicy for Policy {
    fn sealed(&mut self, plane: PlaneId, block: BlockId, _valid: u32) {
        self.queues[plane.index()].push_back(Entry { block, is_second: false });
    }

    fn claimed(&mut self, plane: PlaneId, block: BlockId, _valid: u32) {
        let queue = &mut self.queues[plane.index()];
        if let Some(at) = queue.iter().position(|entry| entry.block == block) {
            queue.remove(at);
        }
    }

    fn keeps_times(&self) -> bool {
        true
    }

    /// A drive from a file has the order in which its blocks were sealed, and no second chances.
    fn measuring_begins(&mut self, candidates: &Candidates<'_>) {
        for queue in &mut self.queues {
            queue.make_contiguous().sort_by_key(|entry| candidates.seal_number(entry.block));
            queue.iter_mut().for_each(|entry| entry.is_second = false);
        }
    }

    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        _random: &mut Random,
    ) -> Option<BlockId> {
        let queue = &mut self.queues[plane.index()];
        let mut at = 0;
        // A block has one second chance, so the walk ends after two rounds at most.
        while let Some(&Entry { block, is_second }) = queue.get(at) {
            if !candidates.is_sealed(block) {
                at += 1;
            } else if is_second || candidates.valid(block) <= self.most_valid {
                return Some(block);
            } else {
                queue.remove(at);
                queue.push_back(Entry { block, is_second: true });
            }
        }
        None
    }

    fn table_bytes(&self) -> u64 {
        let bytes = size_of::<Entry>() as u64;
        self.queues.iter().map(|queue| queue.capacity() as u64 * bytes).sum()
    }
}
