//! Transfers of one operation that follow one another, as a copy over the bus has them: while no
//! other unit waits for the bus they are one event.
//!
//! 1. A unit gets the bus, and no other waits for it. The transfers that its operation has next
//!    are joined to the first one.
//! 2. Another unit requests the bus. It gets the bus at the end of the transfer under way, so the
//!    event moves there: which one that is follows from the time and the place of the instant.
//! 3. If none does, all of them end with the last one.

use super::{Class, Flash, Unit};
use crate::event::{Events, Slot};
use crate::ids::{BusId, UnitId};

impl<T: Copy> Flash<T> {
    /// Whether a transfer follows the one of a unit that begins.
    #[inline(always)]
    pub(super) fn sends_more(&self, unit: UnitId) -> bool {
        let Unit { phases, at, .. } = &self.units[unit.index()];
        phases.get(at + 1).is_some_and(|phase| phase.kind.is_on_bus())
    }

    /// The transfers that follow the one of a unit that begins and takes `ns`, unless another unit
    /// waits for the bus: their number, and the time of all.
    #[inline(never)]
    pub(super) fn joined(&self, bus: BusId, unit: UnitId, mut ns: u64) -> (u8, u64) {
        if self.buses[bus.index()].waiting.is_some() {
            return (0, ns);
        }
        let Unit { phases, at, binds_at, .. } = &self.units[unit.index()];
        let mut next = at + 1;
        while let Some(phase) = phases.get(next)
            && phase.kind.is_on_bus()
            && next != *binds_at
        {
            ns += phase.ns;
            next += 1;
        }
        (next - at - 1, ns)
    }

