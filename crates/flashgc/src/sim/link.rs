//! The host's link: one request crosses at a time, and only in its turn.
//!
//! Requests come in in the order of arrival. The data of a write takes time to cross before its
//! pages are queued; a read and a trim bring none, but do not overtake a write that waits for the
//! link. The data of a read goes out after its last page, before any data that waits to come in.

use super::Sim;
use crate::verify::{Happened, Watch};
use crate::workload::{HostOp, HostRequest};
use flashgc_config::units::Rate;
use std::collections::VecDeque;

/// The transfer that crosses the link now, with the place of its request in the slab.
#[derive(Clone, Copy)]
enum Crossing {
    /// The data of a write.
    In(u32, HostRequest),
    /// The data of a read.
    Out(u32),
}

/// A device's link to its host.
pub(super) struct Link {
    rate: Rate,
    under_way: Option<Crossing>,
    since_ns: u64,
    /// Requests that wait to come in, in the order of arrival.
    incoming: VecDeque<(u32, HostRequest)>,
    /// Reads whose data waits to go out, and its bytes, in the order of their ends.
    outgoing: VecDeque<(u32, u64)>,
    /// Whether the next crossing is being chosen: the effects of that choice must not choose again.
    is_served: bool,
    /// Time in which data crossed, in ns.
    pub spent_ns: u64,
}

impl Link {
    pub(super) fn new(rate: Rate) -> Self {
        Link {
            rate,
            under_way: None,
            since_ns: 0,
            incoming: VecDeque::new(),
            outgoing: VecDeque::new(),
            is_served: false,
            spent_ns: 0,
        }
    }
}

impl<W: Watch> Sim<W> {
    /// The event slot of the link, after those of units and buses.
    pub(super) fn link_slot(&self) -> usize {
        self.units.len() + self.plan.geometry.shape.channels as usize
    }

    /// A request is here: where there is a link it comes in over it.
    #[inline(always)]
    pub(super) fn come_in(&mut self, id: u32, request: HostRequest) {
        let Some(link) = &mut self.link else { return self.cut(id, request) };
        link.incoming.push_back((id, request));
        self.serve_link();
    }

    /// The last page of a request is done: where there is a link a read goes out over it.
    #[inline(always)]
    pub(super) fn pages_done(&mut self, id: u32) {
        if self.link.is_some() {
            let (op, bytes) = self.op_and_bytes(id);
            if let (HostOp::Read, Some(link)) = (op, &mut self.link) {
                link.outgoing.push_back((id, bytes));
                return self.serve_link();
            }
        }
        self.request_done(id);
    }

    /// Starts the next crossing, and accepts requests that need no time to come in.
    fn serve_link(&mut self) {
        let slot = self.link_slot();
        loop {
            let Some(link) = &mut self.link else { return };
            if link.is_served || link.under_way.is_some() {
                return;
            }
            let (crossing, bytes) = if let Some((id, bytes)) = link.outgoing.pop_front() {
                (Crossing::Out(id), bytes)
            } else {
                match link.incoming.pop_front() {
                    None => return,
                    Some((id, request)) if request.op == HostOp::Write => {
                        (Crossing::In(id, request), request.bytes)
                    }
                    Some((id, request)) => {
                        link.is_served = true;
                        self.cut(id, request);
                        self.link_is_free();
                        continue;
                    }
                }
            };
            link.under_way = Some(crossing);
            link.since_ns = self.now_ns;
            // A time beyond the limit ends the run with an error of its own.
            let ns = link.rate.ns_for(bytes).min(self.time_limit_ns / 2);
            self.events.post(slot, self.now_ns + ns);
        }
    }

    fn link_is_free(&mut self) {
        if let Some(link) = &mut self.link {
            link.is_served = false;
        }
    }

    /// The data under way has crossed.
    pub(super) fn crossing_ended(&mut self) {
        let Some(link) = &mut self.link else { return };
        let (from_ns, to_ns) = (link.since_ns, self.now_ns);
        link.spent_ns += to_ns - from_ns;
        let crossed = link.under_way.take().expect("a crossing that ends has begun");
        let op = match crossed {
            Crossing::In(..) => HostOp::Write,
            Crossing::Out(..) => HostOp::Read,
        };
        self.tell(Happened::Crossed { op, from_ns, to_ns });
        match crossed {
            Crossing::In(id, request) => self.cut(id, request),
            Crossing::Out(id) => self.request_done(id),
        }
        self.serve_link();
    }
}
