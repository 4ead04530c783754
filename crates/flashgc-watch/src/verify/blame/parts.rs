//! The parts of a latency, and the causes for which a unit is occupied.

/// A part of a request's latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The request's own work: array, bus, write buffer and link.
    Service,
    /// Wait for other work of the host.
    Host,
    /// Wait for copies of a collection.
    Copies,
    /// Wait for an erase.
    Erase,
    /// Wait for transfers of collections on the bus.
    Bus,
    /// Wait while an operation of a collection is suspended or resumed, or the collector polls.
    Switch,
    /// Wait while the unit rests, since a collection keeps its planes or blocks closed.
    Blocked,
    /// Wait for a page that a write can take.
    Space,
    /// Wait for the write buffer.
    Buffer,
}

/// Number of parts.
pub const PARTS: usize = 9;

/// All parts of a latency, in ns, by [`Part`].
pub type Parts = [u64; PARTS];

impl Part {
    /// All parts, in their order.
    pub const ALL: [Part; PARTS] = [
        Part::Service,
        Part::Host,
        Part::Copies,
        Part::Erase,
        Part::Bus,
        Part::Switch,
        Part::Blocked,
        Part::Space,
        Part::Buffer,
    ];

    /// The name of its key in the report.
    pub fn key(self) -> &'static str {
        match self {
            Part::Service => "service_ns",
            Part::Host => "host_ns",
            Part::Copies => "copies_ns",
            Part::Erase => "erase_ns",
            Part::Bus => "bus_ns",
            Part::Switch => "switch_ns",
            Part::Blocked => "blocked_ns",
            Part::Space => "space_ns",
            Part::Buffer => "buffer_ns",
        }
    }

    /// Whether it is a wait for collection.
    pub fn is_collection(self) -> bool {
        matches!(self, Part::Copies | Part::Erase | Part::Bus | Part::Switch | Part::Blocked)
    }
}

/// The causes for which a unit does not work for the host while operations wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Copies of a collection, or of pre-migration.
    Copies,
    /// An erase.
    Erase,
    /// A suspension, its end, or a poll of the queue.
    Switch,
    /// A collection keeps the planes or blocks of those that wait closed.
    Blocked,
    /// A write finds no page.
    Space,
}

impl Cause {
    /// The part of the latency.
    #[inline(always)]
    pub(super) fn part(self) -> Part {
        match self {
            Cause::Copies => Part::Copies,
            Cause::Erase => Part::Erase,
            Cause::Switch => Part::Switch,
            Cause::Blocked => Part::Blocked,
            Cause::Space => Part::Space,
        }
    }
}

/// The purposes for which an operation occupies its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// For a request.
    ForHost,
    /// For a collection; its first part may have another cause than the rest.
    ForCollection {
        /// The first cause.
        first: Cause,
        /// For how long, in ns.
        first_ns: u64,
        /// The cause after that.
        then: Cause,
    },
}

/// Adds the time of a request's own operation: its waits for the bus by their cause, and the rest
/// as service.
#[inline(always)]
pub(super) fn add_own(parts: &mut Parts, own_ns: u64, [host_ns, collection_ns]: [u64; 2]) {
    parts[Part::Host as usize] += host_ns;
    parts[Part::Bus as usize] += collection_ns;
    parts[Part::Service as usize] += own_ns - host_ns - collection_ns;
}

/// Whether these are the parts of a latency: none is below zero or above the whole, and they add up
/// to it. One below zero has wrapped.
pub fn make_up(parts: &Parts, latency_ns: u64) -> bool {
    let sum = parts.iter().try_fold(0, |sum: u64, &part| sum.checked_add(part));
    sum == Some(latency_ns)
}

/// Adds the parts of another latency.
pub fn add(sums: &mut Parts, parts: &Parts) {
    for (sum, part) in sums.iter_mut().zip(parts) {
        *sum += part;
    }
}
