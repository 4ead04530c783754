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
    pub(super) fn take_half(
        &mut self,
        geometry: &Geometry,
        plane: PlaneId,
        stream: Stream,
        parity: Parity,
    ) -> Option<Taken> {
        let mut opened = BlockId::NONE;
        let mut index = self.index(plane, stream);
        let may_open = stream == Stream::Gc || self.is_above_reserve(plane);
        if self.frontiers[index].halves.is_empty() && !may_open {
            index = self.index(plane, Stream::Gc);
        }
        let halves = &mut self.frontiers[index].halves;
        let at = match halves.iter().position(|half| half.lane(parity).is_some()) {
            Some(at) => at,
            None => {
                opened = self.free_blocks.pop_front(plane)?;
                let first = geometry.first_page(opened).0;
                halves.push_back(HalfBlock {
                    block: opened,
                    next: [first, first + 1],
                    end: first + geometry.data_pages_of(opened),
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
        self.one_is_taken(plane);
        Some(Taken { ppn: Ppn(ppn), filled, opened })
    }
}
