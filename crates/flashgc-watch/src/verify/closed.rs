//! The checker's own account of blocks under collection, where a scheme blocks only these.
//!
//! With a frontier of their own, copies close the block that they fill until the victim is erased.
//! With one frontier the block that the host fills is closed, from the first victim of a batch to
//! the end of the batch: no write of the host goes to the plane, and no page is read that the block
//! had before.

use super::promises::ClosedBlocks;
use flashgc_model::device::Geometry;
use flashgc_model::ids::{BlockId, PlaneId, Ppn};

/// The collection of one plane.
#[derive(Clone, Default)]
struct Collected {
    /// Blocks that were claimed and are not erased.
    victims: Vec<BlockId>,
    /// The block that the last copy went to.
    destination: Option<BlockId>,
    /// The destinations of this collection's copies.
    moved: Vec<Ppn>,
    /// The block of the plane's last program.
    last: Option<BlockId>,
    /// The batch under way that closes the block that the host fills.
    batch: Option<Batch>,
}

/// A batch: the block that was open when it began, and the pages that it had.
#[derive(Clone, Default)]
struct Batch {
    open: Option<(BlockId, u32)>,
}

/// The blocks that are blocked for the host.
#[derive(Default)]
pub(super) struct Closed {
    planes: Vec<Collected>,
    closes: Option<ClosedBlocks>,
    is_measuring: bool,
}

impl Closed {
    /// Nothing is collected; `None` where the scheme blocks more than single blocks.
    pub(super) fn new(geometry: &Geometry, closes: Option<ClosedBlocks>) -> Option<Self> {
        let planes = vec![Collected::default(); geometry.planes as usize];
        closes.map(|_| Closed { planes, closes, is_measuring: false })
    }

    fn has_one_frontier(&self) -> bool {
        self.closes == Some(ClosedBlocks::OpenBlock)
    }

    /// Measuring begins: collections take time from now on.
    pub(super) fn starts_measuring(&mut self) {
        self.is_measuring = true;
    }

    /// A collection has taken a block. `written` has the number of written pages of a block that is
    /// not full.
    pub(super) fn claimed(
        &mut self,
        plane: PlaneId,
        block: BlockId,
        written: impl Fn(BlockId) -> Option<u32>,
    ) {
        let begins = self.is_measuring && self.has_one_frontier();
        let plane = &mut self.planes[plane.index()];
        plane.victims.push(block);
        if begins && plane.batch.is_none() {
            let open = plane.last.and_then(|last| Some((last, written(last)?)));
            plane.batch = Some(Batch { open });
        }
    }

    /// A page of a block is programmed, by whomever.
    pub(super) fn programmed(&mut self, plane: PlaneId, block: BlockId) {
        self.planes[plane.index()].last = Some(block);
    }

    /// A collection has programmed a page.
    pub(super) fn copied(&mut self, plane: PlaneId, block: BlockId, to: Ppn) {
        if self.has_one_frontier() {
            return;
        }
        let plane = &mut self.planes[plane.index()];
        plane.destination = Some(block);
        plane.moved.push(to);
    }

    /// The host reads a page: not of a victim, and of the destination only a page that this
    /// collection has moved.
    pub(super) fn read(
        &self,
        now_ns: u64,
        plane: PlaneId,
        (block, page): (BlockId, u32),
        ppn: Ppn,
    ) {
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
        let open = plane.batch.as_ref().and_then(|batch| batch.open);
        assert!(
            open.is_none_or(|(open, pages)| open != block || page >= pages),
            "at {now_ns} ns page {} was read in the open block, which a batch has closed",
            ppn.0
        );
    }

    /// The host programs a page: not in the destination, and with one frontier in no plane of a
    /// batch.
    pub(super) fn written(&self, now_ns: u64, plane: PlaneId, block: BlockId) {
        let plane = &self.planes[plane.index()];
        assert!(
            plane.destination != Some(block),
            "at {now_ns} ns the host wrote to block {}, which copies fill",
            block.0
        );
        assert!(
            plane.batch.is_none(),
            "at {now_ns} ns the host wrote to block {}, which a batch has closed",
            block.0
        );
    }

    /// A block is erased. With the last of its victims a collection ends.
    pub(super) fn erased(&mut self, plane: PlaneId, block: BlockId) {
        let plane = &mut self.planes[plane.index()];
        plane.victims.retain(|&victim| victim != block);
        if plane.last == Some(block) {
            plane.last = None;
        }
        if let Some(batch) = &mut plane.batch {
            batch.open = batch.open.filter(|&(open, _)| open != block);
        }
        if plane.victims.is_empty() {
            plane.destination = None;
            plane.moved.clear();
        }
    }

    /// A batch has ended: all of its victims are erased.
    pub(super) fn batch_ended(&mut self, now_ns: u64, plane: PlaneId) {
        let at = plane.0;
        let plane = &mut self.planes[plane.index()];
        assert!(
            plane.victims.is_empty(),
            "at {now_ns} ns the batch of plane {at} ended before its victims were erased"
        );
        plane.batch = None;
    }
}
