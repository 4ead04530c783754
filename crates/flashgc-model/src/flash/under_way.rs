//! Work of units and buses, that under way included.

use super::{Class, Flash, Phase};
use crate::device::Spent;
use crate::ids::{BusId, UnitId};

impl<T: Copy> Flash<T> {
    /// Busy time of each unit: ended operations, and the one under way up to now.
    pub fn spent_of_units(&self, now_ns: u64) -> impl Iterator<Item = Spent> + '_ {
        self.units[..self.reading.len()].iter().map(move |unit| {
            let mut spent = unit.spent;
            if unit.owner.is_some() {
                spent.add(unit.class == Class::Gc, now_ns - unit.since_ns);
            }
            spent
        })
    }

    /// Busy time of each bus, up to now.
    pub fn spent_of_buses(&self, now_ns: u64) -> impl Iterator<Item = Spent> + '_ {
        let buses = (0..self.buses.len() as u32).map(BusId);
        buses.map(move |bus| self.spent_of_bus(bus, now_ns))
    }

    /// Since when the operation under way takes the unit, in ns.
    pub fn since_ns(&self, unit: UnitId) -> u64 {
        self.units[unit.index()].since_ns
    }

    /// The operation under way.
    pub fn under_way(&self, unit: UnitId) -> Option<(T, Class)> {
        let state = &self.units[unit.index()];
        state.owner.map(|owner| (owner, state.class))
    }

    /// The source of the array's work, and its start in ns; `None` while the array is idle.
    pub fn array_under_way(&self, unit: UnitId) -> Option<(Class, u64)> {
        let state = &self.units[unit.index()];
        let works = |phase: Option<Phase>| phase.is_some_and(|phase| phase.kind.is_in_array());
        if let Some(second) = state.second.as_ref().filter(|second| works(second.array())) {
            return Some((second.command.class, second.since_ns));
        }
        works(self.phase(unit)).then_some((state.class, state.phase_since_ns))
    }

    /// Since when the array works for collection, in ns, if it does.
    pub fn collects_since_ns(&self, unit: UnitId) -> Option<u64> {
        let (class, since_ns) = self.array_under_way(unit)?;
        (class == Class::Gc).then_some(since_ns)
    }

    /// Whether the last phase of the operation, in the array, ends at this instant.
    pub fn ends_at(&self, unit: UnitId, now_ns: u64) -> bool {
        let state = &self.units[unit.index()];
        let is_last = state.at + 1 == state.phases.count();
        self.phase(unit).is_some_and(|phase| {
            is_last && phase.kind.is_in_array() && state.phase_since_ns + phase.ns == now_ns
        })
    }
}
