//! The write buffer in front of the translation layer (paper preemptible-gc, section V-B, Fig. 16;
//! docs/devices/slc-msr.md#the-write-buffer): a small fast memory of whole logical pages.
//!
//! Life of a page in the buffer:
//! 1. A write of the host that is next on its page finds the page there, or finds a free place, and
//!    is done after one access.
//! 2. Where the buffer is full the write waits: the page used least recently is flushed, and the
//!    write takes its place.
//! 3. Reads of the page are served here, and rewrites absorbed.
//! 4. A flush programs it in flash, while the drive is idle or since a write waits for its place.
//!    It stays readable until the program ends, and for longer if it was rewritten meanwhile.
//!
//! The buffer serves one access at a time. A flush is a page operation without a request, and takes
//! its data when its program begins; the data that it reads here goes out with its bus transfer.

use super::Sim;
use super::buffered::Buffered;
use super::host::{Op, OpKind};
use super::queues::Late;
use crate::ids::Lpn;
use crate::plan::WriteBuffer;
use crate::verify::{Happened, Watch};
use crate::workload::HostOp;
use std::cmp::Reverse;

/// Stands for the request of a flush, which has none.
pub(super) const FLUSH: u32 = u32::MAX;

/// The buffer of a device.
pub(super) struct Buffer {
    plan: WriteBuffer,
    pages: Buffered,
    /// The operation that accesses the buffer now, and since when, in ns.
    accessing: Option<(u32, u64)>,
    /// Operations that wait for their access, in order of arrival.
    waiting: Late,
    /// Writes that wait for a place, in order of arrival.
    stalled: Late,
    /// Flushes whose program is under way.
    programming: u64,
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

    /// Pages whose newest data is only here, or whose flush has not ended.
    pub(super) fn dirty_pages(&self) -> u64 {
        u64::from(self.pages.count())
    }

    /// The pages with data, most recently used first.
    pub(super) fn with_data(&self) -> impl Iterator<Item = Lpn> + '_ {
        self.pages.with_data()
    }

    /// Flushes whose program is under way.
    pub(super) fn programming(&self) -> u64 {
        self.programming
    }
}

impl<W: Watch> Sim<W> {
    /// The event slot of the buffer, behind that of the link.
    pub(super) fn buffer_slot(&self) -> usize {
        self.link_slot() + usize::from(self.link.is_some())
    }

    /// Whether an operation is a flush.
    #[inline(always)]
    pub(super) fn is_flush(&self, op: u32) -> bool {
        self.slabs.ops[op as usize].request == FLUSH
    }

    /// An operation is next on its page: returns whether the buffer takes it.
    pub(super) fn buffer_takes(&mut self, op: u32) -> bool {
        let Op { lpn, kind, request, sequence, .. } = self.slabs.ops[op as usize];
        let Some(buffer) = self.buffer.as_mut().filter(|_| request != FLUSH) else { return false };
        let is_held = buffer.pages.holds(lpn);
        match kind {
            OpKind::Trim => {
                if is_held {
                    self.drop_from_buffer(lpn);
                }
                return false;
            }
            OpKind::Read | OpKind::ReadRest if !is_held => return false,
            OpKind::Read => {
                buffer.pages.touch(lpn);
                self.counters.buffer_hits[0] += 1;
                self.tell(Happened::ReadBuffered { lpn });
            }
            OpKind::Write | OpKind::ReadRest if is_held => {
                // A write of a part of it needs no flash either.
                self.slabs.ops[op as usize].kind = OpKind::Write;
                buffer.pages.rewrite(lpn);
                self.counters.buffer_hits[1] += 1;
            }
            OpKind::Write | OpKind::ReadRest if buffer.pages.has_room() => {
                buffer.pages.insert(lpn);
            }
            OpKind::Write | OpKind::ReadRest => {
                buffer.stalled.push(Reverse((sequence, op)));
                self.counters.buffer_stalls += 1;
                self.tell(Happened::Started { op, lpn });
                self.flush_for_stalled();
                return true;
            }
        }
        self.tell(Happened::Started { op, lpn });
        self.access_buffer(op);
        true
    }

    /// One operation after the other accesses the buffer, in order of arrival.
    fn access_buffer(&mut self, op: u32) {
        let sequence = self.slabs.ops[op as usize].sequence;
        let Some(buffer) = &mut self.buffer else { return };
        buffer.waiting.push(Reverse((sequence, op)));
        self.next_access();
    }

