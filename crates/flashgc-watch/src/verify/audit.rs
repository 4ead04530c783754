//! The checker compares its whole drive with the model's.

use super::checker::{Checker, Content};
use flashgc_model::ftl::Ftl;
use flashgc_model::ftl::blocks::BlockState;
use flashgc_model::ids::{BlockId, Lpn, PlaneId};

impl Checker {
    /// Compares the write buffer's pages with the model's.
    pub fn audit_buffer(&self, held: impl Iterator<Item = Lpn>) {
        self.held.audit(held);
    }

    /// Compares the whole drive with the model's. Costs a walk over every page.
    pub fn audit(&self, ftl: &Ftl) {
        let mut valid_in_block = vec![0u32; self.geometry.blocks as usize];
        for lpn in (0..self.geometry.exported_pages).map(Lpn) {
            let ppn = ftl.map.ppn_of(lpn);
            let written = self.newest[lpn.index()] > 0 && !self.trimmed[lpn.index()];
            assert_eq!(ppn, self.home[lpn.index()], "logical page {} lies elsewhere", lpn.0);
            assert_eq!(ppn.is_some(), written, "logical page {}: written or not?", lpn.0);
            if !written {
                continue;
            }
            let newest = Content { lpn: lpn.0, version: self.newest[lpn.index()] };
            assert_eq!(
                self.content[ppn.index()],
                newest,
                "logical page {} is not at {}",
                lpn.0,
                ppn.0
            );
            assert_eq!(ftl.map.lpn_of(ppn), lpn, "the reverse map of page {} disagrees", ppn.0);
            let (block, page) = self.geometry.block_and_page(ppn);
            assert!(ftl.blocks.is_valid(block, page), "page {} should be valid", ppn.0);
            valid_in_block[block.index()] += 1;
        }
        let planes = self.geometry.planes as usize;
        let (mut erased, mut reclaimable) = (vec![0u32; planes], vec![0u32; planes]);
        for block in (0..self.geometry.blocks).map(BlockId) {
            let plane = self.geometry.plane_of_block(block).index();
            let valid = valid_in_block[block.index()];
            assert_eq!(ftl.blocks.valid(block), valid, "block {}: valid pages", block.0);
            let programmed = self.programmed[block.index()];
            let data_pages = self.geometry.data_pages_of(block);
            assert!(valid <= programmed && programmed <= data_pages);
            erased[plane] += data_pages - programmed;
            match ftl.blocks.state(block) {
                BlockState::Free => assert_eq!(programmed, 0, "block {} is not erased", block.0),
                BlockState::Sealed => {
                    assert_eq!(programmed, data_pages, "block {} is not full", block.0);
                    // Copies take whole programs where they are padded, of each class.
                    let shape = &self.geometry.shape;
                    let padded = shape.padded_programs * (shape.padded_to - 1);
                    let programs = ((valid + padded) / shape.padded_to).min(valid);
                    reclaimable[plane] += data_pages.saturating_sub(programs * shape.padded_to);
                }
                BlockState::Open | BlockState::Victim | BlockState::Retired => {}
            }
        }
        for plane in (0..self.geometry.planes).map(PlaneId) {
            let at = plane.index();
            let free = ftl.frontiers.free_pages(plane) + ftl.reserved_pages(&self.geometry, plane);
            assert_eq!(free, erased[at], "plane {at}: erased pages");
            assert_eq!(ftl.blocks.reclaimable[at], reclaimable[at], "plane {at}: reclaimable");
            let free = ftl.frontiers.free_list(plane).collect::<Vec<_>>();
            assert!(free.iter().all(|&b| ftl.blocks.state(b) == BlockState::Free));
            assert_eq!(free.len() as u32, ftl.frontiers.free_blocks(plane));
        }
    }
}
