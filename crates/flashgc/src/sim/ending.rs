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
    if let Some(series) = sim.watch.in_detail_mut().and_then(|own| own.series.as_mut()) {
        series.end(&last);
    }
}

/// The rows of requests and the timeline, where there are any, end; a timeline gets the work under
/// way.
pub fn rows(sim: &mut Sim<Watchers>) {
    let is_drawn = sim.watch.per_request().is_some_and(|rows| rows.timeline().is_some());
    let under_way = if is_drawn { sim.under_way() } else { Vec::new() };
    let now_ns = sim.now_ns;
    let own = sim.watch.in_detail_mut();
    let Some(rows) = own.and_then(|own| own.per_request.as_mut()) else { return };
    rows.end();
    if is_drawn {
        rows.end_timeline(now_ns, &under_way);
    }
}

impl Sim<Watchers> {
    /// The checker, where there is one, compares the whole drive with its own.
    pub fn audit(&self) {
        if let Some(checker) = self.watch.checker() {
            self.seen().audit(checker);
        }
    }

    /// The checker compares its own sums with those of the report.
    pub fn audit_counters(&self, results: &Results) {
        if let Some(checker) = self.watch.checker() {
            self.seen().audit_counters(checker, results);
        }
    }
}
