//! The requests of a workload, counted one by one.

use super::{HostOp, HostRequest, SHORT_GAP_NS};
use flashgc_trace::{HintCounts, HintInfo};
use serde::Serialize;

/// Footprints are in pages of this size whatever the device, as in the description of a trace.
const FOOTPRINT_PAGE_BYTES: u64 = 4096;

/// The counts of reads or of writes.
#[derive(Clone, Default)]
struct Counts {
    requests: u64,
    bytes: u64,
    sequential: u64,
    gaps: GapCounts,
}

/// Times between requests of one kind.
#[derive(Clone, Default)]
struct GapCounts {
    last_ns: Option<u64>,
    gaps: u64,
    sum_ns: u64,
    short: u64,
}

impl GapCounts {
    fn observe(&mut self, at_ns: u64) {
        if let Some(last_ns) = self.last_ns.replace(at_ns) {
            let gap_ns = at_ns.saturating_sub(last_ns);
            self.gaps += 1;
            self.sum_ns = self.sum_ns.saturating_add(gap_ns);
            self.short += u64::from(gap_ns < SHORT_GAP_NS);
        }
    }

    /// The mean, unless no time has passed: a closed loop has none.
    fn mean_ns(&self) -> Option<f64> {
        if self.sum_ns > 0 { ratio(self.sum_ns, self.gaps) } else { None }
    }

    fn short_share(&self) -> Option<f64> {
        if self.sum_ns > 0 { ratio(self.short, self.gaps) } else { None }
    }
}

/// A set of pages.
#[derive(Clone)]
struct Pages(Vec<u64>);

impl Pages {
    fn of(drive_bytes: u64) -> Self {
        Pages(vec![0; drive_bytes.div_ceil(FOOTPRINT_PAGE_BYTES).div_ceil(64) as usize])
    }

    fn touch(&mut self, request: &HostRequest) {
        let end = request.offset_bytes + request.bytes;
        for page in request.offset_bytes / FOOTPRINT_PAGE_BYTES..end.div_ceil(FOOTPRINT_PAGE_BYTES)
        {
            self.0[(page / 64) as usize] |= 1 << (page % 64);
        }
    }

    fn bytes(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum::<u64>() * FOOTPRINT_PAGE_BYTES
    }
}

/// Counts the requests of a workload.
#[derive(Clone)]
pub struct Counter {
    read: Counts,
    write: Counts,
    trims: u64,
    high: u64,
    by_hint: HintCounts,
    all: GapCounts,
    first_ns: Option<u64>,
    next_bytes: Option<u64>,
    touched: Pages,
    written: Pages,
}

/// The statistics of a workload. An undefined value is `None`, such as times in a closed loop.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Statistics {
    /// Requests.
    pub requests: u64,
    /// Reads.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// Trims.
    pub trims: u64,
    /// Requests that are marked as of high priority, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<u64>,
    /// Writes by placement hint, where one has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hints: Option<Vec<HintInfo>>,
    /// Share of the reads among all requests.
    pub read_share: Option<f64>,
    /// Share of the writes among all requests.
    pub write_share: Option<f64>,
    /// Bytes of a read or write, on average.
    pub mean_size_bytes: Option<f64>,
    /// Bytes of a read, on average.
    pub mean_read_size_bytes: Option<f64>,
    /// Bytes of a write, on average.
    pub mean_write_size_bytes: Option<f64>,
    /// Share of the reads and writes that begin where the one before ended.
    pub sequential_share: Option<f64>,
    /// Share of the reads that do.
    pub read_sequential_share: Option<f64>,
    /// Share of the writes that do.
    pub write_sequential_share: Option<f64>,
    /// Time between two requests, on average.
    pub mean_interarrival_ns: Option<f64>,
    /// Time between two reads, on average.
    pub mean_read_interarrival_ns: Option<f64>,
    /// Time between two writes, on average.
    pub mean_write_interarrival_ns: Option<f64>,
    /// Share of the gaps between requests that are shorter than [`SHORT_GAP_NS`].
    pub short_gap_share: Option<f64>,
    /// Share of the gaps between writes that are.
    pub short_write_gap_share: Option<f64>,
    /// From the first request to the last.
    pub duration_ns: u64,
    /// Pages of 4 KiB read or written, each once, in bytes.
    pub footprint_bytes: u64,
    /// Pages of 4 KiB written, each once, in bytes.
    pub written_footprint_bytes: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
}

impl Counter {
    /// Empty statistics, on a drive of this number of bytes.
    pub fn new(drive_bytes: u64) -> Self {
        Counter {
            read: Counts::default(),
            write: Counts::default(),
            trims: 0,
            high: 0,
            by_hint: HintCounts::default(),
            all: GapCounts::default(),
            first_ns: None,
            next_bytes: None,
            touched: Pages::of(drive_bytes),
            written: Pages::of(drive_bytes),
        }
    }

