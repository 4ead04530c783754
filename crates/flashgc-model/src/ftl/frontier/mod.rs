//! Frontiers: the open blocks that hand out pages, and each plane's list of erased blocks.
//!
//! Life of a block here: erased, in the free list -> opened by a frontier that has run out ->
//! pages handed out -> full, and sealed by the caller. The host may not open one of the last
//! `reserve_blocks` erased blocks: collection needs them to move its worst victim.
//!
//! With the odd/even rule a copy must land on a page of its source's parity. A frontier then hands
//! out even and odd pages apart; a block that has only one kind left stays open, and a page of the
//! other kind opens a new block. No page is wasted (paper parallel-gc, section IV-C3): where copies
//! have a frontier of their own, the host takes the pages that they leave before it is short.
//!
//! A drive that was filled by another scheme, or that was aged, may have more blocks open than
//! there are frontiers. Such *started* blocks are opened before erased ones, and writing continues
//! at their next page.

mod begun;
mod carried;
mod classes;
mod halves;
mod room;

use super::free_list::FreeLists;
use super::open::Role;
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId, Ppn};
use halves::HalfBlock;
use std::collections::VecDeque;
use std::ops::Range;

/// The writer of a page: each stream has a frontier of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Writes of the host.
    Host,
    /// Copies of the collector.
    Gc,
    /// Pages of a class, from the host or from copies: where placement depends on the page's
    /// history.
    Class(u8),
}

/// The pages of a block that suit a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// Any page.
    Any,
    /// Pages whose number in the block is even (0) or odd (1).
    Only(u32),
}

/// The plan's rules for frontiers.
#[derive(Clone, Copy, Debug)]
pub struct FrontierRules {
    /// Copies go to a frontier of their own.
    pub separate_gc: bool,
    /// Classes of pages, each with a frontier of its own, whose next block is
    /// [chosen](Frontiers::open_chosen); 0 where there are none.
    pub classes: u32,
    /// Classes, the first ones, for each of which an erased block is kept while it has none open.
    pub always_open: u32,
    /// Copies keep the parity of their page.
    pub parity: bool,
    /// Erased blocks of a plane that the host may not open.
    pub reserve_blocks: u32,
    /// Erased pages of a plane that the host leaves where a number of blocks is not enough: blocks
    /// differ in size, or several streams of copies have an open block each. Of each kind under the
    /// odd/even rule. 0 elsewhere.
    pub reserve_pages: u32,
    /// Number of programs between the two passes of one program, while the controller keeps its
    /// data. 0 with single-pass programs.
    pub lag: u32,
}

/// A page that was handed out.
#[derive(Clone, Copy, Debug)]
pub struct Taken {
    /// The page.
    pub ppn: Ppn,
    /// The block that it filled, or `BlockId::NONE`.
    pub filled: BlockId,
    /// The block that was opened for it, or `BlockId::NONE`.
    pub opened: BlockId,
}

#[derive(Clone, Default)]
struct Frontier {
    next: u32,
    /// Programs of the pages before this one do not fail; programs of later ones may.
    cleared: u32,
    end: u32,
    /// Under the odd/even rule only: open blocks, the oldest first.
    halves: VecDeque<HalfBlock>,
}

impl Frontier {
    /// Continues a block from this page on.
    fn begin(&mut self, next: u32, end: u32, programs_fail: bool) {
        (self.next, self.end) = (next, end);
        self.cleared = if programs_fail { next } else { end };
    }

    /// The next page, whether it is cleared or not.
    fn hand_out(&mut self) -> u32 {
        let page = self.next;
        self.next += 1;
        self.cleared = self.cleared.max(self.next);
        page
    }
}

/// An open block that waits for a frontier; its pages are written up to `next`.
#[derive(Clone, Copy)]
struct Started {
    block: BlockId,
    next: u32,
}

