//! The machines by which collections move their pages.

use crate::gc::copy::Reach;
use crate::plan::Plan;

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
