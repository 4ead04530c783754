//! Requests: when they come, how they are cut into page operations, and when they are done.

use super::ahead::Tables;
use super::records::{Cutting, Done, Fault, Pauses, Request, Served};
use super::{FLUSH, Host, Op, OpKind};
use crate::context::Context;
use crate::event::Slot;
use crate::ftl::Writer;
use crate::ftl::map::PageMap;
use crate::ids::Lpn;
use crate::plan::{Arrivals, Plan};
use crate::verify::{Happened, Watch};
use crate::workload::{HostOp, HostRequest, Source, SourceError};

impl Host {
    /// Requests under way.
    #[inline(always)]
    pub fn outstanding(&self) -> u64 {
        self.requests.outstanding
    }

    /// The arrival of the request of an operation under way, in ns; a flush has none.
    pub fn arrived_ns(&self, op: &Op) -> Option<u64> {
        (op.request != FLUSH).then(|| self.requests.slab[op.request as usize].arrived_ns)
    }

    /// Requests done.
    pub fn requests_done(&self) -> u64 {
        self.requests.done
    }

    /// Whether no further request comes.
    #[inline(always)]
    pub fn source_ended(&self) -> bool {
        self.requests.source_ended || self.requests.stops
    }

    /// Whether every request is done.
    #[inline(always)]
    pub fn is_finished(&self) -> bool {
        self.requests.source_ended && self.requests.outstanding == 0
    }

    /// A closed loop begins with this many requests; where there are jobs, the source is asked.
    pub fn open_loop(&mut self, depth: u32) {
        self.requests.to_issue = depth;
    }

    /// Whether a closed loop may issue a request.
    #[inline(always)]
    pub fn may_issue(&self) -> bool {
        self.requests.to_issue > 0 && !self.requests.source_ended
    }

    /// The run ends with the requests that have come. Jobs are notified in their turn, and count
    /// those that are under way.
    pub fn end_source<W: Watch>(&mut self, cx: &mut Context<'_, W>) {
        match cx.plan.arrivals {
            Arrivals::Jobs => (self.requests.stops, self.requests.to_issue) = (true, 1),
            Arrivals::Open | Arrivals::Closed(_) => self.requests.source_ended = true,
        }
        self.requests.arrival = None;
        cx.events.clear(Slot::Arrival);
    }

    /// Takes the next request of an open loop from the source and waits for its time.
    pub fn fetch_arrival<W: Watch>(
        &mut self,
        source: &mut dyn Source,
        tables: &impl Tables,
        cx: &mut Context<'_, W>,
    ) -> Result<(), Fault> {
        if self.requests.source_ended {
            return Ok(());
        }
        self.requests.arrival = self.ahead.next(source, tables, cx.plan).map_err(Fault::Source)?;
        match self.requests.arrival {
            None => self.requests.source_ended = source.has_ended(),
            Some(request) if request.at_ns < cx.now_ns => {
                return Err(Fault::Source(SourceError(format!(
                    "a request of the workload arrives at {} ns, after one at {} ns",
                    request.at_ns, cx.now_ns
                ))));
            }
            Some(request) if request.at_ns > cx.events.time_limit_ns() / 2 => {
                return Err(Fault::TooLong);
            }
            Some(request) => cx.events.post(Slot::Arrival, request.at_ns),
        }
        Ok(())
    }

    /// From now on, these ends of requests are pauses. If there is one, it is over; in it, the
    /// caller issues this many requests.
    pub fn goes_on(&mut self, pauses: Pauses, answers: u32) {
        (self.requests.pauses, self.requests.answers) = (pauses, answers);
        self.requests.to_issue = answers;
    }

    /// Whether a request of an open loop may be issued that its caller does not have yet.
    pub fn pauses(&mut self) -> bool {
        if self.requests.pauses == Pauses::Never {
            return false;
        }
        let has_answer = self.requests.answers > 0;
        self.requests.answers -= u32::from(has_answer);
        !has_answer
    }

    /// Answers of the caller that have yet to be issued.
    pub fn answers(&self) -> u32 {
        self.requests.answers
    }

    /// Takes back the requests of an open loop that are known and have not come, in their order.
    pub fn take_back<W: Watch>(
        &mut self,
        cx: &mut Context<'_, W>,
    ) -> impl Iterator<Item = HostRequest> {
        let awaited = self.requests.arrival.take();
        if awaited.is_some() {
            cx.events.clear(Slot::Arrival);
        }
        awaited.into_iter().chain(self.ahead.take_back())
    }

    /// Whether the next request of an open loop is known, and comes at its time.
    #[inline]
    pub fn awaits_arrival(&self) -> bool {
        self.requests.arrival.is_some()
    }

    /// The awaited request of an open loop.
    #[inline]
    pub fn arrived(&mut self) -> HostRequest {
        self.requests.arrival.take().expect("an arrival event has its request")
    }

