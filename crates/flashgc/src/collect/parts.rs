//! The parts of a collection where planes share their blocks: one in each unit of the victim.
//!
//! Life of such a collection:
//! 1. The unit of the first plane claims the victim. Each unit gets the valid pages that lie in it,
//!    and works by itself from now on.
//! 2. A page that was read takes the next page of the open block, and waits at the unit of that one
//!    to be programmed: it binds now, so that the pages of the open block go to the units in turn.
//!    The next page of the part is read when this one is programmed.
//! 3. A part without pages left is erased, in one operation for all planes of the unit.
//! 4. The last part is erased, and the block is free.
//!
//! All planes of the victim are closed to the host meanwhile, so that no request finds a page that
//! is bound and not programmed.

use super::{Collecting, Job, Stage};
use crate::gc::CrossUnit;
use crate::ids::{PlaneId, UnitId};
use crate::verify::Watch;

impl<W: Watch> Collecting<'_, W> {
    /// The victim is claimed, and this unit has the list of its pages: each unit gets its own.
    pub(super) fn share_out(&mut self, first: UnitId, plane: PlaneId) {
        let geometry = &self.cx.plan.geometry;
        let copies = std::mem::take(&mut self.jobs[first].copies);
        let now_ns = self.cx.now_ns;
        for unit in geometry.units_of(plane) {
            if unit != first {
                self.jobs[unit] = Job {
                    stage: Stage::Copying,
                    plane: Some(plane),
                    programs: true,
                    selected_ns: now_ns,
                    blocking_since_ns: now_ns,
                    ..Job::default()
                };
            }
            self.store.gc.call_unit(unit);
        }
        for copy in copies {
            self.jobs[geometry.unit_of_page(copy.from)].copies.push(copy);
        }
    }

    /// The pages of a step were read: each takes the next page of the open block.
    #[inline(never)]
    pub(super) fn send_to_lanes(&mut self, unit: UnitId) {
        let job = &mut self.jobs[unit];
        job.stage = Stage::Sending;
        job.sent = job.step.len() as u32;
        let Some(plane) = job.plane else { return };
        for at in 0..self.jobs[unit].step.len() {
            let copy = self.jobs[unit].step[at];
            self.bind_copy(unit, copy, plane);
            let to = self.cx.plan.geometry.unit_of_page(self.jobs[unit].copies[copy].to);
            self.send_to(to, CrossUnit { job: unit, copy, plane });
        }
    }

    /// The part of a unit is erased. Where it was the last one, the unit that has claimed the
    /// victim closes the collection, in the name of all.
    #[inline(never)]
    pub(super) fn last_part(&mut self, unit: UnitId) -> Option<UnitId> {
        let geometry = &self.cx.plan.geometry;
        self.jobs[unit].stage = Stage::Erased;
        let plane = self.jobs[unit].plane?;
        let (first, units) = (geometry.unit_of(plane), geometry.units_of(plane));
        if units.iter().any(|&unit| self.jobs[unit].stage != Stage::Erased) {
            return None;
        }
        for unit in units.into_iter().filter(|&unit| unit != first) {
            let part = std::mem::take(&mut self.jobs[unit]);
            self.cx.counters.gc_blocking_ns += self.cx.now_ns - part.blocking_since_ns;
            let job = &mut self.jobs[first];
            job.moved += part.moved;
            job.steps += part.steps;
            job.wasted += part.wasted;
            job.reads += part.reads;
            job.busy_ns += part.busy_ns;
        }
        Some(first)
    }
}
