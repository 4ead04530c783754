//! The parts of a collection where planes share their blocks: one in each unit of the victim.
//!
//! Life of such a collection:
//! 1. The unit of the first plane claims the victim. Each unit gets the valid pages that lie in it,
//!    and works by itself from now on.
//! 2. A page that was read takes the next page of the open block, and waits at the unit of that one
//!    to be programmed: it binds now, so that the pages of the open block go to the units in turn.
//!    The next page of the part is read when this one is programmed. Where a program joins pages,
//!    those that were read wait in the controller until they fill one, and the unit that has
//!    filled it waits for its end.
//! 3. When all pages of all parts have moved, each unit erases its part, in one operation for all
//!    its planes.
//! 4. The last part is erased, and the block is free.
//!
//! A page is programmed before whatever else its unit does, so that no request finds one that is
//! bound and not programmed. Where collections run to their end, all planes of the victim are
//! blocked for the host meanwhile. Where requests may preempt, each unit serves them between its
//! operations, and while it waits for other units.

use super::moves::Moves;
use super::{Collecting, Ended, Job, Stage};
use crate::flash::Command;
use crate::gc::CrossUnit;
use crate::ids::{PlaneId, UnitId};
use crate::owner::Owner;
use crate::verify::Watch;

/// The machine of parts.
pub(super) struct Parts;

impl<W: Watch> Moves<W> for Parts {
    fn opens(at: &mut Collecting<'_, W>, unit: UnitId, plane: PlaneId) -> Option<Command<Owner>> {
        share_out(at, unit, plane);
        None
    }

    fn take(at: &mut Collecting<'_, W>, unit: UnitId) {
        take(at, unit);
    }

    fn step(at: &mut Collecting<'_, W>, unit: UnitId) -> Command<Owner> {
        if at.cx.plan.geometry.shape.program_slots > 1 {
            at.jobs[unit].record.reads += 1;
        }
        at.step_that_leaves(unit)
    }

    fn step_ended(at: &mut Collecting<'_, W>, unit: UnitId) -> Ended {
        send_step(at, unit);
        Ended::GoesOn
    }

    fn reading_ended(at: &mut Collecting<'_, W>, unit: UnitId) {
        send_step(at, unit);
    }

    fn erase_begins(at: &mut Collecting<'_, W>, unit: UnitId) {
        may_erase(at, unit);
    }

    fn erased(at: &mut Collecting<'_, W>, unit: UnitId) -> Option<UnitId> {
        last_part(at, unit)
    }

    fn sent_ended(at: &mut Collecting<'_, W>, sent: CrossUnit) {
        if at.jobs[sent.job].step.sent == 0 {
            part_of_step_ended(at, sent.job);
        }
    }
}

/// The victim is claimed, and this unit has the list of its pages: each unit gets its own.
fn share_out<W: Watch>(at: &mut Collecting<'_, W>, first: UnitId, plane: PlaneId) {
    let geometry = &at.cx.plan.geometry;
    let copies = std::mem::take(&mut at.jobs[first].copies);
    for unit in geometry.units_of(plane) {
        if unit != first {
            at.jobs[unit] = Job::part_of(plane, at.cx.now_ns);
        }
        at.store.gc.call_unit(unit);
    }
    for copy in copies {
        at.jobs[geometry.unit_of_page(copy.from)].copies.push(copy);
    }
    for unit in geometry.units_of(plane) {
        has_moved(at, unit);
    }
}

/// A part may have no pages left: its erase waits for the copies of all others, which would wait
/// for it in its unit.
fn has_moved<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) {
    let (job, plan) = (&at.jobs[unit], at.cx.plan);
    let mut left = job.copies[job.next..].iter();
    if !left.any(|copy| at.store.is_valid(plan, copy.from)) {
        at.jobs[unit].stage = Stage::Moved;
        may_erase(at, unit);
    }
}

