//! The pending events: one slot for each unit and bus, one for the next arrival, and optional ones
//! for the stages of the host, the rate limits and the idle trigger.
//!
//! A unit or a bus has at most one pending event, so the set never grows: a winner tree over the
//! slots gives the next event with one root read, and a post costs one walk from leaf to root.
//! Time and slot share one 64-bit key, so that events of equal time leave in the order of their
//! slots (units, then buses, the stages, the limits, the arrival, the idle trigger), however late
//! each was posted.
//!
//! A transfer has the leaf of its unit, which has no other event meanwhile, unless the unit may
//! run a second command. So the phases of an operation follow each other in one leaf. A leaf whose
//! event is taken keeps it until the next event is read: mostly the next phase has replaced it by
//! then, with one walk for both. The slots that are not of units have a small tree of their own.

use crate::ids::{BusId, UnitId};

const IDLE: u64 = u64::MAX;

/// The source of an event. Events of equal time leave in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// A phase of this unit ends that needs no bus.
    Unit(UnitId),
    /// The transfer on this bus ends.
    Bus(BusId),
    /// The stage of the host with this number completes a step.
    Stage(u8),
    /// A rate limit admits a request of its job.
    Limit,
    /// The next request of an open loop arrives.
    Arrival,
    /// The host has been idle long enough.
    Idle,
}

/// The indices of the slots.
#[derive(Clone, Copy, Debug)]
pub struct Slots {
    /// Whether a transfer has the leaf of its unit.
    joins_units: bool,
    buses: usize,
    stages: usize,
    /// By number, how many of the stages before it there are.
    stage_places: [u8; STAGES_MAX],
    /// The numbers of those that there are.
    stage_numbers: [u8; STAGES_MAX],
    limit: usize,
    arrival: usize,
    idle: usize,
    count: usize,
}

/// The most stages that a host may have.
const STAGES_MAX: usize = 8;

impl Slots {
    /// The slots of a drive with this many units and buses, of each stage whether it has it, and of
    /// the limits of jobs and the idle trigger that it has; and whether a unit may have a transfer
    /// in parallel with an array operation.
    pub fn new(units: u32, buses: u32, has_stage: &[bool], has: [bool; 3]) -> Self {
        let [has_limit, has_idle] = [has[0], has[1]].map(usize::from);
        let buses_at = units as usize;
        let stages = buses_at + buses as usize;
        let (mut stage_places, mut stage_numbers, mut count) =
            ([0; STAGES_MAX], [0; STAGES_MAX], 0);
        for (number, _) in has_stage.iter().enumerate().filter(|(_, has)| **has) {
            (stage_places[number], stage_numbers[count]) = (count as u8, number as u8);
            count += 1;
        }
        let limit = stages + count;
        let arrival = limit + has_limit;
        let (idle, count) = (arrival + 1, arrival + 1 + has_idle);
        let (buses, joins_units) = (buses_at, !has[2]);
        Slots {
            joins_units,
            buses,
            stages,
            stage_places,
            stage_numbers,
            limit,
            arrival,
            idle,
            count,
        }
    }

    /// The first place that has a leaf among the others.
    #[inline(always)]
    fn others(&self) -> usize {
        if self.joins_units { self.stages } else { self.buses }
    }

    /// The place of a slot.
    #[inline(always)]
    fn place(&self, slot: Slot) -> usize {
        match slot {
            Slot::Unit(unit) => unit.index(),
            Slot::Bus(bus) => self.buses + bus.index(),
            Slot::Stage(number) => {
                self.stages + usize::from(self.stage_places[usize::from(number)])
            }
            Slot::Limit => self.limit,
            Slot::Arrival => self.arrival,
            Slot::Idle => self.idle,
        }
    }

    /// The slot at a place. A slot that the drive lacks has the place of the next.
    #[inline(always)]
    fn at(&self, place: usize) -> Slot {
        if place < self.buses {
            Slot::Unit(UnitId(place as u32))
        } else if place < self.stages {
            Slot::Bus(BusId((place - self.buses) as u32))
        } else if place >= self.idle {
            Slot::Idle
        } else if place == self.arrival {
            Slot::Arrival
        } else if place >= self.limit {
            Slot::Limit
        } else {
            Slot::Stage(self.stage_numbers[place - self.stages])
        }
    }
}

