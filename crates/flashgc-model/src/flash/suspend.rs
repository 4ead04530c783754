//! Suspension: an operation gives way in its array phase and is taken up again later, with exactly
//! the time that it had left.

use super::{Class, Command, Flash, Kind, Phases};
use crate::event::{Events, Slot};
use crate::ids::UnitId;

/// An operation that was suspended in its array phase.
#[derive(Clone, Copy, Debug)]
pub struct Suspended {
    phases: Phases,
    at: u8,
    /// Time that the phase has left, in ns.
    pub left_ns: u64,
    /// The start or the last resume of the operation, in ns.
    pub since_ns: u64,
    /// The start or the last resume of its array phase, in ns.
    pub phase_since_ns: u64,
}

impl Suspended {
    /// The phases of the rest, after the command that takes the operation up again.
    pub fn resumed(&self, resume_ns: u64) -> Phases {
        let kind = self.phases.get(self.at).map_or(Kind::Rest, |phase| phase.kind);
        let mut phases = Phases::new().then(Kind::Switch, resume_ns).then(kind, self.left_ns);
        phases.append(&self.phases, self.at + 1);
        phases
    }
}

impl<T: Copy> Flash<T> {
    /// The remaining time of the array phase under way, in ns; `None` if the unit is in no such
    /// phase, or has begun a second command.
    pub fn left_ns(&self, unit: UnitId, now_ns: u64) -> Option<u64> {
        let state = &self.units[unit.index()];
        let phase = self.phase(unit).filter(|phase| phase.kind.is_in_array())?;
        state.second.is_none().then(|| state.phase_since_ns + phase.ns - now_ns)
    }

    /// Suspends the operation of a unit, whose array is free from now on.
    pub fn suspend(&mut self, unit: UnitId, now_ns: u64, events: &mut Events) -> Suspended {
        let left_ns = self.left_ns(unit, now_ns).unwrap_or(0);
        events.clear(Slot::Unit(unit));
        let state = &mut self.units[unit.index()];
        state.spent.add(state.class == Class::Gc, now_ns - state.since_ns);
        state.owner = None;
        let (phases, at) = (state.phases, state.at);
        let (since_ns, phase_since_ns) = (state.since_ns, state.phase_since_ns);
        Suspended { phases, at, left_ns, since_ns, phase_since_ns }
    }

    /// The operation of a unit for collection, in the array, was several: the last of them is this
    /// one, and began at this time.
    pub fn becomes(&mut self, unit: UnitId, phases: Phases, since_ns: u64, events: &mut Events) {
        let state = &mut self.units[unit.index()];
        debug_assert!(state.second.is_none() && state.at == 0);
        state.spent.add(true, since_ns - state.since_ns);
        state.phases = phases;
        (state.since_ns, state.phase_since_ns) = (since_ns, since_ns);
        let Some(phase) = phases.get(0) else { unreachable!("an operation has a phase") };
        state.kind = phase.kind;
        events.clear(Slot::Unit(unit));
        events.post(Slot::Unit(unit), since_ns + phase.ns);
    }

    /// The command that gives the operation up, or takes it up again.
    pub fn switch(owner: T, class: Class, ns: u64) -> Command<T> {
        Command::new(owner, class, Phases::new().then(Kind::Switch, ns))
    }
}
