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
//!
//! Where a program joins several mapped pages, a flush takes the same number of pages, and begins
//! as soon as they are here (docs/mapping-unit.md, docs/one-shot.md).

use super::{FLUSH, Host, Op, OpKind};
use crate::context::Context;
use crate::ftl::Writer;
use crate::ids::{Lpn, PlaneId};
use crate::plan::{Drain, Stage};
use crate::verify::{Happened, Watch};
use crate::workload::HostOp;
use std::cmp::Reverse;

impl Host {
    /// Pages in the write buffer whose newest data is only there, or whose flush has not ended,
    /// where there is a buffer.
    pub fn dirty_pages(&self) -> Option<u64> {
        self.buffer.as_ref().map(|buffer| u64::from(buffer.pages.count()))
    }

    /// The pages with data in the write buffer, most recently used first.
    pub fn buffered(&self) -> impl Iterator<Item = Lpn> + '_ {
        self.buffer.iter().flat_map(|buffer| buffer.pages.with_data())
    }

    /// Pages of flushes whose program is under way.
    pub fn flushes_open(&self) -> u64 {
        self.buffer.as_ref().map_or(0, |buffer| buffer.programming)
    }

    /// Whether an operation is a flush.
    #[inline(always)]
    pub fn is_flush(&self, op: u32) -> bool {
        self.waiting.op(op).request == FLUSH
    }

    /// An operation is next on its page: returns whether the buffer takes it.
    #[inline]
    pub(super) fn buffer_takes<W: Watch>(&mut self, op: u32, cx: &mut Context<'_, W>) -> bool {
        let Op { lpn, kind, request, sequence, .. } = *self.waiting.op(op);
        let Some(buffer) = self.buffer.as_mut().filter(|_| request != FLUSH) else { return false };
        let is_held = buffer.pages.holds(lpn);
        match kind {
            OpKind::Trim => {
                if is_held {
                    self.drop_from_buffer(lpn, cx);
                }
                return false;
            }
            OpKind::Read | OpKind::ReadRest if !is_held => return false,
            OpKind::Read => {
                buffer.pages.touch(lpn);
                cx.counters.buffer_hits[0] += 1;
                cx.notify(Happened::ReadBuffered { lpn });
            }
            OpKind::Write | OpKind::ReadRest if is_held => {
                // A write of a part of it needs no flash either.
                self.waiting.becomes_write(op);
                buffer.pages.rewrite(lpn);
                cx.counters.buffer_hits[1] += 1;
            }
            OpKind::Write | OpKind::ReadRest if buffer.pages.has_room() => {
                buffer.pages.insert(lpn);
            }
            OpKind::Write | OpKind::ReadRest => {
                buffer.stalled.push(Reverse((sequence, op)));
                cx.counters.buffer_stalls += 1;
                cx.notify(Happened::Started { op, lpn });
                cx.notify(Happened::AwaitsBuffer { op });
                self.flush_for_stalled();
                return true;
            }
        }
        cx.notify(Happened::Started { op, lpn });
        self.access_buffer(op, cx);
        true
    }

    /// One operation after the other accesses the buffer, in order of arrival.
    fn access_buffer<W: Watch>(&mut self, op: u32, cx: &mut Context<'_, W>) {
        let sequence = self.waiting.op(op).sequence;
        let Some(buffer) = &mut self.buffer else { return };
        cx.notify(Happened::AwaitsBuffer { op });
        buffer.waiting.push(Reverse((sequence, op)));
        self.next_access(cx);
    }

    /// The operation that came first accesses the buffer, if none does.
    fn next_access<W: Watch>(&mut self, cx: &mut Context<'_, W>) {
        let Some(buffer) = self.buffer.as_mut().filter(|b| b.accessing.is_none()) else { return };
        let Some(Reverse((_, op))) = buffer.waiting.pop() else { return };
        buffer.accessing = Some((op, cx.now_ns));
        cx.events.post(Stage::Buffer.slot(), cx.now_ns + buffer.plan.access_ns);
        cx.notify(Happened::AccessesBuffer { op });
    }

    /// An access has ended: its operation is done.
    pub(super) fn access_ended<W: Watch>(&mut self, cx: &mut Context<'_, W>) {
        let Some(buffer) = &self.buffer else { return };
        let (op, from_ns) = buffer.accessing.expect("an access that ends has begun");
        let Op { lpn, kind, .. } = *self.waiting.op(op);
        let writes = kind == OpKind::Write;
        if writes {
            let writer = self.writer_of(op, lpn);
            let Some(buffer) = &mut self.buffer else { return };
            buffer.pages.came(lpn, writer);
            if self.must_go(lpn) {
                self.flush_pages(&[lpn]);
            }
        }
        let kind = if writes { HostOp::Write } else { HostOp::Read };
        let to_ns = cx.now_ns;
        cx.notify(Happened::BufferAccessed { lpn, kind, from_ns, to_ns });
        let served = self.page_done(op, cx);
        self.served.extend(served);
    }

    /// The operations that waited for the page of the last access have been placed: the next one
    /// accesses the buffer, and the page may be flushed.
    pub(super) fn access_next<W: Watch>(&mut self, cx: &mut Context<'_, W>) {
        if let Some(buffer) = &mut self.buffer {
            buffer.accessing = None;
        }
        self.next_access(cx);
        self.flush_for_stalled();
    }

    /// The host trims a page in the buffer. A flush that has not begun will do nothing.
    fn drop_from_buffer<W: Watch>(&mut self, lpn: Lpn, cx: &mut Context<'_, W>) {
        let Some(buffer) = &mut self.buffer else { return };
        if let Some(flush) = buffer.pages.drop_page(lpn) {
            let plane = self.waiting.op(flush).plane;
            match buffer.joined.leave(flush, lpn) {
                Some(first) => self.waiting.op_mut(flush).lpn = first,
                // It has a program, which other pages may fill.
                None if plane != PlaneId::NONE && cx.plan.geometry.has_superblocks() => {}
                None => self.waiting.op_mut(flush).kind = OpKind::Trim,
            }
            if plane != PlaneId::NONE {
                self.called.push(cx.plan.geometry.unit_of(plane));
            }
        }
        self.page_is_trimmed(lpn);
        self.place_is_free(cx);
    }

    /// A place is free: the write that has waited longest takes it.
    fn place_is_free<W: Watch>(&mut self, cx: &mut Context<'_, W>) {
        let Some(buffer) = &mut self.buffer else { return };
        let Some(Reverse((_, op))) = buffer.stalled.pop() else { return };
        buffer.pages.insert(self.waiting.op(op).lpn);
        self.access_buffer(op, cx);
    }

    /// Begins the flushes that are due, as far as there are pages to flush: one for each write
    /// that waits for a place, or one for each full program.
    fn flush_for_stalled(&mut self) {
        while let Some(buffer) = &self.buffer {
            let is_due = match buffer.plan.drain {
                Drain::WhenFull => (buffer.pages.flushing() as usize) < buffer.stalled.len(),
                Drain::AtOnce => buffer.pages.ready() >= buffer.due,
            };
            if !is_due || !self.flush() {
                return;
            }
        }
    }

    /// Begins a flush while the host waits for nothing, if none is under way. Returns whether there
    /// was a page for it.
    pub fn flush_when_idle(&mut self) -> bool {
        let Some(buffer) = &self.buffer else { return false };
        buffer.plan.flushes_when_idle && buffer.pages.flushing() == 0 && self.flush()
    }

    /// Flushes the pages used least recently, as many as a program joins: a page operation
    /// without a request. Returns whether there were enough.
    fn flush(&mut self) -> bool {
        let Some(buffer) = &mut self.buffer else { return false };
        if buffer.pages.ready() < buffer.slots {
            return false;
        }
        let mut pages = std::mem::take(&mut self.to_flush);
        pages.clear();
        pages.extend(buffer.pages.next_to_flush().take(buffer.slots as usize));
        let is_full = pages.len() == buffer.slots as usize;
        if is_full {
            let flush = self.waiting.add(pages[0], FLUSH, OpKind::Write, false);
            pages.iter().for_each(|&lpn| buffer.pages.flush_waits(lpn, flush));
            buffer.joined.add(flush, pages.iter().copied());
            self.flushes.push_back(flush);
            self.has_to_place = true;
        }
        self.to_flush = pages;
        is_full
    }

    /// A write begins in flash. A flush takes its data from the buffer now.
    #[inline(always)]
    pub fn write_starts<W: Watch>(&mut self, op: u32, lpn: Lpn, cx: &mut Context<'_, W>) {
        if !self.is_flush(op) {
            return cx.notify(Happened::Started { op, lpn });
        }
        if let Some(buffer) = &mut self.buffer {
            let pages = buffer.joined.pages(op);
            pages.iter().for_each(|&lpn| buffer.pages.flush_starts(lpn));
            buffer.programming += pages.len() as u64;
        }
    }

    /// A flush takes at most this number of its pages: the others may be flushed later.
    pub fn keep_at_most(&mut self, op: u32, pages: u32) {
        let Some(buffer) = &mut self.buffer else { return };
        let cut: Vec<Lpn> = buffer.joined.cut(op, pages as usize).collect();
        cut.iter().for_each(|&lpn| buffer.pages.flush_is_put_off(lpn));
        self.flush_later(cut.into_iter());
    }

    /// Pages have left their flush: one for which a command waits goes with the next.
    pub(super) fn flush_later(&mut self, left: impl Iterator<Item = Lpn>) {
        let awaited: Vec<Lpn> = left.filter(|&lpn| self.must_go(lpn)).collect();
        self.flush_pages(&awaited);
        self.flush_for_stalled();
    }

    /// Pages that a write operation programs: one, or those of a flush.
    #[inline(always)]
    pub fn pages_of(&self, op: u32) -> u32 {
        let joined = || self.buffer.as_ref().map_or(1, |it| it.joined.pages(op).len() as u32);
        if self.is_flush(op) { joined() } else { 1 }
    }

    /// Who wrote a page of the write buffer last.
    pub(super) fn buffered_writer(&self, lpn: Lpn) -> Writer {
        self.buffer.as_ref().map_or(Writer::default(), |buffer| buffer.pages.writer(lpn))
    }

    /// One of the pages that a write operation programs.
    #[inline(always)]
    pub fn page_at(&self, op: u32, at: u32) -> Lpn {
        match &self.buffer {
            Some(buffer) if self.is_flush(op) => buffer.joined.pages(op)[at as usize],
            _ => self.waiting.op(op).lpn,
        }
    }

    /// A flush is over. One whose pages were all trimmed before it began did nothing.
    #[cold]
    pub fn flush_ended<W: Watch>(&mut self, op: u32, cx: &mut Context<'_, W>) {
        let kind = self.waiting.op(op).kind;
        self.waiting.free(op);
        if kind != OpKind::Write {
            return;
        }
        let mut go_on = Vec::new();
        for at in 0.. {
            let Some(buffer) = &mut self.buffer else { return };
            let Some(&lpn) = buffer.joined.pages(op).get(at) else { break };
            buffer.programming -= 1;
            cx.counters.flushed += 1;
            let is_newest = buffer.pages.is_flushed_by(lpn, op);
            if buffer.pages.flush_ends(lpn, op) {
                cx.notify(Happened::Flushed { lpn });
                self.place_is_free(cx);
            } else if is_newest {
                cx.notify(Happened::FlushedAndKept { lpn });
            }
            if is_newest && self.page_is_safe(lpn, cx) {
                go_on.push(lpn);
            }
        }
        self.flush_pages(&go_on);
        self.flush_for_stalled();
    }
}
