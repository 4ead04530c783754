//! The flash translation layer: page map, block accounts, and the frontiers that hand out pages.
//!
//! A page's life: erased -> taken from a frontier -> bound to a logical page (valid) -> invalid,
//! when its logical page is written elsewhere or trimmed -> erased with its block. The FTL keeps
//! these accounts and never starts an operation; it never calls the garbage collector. Every change
//! is a [`Fact`], or a [`Lost`] page, that its caller passes on.

pub mod blocks;
mod errors;
pub mod facts;
mod failures;
mod free_list;
pub mod frontier;
pub mod map;
pub mod open;
mod reserved;
pub mod stamps;
mod writer;

use crate::device::Geometry;
use crate::ids::{BlockId, Lpn, PlaneId, Ppn};
use blocks::{BlockState, Blocks};
pub use errors::PageErrors;
pub use facts::{Fact, Facts, Lost};
pub use failures::{BadBlocks, Failures};
use frontier::{FrontierRules, Frontiers};
pub use frontier::{Parity, Stream, Taken};
use map::PageMap;
use reserved::Reserved;
pub use stamps::BlockFacts;
use stamps::Stamps;
use std::collections::BTreeSet;
pub use writer::Writer;

/// The translation layer of one drive.
#[derive(Clone)]
pub struct Ftl {
    /// Logical to physical pages, and back.
    pub map: PageMap,
    /// Valid pages, states and wear of every block.
    pub blocks: Blocks,
    /// Open blocks and erased blocks of every plane.
    pub frontiers: Frontiers,
    /// Changes that have not been read yet.
    pub facts: Facts,
    /// Pages that were handed out to writes that have not started.
    reserved: Reserved,
    /// The clock of host writes, and the clock values recorded for each block.
    pub stamps: Stamps,
    /// The age of data in the measured part, where reads have errors.
    pub errors: Option<Box<PageErrors>>,
    /// Bad blocks, where programs or erases may fail.
    failures: Option<Box<Failures>>,
    /// Blocks of a saved drive with a failed program.
    pub failing: BTreeSet<u32>,
    /// Whether the saved drive was read-only.
    pub was_read_only: bool,
    /// Whether copies are recorded, as facts or for the age of data.
    pub follows_copies: bool,
}

/// A page that was taken and programmed.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// The page.
    pub ppn: Ppn,
    /// The block that it filled, or `BlockId::NONE`: its caller [seals](Ftl::seal) it.
    pub filled: BlockId,
    /// Whether the data was current.
    pub current: bool,
    /// The page that the data has left, or `Ppn::NONE`: its caller [loses](Ftl::lose) it.
    pub left: Ppn,
}

impl Placed {
    /// A copy of current data that did not fill its block, and whose old page is accounted for.
    #[inline(always)]
    pub fn of_copy(ppn: Ppn) -> Self {
        Placed { ppn, filled: BlockId::NONE, current: true, left: Ppn::NONE }
    }
}

impl Ftl {
    /// An erased drive.
    pub fn new(geometry: &Geometry, rules: FrontierRules) -> Self {
        Ftl::of(
            PageMap::new(geometry.exported_pages as usize, geometry.pages as usize),
            Blocks::new(geometry),
            Frontiers::new(geometry, rules),
        )
    }

    /// A drive in this state.
    pub fn of(map: PageMap, blocks: Blocks, frontiers: Frontiers) -> Self {
        Ftl {
            map,
            blocks,
            frontiers,
            facts: Facts::default(),
            reserved: Reserved::default(),
            stamps: Stamps::default(),
            errors: None,
            failures: None,
            failing: BTreeSet::new(),
            was_read_only: false,
            follows_copies: false,
        }
    }

    /// Takes a page of a plane for a logical page, which leaves its old one.
    #[inline(always)]
    pub fn write(
        &mut self,
        geometry: &Geometry,
        plane: PlaneId,
        stream: Stream,
        parity: Parity,
        lpn: Lpn,
    ) -> Placed {
        let Taken { ppn, filled, .. } = self.take(geometry, plane, stream, parity);
        self.write_at(geometry, ppn, filled, lpn)
    }

