//! Which data is old, where the age of data matters: a bit for each program.
//!
//! All data that is there at the start of the measured part is old. What the host writes is new,
//! and so is a copy that the controller has corrected. A copyback programs the data as it was read,
//! with its errors, so it stays as old as it was. Erased pages are not old, so writes of the host
//! have nothing to note.

use super::blocks::Blocks;
use super::frontier::Frontiers;
use crate::device::{Geometry, ReadErrors, ReadRetry};
use crate::ids::{BlockId, Ppn};

/// The errors of the pages of a drive.
#[derive(Clone)]
pub struct PageErrors {
    errors: ReadErrors,
    /// Mapped pages of a flash page, of an array read, and of a program.
    slots: u32,
    read_slots: u32,
    program_slots: u32,
    /// Mapped pages of a whole block.
    block_pages: u32,
    /// By program: whether its data is old.
    old: Vec<u64>,
}

impl PageErrors {
    /// All data of the drive is old now.
    pub fn new(
        rules: &ReadRetry,
        seed: u64,
        geometry: &Geometry,
        (blocks, frontiers): (&Blocks, &Frontiers),
    ) -> Self {
        let shape = &geometry.shape;
        let programs = u64::from(geometry.pages.div_ceil(shape.program_slots));
        let mut errors = PageErrors {
            errors: ReadErrors::new(
                rules,
                seed,
                blocks.erases_max(),
                shape.pages_per_block * shape.sub_blocks / shape.slots,
            ),
            slots: shape.slots,
            read_slots: shape.read_slots(),
            program_slots: shape.program_slots,
            block_pages: shape.pages_per_block * shape.sub_blocks,
            old: vec![0; programs.div_ceil(64) as usize],
        };
        let mut valid = Vec::new();
        for block in (0..geometry.blocks).map(BlockId) {
            blocks.list_valid(block, geometry.first_page(block), &mut valid);
            valid.drain(..).for_each(|page| errors.set_old(page));
        }
        // Their data is in the controller, and is programmed in the measured part.
        frontiers.next_of_begun(shape.program_slots).for_each(|page| errors.renew(page));
        errors
    }

    fn bit(&self, page: Ppn) -> (usize, u64) {
        let program = page.0 / self.program_slots;
        (program as usize / 64, 1 << (program % 64))
    }

    fn is_old(&self, page: Ppn) -> bool {
        let (at, bit) = self.bit(page);
        self.old[at] & bit != 0
    }

    fn set_old(&mut self, page: Ppn) {
        let (at, bit) = self.bit(page);
        self.old[at] |= bit;
    }

    /// The data of a page is new.
    #[cold]
    #[inline(never)]
    pub(super) fn renew(&mut self, page: Ppn) {
        let (at, bit) = self.bit(page);
        self.old[at] &= !bit;
    }

    /// The pages of a block are erased.
    pub(super) fn erase(&mut self, first: Ppn, pages: u32) {
        for page in (first.0..first.0 + pages).step_by(self.program_slots as usize) {
            self.renew(Ppn(page));
        }
    }

    /// A page gets the data of another one, as old as that is.
    pub(super) fn copy(&mut self, from: Ppn, to: Ppn) {
        if self.is_old(from) {
            self.set_old(to);
        }
    }

    /// The retries of the flash page of a page whose block was erased as often.
    pub(super) fn retries(&self, page: Ppn, erases: u32) -> u8 {
        let place = page.0 % self.block_pages / self.read_slots;
        self.errors.retries(page.0 / self.slots, place, erases, self.is_old(page))
    }

    /// The most retries, soft decoding included, after which data is correct.
    pub(super) fn most(&self) -> u8 {
        self.errors.most()
    }

    pub(super) fn bytes(&self) -> u64 {
        8 * self.old.len() as u64
    }
}
