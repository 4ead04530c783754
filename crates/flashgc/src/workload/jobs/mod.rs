//! Jobs side by side: each is a closed loop of its own depth, or a paced stream, over its own part
//! of the drive. The last one may replay a trace, whose requests come at the times of the trace.
//!
//! When a request of a job is issued depends on when others are done, so the simulation asks this
//! source at each instant what to do ([`Jobs::turn`]) and tells it which requests are done. Each
//! clone of a job draws from streams of its own: the order in which requests of different jobs
//! alternate depends on the drive, but the sequence of each clone does not.

mod clone;
mod files;
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
pub use plan::{CLONES_MAX, Extent, File, JobPlan, JobsPlan, Passes, Places, Think, Zone};
pub use rates::RateCap;
pub use tally::Tally;
pub use walk::{FilesPlan, Order, Strides, Walk};

use super::replay::Replay;
use super::{HostOp, HostRequest, Source, SourceError, Turn};
use clone::{Clone, Stage};
use std::collections::BTreeSet;

/// The requests of jobs side by side.
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
            if self.left == 0 {
                self.begin_group(now_ns);
            }
        }
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
        loop {
            let Some(&(at_ns, order, job)) = self.ready.first() else {
                return Ok(if self.left == 0 { Turn::End } else { Turn::Wait(None) });
            };
            if at_ns > now_ns {
                return Ok(Turn::Wait(Some(at_ns)));
            }
            self.ready.remove(&(at_ns, order, job));
            let clone = &mut self.clones[usize::from(job)];
            clone.is_ready = false;
            let request = clone.issue(now_ns)?;
            if let Some(why) = clone.never_ends() {
                return Ok(Turn::NeverEnds(why));
            }
            self.put_back(job, now_ns);
            if let Some(request) = request {
                return Ok(Turn::Request(request, job));
            }
        }
    }

    fn stop(&mut self, now_ns: u64) {
        let next = std::mem::replace(&mut self.next, self.clones.len());
        self.ready.clear();
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

    fn done(&mut self, job: u16, op: HostOp, latency_ns: u64, now_ns: u64) {
        self.clones[usize::from(job)].done(op, latency_ns);
        self.put_back(job, now_ns);
    }
}