    /// Binds a logical page to a page that was taken, and that filled this block or none.
    #[inline(always)]
    fn write_at(&mut self, geometry: &Geometry, ppn: Ppn, filled: BlockId, lpn: Lpn) -> Placed {
        self.stamps.clock += 1;
        let left = self.map.bind(lpn, ppn);
        let (block, page) = geometry.block_and_page(ppn);
        self.blocks.add_valid(block, page);
        Placed { ppn, filled, current: true, left }
    }

    /// Takes a page of a plane for the data of another page. Where that is invalid by now, the copy
    /// is invalid from the start.
    #[inline(always)]
    pub fn copy(
        &mut self,
        geometry: &Geometry,
        from: Ppn,
        plane: PlaneId,
        stream: Stream,
        parity: Parity,
    ) -> Placed {
        let (block, page) = geometry.block_and_page(from);
        if !self.blocks.is_valid(block, page) {
            let Taken { ppn, filled, .. } = self.take(geometry, plane, stream, parity);
            return Placed { ppn, filled, current: false, left: Ppn::NONE };
        }
        let placed = self.copy_emptied(geometry, from, plane, stream, parity);
        // A collection does not record invalid pages of its own victim.
        if self.blocks.state(block) == BlockState::Victim {
            self.blocks.remove_valid(block, page);
            return placed;
        }
        Placed { left: from, ..placed }
    }

    /// Copies a valid page of a block that was [emptied](Ftl::empty).
    #[inline(always)]
    pub fn copy_emptied(
        &mut self,
        geometry: &Geometry,
        from: Ppn,
        plane: PlaneId,
        stream: Stream,
        parity: Parity,
    ) -> Placed {
        let Taken { ppn, filled, .. } = self.take(geometry, plane, stream, parity);
        self.map.bind(self.map.lpn_of(from), ppn);
        let (block, page) = geometry.block_and_page(ppn);
        self.blocks.add_valid(block, page);
        if self.follows_copies {
            self.follow_copy(from, ppn);
        }
        Placed { ppn, filled, current: true, left: Ppn::NONE }
    }

    /// Whether consecutive copies of a plane can be taken together: all of them go to one frontier,
    /// and no record of each copy is kept.
    #[inline(always)]
    pub fn copies_run(&self) -> bool {
        !self.follows_copies && !self.frontiers.keeps_parity()
    }

