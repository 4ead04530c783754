//! A watcher of a run.

use super::Happened;
use super::attended::Attended;
use super::blame::Blame;
use crate::stats::OverTime;
use crate::stats::series::Sample;

/// A watcher. It may reject an event by a panic: the run then ends with its message.
pub trait Watch {
    /// Whether it needs facts about operations. Otherwise it gets those about requests, blocks and
    /// collections.
    const OPERATIONS: bool = true;

    /// Whether it needs the names and times of operations ([`Happened::Busy`]).
    fn needs_names(&self) -> bool {
        true
    }

    /// Whether it needs each copy of a collection, when it is made. Otherwise copies that no
    /// request can preempt run unseen (`collect/unseen.rs`): their unit works for one operation.
    fn needs_copies(&self) -> bool {
        true
    }

    /// Whether it needs a row for each collection.
    fn needs_rows(&self) -> bool {
        true
    }

    /// Takes an event at this instant.
    fn observe(&mut self, now_ns: u64, happened: Happened);

    /// Whether it takes a sample before time advances to this instant.
    #[inline(always)]
    fn looks_before(&self, to_ns: u64) -> bool {
        let _ = to_ns;
        false
    }

    /// The parts of the latencies, if it splits them.
    fn blame(&self) -> Option<&Blame> {
        None
    }

    /// The record of the run over time, which ends with this call.
    fn over_time(&mut self) -> Option<OverTime> {
        None
    }

    /// The requests of others, if recorded.
    fn attended(&mut self) -> Option<&mut Attended> {
        None
    }

    /// Time advances to this instant. Nothing happens before it.
    fn look(&mut self, to_ns: u64, sample: &Sample) {
        let _ = (to_ns, sample);
    }
}
