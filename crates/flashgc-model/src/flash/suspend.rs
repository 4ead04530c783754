//! Suspension: an operation gives way in its array phase and is taken up again later, with exactly
//! the time that it had left.

use super::{Class, Command, Flash, Kind, Phases};
use crate::event::{Events, Slot};
use crate::ids::UnitId;

/// A command that is under way, after others that ran as one with it.
#[derive(Clone, Copy, Debug)]
pub struct UnderWay {
    /// Its phases, and the index of the one that waits for its page addresses.
    pub phases: Phases,
    /// See [`Command::binds_at`].
    pub binds_at: u8,
    /// The index of the phase under way.
    pub at: u8,
    /// The start of the command, in ns.
    pub since_ns: u64,
    /// The start of the phase, in ns.
    pub phase_since_ns: u64,
}

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

    /// The operation of a unit for collection was several, without an event at the end of each:
    /// this one is under way.
    pub fn becomes(&mut self, unit: UnitId, command: UnderWay, events: &mut Events) {
        let UnderWay { phases, binds_at, at, since_ns, phase_since_ns } = command;
        let state = &mut self.units[unit.index()];
        debug_assert!(state.second.is_none() && state.at == 0);
        state.spent.add(true, since_ns - state.since_ns);
        (state.phases, state.binds_at, state.at) = (phases, binds_at, at);
        (state.since_ns, state.phase_since_ns) = (since_ns, phase_since_ns);
        let Some(phase) = phases.get(at) else { unreachable!("an operation has a phase") };
        state.kind = phase.kind;
        events.clear(Slot::Unit(unit));
        if !phase.kind.is_on_bus() {
            return events.post(Slot::Unit(unit), phase_since_ns + phase.ns);
        }
        debug_assert!(self.is_bus_free(unit));
        self.grant(self.bus_of[unit.index()], unit, phase.ns, phase_since_ns, events);
    }

    /// The command that gives the operation up, or takes it up again.
    pub fn switch(owner: T, class: Class, ns: u64) -> Command<T> {
        Command::new(owner, class, Phases::new().then(Kind::Switch, ns))
    }
}
