//! MiDAS: groups of blocks in a chain, with sizes that follow the distribution of update intervals
//! (Oh and others, FAST 2024).
//!
//! Hot pages enter the first group, all others the second one. When a group has more blocks than
//! its size its oldest block is collected, and the pages that are still valid move to the next
//! group; the last group has the remaining blocks, and is collected by the victim policy. A sample
//! of the pages gives the distribution of intervals, a model what each choice of sizes would copy.

mod adaptive;
mod chain;
mod filter;
mod intervals;
mod model;
mod sizes;

use super::{Classes, Copied, GroupCounts, Placement, State, Write};
use crate::device::{Geometry, Shape};
use crate::ftl::BlockFacts;
use crate::gc::choice::{Choice, Count, Described};
use crate::gc::victim::Candidates;
use crate::gc::windows::Costs;
use crate::ids::{BlockId, Lpn, PlaneId};
use adaptive::Adaptive;
use chain::Chain;
use flashgc_config::Reader;
use flashgc_config::units::counted;
use serde::Serialize;
use std::slice::Iter;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "midas",
    about: "groups of blocks in a chain: valid pages of a collected block move to the next group; \
            sizes of the groups follow the distribution of update intervals",
    keys: &[&GROUPS, &Described("sizes", SIZES)],
    source: "Oh and others 2024 (MiDAS)",
};

const GROUPS: Count = Count {
    name: "groups",
    default: 10,
    least: 3,
    most: 16,
    about: "most groups, the hot one included",
};
const SIZES: &str = "1 to 15 numbers of at least 1: fixed sizes of all groups but the last, in \
                     sealed blocks of each plane, without a hot group (default: they adapt)";

/// The groups, and the statistics that they adapt to.
pub const STATE: State =
    State { by: "midas ", name: "groups of blocks", without: "with all blocks in the last group" };

/// The group of hot pages, and the group of others, where groups adapt.
const HOT: u8 = 0;
const FIRST: u8 = 1;

/// The groups.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    groups: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    sizes: Option<Vec<u32>>,
}

impl Settings {
    /// From `[gc.placement.midas]`.
    pub fn read(table: &Reader<'_>) -> Option<Self> {
        let groups = GROUPS.checked(table)?;
        if !table.has("sizes") {
            return Some(Settings { groups, sizes: None });
        }
        let given = table.numbers("sizes")?;
        let is_fit = |size: &u64| (1..=u64::from(u32::MAX)).contains(size);
        if !(1..=15).contains(&given.len()) || !given.iter().all(is_fit) {
            let message = format!("sizes has {given:?}; 1 to 15 numbers of at least 1 are allowed");
            table.error("sizes", message, "give blocks of each plane, as in `sizes = [8, 40]`");
            return None;
        }
        if table.has("groups") {
            let help = "remove it; there is one group more than sizes";
            table.error("groups", "groups and sizes exclude each other", help);
            return None;
        }
        let sizes: Vec<u32> = given.iter().map(|&size| size as u32).collect();
        Some(Settings { groups: sizes.len() as u32 + 1, sizes: Some(sizes) })
    }
}

impl Classes for Settings {
    fn classes(&self) -> u32 {
        self.groups
    }

    /// Copies of one victim go to one class.
    fn classes_of_copies(&self) -> u32 {
        1
    }

    fn first_of_copies(&self) -> Option<u32> {
        None
    }

    fn needs_single_blocks(&self) -> bool {
        true
    }

    fn check(&self, _root: &Reader<'_>, table: &Reader<'_>, shape: &Shape) -> Option<()> {
        let sum: u64 = self.sizes.iter().flatten().map(|&size| u64::from(size)).sum();
        if sum >= u64::from(shape.blocks_per_plane) {
            let (sum, blocks) = (counted(sum, "block"), shape.blocks_per_plane);
            let message = format!("sizes sum up to {sum}, but a plane has {blocks} for all groups");
            table.error("sizes", message, "leave blocks for the last group and erased ones");
            return None;
        }
        Some(())
    }

    fn kept_by(&self, _costs: Costs) -> Option<String> {
        Some(format!("{}{} {:?}", STATE.by, self.groups, self.sizes))
    }
}

/// The chain, and its memory where it adapts.
#[derive(Clone)]
pub struct Policy {
    chain: Chain,
    adaptive: Option<Box<Adaptive>>,
}

impl Policy {
    /// Empty groups.
    pub fn new(settings: &Settings, geometry: &Geometry, _seed: u64) -> Self {
        match &settings.sizes {
            Some(sizes) => Policy { chain: Chain::fixed(sizes, geometry), adaptive: None },
            None => Policy {
                chain: Chain::adaptive(settings.groups as u8, geometry),
                adaptive: Some(Box::new(Adaptive::new(settings.groups, geometry))),
            },
        }
    }
}

impl Placement for Policy {
    #[inline]
    fn class_of_write(&mut self, write: Write) -> u8 {
        let Policy { chain, adaptive } = self;
        adaptive.as_mut().map_or(0, |adaptive| adaptive.class_of_write(write, chain))
    }

    #[inline]
    fn class_of_copy(&mut self, copy: Copied) -> u8 {
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.copied(&copy, &self.chain);
        }
        self.chain.class_of_copy(&copy)
    }

    fn trimmed(&mut self, lpn: Lpn) {
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.trimmed(lpn);
        }
    }

    fn opened(&mut self, block: BlockFacts) {
        self.chain.opened(block);
    }

    fn sealed(&mut self, block: BlockFacts) {
        self.chain.sealed(block);
    }

    fn collected(&mut self, block: BlockFacts, clock: u64) {
        let group = self.chain.collected(block);
        if let Some(adaptive) = &mut self.adaptive {
            adaptive.collected(group, block, clock, &mut self.chain);
        }
    }

    fn choose(
        &mut self,
        plane: PlaneId,
        _class: u8,
        ftl: &crate::ftl::Ftl,
        _candidates: &Candidates<'_>,
    ) -> Option<BlockId> {
        self.chain.erased = ftl.frontiers.free_blocks(plane);
        ftl.frontiers.free_list(plane).next()
    }

    fn due(&self, plane: PlaneId, candidates: &Candidates<'_>) -> Option<BlockId> {
        self.chain.due(plane, candidates)
    }

    fn left_to_victim(&self) -> Option<&[bool]> {
        self.chain.left_to_victim()
    }

    fn invalidated(&mut self, _plane: PlaneId, block: BlockId) {
        self.chain.invalidated(block);
    }

    fn start_counting(&mut self, _seed: u64) {
        self.chain.start_counting();
    }

    fn keep(&self, numbers: &mut Vec<u32>) {
        self.chain.keep(numbers);
        if let Some(adaptive) = &self.adaptive {
            adaptive.keep(numbers);
        }
    }

    fn take_kept(&mut self, numbers: &mut Iter<'_, u32>) -> Option<()> {
        self.chain.take_kept(numbers)?;
        match &mut self.adaptive {
            Some(adaptive) => adaptive.take_kept(numbers),
            None => Some(()),
        }
    }

    fn table_bytes(&self) -> u64 {
        self.chain.bytes() + self.adaptive.as_ref().map_or(0, |adaptive| adaptive.bytes())
    }

    fn of_groups(&self) -> Option<Vec<GroupCounts>> {
        Some(self.chain.counts())
    }
}
