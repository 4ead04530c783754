//! The host's side of the drive: requests come in over the link, are cut into page operations, keep
//! their order on each page, pass the write buffer, wait in the queues of the units, and are done.
//!
//! The room places no operation and starts none: [`Host::next_to_place`] says which operation is
//! next on its page, and the caller finds its plane. Requests that are done are read from
//! [`Host::served`].

mod ahead;
mod buffer;
mod buffered;
mod buffering;
pub mod classes;
mod crossings;
mod entrance;
mod firmware;
mod flush_command;
mod flush_commands;
mod jobs;
mod joined;
mod limits;
mod link;
mod ops;
mod order;
mod queues;
mod records;
mod requests;
mod stages;

pub use ops::{FLUSH, Head, Op, OpKind, Waiting};
pub use records::{Fault, Pauses, Served};
pub use stages::{Passed, StageUse};

use crate::context::Context;
use crate::ftl::map::PageMap;
use crate::ids::{Lpn, UnitId};
use crate::plan::{Completions, Plan};
use crate::verify::Watch;
use crate::workload::HostRequest;
use ahead::Ahead;
pub use ahead::Tables;
use buffer::Buffer;
use entrance::Entrance;
use firmware::Firmware;
use flush_command::{FlushCommand, Forced};
use limits::Limits;
use link::Link;
use order::PageOrder;
use records::{Cutting, Requests};
use std::collections::VecDeque;

/// The requests of the host, and everything that they pass before they wait at a unit.
#[derive(Clone)]
pub struct Host {
    /// Page operations and their queues.
    pub waiting: Waiting,
    requests: Requests,
    ahead: Ahead,
    order: PageOrder,
    /// Whether operations on one logical page must be kept in order by a table.
    ordered: bool,
    /// Whether operations on one page stay in order in the queue of their unit.
    queues_keep_order: bool,
    /// The places of the device, where their number is bounded.
    entrance: Option<Entrance>,
    /// The limits of jobs, where there are any.
    limits: Option<Limits>,
    /// The firmware, where it takes time.
    firmware: Option<Firmware>,
    /// The host's link, where the device has one.
    link: Option<Link>,
    /// The write buffer, where the device has one.
    buffer: Option<Buffer>,
    /// Flush commands that wait for the pages of the buffer.
    flush_commands: Vec<FlushCommand>,
    /// FUA writes whose pages are coming in.
    forced: Vec<Forced>,
    /// Flushes that wait nowhere yet.
    flushes: VecDeque<u32>,
    /// Space for the pages of the next flush.
    to_flush: Vec<Lpn>,
    /// The request whose pages are being accepted.
    cutting: Option<Cutting>,
    /// Page operations that are next on their page, the oldest last.
    released: Vec<u32>,
    /// Whether any of these may be left to place.
    has_to_place: bool,
    /// Requests that are done and have not been read.
    served: Vec<Served>,
    /// Units that have less to do than they were told.
    called: Vec<UnitId>,
}

impl Host {
    /// A host without requests.
    pub fn new(plan: &Plan) -> Self {
        Host {
            waiting: Waiting::new(plan),
            requests: Requests::default(),
            ahead: Ahead::new(plan),
            order: PageOrder::default(),
            ordered: plan.ordered,
            queues_keep_order: plan.queues_keep_order(),
            entrance: plan.front.places.map(|places| {
                Entrance::new(places, &plan.jobs, plan.front.completions == Completions::Together)
            }),
            limits: Limits::new(&plan.jobs),
            firmware: plan.front.firmware.map(|rules| Firmware::new(rules, plan.seed)),
            link: plan.front.host_link.map(|rules| Link::new(rules, plan.seed)),
            buffer: plan
                .write_buffer
                .map(|own| Buffer::new(own, plan.geometry.shape.program_slots, plan.gc.classes())),
            flush_commands: Vec::new(),
            forced: Vec::new(),
            flushes: VecDeque::new(),
            to_flush: Vec::new(),
            cutting: None,
            released: Vec::new(),
            has_to_place: false,
            served: Vec::new(),
            called: Vec::new(),
        }
    }

    /// From now on, order on each page is kept by table, whatever the queues do.
    pub fn keep_order(&mut self) {
        self.ordered = true;
    }

