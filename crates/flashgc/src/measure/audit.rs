//! The checker outside the model compares the whole drive, and all sums, with its own.

use super::{Results, Seen};
use crate::device::Spent;
use crate::plan::Stage;
use crate::stats::Counters;
use crate::verify::checker::{Busy, Checker};

impl Seen<'_> {
    /// The checker, where there is one, compares the whole drive with its own.
    pub fn audit(&self, checker: &Checker) {
        checker.audit(&self.store.ftl);
        checker.audit_buffer(self.host.buffered());
    }

    /// The checker compares its own sums with those of the report.
    pub fn audit_counters(&self, checker: &Checker, results: &Results) {
        let counters = &results.counters;
        let programs = counters.array_programs + results.flushes_open;
        assert_eq!(checker.host_programs + checker.flushes, programs, "programs for the host");
        assert_eq!(checker.flushes, counters.flushed + results.flushes_open, "flushes");
        assert_eq!(checker.erases, counters.erases, "erases");
        // Copies of a collection that is still open are bound before they end.
        assert!(checker.copies >= counters.gc_moved, "copies: {}", checker.copies);
        if results.jobs_open == 0 {
            assert_eq!(checker.copies, counters.gc_moved, "copies");
        }
        assert!(checker.moved_ahead >= counters.background_moved, "pages ahead");
        if results.ahead_open == 0 {
            assert_eq!(checker.moved_ahead, counters.background_moved, "pages ahead");
        }
        if results.jobs_open + results.flushes_open == 0 {
            assert_eq!(checker.summaries, counters.overhead, "pages of summaries");
        }
        assert_eq!(checker.padded, counters.padded, "slots without data");
        self.audit_collection_time(counters);
        let idle = [results.unit.idle, results.bus.idle];
        assert!(idle.iter().all(|share| (0.0..=1.0).contains(share)), "time: {idle:?}");
        self.audit_times(checker.busy());
    }

    /// The time of the collections that ended: a step of copies is a read and a program, however
    /// many pages it moves, and an erase frees its blocks in one erase time (paper parallel-gc,
    /// section V-D). Copies that pay for summaries take longer; where layers differ, reads have
    /// errors or programs two passes, the checker calculates the time of each operation.
    fn audit_collection_time(&self, counters: &Counters) {
        if self.plan.untimed {
            return;
        }
        let timing = &self.plan.collection_timing();
        let differs = self.prices.needs_pages() || timing.retry.is_some();
        // Without GC cost, programs that take writes in have a time, as the checker knows.
        let joins = !self.plan.gc.takes_time() && counters.merged_writes > 0;
        if timing.times_summaries_of_copies() || differs || joins || timing.passes.is_some() {
            return;
        }
        // Where a program joins pages, a step reads as many flash pages as they come from.
        let are_apart =
            self.plan.gc.preemption.is_some() || self.plan.geometry.shape.program_slots > 1;
        let reads = if are_apart { counters.read_steps } else { counters.copy_steps };
        let programs = counters.copy_steps + counters.merged_programs;
        let steps_ns = reads * timing.read_ns + programs * timing.program_ns + counters.gc_extra_ns;
        // Pages that go to other units are programmed one by one, in as many units as possible.
        let sent = self.plan.gc.copy.is_sent() && !self.plan.gc.copy.is_shared();
        let sent_ns = (counters.moved_in_jobs - counters.copy_steps) * timing.program_ns;
        let copies_ns = steps_ns + if sent { sent_ns } else { 0 };
        let expected_ns = copies_ns + counters.erase_operations * timing.erase_ns;
        let closed_ns = counters.gc_busy_ns - counters.gc_busy_open_ns;
        assert_eq!(closed_ns, expected_ns, "array time of the jobs that ended");
    }

    /// Where no operation is cut off at the end, the checker saw every ns that was accounted for.
    fn audit_times(&self, seen: Busy) {
        if self.at().units().any(|unit| !self.flash.is_free(unit)) {
            return;
        }
        let units = Spent::sum(self.flash.spent_of_units(self.now_ns));
        let buses = Spent::sum(self.flash.spent_of_buses(self.now_ns));
        assert_eq!([units.host_ns, units.gc_ns], seen.unit_ns, "time of the units");
        assert_eq!([buses.host_ns, buses.gc_ns], seen.bus_ns, "time of the buses");
        let used = |stage| self.host.stage_use(stage, self.now_ns);
        let spent_ns = |stage| used(stage).map_or(0, |used| used.spent_ns);
        let link_ns = [Stage::Link, Stage::LinkIn, Stage::LinkOut].map(spent_ns);
        // The checker counts a crossing when it ends.
        if self.host.outstanding() == 0 {
            assert_eq!(link_ns, seen.link_ns, "time of the host's link");
        }
        let busy_ns = self.counters.gc_busy_ns + self.counters.background_busy_ns;
        assert_eq!(busy_ns, seen.array_ns[1], "array time of collection");
    }
}
