//! Concurrent jobs: each is a closed loop of its own depth, or a paced stream, over its own part of
//! the drive. The last one may replay a trace, whose requests come at the times of the trace.
//!
//! When a request of a job is issued depends on when others are done, so the simulation asks this
//! source at each instant what to do ([`Jobs::turn`]) and tells it which requests are done. Each
//! clone of a job draws from streams of its own: the order in which requests of different jobs
//! alternate depends on the drive, but the sequence of each clone does not.

mod clone;
mod files;
mod flow;
mod free;
mod layout;
mod overwrites;
mod pass;
mod place;
mod plan;
mod rates;
mod tally;
mod walk;

pub use layout::{Layout, Misfit, Span};
pub use overwrites::JobsOverwrites;
pub use plan::{
    CLONES_MAX, Extent, File, FlowPlan, JobPlan, JobsPlan, Passes, Places, Think, Zone,
};
pub use rates::RateCap;
pub use tally::Tally;
pub use walk::{FilesPlan, Order, Strides, Walk};

use super::replay::Replay;
use super::{HostOp, HostRequest, Source, SourceError, Turn};
use clone::{Clone, Stage};
use flow::Flows;
use std::collections::BTreeSet;

/// The requests of concurrent jobs.
pub struct Jobs {
    clones: Vec<Clone>,
    /// Clones that may issue a request, by time and then in the order in which they became ready.
    ready: BTreeSet<(u64, u64, u16)>,
    order: u64,
    /// Clones of the group under way that have not ended.
    left: usize,
    /// The first clone of the next group.
    next: usize,
    begun: bool,
    /// The ends of the ramps under way, with their jobs.
    ramps: BTreeSet<(u64, u16)>,
    flows: Flows,
}

impl Jobs {
    /// Over a drive with this number of user pages.
    ///
    /// # Panics
    /// If the files do not fit the drive: [`Layout::new`] reports it before a run.
    pub fn new(plan: &JobsPlan, exported_pages: u32, page_bytes: u64, seed: u64) -> Self {
        let layout = Layout::new(plan, u64::from(exported_pages) * page_bytes, page_bytes);
        let layout = layout.expect("the files of the jobs were checked to fit");
        let clone = |(number, span): (usize, &Span)| {
            Clone::new(&plan.jobs[span.job], span, number, page_bytes, seed)
        };
        Jobs {
            clones: layout.spans.iter().enumerate().map(clone).collect(),
            ready: BTreeSet::new(),
            order: 0,
            left: 0,
            next: 0,
            begun: false,
            ramps: BTreeSet::new(),
            flows: Flows::new(&plan.jobs, &layout.spans),
        }
    }

    /// The last job replays this trace.
    pub fn replay(&mut self, replay: Replay) {
        if let Some(last) = self.clones.last_mut() {
            last.replay(replay);
        }
    }

    /// Lines of a trace that were skipped.
    pub fn bad_rows(&self) -> u64 {
        self.clones.last().map_or(0, Clone::bad_rows)
    }

    /// The next group begins: clones up to the next that waits for those before it.
    fn begin_group(&mut self, now_ns: u64) {
        let first = self.next;
        while self.next < self.clones.len()
            && (self.next == first || !self.clones[self.next].begins_group)
        {
            let at_ns = now_ns.saturating_add(self.clones[self.next].start_ns());
            self.make_ready(self.next as u16, at_ns);
            self.next += 1;
        }
        self.left = self.next - first;
    }

    fn make_ready(&mut self, job: u16, at_ns: u64) {
        self.ready.insert((at_ns, self.order, job));
        self.order += 1;
        self.clones[usize::from(job)].is_ready = true;
    }

    /// Puts a clone back in the order if it may issue a request, and ends it if it has issued all.
    fn put_back(&mut self, job: u16, now_ns: u64) {
        let clone = &mut self.clones[usize::from(job)];
        if clone.is_ready {
            return;
        }
        if let Some(at_ns) = clone.next_ns(now_ns) {
            return self.make_ready(job, at_ns);
        }
        if clone.stage == Stage::Drains && clone.in_flight() == 0 {
            clone.end(now_ns);
            self.left -= 1;
            self.flows.leave(job);
            self.release(job, now_ns);
            if self.left == 0 {
                self.begin_group(now_ns);
            }
        }
    }

