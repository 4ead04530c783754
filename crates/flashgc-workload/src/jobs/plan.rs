//! Jobs as a configuration gives them.

use super::layout::{Layout, Span};
use super::rates::RateCap;
use super::walk::{FilesPlan, Walk};
use crate::HostOp;
use crate::address::AddressChoice;
use crate::hints::{JobHintPlan, PageHints};
use crate::sprandom::SprandomPlan;
use crate::synthetic::Size;
use flashgc_model::plan::Limit;
use serde::Serialize;

/// The most clones of all jobs together.
pub const CLONES_MAX: u64 = 4096;

/// The configuration of concurrent jobs.
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

impl Extent {
    /// Whether it is nothing, of whatever.
    pub fn is_zero(self) -> bool {
        self == Extent::Bytes(0) || self == Extent::Share(0.0)
    }
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

/// The addresses of the requests of one kind.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Places {
    /// A distribution over the whole part.
    Choice(AddressChoice),
    /// Consecutive zones of a number of bytes, each with its share of the requests; uniform in
    /// each.
    Zones(Vec<Zone>),
}

/// The passes of a job over its part. A pass ends where a sequential request does not fit, or where
/// all blocks were visited.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Passes {
    /// Each draws its own sizes and places.
    New,
    /// Each has the sizes and the places of the first.
    Same,
}

/// The pauses of a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Think {
    /// Pause after some requests.
    pub think_ns: u64,
    /// The number of these requests.
    pub think_after: u32,
    /// Whether the rates begin again after a pause; else the job catches up with them.
    #[serde(skip_serializing_if = "is_false")]
    pub think_restarts_rate: bool,
}

impl Default for Think {
    fn default() -> Self {
        Think { think_ns: 0, think_after: 1, think_restarts_rate: false }
    }
}

/// The flow that a job belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FlowPlan {
    /// Its number.
    pub id: u32,
    /// The weight of each clone, at least one.
    pub weight: u32,
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
    /// Whether it replays a trace, at the times of the trace.
    #[serde(skip_serializing_if = "is_false")]
    pub replays: bool,
    /// Its part of the drive.
    pub file: File,
    /// Its number of files, each with the size and the offset below.
    #[serde(skip_serializing_if = "FilesPlan::is_one")]
    pub files: FilesPlan,
    /// From the start of the file to the start of the used part: a share is one of the size.
    pub offset: Extent,
    /// Added to the offset for each further clone.
    pub offset_step: Extent,
    /// The length of the part that is used: a share is one of the drive; else the rest of the
    /// file or of the drive.
    pub size: Option<Extent>,
    /// The length of the file, at which parts end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_size: Option<Extent>,
    /// Bytes to transfer, of the size of all files where it is a share.
    pub amount: Extent,
    /// The most requests.
    pub requests: Option<u64>,
    /// The number of times that the amount is transferred and the requests are made.
    #[serde(skip_serializing_if = "flashgc_model::device::is_one")]
    pub loops: u32,
    /// The passes of a job whose requests keep within its part. Other requests wrap, or are moved
    /// back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub passes: Option<Passes>,
    /// The longest time.
    pub runtime_ns: Option<u64>,
    /// Time from its start in which nothing is counted; a longer runtime begins after it.
    #[serde(skip_serializing_if = "is_zero")]
    pub ramp_ns: u64,
    /// The flow that it shares with others, whose requests are in proportion to their weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flow: Option<FlowPlan>,
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
    /// The order of the places of a job in passes.
    #[serde(skip_serializing_if = "Walk::is_plain")]
    pub walk: Walk,
    /// Whether every block is visited once before any is visited again.
    pub once: bool,
    /// The pass of `sprandom`, which is all that the job writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sprandom: Option<SprandomPlan>,
    /// Sizes.
    pub sizes: [Vec<Size>; 3],
    /// Random places are multiples of this.
    pub align_bytes: u64,
    /// The addresses of random requests.
    pub places: [Places; 3],
    /// The most requests in flight of a clone.
    pub depth: u32,
    /// The highest rates of a clone.
    pub paces: [RateCap; 3],
    /// Whether the gaps of these rates are exponential.
    pub poisson: bool,
    /// Whether a request that is not due yet is replaced by one of another kind that is due before.
    #[serde(skip_serializing_if = "is_false")]
    pub overtake: bool,
    /// The requests that come into the device from the job's queue in its turn, where it has turns.
    #[serde(skip_serializing_if = "flashgc_model::device::is_one")]
    pub weight: u32,
    /// Writes of a clone after which it issues a flush.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub flush_after: Option<u32>,
    /// The share of its writes with forced unit access.
    #[serde(skip_serializing_if = "is_none")]
    pub fua_share: f64,
    /// The placement hints of its writes.
    #[serde(flatten, skip_serializing_if = "JobHintPlan::is_none")]
    pub hints: JobHintPlan,
    /// The most that is admitted from the job's queue, of all its clones.
    #[serde(skip_serializing_if = "Limit::is_none")]
    pub limit: Limit,
    /// Its pauses.
    #[serde(flatten)]
    pub think: Think,
}

/// By reference, as serialisation needs it.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_none(share: &f64) -> bool {
    *share == 0.0
}

/// By reference, as serialisation needs it.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(ns: &u64) -> bool {
    *ns == 0
}

