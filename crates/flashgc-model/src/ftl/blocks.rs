//! The accounts of every block: which pages are valid, how many, its state, age and wear.

use crate::device::Geometry;
use crate::ids::{BlockId, Divisor, PlaneId, Ppn};
use crate::memory::{bytes_of, prefetch, zeros};

/// The states of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum BlockState {
    /// Erased, in its plane's list of free blocks.
    Free = 0,
    /// A frontier hands out its pages.
    Open = 1,
    /// Full: it may become a victim.
    Sealed = 2,
    /// A collection moves its pages and erases it.
    Victim = 3,
    /// Bad: it is never opened again.
    Retired = 4,
}

const STATE_SHIFT: u32 = 28;
const VALID_MASK: u32 = (1 << STATE_SHIFT) - 1;

/// The blocks of a drive.
#[derive(Clone)]
pub struct Blocks {
    /// State and number of valid pages together, since they are always read together.
    info: Vec<u32>,
    /// One bit for each page; a block begins at a word of its own.
    valid_bits: Vec<u64>,
    words_per_block: usize,
    /// Erases since the drive was made.
    erases: Vec<u32>,
    /// Their sum in each plane.
    erases_of_planes: Vec<u64>,
    by_blocks_per_plane: Divisor,
    /// Erases before the measured part began.
    erases_before: Vec<u32>,
    /// The time of the block's seal, on the age clock, in ns.
    sealed_at_ns: Vec<u64>,
    /// The number of the sealing: blocks that were sealed at one instant still have an order.
    seal_number: Vec<u64>,
    seals: u64,
    /// For each plane, the invalid pages of its sealed blocks: the pages that collection could
    /// free.
    pub reclaimable: Vec<u32>,
}

impl Blocks {
    /// Erased blocks.
    pub fn new(geometry: &Geometry) -> Self {
        let pages_per_block = geometry.shape.pages_per_block;
        let words_per_block = pages_per_block.div_ceil(64) as usize;
        let blocks = geometry.blocks as usize;
        Blocks {
            info: zeros(blocks),
            valid_bits: zeros(blocks * words_per_block),
            words_per_block,
            erases: zeros(blocks),
            erases_of_planes: vec![0; geometry.planes as usize],
            by_blocks_per_plane: Divisor::new(geometry.shape.blocks_per_plane),
            erases_before: Vec::new(),
            sealed_at_ns: zeros(blocks),
            seal_number: zeros(blocks),
            seals: 0,
            reclaimable: vec![0; geometry.planes as usize],
        }
    }

    /// The state of a block.
    #[inline(always)]
    pub fn state(&self, block: BlockId) -> BlockState {
        state_of(self.info[block.index()])
    }

    /// Valid pages of a block.
    #[inline(always)]
    pub fn valid(&self, block: BlockId) -> u32 {
        self.info[block.index()] & VALID_MASK
    }

    /// Whether the block is full and not in a collection.
    #[inline(always)]
    pub fn is_sealed(&self, block: BlockId) -> bool {
        self.state(block) == BlockState::Sealed
    }

    /// Erases of a block since the drive was made.
    pub fn erases(&self, block: BlockId) -> u32 {
        self.erases[block.index()]
    }

    /// Erases of all blocks of a plane since the drive was made.
    pub fn erases_of_plane(&self, plane: PlaneId) -> u64 {
        self.erases_of_planes[plane.index()]
    }

    fn add_erases(&mut self, block: BlockId, erases: u32) {
        self.erases[block.index()] += erases;
        let plane = self.by_blocks_per_plane.divide(block.0);
        self.erases_of_planes[plane as usize] += u64::from(erases);
    }

    /// The most erases of a block.
    pub fn erases_max(&self) -> u32 {
        self.erases.iter().copied().max().unwrap_or(0)
    }

    /// The time of the block's seal, on the age clock, in ns.
    pub fn sealed_at_ns(&self, block: BlockId) -> u64 {
        self.sealed_at_ns[block.index()]
    }

    /// The number of the block's sealing: lower is earlier.
    pub fn seal_number(&self, block: BlockId) -> u64 {
        self.seal_number[block.index()]
    }

    /// Whether a page holds valid data.
    #[inline]
    pub fn is_valid(&self, block: BlockId, page: u32) -> bool {
        let (word, bit) = self.bit(block, page);
        self.valid_bits[word] >> bit & 1 == 1
    }

