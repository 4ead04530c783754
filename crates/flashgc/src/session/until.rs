//! A simulation runs up to an instant.

use crate::sim::{Compiled, Progress, Sim, SimError, live};
use crate::workload::Source;

/// Runs at most this number of events, up to and with this instant.
pub(super) fn run<W: Compiled>(
    sim: &mut Sim<W>,
    source: &mut dyn Source,
    events: u64,
    until_ns: u64,
) -> Result<Progress, SimError> {
    if until_ns == u64::MAX {
        return sim.run(source, events);
    }
    for _ in 0..events {
        let is_later = live::next_ns(sim).is_some_and(|next_ns| next_ns > until_ns);
        if is_later && !sim.seen().host.may_issue() {
            break;
        }
        let progress = sim.run(source, 1)?;
        if progress.finished {
            return Ok(progress);
        }
    }
    sim.run(source, 0)
}
