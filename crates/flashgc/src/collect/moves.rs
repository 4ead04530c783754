//! How a collection moves its pages: a machine, which gives one operation after the other.
//!
//! A machine is a file of this room, a row in `kinds.rs` and one in `machine.rs`. What it does not
//! say of itself is that of whole pages, in steps of as many as move at once.

use super::{Collecting, Ended};
use crate::flash::Command;
use crate::gc::CrossUnit;
use crate::ids::{PlaneId, UnitId};
use crate::owner::Owner;
use crate::verify::Watch;

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

    /// The pages of a step leave the array, where requests may preempt and a step is two
    /// operations.
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