/// The units of a block erase their parts, if no part has pages left.
fn may_erase<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) {
    let Some(plane) = at.jobs[unit].plane else { return };
    let units = at.cx.plan.geometry.units_of(plane);
    let is_empty = |stage| matches!(stage, Stage::Moved | Stage::Erasing | Stage::Erased);
    if !units.iter().all(|&unit| is_empty(at.jobs[unit].stage)) {
        return;
    }
    for unit in units {
        if at.jobs[unit].stage == Stage::Moved {
            at.jobs[unit].stage = Stage::Copying;
            at.store.gc.call_unit(unit);
        }
    }
}

/// Takes the next pages into the step: one, or the slots that one array read serves.
fn take<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) {
    let plan = at.cx.plan;
    let job = &mut at.jobs[unit];
    job.step.copies.clear();
    while let Some(first) = job.copies.get(job.next).filter(|_| job.step.copies.is_empty()) {
        let rest = job.copies[job.next..].iter();
        let together = rest.take_while(|copy| at.prices.shares_read(first.from, copy.from)).count();
        let pages = job.next..job.next + together;
        job.next = pages.end;
        for copy in pages {
            if at.store.is_valid(plan, job.copies[copy].from) {
                job.step.copies.push(copy);
            }
        }
    }
    // The copies change these entries of the map when they were read.
    job.step_pages().for_each(|copy| at.store.ftl.prefetch_copy(copy.from));
    if plan.geometry.shape.program_slots > 1 {
        job.joining.read.clear();
        job.joining.read.extend(job.step.copies.iter().map(|&copy| job.copies[copy].from));
    }
}

/// The pages of a step were read: each takes the next page of the open block, and waits in the
/// controller until a program is full.
#[inline(never)]
fn send_step<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) {
    let (job, store, plan) = (&mut at.jobs[unit], &at.store, at.cx.plan);
    job.stage = Stage::Sending;
    if plan.gc.preemption.is_some() {
        // The host may have rewritten some meanwhile.
        let mut step = std::mem::take(&mut job.step.copies);
        step.retain(|&copy| store.is_valid(plan, job.copies[copy].from));
        job.step.copies = step;
    }
    let Some(plane) = job.plane else { return };
    let geometry = &plan.geometry;
    let mut sent = 0;
    for place in 0..at.jobs[unit].step.copies.len() {
        let copy = at.jobs[unit].step.copies[place];
        at.bind_copy(unit, copy, plane);
        let to = at.jobs[unit].copies[copy].to;
        if geometry.shape.left_of_program(to) == 1 {
            at.send_to(geometry.unit_of_page(to), CrossUnit { job: unit, copy, plane });
            sent += 1;
        }
    }
    let job = &mut at.jobs[unit];
    (job.step.sent, job.step.programs) = (sent, sent);
    if sent == 0 {
        part_of_step_ended(at, unit);
    }
}

/// The pages of a step are programmed, or in the controller.
fn part_of_step_ended<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) {
    if !at.jobs[unit].step.copies.is_empty() {
        at.copies_ended(unit);
    }
    at.jobs[unit].stage = Stage::Copying;
    at.store.gc.call_unit(unit);
    has_moved(at, unit);
}

/// The part of a unit is erased. Where it was the last one, the unit that has claimed the victim
/// closes the collection, in the name of all.
#[inline(never)]
fn last_part<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) -> Option<UnitId> {
    let geometry = &at.cx.plan.geometry;
    at.jobs[unit].stage = Stage::Erased;
    let plane = at.jobs[unit].plane?;
    let (first, units) = (geometry.unit_of(plane), geometry.units_of(plane));
    if units.iter().any(|&unit| at.jobs[unit].stage != Stage::Erased) {
        return None;
    }
    // Writes that have their pages may start again.
    units.iter().for_each(|&unit| at.store.gc.call_unit(unit));
    for unit in units.into_iter().filter(|&unit| unit != first) {
        let part = std::mem::take(&mut at.jobs[unit]);
        let job = &mut at.jobs[first];
        job.record.moved += part.record.moved;
        job.record.steps += part.record.steps;
        job.record.wasted += part.record.wasted;
        job.record.reads += part.record.reads;
        job.record.busy_ns += part.record.busy_ns;
        job.record.extra_ns += part.record.extra_ns;
    }
    Some(first)
}