    /// A clone above its share waits for others of its flow, or for its end.
    fn hold(&mut self, job: u16) {
        let clone = &mut self.clones[usize::from(job)];
        clone.is_ready = true;
        let ends = clone.ends_ns().map(|at_ns| (at_ns, self.order, job));
        self.order += 1;
        self.ready.extend(ends);
        self.flows.wait(job, ends);
    }

    /// Clones of the flow of this one continue, where they are no longer above their shares.
    fn release(&mut self, job: u16, now_ns: u64) {
        for (clone, ends) in self.flows.released(job) {
            ends.inspect(|ends| _ = self.ready.remove(ends));
            self.make_ready(clone, now_ns);
        }
    }

    /// The ramp of a job, if one is over by now. All of a job is counted that has ended within it.
    fn ramp_over(&mut self, now_ns: u64) -> Option<u16> {
        while let Some(&(at_ns, job)) = self.ramps.first().filter(|ramp| ramp.0 <= now_ns) {
            self.ramps.remove(&(at_ns, job));
            let own = || self.clones.iter().filter(|clone| clone.job == usize::from(job));
            if own().any(|clone| clone.stage != Stage::Ended) {
                let own = self.clones.iter_mut().filter(|clone| clone.job == usize::from(job));
                own.for_each(|clone| clone.end_ramp(at_ns));
                return Some(job);
            }
        }
        None
    }

    /// The counts of each job, over its clones.
    pub fn tallies(&self) -> Vec<Tally> {
        let mut tallies: Vec<Tally> = Vec::new();
        for clone in &self.clones {
            match tallies.last_mut().filter(|last| last.job == clone.job) {
                Some(last) => last.add(&clone.tally),
                None => tallies.push(clone.tally.clone()),
            }
        }
        tallies
    }
}

impl Source for Jobs {
    fn next(&mut self) -> Result<Option<HostRequest>, SourceError> {
        Err(SourceError("the requests of jobs depend on the drive".into()))
    }

    fn turn(&mut self, now_ns: u64) -> Result<Turn, SourceError> {
        if !self.begun {
            self.begun = true;
            self.begin_group(now_ns);
        }
        if let Some(job) = self.ramp_over(now_ns) {
            return Ok(Turn::RampEnds(job));
        }
        loop {
            let ramp_ns = self.ramps.first().map(|ramp| ramp.0);
            let Some(&(at_ns, order, job)) = self.ready.first() else {
                return Ok(if self.left == 0 { Turn::End } else { Turn::Wait(ramp_ns) });
            };
            if at_ns > now_ns {
                return Ok(Turn::Wait(Some(ramp_ns.map_or(at_ns, |ramp_ns| at_ns.min(ramp_ns)))));
            }
            self.ready.remove(&(at_ns, order, job));
            let clone = &mut self.clones[usize::from(job)];
            clone.is_ready = false;
            let begins = clone.stage == Stage::Ahead;
            if !begins && !clone.is_due_to_end(now_ns) && self.flows.holds(job) {
                self.hold(job);
                continue;
            }
            self.flows.forget(job);
            let request = clone.issue(now_ns)?;
            if let Some(why) = clone.never_ends() {
                return Ok(Turn::NeverEnds(why));
            }
            if let Some(ramp_ns) = clone.ramp_ns().filter(|_| begins) {
                self.ramps.insert((now_ns.saturating_add(ramp_ns), clone.job as u16));
            }
            self.put_back(job, now_ns);
            if let Some(request) = request {
                self.flows.issued(job);
                self.release(job, now_ns);
                return Ok(Turn::Request(HostRequest { job, ..request }));
            }
        }
    }

    fn stop(&mut self, now_ns: u64) {
        let next = std::mem::replace(&mut self.next, self.clones.len());
        self.ready.clear();
        self.ramps.clear();
        self.flows.stop();
        for job in 0..self.clones.len() {
            let clone = &mut self.clones[job];
            clone.is_ready = false;
            match clone.stage {
                Stage::Ended => {}
                Stage::Ahead => {
                    clone.stage = Stage::Ended;
                    self.left -= usize::from(job < next);
                }
                Stage::Runs | Stage::Drains => {
                    clone.stage = Stage::Drains;
                    self.put_back(job as u16, now_ns);
                }
            }
        }
    }

    fn done(&mut self, job: u16, op: HostOp, bytes: u64, latency_ns: u64, now_ns: u64) {
        self.clones[usize::from(job)].done(op, bytes, latency_ns);
        self.put_back(job, now_ns);
    }
}
