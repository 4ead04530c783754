//! What had happened when the ramps of the jobs ended: results count from there on.

use crate::device::Spent;
use crate::stats::{Counters, Latency};

/// The state of all counts at the end of the latest ramp; nothing where no job has one.
#[derive(Clone, Default)]
pub struct Before {
    pub(super) at_ns: u64,
    pub(super) counters: Counters,
    pub(super) units: Vec<Spent>,
    pub(super) buses: Vec<Spent>,
    /// Time in which the stages of the host worked, in ns, by number.
    pub(super) stages_ns: Vec<u64>,
    pub(super) erases: Vec<u32>,
    /// The latencies up to then, of reads, writes and flushes.
    pub(super) latencies: [Latency; 3],
}

impl Before {
    /// The time of each part since then.
    pub(super) fn spent_since(before: &[Spent], now: impl Iterator<Item = Spent>) -> Vec<Spent> {
        let since = |(at, spent): (usize, Spent)| {
            let Spent { host_ns, gc_ns } = before.get(at).copied().unwrap_or_default();
            Spent { host_ns: spent.host_ns - host_ns, gc_ns: spent.gc_ns - gc_ns }
        };
        now.enumerate().map(since).collect()
    }

    /// The erases of each block since then.
    pub(super) fn erases_since<'a>(
        &'a self,
        now: impl Iterator<Item = u32> + 'a,
    ) -> impl Iterator<Item = u32> + 'a {
        let before = |block| self.erases.get(block).copied().unwrap_or(0);
        now.enumerate().map(move |(block, erases)| erases - before(block))
    }
}
