//! The slot *preemption*: when may a waiting request of the host preempt a collection?
//!
//! Paper preemptible-gc. A copy is a read and a program, with two points at which the collector
//! polls the queue (section III-A): A, when the page is in its register and not yet programmed, and
//! B, between copies. Suspension preempts at any other point (section IV).

use serde::Serialize;

/// The rules by which the host preempts collections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Preemption {
    /// Whether requests are served between the copies of a collection; if not, only where its
    /// pacing pauses.
    #[serde(skip_serializing_if = "is_true")]
    pub between_copies: bool,
    /// Whether a request for a page in the register is served from there (section III-B).
    pub merge: bool,
    /// Whether a request overlaps its transfer with an operation of the collection that does the
    /// same (section III-C).
    pub pipeline: bool,
    /// The time for which a poll of the queue occupies the unit at each point, in ns (section
    /// III-A2).
    pub poll_ns: u64,
    /// The operations of a collection that are suspended for a request.
    pub suspends: Suspends,
    /// Whether an operation that ends sooner than it could be suspended runs to its end.
    pub worth_it: bool,
    /// The most suspensions of one operation.
    pub most_suspends: u32,
}

impl Preemption {
    /// Requests are served where the pacing of a collection pauses, and nowhere else.
    pub const IN_PAUSES: Preemption = Preemption {
        between_copies: false,
        merge: false,
        pipeline: false,
        poll_ns: 0,
        suspends: Suspends::Nothing,
        worth_it: false,
        most_suspends: 0,
    };

    /// The rules with polls that take no time, for collections without cost.
    #[must_use]
    pub fn without_polls(self) -> Self {
        Preemption { poll_ns: 0, ..self }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_true(flag: &bool) -> bool {
    *flag
}

/// The operations of a collection that a request suspends.
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
    /// Whether a request suspends any operation at all.
    #[inline(always)]
    pub fn is_some(self) -> bool {
        self != Suspends::Nothing
    }

    /// The words of the configuration.
    pub const WORDS: [(&'static str, Suspends); 2] =
        [("erase", Suspends::Erase), ("any", Suspends::Any)];
}
