//! The state of a drive for its observers: its requests of the last seconds, and the report so far.

use crate::engine::lock;
use flashgc::report::Report;
use flashgc::stats::Latency;
use flashgc::verify::blame::{Part, Parts, add};
use flashgc::verify::{RequestRow, RequestSink};
use flashgc::workload::HostOp;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

const SECOND_NS: u64 = 1_000_000_000;

/// Seconds that are kept: the last one is not over yet.
const SECONDS: u64 = 5;

/// The requests of one operation.
struct Requests {
    bytes: u64,
    latency: Latency,
    parts: Parts,
}

impl Requests {
    fn new() -> Self {
        Requests { bytes: 0, latency: Latency::new(), parts: Parts::default() }
    }

    fn add(&mut self, other: &Requests) {
        self.bytes += other.bytes;
        self.latency.add(&other.latency);
        add(&mut self.parts, &other.parts);
    }

    /// The rates over this time, as JSON.
    fn to_json(&self, span_ns: u64) -> Value {
        let latency = self.latency.summary();
        let rate = |sum: u64| sum as f64 * SECOND_NS as f64 / span_ns as f64;
        let mean_ns = |part: Part| self.parts[part as usize] as f64 / latency.count as f64;
        let parts: Map<String, Value> = Part::ALL
            .into_iter()
            .filter(|&part| self.parts[part as usize] > 0)
            .map(|part| (part.key().to_string(), mean_ns(part).into()))
            .collect();
        json!({
            "requests": latency.count,
            "iops": rate(latency.count),
            "bytes_per_s": rate(self.bytes),
            "latency_ns": latency,
            "blame_mean_ns": parts,
        })
    }
}

/// The requests that were done in one second of the drive's time.
struct Second {
    number: u64,
    /// Reads and writes.
    by_op: [Requests; 2],
}

/// The requests of the last seconds.
#[derive(Default)]
struct Last(VecDeque<Second>);

impl Last {
    fn add(&mut self, row: &RequestRow) {
        let (HostOp::Read | HostOp::Write) = row.op else { return };
        let number = row.end_ns / SECOND_NS;
        if self.0.back().is_none_or(|last| last.number < number) {
            self.0.push_back(Second { number, by_op: [Requests::new(), Requests::new()] });
            self.forget_before(number);
        }
        let Some(second) = self.0.back_mut() else { return };
        let requests = &mut second.by_op[row.op as usize];
        requests.bytes += row.size_bytes;
        requests.latency.record(row.latency_ns());
        add(&mut requests.parts, &row.parts.unwrap_or_default());
    }

    fn forget_before(&mut self, number: u64) {
        while self.0.front().is_some_and(|first| first.number + SECONDS <= number) {
            self.0.pop_front();
        }
    }

    fn shown(&mut self, now_ns: u64) -> Value {
        self.forget_before(now_ns / SECOND_NS);
        let from_ns = (now_ns / SECOND_NS + 1).saturating_sub(SECONDS) * SECOND_NS;
        let span_ns = (now_ns - from_ns).max(1);
        let of = |op: HostOp| {
            let mut sum = Requests::new();
            self.0.iter().for_each(|second| sum.add(&second.by_op[op as usize]));
            sum.to_json(span_ns)
        };
        json!({ "span_ns": span_ns, "read": of(HostOp::Read), "write": of(HostOp::Write) })
    }
}

/// The requests of a drive that is watched.
#[derive(Clone, Default)]
pub(crate) struct Watching(Arc<Mutex<Last>>);

impl Watching {
    /// Receives a row for each request.
    pub(crate) fn sink(&self) -> RequestSink {
        let last = Arc::clone(&self.0);
        Box::new(move |rows| {
            let mut last = lock(&last);
            rows.iter().for_each(|row| last.add(row));
        })
    }

    /// The state of the drive at this time of its own.
    pub(crate) fn status(&self, so_far: &Report, (least, total): (u32, u64), now_ns: u64) -> Value {
        let mut report = so_far.to_json();
        if let Some(keys) = report.as_object_mut() {
            keys.remove("result_hash");
        }
        json!({
            "now_ns": now_ns,
            "last": lock(&self.0).shown(now_ns),
            "free_blocks": { "least_of_plane": least, "total": total },
            "report": report,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(op: HostOp, end_ns: u64, copies_ns: u64) -> RequestRow {
        let mut parts = Parts::default();
        (parts[Part::Service as usize], parts[Part::Copies as usize]) = (1000, copies_ns);
        let (start_ns, arrival_ns) = (end_ns - 1000, end_ns - 1000 - copies_ns);
        let (request, job, offset_bytes, size_bytes) = (0, 0, 0, 4096);
        let parts = Some(parts);
        RequestRow {
            request,
            job,
            op,
            offset_bytes,
            size_bytes,
            arrival_ns,
            start_ns,
            end_ns,
            parts,
            hint: 0,
        }
    }

    #[test]
    fn the_last_seconds_and_no_others_count() {
        let watching = Watching::default();
        let mut sink = watching.sink();
        for second in 0..10 {
            let at = |within_ns: u64| second * SECOND_NS + within_ns;
            sink(&[row(HostOp::Write, at(10_000), second * 100), row(HostOp::Trim, at(10_500), 0)]);
        }
        // Seconds 5, 6, 7, 8 and half of 9.
        let found = lock(&watching.0).shown(9 * SECOND_NS + SECOND_NS / 2);
        assert_eq!(found["span_ns"], 4_500_000_000_u64);
        assert_eq!(found["write"]["requests"], 5);
        assert_eq!(found["write"]["iops"], 5.0 / 4.5);
        assert_eq!(
            found["write"]["blame_mean_ns"],
            json!({"service_ns": 1000.0, "copies_ns": 700.0})
        );
        assert_eq!(found["read"]["requests"], 0);
        // An idle drive has had none after a while.
        assert_eq!(lock(&watching.0).shown(60 * SECOND_NS)["write"]["requests"], 0);
    }
}
