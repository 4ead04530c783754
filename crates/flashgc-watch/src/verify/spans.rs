//! The checker's own account of busy times: of which part, when, and for the host or for
//! collection. A bus serves in its order, and where operations end together nothing begins before
//! the last of them has ended.

use super::crossings::Crossings;
use super::promises::Promises;
use super::{Happened, What};
use flashgc_model::device::{BusOrder, Geometry};
use flashgc_model::ids::UnitId;

/// Busy time of units, buses and arrays, for the host and for collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busy {
    /// Units working for the host and for collection, in ns.
    pub unit_ns: [u64; 2],
    /// Buses, in ns.
    pub bus_ns: [u64; 2],
    /// Arrays, in ns.
    pub array_ns: [u64; 2],
    /// The host's link, in ns: a half-duplex one, and the directions of a full-duplex one.
    pub link_ns: [u64; 3],
}

/// The reads of the planes of a unit, each by itself.
#[derive(Clone, Default)]
struct Reads {
    /// Until when the last one that has ended worked, in ns.
    end_ns: u64,
    /// Times with a read in at least one plane, in ns: separate spans, the latest last.
    spans_ns: Vec<(u64, u64)>,
}

/// The times of a bus: its latest requests, and its last data transfer, in ns.
#[derive(Clone, Copy, Default)]
struct Served {
    /// Requests of commands and of data, where they have an order; else of all transfers.
    requested_ns: [u64; 2],
    data_since_ns: u64,
}

/// The observed work of units, buses and the host's link.
pub(super) struct Spans {
    last_end_ns: Vec<[u64; 3]>,
    /// With independent plane reads: the unit of each reader, and the reads of each unit.
    unit_of_reader: Vec<usize>,
    reads: Vec<Reads>,
    link: Option<Crossings>,
    served: Vec<Served>,
    commands_first: bool,
    /// The time at which an operation left its queue last, where operations end together, in ns.
    taken_ns: Option<u64>,
    ends_together: bool,
    /// The sums.
    pub(super) busy: Busy,
}

impl Spans {
    /// The times before the run.
    pub(super) fn new(geometry: &Geometry, promises: &Promises) -> Self {
        let readers = geometry.units..geometry.units + geometry.readers;
        let lanes = readers.end.max(geometry.shape.channels) as usize;
        let unit_of = |reader| geometry.whole_unit(UnitId(reader)).index();
        Spans {
            last_end_ns: vec![[0; 3]; lanes],
            unit_of_reader: readers.map(unit_of).collect(),
            reads: vec![Reads::default(); geometry.units as usize],
            link: promises.host_link.map(|rules| Crossings::new(rules, promises.seed)),
            served: vec![Served::default(); geometry.shape.channels as usize],
            commands_first: promises.bus_order == BusOrder::CommandsFirst,
            taken_ns: None,
            ends_together: promises.ends_together,
            busy: Busy::default(),
        }
    }

    /// A part was busy: never with two operations at once. Planes that read by themselves work at
    /// the same time, but none while the unit does anything else.
    pub(super) fn busy(&mut self, what: What, at: usize, span: (u64, u64), gc: bool) {
        assert!(
            span.0 == span.1 || self.taken_ns != Some(span.1),
            "at {} ns an operation began before all that ended then had ended",
            span.1
        );
        if let What::Bus { is_command, requested_ns } = what {
            self.transferred(at, is_command, requested_ns, span.0);
        }
        if let What::Operation(..) = what
            && span.0 < span.1
        {
            match at.checked_sub(self.reads.len()).and_then(|at| self.unit_of_reader.get(at)) {
                Some(&unit) => return self.read_in_plane(at, unit, span),
                None => assert!(
                    self.reads[at].end_ns <= span.0,
                    "unit {at} began an operation at {} ns while a plane of it read",
                    span.0
                ),
            }
        }
        let (kind, lane, times) = match what {
            What::Operation(..) => (0, at, &mut self.busy.unit_ns),
            What::Array => (1, at, &mut self.busy.array_ns),
            What::Bus { .. } => (2, at, &mut self.busy.bus_ns),
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

    /// A plane has read by itself: its unit is busy while at least one plane of it reads.
    fn read_in_plane(&mut self, at: usize, unit: usize, (mut from_ns, to_ns): (u64, u64)) {
        let [end_ns, unit_end_ns] = [at, unit].map(|at| self.last_end_ns[at][0]);
        assert!(end_ns <= from_ns, "a plane read twice at once at {from_ns} ns");
        assert!(
            unit_end_ns <= from_ns,
            "a plane of unit {unit} read at {from_ns} ns while the unit worked until \
             {unit_end_ns} ns"
        );
        self.last_end_ns[at][0] = to_ns;
        let reads = &mut self.reads[unit];
        reads.end_ns = to_ns;
        self.busy.unit_ns[0] += to_ns - from_ns;
        while let Some(&(since_ns, until_ns)) = reads.spans_ns.last()
            && until_ns > from_ns
        {
            self.busy.unit_ns[0] -= until_ns - since_ns.max(from_ns);
            from_ns = from_ns.min(since_ns);
            reads.spans_ns.pop();
        }
        // A read that has not ended may have begun before the last span; the ends come in order.
        reads.spans_ns.push((from_ns, to_ns));
    }

    /// A bus serves the oldest request; or a command, and data while no command waits.
    fn transferred(&mut self, bus: usize, is_command: bool, requested_ns: u64, from_ns: u64) {
        let Served { requested_ns: latest_ns, data_since_ns } = &mut self.served[bus];
        assert!(
            requested_ns <= from_ns,
            "a transfer at {from_ns} ns that was asked for at {requested_ns}"
        );
        let latest_ns = &mut latest_ns[usize::from(self.commands_first && !is_command)];
        assert!(
            *latest_ns <= requested_ns,
            "bus {bus} went at {from_ns} ns to a transfer that had waited since {requested_ns} ns, \
             after one that was requested at {latest_ns} ns"
        );
        *latest_ns = requested_ns;
        if !is_command {
            *data_since_ns = from_ns;
        } else if self.commands_first {
            assert!(
                *data_since_ns <= requested_ns,
                "bus {bus} went at {data_since_ns} ns to data, while a command waited since \
                 {requested_ns} ns"
            );
        }
    }

    /// A page operation of the host leaves its queue, or a request passes the host's link.
    pub(super) fn observe(&mut self, now_ns: u64, happened: Happened) {
        if let Happened::Taken { .. } = happened {
            self.taken_ns = Some(now_ns).filter(|_| self.ends_together);
        }
        let Some(link) = &mut self.link else { return };
        if let Some((stage, spent_ns)) = link.observe(now_ns, happened) {
            self.busy.link_ns[stage as usize] += spent_ns;
        }
    }
}
