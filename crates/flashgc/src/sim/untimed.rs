//! The measured part without a clock: requests in logical time.
//!
//! Pages, collections and counts are those of the timed run. No event is posted, no unit and no bus
//! is used, and the clock stays at 0.

use super::{Progress, Sim, SimError};
use crate::store::{Untimed, UntimedError};
use crate::verify::Watch;
use crate::workload::Source;

/// Serves at most `budget` requests, and returns how far the run is.
pub(super) fn run<W: Watch>(
    sim: &mut Sim<W>,
    source: &mut dyn Source,
    budget: u64,
) -> Result<Progress, SimError> {
    let mut left = budget;
    while left > 0 && !sim.host.is_finished() {
        left -= serve_batch(sim, source, left)?;
        if sim.counters.host_written >= sim.measure.batches.next_at() {
            sim.measure.batch_ended(&sim.counters);
        }
    }
    let (finished, requests) = (sim.host.is_finished(), sim.host.requests_done());
    Ok(Progress { finished, requests, now_ns: sim.now_ns })
}

/// Serves requests until a batch of pages written is over. Returns their number.
fn serve_batch<W: Watch>(
    sim: &mut Sim<W>,
    source: &mut dyn Source,
    most: u64,
) -> Result<u64, UntimedError> {
    let next_at = sim.measure.batches.next_at();
    let mut untimed = Untimed {
        store: &mut sim.store,
        cx: context!(sim),
        batches: &mut sim.measure.batches,
        overwritten: &mut sim.measure.overwritten,
    };
    for served in 0..most {
        if untimed.cx.counters.host_written >= next_at {
            return Ok(served);
        }
        let plan = untimed.cx.plan;
        let Some(request) = sim.host.next_untimed(source, &*untimed.store, plan)? else {
            return Ok(served);
        };
        untimed.serve(&request)?;
        if untimed.store.ftl.is_read_only() {
            sim.host.end_source(&mut untimed.cx);
            return Ok(served + 1);
        }
    }
    Ok(most)
}
