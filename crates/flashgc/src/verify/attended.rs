//! Requests from outside: the completed ones, with their times and the parts of their latencies.
//!
//! A request is named by its number in order of arrival, which its submitter can count too.

use super::blame::Parts;
use super::slab::entry;
use crate::workload::HostOp;

/// A request that is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Its number in order of arrival, from 0.
    pub number: u64,
    /// Its operation.
    pub op: HostOp,
    /// The time of its end, in ns.
    pub at_ns: u64,
    /// From its arrival until then, in ns.
    pub latency_ns: u64,
    /// The parts of its latency, where latencies are split; only reads and writes have parts.
    pub parts: Option<Parts>,
}

/// The requests under way and those that are done.
#[derive(Clone, Default)]
pub struct Attended {
    /// Requests that have arrived.
    arrived: u64,
    /// By place in the slab of requests: the number.
    numbers: Vec<u64>,
    done: Vec<Done>,
}

impl Attended {
    /// A request came.
    #[inline]
    pub(super) fn arrived(&mut self, request: u32) {
        *entry(&mut self.numbers, request, 0) = self.arrived;
        self.arrived += 1;
    }

    /// A request is done: its operation, its latency in ns, and the parts of it if there are any.
    #[inline]
    pub(super) fn served(
        &mut self,
        request: u32,
        (op, latency_ns): (HostOp, u64),
        at_ns: u64,
        parts: Option<Parts>,
    ) {
        let number = self.numbers[request as usize];
        self.done.push(Done { number, op, at_ns, latency_ns, parts });
    }

    /// The requests that are done since they were cleared, in their order.
    pub fn done(&mut self) -> &mut Vec<Done> {
        &mut self.done
    }
}
