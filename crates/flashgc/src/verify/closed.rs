//! The checker's own account of blocks under collection, where a scheme blocks only these.

use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId, Ppn};

/// The collection of one plane.
#[derive(Clone, Default)]
struct Collected {
    /// Blocks that were claimed and are not erased.
    victims: Vec<BlockId>,
    /// The block that the last copy went to.
    destination: Option<BlockId>,
    /// Where this collection's copies lie.
    moved: Vec<Ppn>,
}

/// Which blocks are blocked for the host.
#[derive(Default)]
pub(super) struct Closed {
    planes: Vec<Collected>,
}

impl Closed {
    /// Nothing is collected; `None` where the scheme blocks more than single blocks.
    pub(super) fn new(geometry: &Geometry, blocks_only: bool) -> Option<Self> {
        let planes = vec![Collected::default(); geometry.planes as usize];
        blocks_only.then_some(Closed { planes })
    }

    /// A collection has taken a block.
    pub(super) fn claimed(&mut self, plane: PlaneId, block: BlockId) {
        self.planes[plane.index()].victims.push(block);
    }

    /// A collection has programmed a page.
    pub(super) fn copied(&mut self, plane: PlaneId, block: BlockId, to: Ppn) {
        let plane = &mut self.planes[plane.index()];
        plane.destination = Some(block);
        plane.moved.push(to);
    }

    /// The host reads a page: not of a victim, and of the destination only a page that this
    /// collection has moved.
    pub(super) fn read(&self, now_ns: u64, plane: PlaneId, block: BlockId, ppn: Ppn) {
        let plane = &self.planes[plane.index()];
        assert!(
            !plane.victims.contains(&block),
            "at {now_ns} ns page {} was read in a block under collection",
            ppn.0
        );
        assert!(
            plane.destination != Some(block) || plane.moved.contains(&ppn),
            "at {now_ns} ns page {} was read in a block that copies fill",
            ppn.0
        );
    }

    /// The host programs a page: not in the destination.
    pub(super) fn written(&self, now_ns: u64, plane: PlaneId, block: BlockId) {
        assert!(
            self.planes[plane.index()].destination != Some(block),
            "at {now_ns} ns the host wrote to block {}, which copies fill",
            block.0
        );
    }

    /// A block is erased. With the last of its victims a collection ends.
    pub(super) fn erased(&mut self, plane: PlaneId, block: BlockId) {
        let plane = &mut self.planes[plane.index()];
        plane.victims.retain(|&victim| victim != block);
        if plane.victims.is_empty() {
            plane.destination = None;
            plane.moved.clear();
        }
    }
}
