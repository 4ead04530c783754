//! The pending events: one slot for each unit and bus, one for the next arrival, and one each for
//! the host's link, the write buffer and the idle trigger where there are such.
//!
//! A unit or a bus has at most one pending event, so the set never grows: a winner tree over the
//! slots gives the next event with one root read, and a post costs one walk from leaf to root.
//! Time and slot share one 64-bit key, so that events of equal time leave in the order of their
//! slots (units, then buses, the link, the buffer, the arrival, the idle trigger), however late
//! each was posted.

const IDLE: u64 = u64::MAX;

/// The pending set.
pub struct Events {
    /// Node `i` holds the smaller key of nodes `2i` and `2i + 1`; the leaves begin at `leaves`.
    tree: Vec<u64>,
    leaves: usize,
    slot_bits: u32,
}

impl Events {
    /// A set with this many slots, all empty.
    pub fn new(slots: usize) -> Self {
        let leaves = slots.next_power_of_two().max(2);
        Events { tree: vec![IDLE; 2 * leaves], leaves, slot_bits: leaves.trailing_zeros() }
    }

    /// The latest instant that fits next to the slot number, in ns.
    pub fn time_limit_ns(slots: usize) -> u64 {
        (1u64 << (63 - slots.next_power_of_two().max(2).trailing_zeros())) - 1
    }

    /// Sets the slot's event. A slot holds one event at a time.
    #[inline(always)]
    pub fn post(&mut self, slot: usize, at_ns: u64) {
        debug_assert!(self.tree[self.leaves + slot] == IDLE, "slot {slot} already has an event");
        debug_assert!(at_ns <= Self::time_limit_ns(self.leaves));
        self.put(slot, (at_ns << self.slot_bits) | slot as u64);
    }

    /// Takes the slot's event back.
    #[inline(always)]
    pub fn clear(&mut self, slot: usize) {
        self.put(slot, IDLE);
    }

    /// The next event: its time and slot.
    #[inline(always)]
    pub fn peek(&self) -> Option<(u64, usize)> {
        let key = self.tree[1];
        if key == IDLE {
            return None;
        }
        Some((key >> self.slot_bits, (key & ((1 << self.slot_bits) - 1)) as usize))
    }

    #[inline(always)]
    fn put(&mut self, slot: usize, key: u64) {
        let mut node = self.leaves + slot;
        let mut winner = key;
        self.tree[node] = key;
        while node > 1 {
            // The neighbour does not depend on the walk, so the loads overlap.
            winner = winner.min(self.tree[node ^ 1]);
            node >>= 1;
            self.tree[node] = winner;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Events;

    #[test]
    fn equal_times_leave_in_order_of_slot_whatever_the_order_of_posting() {
        let mut events = Events::new(5);
        for slot in [3, 0, 4, 1, 2] {
            events.post(slot, if slot == 4 { 5 } else { 7 });
        }
        let mut seen = Vec::new();
        while let Some((at_ns, slot)) = events.peek() {
            events.clear(slot);
            seen.push((at_ns, slot));
        }
        assert_eq!(seen, [(5, 4), (7, 0), (7, 1), (7, 2), (7, 3)]);
    }

    #[test]
    fn a_slot_can_be_posted_again_while_others_wait() {
        let mut events = Events::new(3);
        events.post(0, 10);
        events.post(2, 4);
        assert_eq!(events.peek(), Some((4, 2)));
        events.clear(2);
        events.post(2, 30);
        assert_eq!(events.peek(), Some((10, 0)));
        events.clear(0);
        assert_eq!(events.peek(), Some((30, 2)));
    }
}