    #[inline(always)]
    fn bit(&self, block: BlockId, page: u32) -> (usize, u32) {
        (block.index() * self.words_per_block + (page / 64) as usize, page % 64)
    }

    /// Marks a page valid.
    #[inline(always)]
    pub fn add_valid(&mut self, block: BlockId, page: u32) {
        let (word, bit) = self.bit(block, page);
        debug_assert!(self.valid_bits[word] >> bit & 1 == 0, "page is valid already");
        self.valid_bits[word] |= 1 << bit;
        self.info[block.index()] += 1;
    }

    /// Marks a run of adjacent pages valid.
    #[inline(always)]
    pub fn add_valid_run(&mut self, block: BlockId, page: u32, pages: u32) {
        let (mut from, to) = (page, page + pages);
        while from < to {
            let (word, bit) = self.bit(block, from);
            let count = (64 - bit).min(to - from);
            let bits = (u64::MAX >> (64 - count)) << bit;
            debug_assert!(self.valid_bits[word] & bits == 0, "a page is valid already");
            self.valid_bits[word] |= bits;
            from += count;
        }
        self.info[block.index()] += pages;
    }

    /// Marks a page invalid; returns the valid pages left and the block's state.
    #[inline(always)]
    pub fn remove_valid(&mut self, block: BlockId, page: u32) -> (u32, BlockState) {
        let (word, bit) = self.bit(block, page);
        debug_assert!(self.valid_bits[word] >> bit & 1 == 1, "page is not valid");
        self.valid_bits[word] &= !(1 << bit);
        let info = &mut self.info[block.index()];
        *info -= 1;
        (*info & VALID_MASK, state_of(*info))
    }

    /// The valid pages of a block that have an even number in it.
    pub fn valid_even(&self, block: BlockId) -> u32 {
        const EVEN: u64 = u64::MAX / 3;
        let words = block.index() * self.words_per_block;
        let words = &self.valid_bits[words..words + self.words_per_block];
        words.iter().map(|word| (word & EVEN).count_ones()).sum()
    }

    /// The lowest valid page of a block.
    pub fn first_valid(&self, block: BlockId) -> Option<u32> {
        let words = block.index() * self.words_per_block;
        let words = &self.valid_bits[words..words + self.words_per_block];
        let at = words.iter().position(|&word| word != 0)?;
        Some(at as u32 * 64 + words[at].trailing_zeros())
    }

    /// Appends the valid pages of a block, lowest first.
    #[inline]
    pub fn list_valid(&self, block: BlockId, first: Ppn, into: &mut Vec<Ppn>) {
        let words = block.index() * self.words_per_block;
        for (at, &word) in self.valid_bits[words..words + self.words_per_block].iter().enumerate() {
            let mut rest = word;
            while rest != 0 {
                into.push(Ppn(first.0 + at as u32 * 64 + rest.trailing_zeros()));
                rest &= rest - 1;
            }
        }
    }

    /// Marks every page of a block invalid at once.
    pub(super) fn clear_valid(&mut self, block: BlockId) {
        debug_assert_eq!(self.state(block), BlockState::Victim, "only a victim is emptied");
        let words = block.index() * self.words_per_block;
        self.valid_bits[words..words + self.words_per_block].fill(0);
        self.info[block.index()] &= !VALID_MASK;
    }

    /// A frontier begins to hand out the block's pages.
    pub fn open(&mut self, block: BlockId) {
        debug_assert_eq!(self.info[block.index()], 0, "only an erased block is opened");
        self.set_state(block, BlockState::Open);
    }

    /// The block is full.
    pub fn seal(&mut self, block: BlockId, age_ns: u64) {
        debug_assert_eq!(self.state(block), BlockState::Open);
        self.set_state(block, BlockState::Sealed);
        self.sealed_at_ns[block.index()] = age_ns;
        self.seal_number[block.index()] = self.seals;
        self.seals += 1;
    }

    /// Claims the block for a collection.
    pub fn claim(&mut self, block: BlockId) {
        assert_eq!(self.state(block), BlockState::Sealed, "a victim must be sealed");
        self.set_state(block, BlockState::Victim);
    }

    /// Claims an erased block next to the blocks of a collection: it must not be opened meanwhile.
    pub fn claim_free(&mut self, block: BlockId) {
        debug_assert_eq!(self.info[block.index()], 0, "only an erased block is withheld");
        self.set_state(block, BlockState::Victim);
    }

