//! The host's side: requests come in, are cut into page operations, and are done.

use super::buffer::FLUSH;
use super::{Sim, SimError};
use crate::ids::{Lpn, PlaneId};
use crate::plan::{Allocation, Arrivals, HIGH};
use crate::verify::{Happened, Watch};
use crate::workload::{HostOp, HostRequest, Source, SourceError};

/// The kind of a page operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    /// Reads a page for the host.
    Read,
    /// Reads the rest of a page that the host writes in part; the write follows.
    ReadRest,
    /// Writes a page.
    Write,
    /// Discards the data of a page.
    Trim,
}

/// A page operation of the host.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// Its page.
    pub lpn: Lpn,
    /// The request it belongs to; a flush of the write buffer has none.
    pub request: u32,
    /// The plane in whose queue it waits.
    pub plane: PlaneId,
    /// The kind of operation.
    pub kind: OpKind,
    /// Whether it is in a queue of a unit, or has been.
    pub queued: bool,
    /// Whether its request is of high priority.
    pub high: bool,
    /// The next in its list.
    pub next: u32,
    /// The next operation on the same page, where order is kept by table.
    pub behind: u32,
    /// Order of acceptance.
    pub sequence: u64,
}

#[derive(Clone, Copy)]
struct Request {
    arrived_ns: u64,
    bytes: u64,
    pages_left: u32,
    /// The job that it belongs to, where there are several.
    job: u16,
    op: HostOp,
}

/// Requests and page operations under way, in slabs that grow to the longest queue.
#[derive(Default)]
pub struct Slabs {
    pub(super) ops: Vec<Op>,
    free_ops: Vec<u32>,
    requests: Vec<Request>,
    free_requests: Vec<u32>,
    sequence: u64,
}

impl Slabs {
    #[inline(always)]
    fn add_op(&mut self, op: Op) -> u32 {
        if let Some(at) = self.free_ops.pop() {
            self.ops[at as usize] = op;
            return at;
        }
        self.ops.push(op);
        (self.ops.len() - 1) as u32
    }

    #[inline(always)]
    pub(super) fn free_op(&mut self, op: u32) {
        self.free_ops.push(op);
    }

    #[inline(always)]
    fn add_request(&mut self, request: Request) -> u32 {
        if let Some(at) = self.free_requests.pop() {
            self.requests[at as usize] = request;
            return at;
        }
        self.requests.push(request);
        (self.requests.len() - 1) as u32
    }
}

impl<W: Watch> Sim<W> {
    /// Takes the next request of an open loop from the source and waits for its time.
    pub(super) fn fetch_arrival(&mut self, source: &mut dyn Source) -> Result<(), SimError> {
        if self.source_ended {
            return Ok(());
        }
        self.arrival = source.next()?;
        match self.arrival {
            None => {
                self.source_ended = true;
                self.note_end_of_arrivals();
            }
            Some(request) if request.at_ns < self.now_ns => {
                return Err(SimError::Source(SourceError(format!(
                    "a request of the workload arrives at {} ns, after one at {} ns",
                    request.at_ns, self.now_ns
                ))));
            }
            Some(request) => {
                if request.at_ns > self.time_limit_ns / 2 {
                    return Err(SimError::TooLong { limit_ns: self.time_limit_ns / 2 });
                }
                self.events.post(self.arrival_slot(), request.at_ns);
            }
        }
        Ok(())
    }

    /// The event slot of the arrival, behind those of the link and the write buffer.
    pub(super) fn arrival_slot(&self) -> usize {
        self.buffer_slot() + usize::from(self.buffer.is_some())
    }

    /// The awaited request of an open loop is here.
    pub(super) fn request_arrived(&mut self, source: &mut dyn Source) -> Result<(), SimError> {
        if self.plan.arrivals == Arrivals::Jobs {
            self.to_issue = 1;
            return Ok(());
        }
        let request = self.arrival.take().expect("an arrival event has its request");
        self.accept(request, 0);
        self.load.arrived(self.outstanding);
        self.fetch_arrival(source)
    }

    /// Issues the next request of a closed loop.
    pub(super) fn issue(&mut self, source: &mut dyn Source) -> Result<(), SimError> {
        if self.plan.arrivals == Arrivals::Jobs {
            return self.issue_of_jobs(source);
        }
        self.to_issue -= 1;
        match source.next()? {
            None => self.source_ended = true,
            Some(request) => self.accept(HostRequest { at_ns: self.now_ns, ..request }, 0),
        }
        Ok(())
    }

