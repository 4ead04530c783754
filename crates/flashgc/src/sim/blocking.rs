//! Blocking that is smaller during the erase than while pages move.
//!
//! In SSDsim a collection occupies the channel while it moves pages, and the erase keeps only the
//! chip busy. So a collection releases the rest of its part when its erase begins, and blocks it
//! again where the same batch continues with another block.

use super::Sim;
use crate::ids::{PlaneId, UnitId};
use crate::verify::Watch;

impl<W: Watch> Sim<W> {
    /// Whether a plane of the part that a collection blocks stays blocked in the erase.
    pub(super) fn stays_closed(&self, job: PlaneId, plane: PlaneId) -> bool {
        let geometry = &self.plan.geometry;
        let erasing = self.plan.gc.blocking.erasing;
        erasing.is_none_or(|level| geometry.part_of(plane, level) == geometry.part_of(job, level))
    }

    /// The erase begins: the planes that it does not need are open to the host.
    #[cold]
    pub(super) fn narrow_blocking(&mut self, unit: UnitId) {
        let Some(job) = self.jobs[unit].plane else { return };
        self.for_those_between(job, |sim, plane| {
            sim.host.waiting.release(plane);
            sim.look_at(sim.plan.geometry.unit_of(plane));
        });
    }

    /// The batch continues with another block: the whole part is blocked again.
    #[cold]
    pub(super) fn widen_blocking(&mut self, job: PlaneId) {
        self.for_those_between(job, |sim, plane| sim.host.waiting.close(plane));
    }

    /// Planes that are blocked while pages move and open in the erase.
    fn for_those_between(&mut self, job: PlaneId, each: impl Fn(&mut Self, PlaneId)) {
        let part = self.plan.geometry.part_of(job, self.plan.gc.blocking.level);
        for at in 0..self.jobs.domain(part).len() {
            let plane = self.jobs.domain(part)[at];
            if !self.stays_closed(job, plane) {
                each(self, plane);
            }
        }
    }
}
