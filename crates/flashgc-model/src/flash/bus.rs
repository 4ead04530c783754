//! The buses: one transfer at a time per bus, and the time that each unit waited for transfers of
//! other units.

use super::second::Second;
use super::{Class, Due, Flash, Kind, Part, Phase};
use crate::device::{BusOrder, Spent};
use crate::event::Events;
use crate::ids::{BusId, UnitId};

/// The bus of one channel: one transfer at a time, never reserved in advance. The order of service
/// is first come, first served; with priority for commands, data transfers wait behind commands.
#[derive(Clone, Default)]
pub(super) struct Bus {
    /// The unit whose transfer is under way.
    pub(super) holder: Option<UnitId>,
    /// Start of that transfer, in ns.
    pub(super) since_ns: u64,
    /// The number of transfers of the unit that follow at once and end with the same event.
    pub(super) joined: u8,
    /// The first and the last unit that wait, in order of their requests. Each names the next one.
    pub(super) waiting: Option<(UnitId, UnitId)>,
    /// The first and the last unit with a data transfer that yields to commands, linked likewise.
    data: Option<(UnitId, UnitId)>,
    /// Time taken by transfers.
    pub(super) spent: Spent,
}

impl<T: Copy> Flash<T> {
    #[inline(always)]
    pub(super) fn request_bus(
        &mut self,
        unit: UnitId,
        phase: Phase,
        now_ns: u64,
        events: &mut Events,
    ) {
        let bus = self.bus_of[unit.index()];
        let Bus { holder, data, .. } = &self.buses[bus.index()];
        if holder.is_none() && (data.is_none() || phase.kind == Kind::Command) {
            self.grant(bus, unit, phase.ns, now_ns, events);
        } else {
            self.waits(bus, unit, phase.kind, now_ns, events);
        }
    }

    /// A unit waits for its bus from now on: once at most, so that it can be linked.
    #[inline(never)]
    fn waits(&mut self, bus: BusId, unit: UnitId, kind: Kind, now_ns: u64, events: &mut Events) {
        if self.bus_rules.keeps_waits {
            self.units[unit.index()].requested = self.spent_of_bus(bus, now_ns);
        }
        if self.buses[bus.index()].joined > 0 {
            self.separate(bus, now_ns, events);
        }
        let state = &mut self.buses[bus.index()];
        let lets_commands_first = self.bus_rules.order == BusOrder::CommandsFirst;
        let waiting = match lets_commands_first && kind != Kind::Command {
            true => &mut state.data,
            false => &mut state.waiting,
        };
        let first = match *waiting {
            None => unit,
            Some((first, last)) => {
                self.units[last.index()].waits_behind = unit;
                first
            }
        };
        *waiting = Some((first, unit));
    }

    /// Whether the bus of a unit rests, and nothing waits for it.
    #[inline]
    pub fn is_bus_free(&self, unit: UnitId) -> bool {
        let Bus { holder, data, .. } = &self.buses[self.bus_of[unit.index()].index()];
        holder.is_none() && data.is_none()
    }

    /// Whether the operation of a unit needs the bus for the phase under way or for a later one, or
    /// another one has begun in parallel with it.
    pub fn transfers_on(&self, unit: UnitId) -> bool {
        let state = &self.units[unit.index()];
        let transfers = state.phases.from(state.at).any(|phase| phase.kind.is_on_bus());
        state.owner.is_some() && (state.second.is_some() || transfers)
    }

    /// Transfers for collections had the bus of a unit for this time, in ns.
    pub fn has_sent(&mut self, unit: UnitId, ns: u64) {
        self.buses[self.bus_of[unit.index()].index()].spent.add(true, ns);
    }

    /// Work of a bus so far, with the transfer under way.
    pub(super) fn spent_of_bus(&self, bus: BusId, now_ns: u64) -> Spent {
        let mut spent = self.buses[bus.index()].spent;
        if let Some(part) = self.transferred(bus) {
            spent.add(part.class == Class::Gc, now_ns - part.since_ns);
        }
        spent
    }

    /// The transfer under way on a bus, as if it ended now.
    pub fn transferred(&self, bus: BusId) -> Option<Part<T>> {
        let Bus { holder, since_ns, .. } = self.buses[bus.index()];
        let unit = holder?;
        let (owner, class, kind, _) = self.transfers_for(unit);
        let (requested_ns, due) = (self.requested_ns(unit), Due::Operation);
        Some(Part { unit, owner, class, kind, requested_ns, since_ns, due })
    }

    /// Time in ns that the unit's last operation waited for its bus, split into transfers for the
    /// host and transfers for collections. Only where waits are recorded.
    #[inline]
    pub fn waited_for_bus(&self, unit: UnitId) -> [u64; 2] {
        let own = self.waited_before(unit);
        let Spent { host_ns, gc_ns } = own.unwrap_or(self.units[unit.index()].waited);
        [host_ns, gc_ns]
    }