/// The frontiers and free lists of all planes.
#[derive(Clone)]
pub struct Frontiers {
    rules: FrontierRules,
    /// Whether programs may fail: the pages of a frontier are [cleared](Self::clear) step by step.
    programs_fail: bool,
    /// Frontiers of a plane.
    streams: usize,
    /// Pages of a block.
    data_pages: u32,
    frontiers: Vec<Frontier>,
    /// Open blocks that no frontier has yet, with their next page: taken before erased ones.
    started: Vec<VecDeque<Started>>,
    free_blocks: FreeLists,
    /// Erased pages of each plane, in free and in open blocks.
    free_pages: Vec<u32>,
    /// Their sum, and the lowest that it was since measuring began, when pages last came back.
    free_total: u64,
    free_total_min: u64,
    /// Erased blocks of each plane, not open, with one more even page than odd ones.
    uneven_blocks: Vec<u32>,
}

impl Frontiers {
    /// Every block erased, none open.
    pub fn new(geometry: &Geometry, rules: FrontierRules) -> Self {
        let mut frontiers = Frontiers::empty(geometry, rules);
        for plane in (0..geometry.planes).map(PlaneId) {
            geometry.blocks_of(plane).for_each(|b| {
                frontiers.give_back(geometry, plane, BlockId(b));
            });
        }
        frontiers
    }

    /// Frontiers that have nothing yet, not even erased blocks.
    pub fn empty(geometry: &Geometry, rules: FrontierRules) -> Self {
        let planes = geometry.planes as usize;
        let streams = rules.classes.max(2) as usize;
        Frontiers {
            rules,
            programs_fail: false,
            streams,
            data_pages: geometry.shape.data_pages(),
            frontiers: vec![Frontier::default(); planes * streams],
            started: vec![VecDeque::new(); planes],
            free_blocks: FreeLists::new(planes, geometry.blocks as usize),
            free_pages: vec![0; planes],
            free_total: 0,
            free_total_min: u64::MAX,
            uneven_blocks: vec![0; planes],
        }
    }

    #[inline(always)]
    fn index(&self, plane: PlaneId, stream: Stream) -> usize {
        match stream {
            // Without classes there are two.
            Stream::Host => plane.index() * 2,
            Stream::Gc => plane.index() * 2 + usize::from(self.rules.separate_gc),
            Stream::Class(class) => plane.index() * self.streams + class as usize,
        }
    }

    /// Erased blocks of a plane that are not open.
    #[inline(always)]
    pub fn free_blocks(&self, plane: PlaneId) -> u32 {
        self.free_blocks.count(plane)
    }

    /// Erased blocks of a plane that are neither open nor kept for a class.
    #[inline(always)]
    pub fn blocks_to_spare(&self, plane: PlaneId) -> u32 {
        let free = self.free_blocks(plane);
        if self.rules.always_open == 0 { free } else { free.saturating_sub(self.kept(plane)) }
    }

    /// Erased pages of a plane, including open blocks.
    #[inline(always)]
    pub fn free_pages(&self, plane: PlaneId) -> u32 {
        self.free_pages[plane.index()]
    }

    /// Erased pages of each plane, in order of number.
    #[inline(always)]
    pub fn free_pages_of_planes(&self) -> &[u32] {
        &self.free_pages
    }

    /// Whether copies keep the parity of their page.
    #[inline(always)]
    pub fn keeps_parity(&self) -> bool {
        self.rules.parity
    }

    /// Erased pages of all planes.
    #[inline(always)]
    pub fn free_total(&self) -> u64 {
        self.free_total
    }

    /// The fewest erased pages since measuring began.
    pub fn free_total_min(&self) -> u64 {
        self.free_total_min.min(self.free_total)
    }

    /// Erased pages of the block that copies of a plane fill.
    pub fn open_to_copies(&self, plane: PlaneId) -> u32 {
        let Frontier { next, end, .. } = self.frontiers[self.index(plane, Stream::Gc)];
        end - next
    }

    /// This many more pages are taken by now, though they have not been handed out yet.
    pub fn note_taken(&mut self, pages: u64) {
        self.free_total_min = self.free_total_min.min(self.free_total - pages);
    }

    /// Measuring begins.
    pub fn start_measuring(&mut self) {
        self.free_total_min = self.free_total;
    }

