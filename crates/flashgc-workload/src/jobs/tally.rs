//! The counts of a job.

use super::JobPlan;
use crate::HostOp;
use serde::Serialize;

/// The counts of a job. Lists of three are for reads, writes and trims.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tally {
    /// The number of the job.
    #[serde(skip)]
    pub job: usize,
    /// Its name.
    pub name: String,
    /// Number of clones.
    pub clones: u32,
    /// The depth of all clones together.
    pub depth: u64,
    /// The most requests that were in flight at a time in one clone.
    pub in_flight_max: u32,
    /// Requests that are done.
    pub requests: [u64; 3],
    /// Their bytes.
    pub bytes: [u64; 3],
    /// Sums of their latencies, in ns.
    #[serde(skip)]
    pub latency_sum_ns: [u128; 3],
    /// The longest of their latencies, in ns.
    pub latency_max_ns: [u64; 3],
    /// Flushes that are done.
    pub flushes: u64,
    /// The start of its first clone, in ns.
    pub begun_ns: u64,
    /// The end of its last clone, in ns.
    pub ended_ns: u64,
    /// The rates that it is paced at, in requests per second of all clones, where it is.
    pub requested_iops: [Option<u64>; 3],
    /// The time from its start to the start of its counts, in ns, where it has a ramp that has
    /// ended.
    pub ramp_ns: u64,
}

impl Tally {
    /// The counts of a clone that has not begun.
    pub fn new(job: usize, plan: &JobPlan) -> Self {
        Tally {
            depth: u64::from(plan.depth),
            requested_iops: plan.paces.map(|pace| pace.iops),
            ..Tally::of(job, plan.name.clone())
        }
    }

    /// The counts of one with this number and name, without a depth or a pace.
    pub fn of(job: usize, name: String) -> Self {
        Tally {
            job,
            name,
            clones: 1,
            depth: 0,
            in_flight_max: 0,
            requests: [0; 3],
            bytes: [0; 3],
            latency_sum_ns: [0; 3],
            latency_max_ns: [0; 3],
            flushes: 0,
            begun_ns: 0,
            ended_ns: 0,
            requested_iops: [None; 3],
            ramp_ns: 0,
        }
    }

    /// A request is issued.
    pub fn issued(&mut self, in_flight: u32) {
        self.in_flight_max = self.in_flight_max.max(in_flight);
    }

    /// A request is done.
    pub fn done(&mut self, op: HostOp, bytes: u64, latency_ns: u64) {
        if op == HostOp::Flush {
            self.flushes += 1;
            return;
        }
        let op = op as usize;
        self.requests[op] += 1;
        self.bytes[op] += bytes;
        self.latency_sum_ns[op] += u128::from(latency_ns);
        self.latency_max_ns[op] = self.latency_max_ns[op].max(latency_ns);
    }

    /// Its ramp has ended: it counts from here on.
    pub(super) fn begin(&mut self, now_ns: u64) {
        self.ramp_ns = now_ns.saturating_sub(self.begun_ns);
        (self.requests, self.bytes, self.flushes) = ([0; 3], [0; 3], 0);
        (self.latency_sum_ns, self.latency_max_ns) = ([0; 3], [0; 3]);
    }

    /// Adds another clone.
    pub(super) fn add(&mut self, other: &Tally) {
        self.clones += other.clones;
        self.flushes += other.flushes;
        self.depth += other.depth;
        self.in_flight_max = self.in_flight_max.max(other.in_flight_max);
        self.begun_ns = self.begun_ns.min(other.begun_ns);
        self.ended_ns = self.ended_ns.max(other.ended_ns);
        self.ramp_ns = self.ramp_ns.max(other.ramp_ns);
        for op in 0..3 {
            self.requests[op] += other.requests[op];
            self.bytes[op] += other.bytes[op];
            self.latency_sum_ns[op] += other.latency_sum_ns[op];
            self.latency_max_ns[op] = self.latency_max_ns[op].max(other.latency_max_ns[op]);
            let requested = self.requested_iops[op].zip(other.requested_iops[op]);
            self.requested_iops[op] = requested.map(|(one, two)| one.saturating_add(two));
        }
    }

    /// The mean latency of one kind, in ns.
    pub fn latency_mean_ns(&self, op: HostOp) -> Option<f64> {
        let (sum_ns, count) = (self.latency_sum_ns[op as usize], self.requests[op as usize]);
        (count > 0).then(|| sum_ns as f64 / count as f64)
    }

    /// Requests of one kind per second, from the start of its counts to its end.
    pub fn iops(&self, op: HostOp) -> Option<f64> {
        let ns = self.ended_ns.saturating_sub(self.begun_ns + self.ramp_ns);
        (ns > 0).then(|| self.requests[op as usize] as f64 * 1e9 / ns as f64)
    }
}