    /// The next request in logical time: it comes when the one before it is done.
    #[inline(always)]
    pub fn next_untimed(
        &mut self,
        source: &mut dyn Source,
        tables: &impl Tables,
        plan: &Plan,
    ) -> Result<Option<HostRequest>, SourceError> {
        let request = self.ahead.next(source, tables, plan)?;
        match request {
            Some(_) => self.requests.done += 1,
            None => self.requests.source_ended = true,
        }
        Ok(request)
    }

    /// The next request of a closed loop arrives now, if there is one. Returns it with its number:
    /// it [is here](Host::is_here).
    #[inline(always)]
    pub fn issue<W: Watch>(
        &mut self,
        source: &mut dyn Source,
        tables: &impl Tables,
        cx: &mut Context<'_, W>,
    ) -> Result<Option<(u32, HostRequest)>, Fault> {
        self.requests.to_issue -= 1;
        match self.ahead.next(source, tables, cx.plan) {
            Ok(Some(mut request)) => {
                request.at_ns = cx.now_ns;
                Ok(Some((self.add_request(&request, cx), request)))
            }
            Ok(None) => {
                self.requests.source_ended = true;
                Ok(None)
            }
            Err(error) => Err(Fault::Source(error)),
        }
    }

    /// The page of a request that has one, where there is no link: its operation, if that is next
    /// on its page. The same as if it were [cut](Host::is_here), in one call.
    #[inline(always)]
    pub fn only_page<W: Watch>(
        &mut self,
        id: u32,
        request: &HostRequest,
        cx: &mut Context<'_, W>,
    ) -> Option<u32> {
        debug_assert!(request.pages == 1 && self.enters_at_once() && self.cutting.is_none());
        let &HostRequest { op, high, first, .. } = request;
        self.page(id, op, high, first, request.head_partial || request.tail_partial, cx)
    }

    /// Whether a request is inside as soon as it is here: there is no link and no limit, always a
    /// place, and the firmware takes no time.
    #[inline(always)]
    pub fn enters_at_once(&self) -> bool {
        self.link.is_none()
            && self.entrance.is_none()
            && self.firmware.is_none()
            && self.limits.is_none()
    }

    #[inline(always)]
    pub(super) fn add_request<W: Watch>(
        &mut self,
        request: &HostRequest,
        cx: &mut Context<'_, W>,
    ) -> u32 {
        let requests = &mut self.requests;
        requests.outstanding += 1;
        let outstanding = requests.outstanding;
        let entry = Request {
            arrived_ns: request.at_ns,
            bytes: request.bytes,
            pages_left: request.pages,
            job: request.job,
            op: request.op,
            hint: request.hint,
        };
        let id = match requests.free.pop() {
            Some(at) => {
                requests.slab[at as usize] = entry;
                at
            }
            None => {
                requests.slab.push(entry);
                (requests.slab.len() - 1) as u32
            }
        };
        let HostRequest { offset_bytes, bytes: size_bytes, hint, fua, job, .. } = *request;
        cx.notify(Happened::Arrived {
            request: id,
            job,
            offset_bytes,
            size_bytes,
            hint,
            fua,
            outstanding,
        });
        if fua {
            self.note_forced(id, request);
        }
        id
    }

    /// Who writes a page by this operation: the request that it belongs to, or the last one that
    /// brought the page to the write buffer, of a flush.
    #[inline]
    pub fn writer_of(&self, op: u32, lpn: Lpn) -> Writer {
        let request = self.waiting.op(op).request;
        match self.requests.slab.get(request as usize) {
            Some(&Request { job, hint, .. }) => Writer { job, hint },
            None => self.buffered_writer(lpn),
        }
    }

    /// The kind of a request, and its number of bytes.
    pub(super) fn op_and_bytes(&self, id: u32) -> (HostOp, u64) {
        let Request { op, bytes, .. } = self.requests.slab[id as usize];
        (op, bytes)
    }

    /// The pages of a request are accepted from now on, one by one.
    #[inline(always)]
    pub(super) fn cut(&mut self, id: u32, request: HostRequest) {
        debug_assert!(self.cutting.is_none(), "one request after the other is cut");
        self.cutting = Some(Cutting { id, request, next: 0 });
        self.has_to_place = true;
    }

    /// The next page of the requests that are cut: its operation, if that is next on its page.
    #[inline(always)]
    pub(super) fn next_page<W: Watch>(
        &mut self,
        map: &PageMap,
        cx: &mut Context<'_, W>,
    ) -> Option<u32> {
        // Field by field: a copy of the whole would wait for the stores just before.
        let Cutting { id, request, next } = self.cutting.as_mut()?;
        let (id, at, pages) = (*id, *next, request.pages);
        if at == pages {
            // The last page was placed: the link may serve others.
            let is_flush = request.op == HostOp::Flush;
            self.cutting = None;
            self.has_come_in(cx);
            if is_flush {
                self.flush_comes(id, cx);
            }
            return None;
        }
        *next += 1;
        let (host_op, high, lpn) = (request.op, request.high, Lpn(request.first.0 + at));
        let partial =
            (at == 0 && request.head_partial) || (at + 1 == pages && request.tail_partial);
        if at + 1 == pages && self.link.is_none() {
            self.cutting = None;
        }
        map.prefetch(lpn);
        self.page(id, host_op, high, lpn, partial, cx)
    }

