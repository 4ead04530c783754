//! The state of the write buffer.

use super::buffered::Buffered;
use super::queues::Late;
use crate::plan::WriteBuffer;

/// The buffer of a device.
pub(super) struct Buffer {
    pub(super) plan: WriteBuffer,
    pub(super) pages: Buffered,
    /// The operation that accesses the buffer now, and since when, in ns.
    pub(super) accessing: Option<(u32, u64)>,
    /// Operations that wait for their access, in order of arrival.
    pub(super) waiting: Late,
    /// Writes that wait for a place, in order of arrival.
    pub(super) stalled: Late,
    /// Flushes whose program is under way.
    pub(super) programming: u64,
}

impl Buffer {
    pub(super) fn new(plan: WriteBuffer) -> Self {
        Buffer {
            plan,
            pages: Buffered::new(plan.pages),
            accessing: None,
            waiting: Late::new(),
            stalled: Late::new(),
            programming: 0,
        }
    }
}
