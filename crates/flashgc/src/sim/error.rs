//! Why a run ended early.

use crate::ids::{PlaneId, UnitId};
use crate::store::{NoSpace, UntimedError};
use crate::workload::SourceError;

/// Why a run ended early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimError {
    /// The workload failed; the text names the place.
    Source(SourceError),
    /// Requests wait for space that collection cannot free.
    Full {
        /// A plane in which a write waits.
        plane: PlaneId,
        /// Its erased pages.
        free_pages: u32,
        /// Invalid pages in its sealed blocks.
        reclaimable: u32,
        /// Requests that wait.
        waiting: u64,
    },
    /// The simulated time does not fit into a word with the number of its slot.
    TooLong {
        /// The last instant that fits, in ns.
        limit_ns: u64,
    },
    /// Jobs issue requests at one instant without end, none of which takes time. The text names the
    /// job.
    NeverEnds(String),
    /// Units are checked again and again without effect: a fault of the engine.
    Endless {
        /// When, in ns.
        at_ns: u64,
        /// The units.
        units: Vec<UnitId>,
        /// Requests that wait.
        waiting: u64,
    },
}

impl From<SourceError> for SimError {
    fn from(error: SourceError) -> Self {
        SimError::Source(error)
    }
}

impl From<UntimedError> for SimError {
    fn from(error: UntimedError) -> Self {
        match error {
            UntimedError::Source(error) => SimError::Source(error),
            UntimedError::NoSpace(no_space) => SimError::full(no_space, 0),
        }
    }
}

impl SimError {
    pub(super) fn full(no_space: NoSpace, waiting: u64) -> Self {
        let NoSpace { plane, free_pages, reclaimable } = no_space;
        SimError::Full { plane, free_pages, reclaimable, waiting }
    }
}
