//! The surroundings of all rooms: the plan, the clock, the pending events, the counters, the
//! watcher.

use crate::event::Events;
use crate::gc::{Role, Victim};
use crate::plan::Plan;
use crate::stats::Counters;
use crate::verify::{Happened, Watch};

/// The copies of a collection that has ended.
#[derive(Clone, Copy)]
pub struct Copied {
    /// Pages that moved.
    pub pages: u32,
    /// Steps in which they moved.
    pub steps: u32,
    /// Pages among them from sub-blocks outside of the victims.
    pub beside: u32,
}

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
    pub fn notify(&mut self, happened: Happened) {
        self.watch.observe(self.now_ns, happened);
    }

    /// Copies of a collection have been made, and filled this many blocks: the only place where
    /// they are counted.
    #[inline(always)]
    pub fn count_copies(&mut self, copies: u64, filled: u64) {
        self.counters.gc_moved += copies;
        self.count_summaries(filled);
    }

    /// A collection of these victims has ended: the only place where collections are counted.
    #[inline]
    pub fn count_collection(&mut self, victims: &[Victim], copied: Copied) {
        let plan = self.plan;
        let pages = |victim: &Victim| match victim.role {
            Role::Victim => plan.geometry.data_pages_of(victim.block),
            _ => 0,
        };
        let freed: u32 = victims.iter().map(pages).sum();
        let counters = &mut *self.counters;
        counters.jobs += 1;
        if plan.gc.sub_blocks.is_some() {
            add_extent(counters, victims, copied.beside);
        } else {
            counters.victim_blocks += victims.len() as u64;
            for victim in victims {
                counters.victim_valid += u64::from(victim.valid);
                counters.add_victim(victim.valid);
            }
        }
        counters.moved_in_jobs += u64::from(copied.pages);
        counters.copy_steps += u64::from(copied.steps);
        counters.reclaimed_pages += u64::from(freed - copied.pages);
    }

    /// Counts the summaries of this number of filled blocks.
    #[inline(always)]
    pub fn count_summaries(&mut self, filled: u64) {
        self.counters.overhead += filled * u64::from(self.plan.geometry.shape.summary_pages);
    }
}

/// Counts the sub-blocks of a collection that has ended: an extent is the sub-blocks freed by one
/// erase. `beside` is the number of copies from sub-blocks outside of the victims.
#[cold]
fn add_extent(counters: &mut Counters, victims: &[Victim], beside: u32) {
    let is_victim = |victim: &&Victim| victim.role == Role::Victim;
    let valid: u32 = victims.iter().filter(is_victim).map(|victim| victim.valid).sum();
    counters.neighbours_moved += u64::from(beside);
    counters.victim_blocks += victims.iter().filter(is_victim).count() as u64;
    counters.victim_valid += u64::from(valid);
    counters.add_victim(valid);
}
