//! How the load of an open loop developed.

use crate::device::Spent;

/// How the load of an open loop developed.
#[derive(Clone, Debug, Default)]
pub struct Load {
    arrivals: u64,
    /// Requests under way when the number of arrivals last doubled, and the time before that.
    backlog_at_doubling: [u64; 2],
    backlog_at_end: u64,
    /// Share of the time until the last arrival in which the busiest unit worked.
    busiest_share: f64,
}

/// Below this share of the time the busiest unit has room.
const SATURATED_SHARE: f64 = 0.95;

impl Load {
    /// A request came; `outstanding` requests are under way.
    #[inline(always)]
    pub fn arrived(&mut self, outstanding: u64) {
        self.arrivals += 1;
        if self.arrivals.is_power_of_two() {
            self.backlog_at_doubling = [outstanding, self.backlog_at_doubling[0]];
        }
    }

    /// Whether arrivals outran service: the queue still grew at the end and a unit never rested.
    pub(super) fn is_saturated(&self, units: u64) -> bool {
        // When between a quarter and a half of the requests had come.
        let earlier = self.backlog_at_doubling[1];
        self.busiest_share >= SATURATED_SHARE
            && self.backlog_at_end > 4 * units
            && self.backlog_at_end as f64 > 1.2 * earlier as f64
    }

    /// The source of an open loop has ended; units have worked for this long.
    pub fn arrivals_end(
        &mut self,
        outstanding: u64,
        now_ns: u64,
        spent: impl Iterator<Item = Spent>,
    ) {
        self.backlog_at_end = outstanding;
        let busiest = spent.map(Spent::total_ns).max().unwrap_or(0);
        // Where all requests come at one instant, no unit rested until the last came.
        self.busiest_share = if now_ns > 0 { busiest as f64 / now_ns as f64 } else { 1.0 };
    }
}
