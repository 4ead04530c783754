//! Allocation where planes share their blocks: the next page of the open block names the unit.
//!
//! Life of a write:
//! 1. It waits in the list of its plane, in the order of arrival.
//! 2. The plane has a page: the write gets the next one, in the order of the list, and enters the
//!    queue of the unit in which that page lies, behind all others.
//! 3. It starts when the unit takes it from there, and binds in its page.

use crate::device::Geometry;
use crate::ids::{PlaneId, Ppn};
use std::collections::VecDeque;

/// The writes of a device whose planes share their blocks.
#[derive(Clone, Default)]
pub struct Stripes {
    /// Of each plane, the writes that have no page.
    waiting: Vec<VecDeque<(u64, u32)>>,
    /// Writes that have none in all planes.
    count: usize,
    /// Of each write that is queued, its page.
    pages: Vec<Ppn>,
}

impl Stripes {
    /// Nothing waits.
    pub(super) fn new(geometry: &Geometry) -> Self {
        let planes = if geometry.has_superblocks() { geometry.planes } else { 0 };
        Stripes { waiting: vec![VecDeque::new(); planes as usize], ..Stripes::default() }
    }

    /// Whether any write waits.
    #[inline(always)]
    pub fn has_waiting(&self) -> bool {
        self.count > 0
    }

    /// A write waits for a page, at the place of its arrival.
    pub fn waits(&mut self, plane: PlaneId, sequence: u64, op: u32) {
        let waiting = &mut self.waiting[plane.index()];
        let at = waiting.partition_point(|&(other, _)| other < sequence);
        waiting.insert(at, (sequence, op));
        self.count += 1;
    }

    /// The write that has waited longest in a plane that gives pages.
    pub fn take(&mut self, gives: impl Fn(PlaneId) -> bool) -> Option<(u32, PlaneId)> {
        let planes = (0..self.waiting.len() as u32).map(PlaneId);
        let mut able = planes.filter(|p| !self.waiting[p.index()].is_empty() && gives(*p));
        let plane = able.next()?;
        let (_, op) = self.waiting[plane.index()].pop_front()?;
        self.count -= 1;
        Some((op, plane))
    }

    /// The planes in which writes wait.
    pub fn starving(&self) -> impl Iterator<Item = PlaneId> + '_ {
        let planes = (0..self.waiting.len() as u32).map(PlaneId);
        planes.filter(|plane| !self.waiting[plane.index()].is_empty())
    }

    /// A write gets its page.
    pub fn gets(&mut self, op: u32, page: Ppn) {
        let at = op as usize;
        self.pages.resize(self.pages.len().max(at + 1), Ppn::NONE);
        self.pages[at] = page;
    }

    /// The page of a write that is queued.
    pub fn page_of(&self, op: u32) -> Ppn {
        self.pages[op as usize]
    }
}
