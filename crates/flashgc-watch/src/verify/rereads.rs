//! The checker's own account of the wear of blocks and the age of data, from which it follows how
//! often a page is read again.

use super::{Cause, Happened};
use flashgc_model::device::{Geometry, ReadErrors, RetryTimes};
use flashgc_model::ids::Ppn;
use flashgc_model::plan::Plan;

/// The number of retries of each page.
pub(super) struct Rereads {
    errors: ReadErrors,
    times: RetryTimes,
    /// Slots of a flash page, of the flash pages that are read together, and of a program.
    slots: u32,
    read_slots: u32,
    program_slots: u32,
    /// Pages of a whole block, and of the part that is erased by itself.
    block_pages: u32,
    pages_per_block: u32,
    erases: Vec<u32>,
    /// By mapped page: whether its data was there at the start.
    old: Vec<bool>,
    /// Whether the controller corrects the pages that copies read; if not, it does so only where it
    /// joins slots.
    pub(super) corrects: bool,
}

impl Rereads {
    /// For an erased drive, where reads have errors.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let (rules, shape) = (plan.read_retry.as_ref()?, &plan.geometry.shape);
        Some(Rereads {
            errors: ReadErrors::new(
                rules,
                plan.seed,
                0,
                shape.pages_per_block * shape.sub_blocks / shape.slots,
            ),
            times: rules.times,
            slots: shape.slots,
            read_slots: shape.slots * shape.planes_in_step,
            program_slots: shape.program_slots,
            block_pages: shape.pages_per_block * shape.sub_blocks,
            pages_per_block: shape.pages_per_block,
            erases: vec![0; plan.geometry.blocks as usize],
            old: vec![false; plan.geometry.pages as usize],
            corrects: !plan.gc.copy.stays_in_plane()
                || !plan.gc.takes_time()
                || plan.timing.passes.is_some()
                || shape.program_slots > 1
                    && (plan.gc.preemption.is_some() || plan.gc.placement.is_some()),
        })
    }

    /// The most reads of a page.
    pub(super) fn reads_max(&self) -> u64 {
        1 + u64::from(self.times.retries) + u64::from(self.times.soft_reads)
    }

    /// The erases of each block of the drive that it begins with.
    pub(super) fn starts_with(&mut self, erases: &[u32]) {
        self.erases.copy_from_slice(erases);
    }

    /// Takes an event of the data of a page.
    pub(super) fn observe(&mut self, happened: Happened, at: &Geometry) {
        match happened {
            Happened::MeasuringStarts => self.old.fill(true),
            Happened::Erased { block } => {
                self.erases[block.index()] += 1;
                let first = at.first_page(block).index();
                self.old[first..first + at.shape.pages_per_block as usize].fill(false);
            }
            Happened::Programmed { ppn, cause, .. } => match cause {
                Cause::Copy { from } | Cause::MoveAhead { from } if !self.corrects => {
                    self.old[ppn.index()] = self.old[from.index()];
                }
                _ => self.renews(ppn),
            },
            _ => {}
        }
    }

    /// A page gets corrected data, and so do those before it that are programmed with it.
    pub(super) fn renews(&mut self, page: Ppn) {
        let first = page.index() - page.index() % self.program_slots as usize;
        self.old[first..=page.index()].fill(false);
    }

    /// The time that retries add to a read of this page, in ns.
    pub(super) fn added_ns(&self, page: Ppn, read_ns: u64) -> u64 {
        let place = page.0 % self.block_pages / self.read_slots;
        let erases = self.erases[(page.0 / self.pages_per_block) as usize];
        let is_old = self.old[page.index()];
        let retries = self.errors.retries(page.0 / self.slots, place, erases, is_old);
        self.times.added(retries, read_ns).0
    }
}