    /// Records a request. Its pages are queued at once, or when it has come in over the link.
    #[inline]
    pub(super) fn accept(&mut self, request: HostRequest, job: u16) {
        self.outstanding += 1;
        self.tell(Happened::Arrived { outstanding: self.outstanding });
        if self.rests {
            self.ahead_ends();
            self.idle_ends();
        }
        let id = self.slabs.add_request(Request {
            arrived_ns: request.at_ns,
            bytes: request.bytes,
            pages_left: request.pages,
            job,
            op: request.op,
        });
        self.come_in(id, request);
    }

    /// The kind of a request, and its number of bytes.
    pub(super) fn op_and_bytes(&self, id: u32) -> (HostOp, u64) {
        let Request { op, bytes, .. } = self.slabs.requests[id as usize];
        (op, bytes)
    }

    /// Cuts a request into page operations and queues them.
    #[inline]
    pub(super) fn cut(&mut self, id: u32, request: HostRequest) {
        for at in 0..request.pages {
            let lpn = Lpn(request.first.0 + at);
            let partial = (at == 0 && request.head_partial)
                || (at + 1 == request.pages && request.tail_partial);
            let kind = match request.op {
                HostOp::Read => OpKind::Read,
                HostOp::Write if partial => OpKind::ReadRest,
                HostOp::Write => OpKind::Write,
                HostOp::Trim if partial => {
                    // A page that is trimmed only in part stays.
                    self.request_page_done(id);
                    continue;
                }
                HostOp::Trim => OpKind::Trim,
            };
            self.accept_page(lpn, id, kind, &request);
        }
    }

    #[inline(always)]
    fn accept_page(&mut self, lpn: Lpn, request: u32, kind: OpKind, host: &HostRequest) {
        self.ftl.map.prefetch(lpn);
        let op = self.add_op(lpn, request, kind, host.high);
        self.tell(Happened::Accepted { op, lpn, kind: host.op, high: host.high });
        if self.plan.ordered
            && let Some(before) = self.order.accept(&mut self.slabs.ops, lpn, op)
        {
            if self.may_queue_behind(before, op) {
                let plane = self.slabs.ops[before as usize].plane;
                self.queue_at(op, plane);
            }
            return;
        }
        self.enqueue(op);
    }

    #[inline(always)]
    pub(super) fn add_op(&mut self, lpn: Lpn, request: u32, kind: OpKind, high: bool) -> u32 {
        let sequence = self.slabs.sequence;
        self.slabs.sequence += 1;
        let plane = PlaneId::NONE;
        let (queued, next, behind) = (false, 0, 0);
        self.slabs.add_op(Op { lpn, request, plane, kind, queued, high, next, behind, sequence })
    }

    /// Whether one queue keeps the order of two operations on a page: each is one operation of the
    /// unit, and the first is in the queue. The page holds data once that is done, for a write
    /// binds it, and a read that is queued has found some.
    fn may_queue_behind(&self, before: u32, op: u32) -> bool {
        let is_one = |kind: OpKind| matches!(kind, OpKind::Read | OpKind::Write);
        let before = &self.slabs.ops[before as usize];
        self.queues_keep_order
            && before.queued
            && is_one(before.kind)
            && is_one(self.slabs.ops[op as usize].kind)
    }

    /// Queues a page operation that is next on its page.
    #[inline(always)]
    pub(super) fn enqueue(&mut self, op: u32) {
        if self.rests && self.buffer_takes(op) {
            return;
        }
        let Op { lpn, kind, .. } = self.slabs.ops[op as usize];
        let plane = if self.plan.allocation == Allocation::Striped {
            self.plan.geometry.striped_plane(lpn)
        } else {
            match self.dynamic_plane(op) {
                Some(plane) => plane,
                None => return self.touches_no_flash(op),
            }
        };
        if self.plan.ordered && self.touches_nothing(lpn, kind) {
            return self.touches_no_flash(op);
        }
        self.queue_at(op, plane);
    }

    /// Puts a page operation into the queue of this plane, at the place of its arrival.
    #[inline(always)]
    pub(super) fn queue_at(&mut self, op: u32, plane: PlaneId) {
        self.slabs.ops[op as usize].plane = plane;
        self.slabs.ops[op as usize].queued = true;
        let Op { kind, high, .. } = self.slabs.ops[op as usize];
        let high = self.preempting.on && kind == OpKind::Write && high;
        let list = if high { HIGH } else { self.list_of(kind) };
        self.queues.push(&mut self.slabs.ops, plane, list, op);
        let unit = self.plan.geometry.unit_of(plane);
        self.units[unit.index()].waiting += 1;
        self.loads[unit.index()] += 1;
        if self.preempting.on {
            self.note_queued(unit, op);
        }
        self.look_at(unit);
    }

    /// Whether an operation needs no flash: trims, and reads of pages that were never written.
    fn touches_nothing(&self, lpn: Lpn, kind: OpKind) -> bool {
        match kind {
            OpKind::Write => false,
            OpKind::Trim => true,
            OpKind::Read | OpKind::ReadRest => !self.ftl.map.ppn_of(lpn).is_some(),
        }
    }

