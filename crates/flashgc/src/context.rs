//! What every room may use: the plan, the clock, the pending events, the counters, the watcher.

use crate::event::Events;
use crate::plan::Plan;
use crate::stats::Counters;
use crate::verify::{Happened, Watch};

/// The surroundings of a call into a room.
pub struct Context<'a, W> {
    /// The plan.
    pub plan: &'a Plan,
    /// The present, in ns.
    pub now_ns: u64,
    /// The pending events.
    pub events: &'a mut Events,
    /// The counters of the run.
    pub counters: &'a mut Counters,
    /// The watcher.
    pub watch: &'a mut W,
}

impl<W: Watch> Context<'_, W> {
    /// Reports an event to the watcher, if there is one.
    #[inline(always)]
    pub fn tell(&mut self, happened: Happened) {
        if W::ACTIVE {
            self.watch.see(self.now_ns, happened);
        }
    }

    /// Copies of a collection have been made, and filled this many blocks: the only place where
    /// they are counted.
    #[inline(always)]
    pub fn count_copies(&mut self, copies: u64, filled: u64) {
        self.counters.gc_moved += copies;
        self.count_summaries(filled);
    }

    /// This many blocks got their summaries.
    #[inline(always)]
    pub fn count_summaries(&mut self, filled: u64) {
        self.counters.overhead += filled * u64::from(self.plan.geometry.shape.summary_pages);
    }
}
