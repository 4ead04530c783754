//! A closed loop of requests on a component: the end of each is answered with the next one here,
//! without a call from Python for each.

use crate::columns::packed;
use crate::pulse::{Pulse, Step};
use flashgc::component::{Completion, Component, Request, Submitted, Wrong};
use flashgc::rng::Random;
use flashgc::stats::Histogram;
use flashgc::workload::HostOp;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Completions between two checks of the clock of the machine.
const BEAT: u64 = 4096;
/// Parts of a loop that keep counts of their own.
const PARTS_MAX: usize = 1 << 20;

/// The requests of a loop, and its end.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Stimulus {
    /// Requests at a time.
    depth: u64,
    /// Bytes of each request, and the distance of places.
    size: u64,
    /// Places are below this; a multiple of the size.
    span: u64,
    /// The share of reads; the rest are writes.
    read_share: f64,
    /// The first place where places follow each other; without it they are random.
    next: Option<u64>,
    /// Under which places and operations are drawn.
    seed: u64,
    stream: String,
    /// Requests are issued before this length of time is over.
    length_ns: Option<u64>,
    /// The number of requests that are issued.
    requests: Option<u64>,
    /// The number of their tenant.
    tenant: u16,
    /// The length of the parts with counts of their own.
    part_ns: Option<u64>,
}

/// The counts of requests.
#[derive(Clone, Copy, Default)]
struct Counts {
    reads: u64,
    writes: u64,
    sum_ns: u64,
    max_ns: u64,
}

impl Counts {
    fn add(&mut self, done: &Completion) {
        self.reads += u64::from(done.op == HostOp::Read);
        self.writes += u64::from(done.op != HostOp::Read);
        self.sum_ns += done.latency_ns;
        self.max_ns = self.max_ns.max(done.latency_ns);
    }
}

/// The results of a loop.
#[pyclass(frozen, module = "flashgc._engine")]
pub struct Loop {
    /// Of all requests.
    all: Counts,
    /// Of those that were done in each part of the length.
    parts: Vec<Counts>,
    latencies: Histogram,
    begin_ns: u64,
    end_ns: u64,
    next: u64,
}

#[pymethods]
impl Loop {
    /// Reads, writes, the sum and the maximum of their latencies in ns; the instants of the begin
    /// and of the end of the last request; and the place of the next one in order.
    fn totals(&self) -> [u64; 7] {
        let Counts { reads, writes, sum_ns, max_ns } = self.all;
        [reads, writes, sum_ns, max_ns, self.begin_ns, self.end_ns, self.next]
    }

    /// Of each part: reads, writes, the sum and the maximum of latencies in ns.
    fn parts<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyBytes>; 4]> {
        let parts = self.parts.iter();
        Ok([
            packed(py, parts.clone().map(|part| part.reads))?,
            packed(py, parts.clone().map(|part| part.writes))?,
            packed(py, parts.clone().map(|part| part.sum_ns))?,
            packed(py, parts.map(|part| part.max_ns))?,
        ])
    }

    /// The buckets of latencies in use: the smallest and the largest value, and the count of each.
    fn latencies<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyBytes>; 3]> {
        let buckets: Vec<_> = self.latencies.recorded().collect();
        Ok([
            packed(py, buckets.iter().map(|bucket| bucket.first))?,
            packed(py, buckets.iter().map(|bucket| bucket.last))?,
            packed(py, buckets.iter().map(|bucket| bucket.count))?,
        ])
    }
}

/// The requests that a loop issues.
struct Source {
    stimulus: Stimulus,
    places: Random,
    ops: Random,
    /// The place of the next request, if they follow each other.
    next: u64,
    issued: u64,
    /// The last instant at which requests are issued.
    last_ns: u64,
}

