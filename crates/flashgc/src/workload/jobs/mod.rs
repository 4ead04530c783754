//! Jobs side by side: each is a closed loop of its own depth, or a paced stream, over its own part
//! of the drive.
//!
//! When a request of a job is issued depends on when others are done, so the simulation asks this
//! source at each instant what to do ([`Jobs::turn`]) and tells it which requests are done. Each
//! clone of a job draws from streams of its own: the order in which requests of different jobs
//! alternate depends on the drive, but the sequence of each clone does not.

mod clone;
mod layout;
mod overwrites;
mod pass;
mod place;
mod rates;
mod tally;

pub use layout::{Layout, Misfit, Span};
pub use overwrites::JobsOverwrites;
pub use rates::RateCap;
pub use tally::Tally;

use super::address::AddressChoice;
use super::synthetic::Size;
use super::{HostOp, HostRequest, Source, SourceError, Turn};
use clone::{Clone, Stage};
use serde::Serialize;
use std::collections::BTreeSet;

/// The most clones of all jobs together.
pub const CLONES_MAX: u64 = 4096;

/// Jobs side by side.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobsPlan {
    /// All sizes of files, offsets and amounts are multiplied by this.
    pub scale: f64,
    /// At least one.
    pub jobs: Vec<JobPlan>,
}

/// A number of bytes, or a share of another.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// Bytes.
    Bytes(u64),
    /// A share.
    Share(f64),
}

/// The part of the drive that a job works on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum File {
    /// A file for each clone.
    Own,
    /// A file that all jobs with this name for it share.
    Named(String),
    /// The whole drive, which it shares with others of the kind.
    Drive,
}

/// Where the requests of one kind go.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Places {
    /// A distribution over the whole part.
    Choice(AddressChoice),
    /// Consecutive zones of a number of bytes, each with its share of the requests; uniform in
    /// each.
    Zones(Vec<Zone>),
}

/// A zone of a part of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Zone {
    /// Its length.
    pub bytes: u64,
    /// Its share of the requests.
    pub requests: f64,
}

/// A job. Lists of three are for reads, writes and trims.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JobPlan {
    /// Its name in the report.
    pub name: String,
    /// Number of clones, each with the depth and the rates below.
    pub clones: u32,
    /// Its part of the drive.
    pub file: File,
    /// From the start of the file to that of the part that is used: a share is one of the size.
    pub offset: Extent,
    /// Added to the offset for each further clone.
    pub offset_step: Extent,
    /// The length of the part that is used: a share is one of the drive; else the rest of the
    /// drive.
    pub size: Option<Extent>,
    /// Bytes to transfer, of the size where it is a share.
    pub amount: Extent,
    /// The most requests.
    pub requests: Option<u64>,
    /// The longest time.
    pub runtime_ns: Option<u64>,
    /// Whether it lasts this time, whatever the amount.
    pub time_based: bool,
    /// Time from the start of its group.
    pub start_ns: u64,
    /// Whether a group begins here: all jobs before it end first.
    pub after_others: bool,
    /// Share of reads.
    pub read_share: f64,
    /// Share of trims.
    pub trim_share: f64,
    /// Whether each trim is followed by a write of the same bytes.
    pub trim_then_write: bool,
    /// Share of the requests that go to a random place; the others begin where the one before of
    /// their kind ended.
    pub random_share: [f64; 3],
    /// Whether every block is visited once before any is visited again.
    pub once: bool,
    /// Sizes.
    pub sizes: [Vec<Size>; 3],
    /// Random places are multiples of this.
    pub align_bytes: u64,
    /// Where random requests go.
    pub places: [Places; 3],
    /// The most requests in flight of a clone.
    pub depth: u32,
    /// The highest rates of a clone.
    pub paces: [RateCap; 3],
    /// Whether the gaps of these rates are exponential.
    pub poisson: bool,
    /// Pause after some requests.
    pub think_ns: u64,
    /// The number of these requests.
    pub think_after: u32,
}

impl JobPlan {
    /// Share of writes among the requests.
    pub fn write_share(&self) -> f64 {
        if self.trim_then_write { 0.5 } else { (1.0 - self.read_share - self.trim_share).max(0.0) }
    }

    /// Whether requests of this kind occur.
    pub fn has(&self, op: HostOp) -> bool {
        match op {
            HostOp::Read => self.read_share > 0.0,
            HostOp::Write => self.write_share() > 0.0,
            HostOp::Trim => self.trim_share > 0.0,
        }
    }

    /// The largest and the smallest request, in bytes.
    pub fn sizes_range(&self) -> (u64, u64) {
        let ops = [HostOp::Read, HostOp::Write, HostOp::Trim].into_iter();
        let used = ops.filter(|&op| self.has(op)).flat_map(|op| &self.sizes[op as usize]);
        let (mut largest, mut smallest) = (0, u64::MAX);
        for size in used {
            largest = largest.max(size.mean_bytes());
            smallest = smallest.min(size.mean_bytes());
        }
        (largest, smallest.min(largest))
    }
}

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
            let request = clone.issue(now_ns);
            self.put_back(job, now_ns);
            if let Some(request) = request {
                return Ok(Turn::Request(request, job));
            }
        }
    }

    fn done(&mut self, job: u16, op: HostOp, latency_ns: u64, now_ns: u64) {
        self.clones[usize::from(job)].done(op, latency_ns);
        self.put_back(job, now_ns);
    }
}