    /// A page of a request is accepted: its operation, if that is next on its page.
    #[inline(always)]
    fn page<W: Watch>(
        &mut self,
        id: u32,
        host_op: HostOp,
        high: bool,
        lpn: Lpn,
        partial: bool,
        cx: &mut Context<'_, W>,
    ) -> Option<u32> {
        let kind = match host_op {
            HostOp::Read => OpKind::Read,
            HostOp::Write if partial => OpKind::ReadRest,
            HostOp::Write => OpKind::Write,
            HostOp::Trim if partial => {
                // A page that is trimmed only in part stays.
                let served = self.request_page_done(id, cx);
                self.served.extend(served);
                return None;
            }
            HostOp::Trim => OpKind::Trim,
            HostOp::Flush => unreachable!("a flush has no pages"),
        };
        let op = self.waiting.add(lpn, id, kind, high);
        cx.notify(Happened::Accepted { op, request: id, lpn, kind: host_op, high });
        self.is_next_on_its_page(lpn, op).then_some(op)
    }

    /// Whether an accepted operation may be placed. If not, it may queue behind the one before it.
    #[inline(always)]
    fn is_next_on_its_page(&mut self, lpn: Lpn, op: u32) -> bool {
        if !self.ordered {
            return true;
        }
        let Some(before) = self.order.accept(self.waiting.ops_mut(), lpn, op) else { return true };
        if self.may_queue_behind(before, op) {
            let plane = self.waiting.op(before).plane;
            self.waiting.set_plane(op, plane);
            return true;
        }
        false
    }

    /// Whether one queue keeps the order of two operations on a page: each is one operation of the
    /// unit, and the first is in the queue. The page holds data once that is done, for a write
    /// binds it, and a read that is queued has found some.
    fn may_queue_behind(&self, before: u32, op: u32) -> bool {
        let is_one = |kind: OpKind| matches!(kind, OpKind::Read | OpKind::Write);
        let before = self.waiting.op(before);
        self.queues_keep_order
            && before.queued
            && is_one(before.kind)
            && is_one(self.waiting.op(op).kind)
    }

    #[inline(always)]
    pub(super) fn notify_done<W: Watch>(&self, op: u32, cx: &mut Context<'_, W>) {
        if W::OPERATIONS {
            let op_of = self.waiting.op(op);
            let kind = match op_of.kind {
                OpKind::Read | OpKind::ReadRest => HostOp::Read,
                OpKind::Write => HostOp::Write,
                OpKind::Trim => HostOp::Trim,
            };
            cx.notify(Happened::Done { op, lpn: op_of.lpn, kind });
        }
    }

    /// One page of a request is done. Returns the request if that is done.
    #[inline(always)]
    pub(super) fn request_page_done<W: Watch>(
        &mut self,
        id: u32,
        cx: &mut Context<'_, W>,
    ) -> Option<Served> {
        let request = &mut self.requests.slab[id as usize];
        match request.op {
            HostOp::Read => cx.counters.host_read += 1,
            HostOp::Write => cx.counters.host_written += 1,
            HostOp::Trim => cx.counters.host_trimmed += 1,
            HostOp::Flush => {}
        }
        request.pages_left -= 1;
        if request.pages_left == 0 { self.pages_done(id, cx) } else { None }
    }

    /// A request is done.
    #[inline(always)]
    pub(super) fn request_done<W: Watch>(&mut self, id: u32, cx: &mut Context<'_, W>) -> Served {
        let requests = &mut self.requests;
        let Request { arrived_ns, bytes, op, job, .. } = requests.slab[id as usize];
        let latency_ns = cx.now_ns - arrived_ns;
        requests.free.push(id);
        requests.outstanding -= 1;
        requests.done += 1;
        if let Some(entrance) = &mut self.entrance {
            self.has_to_place |= entrance.leaves();
        }
        match cx.plan.arrivals {
            Arrivals::Open => {
                let pauses =
                    requests.pauses.follow(requests.outstanding, requests.arrival.is_some());
                requests.to_issue += u32::from(pauses);
            }
            Arrivals::Closed(_) => requests.to_issue += 1,
            Arrivals::Jobs => {
                requests.of_jobs.push(Done { job, op, bytes, latency_ns });
                requests.to_issue = 1;
            }
        }
        let outstanding = requests.outstanding;
        cx.notify(Happened::Served { request: id, job, op, latency_ns, outstanding });
        Served { op, bytes, latency_ns }
    }
}
