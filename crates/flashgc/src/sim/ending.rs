//! The end of a run: the record over time, and the rows that are left.

use super::Sim;
use crate::measure::Results;
use crate::stats::RunOverTime;
use crate::verify::{Watch, Watchers};

/// The run over time, if it was recorded. The results include the work under way.
pub fn over_time<W: Watch>(sim: &mut Sim<W>, results: &Results) -> Option<RunOverTime> {
    let over_time = sim.watch.over_time()?;
    Some(over_time.finish(&sim.seen().last_sample(results)))
}

/// The series, where there is one, gets its last rows. The results include the work under way.
pub fn series(sim: &mut Sim<Watchers>, results: &Results) {
    let last = sim.seen().last_sample(results);
    if let Some(series) = &mut sim.watch.series {
        series.end(&last);
    }
}

/// The rows of requests and the timeline, where there are any, end; a timeline gets the work under
/// way.
pub fn rows(sim: &mut Sim<Watchers>) {
    let Some(rows) = &mut sim.watch.per_request else { return };
    let now_ns = sim.now_ns;
    rows.end();
    if rows.timeline().is_some() {
        let facts = sim.under_way();
        sim.watch.end_timeline(now_ns, &facts);
    }
}
