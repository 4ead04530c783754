//! The odd/even rule: open blocks whose even and odd pages are handed out apart.

use super::{Frontiers, Parity, Stream, Taken};
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId, Ppn};

/// An open block whose even and odd pages are handed out apart.
#[derive(Clone, Copy)]
pub(super) struct HalfBlock {
    pub(super) block: BlockId,
    pub(super) next: [u32; 2],
    pub(super) end: u32,
}

impl HalfBlock {
    /// Erased pages of a lane.
    fn left(&self, lane: usize) -> u32 {
        self.end.saturating_sub(self.next[lane]).div_ceil(2)
    }

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

impl Frontiers {
    /// The even and the odd pages that copies may take.
    pub(super) fn copies_have(&self, plane: PlaneId) -> [u32; 2] {
        let left = |stream: Stream| {
            let halves = &self.frontiers[self.index(plane, stream)].halves;
            [0, 1].map(|lane| halves.iter().map(|half| half.left(lane)).sum())
        };
        let own: [u32; 2] = left(Stream::Gc);
        let host = if self.rules.separate_gc { left(Stream::Host) } else { [0, 0] };
        let open: u32 = own.iter().chain(&host).sum();
        let more_even = self.uneven_blocks[plane.index()];
        let odd = (self.free_pages(plane) - open - more_even) / 2;
        [own[0] + odd + more_even, own[1] + odd]
    }

    /// The frontier, and the kind of page in it, that are left to the host while copies have no
    /// more than the reserve of one kind: a block of its own that is open, or pages of the other
    /// kind in an open block of copies.
    pub(super) fn beside_reserve(&self, plane: PlaneId) -> Option<(usize, Parity)> {
        let host = self.index(plane, Stream::Host);
        if self.rules.separate_gc && !self.frontiers[host].halves.is_empty() {
            return Some((host, Parity::Any));
        }
        let gc = self.index(plane, Stream::Gc);
        let (have, halves) = (self.copies_have(plane), &self.frontiers[gc].halves);
        let is_left = |&lane: &usize| {
            have[lane] > self.rules.reserve_pages && halves.iter().any(|half| half.left(lane) > 0)
        };
        [0, 1].into_iter().find(is_left).map(|lane| (gc, Parity::Only(lane as u32)))
    }

    /// The frontier and the kind of page that the next page of a stream comes from.
    fn source_of(&self, plane: PlaneId, stream: Stream, parity: Parity) -> (usize, Parity) {
        let own = self.index(plane, stream);
        if stream == Stream::Gc {
            return (own, parity);
        }
        if !self.has_pages_above_reserve(plane) {
            return self.beside_reserve(plane).unwrap_or((own, parity));
        }
        match self.frontiers[own].halves.is_empty() && !self.is_above_reserve(plane) {
            true => (self.index(plane, Stream::Gc), parity),
            false => (own, parity),
        }
    }

    pub(super) fn take_half(
        &mut self,
        geometry: &Geometry,
        plane: PlaneId,
        stream: Stream,
        parity: Parity,
    ) -> Option<Taken> {
        let mut opened = BlockId::NONE;
        let (index, parity) = self.source_of(plane, stream, parity);
        let halves = &mut self.frontiers[index].halves;
        let at = match halves.iter().position(|half| half.lane(parity).is_some()) {
            Some(at) => at,
            None => {
                opened = self.free_blocks.pop_front(plane)?;
                let first = geometry.first_page(opened).0;
                let end = first + geometry.data_pages_of(opened);
                halves.push_back(HalfBlock { block: opened, next: [first, first + 1], end });
                self.uneven_blocks[plane.index()] -= (end - first) % 2;
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
        self.one_is_taken(plane);
        Some(Taken { ppn: Ppn(ppn), filled, opened })
    }
}
