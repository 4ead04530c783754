//! Jobs side by side: the source is told of each request that is done, and asked what comes next.
//!
//! 1. A request is done: it is noted, and the source is to be asked.
//! 2. When nothing else is left to start, the source hears of the noted ones and takes its turn: it
//!    issues a request, and is asked again; or it waits, until a time or until a request is done.
//! 3. The time of a wait is the event of the arrival slot, after which the source is asked.

use super::{Sim, SimError};
use crate::verify::Watch;
use crate::workload::{HostOp, Source, Turn};

/// A request of a job that is done.
pub(super) struct Done {
    job: u16,
    op: HostOp,
    latency_ns: u64,
}

impl<W: Watch> Sim<W> {
    /// A request of a job is done.
    pub(super) fn done_of_job(&mut self, job: u16, op: HostOp, latency_ns: u64) {
        self.done.push(Done { job, op, latency_ns });
        self.to_issue = 1;
    }

    /// The source takes its turn.
    pub(super) fn issue_of_jobs(&mut self, source: &mut dyn Source) -> Result<(), SimError> {
        for Done { job, op, latency_ns } in self.done.drain(..) {
            source.done(job, op, latency_ns, self.now_ns);
        }
        let slot = self.arrival_slot();
        match source.turn(self.now_ns)? {
            Turn::Request(request, job) => self.accept(request, job),
            Turn::Wait(at_ns) => {
                self.to_issue = 0;
                self.events.clear(slot);
                if let Some(at_ns) = at_ns {
                    if at_ns > self.time_limit_ns / 2 {
                        return Err(SimError::TooLong { limit_ns: self.time_limit_ns / 2 });
                    }
                    self.events.post(slot, at_ns);
                }
            }
            Turn::End => {
                self.source_ended = true;
                self.events.clear(slot);
            }
        }
        Ok(())
    }
}