    #[inline(always)]
    fn one_is_taken(&mut self, plane: PlaneId) {
        self.free_pages[plane.index()] -= 1;
        self.free_total -= 1;
    }

    fn add_free(&mut self, plane: PlaneId, pages: u32) {
        self.free_total_min = self.free_total_min();
        self.free_pages[plane.index()] += pages;
        self.free_total += u64::from(pages);
    }

    /// The next pages of a stream, at most `pages`. `None` where they depend on the page that is
    /// written: under the odd/even rule, and for classes.
    pub fn upcoming(
        &self,
        geometry: &Geometry,
        plane: PlaneId,
        stream: Stream,
        pages: u32,
    ) -> Option<impl Iterator<Item = Ppn> + use<>> {
        if self.rules.parity || self.rules.classes > 0 {
            return None;
        }
        let Frontier { next, end, .. } = self.frontiers[self.index(plane, stream)];
        let started = self.started[plane.index()].front().map(|open| {
            (open.next, geometry.first_page(open.block).0 + geometry.data_pages_of(open.block))
        });
        let erased = self.free_list(plane).next().map(|block| {
            let first = geometry.first_page(block).0;
            (first, first + geometry.data_pages_of(block))
        });
        let (from, to) = started.or(erased).unwrap_or((0, 0));
        Some((next..end).chain(from..to).take(pages as usize).map(Ppn))
    }

    /// Hands out the next page of a stream's frontier. `None` where it is full or not
    /// [cleared](Self::clear), and under the odd/even rule.
    #[inline(always)]
    pub fn take_cleared(
        &mut self,
        geometry: &Geometry,
        plane: PlaneId,
        stream: Stream,
    ) -> Option<Taken> {
        let index = self.index(plane, stream);
        let frontier = &mut self.frontiers[index];
        if frontier.next == frontier.cleared {
            return None;
        }
        let ppn = frontier.next;
        frontier.next += 1;
        let filled =
            if frontier.next == frontier.end { geometry.block_of(Ppn(ppn)) } else { BlockId::NONE };
        self.one_is_taken(plane);
        Some(Taken { ppn: Ppn(ppn), filled, opened: BlockId::NONE })
    }

    /// Hands out the next page of a stream's frontier, cleared or not, and opens a block when the
    /// frontier is full.
    ///
    /// Returns `None` only when the plane has no erased block left, or when the frontier is that of
    /// a class and is full.
    #[cold]
    #[inline(never)]
    pub fn take(
        &mut self,
        geometry: &Geometry,
        plane: PlaneId,
        stream: Stream,
        parity: Parity,
    ) -> Option<Taken> {
        let index = self.index(plane, stream);
        let mut opened = BlockId::NONE;
        if self.frontiers[index].next == self.frontiers[index].end {
            if self.rules.parity {
                return self.take_half(geometry, plane, stream, parity);
            }
            if self.rules.classes > 0 {
                return None;
            }
            opened = self.open_next(geometry, plane, index)?;
        }
        let frontier = &mut self.frontiers[index];
        frontier.cleared = frontier.cleared.max(frontier.next + 1);
        let taken = self.take_cleared(geometry, plane, stream)?;
        Some(Taken { opened, ..taken })
    }

    /// A frontier that is full continues in a block that is open, or opens one and returns it.
    fn open_next(&mut self, geometry: &Geometry, plane: PlaneId, index: usize) -> Option<BlockId> {
        let started = self.started[plane.index()].pop_front();
        let (block, is_erased) = self.begin_next(geometry, plane, index, started)?;
        Some(if is_erased { block } else { BlockId::NONE })
    }

    /// A frontier that is full continues in this open block or, where there is none, in an erased
    /// one. Returns the block, and whether it was erased.
    fn begin_next(
        &mut self,
        geometry: &Geometry,
        plane: PlaneId,
        index: usize,
        started: Option<Started>,
    ) -> Option<(BlockId, bool)> {
        let Started { block, next } = match started {
            Some(started) => started,
            None => {
                let block = self.free_blocks.pop_front(plane)?;
                Started { block, next: geometry.first_page(block).0 }
            }
        };
        let end = geometry.first_page(block).0 + geometry.data_pages_of(block);
        self.frontiers[index].begin(next, end, self.programs_fail);
        Some((block, started.is_none()))
    }