    #[inline(always)]
    pub(super) fn grant(
        &mut self,
        bus: BusId,
        unit: UnitId,
        ns: u64,
        now_ns: u64,
        events: &mut Events,
    ) {
        let (joined, ns) = match self.bus_rules.joins_transfers && self.sends_more(unit) {
            true => self.joined(bus, unit, ns),
            false => (0, ns),
        };
        let state = &mut self.buses[bus.index()];
        state.holder = Some(unit);
        state.since_ns = now_ns;
        state.joined = joined;
        events.post_transfer(bus, unit, now_ns + ns);
    }

    /// A transfer has ended: the bus goes to the unit that is next. Data that lets commands go
    /// first waits until the units that are free have begun ([`Flash::serve_data`]).
    #[inline(always)]
    pub fn transfer_ended(&mut self, bus: BusId, now_ns: u64, events: &mut Events) -> Part<T> {
        let state = &mut self.buses[bus.index()];
        let Some(unit) = state.holder.take() else {
            unreachable!("a transfer that ends has a unit")
        };
        let Bus { since_ns, waiting, data, joined, .. } = *state;
        self.units[unit.index()].at += joined;
        let requested_ns = self.requested_ns(unit);
        let (owner, class, kind, beside) = self.transfers_for(unit);
        self.buses[bus.index()].spent.add(class == Class::Gc, now_ns - since_ns);
        if let Some((next, last)) = waiting {
            let behind = self.units[next.index()].waits_behind;
            self.buses[bus.index()].waiting = (next != last).then_some((behind, last));
            self.serve(bus, next, now_ns, events);
        } else if data.is_some() {
            self.open_buses.push(bus);
        }
        let due = match beside {
            true => self.left_the_register(unit, now_ns, events),
            false => Due::Operation,
        };
        Part { unit, owner, class, kind, requested_ns, since_ns, due }
    }

    /// Whether data waits for a bus that rests.
    #[inline(always)]
    pub fn has_open_buses(&self) -> bool {
        !self.open_buses.is_empty()
    }

    /// The units that are free have sent their commands: the buses that rest serve data.
    #[inline(never)]
    pub fn serve_data(&mut self, now_ns: u64, events: &mut Events) {
        while let Some(bus) = self.open_buses.pop() {
            let Bus { holder: None, data: Some((next, last)), .. } = self.buses[bus.index()] else {
                continue;
            };
            let behind = self.units[next.index()].waits_behind;
            self.buses[bus.index()].data = (next != last).then_some((behind, last));
            self.serve(bus, next, now_ns, events);
        }
    }

    /// An idle bus begins the transfer of a unit that waited for it.
    #[inline(always)]
    fn serve(&mut self, bus: BusId, unit: UnitId, now_ns: u64, events: &mut Events) {
        if self.bus_rules.keeps_waits {
            self.has_waited(bus, unit);
        }
        let ns = self.transfer_ns(unit);
        self.grant(bus, unit, ns, now_ns, events);
    }

    /// The transfer of the second command has ended. The operation requests the bus if its next
    /// phase needs it.
    #[inline(never)]
    fn left_the_register(&mut self, unit: UnitId, now_ns: u64, events: &mut Events) -> Due<T> {
        let due = self.second_transferred(unit);
        if let Some(phase) = self.phase(unit).filter(|phase| phase.kind.is_on_bus()) {
            self.units[unit.index()].phase_since_ns = now_ns;
            self.request_bus(unit, phase, now_ns, events);
        }
        due
    }

    /// A unit that waited begins its transfer at the end of another one.
    #[cold]
    fn has_waited(&mut self, bus: BusId, unit: UnitId) {
        let Spent { host_ns, gc_ns } = self.buses[bus.index()].spent;
        let state = &mut self.units[unit.index()];
        state.waited.host_ns += host_ns - state.requested.host_ns;
        state.waited.gc_ns += gc_ns - state.requested.gc_ns;
    }

    /// The time of the unit's bus request, in ns.
    #[inline(always)]
    fn requested_ns(&self, unit: UnitId) -> u64 {
        let state = &self.units[unit.index()];
        let second = state.second.as_ref().filter(|second| second.transfer().is_some());
        second.map_or(state.phase_since_ns, |second| second.since_ns)
    }

    /// Owner, class and kind of the transfer that the unit's bus runs or that waits for it, and
    /// whether the transfer belongs to the second command.
    #[inline(always)]
    pub(super) fn transfers_for(&self, unit: UnitId) -> (T, Class, Kind, bool) {
        let state = &self.units[unit.index()];
        if let Some(second) = &state.second
            && let Some(phase) = second.transfer()
        {
            return (second.command.owner, second.command.class, phase.kind, true);
        }
        let Some(owner) = state.owner else { unreachable!("a transfer belongs to an operation") };
        (owner, state.class, state.kind, false)
    }

    /// Bus time that the unit needs, in ns.
    #[inline(always)]
    fn transfer_ns(&self, unit: UnitId) -> u64 {
        let state = &self.units[unit.index()];
        let second = state.second.as_ref().and_then(Second::transfer);
        second.or_else(|| state.phases.get(state.at)).map_or(0, |phase| phase.ns)
    }
}
