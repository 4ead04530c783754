//! The requests under way, and the row of one that is done.

use super::blame::Parts;
use super::slab::entry;
use super::{Cause, Happened};
use flashgc_workload::HostOp;

/// A request that is done.
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
    /// The placement hint that came with it; 0 is none.
    pub hint: u8,
    /// Its arrival, in ns.
    pub arrival_ns: u64,
    /// The time at which its first page operation got its unit or the write buffer, in ns; its end
    /// if it needs neither.
    pub start_ns: u64,
    /// Its end, in ns.
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

/// A request under way.
#[derive(Clone, Copy)]
struct UnderWay {
    number: u64,
    job: u16,
    hint: u8,
    offset_bytes: u64,
    size_bytes: u64,
    start_ns: Option<u64>,
}

const NEW: UnderWay =
    UnderWay { number: 0, job: 0, hint: 0, offset_bytes: 0, size_bytes: 0, start_ns: None };

/// The requests under way, by place in the slab.
#[derive(Default)]
pub(super) struct Requests {
    /// Requests that have arrived.
    arrived: u64,
    requests: Vec<UnderWay>,
    /// The request of each page operation, by place in the slab.
    request_of: Vec<u32>,
    /// The page operation that began last.
    last_started: u32,
}

impl Requests {
    /// Takes an event of the run; the end of a request comes by [`Requests::served`].
    pub(super) fn observe(&mut self, now_ns: u64, happened: Happened) {
        match happened {
            Happened::Arrived { request, job, offset_bytes, size_bytes, hint, .. } => {
                let number = self.arrived;
                self.arrived += 1;
                let new = UnderWay { number, job, hint, offset_bytes, size_bytes, start_ns: None };
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

    /// The number of a request under way, in order of arrival from 0.
    pub(super) fn number_of(&self, request: u32) -> u64 {
        self.requests[request as usize].number
    }

    /// The request that a page operation is a part of, by its place in the slab.
    pub(super) fn request_of(&self, op: u32) -> u32 {
        self.request_of[op as usize]
    }

    /// A request is done.
    pub(super) fn served(
        &self,
        request: u32,
        op: HostOp,
        [arrival_ns, end_ns]: [u64; 2],
        parts: Option<Parts>,
    ) -> RequestRow {
        let UnderWay { number, job, hint, offset_bytes, size_bytes, start_ns } =
            self.requests[request as usize];
        let start_ns = start_ns.unwrap_or(end_ns);
        RequestRow {
            request: number,
            job,
            op,
            offset_bytes,
            size_bytes,
            hint,
            arrival_ns,
            start_ns,
            end_ns,
            parts,
        }
    }
}