    /// A block that was withheld is available again.
    pub fn unclaim_free(&mut self, block: BlockId) {
        assert_eq!(self.state(block), BlockState::Victim, "only a job's block is given back");
        self.set_state(block, BlockState::Free);
    }

    /// A collection has moved the block's valid pages and did not erase it.
    pub fn unclaim(&mut self, block: BlockId) {
        assert_eq!(self.state(block), BlockState::Victim, "only a job's block is given back");
        self.set_state(block, BlockState::Sealed);
    }

    /// The block is erased.
    pub fn erase(&mut self, block: BlockId) {
        assert_eq!(self.state(block), BlockState::Victim, "only a job's victim is erased");
        assert_eq!(self.valid(block), 0, "an erase would lose data");
        self.set_state(block, BlockState::Free);
        self.add_erases(block, 1);
    }

    /// The block is bad.
    pub fn retire(&mut self, block: BlockId) {
        assert_eq!(self.state(block), BlockState::Victim, "only a job's victim is retired");
        assert_eq!(self.valid(block), 0, "data would be lost");
        self.set_state(block, BlockState::Retired);
    }

    fn set_state(&mut self, block: BlockId, state: BlockState) {
        let info = &mut self.info[block.index()];
        *info = *info & VALID_MASK | (state as u32) << STATE_SHIFT;
    }

    /// Marks a page of a saved drive valid; returns whether it was so before.
    #[inline(always)]
    pub fn restore_valid(&mut self, block: BlockId, page: u32) -> bool {
        let (word, bit) = self.bit(block, page);
        let was_valid = self.valid_bits[word] >> bit & 1 == 1;
        self.valid_bits[word] |= 1 << bit;
        was_valid
    }

    /// The last valid page of each kind of a block, even and odd.
    pub fn last_valid(&self, block: BlockId) -> [Option<u32>; 2] {
        const EVEN: u64 = 0x5555_5555_5555_5555;
        let words = block.index() * self.words_per_block;
        let words = &self.valid_bits[words..words + self.words_per_block];
        [EVEN, !EVEN].map(|lane| {
            let at = words.iter().rposition(|word| word & lane != 0)?;
            Some(at as u32 * 64 + 63 - (words[at] & lane).leading_zeros())
        })
    }

    /// Restores a block of a saved drive, whose valid pages are marked: its state and its wear.
    pub fn restore(&mut self, block: BlockId, state: BlockState, erases: u32) -> u32 {
        let words = block.index() * self.words_per_block;
        let words = &self.valid_bits[words..words + self.words_per_block];
        let valid = words.iter().map(|word| word.count_ones()).sum::<u32>();
        self.info[block.index()] = valid | (state as u32) << STATE_SHIFT;
        self.add_erases(block, erases);
        valid
    }

    /// Erases of every block since the drive was made.
    pub fn into_wear(self) -> (Vec<u32>, Vec<u64>) {
        (self.erases, self.sealed_at_ns)
    }

    /// From now on, wear counts from zero for the report.
    pub fn start_measuring(&mut self) {
        self.erases_before.clone_from(&self.erases);
    }

    /// Erases of every block in the measured part.
    pub fn measured_erases(&self) -> impl Iterator<Item = u32> + '_ {
        self.erases
            .iter()
            .enumerate()
            .map(|(block, &now)| now - self.erases_before.get(block).copied().unwrap_or(0))
    }

    /// Brings the accounts of a page into the cache.
    #[inline(always)]
    pub fn prefetch(&self, block: BlockId, page: u32) {
        prefetch(&self.info, block.index());
        prefetch(&self.valid_bits, self.bit(block, page).0);
    }

    /// Bytes taken.
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.info)
            + bytes_of(&self.valid_bits)
            + bytes_of(&self.erases)
            + bytes_of(&self.erases_before)
            + bytes_of(&self.sealed_at_ns)
            + bytes_of(&self.seal_number)
    }
}

#[inline(always)]
fn state_of(info: u32) -> BlockState {
    match info >> STATE_SHIFT {
        0 => BlockState::Free,
        1 => BlockState::Open,
        2 => BlockState::Sealed,
        3 => BlockState::Victim,
        _ => BlockState::Retired,
    }
}
