//! How a collection moves its pages: a machine, which gives one operation after the other.
//!
//! A machine is a file of this room, and a row in each list here. What it does not say of itself is
//! that of whole pages, in steps of as many as move at once.

use super::slots::Slots;
use super::steps::Pages;
use super::{Collecting, Ended, cross_unit, parts};
use crate::flash::Command;
use crate::gc::CrossUnit;
use crate::gc::copy::Reach;
use crate::ids::{PlaneId, UnitId};
use crate::owner::Owner;
use crate::plan::Plan;
use crate::verify::Watch;
use cross_unit::Sent;
use parts::Parts;

/// The machine of a scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Machine {
    /// Whole pages within their plane, or over the bus and back.
    Pages,
    /// Slots of pages, which programs join.
    Slots,
    /// Pages to other units.
    Sent,
    /// A part of the victim in each unit that shares it.
    Parts,
}

impl Machine {
    /// That of a plan.
    pub(super) fn of(plan: &Plan) -> Self {
        match plan.gc.copy.reach() {
            Reach::Lanes => Machine::Parts,
            Reach::Units => Machine::Sent,
            _ if plan.geometry.shape.program_slots > 1 => Machine::Slots,
            _ => Machine::Pages,
        }
    }
}

/// What a machine is asked, and told.
pub(super) trait Moves<W: Watch> {
    /// The pages of a new collection are listed.
    #[inline(always)]
    fn listed(_at: &mut Collecting<'_, W>, _unit: UnitId) {}

    /// The victim is claimed: the first command of the collection, where it begins at once.
    #[inline(always)]
    fn opens(at: &mut Collecting<'_, W>, unit: UnitId, _plane: PlaneId) -> Option<Command<Owner>> {
        at.cx.plan.gc.preemption.is_none().then(|| at.step(unit))
    }

    /// Takes the next copies into the step. Pages that went invalid are passed over.
    #[inline(always)]
    fn take(at: &mut Collecting<'_, W>, unit: UnitId) {
        at.take_pages(unit);
    }

    /// The command of a step that runs to its end.
    #[inline(always)]
    fn step(at: &mut Collecting<'_, W>, unit: UnitId) -> Command<Owner> {
        at.step_of_pages(unit)
    }

    /// It has ended.
    #[inline(always)]
    fn step_ended(at: &mut Collecting<'_, W>, unit: UnitId) -> Ended {
        at.pages_ended(unit)
    }

    /// The pages of a step leave the array, where requests may preempt and a step is two operations.
    #[inline(always)]
    fn begin_reading(at: &mut Collecting<'_, W>, unit: UnitId) {
        at.begin_reading_pages(unit);
    }

    /// They are in the register.
    #[inline(always)]
    fn reading_ended(at: &mut Collecting<'_, W>, unit: UnitId) {
        at.pages_are_buffered(unit);
    }

    /// The pages of the step that are still valid are programmed. `None` where nothing begins.
    #[inline(always)]
    fn program(at: &mut Collecting<'_, W>, unit: UnitId) -> Option<Command<Owner>> {
        at.program_pages(unit)
    }

    /// All pages have moved: the erase begins.
    #[inline(always)]
    fn erase_begins(_at: &mut Collecting<'_, W>, _unit: UnitId) {}

    /// The erase of a unit has ended. Returns the unit whose collection that closes.
    #[inline(always)]
    fn erased(_at: &mut Collecting<'_, W>, unit: UnitId) -> Option<UnitId> {
        Some(unit)
    }

    /// A page that was sent to another unit is programmed there.
    #[inline(always)]
    fn sent_begins(_at: &mut Collecting<'_, W>, _sent: CrossUnit) {}

    /// Its program has ended.
    fn sent_ended(_at: &mut Collecting<'_, W>, _sent: CrossUnit) {
        unreachable!("this machine sends no page")
    }
}

/// Asks the machine in use, without indirection.
macro_rules! ask {
    ($at:ident.$question:ident($($given:expr),*)) => {
        match $at.jobs.machine {
            Machine::Pages => <Pages as Moves<W>>::$question($at, $($given),*),
            Machine::Slots => <Slots as Moves<W>>::$question($at, $($given),*),
            Machine::Sent => <Sent as Moves<W>>::$question($at, $($given),*),
            Machine::Parts => <Parts as Moves<W>>::$question($at, $($given),*),
        }
    };
}

/// The questions of [`Moves`], to the machine in use.
impl<W: Watch> Collecting<'_, W> {
    pub(super) fn listed(&mut self, unit: UnitId) {
        ask!(self.listed(unit))
    }

    pub(super) fn opens(&mut self, unit: UnitId, plane: PlaneId) -> Option<Command<Owner>> {
        ask!(self.opens(unit, plane))
    }

    #[inline(always)]
    pub(super) fn take_step(&mut self, unit: UnitId) {
        ask!(self.take(unit))
    }

    #[inline(always)]
    pub(super) fn step_command(&mut self, unit: UnitId) -> Command<Owner> {
        ask!(self.step(unit))
    }

    #[inline(always)]
    pub(super) fn step_ended(&mut self, unit: UnitId) -> Ended {
        ask!(self.step_ended(unit))
    }

    #[inline(always)]
    pub(super) fn begin_reading(&mut self, unit: UnitId) {
        ask!(self.begin_reading(unit))
    }

    #[inline(always)]
    pub(super) fn reading_ended(&mut self, unit: UnitId) {
        ask!(self.reading_ended(unit))
    }

    #[inline(always)]
    pub(super) fn program_of_step(&mut self, unit: UnitId) -> Option<Command<Owner>> {
        ask!(self.program(unit))
    }

    pub(super) fn erase_begins(&mut self, unit: UnitId) {
        ask!(self.erase_begins(unit))
    }

    pub(super) fn erased(&mut self, unit: UnitId) -> Option<UnitId> {
        ask!(self.erased(unit))
    }

    pub(super) fn sent_begins(&mut self, sent: CrossUnit) {
        ask!(self.sent_begins(sent))
    }

    pub(super) fn sent_ended(&mut self, sent: CrossUnit) {
        ask!(self.sent_ended(sent))
    }
}
