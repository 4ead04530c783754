//! Copies to other units: the global form of collection (paper parallel-gc, section IV-E3).
//!
//! A step reads its pages together, each into a register of its own, and sends them out over the
//! bus. Each is then programmed in a plane of another unit: the one that host writes would take,
//! above its reserve. Where no other unit has room the page comes back to its own plane, whose
//! reserve holds the pages of any victim, so that one collection never depends on the progress of
//! another. The unit that collects stays blocked for the host, and may itself program pages from
//! other units.

use super::moves::Moves;
use super::{Collecting, Ended, Stage};
use crate::flash::{Class, Command, Op};
use crate::gc::CrossUnit;
use crate::ids::UnitId;
use crate::operation::Program;
use crate::owner::Owner;
use crate::verify::Watch;

/// The machine of copies to other units.
pub(super) struct Sent;

impl<W: Watch> Moves<W> for Sent {
    fn step(at: &mut Collecting<'_, W>, unit: UnitId) -> Command<Owner> {
        at.step_that_leaves(unit)
    }

    fn step_ended(at: &mut Collecting<'_, W>, unit: UnitId) -> Ended {
        at.send_step(unit);
        Ended::GoesOn
    }

    fn reading_ended(at: &mut Collecting<'_, W>, unit: UnitId) {
        at.send_step(unit);
    }

    /// The page binds now, as a write of the host would.
    fn sent_begins(at: &mut Collecting<'_, W>, sent: CrossUnit) {
        at.bind_copy(sent.job, sent.copy, sent.plane);
        at.store.check_trigger(sent.plane, &at.cx);
    }

    fn sent_ended(at: &mut Collecting<'_, W>, sent: CrossUnit) {
        let job = &mut at.jobs[sent.job];
        job.record.moved += 1;
        job.wasted_open.retain(|&copy| copy as usize != sent.copy);
        let fills = u64::from(job.fills_with(sent.copy));
        if job.step.sent == 0 {
            job.stage = Stage::Copying;
            job.record.steps += 1;
            at.store.gc.call_unit(sent.job);
        }
        at.cx.count_copies(1, fills);
    }
}

impl<W: Watch> Collecting<'_, W> {
    /// The pages of a step were read: each goes to the unit that will program it.
    fn send_step(&mut self, unit: UnitId) {
        let job = &mut self.jobs[unit];
        job.stage = Stage::Sending;
        job.step.sent = job.step.copies.len() as u32;
        let Some(from) = job.plane else { return };
        for at in 0..self.jobs[unit].step.copies.len() {
            let copy = self.jobs[unit].step.copies[at];
            let plane = self.store.copy_target(self.cx.plan, from);
            self.send(CrossUnit { job: unit, copy, plane });
        }
    }

    /// The command of a step whose pages leave their unit.
    pub(super) fn step_that_leaves(&mut self, unit: UnitId) -> Command<Owner> {
        self.notify_read_out(unit);
        self.step_of_pages(unit)
    }

    fn send(&mut self, cross_unit: CrossUnit) {
        self.send_to(self.cx.plan.geometry.unit_of(cross_unit.plane), cross_unit);
    }

    /// A page waits to be programmed in this unit.
    pub(super) fn send_to(&mut self, unit: UnitId, cross_unit: CrossUnit) {
        self.jobs.arrives(unit, cross_unit);
        self.store.alloc.one_more(unit);
        self.store.gc.call_unit(unit);
    }

    /// The next page that another unit's collection has sent here: the command that programs it. A
    /// page that finds its plane filled meanwhile goes elsewhere.
    #[cold]
    pub fn program_arrival(&mut self, unit: UnitId) -> Option<Command<Owner>> {
        let cross_unit = self.arrival(unit)?;
        let CrossUnit { job, copy, .. } = cross_unit;
        self.jobs.programs(unit, cross_unit);
        self.sent_begins(cross_unit);
        let job = &self.jobs[job];
        let fills = self.prices.filled_by_copies(|| u32::from(job.fills_with(copy)));
        let program = Program { pages: std::iter::once(job.copies[copy].to), fills };
        let price = (Op::Program, self.cx.plan.geometry.shape.program_slots as usize);
        let phases = program.phases(price, self.prices, &self.store.ftl);
        Some(Command::new(Owner::CrossUnit, Class::Gc, phases))
    }

    fn arrival(&mut self, unit: UnitId) -> Option<CrossUnit> {
        while let Some(cross_unit) = self.jobs.next_arrival(unit) {
            self.store.alloc.one_less(unit);
            let from = self.jobs[cross_unit.job].plane.unwrap_or(cross_unit.plane);
            if cross_unit.plane == from || self.store.takes_cross_unit(cross_unit.plane) {
                return Some(cross_unit);
            }
            let plane = self.store.copy_target(self.cx.plan, from);
            self.send(CrossUnit { plane, ..cross_unit });
        }
        None
    }

    /// A page from the collection of another unit is programmed; after the last page of a step that
    /// collection continues.
    pub fn arrival_ended(&mut self, unit: UnitId) {
        let Some(cross_unit) = self.jobs.programmed(unit) else { return };
        self.jobs[cross_unit.job].step.sent -= 1;
        self.sent_ended(cross_unit);
    }

    /// Reports to the watcher which pages leave the plane.
    pub(super) fn notify_read_out(&mut self, unit: UnitId) {
        if W::OPERATIONS {
            let pages = self.jobs[unit].step_pages().map(|copy| copy.from);
            pages.for_each(|page| self.store.notify_read_out(page, &mut self.cx));
        }
    }
}
