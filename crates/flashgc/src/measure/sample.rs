//! The state that a watcher sees between two events.

use super::{Results, Seen};
use crate::stats::series::Sample;

impl Seen<'_> {
    /// The present state, with what arrays have done of the phases that are under way.
    pub fn sample(&self) -> Sample {
        let mut sample = Sample {
            now_ns: self.now_ns,
            gc_moved: self.counters.gc_moved,
            gc_busy_ns: self.counters.collecting_ns(),
            gc_units: 0,
            used_pages: self.used_pages(),
        };
        for unit in self.at().units() {
            if let Some(since_ns) = self.flash.collects_since_ns(unit) {
                sample.gc_units += 1;
                sample.gc_busy_ns += self.now_ns - since_ns;
            }
        }
        sample
    }

    /// The last sample of a run with these results, which include the work under way.
    pub fn last_sample(&self, results: &Results) -> Sample {
        let counters = &results.counters;
        let (gc_moved, gc_busy_ns) = (counters.gc_moved, counters.collecting_ns());
        let (now_ns, used_pages) = (self.now_ns, self.used_pages());
        Sample { now_ns, gc_moved, gc_busy_ns, gc_units: 0, used_pages }
    }

    /// Pages for data that are not erased, valid and invalid ones.
    fn used_pages(&self) -> u64 {
        self.plan.geometry.data_pages - self.store.ftl.frontiers.free_total()
    }
}
