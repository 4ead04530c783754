//! The checker's own count of the reads of each block: none is reclaimed before its limit.

use super::Happened;
use flashgc_model::device::Geometry;
use flashgc_model::plan::Plan;

/// Reads of the host in each block since its erase, each slot by itself: several may be one of the
/// array.
pub(super) struct Reclaims {
    limit: u64,
    reads: Vec<u64>,
}

impl Reclaims {
    /// For a scheme with read reclaim.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let limit = plan.gc.background.read_reclaim?.limit.into();
        Some(Reclaims { limit, reads: vec![0; plan.geometry.blocks as usize] })
    }

    /// Takes an event.
    pub(super) fn observe(&mut self, now_ns: u64, happened: Happened, at: &Geometry) {
        match happened {
            Happened::Read { ppn, .. } => self.reads[at.block_of(ppn).index()] += 1,
            Happened::Erased { block } => self.reads[block.index()] = 0,
            Happened::Reclaimed { block } => {
                let reads = self.reads[block.index()];
                assert!(
                    reads >= self.limit,
                    "at {now_ns} ns block {} is reclaimed after {reads} of {} reads",
                    block.0,
                    self.limit
                );
            }
            _ => {}
        }
    }
}