    /// Counts a request. Requests come in order of time and lie on the drive.
    pub fn observe(&mut self, request: &HostRequest) {
        self.all.observe(request.at_ns);
        self.first_ns.get_or_insert(request.at_ns);
        self.high += u64::from(request.high);
        let counts = match request.op {
            HostOp::Read => &mut self.read,
            HostOp::Write => &mut self.write,
            HostOp::Trim => {
                self.trims += 1;
                return;
            }
            HostOp::Flush => return,
        };
        counts.requests += 1;
        counts.bytes += request.bytes;
        counts.gaps.observe(request.at_ns);
        counts.sequential += u64::from(self.next_bytes == Some(request.offset_bytes));
        self.next_bytes = Some(request.offset_bytes + request.bytes);
        self.touched.touch(request);
        if request.op == HostOp::Write {
            self.written.touch(request);
            self.by_hint.add(request.hint, request.bytes);
        }
    }

    /// The statistics of all requests until now.
    pub fn statistics(&self) -> Statistics {
        let (read, write) = (&self.read, &self.write);
        let data = read.requests + write.requests;
        let requests = data + self.trims;
        let last_ns = self.all.last_ns.unwrap_or(0);
        Statistics {
            requests,
            reads: read.requests,
            writes: write.requests,
            trims: self.trims,
            high: (self.high > 0).then_some(self.high),
            hints: self.by_hint.info(),
            read_share: ratio(read.requests, requests),
            write_share: ratio(write.requests, requests),
            mean_size_bytes: ratio(read.bytes + write.bytes, data),
            mean_read_size_bytes: ratio(read.bytes, read.requests),
            mean_write_size_bytes: ratio(write.bytes, write.requests),
            sequential_share: ratio(read.sequential + write.sequential, data),
            read_sequential_share: ratio(read.sequential, read.requests),
            write_sequential_share: ratio(write.sequential, write.requests),
            mean_interarrival_ns: self.all.mean_ns(),
            mean_read_interarrival_ns: read.gaps.mean_ns(),
            mean_write_interarrival_ns: write.gaps.mean_ns(),
            short_gap_share: self.all.short_share(),
            short_write_gap_share: write.gaps.short_share(),
            duration_ns: last_ns - self.first_ns.unwrap_or(last_ns),
            footprint_bytes: self.touched.bytes(),
            written_footprint_bytes: self.written.bytes(),
            read_bytes: read.bytes,
            written_bytes: write.bytes,
        }
    }
}

fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_requests_are_counted() {
        let mut counter = Counter::new(1 << 20);
        assert_eq!(counter.statistics().read_share, None);
        let requests = [
            (0, HostOp::Read, 0, 8192),
            (1_000_000, HostOp::Write, 8192, 4096),
            (1_500_000, HostOp::Trim, 0, 4096),
            (2_400_000, HostOp::Write, 12_288, 512),
            (4_400_000, HostOp::Write, 8192, 4096),
        ];
        for (at_ns, op, offset, bytes) in requests {
            counter.observe(&HostRequest::from_bytes(at_ns, op, offset, bytes, 4096));
        }
        let found = counter.statistics();
        assert_eq!((found.requests, found.reads, found.writes, found.trims), (5, 1, 3, 1));
        assert_eq!((found.read_share, found.high), (Some(0.2), None));
        assert_eq!(found.mean_size_bytes, Some(4224.0));
        assert_eq!(found.mean_write_size_bytes, Some(8704.0 / 3.0));
        assert_eq!(found.sequential_share, Some(0.5));
        assert_eq!(found.write_sequential_share, Some(2.0 / 3.0));
        assert_eq!(found.mean_interarrival_ns, Some(1_100_000.0));
        assert_eq!(found.mean_write_interarrival_ns, Some(1_700_000.0));
        assert_eq!(found.short_gap_share, Some(0.75));
        assert_eq!(found.short_write_gap_share, Some(0.5));
        assert_eq!((found.footprint_bytes, found.written_footprint_bytes), (16_384, 8192));
        assert_eq!(found.duration_ns, 4_400_000);
    }

    #[test]
    fn marked_requests_are_counted() {
        let mut counter = Counter::new(1 << 20);
        for (op, high) in [(HostOp::Write, true), (HostOp::Read, false), (HostOp::Trim, true)] {
            let request = HostRequest::from_bytes(0, op, 0, 4096, 4096);
            counter.observe(&HostRequest { high, ..request });
        }
        assert_eq!(counter.statistics().high, Some(2));
    }

    #[test]
    fn a_closed_loop_has_no_times() {
        let mut counter = Counter::new(1 << 20);
        for _ in 0..3 {
            counter.observe(&HostRequest::from_bytes(0, HostOp::Write, 0, 4096, 4096));
        }
        let found = counter.statistics();
        assert_eq!((found.mean_interarrival_ns, found.short_gap_share), (None, None));
    }
}
