//! Pages of the write buffer are flushed one by one while the host waits for nothing.

use super::task::{Rest, Task};
use crate::plan::Plan;
use crate::verify::Watch;

/// The task. The buffer chooses the pages.
#[derive(Clone)]
pub struct Flush;

impl Flush {
    /// The task of a drive with a write buffer.
    pub fn new(plan: &Plan) -> Option<Self> {
        plan.write_buffer.map(|_| Flush)
    }
}

impl<W: Watch> Task<W> for Flush {
    fn host_rests(&mut self, at: &mut Rest<'_, W>) -> bool {
        !at.host.source_ended() && at.host.flush_when_idle()
    }
}
