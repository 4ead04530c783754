//! The records of requests: those that have yet to come, those under way, and those that are done.

use crate::workload::{HostOp, HostRequest, SourceError};

/// Why no further request can come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The workload failed; the text names the place.
    Source(SourceError),
    /// The next request comes after the last instant that can be simulated.
    TooLong,
    /// Requests would come at this instant without end. The text is for users.
    NeverEnds(String),
}

/// A request that is done.
#[derive(Clone, Copy, Debug)]
pub struct Served {
    /// Its operation.
    pub op: HostOp,
    /// Its bytes.
    pub bytes: u64,
    /// From its arrival until now, in ns.
    pub latency_ns: u64,
}

/// A request whose pages are being accepted.
#[derive(Clone)]
pub(super) struct Cutting {
    pub(super) id: u32,
    pub(super) request: HostRequest,
    pub(super) next: u32,
}

/// A request under way.
#[derive(Clone, Copy)]
pub(super) struct Request {
    pub(super) arrived_ns: u64,
    pub(super) bytes: u64,
    pub(super) pages_left: u32,
    /// The job that it belongs to, where there are several.
    pub(super) job: u16,
    pub(super) op: HostOp,
    pub(super) hint: u8,
}

/// The requests under way, in a slab, and those that have yet to come.
#[derive(Clone, Default)]
pub(super) struct Requests {
    pub(super) slab: Vec<Request>,
    pub(super) free: Vec<u32>,
    pub(super) arrival: Option<HostRequest>,
    pub(super) source_ended: bool,
    /// Whether jobs issue nothing more, and end with the requests under way.
    pub(super) stops: bool,
    /// Requests of a closed loop that may be issued now; of jobs, whether to ask the source.
    pub(super) to_issue: u32,
    /// When the end of a request is a pause, so that its caller can answer.
    pub(super) pauses: Pauses,
    /// Answers of the caller that may be issued now.
    pub(super) answers: u32,
    /// Requests of jobs that are done, of which the source has not been notified.
    pub(super) of_jobs: Vec<Done>,
    pub(super) outstanding: u64,
    pub(super) done: u64,
}

/// Which ends of requests are pauses of an open loop, in which its caller may issue more. Nothing
/// else starts in a pause but what would start while a closed loop has a request to issue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pauses {
    /// None.
    #[default]
    Never,
    /// Those after which no request is under way, and none is known that comes.
    AtRest,
    /// All.
    Always,
}

impl Pauses {
    /// Whether the end of a request is one, with this many left under way.
    #[inline(always)]
    pub(super) fn follow(self, outstanding: u64, awaits_arrival: bool) -> bool {
        match self {
            Pauses::Never => false,
            Pauses::AtRest => outstanding == 0 && !awaits_arrival,
            Pauses::Always => true,
        }
    }
}

/// A request of a job that is done.
#[derive(Clone)]
pub(super) struct Done {
    pub(super) job: u16,
    pub(super) op: HostOp,
    pub(super) bytes: u64,
    pub(super) latency_ns: u64,
}
