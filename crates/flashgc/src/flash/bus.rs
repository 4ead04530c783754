//! The buses: one transfer at a time, and how long each unit has waited for others' transfers.

use super::{Class, Command, Due, Flash, Kind, Part, Phase};
use crate::device::{BusOrder, Spent};
use crate::event::{Events, Slot};
use crate::ids::{BusId, UnitId};

/// The bus of one channel: one transfer at a time, never reserved in advance. It goes to what asked
/// for it first; or to a command, where these go before data.
#[derive(Default)]
pub(super) struct Bus {
    /// The unit whose transfer is under way.
    pub(super) holder: Option<UnitId>,
    /// Start of that transfer, in ns.
    pub(super) since_ns: u64,
    /// The first and the last unit that wait, in order of their requests. Each names the next one.
    /// The second of these queues is served while the first one is empty.
    waiting: [Option<(UnitId, UnitId)>; 2],
    /// Time taken by transfers.
    pub(super) spent: Spent,
}

/// A transfer that has the bus of its unit, or waits for it.
pub(super) struct Transfer<T> {
    pub(super) owner: T,
    pub(super) class: Class,
    pub(super) phase: Phase,
    /// When it asked for the bus, in ns.
    pub(super) asked_ns: u64,
    /// Whether it is that of the second command.
    is_beside: bool,
}

impl<T: Copy> Flash<T> {
    #[inline(always)]
    pub(super) fn ask_for_bus(
        &mut self,
        unit: UnitId,
        phase: Phase,
        now_ns: u64,
        events: &mut Events,
    ) {
        let bus = self.bus_of[unit.index()];
        let Bus { holder, waiting: [_, data], .. } = &self.buses[bus.index()];
        if holder.is_none() && (data.is_none() || phase.kind == Kind::Command) {
            self.grant(bus, unit, phase.ns, now_ns, events);
        } else {
            if self.keeps_waits {
                self.units[unit.index()].asked = self.spent_of_bus(bus, now_ns);
            }
            self.waits_for(bus, unit, phase.kind);
        }
    }

    /// Whether the bus of a unit rests, and nothing waits for it.
    #[inline]
    pub fn is_bus_free(&self, unit: UnitId) -> bool {
        let Bus { holder, waiting: [_, data], .. } = &self.buses[self.bus_of[unit.index()].index()];
        holder.is_none() && data.is_none()
    }

    /// A unit waits once at most, so that it can be linked. Without an order among transfers all of
    /// them wait in the first queue.
    #[inline(always)]
    fn waits_for(&mut self, bus: BusId, unit: UnitId, kind: Kind) {
        let is_data = kind != Kind::Command;
        let queue = usize::from(is_data && self.bus_order == BusOrder::CommandsFirst);
        let waiting = &mut self.buses[bus.index()].waiting[queue];
        let first = match *waiting {
            None => unit,
            Some((first, last)) => {
                self.units[last.index()].waits_behind = unit;
                first
            }
        };
        *waiting = Some((first, unit));
    }

    /// Work of a bus so far, with the transfer under way.
    pub(super) fn spent_of_bus(&self, bus: BusId, now_ns: u64) -> Spent {
        let mut spent = self.buses[bus.index()].spent;
        if let Some((unit, since_ns)) = self.transfer_under_way(bus) {
            spent.add(self.transfer_of(unit).class == Class::Gc, now_ns - since_ns);
        }
        spent
    }

    /// Whose transfer the bus has, and since when, in ns.
    fn transfer_under_way(&self, bus: BusId) -> Option<(UnitId, u64)> {
        let state = &self.buses[bus.index()];
        state.holder.map(|unit| (unit, state.since_ns))
    }

    /// The transfer under way on a bus, as if it ended now.
    pub fn transferred(&self, bus: BusId) -> Option<Part<T>> {
        let (unit, since_ns) = self.transfer_under_way(bus)?;
        let Transfer { owner, class, phase, asked_ns, .. } = self.transfer_of(unit);
        let due = Due::Operation;
        Some(Part { unit, owner, class, kind: phase.kind, asked_ns, since_ns, due })
    }

    /// For how long the unit's last operation waited for the bus, in ns: while it worked for the
    /// host, and for collections. Only where waits are kept.
    #[inline]
    pub fn waited_for_bus(&self, unit: UnitId) -> [u64; 2] {
        let own = self.waited_before(unit);
        let Spent { host_ns, gc_ns } = own.unwrap_or(self.units[unit.index()].waited);
        [host_ns, gc_ns]
    }

