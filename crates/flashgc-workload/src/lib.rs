//! Workloads: the sources of the host's requests.
//!
//! A source returns requests in order of time, in logical pages. It knows nothing of the scheme, so
//! all schemes receive identical requests.

pub mod address;
pub mod fitted;
pub mod hints;
mod host_op;
pub mod jobs;
pub mod kept;
pub mod layout;
pub mod length;
pub mod live;
mod permutation;
pub mod ranked;
mod ranks;
pub mod records;
pub mod repeat;
pub mod replay;
pub mod sprandom;
pub mod statistics;
pub mod synthetic;
pub mod trace_fill;
pub mod trace_reads;
pub mod zipf;

use flashgc_model::ids::Lpn;
use flashgc_trace::{Marks, Op, Record};
pub use host_op::HostOp;

/// Gaps below this count as short in statistics: 1.5 ms, the erase time of SLC flash, by which
/// paper preemptible-gc counts bursty writes (Table VIII).
pub const SHORT_GAP_NS: u64 = 1_500_000;

/// A request of the host, in pages of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostRequest {
    /// Arrival, in ns from the first one.
    pub at_ns: u64,
    /// Its operation.
    pub op: HostOp,
    /// Whether it is marked as of high priority.
    pub high: bool,
    /// Whether it is done only when its data survives a loss of power: forced unit access.
    pub fua: bool,
    /// The placement hint that the host gives with a write; 0 is none.
    pub hint: u8,
    /// The clone of a job, or the tenant of a component, that issues it; 0 where there are none.
    pub job: u16,
    /// The first page.
    pub first: Lpn,
    /// Pages touched, at least one.
    pub pages: u32,
    /// The first byte.
    pub offset_bytes: u64,
    /// Bytes requested, at most the bytes of the pages.
    pub bytes: u64,
    /// Whether the first page is touched only in part.
    pub head_partial: bool,
    /// Whether the last page is touched only in part.
    pub tail_partial: bool,
}

impl HostRequest {
    /// The row of a trace that holds this request, with the number of its line.
    pub fn record(&self, line: u64) -> Record {
        let op = match self.op {
            HostOp::Read => Op::Read,
            HostOp::Write => Op::Write,
            HostOp::Trim => Op::Trim,
            HostOp::Flush => Op::Other,
        };
        let is_forced = self.fua || self.op == HostOp::Flush;
        Record {
            at_ns: self.at_ns,
            device: 0,
            op,
            marks: Marks::of(self.high, is_forced, self.hint),
            offset_bytes: self.offset_bytes,
            size_bytes: self.bytes,
            line,
        }
    }

    /// A flush.
    pub fn flush(at_ns: u64) -> Self {
        HostRequest {
            at_ns,
            op: HostOp::Flush,
            high: false,
            fua: false,
            hint: 0,
            job: 0,
            first: Lpn(0),
            pages: 0,
            offset_bytes: 0,
            bytes: 0,
            head_partial: false,
            tail_partial: false,
        }
    }

    /// The request for `bytes` bytes from `offset_bytes`, in pages of this size, not marked.
    ///
    /// The caller has checked that the last page's number fits 32 bits.
    #[inline]
    pub fn from_bytes(
        at_ns: u64,
        op: HostOp,
        offset_bytes: u64,
        bytes: u64,
        page_bytes: u64,
    ) -> Self {
        let end = offset_bytes + bytes.max(1);
        let first = offset_bytes / page_bytes;
        let last = (end - 1) / page_bytes;
        // Divisions are slow: these are the last two.
        let is_head_whole = first * page_bytes == offset_bytes;
        let is_tail_whole = (last + 1) * page_bytes == end;
        HostRequest {
            at_ns,
            op,
            high: false,
            fua: false,
            hint: 0,
            job: 0,
            first: Lpn(first as u32),
            pages: (last - first + 1) as u32,
            offset_bytes,
            bytes: bytes.max(1),
            head_partial: !is_head_whole || (first == last && !is_tail_whole),
            tail_partial: !is_tail_whole,
        }
    }
}

/// The reason why a source cannot continue. The text is for users and names the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError(pub String);

/// The action of a source at an instant, where its requests depend on completed ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It issues a request, which has the number of its clone.
    Request(HostRequest),
    /// The ramp of the job with this number has ended: its counts begin.
    RampEnds(u16),
    /// It waits for this time, or for a request to be done.
    Wait(Option<u64>),
    /// It has ended.
    End,
    /// It would issue requests at this instant without end. The text is for users.
    NeverEnds(String),
}

/// Returns the host's requests one by one.
pub trait Source: Send {
    /// The next request, or `None` at the end.
    fn next(&mut self) -> Result<Option<HostRequest>, SourceError>;

    /// Draws the next requests while there is room. Returns their number, and how the source has
    /// ended if it has.
    fn draw(&mut self, room: &mut [HostRequest]) -> (usize, Option<Result<(), SourceError>>) {
        for (count, place) in room.iter_mut().enumerate() {
            match self.next() {
                Ok(Some(request)) => *place = request,
                Ok(None) => return (count, Some(Ok(()))),
                Err(error) => return (count, Some(Err(error))),
            }
        }
        (room.len(), None)
    }

    /// Whether none comes any more, where there is none now.
    fn has_ended(&self) -> bool {
        true
    }

    /// The next action of a source of jobs.
    fn turn(&mut self, _now_ns: u64) -> Result<Turn, SourceError> {
        Err(SourceError("the workload has no jobs".into()))
    }

    /// Jobs issue nothing more: they end with the requests under way.
    fn stop(&mut self, _now_ns: u64) {}

    /// A request of a job is done.
    fn done(&mut self, _job: u16, _op: HostOp, _bytes: u64, _latency_ns: u64, _now_ns: u64) {}
}

/// Returns the logical pages that preconditioning overwrites, without end.
pub trait Overwrites: Send {
    /// The next page to write.
    fn next(&mut self) -> Result<Lpn, SourceError>;

    /// Whether its writes have placement hints.
    fn has_hints(&self) -> bool {
        false
    }

    /// The next page to write, with its hint.
    fn next_hinted(&mut self) -> Result<(Lpn, u8), SourceError> {
        self.next().map(|lpn| (lpn, 0))
    }
}

/// Requests from a list: for tests and for small experiments.
pub struct ListSource(std::vec::IntoIter<HostRequest>);

impl ListSource {
    /// These requests, in this order.
    pub fn new(requests: Vec<HostRequest>) -> Self {
        ListSource(requests.into_iter())
    }
}

impl Source for ListSource {
    fn next(&mut self) -> Result<Option<HostRequest>, SourceError> {
        Ok(self.0.next())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_pages_are_distinguished_from_whole_ones() {
        let parts = |offset, bytes| {
            let r = HostRequest::from_bytes(0, HostOp::Write, offset, bytes, 4096);
            (r.first.0, r.pages, r.head_partial, r.tail_partial)
        };
        assert_eq!(parts(0, 4096), (0, 1, false, false));
        assert_eq!(parts(4096, 8192), (1, 2, false, false));
        assert_eq!(parts(512, 512), (0, 1, true, true));
        assert_eq!(parts(0, 512), (0, 1, true, true));
        assert_eq!(parts(512, 8192), (0, 3, true, true));
        assert_eq!(parts(512, 3584), (0, 1, true, false));
        assert_eq!(parts(8192, 0), (2, 1, true, true));
    }
}
