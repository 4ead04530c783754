//! Blocking: the queues that a collection closes to the host.
//!
//! In SSDsim a collection occupies the channel while it moves pages, and the erase keeps only the
//! chip busy. So a collection releases the rest of its part when its erase begins, and blocks it
//! again where the same batch continues with another block.
//!
//! Where the part is blocked for other collections as well, the units in it collect in turn: those
//! behind the one that releases it are checked first. A batch ends where another unit has begun a
//! collection during its erase.

use super::Collecting;
use crate::gc::Victim;
use crate::ids::{PlaneId, UnitId};
use crate::plan::Plan;
use crate::verify::{Happened, Watch};

/// Whether the unit's own work blocks the host, so that no queue need be closed.
fn blocks_by_working(plan: &Plan) -> bool {
    let is_unit = plan.gc.blocking.level == plan.geometry.shape.unit;
    plan.gc.preemption.is_some() || plan.coalesces_jobs() && is_unit
}

/// Whether a plane of the part that a collection blocks stays blocked in the erase.
fn stays_closed(plan: &Plan, collected: PlaneId, plane: PlaneId) -> bool {
    let part = |plane, level| plan.geometry.part_of(plane, level);
    let erasing = plan.gc.blocking.erasing;
    erasing.is_none_or(|level| part(plane, level) == part(collected, level))
}

impl<W: Watch> Collecting<'_, W> {
    /// The planes that a collection in this plane blocks, by their number of the part.
    fn part(&self, plane: PlaneId) -> u32 {
        let plan = self.cx.plan;
        plan.geometry.part_of(plane, plan.gc.blocking.level)
    }

    /// A collection begins: its part is blocked for the host.
    pub(super) fn close_around(&mut self, plane: PlaneId) {
        if blocks_by_working(self.cx.plan) {
            return;
        }
        for &closed in self.jobs.domain(self.part(plane)) {
            self.waiting.close(closed);
        }
    }

    /// The last collection of a batch has ended: the planes that are still blocked are open to the
    /// host.
    pub(super) fn release(&mut self, plane: PlaneId) {
        let plan = self.cx.plan;
        if !blocks_by_working(plan) {
            self.open_planes(plane, |open| stays_closed(plan, plane, open));
        }
    }

    /// The erase begins: the planes that it does not need are open to the host.
    #[cold]
    pub(super) fn narrow_blocking(&mut self, unit: UnitId) {
        let plan = self.cx.plan;
        if let Some(plane) = self.jobs[unit].plane {
            self.open_planes(plane, |open| !stays_closed(plan, plane, open));
        }
    }

    /// The batch continues with another block: the whole part is blocked again.
    #[cold]
    pub(super) fn widen_blocking(&mut self, collected: PlaneId) {
        for &plane in self.jobs.domain(self.part(collected)) {
            if !stays_closed(self.cx.plan, collected, plane) {
                self.waiting.close(plane);
            }
        }
    }

    /// Whether a batch may continue: it need not be alone in its part, or no other unit has begun a
    /// collection there during the erase that has not come to its own erase.
    pub(super) fn has_part_alone(&self, collected: PlaneId) -> bool {
        let geometry = &self.cx.plan.geometry;
        let own = geometry.unit_of(collected);
        let moves_pages = |&plane: &PlaneId| {
            let unit = geometry.unit_of(plane);
            unit != own && self.jobs[unit].moves_pages()
        };
        let planes = self.jobs.domain(self.part(collected));
        !self.cx.plan.gc.blocking.one_collection || !planes.iter().any(moves_pages)
    }

    /// A batch begins: where copies go to the host's open block, its pages are closed.
    pub(super) fn close_open_block(&mut self, unit: UnitId, plane: PlaneId) {
        if !self.cx.plan.gc.closes_open_block() {
            return;
        }
        let geometry = &self.cx.plan.geometry;
        let written = self.store.ftl.frontiers.written_by_host(geometry, plane);
        self.jobs[unit].batch.closed_pages = written;
    }

    /// Victims are erased: none of their pages is closed any longer.
    pub(super) fn open_erased(&mut self, unit: UnitId, victims: &[Victim]) {
        let closed = &mut self.jobs[unit].batch.closed_pages;
        let geometry = &self.cx.plan.geometry;
        let is_erased = |victim: &Victim| closed.contains(&geometry.first_page(victim.block).0);
        if victims.iter().any(is_erased) {
            *closed = 0..0;
        }
    }

    /// The batch has ended: the block that the host fills is open again.
    pub(super) fn reopen_block(&mut self, unit: UnitId, plane: PlaneId) {
        if self.cx.plan.gc.closes_open_block() {
            self.jobs[unit].batch.closed_pages = 0..0;
            self.cx.notify(Happened::BatchEnded { plane });
        }
    }

    fn open_planes(&mut self, collected: PlaneId, is_meant: impl Fn(PlaneId) -> bool) {
        let planes = self.jobs.domain(self.part(collected));
        let first = match self.cx.plan.gc.blocking.one_collection {
            true => planes.partition_point(|&plane| plane <= collected),
            false => 0,
        };
        for &plane in planes[first..].iter().chain(&planes[..first]) {
            if is_meant(plane) {
                self.waiting.release(plane);
                self.store.gc.call_units(plane, &self.cx.plan.geometry);
            }
        }
    }
}
