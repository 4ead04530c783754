//! Programs of the host that reads suspend: their pages and their time are put aside meanwhile.

use super::touched::HostPage;
use super::{Lane, Times};
use flashgc_model::device::Geometry;
use flashgc_model::ids::{Ppn, UnitId};

/// A program of the host that was suspended.
#[derive(Clone, Default)]
pub(super) struct Yielded {
    pages: Vec<HostPage>,
    /// Array time so far, in ns.
    seen_ns: u64,
    /// How often it was suspended, and the time of resuming it, in ns.
    count: u32,
    resumes_ns: u64,
}

impl Yielded {
    /// Whether a program is suspended now.
    pub(super) fn has_pages(&self) -> bool {
        !self.pages.is_empty()
    }

    /// The pages of the program that is suspended now.
    pub(super) fn programmed(&self) -> Vec<Ppn> {
        self.pages.iter().map(|page| page.ppn).collect()
    }

    /// An operation of the host has ended. Of the suspended program, the time of resuming it, in
    /// ns.
    pub(super) fn ends(&mut self) -> u64 {
        if self.has_pages() { 0 } else { std::mem::take(self).resumes_ns }
    }
}

impl Times {
    /// The suspended program continues. Each of its operations of the host reports that.
    pub(super) fn program_goes_on(&mut self, now_ns: u64, unit: UnitId) {
        let resume_ns = self.timing.suspend.map_or(0, |cost| cost.resume_ns);
        let lane = &mut self.lanes[unit.index()];
        if lane.yielded.has_pages() {
            assert!(
                lane.host.is_empty() && lane.seen_ns[0] == 0,
                "at {now_ns} ns unit {} resumed a program before it had ended a read",
                unit.0
            );
            lane.host = std::mem::take(&mut lane.yielded.pages);
            lane.seen_ns[0] = std::mem::take(&mut lane.yielded.seen_ns);
            lane.yielded.resumes_ns += resume_ns;
        }
    }

    /// The program of the host in a unit was suspended. Each of its operations reports that.
    pub(super) fn yields(&mut self, now_ns: u64, unit: UnitId) {
        let mut lane = std::mem::take(&mut self.lanes[unit.index()]);
        if !lane.yielded.has_pages() {
            let rules = self.timing.host_programs().expect("a device that suspends programs");
            let pages = lane.host.clone();
            let (whole_ns, rounded) = self.host_ns(&mut lane);
            let seen_ns = std::mem::take(&mut lane.seen_ns[0]);
            self.leaves_the_buffer(now_ns, &mut lane);
            let left_ns = (whole_ns + rounded + lane.yielded.resumes_ns).saturating_sub(seen_ns);
            assert!(pages.iter().any(|page| page.programs), "a read of the host was suspended");
            lane.yielded.count += 1;
            assert!(
                left_ns > rules.min_left_ns && lane.yielded.count <= rules.most_suspends,
                "at {now_ns} ns unit {} suspended a program for the {}. time, with {left_ns} ns \
                 left",
                unit.0,
                lane.yielded.count
            );
            (lane.yielded.pages, lane.yielded.seen_ns) = (pages, seen_ns);
        }
        self.lanes[unit.index()] = lane;
    }

    /// What has begun in parallel with a program that is suspended now: slots that wait in the
    /// controller, since they fill no program. Others have the page buffer that the reads need.
    fn leaves_the_buffer(&self, now_ns: u64, lane: &mut Lane) {
        let waits = |page: &HostPage| page.programs && !self.ends_program(page.ppn);
        assert!(
            lane.next.iter().all(waits) && lane.next_ns == 0,
            "at {now_ns} ns reads suspended a program while the second page buffer was taken"
        );
        lane.next.clear();
        lane.beside = None;
    }

    /// An operation has ended while a program of the host is suspended in its unit: the part of the
    /// program before, the suspension, or a read of the host.
    pub(super) fn works_meanwhile(
        &mut self,
        now_ns: u64,
        unit: UnitId,
        (name, gc): (&'static str, bool),
        at: &Geometry,
    ) {
        assert!(!gc, "at {now_ns} ns unit {} collected during a suspended program", unit.0);
        match name {
            "read" | "read-rest" => self.operation(now_ns, unit, (name, 0), at),
            "suspend" => {
                let seen_ns = std::mem::take(&mut self.lanes[unit.index()].seen_ns[0]);
                let cost_ns = self.timing.suspend.map_or(0, |cost| cost.suspend_ns);
                assert_eq!(seen_ns, cost_ns, "at {now_ns} ns a suspension had another length");
            }
            _ => {
                let lane = &self.lanes[unit.index()];
                let is_before = matches!(name, "program" | "flush");
                assert!(
                    is_before && lane.host.is_empty() && lane.seen_ns[0] == 0,
                    "at {now_ns} ns unit {} did a {name} during a suspended program",
                    unit.0
                );
            }
        }
    }
}