    #[inline(always)]
    fn grant(&mut self, bus: BusId, unit: UnitId, ns: u64, now_ns: u64, events: &mut Events) {
        let state = &mut self.buses[bus.index()];
        state.holder = Some(unit);
        state.since_ns = now_ns;
        events.post(Slot::Bus(bus), now_ns + ns);
    }

    /// A transfer has ended: the bus goes to the unit that is next; to data of a device that sends
    /// commands first only when the units that are free have begun ([`Flash::serve_data`]).
    #[inline(always)]
    pub fn transfer_ended(&mut self, bus: BusId, now_ns: u64, events: &mut Events) -> Part<T> {
        let state = &mut self.buses[bus.index()];
        let Some(unit) = state.holder.take() else {
            unreachable!("a transfer that ends has a unit")
        };
        let since_ns = state.since_ns;
        let waits = state.waiting.map(|queue| queue.is_some());
        let ended = self.transfer_of(unit);
        self.buses[bus.index()].spent.add(ended.class == Class::Gc, now_ns - since_ns);
        if waits == [false, true] {
            // A unit that is free now may have a command, which goes first.
            self.open_buses.push(bus);
        } else {
            self.serve(bus, now_ns, events);
        }
        let due = match ended.is_beside {
            true => self.left_the_register(unit, now_ns, events),
            false => Due::Operation,
        };
        let Transfer { owner, class, phase, asked_ns, .. } = ended;
        Part { unit, owner, class, kind: phase.kind, asked_ns, since_ns, due }
    }

    /// Whether data waits for a bus that rests.
    #[inline(always)]
    pub fn has_open_buses(&self) -> bool {
        !self.open_buses.is_empty()
    }

    /// The units that are free have sent their commands: the buses that rest serve data.
    pub fn serve_data(&mut self, now_ns: u64, events: &mut Events) {
        while let Some(bus) = self.open_buses.pop() {
            if self.buses[bus.index()].holder.is_none() {
                self.serve(bus, now_ns, events);
            }
        }
    }

    /// A bus that rests goes to the unit that is next, if one waits.
    #[inline(always)]
    fn serve(&mut self, bus: BusId, now_ns: u64, events: &mut Events) {
        let waiting = &self.buses[bus.index()].waiting;
        let queue = usize::from(waiting[0].is_none());
        let Some((next, last)) = waiting[queue] else { return };
        let behind = self.units[next.index()].waits_behind;
        self.buses[bus.index()].waiting[queue] = (next != last).then_some((behind, last));
        if self.keeps_waits {
            self.has_waited(bus, next);
        }
        let ns = self.transfer_of(next).phase.ns;
        self.grant(bus, next, ns, now_ns, events);
    }

    /// The transfer of the second command has ended. The operation may need the bus by now, and
    /// asks for it.
    #[inline(never)]
    fn left_the_register(&mut self, unit: UnitId, now_ns: u64, events: &mut Events) -> Due<T> {
        let due = self.second_transferred(unit);
        if let Some(phase) = self.phase(unit).filter(|phase| phase.kind.is_on_bus()) {
            self.units[unit.index()].phase_since_ns = now_ns;
            self.ask_for_bus(unit, phase, now_ns, events);
        }
        due
    }

    /// A unit that waited gets the bus, at the end of a transfer.
    #[cold]
    fn has_waited(&mut self, bus: BusId, unit: UnitId) {
        let Spent { host_ns, gc_ns } = self.buses[bus.index()].spent;
        let state = &mut self.units[unit.index()];
        state.waited.host_ns += host_ns - state.asked.host_ns;
        state.waited.gc_ns += gc_ns - state.asked.gc_ns;
    }

    /// The transfer for which the unit has its bus, or waits for it.
    #[inline(always)]
    fn transfer_of(&self, unit: UnitId) -> Transfer<T> {
        let state = &self.units[unit.index()];
        if let Some(second) = &state.second
            && let Some(phase) = second.transfer()
        {
            let (Command { owner, class, .. }, asked_ns) = (second.command, second.since_ns);
            return Transfer { owner, class, phase, asked_ns, is_beside: true };
        }
        let (Some(owner), Some(phase)) = (state.owner, state.phases.get(state.at)) else {
            unreachable!("a transfer belongs to an operation")
        };
        let (class, asked_ns) = (state.class, state.phase_since_ns);
        Transfer { owner, class, phase, asked_ns, is_beside: false }
    }
}