    /// Takes adjacent pages for the data of these pages, whose old accounts the caller updates: at
    /// most as many as the open block has, without its last one. Returns the first page, and their
    /// number.
    #[inline(always)]
    pub fn copy_run<'a>(
        &mut self,
        geometry: &Geometry,
        from: impl ExactSizeIterator<Item = &'a Ppn>,
        plane: PlaneId,
    ) -> (Ppn, usize) {
        let (first, pages) = self.frontiers.take_run(plane, Stream::Gc, from.len() as u32);
        if pages > 0 {
            self.map.bind_copies(from.take(pages as usize), first);
            let (block, page) = geometry.block_and_page(first);
            self.blocks.add_valid_run(block, page, pages);
        }
        (first, pages as usize)
    }

    /// Turns on the records of copies: facts if `passes_moves`, and the age of data if `errors` is
    /// given.
    pub fn follow_copies(&mut self, passes_moves: bool, errors: Option<Box<PageErrors>>) {
        self.follows_copies = passes_moves || errors.is_some();
        self.facts.passes_moves = passes_moves;
        self.errors = errors;
    }

    #[inline(never)]
    fn follow_copy(&mut self, from: Ppn, to: Ppn) {
        if let Some(errors) = &mut self.errors {
            errors.copy(from, to);
        }
        if self.facts.passes_moves {
            self.facts.push(Fact::Moved { from, to });
        }
    }

    /// The controller has corrected the data of a copy.
    #[inline(always)]
    pub fn renew(&mut self, page: Ppn) {
        if let Some(errors) = &mut self.errors {
            errors.renew(page);
        }
    }

    /// Number of retries of the flash page of a page until its errors are corrected.
    pub fn retries(&self, geometry: &Geometry, page: Ppn) -> u8 {
        let erases = self.blocks.erases(geometry.block_of(page));
        self.errors.as_ref().map_or(0, |errors| errors.retries(page, erases))
    }

    /// Whether the errors of a page cannot be corrected, however often it is read.
    pub fn is_uncorrectable(&self, geometry: &Geometry, page: Ppn) -> bool {
        let most = self.errors.as_ref().map_or(u8::MAX, |errors| errors.most());
        self.retries(geometry, page) > most
    }

    /// Brings the accounts of the page that a logical page will leave into the cache.
    #[inline(always)]
    pub fn prefetch_old(&self, geometry: &Geometry, lpn: Lpn) {
        let ppn = self.map.ppn_of(lpn);
        if ppn.is_some() {
            let (block, page) = geometry.block_and_page(ppn);
            self.blocks.prefetch(block, page);
            self.stamps.prefetch(block);
        }
    }

    /// Brings the entry of the map into the cache that a copy of this page changes.
    #[inline(always)]
    pub fn prefetch_copy(&self, from: Ppn) {
        self.map.prefetch(self.map.lpn_of(from));
    }

    /// All pages of a claimed block are about to be copied at once.
    pub fn empty(&mut self, block: BlockId) {
        self.blocks.clear_valid(block);
    }

    /// Takes a page from a frontier. The reserve guarantees that there is one.
    #[inline(always)]
    fn take(
        &mut self,
        geometry: &Geometry,
        plane: PlaneId,
        stream: Stream,
        parity: Parity,
    ) -> Taken {
        match self.frontiers.take_cleared(geometry, plane, stream) {
            Some(taken) => taken,
            None => self.take_slowly(geometry, plane, stream, parity),
        }
    }

    /// Takes a page where a block is opened, where programs may fail, and under the odd/even rule.
    #[cold]
    #[inline(never)]
    fn take_slowly(
        &mut self,
        geometry: &Geometry,
        plane: PlaneId,
        stream: Stream,
        parity: Parity,
    ) -> Taken {
        let taken = self.frontiers.take(geometry, plane, stream, parity);
        let Some(taken) = taken else {
            panic!("plane {} has no erased page left: the reserve was too small", plane.0)
        };
        if taken.opened.is_some() {
            self.opened(plane, taken.opened, None);
        }
        match self.failures {
            Some(_) => self.after_failures(geometry, plane, stream, taken),
            None => taken,
        }
    }

    fn opened(&mut self, plane: PlaneId, block: BlockId, class: Option<u8>) {
        self.stamps.opened(block, class);
        self.facts.push(Fact::Opened { plane, block });
        self.blocks.open(block);
    }

    /// A class whose frontier is full continues in a block that another scheme has opened, if one
    /// is left in the plane.
    pub fn continue_started(&mut self, geometry: &Geometry, plane: PlaneId, class: u8) -> bool {
        let started = self.frontiers.continue_started(geometry, plane, class);
        if let Some(block) = started {
            self.stamps.continued(block, class);
        }
        started.is_some()
    }

    /// The clock values of a block that is not erased, where these are kept.
    #[inline]
    pub fn facts_of(&self, block: BlockId) -> Option<BlockFacts> {
        let state = self.blocks.state(block);
        let valid = (state != BlockState::Victim).then(|| self.blocks.valid(block));
        self.stamps.facts(block, state == BlockState::Open, valid)
    }

    /// Opens this erased block for a class whose frontier is full.
    pub fn open_chosen(&mut self, geometry: &Geometry, plane: PlaneId, class: u8, block: BlockId) {
        self.frontiers.open_chosen(geometry, plane, class, block);
        self.opened(plane, block, Some(class));
    }

    /// Marks a page invalid that its data has left.
    #[inline(always)]
    pub fn lose(&mut self, geometry: &Geometry, ppn: Ppn) -> Lost {
        let (block, at) = geometry.block_and_page(ppn);
        let plane = geometry.plane_of_block(block);
        let (valid, state) = self.blocks.remove_valid(block, at);
        if state == BlockState::Sealed {
            self.blocks.reclaimable[plane.index()] += geometry.won_with_last(block, valid);
        }
        Lost { plane, page: ppn, block, valid, state }
    }

    /// The host discards a logical page. Returns the page that it leaves, or `Ppn::NONE`: the
    /// caller [loses](Ftl::lose) it.
    pub fn trim(&mut self, lpn: Lpn) -> Ppn {
        self.map.unbind(lpn)
    }

    /// Closes a full block to writing: from now on it can be a victim.
    #[inline]
    pub fn seal(&mut self, geometry: &Geometry, block: BlockId, age_ns: u64) {
        self.stamps.sealed(block);
        self.is_candidate(geometry, block);
        self.blocks.seal(block, age_ns);
    }

    /// The fact comes before the changes of the large tables: who reads it must not wait for them.
    #[inline]
    fn is_candidate(&mut self, geometry: &Geometry, block: BlockId) {
        let valid = self.blocks.valid(block);
        let plane = geometry.plane_of_block(block);
        self.facts.push(Fact::Sealed { plane, block, valid });
        self.blocks.reclaimable[plane.index()] += geometry.won(block, valid);
    }

    /// The sealed blocks of a plane in the order of their sealing.
    pub fn sealed_in_order(&self, geometry: &Geometry, plane: PlaneId) -> Vec<BlockId> {
        let blocks = geometry.blocks_of(plane).map(BlockId);
        let mut sealed: Vec<BlockId> = blocks.filter(|&b| self.blocks.is_sealed(b)).collect();
        sealed.sort_unstable_by_key(|&block| self.blocks.seal_number(block));
        sealed
    }

    /// Removes a sealed block from the candidates: it is collected. Returns its valid pages.
    pub fn claim(&mut self, geometry: &Geometry, block: BlockId) -> u32 {
        let (plane, valid) = (geometry.plane_of_block(block), self.blocks.valid(block));
        self.stamps.claimed(block, valid);
        self.facts.push(Fact::Claimed { plane, block, valid });
        self.blocks.claim(block);
        self.blocks.reclaimable[plane.index()] -= geometry.won(block, valid);
        valid
    }

    /// Claims an erased block next to the blocks of a collection: it must not be opened meanwhile.
    pub fn claim_free(&mut self, geometry: &Geometry, block: BlockId) {
        let plane = geometry.plane_of_block(block);
        self.blocks.claim_free(block);
        self.frontiers.withhold(plane, block);
        self.facts.push(Fact::Withheld { plane, block });
    }

    /// A block that was erased before the collection claimed it is available again; the collection
    /// may have erased it once more.
    pub fn unclaim_free(&mut self, geometry: &Geometry, block: BlockId, erased: bool) {
        let plane = geometry.plane_of_block(block);
        if erased {
            self.blocks.erase(block);
        } else {
            self.blocks.unclaim_free(block);
        }
        self.frontiers.give_out(plane, block, erased);
        self.facts.push(Fact::Free { plane, block, erased });
    }

    /// A collection has moved the block's valid pages and did not erase it: it is a candidate
    /// again.
    pub fn unclaim(&mut self, geometry: &Geometry, block: BlockId) {
        self.blocks.unclaim(block);
        self.is_candidate(geometry, block);
    }

    /// Erases a claimed block that holds no valid page, and gives it back to its plane, or retires
    /// it.
    pub fn erase(&mut self, geometry: &Geometry, block: BlockId) {
        if self.failures.is_some() && self.retires(geometry, block) {
            return;
        }
        let plane = geometry.plane_of_block(block);
        self.facts.push(Fact::Free { plane, block, erased: true });
        self.blocks.erase(block);
        if let Some(errors) = &mut self.errors {
            errors.erase(geometry.first_page(block), geometry.shape.pages_per_block);
        }
        self.frontiers.give_back(geometry, plane, block);
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
        let errors = self.errors.as_ref().map_or(0, |errors| errors.bytes());
        let tables = self.map.bytes() + self.blocks.bytes() + self.frontiers.bytes();
        tables + self.stamps.bytes() + errors
    }
}