/// A winner tree.
#[derive(Clone)]
struct Tree {
    /// Node `i` holds the smaller key of nodes `2i` and `2i + 1`; the leaves begin at `leaves`.
    nodes: Vec<u64>,
    leaves: usize,
}

impl Tree {
    fn new(count: usize) -> Self {
        let leaves = count.next_power_of_two();
        Tree { nodes: vec![IDLE; 2 * leaves], leaves }
    }

    /// The smallest key.
    #[inline(always)]
    fn first(&self) -> u64 {
        self.nodes[1]
    }

    /// The smallest key of all leaves but this one.
    fn first_without(&self, leaf: usize) -> u64 {
        let mut node = self.leaves + leaf;
        let mut winner = IDLE;
        while node > 1 {
            winner = winner.min(self.nodes[node ^ 1]);
            node >>= 1;
        }
        winner
    }

    #[inline(always)]
    fn put(&mut self, leaf: usize, key: u64) {
        assert!(leaf < self.leaves);
        let nodes = self.nodes.as_mut_ptr();
        let mut node = self.leaves + leaf;
        let mut winner = key;
        // SAFETY: `node` is below the even number of nodes, which is twice that of leaves, and so
        // is its neighbour; then it only falls. The walk is the most frequent loop of the engine.
        unsafe {
            *nodes.add(node) = winner;
            while node > 1 {
                // The neighbour does not depend on the walk, so the loads overlap.
                winner = winner.min(*nodes.add(node ^ 1));
                node >>= 1;
                *nodes.add(node) = winner;
            }
        }
    }
}

/// No leaf.
const NONE: usize = usize::MAX;

/// The pending set.
#[derive(Clone)]
pub struct Events {
    slots: Slots,
    /// The events of units, and of transfers that have the leaves of units.
    units: Tree,
    /// The others.
    others: Tree,
    /// The leaf of the last transfer of each bus.
    senders: Vec<u32>,
    /// The leaf of a unit whose event was taken and not yet replaced.
    left: usize,
    slot_bits: u32,
    /// The latest instant that fits next to the slot number, in ns.
    limit_ns: u64,
    /// The place of the event that was taken last.
    last_place: usize,
}

/// The next event.
#[derive(Clone, Copy, Debug)]
pub struct Next {
    /// Its time, in ns.
    pub at_ns: u64,
    /// The place of its slot: of equal time, the lower one comes first. A unit's is its number.
    pub place: usize,
}

impl Events {
    /// A set of these slots, all empty.
    pub fn new(slots: Slots) -> Self {
        let slot_bits = slots.count.next_power_of_two().max(2).trailing_zeros();
        Events {
            units: Tree::new(slots.buses),
            others: Tree::new(slots.count - slots.others()),
            senders: vec![0; slots.stages - slots.buses],
            left: NONE,
            slot_bits,
            limit_ns: (1u64 << (63 - slot_bits)) - 1,
            last_place: 0,
            slots,
        }
    }

    /// The latest instant that fits next to the slot number, in ns.
    #[inline(always)]
    pub fn time_limit_ns(&self) -> u64 {
        self.limit_ns
    }

    /// The place of a slot among the events of an instant.
    #[inline(always)]
    pub fn place(&self, slot: Slot) -> usize {
        self.slots.place(slot)
    }

    /// Sets the slot's event. A slot holds one event at a time.
    #[inline(always)]
    pub fn post(&mut self, slot: Slot, at_ns: u64) {
        debug_assert!(self.is_idle(slot), "{slot:?} already has an event");
        self.move_to(slot, at_ns);
    }

    /// Sets the event of a bus, whose transfer is of an operation of this unit.
    #[inline(always)]
    pub fn post_transfer(&mut self, bus: BusId, unit: UnitId, at_ns: u64) {
        self.senders[bus.index()] = unit.0;
        self.post(Slot::Bus(bus), at_ns);
    }

    /// The place of the event that was taken last, which is under way.
    #[inline(always)]
    pub fn last_place(&self) -> usize {
        self.last_place
    }