/// By reference, as serialisation needs it.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl JobsPlan {
    /// The hints with which the drive is filled: each page has the hint of the first job that
    /// writes there, where a job has hints. The files were checked to fit.
    pub fn fill_hints(&self, exported_pages: u32, page_bytes: u64) -> Option<PageHints> {
        self.jobs.iter().find(|job| !job.hints.is_none())?;
        let drive_bytes = u64::from(exported_pages) * page_bytes;
        let layout = Layout::new(self, drive_bytes, page_bytes).ok()?;
        let page = |bytes: u64| (bytes / page_bytes).min(u64::from(exported_pages)) as u32;
        let part = |span: &Span| {
            let job = &self.jobs[span.job];
            let hint = job.hints.hints.first().copied().unwrap_or(0);
            (page(span.first_byte), page(span.end_byte(job.files.count)), hint)
        };
        let writers = layout.spans.iter().filter(|span| self.jobs[span.job].write_share() > 0.0);
        Some(PageHints::of_parts(&writers.map(part).collect::<Vec<_>>()))
    }

    /// The job of each clone, in the order of the clones.
    pub fn job_of_clones(&self) -> impl Iterator<Item = u16> + '_ {
        let clones =
            |(at, job): (usize, &JobPlan)| std::iter::repeat_n(at as u16, job.clones as usize);
        self.jobs.iter().enumerate().flat_map(clones)
    }

    /// The number of times at which jobs begin or end while others run.
    pub fn changes(&self) -> u64 {
        let [first, others @ ..] = &self.jobs[..] else { return 0 };
        let later = |job: &&JobPlan| job.after_others || job.start_ns > 0;
        let starts = self.jobs.iter().filter(later).count() as u64 - u64::from(first.after_others);
        let ends_with_first = |job: &JobPlan| {
            job.time_based && first.time_based && job.runtime_ns == first.runtime_ns
        };
        starts + u64::from(!others.iter().all(ends_with_first))
    }
}

impl JobPlan {
    /// Share of writes among the requests.
    pub fn write_share(&self) -> f64 {
        if self.trim_then_write { 0.5 } else { (1.0 - self.read_share - self.trim_share).max(0.0) }
    }

    /// Share of a kind among the requests.
    pub fn share_of(&self, op: HostOp) -> f64 {
        match op {
            HostOp::Read => self.read_share,
            HostOp::Write => self.write_share(),
            HostOp::Trim => self.trim_share,
            HostOp::Flush => 0.0,
        }
    }

    /// Whether requests of this kind occur.
    pub fn has(&self, op: HostOp) -> bool {
        match op {
            HostOp::Read => self.read_share > 0.0,
            HostOp::Write => self.write_share() > 0.0,
            HostOp::Trim => self.trim_share > 0.0,
            HostOp::Flush => self.flush_after.is_some(),
        }
    }

    /// The multiples at which random requests of a kind begin: in passes the kind's own smallest
    /// size, where that is a multiple of the alignment.
    pub fn align_of(&self, op: usize) -> u64 {
        let smallest = self.sizes[op].iter().map(Size::mean_bytes).min();
        let own = smallest.filter(|own| self.passes.is_some() && own % self.align_bytes == 0);
        own.unwrap_or(self.align_bytes)
    }

    /// Whether random requests and those that follow the one before alternate by chance.
    pub fn jumps(&self) -> bool {
        let used =
            [HostOp::Read, HostOp::Write, HostOp::Trim].into_iter().filter(|&op| self.has(op));
        let shares: Vec<f64> = used.map(|op| self.random_share[op as usize]).collect();
        shares.iter().any(|&share| share > 0.0) && shares.iter().any(|&share| share < 1.0)
    }

    /// Whether trims and the writes behind them have sizes of their own; else each write has the
    /// place and the size of its trim.
    pub fn trims_in_order(&self) -> bool {
        let share = self.random_share[HostOp::Trim as usize];
        self.trim_then_write && self.passes.is_some() && share == 0.0
    }

    /// The largest and the smallest request, in bytes.
    pub fn sizes_range(&self) -> (u64, u64) {
        let (mut largest, mut smallest) = (0, u64::MAX);
        for size in self.sized_kinds().flatten() {
            largest = largest.max(size.mean_bytes());
            smallest = smallest.min(size.mean_bytes());
        }
        (largest, smallest.min(largest))
    }

    /// The least part of a file on which the job can work. In passes it may leave out requests that
    /// do not fit, as long as one of each kind does; otherwise a pass would end before it begins.
    pub fn least_part_bytes(&self) -> u64 {
        let least = |sizes: &Vec<Size>| sizes.iter().map(Size::mean_bytes).min();
        let least = match self.passes {
            Some(_) => self.sized_kinds().filter_map(least).max().unwrap_or(0),
            None => self.sizes_range().0,
        };
        least.max(self.align_bytes)
    }

    /// The sizes of each kind of request that has its own.
    fn sized_kinds(&self) -> impl Iterator<Item = &Vec<Size>> {
        let ops = [HostOp::Read, HostOp::Write, HostOp::Trim].into_iter();
        let follows = self.passes.is_some() && self.trim_then_write && !self.trims_in_order();
        let has_size = move |op| self.has(op) && !(op == HostOp::Write && follows);
        ops.filter(move |&op| has_size(op)).map(|op| &self.sizes[op as usize])
    }
}
