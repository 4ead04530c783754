//! The state that a watcher sees between two events.

use super::{Results, Sim};
use crate::ids::{PlaneId, UnitId};
use crate::stats::series::Sample;
use crate::verify::{Happened, Watch, Watchers};

impl<W: Watch> Sim<W> {
    /// A watcher may take a sample before time advances.
    #[inline(always)]
    pub(super) fn let_look(&mut self, to_ns: u64) {
        if W::ACTIVE && self.watch.looks_before(to_ns) {
            let sample = self.sample();
            self.watch.look(to_ns, &sample);
        }
    }

    /// The present state, with what arrays have done of the phases that are under way.
    fn sample(&self) -> Sample {
        let mut sample = Sample {
            now_ns: self.now_ns,
            gc_moved: self.counters.gc_moved,
            gc_busy_ns: self.counters.collecting_ns(),
            gc_units: 0,
            used_pages: self.used_pages(),
        };
        for unit in (0..self.plan.geometry.units).map(UnitId) {
            if let Some(since_ns) = self.flash.collects_since_ns(unit) {
                sample.gc_units += 1;
                sample.gc_busy_ns += self.now_ns - since_ns;
            }
        }
        sample
    }

    /// Pages for data that are not erased, valid and invalid ones.
    fn used_pages(&self) -> u64 {
        let geometry = &self.plan.geometry;
        let all = u64::from(geometry.planes) * geometry.shape.data_pages_per_plane();
        all - self.ftl.frontiers.free_total()
    }

    /// The erased blocks of each plane when measuring begins.
    pub(super) fn tell_free_blocks(&mut self) {
        if W::ACTIVE {
            for plane in (0..self.plan.geometry.planes).map(PlaneId) {
                let blocks = self.ftl.frontiers.free_blocks(plane);
                self.tell(Happened::FreeBlocks { plane, blocks });
            }
        }
    }
}

impl Sim<Watchers> {
    /// The series, where there is one, gets its last rows. The results include the work under way.
    pub fn end_series(&mut self, results: &Results) {
        let used_pages = self.used_pages();
        if let Some(series) = &mut self.watch.series {
            let counters = &results.counters;
            let (gc_moved, gc_busy_ns) = (counters.gc_moved, counters.collecting_ns());
            let now_ns = self.now_ns;
            series.end(&Sample { now_ns, gc_moved, gc_busy_ns, gc_units: 0, used_pages });
        }
    }
}