    /// Moves the slot's event to another time.
    #[inline(always)]
    pub fn move_to(&mut self, slot: Slot, at_ns: u64) {
        let place = self.slots.place(slot);
        debug_assert!(at_ns <= self.time_limit_ns());
        self.put(slot, (at_ns << self.slot_bits) | place as u64);
    }

    /// Whether an event of this slot at this time would have been taken by now.
    #[inline(always)]
    pub fn is_past(&self, slot: Slot, at_ns: u64, now_ns: u64) -> bool {
        at_ns < now_ns || at_ns == now_ns && self.slots.place(slot) < self.last_place
    }

    /// Takes the slot's event back.
    #[inline(always)]
    pub fn clear(&mut self, slot: Slot) {
        self.put(slot, IDLE);
    }

    /// The next event, which stays until it is [taken](Events::take).
    #[inline(always)]
    pub fn peek(&mut self) -> Option<Next> {
        if self.left != NONE {
            self.units.put(self.left, IDLE);
            self.left = NONE;
        }
        let key = self.units.first().min(self.others.first());
        if key == IDLE {
            return None;
        }
        let place = (key & ((1 << self.slot_bits) - 1)) as usize;
        Some(Next { at_ns: key >> self.slot_bits, place })
    }

    /// Whether something ends with this event: no request comes with it, and no time is over.
    #[inline(always)]
    pub fn is_end(&self, next: Next) -> bool {
        next.place < self.slots.limit
    }

    /// Takes the next event, which was read last.
    #[inline(always)]
    pub fn take(&mut self, next: Next) -> Slot {
        let slot = self.slots.at(next.place);
        self.last_place = next.place;
        match self.leaf_of_unit(slot) {
            Some(leaf) => self.left = leaf,
            None => self.put(slot, IDLE),
        }
        slot
    }

    /// The time of the next event, in ns.
    pub fn next_ns(&self) -> Option<u64> {
        let units = match self.left {
            NONE => self.units.first(),
            left => self.units.first_without(left),
        };
        let key = units.min(self.others.first());
        (key != IDLE).then_some(key >> self.slot_bits)
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.next_ns().is_none()
    }

    /// The leaf of the slot's event in the tree of units, if it is there.
    #[inline(always)]
    fn leaf_of_unit(&self, slot: Slot) -> Option<usize> {
        match slot {
            Slot::Unit(unit) => Some(unit.index()),
            Slot::Bus(bus) if self.slots.joins_units => Some(self.senders[bus.index()] as usize),
            _ => None,
        }
    }

    fn is_idle(&self, slot: Slot) -> bool {
        match self.leaf_of_unit(slot) {
            Some(leaf) => leaf == self.left || self.units.nodes[self.units.leaves + leaf] == IDLE,
            None => {
                let leaf = self.slots.place(slot) - self.slots.others();
                self.others.nodes[self.others.leaves + leaf] == IDLE
            }
        }
    }

    #[inline(always)]
    fn put(&mut self, slot: Slot, key: u64) {
        let Some(leaf) = self.leaf_of_unit(slot) else {
            return self.others.put(self.slots.place(slot) - self.slots.others(), key);
        };
        if leaf == self.left {
            self.left = NONE;
        }
        self.units.put(leaf, key);
    }
}

#[cfg(test)]
mod tests {
    use super::{Events, Slot, Slots};
    use crate::ids::{BusId, UnitId};
    use crate::rng::Random;

    const UNITS: [Slot; 3] = [Slot::Unit(UnitId(0)), Slot::Unit(UnitId(1)), Slot::Unit(UnitId(2))];

    #[test]
    fn equal_times_leave_in_order_of_slot_whatever_the_order_of_posting() {
        let bus = Slot::Bus(BusId(0));
        let mut events = Events::new(Slots::new(3, 1, &[true; 3], [true; 3]));
        let [first, second, third] = [0, 1, 2].map(Slot::Stage);
        let before = [Slot::Idle, bus, UNITS[2], Slot::Arrival, second];
        for slot in before.into_iter().chain([UNITS[0], Slot::Limit, third, first]) {
            events.post(slot, if slot == Slot::Arrival { 5 } else { 7 });
        }
        let mut seen = Vec::new();
        while let Some(next) = events.peek() {
            seen.push((next.at_ns, events.take(next)));
        }
        let expected = [UNITS[0], UNITS[2], bus, first, second, third, Slot::Limit, Slot::Idle];
        let expected = expected.map(|slot| (7, slot));
        assert_eq!(seen[0], (5, Slot::Arrival));
        assert_eq!(seen[1..], expected);
    }

