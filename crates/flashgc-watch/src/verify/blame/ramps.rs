//! Parts of latencies count from the end of the ramps of jobs.

use super::Blame;

impl Blame {
    /// The ramp of a job has ended.
    #[cold]
    #[inline(never)]
    pub(super) fn ramp_ends(&mut self, job: u16) {
        (self.read, self.write) = Default::default();
        if let Some(tables) = self.of_jobs.get_mut(usize::from(job)) {
            *tables = Default::default();
        }
    }
}
