//! Hotness groups: pages that are updated often go where they are
//! likely to be erased soon (paper speedup-gc, sections III-B to III-D).
//!
//! Each hotness group has an open sub-block of its own in every plane, and so have cold pages. When
//! one is full, Algorithm 2 chooses the next; the paper runs it for every page.

mod config;
pub mod groups;
pub mod hotness;
mod kept;

use super::{Classes, Copied, HotnessCounts, Placement, Write};
use crate::device::{Geometry, Shape};
use crate::ftl::Ftl;
use crate::ftl::blocks::BlockState;
use crate::gc::victim::{Candidates, Ranks};
use crate::gc::windows::{Benefit, Costs, Parts};
use crate::ids::{BlockId, PlaneId};
use crate::rng::Random;
use groups::{Groups, Sight, Worth};
use hotness::{Hotness, HotnessSettings};
use flashgc_config::Reader;
use serde::Serialize;
use std::cell::{RefCell, RefMut};
use std::slice::Iter;

pub use HotnessGroups as Settings;
pub use config::CHOICE;
pub use kept::STATE;

/// The settings of the choice.
#[derive(Clone, Debug, Serialize)]
pub struct HotnessGroups {
    /// The identifier; its thresholds set the number of groups.
    #[serde(flatten)]
    pub hotness: HotnessSettings,
    /// The destination of hot pages.
    pub hot_to: HotTo,
    /// The destination of copies.
    pub copies: CopiesGo,
    /// The destination of cold pages.
    pub cold: ColdGo,
    /// Whether blocks are ranked by the sub-blocks that hold no valid page, not by recycle benefit.
    /// Derived from the victim.
    #[serde(skip)]
    pub by_invalid_sub_blocks: bool,
}

impl HotnessGroups {
    /// Groups of pages, and of blocks.
    pub fn groups(&self) -> u32 {
        self.hotness.thresholds.len() as u32
    }
}

impl Classes for HotnessGroups {
    /// Cold pages have one of their own.
    fn classes(&self) -> u32 {
        self.groups() + 1
    }

    fn classes_of_copies(&self) -> u32 {
        self.classes()
    }

    fn needs_sub_blocks(&self) -> bool {
        true
    }

    fn keeps_blocks(&self) -> bool {
        false
    }

    fn check(&self, root: &Reader<'_>, table: &Reader<'_>, shape: &Shape) -> Option<()> {
        config::check_blocks(root, table, shape, self)
    }

    /// Block groups rank blocks as the victim does.
    fn set_ranks(&mut self, ranks: Ranks) {
        self.by_invalid_sub_blocks = ranks == Ranks::SubBlocks;
    }

    fn kept_by(&self, costs: Costs) -> Option<String> {
        let ranked = if self.by_invalid_sub_blocks { "invalid sub-blocks" } else { "benefit" };
        Some(format!("{self:?}; blocks by {ranked}, {costs:?}"))
    }
}

/// The destinations of hot pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HotTo {
    /// Hot pages of a hotness group to the block group with the same number.
    Group,
    /// All of them to the highest block group.
    Top,
}

impl HotTo {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, HotTo); 2] = [("group", HotTo::Group), ("top", HotTo::Top)];
}

/// The destinations of copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopiesGo {
    /// By the hotness of the page, as writes of the host.
    ByHotness,
    /// The destination of cold pages.
    Cold,
}

impl CopiesGo {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, CopiesGo); 2] =
        [("by-hotness", CopiesGo::ByHotness), ("cold", CopiesGo::Cold)];
}

/// The destinations of cold pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColdGo {
    /// To a block that is drawn.
    Random,
    /// To the first sub-block of the list of erased ones
    /// (`docs/schemes/gsm.md#erased-sub-blocks-in-and-beside-a-window`).
    Next,
}

impl ColdGo {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, ColdGo); 2] =
        [("random", ColdGo::Random), ("next", ColdGo::Next)];
}

/// The number of draws of a block before the next one by number with an erased sub-block is taken.
const DRAWS: u32 = 64;

/// The choice of hot pages, and their destination.
#[derive(Clone)]
pub struct Policy {
    settings: HotnessGroups,
    /// The choice of hot pages.
    pub hotness: Hotness,
    planes: Vec<Groups>,
    sub_blocks: u32,
    /// Blocks of a plane.
    blocks: u32,
    /// The block of each plane to which cold pages go until it has no erased sub-block left.
    drawn: Vec<u32>,
    random: Random,
}

