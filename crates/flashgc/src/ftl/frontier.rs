//! Frontiers: the open blocks that hand out pages, and each plane's list of erased blocks.
//!
//! Life of a block here: erased, in the free list -> opened by a frontier that has run out ->
//! pages handed out -> full, and sealed by the caller. The host may not open one of the last
//! `reserve_blocks` erased blocks: collection needs them to move its worst victim.
//!
//! With the odd/even rule a copy must land on a page of its source's parity. A frontier then
//! hands out even and odd pages apart; a block that has only one kind left stays open, and what
//! needs the other kind opens a new block. Nothing is wasted (paper parallel-gc, section IV-C3):
//! where copies have a frontier of their own, the host takes what they leave before it is short.

use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId, Ppn};
use std::collections::VecDeque;

/// Who writes: each stream has a frontier of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Writes of the host.
    Host,
    /// Copies of the collector.
    Gc,
}

/// Which pages of a block will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parity {
    /// Any page.
    Any,
    /// Pages whose number in the block is even (0) or odd (1).
    Only(u32),
}

/// What the plan says about frontiers.
#[derive(Clone, Copy, Debug)]
pub struct FrontierRules {
    /// Copies go to a frontier of their own.
    pub separate_gc: bool,
    /// Copies keep the parity of their page.
    pub parity: bool,
    /// Erased blocks of a plane that the host may not open.
    pub reserve_blocks: u32,
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
    end: u32,
    /// Under the odd/even rule only: open blocks, the oldest first.
    halves: VecDeque<HalfBlock>,
}

/// An open block whose even and odd pages are handed out apart.
#[derive(Clone, Copy)]
struct HalfBlock {
    block: BlockId,
    next: [u32; 2],
    end: u32,
}

impl HalfBlock {
    fn lane(&self, parity: Parity) -> Option<usize> {
        let open = |lane: usize| self.next[lane] < self.end;
        match parity {
            Parity::Only(lane) => open(lane as usize).then_some(lane as usize),
            Parity::Any => {
                let lower = usize::from(self.next[1] < self.next[0]);
                [lower, 1 - lower].into_iter().find(|&lane| open(lane))
            }
        }
    }

    fn is_full(&self) -> bool {
        self.lane(Parity::Any).is_none()
    }
}

/// The frontiers and free lists of all planes.
pub struct Frontiers {
    rules: FrontierRules,
    frontiers: Vec<Frontier>,
    free_blocks: Vec<VecDeque<u32>>,
    /// Erased pages of each plane, in free and in open blocks.
    free_pages: Vec<u32>,
    pages_per_block: u32,
}

impl Frontiers {
    /// Every block erased, none open.
    pub fn new(geometry: &Geometry, rules: FrontierRules) -> Self {
        let planes = geometry.planes as usize;
        Frontiers {
            rules,
            frontiers: vec![Frontier::default(); planes * 2],
            free_blocks: (0..geometry.planes)
                .map(|plane| geometry.blocks_of(PlaneId(plane)).collect())
                .collect(),
            free_pages: vec![geometry.shape.pages_per_plane() as u32; planes],
            pages_per_block: geometry.shape.pages_per_block,
        }
    }

    #[inline(always)]
    fn index(&self, plane: PlaneId, stream: Stream) -> usize {
        plane.index() * 2 + usize::from(stream == Stream::Gc && self.rules.separate_gc)
    }

    /// Erased blocks of a plane that are not open.
    #[inline(always)]
    pub fn free_blocks(&self, plane: PlaneId) -> u32 {
        self.free_blocks[plane.index()].len() as u32
    }

    /// Erased pages of a plane, those of open blocks included.
    #[inline(always)]
    pub fn free_pages(&self, plane: PlaneId) -> u32 {
        self.free_pages[plane.index()]
    }

