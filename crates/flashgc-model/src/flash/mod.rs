//! The flash memory: the units, and the buses that they share.
//!
//! The room takes a [`Command`] for a free unit and reports the phase that each event ended
//! ([`Part`]); then the next phase runs, or waits for the bus, or waits for its page addresses, or
//! the operation has ended ([`Moved`]). It has no access to logical pages or collections: an owner
//! is an opaque value that it returns.
//!
//! A unit runs one operation at a time, because the operation occupies the data register from its
//! first phase to its last. With a second register, the first phase of the next command may run in
//! parallel with the operation, one in the array and the other on the bus; that command then takes
//! over.

mod bus;
mod joined;
pub mod phases;
mod planes;
pub mod price;
mod second;
mod suspend;
mod under_way;

pub use phases::{Kind, Phase, Phases};
pub use price::{Op, Prices};
pub use suspend::{Suspended, UnderWay};

use crate::device::{BusRules, Geometry, Spent};
use crate::event::{Events, Slot};
use crate::ids::{BusId, UnitId};
use bus::Bus;
use second::{First, Second};

/// The source of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The host: requests, and flushes of the write buffer.
    Host,
    /// Garbage collection, or pre-migration.
    Gc,
}

/// An operation for a unit.
#[derive(Clone, Copy, Debug)]
pub struct Command<T> {
    /// The caller's value, returned with each event of the command.
    pub owner: T,
    /// The source whose busy time the command counts as.
    pub class: Class,
    /// The phases, in order.
    pub phases: Phases,
    /// The index of the phase that waits for its page addresses, or [`BOUND`].
    pub binds_at: u8,
}

/// The value of `binds_at` for a command in which no phase waits for its page addresses.
pub const BOUND: u8 = u8::MAX;

impl<T> Command<T> {
    /// An operation whose pages are known.
    #[inline(always)]
    pub fn new(owner: T, class: Class, phases: Phases) -> Self {
        Command { owner, class, phases, binds_at: BOUND }
    }

    /// An operation whose pages are known when their program begins. A program of no length begins
    /// as the rest ends.
    #[inline(always)]
    pub fn binding(owner: T, class: Class, phases: Phases) -> Self {
        Command { owner, class, phases, binds_at: phases.program_at().min(phases.count()) }
    }
}

/// The result of the start of a command or of a phase.
#[derive(Clone, Copy, Debug)]
pub enum Moved<T> {
    /// The next phase runs, or waits for its bus.
    Runs,
    /// The next phase needs its page addresses: [`Flash::bound`] continues.
    NeedsPages,
    /// The operation has ended, and the unit is free.
    Ended(Ended<T>),
}

/// The command whose phase has ended, and the next step.
#[derive(Clone, Copy, Debug)]
pub enum Due<T> {
    /// A phase of the operation: [`Flash::goes_on`] begins the next one.
    Operation,
    /// The first phase of the second command, in parallel with the operation.
    Loaded,
    /// The only phase of the second command, which has ended in parallel with the operation.
    Left(T),
}

/// An operation that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended<T> {
    /// Its owner.
    pub owner: T,
    /// Its start, in ns.
    pub since_ns: u64,
}

/// A phase that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Part<T> {
    /// The unit.
    pub unit: UnitId,
    /// The owner of its command.
    pub owner: T,
    /// The source of its command.
    pub class: Class,
    /// The kind of the phase.
    pub kind: Kind,
    /// The time at which it could have begun with a free bus, in ns.
    pub requested_ns: u64,
    /// Its start, in ns.
    pub since_ns: u64,
    /// The command that the phase belongs to, with the next step.
    pub due: Due<T>,
}

/// The operation of a unit. Aligned, since an event reads one unit and little else.
#[repr(align(64))]
#[derive(Clone)]
struct Unit<T> {
    /// The owner of the operation; none where the unit is free.
    owner: Option<T>,
    class: Class,
    /// The index of the phase under way.
    at: u8,
    kind: Kind,
    binds_at: u8,
    /// The unit that waits for the bus behind this one, where one does.
    waits_behind: UnitId,
    phases: Phases,
    /// The start of the phase, or of its wait for the bus, in ns.
    phase_since_ns: u64,
    /// The start of the operation, in ns.
    since_ns: u64,
    /// Time taken by operations, from the first phase to the last.
    spent: Spent,
    /// The bus's busy times when the operation began to wait for it.
    requested: Spent,
    /// The bus's busy times while the operation waited; with a second command, while the command of
    /// the host waited.
    waited: Spent,
    /// The command whose first phase runs in parallel with the operation.
    second: Option<Second<T>>,
}

/// All units and buses.
#[derive(Clone)]
pub struct Flash<T> {
    /// The units, and the readers behind them.
    units: Vec<Unit<T>>,
    buses: Vec<Bus>,
    bus_of: Vec<BusId>,
    bus_rules: BusRules,
    /// Idle buses for which data waits.
    open_buses: Vec<BusId>,
    /// With independent plane reads: the unit of each reader, and the number of busy readers of
    /// each unit.
    unit_of_reader: Vec<UnitId>,
    reading: Vec<u32>,
}

