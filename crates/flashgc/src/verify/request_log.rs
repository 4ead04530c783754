//! The log of requests: a row for each request of the measured part, in the order in which they are
//! done. Rows leave in batches, so that the log needs no more memory than one of them.

use super::blame::Parts;
use super::{Cause, Happened};
use crate::workload::HostOp;

/// Rows of a batch.
pub const BATCH_ROWS: usize = 1 << 16;

/// A row of the log of requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRow {
    /// Its number in order of arrival, from 0.
    pub request: u64,
    /// The clone of a job that issued it, from 0; 0 without jobs.
    pub job: u16,
    /// Its operation.
    pub op: HostOp,
    /// The first byte.
    pub offset_bytes: u64,
    /// Its number of bytes.
    pub size_bytes: u64,
    /// When it arrived, in ns.
    pub arrival_ns: u64,
    /// When the first of its page operations got its unit or the write buffer, in ns; when it was
    /// served if it needs neither.
    pub start_ns: u64,
    /// When it was done, in ns.
    pub end_ns: u64,
    /// The parts of its latency, where latencies are split; a trim has none.
    pub parts: Option<Parts>,
}

impl RequestRow {
    /// From its arrival until it was done, in ns.
    pub fn latency_ns(&self) -> u64 {
        self.end_ns - self.arrival_ns
    }
}

/// Receives the rows of the log of requests in batches, the last of which may be empty.
pub type RequestSink = Box<dyn FnMut(&[RequestRow]) + Send>;

/// A request under way.
#[derive(Clone, Copy)]
struct UnderWay {
    number: u64,
    job: u16,
    offset_bytes: u64,
    size_bytes: u64,
    start_ns: Option<u64>,
}

const NEW: UnderWay =
    UnderWay { number: 0, job: 0, offset_bytes: 0, size_bytes: 0, start_ns: None };

/// The log of the requests of a run.
pub struct RequestLog {
    sink: RequestSink,
    rows: Vec<RequestRow>,
    /// Requests that have arrived.
    arrived: u64,
    /// By place in the slab.
    requests: Vec<UnderWay>,
    /// The request of each page operation, by place in the slab.
    request_of: Vec<u32>,
    /// The page operation that began last.
    last_started: u32,
}

/// The entry of a slab that grows with what it holds.
fn entry<T: Copy>(slab: &mut Vec<T>, at: u32, new: T) -> &mut T {
    let at = at as usize;
    if slab.len() <= at {
        slab.resize((at + 1).next_power_of_two(), new);
    }
    &mut slab[at]
}

impl RequestLog {
    /// An empty log.
    pub fn new(sink: RequestSink) -> Self {
        RequestLog {
            sink,
            rows: Vec::new(),
            arrived: 0,
            requests: Vec::new(),
            request_of: Vec::new(),
            last_started: 0,
        }
    }

    /// Something happened; the end of a request is told by [`RequestLog::served`].
    pub(super) fn see(&mut self, now_ns: u64, happened: Happened) {
        match happened {
            Happened::Arrived { request, job, offset_bytes, size_bytes, .. } => {
                let number = self.arrived;
                self.arrived += 1;
                let new = UnderWay { number, job, offset_bytes, size_bytes, start_ns: None };
                *entry(&mut self.requests, request, NEW) = new;
            }
            Happened::Accepted { op, request, .. } => {
                *entry(&mut self.request_of, op, 0) = request;
            }
            // The rest of a page that was never written begins as well, and needs no unit.
            Happened::Started { op, .. } => self.last_started = op,
            Happened::Read { .. } => self.starts(self.last_started, now_ns),
            Happened::Programmed { cause: Cause::Host { op }, .. }
            | Happened::AccessesBuffer { op }
            | Happened::Done { op, .. } => self.starts(op, now_ns),
            _ => {}
        }
    }

    fn starts(&mut self, op: u32, now_ns: u64) {
        // Preconditioning programs pages without requests.
        let Some(&request) = self.request_of.get(op as usize) else { return };
        self.requests[request as usize].start_ns.get_or_insert(now_ns);
    }

    /// A request is done.
    pub(super) fn served(
        &mut self,
        request: u32,
        op: HostOp,
        [arrival_ns, end_ns]: [u64; 2],
        parts: Option<Parts>,
    ) {
        let UnderWay { number, job, offset_bytes, size_bytes, start_ns } =
            self.requests[request as usize];
        let start_ns = start_ns.unwrap_or(end_ns);
        self.rows.push(RequestRow {
            request: number,
            job,
            op,
            offset_bytes,
            size_bytes,
            arrival_ns,
            start_ns,
            end_ns,
            parts,
        });
        if self.rows.len() == BATCH_ROWS {
            self.hand_out();
        }
    }

    /// Hands out the rows so far.
    pub fn hand_out(&mut self) {
        (self.sink)(&self.rows);
        self.rows.clear();
    }
}
