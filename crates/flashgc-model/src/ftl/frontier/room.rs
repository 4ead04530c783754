//! Whether a page can be taken: for the host, for copies, for a class, and without touching the
//! reserve.

use super::{Frontiers, Started, Stream};
use crate::device::Geometry;
use crate::ids::PlaneId;
use std::ops::Range;

impl Frontiers {
    /// Whether the host can take a page without touching the reserve.
    #[inline(always)]
    pub fn host_has_room(&self, plane: PlaneId) -> bool {
        if !self.has_pages_above_reserve(plane) {
            return self.rules.parity && self.beside_reserve(plane).is_some();
        }
        if self.rules.classes > 0 {
            return self.class_has_room(plane);
        }
        let frontier = &self.frontiers[self.index(plane, Stream::Host)];
        frontier.next < frontier.end
            || !frontier.halves.is_empty()
            || self.is_above_reserve(plane)
            || !self.frontiers[self.index(plane, Stream::Gc)].halves.is_empty()
            || !self.started[plane.index()].is_empty()
    }

    /// Whether a page can be taken so that the erased pages left are enough for any collection.
    #[inline(always)]
    pub fn has_pages_above_reserve(&self, plane: PlaneId) -> bool {
        self.rules.reserve_pages == 0 || self.has_more_than_reserve(plane)
    }

    #[cold]
    fn has_more_than_reserve(&self, plane: PlaneId) -> bool {
        let reserve = self.rules.reserve_pages;
        if !self.rules.parity {
            return self.free_pages(plane) > reserve;
        }
        // A block that the host opens takes its pages of both kinds along.
        self.copies_have(plane).into_iter().min() > Some(reserve)
    }

    /// Whether the host can take a page that copies cannot use: of an open block of its own, or of
    /// an erased one above the reserve.
    pub fn host_has_own_room(&self, plane: PlaneId) -> bool {
        let frontier = &self.frontiers[self.index(plane, Stream::Host)];
        frontier.next < frontier.end || !frontier.halves.is_empty() || self.is_above_reserve(plane)
    }

    fn class_has_room(&self, plane: PlaneId) -> bool {
        let first = plane.index() * self.streams;
        self.is_above_reserve(plane)
            || self.frontiers[first..first + self.streams].iter().any(|f| f.next < f.end)
            || !self.started[plane.index()].is_empty()
    }

    /// The class in whose frontier a page of this class can go where none may be opened for it:
    /// the nearest by number that has room, the higher of two.
    pub fn class_with_room(&self, plane: PlaneId, class: u8) -> Option<u8> {
        let first = plane.index() * self.streams;
        let has_room = |&other: &u8| {
            let frontier = &self.frontiers[first + other as usize];
            frontier.next < frontier.end
        };
        let classes = (0..self.streams as u8).filter(has_room);
        classes.min_by_key(|&other| (other.abs_diff(class), other < class))
    }

    /// Erased pages in the open blocks of these classes.
    #[inline(always)]
    pub fn open_in(&self, plane: PlaneId, classes: Range<u32>) -> u32 {
        let first = plane.index() * self.streams;
        let (from, to) = (first + classes.start as usize, first + classes.end as usize);
        let mut open = 0;
        for frontier in &self.frontiers[from..to] {
            open += frontier.end - frontier.next;
        }
        open
    }

    /// Erased pages in the open blocks of this many classes that have the most.
    pub fn most_open(&self, plane: PlaneId, classes: usize) -> u32 {
        if classes == 0 {
            return 0;
        }
        let first = plane.index() * self.streams;
        let own = &self.frontiers[first..first + self.streams];
        let mut open: Vec<u32> = own.iter().map(|frontier| frontier.end - frontier.next).collect();
        open.sort_unstable_by(|one, other| other.cmp(one));
        open.iter().take(classes).sum()
    }

    /// Whether a block beyond the reserve can be opened, one that is kept for its class or one that
    /// is not kept for any.
    #[inline(always)]
    pub fn is_above_reserve(&self, plane: PlaneId) -> bool {
        // The class that opens it is one of those that have none.
        let own = u32::from(self.rules.always_open > 0);
        self.blocks_to_spare(plane) + own > self.rules.reserve_blocks
    }

    /// Whether the open block of a class has a page.
    #[inline(always)]
    pub fn has_page(&self, plane: PlaneId, class: u8) -> bool {
        let frontier = &self.frontiers[self.index(plane, Stream::Class(class))];
        frontier.next < frontier.end
    }

    /// Erased pages of the open blocks that copies may fill whatever pages they are of: none under
    /// the odd/even rule or with classes.
    pub fn left_for_copies(&self, geometry: &Geometry, plane: PlaneId) -> u32 {
        if self.rules.parity || self.rules.classes > 0 {
            return 0;
        }
        let left = |open: &Started| {
            let end = geometry.first_page(open.block).0 + geometry.data_pages_of(open.block);
            end - open.next
        };
        self.open_to_copies(plane) + self.started[plane.index()].iter().map(left).sum::<u32>()
    }

    /// Whether a page from another plane's victim can come here without touching the reserve.
    pub fn copy_has_room(&self, plane: PlaneId) -> bool {
        if !self.has_pages_above_reserve(plane) {
            return false;
        }
        let frontier = &self.frontiers[self.index(plane, Stream::Gc)];
        frontier.next < frontier.end
            || self.is_above_reserve(plane)
            || !self.started[plane.index()].is_empty()
    }
}
