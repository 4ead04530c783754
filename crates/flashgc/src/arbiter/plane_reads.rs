//! Reads that begin beside those of other planes, where requests preempt collections.

use super::preemptive::{Preemptive, is_in_register};
use super::view::View;
use crate::collect::Stage;
use crate::ids::UnitId;
use crate::stats::Counters;

impl Preemptive {
    /// A read of the host has begun in one plane: what has delayed it is that of this plane.
    pub fn reads_in_plane(&mut self, unit: UnitId, reader: UnitId) {
        let since_ns = self.units[unit.index()].waits_since_ns.take();
        self.units[reader.index()].waits_since_ns = since_ns;
    }

    /// A read of one plane has ended: if a collection delayed it, records for how long.
    pub fn left_plane(
        &mut self,
        [unit, reader]: [UnitId; 2],
        is_wanted: bool,
        now_ns: u64,
        counters: &mut Counters,
    ) {
        let entry = &mut self.units[unit.index()];
        (entry.gc_was_last, entry.host_end_ns) = (false, now_ns);
        if let Some(slices) = &mut self.slices {
            slices.gap_begins(unit, false, is_wanted);
        }
        if let Some(response_ns) = self.units[reader.index()].host_left(now_ns) {
            counters.gc_response_max_ns = counters.gc_response_max_ns.max(response_ns);
        }
    }

    /// The request that would be next in a unit at which other planes read. Where the collection
    /// may be next, it is asked when the unit is free.
    pub(super) fn entrant_beside(
        &mut self,
        unit: UnitId,
        view: &mut View<'_>,
    ) -> Option<(u32, u8)> {
        let is_paced = self.slices.is_some() || self.tokens.is_some();
        let waits = match view.jobs[unit].stage {
            _ if self.units[unit.index()].suspended.is_some() => true,
            Stage::Closed => !view.gc.unit_wants(unit) || !view.may_open_job(unit),
            Stage::Copying => self.rules.between_copies && !is_paced,
            _ => false,
        };
        let entrant = if waits { self.entrant(unit, view) } else { None };
        entrant.filter(|&(op, _)| !is_in_register(unit, op, view))
    }
}
