//! The checker's own account of bad blocks: which programs and erases fail follows from its own
//! count of erases.

use super::Happened;
use flashgc_model::device::{Failures, Geometry};
use flashgc_model::drive::Drive;
use flashgc_model::ids::{BlockId, Ppn};
use flashgc_model::plan::Plan;

/// The bad blocks.
pub(super) struct BadBlocks {
    outcomes: Failures,
    erases: Vec<u32>,
    retired: Vec<bool>,
    failing: Vec<bool>,
    is_read_only: bool,
}

impl BadBlocks {
    /// For an erased drive, where operations may fail.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let failures = plan.failures.as_ref()?;
        let blocks = plan.geometry.blocks as usize;
        Some(BadBlocks {
            outcomes: Failures::new(&failures.rules, plan.seed),
            erases: vec![0; blocks],
            retired: vec![false; blocks],
            failing: vec![false; blocks],
            is_read_only: false,
        })
    }

    /// The blocks of the drive that it begins with.
    pub(super) fn starts_with(&mut self, plan: &Plan, drive: &Drive) {
        let at = &plan.geometry;
        self.erases.copy_from_slice(&drive.erases);
        let mut blocks = drive.order.chunks(at.shape.blocks_per_plane as usize);
        for plane in &drive.planes {
            let own = blocks.next().unwrap_or_default();
            let retired = &own[own.len() - plane.retired as usize..];
            retired.iter().for_each(|&block| self.retired[block as usize] = true);
        }
        drive.failing.iter().for_each(|&block| self.failing[block as usize] = true);
        self.is_read_only = drive.is_read_only;
        let Some(failures) = &plan.failures else { return };
        let is_bad = |block: &u32| self.retired[*block as usize] || self.failing[*block as usize];
        let mut left: Vec<u32> = (0..plan.pools.count())
            .map(|pool| plan.pools.planes(pool).len() as u32 * failures.spare_blocks)
            .collect();
        for block in (0..at.blocks).filter(is_bad) {
            let pool = plan.pools.of_plane(at.plane_of_block(BlockId(block)));
            left[pool] = left[pool].saturating_sub(1);
            self.is_read_only |= left[pool] == 0;
        }
    }

    /// Takes an event of the run.
    pub(super) fn observe(&mut self, now_ns: u64, happened: Happened, at: &Geometry) {
        match happened {
            Happened::Programmed { ppn, .. } | Happened::Padded { ppn, .. } => {
                self.programmed(now_ns, ppn, at);
            }
            Happened::ProgramFailed(ppn) => {
                let block = at.block_of(ppn).index();
                assert!(
                    self.fails(ppn, at) && !self.is_read_only,
                    "at {now_ns} ns the program of page {} failed and should not",
                    ppn.0
                );
                assert!(!self.failing[block], "at {now_ns} ns block {block} failed twice");
                self.failing[block] = true;
            }
            Happened::Opened { block } | Happened::Claimed { block, .. } => {
                self.is_good(now_ns, block);
            }
            Happened::Erased { block } => {
                self.is_good(now_ns, block);
                let erases = &mut self.erases[block.index()];
                let fails = self.outcomes.erase_fails(block.0, *erases);
                assert!(
                    !self.failing[block.index()] && (self.is_read_only || !fails),
                    "at {now_ns} ns block {} was erased and is bad",
                    block.0
                );
                *erases += 1;
            }
            Happened::Retired(block, failed) => self.retired(now_ns, block, failed),
            Happened::BecomesReadOnly => self.is_read_only = true,
            _ => {}
        }
    }

    fn fails(&self, page: Ppn, at: &Geometry) -> bool {
        let (block, page) = at.block_and_page(page);
        let program = page / (at.shape.slots * at.shape.pages_per_program);
        self.outcomes.program_fails(block.0, program, self.erases[block.index()])
    }

    fn programmed(&self, now_ns: u64, page: Ppn, at: &Geometry) {
        let block = at.block_of(page);
        self.is_good(now_ns, block);
        assert!(
            !self.failing[block.index()],
            "at {now_ns} ns page {} of a block with a failed program was programmed",
            page.0
        );
        // A program whose first page was there before, on an aged drive, is not checked.
        let begins = page.0.is_multiple_of(at.shape.program_slots);
        assert!(
            self.is_read_only || !begins || !self.fails(page, at),
            "at {now_ns} ns page {} has data, and its program fails",
            page.0
        );
    }

    fn is_good(&self, now_ns: u64, block: BlockId) {
        assert!(
            !self.retired[block.index()],
            "at {now_ns} ns block {} was used, which is retired",
            block.0
        );
    }

    fn retired(&mut self, now_ns: u64, block: BlockId, failed: bool) {
        self.is_good(now_ns, block);
        let (at, erases) = (block.index(), self.erases[block.index()]);
        let is_due = match failed {
            true => !self.failing[at] && self.outcomes.erase_fails(block.0, erases),
            false => self.failing[at],
        };
        assert!(is_due, "at {now_ns} ns block {} was retired and is good", block.0);
        (self.failing[at], self.retired[at]) = (false, true);
    }
}
