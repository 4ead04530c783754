//! The latencies of one origin of requests, by kind.

use super::Latency;
use flashgc_workload::HostOp;

/// The latencies of one origin of requests, such as a tenant. Those of trims are not kept.
#[derive(Clone, Default)]
pub struct ByKind {
    /// Of its reads.
    pub read: Latency,
    /// Of its writes.
    pub write: Latency,
    /// Of its flushes.
    pub flush: Latency,
}

impl ByKind {
    /// A request is done.
    pub fn record(&mut self, op: HostOp, latency_ns: u64) {
        match op {
            HostOp::Read => self.read.record(latency_ns),
            HostOp::Write => self.write.record(latency_ns),
            HostOp::Trim => {}
            HostOp::Flush => self.flush.record(latency_ns),
        }
    }
}
