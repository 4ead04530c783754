//! Frontiers of classes: their blocks are chosen by placement.

use super::{Frontiers, Stream};
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId};

impl Frontiers {
    /// Opens this erased block for a class whose frontier is full.
    pub fn open_chosen(&mut self, geometry: &Geometry, plane: PlaneId, class: u8, block: BlockId) {
        self.free_blocks.remove(plane, block);
        let index = self.index(plane, Stream::Class(class));
        let first = geometry.first_page(block).0;
        let frontier = &mut self.frontiers[index];
        debug_assert_eq!(frontier.next, frontier.end, "the open block has erased pages");
        frontier.begin(first, first + geometry.data_pages_of(block), self.programs_fail);
    }

    /// A class whose frontier is full continues in the next open block without a frontier.
    pub fn continue_started(
        &mut self,
        geometry: &Geometry,
        plane: PlaneId,
        class: u8,
    ) -> Option<BlockId> {
        let started = self.started[plane.index()].pop_front()?;
        let index = self.index(plane, Stream::Class(class));
        self.begin_next(geometry, plane, index, Some(started)).map(|(block, _)| block)
    }

    /// The classes that have an open block, a bit each.
    pub fn open_classes(&self, plane: PlaneId) -> u32 {
        let first = plane.index() * self.streams;
        let open = self.frontiers[first..first + self.streams].iter().enumerate();
        open.filter(|(_, f)| f.next < f.end).fold(0, |bits, (class, _)| bits | 1 << class)
    }

    /// Erased blocks that are kept: one for each class that always has one, and has none open.
    pub(super) fn kept(&self, plane: PlaneId) -> u32 {
        let first = plane.index() * self.streams;
        let always = &self.frontiers[first..first + self.rules.always_open as usize];
        always.iter().filter(|frontier| frontier.next == frontier.end).count() as u32
    }

    /// Erased pages in the open blocks of a class, of all planes, and in those kept for it.
    pub fn left_of_class(&self, class: usize) -> u64 {
        let is_kept = class < self.rules.always_open as usize;
        let left = |frontier: &super::Frontier| match frontier.end - frontier.next {
            0 if is_kept => self.data_pages,
            left => left,
        };
        let of_planes = self.frontiers.iter().skip(class).step_by(self.streams);
        of_planes.map(|frontier| u64::from(left(frontier))).sum()
    }

    /// Assigns the first of the open blocks without a frontier to these classes, in their order.
    /// `None` where there are too few of either.
    pub fn give_to_classes(
        &mut self,
        geometry: &Geometry,
        plane: PlaneId,
        classes: u32,
    ) -> Option<()> {
        for class in (0..32).filter(|class| classes >> class & 1 == 1) {
            let class = (class < self.streams).then_some(class as u8)?;
            self.continue_started(geometry, plane, class)?;
        }
        Some(())
    }
}