    #[test]
    fn a_slot_that_a_drive_lacks_takes_no_place() {
        for bits in 0..32 {
            let has = [1, 2, 4, 8, 16].map(|bit| bits & bit != 0);
            let slots = Slots::new(2, 1, &has[..3], [has[3], has[4], false]);
            let [first, second, third] = [0, 1, 2].map(Slot::Stage);
            let rare = [first, second, third, Slot::Limit, Slot::Idle];
            let there = rare.into_iter().zip(has).filter(|&(_, has)| has).map(|(slot, _)| slot);
            for slot in there.chain([Slot::Arrival, Slot::Bus(BusId(0)), UNITS[1]]) {
                assert_eq!(slots.at(slots.place(slot)), slot, "{has:?}");
            }
        }
    }

    /// Array operations and transfers of units, together with a plain list of the same events.
    #[test]
    fn events_leave_as_they_do_from_a_sorted_list_whatever_the_leaves() {
        for (units, buses, parallel) in [(1, 1, false), (5, 2, false), (8, 3, true), (33, 4, false)]
        {
            let slots = Slots::new(units, buses, &[true; 2], [true, true, parallel]);
            let (mut events, mut list) = (Events::new(slots), Vec::new());
            let mut random = Random::named(1, "events");
            let (mut below, mut now_ns) = (|bound: u64| random.below(bound), 0);
            for _ in 0..20_000 {
                let unit = UnitId(below(u64::from(units)) as u32);
                let bus = BusId(unit.0 % buses);
                let slot = [Slot::Unit(unit), Slot::Bus(bus), Slot::Stage(1), Slot::Arrival];
                let (slot, at_ns) = (slot[below(4) as usize], now_ns + below(9));
                let key = |slot| (at_ns, slots.place(slot));
                let works = |list: &[((u64, usize), Slot, UnitId)]| {
                    let is_on_bus = |other: &Slot| matches!(other, Slot::Bus(_));
                    list.iter().any(|&(_, other, of)| {
                        other == slot
                            || of == unit
                                && !parallel
                                && (is_on_bus(&other) || other == Slot::Unit(unit))
                                && (is_on_bus(&slot) || slot == Slot::Unit(unit))
                    })
                };
                if !works(&list) {
                    match slot {
                        Slot::Bus(bus) => events.post_transfer(bus, unit, at_ns),
                        _ => events.post(slot, at_ns),
                    }
                    list.push((key(slot), slot, unit));
                } else if let Some(at) = list.iter().position(|&(_, other, _)| other == slot) {
                    match below(3) {
                        0 => drop((events.clear(slot), list.swap_remove(at))),
                        1 => {
                            events.move_to(slot, at_ns);
                            list[at].0 = key(slot);
                        }
                        _ => {}
                    }
                }
                list.sort_by_key(|&(key, ..)| key);
                assert_eq!(events.next_ns(), list.first().map(|&((at_ns, _), ..)| at_ns));
                if below(2) == 0
                    && let Some(next) = events.peek()
                {
                    let ((at_ns, place), slot, _) = list.remove(0);
                    assert_eq!((next.at_ns, next.place, events.take(next)), (at_ns, place, slot));
                    now_ns = at_ns;
                }
            }
        }
    }

    #[test]
    fn a_slot_can_be_posted_again_while_others_wait() {
        let [first, _, last] = UNITS;
        let mut events = Events::new(Slots::new(3, 0, &[], [false; 3]));
        events.post(first, 10);
        events.post(last, 4);
        let take = |events: &mut Events| {
            let next = events.peek().expect("something is pending");
            (next.at_ns, events.take(next))
        };
        assert_eq!(take(&mut events), (4, last));
        events.post(last, 30);
        assert_eq!(take(&mut events), (10, first));
        events.clear(last);
        assert!(events.is_empty());
    }
}
