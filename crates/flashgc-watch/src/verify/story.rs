//! Stories of single requests: the steps of each, and the work of its units meanwhile.
//!
//! Work of a unit is kept for as long as a request is under way that was there when it ended, so
//! memory is bounded by the queues and not by the run.

pub use super::steps::Step;
pub use super::unit_work::{Collection, Work};

use super::blame::Part;
use super::requests::{RequestRow, Requests};
use super::steps::{RequestSteps, UnderWay};
use super::unit_work::UnitWork;
use super::{Happened, What};
use flashgc_model::device::Geometry;
use flashgc_model::ids::UnitId;
use flashgc_workload::HostOp;
use serde_json::{Map, Value, json};
use std::collections::{BTreeSet, VecDeque};

/// The requests whose stories are kept.
#[derive(Clone, Debug)]
pub enum Choice {
    /// Requests by number, in order of arrival from 0.
    Numbers(BTreeSet<u64>),
    /// This number of reads and writes of the longest latency, or of one of both kinds.
    Slowest(usize, Option<HostOp>),
}

/// The story of one request.
#[derive(Clone, Debug)]
pub struct Story {
    /// The request.
    pub row: RequestRow,
    /// Its page operations.
    pub pages: u32,
    /// The steps of the request, and of the page operation that was done last, each with its time
    /// in ns.
    pub steps: Vec<(u64, Step)>,
    /// The work of the units in whose queues this operation was, from its first wait to its end.
    pub work: Vec<Work>,
    /// The collections of this work.
    pub collections: Vec<Collection>,
}

/// Keeps the stories of some requests.
pub struct Stories {
    geometry: Geometry,
    choice: Choice,
    is_measuring: bool,
    steps: RequestSteps,
    /// Arrivals of the requests under way in their order, in ns; those that are done are `None`.
    open: VecDeque<Option<u64>>,
    /// Requests that have left `open`.
    gone: u64,
    units: Vec<UnitWork>,
    stories: Vec<Story>,
}

impl Stories {
    /// None yet.
    pub fn new(choice: Choice, geometry: &Geometry) -> Self {
        Stories {
            geometry: geometry.clone(),
            choice,
            is_measuring: false,
            steps: RequestSteps::default(),
            open: VecDeque::new(),
            gone: 0,
            units: (0..geometry.units).map(|unit| UnitWork::new(UnitId(unit))).collect(),
            stories: Vec::new(),
        }
    }

    /// Takes an event of the run; the end of a request comes by [`Stories::served`].
    pub(super) fn observe(&mut self, now_ns: u64, happened: Happened, requests: &Requests) {
        match happened {
            Happened::MeasuringStarts => self.is_measuring = true,
            _ if !self.is_measuring => {}
            _ => {
                if let Happened::Arrived { .. } = happened {
                    self.open.push_back(Some(now_ns));
                }
                if !self.steps.observe(now_ns, happened, requests) {
                    self.observe_unit(now_ns, happened);
                }
            }
        }
    }

    fn observe_unit(&mut self, now_ns: u64, happened: Happened) {
        match happened {
            Happened::Claimed { block, valid } => {
                let unit = self.geometry.unit_of(self.geometry.plane_of_block(block));
                self.units[unit.index()].claimed(&self.geometry, block, valid, now_ns);
            }
            Happened::JobClosed(row) => {
                self.units[row.unit as usize].closed(now_ns);
            }
            Happened::Worked { unit, waited } | Happened::LeftBeside { unit, waited } => {
                let unit = self.geometry.whole_unit(unit);
                self.units[unit.index()].waited(waited);
            }
            Happened::Busy { what: What::Operation(name, copies), unit, from_ns, to_ns, gc } => {
                let oldest_ns = self.open.front().copied().flatten().unwrap_or(now_ns);
                let (span, by) = ((from_ns, to_ns), (self.geometry.plane_of_reader(unit), gc));
                let unit = self.geometry.whole_unit(unit);
                self.units[unit.index()].worked(name, copies, span, by, oldest_ns);
            }
            _ => {}
        }
    }

