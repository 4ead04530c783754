//! Jobs in parallel: the source is notified of each request that is done, and names the next one.
//!
//! 1. A request is done: it is noted, and the source is to be asked.
//! 2. When nothing else is left to start, the source receives the noted ones and takes its turn: it
//!    issues a request, and is asked again; or it waits, until a time or until a request is done.
//! 3. The time of a wait is the event of the arrival slot, after which the source is asked.

use super::Host;
use super::records::{Done, Fault};
use crate::context::Context;
use crate::event::Slot;
use crate::verify::Watch;
use crate::workload::{Source, Turn};

impl Host {
    /// The source takes its turn. Returns the request that it issues, and its job.
    pub fn turn_of_jobs<W: Watch>(
        &mut self,
        source: &mut dyn Source,
        cx: &mut Context<'_, W>,
    ) -> Result<Option<Turn>, Fault> {
        for Done { job, op, bytes, latency_ns } in self.requests.of_jobs.drain(..) {
            source.done(job, op, bytes, latency_ns, cx.now_ns);
        }
        if self.requests.stops {
            source.stop(cx.now_ns);
        }
        match source.turn(cx.now_ns).map_err(Fault::Source)? {
            turn @ (Turn::Request(..) | Turn::RampEnds(_)) => return Ok(Some(turn)),
            Turn::Wait(at_ns) => {
                self.requests.to_issue = 0;
                cx.events.clear(Slot::Arrival);
                if let Some(at_ns) = at_ns {
                    if at_ns > cx.events.time_limit_ns() / 2 {
                        return Err(Fault::TooLong);
                    }
                    cx.events.post(Slot::Arrival, at_ns);
                }
            }
            Turn::NeverEnds(why) => return Err(Fault::NeverEnds(why)),
            Turn::End => {
                self.requests.source_ended = true;
                cx.events.clear(Slot::Arrival);
            }
        }
        Ok(None)
    }
}
