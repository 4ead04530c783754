//! The second register: the first phase of the next command runs in parallel with the unit's
//! operation.
//!
//! A unit has one connection to the bus. While the transfer of a second command occupies it or
//! waits for it, the operation makes no bus request, even if its next phase is due; the request
//! follows at the end of that transfer.

use super::{Class, Command, Due, Flash, Moved, Phase, Phases, Unit};
use crate::device::Spent;
use crate::event::{Events, Slot};
use crate::ids::UnitId;

/// The progress of the first phase of a second command.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum First {
    /// It needs the same part of the unit as the operation, and waits for its end.
    Waits,
    /// It runs, or waits for the bus.
    Runs,
    /// It has ended.
    Done,
}

/// A command whose first phase runs in parallel with the operation.
#[derive(Clone)]
pub(super) struct Second<T> {
    pub(super) command: Command<T>,
    /// Its start, in ns.
    pub(super) since_ns: u64,
    pub(super) first: First,
    /// The bus's busy times while the operation waited for it, up to this command's bus request.
    waited: Option<Spent>,
}

impl<T> Second<T> {
    #[inline(always)]
    fn runs(&self) -> Option<Phase> {
        self.command.phases.get(0).filter(|_| self.first == First::Runs)
    }

    /// The transfer that has the bus, or waits for it.
    #[inline(always)]
    pub(super) fn transfer(&self) -> Option<Phase> {
        self.runs().filter(|phase| phase.kind.is_on_bus())
    }

    /// The phase that the array is in.
    #[inline(always)]
    pub(super) fn array(&self) -> Option<Phase> {
        self.runs().filter(|phase| !phase.kind.is_on_bus())
    }
}

impl<T> Unit<T> {
    /// Whether the transfer of the second command has the bus, or waits for it.
    #[inline(always)]
    pub(super) fn sends_beside(&self) -> bool {
        self.second.as_ref().and_then(Second::transfer).is_some()
    }
}

impl<T: Copy> Flash<T> {
    /// Begins a command in parallel with the operation of its unit: its first phase, if that phase
    /// needs the part of the unit that the operation does not occupy.
    pub fn start_beside(
        &mut self,
        unit: UnitId,
        command: Command<T>,
        now_ns: u64,
        events: &mut Events,
    ) {
        let state = &mut self.units[unit.index()];
        debug_assert!(state.second.is_none() && state.owner.is_some());
        let array_works = state.phases.get(state.at).is_some_and(|phase| !phase.kind.is_on_bus());
        let first = command.phases.get(0).filter(|first| first.kind.is_on_bus() == array_works);
        let is_due = if first.is_some() { First::Runs } else { First::Waits };
        // An operation of the host keeps its own waits while another command requests the bus.
        let is_on_bus = first.is_some_and(|first| first.kind.is_on_bus());
        let waited = (state.class == Class::Host && is_on_bus).then_some(state.waited);
        if command.class == Class::Host && (waited.is_some() || state.class == Class::Gc) {
            state.waited = Spent::default();
        }
        state.second = Some(Second { command, since_ns: now_ns, first: is_due, waited });
        match first {
            Some(phase) if phase.kind.is_on_bus() => {
                self.request_bus(unit, phase, now_ns, events);
            }
            Some(phase) => events.post(Slot::Unit(unit), now_ns + phase.ns),
            None => {}
        }
    }

    /// The bus's busy times while the operation waited for it, if another command requests it now.
    pub(super) fn waited_before(&self, unit: UnitId) -> Option<Spent> {
        self.units[unit.index()].second.as_ref().and_then(|second| second.waited)
    }

    /// The owner of the command that runs in parallel with the operation.
    #[inline(always)]
    pub fn second(&self, unit: UnitId) -> Option<T> {
        self.units[unit.index()].second.as_ref().map(|second| second.command.owner)
    }

    /// The transfer of the second command has ended. One that only sends data out is done.
    pub(super) fn second_transferred(&mut self, unit: UnitId) -> Due<T> {
        let second = &mut self.units[unit.index()].second;
        let Some(Second { command, first, .. }) = second else { return Due::Loaded };
        *first = First::Done;
        if command.phases.count() > 1 {
            return Due::Loaded;
        }
        let owner = command.owner;
        *second = None;
        Due::Left(owner)
    }

    /// The wait for the bus counts from now on, if the unit waits for it.
    fn restart_wait(&mut self, unit: UnitId, now_ns: u64) {
        let bus = self.bus_of[unit.index()];
        if self.bus_rules.keeps_waits && self.buses[bus.index()].holder != Some(unit) {
            self.units[unit.index()].requested = self.spent_of_bus(bus, now_ns);
        }
    }

    /// The operation of the unit has ended, and the second command takes over. `price` updates its
    /// phases after the first.
    pub fn take_over(
        &mut self,
        unit: UnitId,
        price: impl FnOnce(&mut Phases),
        now_ns: u64,
        events: &mut Events,
    ) -> Option<Moved<T>> {
        let state = &mut self.units[unit.index()];
        let Second { command, since_ns, first, .. } = state.second.take()?;
        debug_assert!(state.owner.is_none(), "unit {} works", unit.0);
        state.owner = Some(command.owner);
        state.class = command.class;
        state.phases = command.phases;
        state.binds_at = command.binds_at;
        price(&mut state.phases);
        state.since_ns = now_ns;
        state.waited = Spent::default();
        state.phase_since_ns = since_ns;
        state.at = u8::from(first == First::Done);
        if first == First::Runs {
            self.restart_wait(unit, now_ns);
            let state = &mut self.units[unit.index()];
            state.kind = state.phases.get(0).map_or(state.kind, |phase| phase.kind);
            return Some(Moved::Runs);
        }
        Some(self.begin_phase(unit, now_ns, events))
    }
}