    /// From now on programs may fail.
    pub fn may_fail(&mut self) {
        self.programs_fail = true;
        self.frontiers.iter_mut().for_each(|frontier| frontier.cleared = frontier.next);
    }

    /// Clears the pages of a stream's frontier up to the first whose program fails: they are handed
    /// out without a question, since an outcome depends on the block and its erases alone.
    pub fn clear(
        &mut self,
        plane: PlaneId,
        stream: Stream,
        first_failing: impl FnOnce(Range<u32>) -> Option<u32>,
    ) {
        let index = self.index(plane, stream);
        let frontier = &mut self.frontiers[index];
        let left = frontier.next..frontier.end;
        frontier.cleared = first_failing(left).unwrap_or(frontier.end);
    }

    /// The frontier of a stream hands out no further page of its block.
    pub fn close(&mut self, geometry: &Geometry, plane: PlaneId, stream: Stream) {
        let index = self.index(plane, stream);
        let frontier = &mut self.frontiers[index];
        let left = frontier.end - frontier.next;
        debug_assert!(left < geometry.shape.data_pages(), "a page of the block was taken");
        (frontier.next, frontier.cleared) = (frontier.end, frontier.end);
        self.free_pages[plane.index()] -= left;
        self.free_total -= u64::from(left);
    }

    /// Whether the pages of a stream and copies come from one frontier.
    pub fn shares_frontier(&self, stream: Stream) -> bool {
        stream == Stream::Gc || !self.rules.separate_gc
    }

    /// Hands out the next cleared pages of a stream's frontier, at most `most`, but not the
    /// last one of them. Returns the first, and how many.
    #[inline(always)]
    pub fn take_run(&mut self, plane: PlaneId, stream: Stream, most: u32) -> (Ppn, u32) {
        let index = self.index(plane, stream);
        let frontier = &mut self.frontiers[index];
        let (first, left) = (frontier.next, frontier.cleared - frontier.next);
        let pages = most.min(left.saturating_sub(1));
        frontier.next += pages;
        self.free_pages[plane.index()] -= pages;
        self.free_total -= u64::from(pages);
        (Ppn(first), pages)
    }

    /// An erased block comes back to its plane.
    pub fn give_back(&mut self, geometry: &Geometry, plane: PlaneId, block: BlockId) {
        self.free_blocks.push_back(plane, block);
        self.add_free(plane, geometry.data_pages_of(block));
        self.uneven_blocks[plane.index()] += geometry.data_pages_of(block) % 2;
    }

    /// This erased block must not be opened until it is [given out](Self::give_out) again; its
    /// pages still count as erased.
    pub fn withhold(&mut self, plane: PlaneId, block: BlockId) {
        self.free_blocks.remove(plane, block);
    }

    /// A withheld block may be opened again: next if it was not touched, and last if it was erased
    /// once more (`docs/schemes/gsm.md#erased-sub-blocks-in-and-beside-a-window`).
    pub fn give_out(&mut self, plane: PlaneId, block: BlockId, erased: bool) {
        if erased {
            self.free_blocks.push_back(plane, block);
        } else {
            self.free_blocks.push_front(plane, block);
        }
    }

    /// The written pages of the open block that the host fills.
    pub fn written_by_host(&self, geometry: &Geometry, plane: PlaneId) -> Range<u32> {
        let mut open = self.open_blocks(geometry, plane).into_iter();
        open.find(|open| open.role == Role::Host).map_or(0..0, |open| {
            let first = geometry.first_page(open.block).0;
            first..first + open.end()
        })
    }

    /// Erased blocks of a plane, the next to be opened first.
    pub fn free_list(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        self.free_blocks.walk(plane)
    }

    /// Bytes of the tables that grow with the drive.
    pub fn bytes(&self) -> u64 {
        self.free_blocks.bytes()
    }
}