    /// Whether order on each page is kept by table.
    #[inline(always)]
    pub fn keeps_order(&self) -> bool {
        self.ordered
    }

    /// Whether a page operation may be placed, or was until a moment ago.
    #[inline(always)]
    pub fn has_to_place(&self) -> bool {
        self.has_to_place
    }

    /// The next page operation that may be placed: a flush, a page of a request that came in, or
    /// one that has waited for its page.
    #[inline(always)]
    pub fn next_to_place<W: Watch>(
        &mut self,
        map: &PageMap,
        cx: &mut Context<'_, W>,
    ) -> Option<u32> {
        loop {
            if !self.flushes.is_empty() {
                return self.next_flush();
            }
            if self.cutting.is_none() {
                let next = self.released.pop();
                if next.is_none() && self.entrance.is_some() && self.next_comes_in(cx) {
                    continue;
                }
                self.has_to_place = next.is_some();
                return next;
            }
            if let Some(op) = self.next_page(map, cx) {
                return Some(op);
            }
        }
    }

    /// What waits in the device has begun: the places that requests left are open to those outside.
    /// Returns whether one may come in.
    #[inline(always)]
    pub fn opens_entrance(&mut self) -> bool {
        let opens = self.entrance.as_mut().is_some_and(Entrance::opens);
        self.has_to_place |= opens;
        opens
    }

    /// The next flush that waits nowhere yet.
    #[inline(always)]
    pub fn next_flush(&mut self) -> Option<u32> {
        if self.flushes.is_empty() { None } else { self.flushes.pop_front() }
    }

    /// The next operation that has waited for its page.
    pub fn next_released(&mut self) -> Option<u32> {
        self.released.pop()
    }

    /// Requests that are done without the end of a page operation.
    #[inline(always)]
    pub fn served(&self) -> &[Served] {
        &self.served
    }

    /// They have been read.
    #[inline(always)]
    pub fn served_is_read(&mut self) {
        self.served.clear();
    }

    /// Whether there is a unit that should be checked.
    #[inline(always)]
    pub fn has_called(&self) -> bool {
        !self.called.is_empty()
    }

    /// A unit that should be checked.
    #[inline]
    pub fn next_called(&mut self) -> Option<UnitId> {
        self.called.pop()
    }

    /// Takes a request in.
    #[inline(always)]
    pub fn accept<W: Watch>(&mut self, request: HostRequest, cx: &mut Context<'_, W>) {
        let id = self.add_request(&request, cx);
        self.is_here(id, request, cx);
    }

    /// An operation is next on its page. Of several the oldest is placed first.
    fn turn_has_come(&mut self, op: u32) {
        let sequence = self.waiting.op(op).sequence;
        let older = |&other: &u32| self.waiting.op(other).sequence > sequence;
        let at = self.released.partition_point(older);
        self.released.insert(at, op);
        self.has_to_place = true;
    }

    /// The data of a write is in the register, and the host need not wait for its program. The next
    /// operation on its page still does. Returns whether that was not known before.
    pub fn is_loaded<W: Watch>(&mut self, op: u32, cx: &mut Context<'_, W>) -> bool {
        let Op { request, kind, loaded, .. } = *self.waiting.op(op);
        if kind != OpKind::Write || request == FLUSH || loaded {
            return false;
        }
        self.waiting.op_mut(op).loaded = true;
        self.notify_done(op, cx);
        let served = self.request_page_done(request, cx);
        self.served.extend(served);
        true
    }

    /// A page operation is done: the next on its page may go. Returns its request if that is done.
    #[inline(always)]
    pub fn page_done<W: Watch>(&mut self, op: u32, cx: &mut Context<'_, W>) -> Option<Served> {
        let Op { lpn, request, loaded, .. } = *self.waiting.op(op);
        if request == FLUSH {
            self.flush_ended(op, cx);
            return None;
        }
        if !loaded {
            self.notify_done(op, cx);
        }
        let behind = if self.ordered { self.order.leave(self.waiting.op(op), lpn) } else { None };
        self.waiting.free(op);
        let served = if loaded { None } else { self.request_page_done(request, cx) };
        if let Some(behind) = behind
            && !self.waiting.op(behind).queued
        {
            self.turn_has_come(behind);
        }
        served
    }
}