impl Source {
    fn new(stimulus: Stimulus, begin_ns: u64) -> Source {
        let named =
            |what: &str| Random::named(stimulus.seed, &format!("{what} of {}", stimulus.stream));
        let length_ns = stimulus.length_ns.unwrap_or(u64::MAX);
        Source {
            places: named("places"),
            ops: named("operations"),
            next: stimulus.next.unwrap_or(0),
            issued: 0,
            last_ns: begin_ns.saturating_add(length_ns.saturating_sub(1)),
            stimulus,
        }
    }

    fn has_more(&self, at_ns: u64) -> bool {
        at_ns <= self.last_ns && self.stimulus.requests.is_none_or(|most| self.issued < most)
    }

    /// Submits the next request; `false` if the drive is full.
    fn issue(&mut self, component: &mut Component, at_ns: u64) -> Result<bool, Wrong> {
        let Stimulus { size, span, read_share, tenant, .. } = self.stimulus;
        let is_read = self.ops.unit() < read_share;
        let op = if is_read { HostOp::Read } else { HostOp::Write };
        let place = if self.stimulus.next.is_some() {
            self.next
        } else {
            self.places.below(span / size) * size
        };
        let request = Request::new(at_ns, op, place, size, self.issued);
        if component.submit_request(Request { tenant, ..request })? == Submitted::Full {
            return Ok(false);
        }
        self.issued += 1;
        self.next = if self.next + 2 * size > span { 0 } else { self.next + size };
        Ok(true)
    }
}

/// The error that ends a loop: of its use, or raised by the callback.
pub enum Ended {
    Wrong(Wrong),
    Raised(PyErr),
}

impl From<Wrong> for Ended {
    fn from(wrong: Wrong) -> Self {
        Ended::Wrong(wrong)
    }
}

/// Drives a component until the loop has ended and its last request is done.
pub fn driven(
    component: &mut Component,
    stimulus: Stimulus,
    pulse: &mut Pulse,
) -> Result<Loop, Ended> {
    let begin_ns = component.now_ns();
    let part_ns = stimulus.part_ns.or(stimulus.length_ns).unwrap_or(u64::MAX).max(1);
    let most = stimulus.length_ns.map_or(PARTS_MAX, |length| length.div_ceil(part_ns) as usize);
    let (depth, length_ns, total) = (stimulus.depth, stimulus.length_ns, stimulus.requests);
    let mut found = Loop {
        all: Counts::default(),
        parts: vec![Counts::default(); if length_ns.is_some() { most } else { 0 }],
        latencies: Histogram::default(),
        begin_ns,
        end_ns: begin_ns,
        next: 0,
    };
    let mut source = Source::new(stimulus, begin_ns);
    let mut flying = 0;
    while flying < depth && source.has_more(begin_ns) && source.issue(component, begin_ns)? {
        flying += 1;
    }
    let (mut done, mut beat) = (Vec::new(), 0);
    while flying > 0 {
        done.clear();
        done.extend_from_slice(component.advance_to_completion(u64::MAX)?);
        for one in &done {
            found.all.add(one);
            found.latencies.record(one.latency_ns);
            let part = ((one.at_ns - begin_ns) / part_ns) as usize;
            if part >= found.parts.len() && length_ns.is_none() && part < PARTS_MAX {
                found.parts.resize(part + 1, Counts::default());
            }
            if let Some(part) = found.parts.get_mut(part) {
                part.add(one);
            }
            found.end_ns = one.at_ns;
            if !(source.has_more(one.at_ns) && source.issue(component, one.at_ns)?) {
                flying -= 1;
            }
        }
        beat += done.len() as u64;
        if beat >= BEAT {
            beat = 0;
            let now_ns = component.now_ns();
            let (done, total) = match length_ns {
                Some(length_ns) => ((now_ns - begin_ns).min(length_ns), Some(length_ns)),
                None => (source.issued, total),
            };
            pulse.beat(|| Step { phase: "loop", done, total, now_ns }).map_err(Ended::Raised)?;
        }
    }
    found.next = source.next;
    Ok(found)
}
