//! The entries of a timeline.

use crate::verify::requests::RequestRow;
use crate::verify::steps::Step;
use crate::verify::unit_work::{Collection, Work};
use flashgc_model::gc::JobRow;
use flashgc_model::ids::{BusId, UnitId};
use flashgc_workload::HostOp;

/// Requests that one operation or collection is linked to. Those behind them in the queue wait for
/// it as well.
pub const LINKS_MAX: usize = 16;

/// An entry of the timeline.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'a> {
    /// An operation of a unit.
    Operation(&'a Work),
    /// A phase in the array of a unit.
    Array {
        /// The unit.
        unit: UnitId,
        /// For collection, not for the host.
        gc: bool,
    },
    /// A transfer on a bus, out of the register of a unit or into it.
    Transfer {
        /// The bus.
        bus: BusId,
        /// The unit.
        unit: UnitId,
        /// For collection, not for the host.
        gc: bool,
    },
    /// The data of a request on the host's link.
    Link {
        /// The request, by its number in order of arrival.
        request: u64,
        /// A write goes in, a read comes out.
        op: HostOp,
    },
    /// A collection, from the choice of its victim to its end.
    Collection {
        /// Its blocks.
        collection: &'a Collection,
        /// Its row in the log of collections, if it has ended.
        row: Option<&'a JobRow>,
    },
    /// A request, from its arrival to its end.
    Request {
        /// Its row in the log of requests.
        row: &'a RequestRow,
        /// Its place among the requests under way, which no other one has meanwhile.
        slot: u32,
        /// Its page operations.
        pages: u32,
        /// Its steps, and the steps of its page operation that was done last, each with its time in
        /// ns.
        steps: &'a [(u64, Step)],
    },
    /// The value of a counter from this instant on.
    Count(Counter, f64),
}

/// A counter of the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counter {
    /// Requests under way.
    Outstanding,
    /// Erased blocks of the drive that are not open.
    FreeBlocks,
    /// Pages programmed for each page of the host, so far.
    WriteAmplification,
    /// Page operations in the queue of a unit.
    Waiting(UnitId),
}

/// An entry with its time and its links. An entry has an end at its beginning if it is a counter.
#[derive(Clone, Copy, Debug)]
pub struct Stretch<'a> {
    /// Start, in ns.
    pub from_ns: u64,
    /// End, in ns.
    pub to_ns: u64,
    /// The entry.
    pub entry: Entry<'a>,
    /// Identifiers that a pair of entries shares: a request, and the work that it waited for or
    /// that served it.
    pub links: &'a [u64],
}

/// Receives the entries, each when it ends.
pub type TimelineSink = Box<dyn FnMut(Stretch<'_>) + Send>;

/// The part of a run that is recorded, and who receives it.
pub struct TimelineRequest {
    /// Entries that end before this instant are left out, in ns.
    pub from_ns: u64,
    /// Entries that begin at this instant or later are left out, in ns.
    pub to_ns: u64,
    /// The units that are recorded; all without a list. Of the requests, those with a page there.
    pub units: Option<Vec<u32>>,
    /// Entries after this number are left out.
    pub entries_max: u64,
    /// Receives the entries.
    pub sink: TimelineSink,
}
