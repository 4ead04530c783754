//! A unit: the part of the device that one array operation keeps busy, and the queues in front of
//! it.
//!
//! An operation is a short row of phases, each on the bus or in the array. A unit runs one
//! operation at a time, since its data register is taken from the first phase to the last.

use super::Spent;

/// Most phases that an operation has: a copy over the bus that fills a block with a summary.
const PHASES_MAX: usize = 7;

/// One phase of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The channel's bus for this time, in ns.
    Bus(u64),
    /// The array for this time, in ns.
    Array(u64),
}

/// The phases of an operation, in order. Phases of no length are omitted.
#[derive(Clone, Copy, Debug)]
pub struct Phases {
    ns: [u64; PHASES_MAX],
    on_bus: u8,
    count: u8,
}

impl Phases {
    /// No phase yet.
    #[inline(always)]
    pub fn new() -> Self {
        Phases { ns: [0; PHASES_MAX], on_bus: 0, count: 0 }
    }

    /// Adds time on the bus.
    #[inline(always)]
    pub fn bus(&mut self, ns: u64) {
        if ns > 0 {
            self.on_bus |= 1 << self.count;
            self.ns[self.count as usize] = ns;
            self.count += 1;
        }
    }

    /// Adds time in the array.
    #[inline(always)]
    pub fn array(&mut self, ns: u64) {
        if ns > 0 {
            self.ns[self.count as usize] = ns;
            self.count += 1;
        }
    }

    /// Adds the phases of another row, from this number on.
    pub fn append(&mut self, other: &Phases, from: u8) {
        for at in from..other.count {
            match other.get(at) {
                Some(Phase::Bus(ns)) => self.bus(ns),
                Some(Phase::Array(ns)) => self.array(ns),
                None => {}
            }
        }
    }

    /// Sets the length of the array phase of this number, which must not be zero.
    pub fn set_array(&mut self, number: usize, ns: u64) {
        let in_array = (0..self.count).filter(|&at| self.on_bus >> at & 1 == 0);
        let at = in_array.into_iter().nth(number);
        debug_assert!(at.is_some() && ns > 0, "no array phase {number}, or of no length");
        if let Some(at) = at {
            self.ns[at as usize] = ns;
        }
    }

    /// Number of phases.
    #[inline(always)]
    pub fn count(&self) -> u8 {
        self.count
    }

    /// The phase of this number, if the operation has it.
    #[inline(always)]
    pub fn get(&self, at: u8) -> Option<Phase> {
        if at >= self.count {
            return None;
        }
        let ns = self.ns[at as usize];
        Some(if self.on_bus >> at & 1 == 1 { Phase::Bus(ns) } else { Phase::Array(ns) })
    }

    /// Time from start to end when nothing makes it wait, in ns.
    pub fn total_ns(&self) -> u64 {
        self.ns[..self.count as usize].iter().sum()
    }

    /// Time in the array, in ns.
    pub fn array_ns(&self) -> u64 {
        (0..self.count)
            .map(|at| if let Some(Phase::Array(ns)) = self.get(at) { ns } else { 0 })
            .sum()
    }
}

impl Default for Phases {
    fn default() -> Self {
        Phases::new()
    }
}

/// For whom a unit works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worker {
    /// The unit is free.
    Nobody,
    /// A page operation of the host, by its place in the slab.
    Host(u32),
    /// The unit's open garbage collection.
    Gc,
    /// The collection of another unit, one of whose pages is programmed here.
    CrossUnit,
    /// The next collection: one of its pages is pre-migrated.
    Ahead,
    /// The unit's open garbage collection, which is being suspended.
    Suspending,
    /// The unit's open garbage collection, which polls the queue; the array rests.
    Polling,
}

impl Worker {
    /// Whether this is collection.
    #[inline(always)]
    pub fn is_gc(self) -> bool {
        !matches!(self, Worker::Nobody | Worker::Host(_))
    }
}

/// One unit. Aligned, since an event reads one unit and little else.
#[repr(align(64))]
pub struct Unit {
    /// The origin of its present work.
    pub worker: Worker,
    /// The phases of the operation under way.
    pub phases: Phases,
    /// The phase under way.
    pub at: u8,
    /// When the phase began to run (not to wait), in ns.
    pub phase_since_ns: u64,
    /// When the operation began, in ns.
    pub since_ns: u64,
    /// Time taken by operations, from the first phase to the last.
    pub spent: Spent,
    /// Operations of the host that wait here.
    pub waiting: u32,
    /// Pages from collections of other units that wait to be programmed here.
    pub cross_unit: u32,
    /// Further page operations that share the one under way (multi-plane operations).
    pub group: Vec<u32>,
    /// Blocks that the operation of the host under way fills.
    pub filled: u32,
    /// Planes of this unit that need space.
    pub wanting: u32,
    /// The plane that is checked first at the unit's next collection.
    pub next_plane: u32,
    /// Whether this unit is already on the list of units to check.
    pub listed: bool,
}

impl Unit {
    /// A free unit.
    pub fn new() -> Self {
        Unit {
            worker: Worker::Nobody,
            phases: Phases::new(),
            at: 0,
            phase_since_ns: 0,
            since_ns: 0,
            spent: Spent::default(),
            waiting: 0,
            cross_unit: 0,
            group: Vec::new(),
            filled: 0,
            wanting: 0,
            next_plane: 0,
            listed: false,
        }
    }
}

impl Default for Unit {
    fn default() -> Self {
        Unit::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phases_of_no_length_are_left_out() {
        let mut phases = Phases::new();
        phases.bus(0);
        phases.array(25_000);
        phases.bus(100);
        assert_eq!(phases.get(0), Some(Phase::Array(25_000)));
        assert_eq!(phases.get(1), Some(Phase::Bus(100)));
        assert_eq!(phases.get(2), None);
        assert_eq!((phases.total_ns(), phases.array_ns()), (25_100, 25_000));
    }

    #[test]
    fn an_array_phase_gets_another_length() {
        let mut phases = Phases::new();
        phases.bus(5);
        phases.array(10);
        phases.bus(7);
        phases.array(20);
        phases.set_array(1, 30);
        assert_eq!((phases.total_ns(), phases.array_ns()), (52, 40));
        assert_eq!(phases.get(3), Some(Phase::Array(30)));
    }
}