    /// Another unit waits for the bus from now on: the transfer under way ends by itself.
    #[cold]
    #[inline(never)]
    pub(super) fn separate(&mut self, bus: BusId, now_ns: u64, events: &mut Events) {
        let state = &mut self.buses[bus.index()];
        let Some(unit) = state.holder else { unreachable!("transfers have a unit") };
        let unit = &mut self.units[unit.index()];
        while state.joined > 0 {
            let ns = unit.phases.get(unit.at).map_or(0, |phase| phase.ns);
            let end_ns = state.since_ns + ns;
            if !events.is_past(Slot::Bus(bus), end_ns, now_ns) {
                state.joined = 0;
                return events.move_to(Slot::Bus(bus), end_ns);
            }
            state.spent.add(unit.class == Class::Gc, ns);
            state.joined -= 1;
            unit.at += 1;
            unit.kind = unit.phases.get(unit.at).map_or(unit.kind, |phase| phase.kind);
            (state.since_ns, unit.phase_since_ns) = (end_ns, end_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Command, Flash, Kind, Moved, Phases};
    use super::*;
    use crate::device::{BusOrder, BusRules, Geometry, Level, Shape, Spent};
    use crate::event::Slots;
    use std::collections::VecDeque;

    /// Numbers that look random.
    struct Draws(u64);

    impl Draws {
        fn below(&mut self, bound: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (self.0 >> 33) % bound
        }
    }

    /// A command that comes to a unit at a time.
    #[derive(Clone, Copy)]
    struct Coming {
        at_ns: u64,
        unit: UnitId,
        command: Command<usize>,
    }

    /// Each end of a command, by its number and time, and the work of the buses whenever one comes.
    type Seen = (Vec<(usize, u64)>, Vec<Vec<Spent>>, u64);

    fn random(draws: &mut Draws, units: u32) -> Vec<Coming> {
        let mut at_ns = 0;
        let mut below = |n: u64| draws.below(n);
        let kinds = [Kind::Command, Kind::DataIn, Kind::DataOut, Kind::Read, Kind::Program];
        let coming = (0..60).map(|number| {
            // Short times, so that many things happen at one instant.
            at_ns += below(6);
            let mut phases = Phases::new();
            for _ in 0..=below(5) {
                phases.add(kinds[below(5) as usize], 1 + below(4));
            }
            let class = [Class::Host, Class::Gc][below(2) as usize];
            let mut command = Command::new(number, class, phases);
            if below(2) == 0 {
                command.binds_at = below(u64::from(phases.count()) + 1) as u8;
            }
            Coming { at_ns, unit: UnitId(below(u64::from(units)) as u32), command }
        });
        coming.collect()
    }

    struct Drive {
        flash: Flash<usize>,
        events: Events,
        queues: Vec<VecDeque<Command<usize>>>,
        ended: Vec<(usize, u64)>,
    }

    impl Drive {
        fn moved(&mut self, unit: UnitId, moved: Moved<usize>, now_ns: u64) {
            let moved = match moved {
                Moved::NeedsPages => self.flash.bound(unit, |_| (), now_ns, &mut self.events),
                moved => moved,
            };
            if let Moved::Ended(ended) = moved {
                self.ended.push((ended.owner, now_ns));
                self.next(unit, now_ns);
            }
        }

        fn next(&mut self, unit: UnitId, now_ns: u64) {
            if self.flash.is_free(unit)
                && let Some(command) = self.queues[unit.index()].pop_front()
            {
                let moved = self.flash.start(unit, command, now_ns, &mut self.events);
                self.moved(unit, moved, now_ns);
            }
        }
    }

    fn run(geometry: &Geometry, coming: &[Coming], joins_transfers: bool) -> Seen {
        let (order, keeps_waits) = (BusOrder::Arrival, false);
        let rules = BusRules { order, keeps_waits, joins_transfers };
        let slots = Slots::new(geometry.units, geometry.shape.channels, &[], [false; 3]);
        let mut drive = Drive {
            flash: Flash::new(geometry, rules),
            events: Events::new(slots),
            queues: vec![VecDeque::new(); geometry.units as usize],
            ended: Vec::new(),
        };
        let (mut coming, mut spent, mut steps) = (coming.iter(), Vec::new(), 0);
        let mut next = coming.next();
        next.into_iter().for_each(|next| drive.events.post(Slot::Arrival, next.at_ns));
        while let Some(event) = drive.events.peek() {
            let now_ns = event.at_ns;
            steps += 1;
            match drive.events.take(event) {
                Slot::Unit(unit) => {
                    drive.flash.array_ended(unit);
                    let moved = drive.flash.goes_on(unit, now_ns, &mut drive.events);
                    drive.moved(unit, moved, now_ns);
                }
                Slot::Bus(bus) => {
                    let unit = drive.flash.transfer_ended(bus, now_ns, &mut drive.events).unit;
                    let moved = drive.flash.goes_on(unit, now_ns, &mut drive.events);
                    drive.moved(unit, moved, now_ns);
                }
                _ => {
                    let Some(Coming { unit, command, .. }) = next else { continue };
                    drive.queues[unit.index()].push_back(*command);
                    drive.next(*unit, now_ns);
                    spent.push(drive.flash.spent_of_buses(now_ns).collect());
                    next = coming.next();
                    next.into_iter().for_each(|next| drive.events.post(Slot::Arrival, next.at_ns));
                }
            }
        }
        (drive.ended, spent, steps)
    }

    #[test]
    fn transfers_that_are_one_event_end_when_each_would() {
        let geometry = Geometry::new(Shape { dies_per_chip: 3, ..Shape::small(Level::Die) });
        let mut draws = Draws(1);
        let (mut with, mut without) = (0, 0);
        for _ in 0..2000 {
            let coming = random(&mut draws, geometry.units);
            let [(ended, spent, steps), (plainly, plain_spent, plain_steps)] =
                [true, false].map(|joins| run(&geometry, &coming, joins));
            assert_eq!(ended.len(), coming.len());
            assert_eq!((ended, spent), (plainly, plain_spent));
            (with, without) = (with + steps, without + plain_steps);
        }
        // Some are joined to the end, and others are not.
        assert!(with < without && without < 2 * with, "{with} events, and {without}");
    }
}
