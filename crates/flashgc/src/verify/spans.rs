//! The checker's own account of busy times: of which part, when, and for the host or for
//! collection.

use super::What;
use crate::device::Geometry;

/// Busy time of units, buses and arrays, for the host and for collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busy {
    /// Units working for the host and for collection, in ns.
    pub unit_ns: [u64; 2],
    /// Buses, in ns.
    pub bus_ns: [u64; 2],
    /// Arrays, in ns.
    pub array_ns: [u64; 2],
    /// The host's link, in ns.
    pub link_ns: u64,
}

/// The observed work of units, buses and the host's link.
pub(super) struct Spans {
    last_end_ns: Vec<[u64; 3]>,
    link_end_ns: u64,
    /// The sums.
    pub(super) busy: Busy,
}

impl Spans {
    /// Nothing yet.
    pub(super) fn new(geometry: &Geometry) -> Self {
        let lanes = geometry.units.max(geometry.shape.channels) as usize;
        Spans { last_end_ns: vec![[0; 3]; lanes], link_end_ns: 0, busy: Busy::default() }
    }

    /// A part was busy: never with two operations at once.
    pub(super) fn busy(&mut self, what: What, at: usize, span: (u64, u64), gc: bool) {
        let (kind, lane, times) = match what {
            What::Operation(..) => (0, at, &mut self.busy.unit_ns),
            What::Array => (1, at, &mut self.busy.array_ns),
            What::Bus => (2, at, &mut self.busy.bus_ns),
        };
        let (from_ns, to_ns) = span;
        assert!(from_ns <= to_ns);
        // The end of the work in parallel with another operation.
        if from_ns == to_ns {
            return;
        }
        let end = &mut self.last_end_ns[lane][kind];
        assert!(
            *end <= from_ns,
            "two operations at once: one until {end} ns, one from {from_ns} ns"
        );
        *end = to_ns;
        times[usize::from(gc)] += to_ns - from_ns;
    }

    /// A request has crossed the host's link, alone.
    pub(super) fn crossed(&mut self, from_ns: u64, to_ns: u64) {
        assert!(self.link_end_ns <= from_ns, "two requests cross the link at {from_ns} ns");
        self.link_end_ns = to_ns;
        self.busy.link_ns += to_ns - from_ns;
    }
}
