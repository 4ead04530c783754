//! The interface of a victim policy: the changes that it is notified of, and the state that it can
//! read.

use crate::device::Geometry;
use crate::ftl::blocks::Blocks;
use crate::ftl::stamps::Stamps;
use crate::gc::windows::Costs;
use crate::ids::{BlockId, PlaneId};
use crate::rng::Random;
use flashgc_config::Reader;
use serde::Serialize;

/// On a plane with at most this number of blocks each choice is compared with a walk.
const SMALL_BLOCKS: u32 = 64;
/// On others, the choice of a block whose number is a multiple of this.
const WALKED: u32 = 16;

/// The blocks of a drive, as a policy needs them.
pub struct Candidates<'a> {
    /// The location of the blocks.
    pub geometry: &'a Geometry,
    /// The state of the blocks.
    pub blocks: &'a Blocks,
    /// The present, on the clock that also runs while a drive is preconditioned, in ns.
    pub age_now_ns: u64,
    /// The clock of host writes, and its values at the seals of the blocks.
    pub stamps: &'a Stamps,
    /// The cost of moving a page and of an erase, for policies that rank by it.
    pub costs: Costs,
    /// Blocks with more valid pages are excluded.
    pub most_valid: u32,
    /// For each block whether it is a candidate, where placement excludes some.
    pub only: Option<&'a [bool]>,
}

impl<'a> Candidates<'a> {
    /// Under debug assertions, compares the choice of an index with that of a walk over all blocks:
    /// each choice on small planes, and that of every sixteenth block on large ones, where walks
    /// would take most of the time of a run.
    #[inline(always)]
    pub fn compare(&self, chosen: Option<BlockId>, walk: impl FnOnce() -> Option<BlockId>) {
        let is_small = || self.geometry.shape.blocks_per_plane <= SMALL_BLOCKS;
        let is_walked = |block: BlockId| block.0.is_multiple_of(WALKED);
        if cfg!(debug_assertions) && (is_small() || chosen.is_none_or(is_walked)) {
            assert_eq!(chosen, walk(), "the index finds what a walk does");
        }
    }

    /// The sealed blocks of a plane, lowest first: a walk over all of the plane's blocks.
    pub fn sealed(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + use<'a> {
        let (blocks, most_valid, only) = (self.blocks, self.most_valid, self.only);
        let is_fit = move |&b: &BlockId| {
            blocks.is_sealed(b) && blocks.valid(b) <= most_valid && is_among(only, b)
        };
        self.geometry.blocks_of(plane).map(BlockId).filter(is_fit)
    }

    /// The sealed block of a plane whose erase frees most, the lowest among equals: a walk over all
    /// of the plane's blocks. `None` where it frees nothing.
    pub fn fewest_kept(&self, plane: PlaneId) -> Option<BlockId> {
        let fewest = self.sealed(plane).min_by_key(|&block| (self.kept(block), block));
        fewest.filter(|&block| self.invalid(block) > 0)
    }

    /// Whether the block is sealed, and a candidate.
    pub fn is_sealed(&self, block: BlockId) -> bool {
        self.blocks.is_sealed(block)
            && self.blocks.valid(block) <= self.most_valid
            && is_among(self.only, block)
    }

    /// Valid pages of a block.
    pub fn valid(&self, block: BlockId) -> u32 {
        self.blocks.valid(block)
    }

    /// Invalid pages of a sealed block.
    pub fn invalid(&self, block: BlockId) -> u32 {
        self.geometry.data_pages_of(block) - self.blocks.valid(block)
    }

    /// Pages of a sealed block that an erase does not free: valid ones, and those that hold no data
    /// since they isolate it.
    pub fn kept(&self, block: BlockId) -> u32 {
        self.data_pages() - self.invalid(block)
    }

    /// Time since the block was sealed, in ns.
    pub fn age_ns(&self, block: BlockId) -> u64 {
        self.age_now_ns - self.blocks.sealed_at_ns(block)
    }

    /// Pages that the host has written since the block was sealed. Kept for a policy whose settings
    /// need it ([`keeps_clock`](super::Settings::keeps_clock)).
    pub fn age_pages(&self, block: BlockId) -> u64 {
        self.stamps.clock - self.stamps.sealed_at(block)
    }

