//! The early end of a session, in words for users.

use crate::ids::{PlaneId, UnitId};
use crate::sim::SimError;
use crate::store::UntimedError;
use crate::workload::SourceError;
use std::fmt;

/// The reason for the early end of a session. The text is ready for users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError {
    /// The error, its place, and the remedy.
    pub text: String,
    /// Whether the cause is the trace, and not the configuration or the drive.
    pub in_trace: bool,
    /// The plane without space, where it has invalid pages that a collection would free.
    pub uncollected: Option<PlaneId>,
}

impl RunError {
    pub(super) fn new(text: impl Into<String>) -> Self {
        RunError { text: text.into(), in_trace: false, uncollected: None }
    }

    pub(super) fn in_trace(text: impl Into<String>) -> Self {
        RunError { text: text.into(), in_trace: true, uncollected: None }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for RunError {}

impl From<SourceError> for RunError {
    fn from(error: SourceError) -> Self {
        RunError::in_trace(error.0)
    }
}

impl From<UntimedError> for RunError {
    fn from(error: UntimedError) -> Self {
        SimError::from(error).into()
    }
}

impl From<SimError> for RunError {
    fn from(error: SimError) -> Self {
        let uncollected = match &error {
            SimError::Full { plane, reclaimable, .. } => (*reclaimable > 0).then_some(*plane),
            _ => None,
        };
        let text = match error {
            SimError::Source(error) => return error.into(),
            SimError::NeverEnds(why) => why,
            SimError::Full { plane: PlaneId(plane), free_pages, reclaimable, waiting } => format!(
                "error: the drive is full (waiting requests: {waiting}): plane {plane} has \
                 {free_pages} erased pages, and {reclaimable} invalid ones to collect\n  = help: \
                 set a smaller user capacity (`device.exported`), or trim"
            ),
            SimError::TooLong { limit_ns } => format!(
                "error: the run exceeds {} days of simulated time\n  = help: check the trace for a \
                 wrong time stamp, scale its times down (`workload.trace.time_scale`), or cut it \
                 (`workload.trace.length`)",
                limit_ns / 86_400_000_000_000
            ),
            SimError::Endless { at_ns, units, waiting } => format!(
                "error: the simulation is stuck at {at_ns} ns: nothing starts on {} after repeated \
                 attempts (waiting requests: {waiting})\n  = help: this is a fault of flashgc, not \
                 of the configuration: please report it, with the configuration and the seed",
                names_of(&units)
            ),
        };
        RunError { uncollected, ..RunError::new(text) }
    }
}

/// The units in words, the first few by number.
fn names_of(units: &[UnitId]) -> String {
    const SHOWN: usize = 8;
    let numbers: Vec<String> = units.iter().take(SHOWN).map(|unit| unit.0.to_string()).collect();
    let word = if units.len() == 1 { "unit" } else { "units" };
    match units.len().checked_sub(SHOWN).filter(|&more| more > 0) {
        Some(more) => format!("{word} {} and {more} more", numbers.join(", ")),
        None => format!("{word} {}", numbers.join(", ")),
    }
}
