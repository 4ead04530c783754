//! Allocation where planes share their blocks: the next page of the open block names the unit.
//!
//! Life of a write:
//! 1. It waits in the list of its plane, in the order of arrival; a flush, which goes to any plane,
//!    in the only list.
//! 2. The plane has a page: the write gets the next one, in the order of the list, and enters the
//!    queue of the unit in which that page lies, behind all others. A flush gets all pages of the
//!    next program. The writes that have pages and have not started are those of one superblock at
//!    most: data that they replace is valid until they start, so that a queue deeper than the
//!    spare space would leave nothing to collect.
//! 3. It starts when the unit takes it from there, and binds in its page.

use super::{Allocation, Kind};
use crate::ftl::{Ftl, Stream};
use crate::ids::{Lpn, PlaneId, Ppn};
use crate::plan::Plan;
use std::collections::VecDeque;

/// The writes of a device whose planes share their blocks.
#[derive(Clone, Default)]
pub struct Stripes {
    /// The writes that have no page: of each plane, or of all where a write goes to any.
    waiting: Vec<VecDeque<(u64, u32)>>,
    /// Writes in all lists.
    count: usize,
    /// The page of each queued write; the first page of a queued flush.
    pages: Vec<Ppn>,
    /// The class and the stream of the pages of each queued flush, where they have any.
    classes: Vec<Option<(u8, Stream)>>,
    /// Planes whose collection waits for writes that have their pages.
    awaited_in: Vec<PlaneId>,
}

impl Stripes {
    /// Nothing waits.
    pub(super) fn new(plan: &Plan) -> Self {
        let lists = match plan.allocation {
            _ if !plan.geometry.has_superblocks() => 0,
            Kind::Striped => plan.geometry.planes as usize,
            Kind::Dynamic | Kind::WhenIdle => plan.pools.count(),
        };
        Stripes { waiting: vec![VecDeque::new(); lists], ..Stripes::default() }
    }

    /// Whether any write waits.
    #[inline(always)]
    pub fn has_waiting(&self) -> bool {
        self.count > 0
    }

    /// A write waits for a page in a list, at the place of its arrival.
    fn waits(&mut self, list: usize, sequence: u64, op: u32) {
        let waiting = &mut self.waiting[list];
        let at = waiting.partition_point(|&(other, _)| other < sequence);
        waiting.insert(at, (sequence, op));
        self.count += 1;
    }

    /// A write gets its page; the pages of a flush have one class, where they have any.
    pub fn gets(&mut self, op: u32, page: Ppn, class: Option<(u8, Stream)>) {
        let at = op as usize;
        self.pages.resize(self.pages.len().max(at + 1), Ppn::NONE);
        self.classes.resize(self.pages.len(), None);
        (self.pages[at], self.classes[at]) = (page, class);
    }

    /// The class of the pages of a flush that is queued, and their stream, where they have any.
    pub fn class_of(&self, op: u32) -> Option<(u8, Stream)> {
        self.classes[op as usize]
    }

    /// A collection in this plane waits for writes that have their pages, or does no longer.
    pub fn are_awaited(&mut self, plane: PlaneId, awaited: bool) {
        self.awaited_in.retain(|&other| other != plane);
        self.awaited_in.extend(awaited.then_some(plane));
    }

    /// No collection in these planes waits for any.
    pub fn none_is_awaited_in(&mut self, planes: &[PlaneId]) {
        self.awaited_in.retain(|plane| !planes.contains(plane));
    }

    /// Whether one does.
    pub fn are_awaited_in(&self, plane: PlaneId) -> bool {
        self.awaited_in.contains(&plane)
    }

    /// The page of a write that is queued.
    pub fn page_of(&self, op: u32) -> Ppn {
        self.pages[op as usize]
    }
}

impl Allocation {
    /// A write waits for a page of a block that planes share.
    pub fn waits_for_page(&mut self, plan: &Plan, lpn: Lpn, sequence: u64, op: u32) {
        let list = match plan.allocation {
            Kind::Striped => plan.geometry.striped_plane(lpn).index(),
            Kind::Dynamic | Kind::WhenIdle => plan.pools.of_page(&plan.geometry, lpn),
        };
        self.stripes.waits(list, sequence, op);
    }

    /// The write that has waited longest for such a page, and the plane that gives one: its own,
    /// or the fittest of the open ones.
    pub fn next_for_page(
        &mut self,
        plan: &Plan,
        ftl: &Ftl,
        is_open: impl Fn(PlaneId) -> bool,
    ) -> Option<(u32, PlaneId)> {
        let is_fit = |plane| {
            ftl.host_has_room(plane)
                && !self.stripes.are_awaited_in(plane)
                && is_open(plane)
                && !ftl.is_a_superblock_ahead(&plan.geometry, plane)
        };
        let gives = |list: usize| match plan.allocation {
            Kind::Striped => Some(PlaneId(list as u32)).filter(|&plane| is_fit(plane)),
            Kind::Dynamic | Kind::WhenIdle => self.best_plane(plan, ftl, list, is_fit),
        };
        let lists = 0..self.stripes.waiting.len();
        let mut able = lists.filter(|&list| !self.stripes.waiting[list].is_empty());
        let (list, plane) = able.find_map(|list| Some((list, gives(list)?)))?;
        let (_, op) = self.stripes.waiting[list].pop_front()?;
        self.stripes.count -= 1;
        if plan.allocation != Kind::Striped {
            self.has_chosen(plan, plane);
        }
        Some((op, plane))
    }

    /// Whether writes wait for pages that a plane could give.
    #[inline]
    pub fn is_awaited(&self, plan: &Plan, plane: PlaneId) -> bool {
        let list = match plan.allocation {
            Kind::Striped => plane.index(),
            Kind::Dynamic | Kind::WhenIdle => plan.pools.of_plane(plane),
        };
        !self.stripes.waiting[list].is_empty()
    }
}
