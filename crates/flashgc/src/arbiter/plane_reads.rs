//! Reads that begin in parallel with those of other planes, where requests preempt collections.

use super::preemptive::{Preemptive, is_in_register};
use super::view::View;
use crate::collect::Stage;
use crate::ids::UnitId;

impl Preemptive {
    /// The request that would be next in a unit at which other planes read. Where the collection
    /// may be next, it is asked when the unit is free.
    pub(super) fn entrant_beside(
        &mut self,
        unit: UnitId,
        view: &mut View<'_>,
    ) -> Option<(u32, u8)> {
        let is_paced = self.slices.is_some() || self.tokens.is_some();
        let waits = match view.jobs[unit].stage() {
            _ if self.units[unit.index()].suspended.is_some() => true,
            Stage::Closed => !view.gc.has_needs(unit) || !view.may_open_job(unit),
            Stage::Copying => self.rules.between_copies && !is_paced,
            _ => false,
        };
        let entrant = if waits { self.entrant(unit, view) } else { None };
        entrant.filter(|&(op, _)| !is_in_register(unit, op, view))
    }
}
