//! The measured part without a clock: requests in logical time.
//!
//! Pages, collections and counts are those of the timed run. No event is posted, no unit and no bus
//! is used, and the clock stays at 0.

use super::{Progress, Sim, SimError};
use crate::store::{Untimed, UntimedError};
use crate::verify::Watch;
use crate::workload::Source;

impl<W: Watch> Sim<W> {
    /// Starts the measured part.
    pub(super) fn start_untimed(&mut self) {
        self.start_counting();
        self.untimed().collect_due();
    }

    /// Serves at most `budget` requests, and returns how far the run is.
    pub(super) fn run_untimed(
        &mut self,
        source: &mut dyn Source,
        budget: u64,
    ) -> Result<Progress, SimError> {
        let mut left = budget;
        while left > 0 && !self.host.is_finished() {
            left -= self.serve_batch(source, left)?;
            if self.counters.host_written >= self.measure.batches.next_at() {
                self.measure.batch_ended(&self.counters);
            }
        }
        let (finished, requests) = (self.host.is_finished(), self.host.requests_done());
        Ok(Progress { finished, requests, now_ns: self.now_ns })
    }

    /// Serves requests until a batch of pages written is over. Returns their number.
    fn serve_batch(&mut self, source: &mut dyn Source, most: u64) -> Result<u64, UntimedError> {
        let next_at = self.measure.batches.next_at();
        let mut untimed = Untimed {
            store: &mut self.store,
            cx: context!(self),
            batches: &mut self.measure.batches,
            overwritten: &mut self.measure.overwritten,
        };
        for served in 0..most {
            if untimed.cx.counters.host_written >= next_at {
                return Ok(served);
            }
            let (ftl, plan) = (&untimed.store.ftl, untimed.cx.plan);
            let Some(request) = self.host.next_untimed(source, ftl, plan)? else {
                return Ok(served);
            };
            untimed.serve(&request)?;
        }
        Ok(most)
    }
}