    /// A request is done.
    pub(super) fn served(&mut self, request: u32, row: RequestRow) {
        if self.is_chosen(&row) {
            let story = self.story_of(row, self.steps.of(request));
            self.keep(story);
        }
        self.open[(row.request - self.gone) as usize] = None;
        while let Some(None) = self.open.front() {
            self.open.pop_front();
            self.gone += 1;
        }
    }

    fn is_chosen(&self, row: &RequestRow) -> bool {
        match &self.choice {
            Choice::Numbers(numbers) => numbers.contains(&row.request),
            Choice::Slowest(count, op) => {
                let is_of_kind = op.map_or(row.op.has_parts(), |op| op == row.op);
                let is_slow = || match self.stories.last() {
                    Some(last) if self.stories.len() == *count => rank(row) < rank(&last.row),
                    _ => *count > 0,
                };
                is_of_kind && is_slow()
            }
        }
    }

    fn keep(&mut self, story: Story) {
        let by_number = matches!(self.choice, Choice::Numbers(_));
        let key = |story: &Story| match by_number {
            true => (0, story.row.request),
            false => rank(&story.row),
        };
        let at = self.stories.partition_point(|other| key(other) < key(&story));
        self.stories.insert(at, story);
        if let Choice::Slowest(count, _) = self.choice {
            self.stories.truncate(count);
        }
    }

    fn story_of(&self, row: RequestRow, request: &UnderWay) -> Story {
        let (mut work, mut collections) = (Vec::new(), Vec::new());
        for (unit, from_ns, to_ns) in stays(&request.steps, row.end_ns) {
            self.units[unit.index()].add_work((from_ns, to_ns), &mut work, &mut collections);
        }
        // A request that waits for long has thousands of them.
        let mut reported = BTreeSet::new();
        collections.retain(|collection| reported.insert((collection.unit.0, collection.number)));
        Story { row, pages: request.pages, steps: request.steps.clone(), work, collections }
    }

    /// The stories, in order.
    pub fn stories(&self) -> &[Story] {
        &self.stories
    }

    /// The stories as JSON.
    pub fn to_json(&self) -> Value {
        self.stories.iter().map(Story::to_json).collect()
    }
}

/// The order of the slowest: by latency, the longest first, then by arrival.
fn rank(row: &RequestRow) -> (u64, u64) {
    (u64::MAX - row.latency_ns(), row.request)
}

/// The units that an operation was at, with from when and until when, in ns.
fn stays(steps: &[(u64, Step)], end_ns: u64) -> Vec<(UnitId, u64, u64)> {
    let mut stays: Vec<(UnitId, u64, u64)> = Vec::new();
    for &(at_ns, step) in steps {
        match step {
            Step::Queued(unit) => {
                if let Some(last) = stays.last_mut() {
                    last.2 = last.2.min(at_ns);
                }
                stays.push((unit, at_ns, end_ns));
            }
            Step::Done | Step::AwaitsBuffer | Step::AwaitsIdle => {
                if let Some(last) = stays.last_mut() {
                    last.2 = last.2.min(at_ns);
                }
            }
            _ => {}
        }
    }
    stays
}

impl Story {
    fn to_json(&self) -> Value {
        let row = &self.row;
        let parts = row.parts.map(|parts| {
            let parts = Part::ALL.map(|part| (part.key().to_owned(), json!(parts[part as usize])));
            Value::Object(Map::from_iter(parts))
        });
        let steps = self.steps.iter().map(|&(at_ns, step)| match step {
            Step::Queued(unit) => json!({ "at_ns": at_ns, "step": step.key(), "unit": unit.0 }),
            _ => json!({ "at_ns": at_ns, "step": step.key() }),
        });
        json!({
            "request": row.request,
            "job": row.job,
            "kind": row.op.name(),
            "offset_bytes": row.offset_bytes,
            "size_bytes": row.size_bytes,
            "pages": self.pages,
            "arrival_ns": row.arrival_ns,
            "start_ns": row.start_ns,
            "end_ns": row.end_ns,
            "latency_ns": row.latency_ns(),
            "parts": parts,
            "steps": steps.collect::<Value>(),
            "work": self.work.iter().copied().map(Work::to_json).collect::<Value>(),
            "collections": self.collections.iter().map(Collection::to_json).collect::<Value>(),
        })
    }
}