impl<T: Copy> Flash<T> {
    /// A device that rests.
    pub fn new(geometry: &Geometry, bus_rules: BusRules) -> Self {
        let unit = |_| Unit {
            owner: None,
            class: Class::Host,
            at: 0,
            kind: Kind::Rest,
            binds_at: BOUND,
            waits_behind: UnitId(0),
            phases: Phases::new(),
            phase_since_ns: 0,
            since_ns: 0,
            spent: Spent::default(),
            requested: Spent::default(),
            waited: Spent::default(),
            second: None,
        };
        let parts = 0..geometry.units + geometry.readers;
        let readers = geometry.units..parts.end;
        Flash {
            units: parts.clone().map(unit).collect(),
            buses: (0..geometry.shape.channels).map(|_| Bus::default()).collect(),
            bus_of: parts.map(|unit| geometry.bus_of(UnitId(unit))).collect(),
            bus_rules,
            open_buses: Vec::new(),
            unit_of_reader: readers.map(|it| geometry.whole_unit(UnitId(it))).collect(),
            reading: vec![0; geometry.units as usize],
        }
    }

    /// The owner of the operation under way.
    #[inline(always)]
    pub fn owner(&self, unit: UnitId) -> Option<T> {
        self.units[unit.index()].owner
    }

    /// Whether the unit does nothing.
    #[inline(always)]
    pub fn is_free(&self, unit: UnitId) -> bool {
        self.units[unit.index()].owner.is_none()
    }

    /// The phase under way.
    #[inline]
    pub fn phase(&self, unit: UnitId) -> Option<Phase> {
        let state = &self.units[unit.index()];
        state.phases.get(state.at).filter(|_| state.owner.is_some())
    }

    /// Whether the phase under way is the first of its operation, or the last.
    pub fn is_first_or_last_phase(&self, unit: UnitId) -> [bool; 2] {
        let state = &self.units[unit.index()];
        [state.at == 0, state.at + 1 == state.phases.count()]
    }

    /// Starts a command on a free unit.
    #[inline(always)]
    pub fn start(
        &mut self,
        unit: UnitId,
        command: Command<T>,
        now_ns: u64,
        events: &mut Events,
    ) -> Moved<T> {
        let state = &mut self.units[unit.index()];
        debug_assert!(state.owner.is_none(), "unit {} works", unit.0);
        state.owner = Some(command.owner);
        state.class = command.class;
        state.phases = command.phases;
        state.binds_at = command.binds_at;
        state.at = 0;
        state.since_ns = now_ns;
        state.waited = Spent::default();
        self.begin_phase(unit, now_ns, events)
    }

    /// A phase of the operation has ended: the next one begins.
    #[inline(always)]
    pub fn goes_on(&mut self, unit: UnitId, now_ns: u64, events: &mut Events) -> Moved<T> {
        self.units[unit.index()].at += 1;
        self.begin_phase(unit, now_ns, events)
    }

    /// The pages of the phase that begins now are known: the phases from it on are these.
    #[inline(always)]
    pub fn bound(
        &mut self,
        unit: UnitId,
        price: impl FnOnce(&mut Phases),
        now_ns: u64,
        events: &mut Events,
    ) -> Moved<T> {
        let state = &mut self.units[unit.index()];
        state.binds_at = BOUND;
        price(&mut state.phases);
        self.begin_phase(unit, now_ns, events)
    }

    #[inline(always)]
    fn begin_phase(&mut self, unit: UnitId, now_ns: u64, events: &mut Events) -> Moved<T> {
        let state = &mut self.units[unit.index()];
        if state.binds_at == state.at {
            return Moved::NeedsPages;
        }
        state.phase_since_ns = now_ns;
        let Some(phase) = state.phases.get(state.at) else { return self.end(unit, now_ns) };
        state.kind = phase.kind;
        if !phase.kind.is_on_bus() {
            events.post(Slot::Unit(unit), now_ns + phase.ns);
        } else if !state.sends_beside() {
            self.request_bus(unit, phase, now_ns, events);
        }
        Moved::Runs
    }

    /// The operation has ended.
    #[inline(always)]
    fn end(&mut self, unit: UnitId, now_ns: u64) -> Moved<T> {
        let state = &mut self.units[unit.index()];
        let since_ns = state.since_ns;
        state.spent.add(state.class == Class::Gc, now_ns - since_ns);
        let Some(owner) = state.owner.take() else { unreachable!("an operation has an owner") };
        Moved::Ended(Ended { owner, since_ns })
    }

    /// The first phase of the operation, or of the last one.
    pub fn first_phase(&self, unit: UnitId) -> Option<Phase> {
        self.units[unit.index()].phases.get(0)
    }

    /// A phase that needs no bus has ended.
    #[inline(always)]
    pub fn array_ended(&mut self, unit: UnitId) -> Part<T> {
        let state = &mut self.units[unit.index()];
        if let Some(second) = &mut state.second
            && let Some(phase) = second.array()
        {
            second.first = First::Done;
            let Command { owner, class, .. } = second.command;
            let (kind, since_ns, due) = (phase.kind, second.since_ns, Due::Loaded);
            return Part { unit, owner, class, kind, requested_ns: since_ns, since_ns, due };
        }
        let Some(owner) = state.owner else { unreachable!("a phase belongs to an operation") };
        let (class, kind, since_ns) = (state.class, state.kind, state.phase_since_ns);
        Part { unit, owner, class, kind, requested_ns: since_ns, since_ns, due: Due::Operation }
    }
}
