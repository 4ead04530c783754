//! Invalid sub-blocks first: the block with the most sub-blocks that hold no valid page; they are
//! erased together, with nothing to move. Where there is none, the sub-block with the most invalid
//! pages, alone.
//!
//! This is the performance booster (PB), which needs layers without data between sub-blocks, so
//! that any of them can be erased (paper speedup-gc, section III-E;
//! docs/schemes/pb.md#isolation-layers-and-victims).

use super::{Candidates, Choice, VictimPolicy, greedy};
use crate::device::{Geometry, Kinds};
use crate::ids::{BlockId, PlaneId};
use crate::memory::bytes_of;
use crate::rng::Random;

pub use super::NoSettings as Settings;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "invalid-sub-blocks",
    about: "the sub-blocks without valid pages in the block that has most of them; if there are \
            none, the sub-block with the most invalid pages; the lowest number among equals",
    keys: &[],
    source: "Chen et al., DAC 2016 (PB), as in paper speedup-gc, section III-E",
};

const NOWHERE: u32 = u32::MAX;

/// The policy and its index.
#[derive(Clone)]
pub struct Policy {
    sub_blocks: u32,
    kinds: Kinds,
    /// Sub-blocks by the pages that an erase would not free.
    single: greedy::Policy,
    /// For each block, its sub-blocks that are full and hold no valid page.
    dead: Vec<u8>,
    /// For each plane and number of invalid sub-blocks, the blocks with that number.
    blocks: Vec<Vec<u32>>,
    /// For each block, its place in that list.
    place: Vec<u32>,
}

impl Policy {
    /// An index without candidates.
    pub fn new(_settings: &Settings, geometry: &Geometry) -> Self {
        let sub_blocks = geometry.shape.sub_blocks;
        let blocks = (geometry.blocks / sub_blocks) as usize;
        Policy {
            sub_blocks,
            kinds: geometry.shape.kinds,
            single: greedy::Policy::new(&greedy::Settings::default(), geometry),
            dead: vec![0; blocks],
            blocks: vec![Vec::new(); geometry.planes as usize * (sub_blocks as usize + 1)],
            place: vec![NOWHERE; blocks],
        }
    }

    /// Pages of a sub-block that an erase does not free: valid ones, and those that isolate it.
    #[inline(always)]
    fn kept(&self, block: BlockId, valid: u32) -> u32 {
        // A plane has whole blocks, so that its first sub-block begins one.
        valid + self.kinds.lost_pages(block.0)
    }

    fn list(&mut self, plane: PlaneId, dead: u8) -> &mut Vec<u32> {
        &mut self.blocks[plane.index() * (self.sub_blocks as usize + 1) + dead as usize]
    }

    /// A block has more or fewer sub-blocks without a valid page.
    fn count(&mut self, plane: PlaneId, sub_block: BlockId, more: bool) {
        let block = sub_block.0 / self.sub_blocks;
        let before = self.dead[block as usize];
        let now = if more { before + 1 } else { before - 1 };
        self.dead[block as usize] = now;
        if before > 0 {
            let place = self.place[block as usize] as usize;
            let list = self.list(plane, before);
            list.swap_remove(place);
            if let Some(&moved) = list.get(place) {
                self.place[moved as usize] = place as u32;
            }
        }
        if now > 0 {
            let list = self.list(plane, now);
            list.push(block);
            self.place[block as usize] = list.len() as u32 - 1;
        }
    }

    fn without_valid<'a>(
        &'a self,
        block: u32,
        candidates: &'a Candidates<'_>,
    ) -> impl Iterator<Item = BlockId> + 'a {
        let first = block * self.sub_blocks;
        let all = (first..first + self.sub_blocks).map(BlockId);
        all.filter(|&b| candidates.is_sealed(b) && candidates.valid(b) == 0)
    }
}

impl VictimPolicy for Policy {
    fn sealed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.single.sealed(plane, block, self.kept(block, valid));
        if valid == 0 {
            self.count(plane, block, true);
        }
    }

    #[inline(always)]
    fn invalidated(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.single.invalidated(plane, block, self.kept(block, valid));
        if valid == 0 {
            self.count(plane, block, true);
        }
    }

    fn claimed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.single.claimed(plane, block, self.kept(block, valid));
        if valid == 0 {
            self.count(plane, block, false);
        }
    }

    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        random: &mut Random,
    ) -> Option<BlockId> {
        for dead in (1..=self.sub_blocks as u8).rev() {
            if let Some(&block) = self.list(plane, dead).iter().min() {
                return self.without_valid(block, candidates).next();
            }
        }
        self.single.pick(plane, candidates, random)
    }

    fn erased_with(&self, picked: BlockId, candidates: &Candidates<'_>, into: &mut Vec<BlockId>) {
        if candidates.valid(picked) == 0 {
            into.extend(self.without_valid(picked.0 / self.sub_blocks, candidates));
        } else {
            into.push(picked);
        }
    }

    fn table_bytes(&self) -> u64 {
        self.single.table_bytes() + bytes_of(&self.dead) + bytes_of(&self.place)
    }
}
