//! What a watcher sees of the state between two events.

use super::{Results, Sim};
use crate::device::Phase;
use crate::ids::PlaneId;
use crate::stats::series::Sample;
use crate::verify::{Happened, Watch, Watchers};

impl<W: Watch> Sim<W> {
    /// A watcher may look before time goes on.
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
            gc_busy_ns: self.counters.gc_busy_ns,
            gc_units: 0,
        };
        for unit in &self.units {
            if unit.worker.is_gc() && matches!(unit.phases.get(unit.at), Some(Phase::Array(_))) {
                sample.gc_units += 1;
                sample.gc_busy_ns += self.now_ns - unit.phase_since_ns;
            }
        }
        sample
    }

    /// What each plane has when measuring begins.
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
    /// The series, where there is one, gets its last rows. The results have what was under way.
    pub fn end_series(&mut self, results: &Results) {
        if let Some(series) = &mut self.watch.series {
            let counters = &results.counters;
            let (gc_moved, gc_busy_ns) = (counters.gc_moved, counters.gc_busy_ns);
            series.end(&Sample { now_ns: self.now_ns, gc_moved, gc_busy_ns, gc_units: 0 });
        }
    }
}