impl Policy {
    /// No page is hot, and no block has a benefit.
    pub fn new(settings: &HotnessGroups, geometry: &Geometry, seed: u64) -> Self {
        let sub_blocks = geometry.shape.sub_blocks;
        let blocks = geometry.shape.blocks_per_plane / sub_blocks;
        let groups = |_| {
            let mut groups = Groups::new(blocks, settings.groups());
            (0..blocks).for_each(|block| groups.set_free(block, sub_blocks as u8));
            groups
        };
        Policy {
            settings: settings.clone(),
            hotness: Hotness::new(&settings.hotness),
            planes: (0..geometry.planes).map(groups).collect(),
            sub_blocks,
            blocks,
            drawn: vec![0; geometry.planes as usize],
            random: Random::named(seed, "placement"),
        }
    }

    /// The groups of a plane, for inspection.
    pub fn groups(&self, plane: PlaneId) -> &Groups {
        &self.planes[plane.index()]
    }

    #[inline]
    fn class(&self, group: usize) -> u8 {
        match self.settings.hot_to {
            HotTo::Top if group > 0 => self.settings.groups() as u8,
            _ => group as u8,
        }
    }

    fn sight<'a>(&self, plane: PlaneId, candidates: &'a Candidates<'a>) -> BlockSight<'a> {
        BlockSight {
            candidates,
            first: plane.0 * self.blocks,
            sub_blocks: self.sub_blocks,
            by_invalid_sub_blocks: self.settings.by_invalid_sub_blocks,
            parts: RefCell::default(),
        }
    }

    /// An erased sub-block of a block that is drawn among those that have one.
    fn draw(&mut self, plane: PlaneId, candidates: &Candidates<'_>) -> Option<BlockId> {
        let sight = self.sight(plane, candidates);
        let groups = &self.planes[plane.index()];
        let is_fit = |block: u32| groups.free(block) > 0 && sight.is_left_alone(block);
        let mut block = self.drawn[plane.index()];
        if is_fit(block) {
            return sight.erased_in(block, false);
        }
        for _ in 0..DRAWS {
            block = self.random.below(self.blocks.into()) as u32;
            if is_fit(block) {
                break;
            }
        }
        let found = (0..self.blocks).map(|by| (block + by) % self.blocks).find(|&at| is_fit(at))?;
        self.drawn[plane.index()] = found;
        sight.erased_in(found, false)
    }

    /// Bytes that keep the groups.
    fn group_bytes(&self) -> u64 {
        self.planes.iter().map(Groups::bytes).sum()
    }
}

impl Placement for Policy {
    /// 0 where the page is cold or has never been written.
    #[inline]
    fn class_of_write(&mut self, write: Write) -> u8 {
        if write.is_update {
            let group = self.hotness.update(write.lpn);
            self.class(group)
        } else {
            0
        }
    }

    #[inline]
    fn class_of_copy(&mut self, copy: Copied) -> u8 {
        match self.settings.copies {
            CopiesGo::ByHotness => self.class(self.hotness.group(copy.lpn)),
            CopiesGo::Cold => 0,
        }
    }

    /// Algorithm 2: the erased sub-block that takes the next pages of this class.
    fn choose(
        &mut self,
        plane: PlaneId,
        class: u8,
        ftl: &Ftl,
        candidates: &Candidates<'_>,
    ) -> Option<BlockId> {
        let Some(group) = usize::from(class).checked_sub(1) else {
            return match self.settings.cold {
                ColdGo::Random => self.draw(plane, candidates),
                ColdGo::Next => ftl.frontiers.free_list(plane).next(),
            };
        };
        let sight = self.sight(plane, candidates);
        let groups = &mut self.planes[plane.index()];
        groups.refresh(&sight);
        let is_fit = |block| sight.is_left_alone(block);
        // Line 22: the nearest group, the higher of two.
        let count = self.settings.groups() as usize;
        let by = |by: usize| [Some(group + by), group.checked_sub(by).filter(|_| by > 0)];
        let mut order = (0..count).flat_map(by).flatten().filter(|&at| at < count);
        let (block, in_window) = order.find_map(|at| groups.best_open(at, is_fit))?;
        sight.erased_in(block, in_window)
    }

    fn invalidated(&mut self, plane: PlaneId, block: BlockId) {
        let block = block.0 / self.sub_blocks - plane.0 * self.blocks;
        self.planes[plane.index()].invalidated(block);
    }

    fn touch(&mut self, ftl: &Ftl, geometry: &Geometry, plane: PlaneId, block: BlockId) {
        let siblings = geometry.siblings_of(block).map(BlockId);
        let free = siblings.filter(|&b| ftl.blocks.state(b) == BlockState::Free).count();
        let block = block.0 / self.sub_blocks - plane.0 * self.blocks;
        let groups = &mut self.planes[plane.index()];
        groups.touch(block);
        groups.set_free(block, free as u8);
    }

