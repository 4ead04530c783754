//! The rates of a job: each kind of request has its own, and none is issued before it is due.
//!
//! The due times follow from the start and not from the request before, so a job that was held up
//! catches up as far as its depth allows.

use super::JobPlan;
use crate::HostOp;
use flashgc_config::units::Rate;
use flashgc_model::rng::Random;
use serde::{Serialize, Serializer};

const NS_PER_S: u128 = 1_000_000_000;

/// The highest rates of one kind of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct RateCap {
    /// Requests per second.
    pub iops: Option<u64>,
    /// Bytes per time.
    #[serde(serialize_with = "ns_per_byte")]
    pub rate: Option<Rate>,
}

fn ns_per_byte<S: Serializer>(rate: &Option<Rate>, serializer: S) -> Result<S::Ok, S::Error> {
    rate.map(|rate| rate.ns_per_byte()).serialize(serializer)
}

/// The due times of requests.
pub struct Pacer {
    paces: [RateCap; 3],
    gaps: Option<Random>,
    begun_ns: u64,
    /// By which the times of each kind are later, after pauses.
    late_ns: [u64; 3],
    requests: [u64; 3],
    bytes: [u64; 3],
    /// The due time of the next request, where gaps are random.
    drawn_ns: [f64; 3],
}

impl Pacer {
    /// With gaps from this stream, where they are random.
    pub fn new(plan: &JobPlan, gaps: Random) -> Self {
        Pacer {
            paces: plan.paces,
            gaps: plan.poisson.then_some(gaps),
            begun_ns: 0,
            late_ns: [0; 3],
            requests: [0; 3],
            bytes: [0; 3],
            drawn_ns: [0.0; 3],
        }
    }

    /// The job begins.
    pub fn begin(&mut self, now_ns: u64) {
        self.begun_ns = now_ns;
    }

    /// The due time of the next request of this kind, in ns.
    pub fn due_ns(&self, op: HostOp) -> u64 {
        // A flush has no rate.
        let op = op as usize;
        let Some(&RateCap { iops, rate }) = self.paces.get(op) else { return self.begun_ns };
        let mut due_ns = 0;
        if self.gaps.is_some() {
            due_ns = self.drawn_ns[op] as u64;
        } else if let Some(iops) = iops {
            due_ns = ((u128::from(self.requests[op]) * NS_PER_S) / u128::from(iops)) as u64;
        }
        if let Some(rate) = rate {
            due_ns = due_ns.max(rate.ns_for(self.bytes[op]));
        }
        self.begun_ns.saturating_add(due_ns).saturating_add(self.late_ns[op])
    }

    /// Requests that are due before this time are due then, and later ones are delayed by the same
    /// time.
    pub fn restart(&mut self, at_ns: u64) {
        for op in [HostOp::Read, HostOp::Write, HostOp::Trim] {
            self.late_ns[op as usize] += at_ns.saturating_sub(self.due_ns(op));
        }
    }

    /// A request was issued.
    pub fn issued(&mut self, op: HostOp, bytes: u64) {
        if op == HostOp::Flush {
            return;
        }
        let op = op as usize;
        self.requests[op] += 1;
        self.bytes[op] += bytes;
        if let Some((gaps, iops)) = self.gaps.as_mut().zip(self.paces[op].iops) {
            self.drawn_ns[op] += gaps.exponential() * 1e9 / iops as f64;
        }
    }
}
