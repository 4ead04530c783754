//! The flash translation layer: page map, block accounts, and the frontiers that hand out pages.
//!
//! A page's life: erased -> taken from a frontier -> bound to a logical page (valid) -> invalid,
//! when its logical page is written elsewhere or trimmed -> erased with its block. The FTL keeps
//! these accounts and never starts an operation; it never calls the garbage collector.

pub mod blocks;
mod free_list;
pub mod frontier;
pub mod map;
pub mod open;

use crate::device::Geometry;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use blocks::{BlockState, Blocks};
use frontier::{FrontierRules, Frontiers};
pub use frontier::{Parity, Stream, Taken};
use map::PageMap;

/// The translation layer of one drive.
pub struct Ftl {
    /// Logical to physical pages, and back.
    pub map: PageMap,
    /// Valid pages, states and wear of every block.
    pub blocks: Blocks,
    /// Open blocks and erased blocks of every plane.
    pub frontiers: Frontiers,
}

/// The effect of an invalidation on the block that held the page.
#[derive(Clone, Copy)]
pub struct Invalidated {
    /// The block.
    pub block: BlockId,
    /// Its valid pages now.
    pub valid: u32,
    /// Its state.
    pub state: BlockState,
}

impl Ftl {
    /// An erased drive.
    pub fn new(geometry: &Geometry, rules: FrontierRules) -> Self {
        Ftl {
            map: PageMap::new(geometry.exported_pages as usize, geometry.pages as usize),
            blocks: Blocks::new(geometry),
            frontiers: Frontiers::new(geometry, rules),
        }
    }

    /// Binds a logical page to a page just taken, and returns the page that it leaves.
    #[inline(always)]
    pub fn bind(&mut self, geometry: &Geometry, lpn: Lpn, taken: Ppn) -> Ppn {
        let old = self.map.bind(lpn, taken);
        let (block, page) = geometry.block_and_page(taken);
        self.blocks.add_valid(block, page);
        old
    }

    /// Marks a page invalid.
    #[inline(always)]
    pub fn invalidate(&mut self, geometry: &Geometry, ppn: Ppn) -> Invalidated {
        let (block, page) = geometry.block_and_page(ppn);
        let (valid, state) = self.blocks.remove_valid(block, page);
        if state == BlockState::Sealed {
            let plane = geometry.plane_of_block(block);
            self.blocks.reclaimable[plane.index()] += 1;
        }
        Invalidated { block, valid, state }
    }

    /// Moves the valid page at `from` to the page `to`, which was just taken.
    #[inline(always)]
    pub fn relocate(&mut self, geometry: &Geometry, from: Ppn, to: Ppn) {
        let lpn = self.map.lpn_of(from);
        self.map.bind(lpn, to);
        let (block, page) = geometry.block_and_page(to);
        self.blocks.add_valid(block, page);
        let (block, page) = geometry.block_and_page(from);
        self.blocks.remove_valid(block, page);
    }

    /// Closes a full block to writing: from now on it can be a victim.
    #[inline]
    pub fn seal(&mut self, geometry: &Geometry, block: BlockId, age_ns: u64) -> u32 {
        let valid = self.blocks.seal(block, age_ns);
        let plane = geometry.plane_of_block(block);
        self.blocks.reclaimable[plane.index()] += geometry.data_pages_of(block) - valid;
        valid
    }

    /// The sealed blocks of a plane in the order of their sealing.
    pub fn sealed_in_order(&self, geometry: &Geometry, plane: PlaneId) -> Vec<BlockId> {
        let blocks = geometry.blocks_of(plane).map(BlockId);
        let mut sealed: Vec<BlockId> = blocks.filter(|&b| self.blocks.is_sealed(b)).collect();
        sealed.sort_unstable_by_key(|&block| self.blocks.seal_number(block));
        sealed
    }

    /// Removes a sealed block from the candidates: it is collected.
    pub fn claim(&mut self, geometry: &Geometry, block: BlockId) -> u32 {
        let valid = self.blocks.claim(block);
        let plane = geometry.plane_of_block(block);
        self.blocks.reclaimable[plane.index()] -= geometry.data_pages_of(block) - valid;
        valid
    }

    /// Claims an erased block next to the blocks of a collection: it must not be opened meanwhile.
    pub fn claim_free(&mut self, geometry: &Geometry, block: BlockId) {
        self.blocks.claim_free(block);
        self.frontiers.withhold(geometry.plane_of_block(block), block);
    }

    /// A block that was erased before the collection claimed it is available again; the collection
    /// may have erased it once more.
    pub fn unclaim_free(&mut self, geometry: &Geometry, block: BlockId, erased: bool) {
        if erased {
            self.blocks.erase(block);
        } else {
            self.blocks.unclaim_free(block);
        }
        self.frontiers.give_out(geometry.plane_of_block(block), block, erased);
    }

    /// A collection has moved the block's valid pages and did not erase it: it is a candidate
    /// again.
    pub fn unclaim(&mut self, geometry: &Geometry, block: BlockId) -> u32 {
        self.blocks.unclaim(block);
        let valid = self.blocks.valid(block);
        let plane = geometry.plane_of_block(block);
        self.blocks.reclaimable[plane.index()] += geometry.data_pages_of(block) - valid;
        valid
    }

    /// Erases a claimed block that holds no valid page, and gives it back to its plane.
    pub fn erase(&mut self, geometry: &Geometry, block: BlockId) {
        self.blocks.erase(block);
        self.frontiers.give_back(geometry, geometry.plane_of_block(block), block);
    }

    /// Whether the host may take a page of this plane now and leave the pages that collection
    /// needs.
    #[inline(always)]
    pub fn host_has_room(&self, plane: PlaneId) -> bool {
        self.frontiers.host_has_room(plane)
    }

    /// Whether a page holds valid data.
    #[inline(always)]
    pub fn is_valid(&self, geometry: &Geometry, ppn: Ppn) -> bool {
        let (block, page) = geometry.block_and_page(ppn);
        self.blocks.is_valid(block, page)
    }

    /// Bytes of the tables that grow with the drive.
    pub fn table_bytes(&self) -> u64 {
        self.map.bytes() + self.blocks.bytes() + self.frontiers.bytes()
    }
}
