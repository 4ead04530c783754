//! The recorder: a timeline of operations, for tests and for looking at.

use super::{Happened, Watch, What};

/// One operation on a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What was done.
    pub name: &'static str,
    /// On which unit.
    pub unit: u32,
    /// From when, in ns.
    pub from_ns: u64,
    /// Until when, in ns.
    pub to_ns: u64,
}

/// Operations in order of their end.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    /// Whole operations.
    pub operations: Vec<Entry>,
    /// Bus and array phases.
    pub phases: Vec<Entry>,
    measuring: bool,
}

impl Watch for Recorder {
    const ACTIVE: bool = true;

    fn see(&mut self, _now_ns: u64, happened: Happened) {
        match happened {
            Happened::MeasuringStarts => self.measuring = true,
            Happened::Busy { what, unit, from_ns, to_ns, .. } if self.measuring => {
                let entry = |name| Entry { name, unit: unit.0, from_ns, to_ns };
                match what {
                    What::Operation(name) => self.operations.push(entry(name)),
                    What::Bus => self.phases.push(entry("bus")),
                    What::Array => self.phases.push(entry("array")),
                }
            }
            _ => {}
        }
    }
}
