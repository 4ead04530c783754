//! The host's link: one request crosses at a time, in the order of asking.
//!
//! The data of a write crosses before its pages are queued, that of a read after its last page;
//! trims have none. A request that has crossed is cut into page operations, or done.

use super::Sim;
use crate::verify::{Happened, Watch};
use crate::workload::{HostOp, HostRequest};
use flashgc_config::units::Rate;
use std::collections::VecDeque;

/// What crosses the link.
#[derive(Clone, Copy)]
enum Crossing {
    /// The data of a write, with the place of its request in the slab.
    In(u32, HostRequest),
    /// The data of a read.
    Out(u32, u64),
}

/// A device's link to its host.
pub(super) struct Link {
    rate: Rate,
    /// What crosses now, and what waits behind it.
    crossings: VecDeque<Crossing>,
    since_ns: u64,
    /// Time in which something crossed, in ns.
    pub spent_ns: u64,
}

impl Link {
    pub(super) fn new(rate: Rate) -> Self {
        Link { rate, crossings: VecDeque::new(), since_ns: 0, spent_ns: 0 }
    }
}

impl<W: Watch> Sim<W> {
    /// The event slot of the link, behind those of units and buses.
    pub(super) fn link_slot(&self) -> usize {
        self.units.len() + self.buses.len()
    }

    /// A write is here: where there is a link it crosses first.
    #[inline(always)]
    pub(super) fn write_comes(&mut self, id: u32, request: HostRequest) {
        match self.link {
            None => self.cut(id, request),
            Some(_) => self.cross(Crossing::In(id, request)),
        }
    }

    /// The last page of a request is done: where there is a link a read crosses it.
    #[inline(always)]
    pub(super) fn pages_done(&mut self, id: u32) {
        if self.link.is_some() {
            let (op, bytes) = self.op_and_bytes(id);
            if op == HostOp::Read {
                return self.cross(Crossing::Out(id, bytes));
            }
        }
        self.request_done(id);
    }

    fn cross(&mut self, crossing: Crossing) {
        let Some(link) = &mut self.link else { return };
        link.crossings.push_back(crossing);
        if link.crossings.len() == 1 {
            self.begin_crossing();
        }
    }

    fn begin_crossing(&mut self) {
        let slot = self.link_slot();
        let Some(link) = &mut self.link else { return };
        let bytes = match link.crossings.front() {
            Some(Crossing::In(_, request)) => request.bytes,
            Some(Crossing::Out(_, bytes)) => *bytes,
            None => return,
        };
        link.since_ns = self.now_ns;
        // A time beyond the limit ends the run with an error of its own.
        let ns = link.rate.ns_for(bytes).min(self.time_limit_ns / 2);
        self.events.post(slot, self.now_ns + ns);
    }

    /// What was under way has crossed.
    pub(super) fn crossing_ended(&mut self) {
        let Some(link) = &mut self.link else { return };
        let (from_ns, to_ns) = (link.since_ns, self.now_ns);
        link.spent_ns += to_ns - from_ns;
        let crossed = link.crossings.pop_front().expect("a crossing that ends has begun");
        let op = match crossed {
            Crossing::In(..) => HostOp::Write,
            Crossing::Out(..) => HostOp::Read,
        };
        self.tell(Happened::Crossed { op, from_ns, to_ns });
        self.begin_crossing();
        match crossed {
            Crossing::In(id, request) => self.cut(id, request),
            Crossing::Out(id, _) => self.request_done(id),
        }
    }
}