    /// Whether the host can have a page without touching the reserve.
    #[inline(always)]
    pub fn host_has_room(&self, plane: PlaneId) -> bool {
        let frontier = &self.frontiers[self.index(plane, Stream::Host)];
        frontier.next < frontier.end
            || !frontier.halves.is_empty()
            || self.free_blocks(plane) > self.rules.reserve_blocks
            || !self.frontiers[self.index(plane, Stream::Gc)].halves.is_empty()
    }

    /// Hands out the next page of a stream's frontier, opening a block when it has run out.
    ///
    /// Gives `None` only when the plane has no erased block left.
    #[inline(always)]
    pub fn take(
        &mut self,
        geometry: &Geometry,
        plane: PlaneId,
        stream: Stream,
        parity: Parity,
    ) -> Option<Taken> {
        let index = self.index(plane, stream);
        let frontier = &mut self.frontiers[index];
        if frontier.next == frontier.end {
            return self.take_slowly(geometry, plane, stream, parity);
        }
        let ppn = frontier.next;
        frontier.next += 1;
        self.free_pages[plane.index()] -= 1;
        let filled =
            if frontier.next == frontier.end { geometry.block_of(Ppn(ppn)) } else { BlockId::NONE };
        Some(Taken { ppn: Ppn(ppn), filled, opened: BlockId::NONE })
    }

    #[cold]
    #[inline(never)]
    fn take_slowly(
        &mut self,
        geometry: &Geometry,
        plane: PlaneId,
        stream: Stream,
        parity: Parity,
    ) -> Option<Taken> {
        if self.rules.parity {
            return self.take_half(geometry, plane, stream, parity);
        }
        let index = self.index(plane, stream);
        let block = BlockId(self.free_blocks[plane.index()].pop_front()?);
        let first = geometry.first_page(block).0;
        let frontier = &mut self.frontiers[index];
        (frontier.next, frontier.end) = (first + 1, first + self.pages_per_block);
        self.free_pages[plane.index()] -= 1;
        let filled = if self.pages_per_block == 1 { block } else { BlockId::NONE };
        Some(Taken { ppn: Ppn(first), filled, opened: block })
    }

    fn take_half(
        &mut self,
        geometry: &Geometry,
        plane: PlaneId,
        stream: Stream,
        parity: Parity,
    ) -> Option<Taken> {
        let mut opened = BlockId::NONE;
        let mut index = self.index(plane, stream);
        let may_open = stream == Stream::Gc || self.free_blocks(plane) > self.rules.reserve_blocks;
        if self.frontiers[index].halves.is_empty() && !may_open {
            index = self.index(plane, Stream::Gc);
        }
        let halves = &mut self.frontiers[index].halves;
        let at = match halves.iter().position(|half| half.lane(parity).is_some()) {
            Some(at) => at,
            None => {
                opened = BlockId(self.free_blocks[plane.index()].pop_front()?);
                let first = geometry.first_page(opened).0;
                halves.push_back(HalfBlock {
                    block: opened,
                    next: [first, first + 1],
                    end: first + self.pages_per_block,
                });
                halves.len() - 1
            }
        };
        let half = &mut halves[at];
        let lane = half.lane(parity)?;
        let ppn = half.next[lane];
        half.next[lane] += 2;
        let filled = if half.is_full() { half.block } else { BlockId::NONE };
        if filled.is_some() {
            halves.remove(at);
        }
        self.free_pages[plane.index()] -= 1;
        Some(Taken { ppn: Ppn(ppn), filled, opened })
    }

    /// An erased block comes back to its plane.
    pub fn give_back(&mut self, plane: PlaneId, block: BlockId) {
        self.free_blocks[plane.index()].push_back(block.0);
        self.free_pages[plane.index()] += self.pages_per_block;
    }

    /// Erased blocks of a plane, the next to be opened first.
    pub fn free_list(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        self.free_blocks[plane.index()].iter().map(|&b| BlockId(b))
    }

    /// Bytes taken by what grows with the drive.
    pub fn bytes(&self) -> u64 {
        self.free_blocks.iter().map(|list| list.capacity() as u64 * 4).sum()
    }
}
