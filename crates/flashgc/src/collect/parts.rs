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

/// The victim is claimed, and this unit has the list of its pages: each unit gets its own.
pub(super) fn share_out<W: Watch>(at: &mut Collecting<'_, W>, first: UnitId, plane: PlaneId) {
    let geometry = &at.cx.plan.geometry;
    let copies = std::mem::take(&mut at.jobs[first].copies);
    for unit in geometry.units_of(plane) {
        if unit != first {
            at.jobs[unit] = Job {
                stage: Stage::Copying,
                plane: Some(plane),
                programs: true,
                selected_ns: at.cx.now_ns,
                ..Job::default()
            };
        }
        at.store.gc.call_unit(unit);
    }
    for copy in copies {
        at.jobs[geometry.unit_of_page(copy.from)].copies.push(copy);
    }
}

/// The pages of a step were read: each takes the next page of the open block.
#[inline(never)]
pub(super) fn send_step<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) {
    let job = &mut at.jobs[unit];
    job.stage = Stage::Sending;
    job.sent = job.step.len() as u32;
    let Some(plane) = job.plane else { return };
    for place in 0..at.jobs[unit].step.len() {
        let copy = at.jobs[unit].step[place];
        at.bind_copy(unit, copy, plane);
        let to = at.cx.plan.geometry.unit_of_page(at.jobs[unit].copies[copy].to);
        at.send_to(to, CrossUnit { job: unit, copy, plane });
    }
}

/// The part of a unit is erased. Where it was the last one, the unit that has claimed the victim
/// closes the collection, in the name of all.
#[inline(never)]
pub(super) fn last_part<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) -> Option<UnitId> {
    let geometry = &at.cx.plan.geometry;
    at.jobs[unit].stage = Stage::Erased;
    let plane = at.jobs[unit].plane?;
    let (first, units) = (geometry.unit_of(plane), geometry.units_of(plane));
    if units.iter().any(|&unit| at.jobs[unit].stage != Stage::Erased) {
        return None;
    }
    for unit in units.into_iter().filter(|&unit| unit != first) {
        let part = std::mem::take(&mut at.jobs[unit]);
        let job = &mut at.jobs[first];
        job.moved += part.moved;
        job.steps += part.steps;
        job.wasted += part.wasted;
        job.reads += part.reads;
        job.busy_ns += part.busy_ns;
    }
    Some(first)
}