    /// The list in which an operation of this kind waits.
    #[inline(always)]
    fn list_of(&self, kind: OpKind) -> u8 {
        match kind {
            OpKind::Read | OpKind::ReadRest => self.plan.service.read_queue,
            OpKind::Write | OpKind::Trim => self.plan.service.write_queue,
        }
    }

    /// Where dynamic allocation queues an operation: reads where the data is.
    fn dynamic_plane(&mut self, op: u32) -> Option<PlaneId> {
        let Op { lpn, kind, .. } = self.slabs.ops[op as usize];
        if kind == OpKind::Write {
            // Where the plane is chosen later, any plane of the pool names the queue.
            return Some(match self.chooses_at_start {
                true => self.plan.geometry.striped_plane(lpn),
                false if self.groups.is_empty() => self.least_busy_plane(lpn),
                false => self.plane_in_group(op),
            });
        }
        let ppn = self.ftl.map.ppn_of(lpn);
        ppn.is_some().then(|| self.plan.geometry.plane_of(ppn))
    }

    /// Executes an operation that needs no flash.
    pub(super) fn touches_no_flash(&mut self, op: u32) {
        let Op { lpn, kind, request, .. } = self.slabs.ops[op as usize];
        if request == FLUSH {
            return self.flush_ended(op);
        }
        self.tell(Happened::Started { op, lpn });
        match kind {
            OpKind::Read => {
                self.counters.unwritten_read += 1;
                self.tell(Happened::ReadNothing { lpn });
            }
            OpKind::ReadRest => {
                self.slabs.ops[op as usize].kind = OpKind::Write;
                return self.enqueue(op);
            }
            OpKind::Trim => self.trim(lpn),
            OpKind::Write => unreachable!("a write needs flash"),
        }
        self.page_done(op);
    }

    /// A page operation is done: the next on its page may go, its request may be done.
    #[inline(always)]
    pub(super) fn page_done(&mut self, op: u32) {
        let Op { lpn, request, kind, .. } = self.slabs.ops[op as usize];
        if request == FLUSH {
            return self.flush_ended(op);
        }
        if W::ACTIVE {
            let kind = match kind {
                OpKind::Read | OpKind::ReadRest => HostOp::Read,
                OpKind::Write => HostOp::Write,
                OpKind::Trim => HostOp::Trim,
            };
            self.tell(Happened::Done { op, lpn, kind });
        }
        self.instant.goes_on();
        let behind =
            if self.plan.ordered { self.order.leave(&self.slabs.ops, lpn, op) } else { None };
        self.slabs.free_op(op);
        self.request_page_done(request);
        if let Some(behind) = behind
            && !self.slabs.ops[behind as usize].queued
        {
            self.turn_has_come(behind);
        }
    }

    /// An operation is next on its page. Of several the oldest is queued first.
    fn turn_has_come(&mut self, op: u32) {
        let ops = &self.slabs.ops;
        let sequence = ops[op as usize].sequence;
        let at = self.released.partition_point(|&other| ops[other as usize].sequence > sequence);
        self.released.insert(at, op);
    }

    /// One page of a request is done.
    #[inline(always)]
    fn request_page_done(&mut self, id: u32) {
        let request = &mut self.slabs.requests[id as usize];
        match request.op {
            HostOp::Read => self.counters.host_read += 1,
            HostOp::Write => self.counters.host_written += 1,
            HostOp::Trim => self.counters.host_trimmed += 1,
        }
        request.pages_left -= 1;
        if request.pages_left == 0 {
            self.pages_done(id);
        }
    }

    /// A request is done.
    #[inline(always)]
    pub(super) fn request_done(&mut self, id: u32) {
        let Request { arrived_ns, bytes, op, job, .. } = self.slabs.requests[id as usize];
        let latency_ns = self.now_ns - arrived_ns;
        match op {
            HostOp::Read => self.read_latency.record(latency_ns),
            HostOp::Write => self.write_latency.record(latency_ns),
            HostOp::Trim => {}
        }
        if op != HostOp::Trim {
            self.balance.served(latency_ns);
        }
        self.counters.requests[op as usize] += 1;
        if op != HostOp::Trim {
            self.counters.bytes[op as usize] += bytes;
        }
        self.slabs.free_requests.push(id);
        self.outstanding -= 1;
        self.tell(Happened::Served { op, latency_ns, outstanding: self.outstanding });
        self.requests_done += 1;
        if self.counters.host_written >= self.batches.next_at() {
            self.batch_ended();
        }
        match self.plan.arrivals {
            Arrivals::Open => {}
            Arrivals::Closed(_) => self.to_issue += 1,
            Arrivals::Jobs => self.done_of_job(job, op, latency_ns),
        }
    }
}