    fn start_counting(&mut self, seed: u64) {
        self.hotness.start_counting();
        self.random = Random::named(seed, "placement");
        self.planes.iter_mut().for_each(|groups| groups.formed = 0);
    }

    fn keep(&self, numbers: &mut Vec<u32>) {
        kept::keep(self, numbers);
    }

    fn take_kept(&mut self, numbers: &mut Iter<'_, u32>) -> Option<()> {
        kept::take_kept(self, numbers)
    }

    fn table_bytes(&self) -> u64 {
        self.group_bytes() + self.hotness.bytes()
    }

    fn counts(&self) -> Option<HotnessCounts> {
        Some(HotnessCounts {
            updates: self.hotness.updates,
            hot_updates: self.hotness.hot_updates,
            decays: self.hotness.decays,
            counter_bytes: self.hotness.bytes(),
            group_bytes: self.group_bytes(),
            groups_formed: self.planes.iter().map(|groups| groups.formed).sum(),
        })
    }
}

/// The blocks of a plane, as the groups need them.
struct BlockSight<'a> {
    candidates: &'a Candidates<'a>,
    first: u32,
    sub_blocks: u32,
    by_invalid_sub_blocks: bool,
    /// Room for the sub-blocks of one block.
    parts: RefCell<Parts>,
}

impl BlockSight<'_> {
    fn first_of(&self, block: u32) -> BlockId {
        BlockId((self.first + block) * self.sub_blocks)
    }

    fn parts(&self, block: u32) -> RefMut<'_, Parts> {
        let mut parts = self.parts.borrow_mut();
        let Candidates { geometry, blocks, costs, .. } = self.candidates;
        parts.read(geometry, blocks, costs, self.first_of(block));
        parts
    }

    fn sub_blocks_of(&self, block: u32) -> impl Iterator<Item = BlockId> + '_ {
        self.candidates.geometry.siblings_of(self.first_of(block)).map(BlockId)
    }

    /// Whether no collection uses the block.
    fn is_left_alone(&self, block: u32) -> bool {
        let blocks = self.candidates.blocks;
        self.sub_blocks_of(block).all(|b| blocks.state(b) != BlockState::Victim)
    }

    /// The lowest erased sub-block: in the block's best window, or anywhere in it.
    fn erased_in(&self, block: u32, in_window: bool) -> Option<BlockId> {
        let best = if in_window { self.parts(block).best(&self.candidates.costs) } else { None };
        let first = self.first_of(block).0;
        let is_in = |b: &BlockId| {
            best.is_none_or(|window| (window.first..=window.last).contains(&(b.0 - first)))
        };
        let is_erased = |b: &BlockId| self.candidates.blocks.state(*b) == BlockState::Free;
        let lowest = self.sub_blocks_of(block).filter(is_erased).find(is_in);
        // The best window may have changed since the block was examined.
        lowest.or_else(|| self.sub_blocks_of(block).find(is_erased))
    }
}

impl Sight for BlockSight<'_> {
    fn worth(&self, block: u32, before: Benefit) -> Worth {
        let candidates = self.candidates;
        if self.by_invalid_sub_blocks {
            let is_dead = |&b: &BlockId| candidates.is_sealed(b) && candidates.valid(b) == 0;
            let dead = self.sub_blocks_of(block).filter(is_dead).count() as u32;
            return Worth { benefit: Benefit::of(dead), has_room: false };
        }
        let parts = self.parts(block);
        match parts.peak(before, &candidates.costs) {
            Some(window) => Worth {
                benefit: window.benefit(&candidates.costs),
                has_room: parts.has_erased(window),
            },
            None => Worth { benefit: Benefit::NONE, has_room: false },
        }
    }

    fn still(&self, block: u32, benefit: Benefit) -> Option<bool> {
        if self.by_invalid_sub_blocks {
            let worth = self.worth(block, benefit);
            return (worth.benefit >= benefit).then_some(false);
        }
        let reaches = self.parts(block).reaches(benefit, &self.candidates.costs);
        reaches.or((!benefit.is_some()).then_some(false))
    }

    fn distance(&self, block: u32, benefit: Benefit) -> u32 {
        let candidates = self.candidates;
        if self.by_invalid_sub_blocks {
            let sealed = self.sub_blocks_of(block).filter(|&b| candidates.is_sealed(b));
            let valid = sealed.map(|b| candidates.valid(b)).filter(|&valid| valid > 0);
            return valid.min().unwrap_or(u32::MAX);
        }
        self.parts(block).distance(benefit, &candidates.costs).unwrap_or(u32::MAX)
    }
}
