//! The slot *preemption*: when may a waiting request of the host get into an open job?
//!
//! Paper preemptible-gc. A copy is a read and a program, with two points at which the collector
//! looks at what waits (section III-A): A, when the page is in its register and not yet
//! programmed, and B, between copies. Suspension gets in anywhere else (section IV).

use serde::Serialize;

/// How the host gets into open jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Preemption {
    /// Whether requests get in between the copies of a job; if not, only between its turns.
    #[serde(skip_serializing_if = "is_true")]
    pub between_copies: bool,
    /// Whether a request for a page in the register is served from there (section III-B).
    pub merge: bool,
    /// Whether a request overlaps its transfer with an operation of the job that does the same
    /// (section III-C).
    pub pipeline: bool,
    /// What looking at the queue costs the unit at each point, in ns (section III-A2).
    pub poll_ns: u64,
    /// Which operations of a job are suspended for a request.
    pub suspends: Suspends,
    /// Whether an operation that ends sooner than it could be suspended is left to end.
    pub worth_it: bool,
    /// How often one operation is suspended at most.
    pub most_suspends: u32,
}

impl Preemption {
    /// Requests get in between the turns of a job and nowhere else.
    pub const BETWEEN_SLICES: Preemption = Preemption {
        between_copies: false,
        merge: false,
        pipeline: false,
        poll_ns: 0,
        suspends: Suspends::Nothing,
        worth_it: false,
        most_suspends: 0,
    };
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_true(flag: &bool) -> bool {
    *flag
}

/// Which operations of a job a request suspends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Suspends {
    /// None: requests wait for the next point.
    Nothing,
    /// Erases.
    Erase,
    /// Reads, programs and erases.
    Any,
}

impl Suspends {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, Suspends); 2] =
        [("erase", Suspends::Erase), ("any", Suspends::Any)];
}
