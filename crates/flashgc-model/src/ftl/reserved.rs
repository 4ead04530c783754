//! Pages that were handed out to writes of the host that have not started.
//!
//! Where planes share their blocks, the next page of the open block names the unit of a write, so
//! that it is handed out when the write is queued. It binds when the write starts, as everywhere.
//! Writes in different units may start in another order than their pages were handed out: a block
//! all of whose pages are handed out is full when the last of these writes has started. A flush
//! gets all pages of a program that are left, and starts in all of them at once.

use super::{Ftl, Parity, Placed, Stream, Taken};
use crate::device::Geometry;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};

/// A block with pages of writes that have not started.
#[derive(Clone, Copy)]
struct Waited {
    block: BlockId,
    pages: u32,
    /// Whether all other pages are taken.
    is_out: bool,
}

/// All of these blocks: the open ones, and those that are nearly full.
#[derive(Clone, Default)]
pub struct Reserved {
    blocks: Vec<Waited>,
    /// Where a program joins pages: the last page of each program of a flush that has not started.
    programs: Vec<Ppn>,
}

impl Reserved {
    /// A page of a block was handed out, maybe its last one.
    fn add(&mut self, block: BlockId, is_last: bool) {
        let found = self.blocks.iter().position(|waited| waited.block == block);
        let at = found.unwrap_or(self.blocks.len());
        if found.is_none() {
            self.blocks.push(Waited { block, pages: 0, is_out: false });
        }
        self.blocks[at].pages += 1;
        self.blocks[at].is_out |= is_last;
    }

    /// The write of a page of this block starts. Returns whether it was the last page of the block.
    fn starts(&mut self, block: BlockId) -> bool {
        let found = self.blocks.iter().position(|waited| waited.block == block);
        let at = found.expect("a page that was handed out");
        self.blocks[at].pages -= 1;
        let Waited { pages, is_out, .. } = self.blocks[at];
        if pages == 0 {
            self.blocks.swap_remove(at);
        }
        pages == 0 && is_out
    }
}

impl Ftl {
    /// Hands out the next page of a stream in a plane to a write that is queued now.
    pub fn reserve(&mut self, geometry: &Geometry, plane: PlaneId, stream: Stream) -> Ppn {
        let Taken { ppn, filled, .. } = self.take(geometry, plane, stream, Parity::Any);
        self.reserved.add(geometry.block_of(ppn), filled.is_some());
        if geometry.shape.ends_program(ppn) {
            self.reserved.programs.push(ppn);
        }
        ppn
    }

    /// Whether a page that was written is not programmed yet, since its program joins others.
    #[inline(always)]
    pub fn is_in_controller(&self, geometry: &Geometry, slot: Ppn) -> bool {
        geometry.shape.program_slots > 1 && self.waits_in_controller(geometry, slot)
    }

    #[inline]
    fn waits_in_controller(&self, geometry: &Geometry, slot: Ppn) -> bool {
        self.frontiers.is_begun(geometry, slot) || self.is_awaited(geometry, slot)
    }

    /// Whether the program of a slot, or one of those of its plane before its fine pass, was handed
    /// out to a flush that has not started: the controller has its data.
    pub fn is_awaited(&self, geometry: &Geometry, slot: Ppn) -> bool {
        let programs = geometry.shape.program_slots * geometry.lanes();
        self.reserved.programs.iter().any(|&last| {
            last >= slot
                && geometry.lane_of(last) == geometry.lane_of(slot)
                && geometry.block_of(last) == geometry.block_of(slot)
                && (last.0 - slot.0) / programs <= self.frontiers.lag()
        })
    }

    /// A flush that got this page starts, and has no data for it. Returns the block that it filled.
    pub fn pad_reserved(&mut self, geometry: &Geometry, ppn: Ppn) -> BlockId {
        let block = geometry.block_of(ppn);
        if geometry.shape.ends_program(ppn) {
            self.reserved.programs.retain(|&last| last != ppn);
        }
        if self.reserved.starts(block) { block } else { BlockId::NONE }
    }

    /// A write starts in the page that was handed out to it.
    pub fn write_reserved(&mut self, geometry: &Geometry, ppn: Ppn, lpn: Lpn) -> Placed {
        let filled = self.pad_reserved(geometry, ppn);
        self.write_at(geometry, ppn, filled, lpn)
    }

    /// The clock for placement. A write of one page counts from the time when its page was handed
    /// out, since its class was chosen then.
    #[inline]
    pub fn clock(&self, geometry: &Geometry) -> u64 {
        let mut clock = self.stamps.clock;
        if geometry.shape.program_slots == 1 {
            for waited in &self.reserved.blocks {
                clock += u64::from(waited.pages);
            }
        }
        clock
    }

    /// Pages of a plane that were handed out to writes that have not started.
    pub fn reserved_pages(&self, geometry: &Geometry, plane: PlaneId) -> u32 {
        let of_plane = self.reserved.blocks.iter();
        let of_plane = of_plane.filter(|waited| geometry.plane_of_block(waited.block) == plane);
        of_plane.map(|waited| waited.pages).sum()
    }

    /// Whether the writes of a plane that have pages and have not started occupy a whole
    /// superblock.
    pub fn is_a_superblock_ahead(&self, geometry: &Geometry, plane: PlaneId) -> bool {
        self.reserved_pages(geometry, plane) >= geometry.shape.pages_per_block
    }

    /// The last page of a block was taken: whether writes that have not started have others.
    pub fn waits_for_writes(&mut self, block: BlockId) -> bool {
        let waited = self.reserved.blocks.iter_mut().find(|waited| waited.block == block);
        let Some(waited) = waited else { return false };
        waited.is_out = true;
        true
    }
}
