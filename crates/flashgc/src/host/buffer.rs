//! The state of the write buffer.

use super::buffered::Buffered;
use super::joined::Joined;
use super::queues::Late;
use crate::plan::WriteBuffer;

/// The buffer of a device.
#[derive(Clone)]
pub(super) struct Buffer {
    pub(super) plan: WriteBuffer,
    pub(super) pages: Buffered,
    /// The operation that accesses the buffer now, and since when, in ns.
    pub(super) accessing: Option<(u32, u64)>,
    /// Operations that wait for their access, in order of arrival.
    pub(super) waiting: Late,
    /// Writes that wait for a place, in order of arrival.
    pub(super) stalled: Late,
    /// Pages of flushes whose program is under way.
    pub(super) programming: u64,
    /// The pages of each flush.
    pub(super) joined: Joined,
    /// Pages of a full flush: those that are programmed together.
    pub(super) slots: u32,
    /// Pages of which a flush is due: so many that one class fills a program.
    pub(super) due: u32,
}

impl Buffer {
    pub(super) fn new(plan: WriteBuffer, slots: u32, classes: u32) -> Self {
        Buffer {
            plan,
            pages: Buffered::new(plan.pages),
            accessing: None,
            waiting: Late::new(),
            stalled: Late::new(),
            programming: 0,
            joined: Joined::default(),
            slots,
            due: slots + classes.saturating_sub(1) * (slots - 1),
        }
    }
}
