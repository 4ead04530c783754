//! Collections come when they are due, and keep their pace.

use super::{Checker, Happened};

impl Checker {
    /// Collections keep their time slices, or are paid for; blocks that are reclaimed had their
    /// reads.
    pub(super) fn observe_pace(&mut self, now_ns: u64, happened: Happened) {
        if let Some(turns) = &mut self.turns {
            turns.observe(&self.geometry, &self.programmed, now_ns, happened);
        }
        if let Some(accounts) = &mut self.accounts {
            accounts.observe(&self.geometry, (&self.programmed, &self.home), now_ns, happened);
        }
        if let Some(reclaims) = &mut self.reclaims {
            reclaims.observe(now_ns, happened, &self.geometry);
        }
    }
}
