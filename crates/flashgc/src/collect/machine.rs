//! The questions of [`Moves`], to the machine in use.

use super::cross_unit::Sent;
use super::kinds::Machine;
use super::moves::Moves;
use super::parts::Parts;
use super::slots::Slots;
use super::steps::Pages;
use super::{Collecting, Ended};
use crate::flash::Command;
use crate::gc::CrossUnit;
use crate::ids::{PlaneId, UnitId};
use crate::owner::Owner;
use crate::verify::Watch;

/// Calls the machine in use, without indirection.
macro_rules! dispatch {
    ($at:ident, $method:ident($($given:expr),*)) => {
        match $at.jobs.machine {
            Machine::Pages => <Pages as Moves<W>>::$method($at, $($given),*),
            Machine::Slots => <Slots as Moves<W>>::$method($at, $($given),*),
            Machine::Sent => <Sent as Moves<W>>::$method($at, $($given),*),
            Machine::Parts => <Parts as Moves<W>>::$method($at, $($given),*),
        }
    };
}

impl<W: Watch> Collecting<'_, W> {
    pub(super) fn listed(&mut self, unit: UnitId) {
        dispatch!(self, listed(unit))
    }

    pub(super) fn opens(&mut self, unit: UnitId, plane: PlaneId) -> Option<Command<Owner>> {
        dispatch!(self, opens(unit, plane))
    }

    #[inline(always)]
    pub(super) fn take_step(&mut self, unit: UnitId) {
        dispatch!(self, take(unit))
    }

    #[inline(always)]
    pub(super) fn step_command(&mut self, unit: UnitId) -> Command<Owner> {
        dispatch!(self, step(unit))
    }

    #[inline(always)]
    pub(super) fn step_ended(&mut self, unit: UnitId) -> Ended {
        dispatch!(self, step_ended(unit))
    }

    #[inline(always)]
    pub(super) fn begin_reading(&mut self, unit: UnitId) {
        dispatch!(self, begin_reading(unit))
    }

    #[inline(always)]
    pub(super) fn reading_ended(&mut self, unit: UnitId) {
        dispatch!(self, reading_ended(unit))
    }

    #[inline(always)]
    pub(super) fn program_of_step(&mut self, unit: UnitId) -> Option<Command<Owner>> {
        dispatch!(self, program(unit))
    }

    pub(super) fn erase_begins(&mut self, unit: UnitId) {
        dispatch!(self, erase_begins(unit))
    }

    pub(super) fn erased(&mut self, unit: UnitId) -> Option<UnitId> {
        dispatch!(self, erased(unit))
    }

    pub(super) fn sent_begins(&mut self, sent: CrossUnit) {
        dispatch!(self, sent_begins(sent))
    }

    pub(super) fn sent_ended(&mut self, sent: CrossUnit) {
        dispatch!(self, sent_ended(sent))
    }
}