    /// The operation that came first accesses the buffer, if none does.
    fn next_access(&mut self) {
        let slot = self.buffer_slot();
        let Some(buffer) = self.buffer.as_mut().filter(|b| b.accessing.is_none()) else { return };
        let Some(Reverse((_, op))) = buffer.waiting.pop() else { return };
        buffer.accessing = Some((op, self.now_ns));
        self.events.post(slot, self.now_ns + buffer.plan.access_ns);
    }

    /// An access has ended: its operation is done.
    pub(super) fn access_ended(&mut self) {
        let Some(buffer) = &mut self.buffer else { return };
        let (op, from_ns) = buffer.accessing.expect("an access that ends has begun");
        let Op { lpn, kind, .. } = self.slabs.ops[op as usize];
        let writes = kind == OpKind::Write;
        if writes {
            buffer.pages.came(lpn);
        }
        let kind = if writes { HostOp::Write } else { HostOp::Read };
        let to_ns = self.now_ns;
        self.tell(Happened::BufferAccessed { lpn, kind, from_ns, to_ns });
        self.page_done(op);
        // The operation that waited for this page may be older than the others that wait.
        while let Some(op) = self.released.pop() {
            self.enqueue(op);
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.accessing = None;
        }
        self.next_access();
        // The page may be flushed now.
        self.flush_for_stalled();
    }

    /// The host trims a page in the buffer. A flush that has not begun will do nothing.
    fn drop_from_buffer(&mut self, lpn: Lpn) {
        let Some(buffer) = &mut self.buffer else { return };
        if let Some(flush) = buffer.pages.drop_page(lpn) {
            self.slabs.ops[flush as usize].kind = OpKind::Trim;
            let plane = self.slabs.ops[flush as usize].plane;
            self.look_at(self.plan.geometry.unit_of(plane));
        }
        self.place_is_free();
    }

    /// A place is free: the write that has waited longest takes it.
    fn place_is_free(&mut self) {
        let Some(buffer) = &mut self.buffer else { return };
        let Some(Reverse((_, op))) = buffer.stalled.pop() else { return };
        buffer.pages.insert(self.slabs.ops[op as usize].lpn);
        self.access_buffer(op);
    }

    /// Each write that waits for a place has a flush under way, as far as there are pages to
    /// flush.
    fn flush_for_stalled(&mut self) {
        while let Some(buffer) = &self.buffer {
            if buffer.pages.flushing() as usize >= buffer.stalled.len() {
                return;
            }
            let Some(lpn) = buffer.pages.next_to_flush() else { return };
            self.flush(lpn);
        }
    }

    /// While the host waits for nothing one page is flushed, the one used least recently. Returns
    /// whether a flush was queued.
    #[inline]
    pub(super) fn flush_if_idle(&mut self) -> bool {
        let Some(buffer) = &self.buffer else { return false };
        let is_due = buffer.plan.flushes_when_idle
            && self.outstanding == 0
            && !self.source_ended
            && buffer.pages.flushing() == 0;
        let Some(lpn) = buffer.pages.next_to_flush().filter(|_| is_due) else { return false };
        self.flush(lpn);
        true
    }

    fn flush(&mut self, lpn: Lpn) {
        let flush = self.add_op(lpn, FLUSH, OpKind::Write, false);
        if let Some(buffer) = &mut self.buffer {
            buffer.pages.flush_waits(lpn, flush);
        }
        self.enqueue(flush);
    }

    /// A write begins in flash. A flush takes its data from the buffer now.
    #[inline(always)]
    pub(super) fn write_starts(&mut self, op: u32, lpn: Lpn) {
        if !self.is_flush(op) {
            return self.tell(Happened::Started { op, lpn });
        }
        if let Some(buffer) = &mut self.buffer {
            buffer.pages.flush_starts(lpn);
            buffer.programming += 1;
        }
    }

    /// A flush is over. One whose page was trimmed before it began did nothing.
    #[cold]
    pub(super) fn flush_ended(&mut self, op: u32) {
        let Op { lpn, kind, .. } = self.slabs.ops[op as usize];
        self.slabs.free_op(op);
        let Some(buffer) = self.buffer.as_mut().filter(|_| kind == OpKind::Write) else { return };
        buffer.programming -= 1;
        self.counters.flushed += 1;
        if buffer.pages.flush_ends(lpn, op) {
            self.tell(Happened::Flushed { lpn });
            self.place_is_free();
        }
        self.flush_for_stalled();
    }
}