    /// The number of the block's sealing: lower is earlier.
    pub fn seal_number(&self, block: BlockId) -> u64 {
        self.blocks.seal_number(block)
    }

    /// Erases of the block since the drive was made.
    pub fn erases(&self, block: BlockId) -> u32 {
        self.blocks.erases(block)
    }

    /// The most pages of a block that hold data.
    pub fn data_pages(&self) -> u32 {
        self.geometry.shape.data_pages()
    }
}

/// Whether placement leaves this block to the policy.
fn is_among(only: Option<&[bool]>, block: BlockId) -> bool {
    only.is_none_or(|only| only[block.index()])
}

/// The unit that a policy ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ranks {
    /// The extent of the erase of a block.
    Blocks,
    /// The extent of an erase of several sub-blocks, with the cost of their isolation.
    Windows,
    /// Sub-blocks by themselves, as if nothing were needed to isolate them.
    SubBlocks,
}

/// The settings of a policy that has none: `pub use super::NoSettings as Settings;`.
#[derive(Clone, Debug, Serialize)]
pub struct NoSettings {}

impl NoSettings {
    /// From the choice's table, in which no key is known.
    pub fn read(_table: &Reader<'_>) -> Self {
        NoSettings {}
    }
}

/// The loss of a valid page, as a policy is notified of it.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// Valid pages that its block has left.
    pub valid: u32,
    /// Whether the block is sealed.
    pub is_sealed: bool,
    /// The time, on the clock that also runs while a drive is preconditioned, in ns.
    pub at_ns: u64,
}

/// A way to rank victims. Every hook has a harmless default.
pub trait VictimPolicy: Send {
    /// A block is full and became a candidate.
    fn sealed(&mut self, _plane: PlaneId, _block: BlockId, _valid: u32) {}

    /// A candidate lost a valid page and has `valid` left.
    fn invalidated(&mut self, _plane: PlaneId, _block: BlockId, _valid: u32) {}

    /// A collection took a candidate.
    fn claimed(&mut self, _plane: PlaneId, _block: BlockId, _valid: u32) {}

    /// An erased block of this plane was opened: it is being written.
    fn opened(&mut self, _plane: PlaneId, _block: BlockId) {}

    /// A victim was erased, or given back without an erase.
    fn erased(&mut self, _plane: PlaneId, _block: BlockId) {}

    /// Whether [`lost`](Self::lost) and [`measuring_begins`](Self::measuring_begins) are called.
    fn keeps_times(&self) -> bool {
        false
    }

    /// A page of a block that is open or sealed became invalid. It is called after `invalidated`,
    /// and only for a policy that keeps times.
    fn lost(&mut self, _plane: PlaneId, _block: BlockId, _loss: Loss) {}

    /// The measured part begins. The state of a policy must from now on follow from the drive
    /// alone, since a drive may have come from a file.
    fn measuring_begins(&mut self, _candidates: &Candidates<'_>) {}

    /// Whether one pick goes before the pick of another plane, where a trigger takes one block of
    /// the whole device.
    fn before(&self, a: BlockId, b: BlockId, candidates: &Candidates<'_>) -> bool {
        (candidates.valid(a), a) < (candidates.valid(b), b)
    }

    /// The next victim of this plane. It is called only while some sealed block of the plane holds
    /// an invalid page; `None` means that no block is worth collecting now.
    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        random: &mut Random,
    ) -> Option<BlockId>;

    /// With erases of sub-blocks: all sub-blocks that one erase frees together with the picked one,
    /// in order of number. Erased ones may lie between.
    fn erased_with(&self, picked: BlockId, _candidates: &Candidates<'_>, into: &mut Vec<BlockId>) {
        into.push(picked);
    }

    /// Bytes of the tables that grow with the drive.
    fn table_bytes(&self) -> u64 {
        0
    }
}

/// Whether an index with a row for each count of valid pages is shorter to walk over than the
/// blocks of a plane, and a count determines the number of invalid pages.
pub(super) fn rows_pay(geometry: &Geometry) -> bool {
    let shape = &geometry.shape;
    shape.kinds.is_one() && shape.blocks_per_plane > shape.data_pages()
}
