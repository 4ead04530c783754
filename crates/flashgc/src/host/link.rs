//! The state of the host's link.

use crate::context::Context;
use crate::plan::{Additions, Duplex, HostLink, Stage};
use crate::verify::{Happened, Watch};
use crate::workload::{HostOp, HostRequest};
use std::collections::VecDeque;

/// The direction of a transfer.
#[derive(Clone, Copy)]
pub(super) enum Direction {
    /// To the device.
    In,
    /// To the host.
    Out,
}

/// The transfer that crosses the link now, with the place of its request in the slab.
#[derive(Clone, Copy)]
pub(super) enum Crossing {
    /// The data of a write.
    In(u32, HostRequest),
    /// The data of a read.
    Out(u32),
}

impl Crossing {
    /// The place of its request in the slab.
    pub(super) fn request(&self) -> u32 {
        match self {
            Crossing::In(request, _) | Crossing::Out(request) => *request,
        }
    }
}

/// The part of a link that makes one transfer at a time.
#[derive(Clone, Copy, Default)]
struct Lane {
    under_way: Option<Crossing>,
    since_ns: u64,
    /// Time in which data crossed, in ns.
    spent_ns: u64,
}

/// A device's link to its host.
#[derive(Clone)]
pub(super) struct Link {
    rules: HostLink,
    /// One for each direction; a half-duplex link has the first for both.
    lanes: [Lane; 2],
    /// Additions to the time of each transfer, by direction.
    jitter: [Additions; 2],
    /// Requests that wait to come in, in the order of arrival.
    pub(super) incoming: VecDeque<(u32, HostRequest)>,
    /// Reads whose data waits to go out, and its bytes, in the order of their ends.
    pub(super) outgoing: VecDeque<(u32, u64)>,
    /// Whether the pages of a request are being accepted: no other comes in before they are, and
    /// nothing goes out over the same lane.
    pub(super) is_cutting: bool,
}

impl Link {
    pub(super) fn new(rules: HostLink, seed: u64) -> Self {
        Link {
            rules,
            lanes: [Lane::default(); 2],
            jitter: rules.additions(seed),
            incoming: VecDeque::new(),
            outgoing: VecDeque::new(),
            is_cutting: false,
        }
    }

    #[inline(always)]
    fn lane(&mut self, direction: Direction) -> &mut Lane {
        match (self.rules.duplex, direction) {
            (Duplex::Half, _) | (Duplex::Full, Direction::In) => &mut self.lanes[0],
            (Duplex::Full, Direction::Out) => &mut self.lanes[1],
        }
    }

    /// Time in which data crossed in this stage up to now, in ns, where the link has it.
    pub(super) fn spent(&self, stage: Stage, now_ns: u64) -> Option<u64> {
        let at = self.rules.stages().iter().position(|&other| other == stage)?;
        let Lane { under_way, since_ns, spent_ns } = &self.lanes[at];
        Some(spent_ns + under_way.as_ref().map_or(0, |_| now_ns - since_ns))
    }

    /// Whether nothing crosses in this direction, and something may.
    #[inline(always)]
    fn is_free(&mut self, direction: Direction) -> bool {
        let blocks = match direction {
            Direction::In => self.is_cutting,
            Direction::Out => self.is_cutting && self.rules.duplex == Duplex::Half,
        };
        !blocks && self.lane(direction).under_way.is_none()
    }

    /// The data of the read that has waited longest goes out, if its direction is free.
    #[inline(always)]
    pub(super) fn next_goes_out<W: Watch>(&mut self, cx: &mut Context<'_, W>) {
        if !self.outgoing.is_empty()
            && self.is_free(Direction::Out)
            && let Some((id, bytes)) = self.outgoing.pop_front()
        {
            self.begins(Direction::Out, Crossing::Out(id), bytes, cx);
        }
    }

    /// The request that has waited longest comes in, if its direction is free. Returns it if it
    /// needs no time.
    #[inline(always)]
    pub(super) fn next_comes_in<W: Watch>(
        &mut self,
        cx: &mut Context<'_, W>,
    ) -> Option<(u32, HostRequest)> {
        if self.incoming.is_empty() || !self.is_free(Direction::In) {
            return None;
        }
        let (id, request) = self.incoming.pop_front()?;
        if request.op == HostOp::Write {
            self.begins(Direction::In, Crossing::In(id, request), request.bytes, cx);
            return None;
        }
        self.is_cutting = true;
        Some((id, request))
    }

    #[inline(always)]
    fn begins<W: Watch>(
        &mut self,
        direction: Direction,
        crossing: Crossing,
        bytes: u64,
        cx: &mut Context<'_, W>,
    ) {
        let lane = self.lane(direction);
        (lane.under_way, lane.since_ns) = (Some(crossing), cx.now_ns);
        let added_ns = self.jitter[direction as usize].draw_ns();
        let ns = self.rules.rate.ns_for(bytes).saturating_add(added_ns);
        let slot = self.rules.stages()[direction as usize].slot();
        // A time beyond the limit ends the run with an error of its own.
        cx.events.post(slot, cx.now_ns + ns.min(cx.events.time_limit_ns() / 2));
        cx.notify(Happened::Crosses { request: crossing.request() });
    }

    /// The data under way in this direction has crossed.
    #[inline(always)]
    pub(super) fn ends<W: Watch>(
        &mut self,
        direction: Direction,
        cx: &mut Context<'_, W>,
    ) -> Crossing {
        let (lane, to_ns) = (self.lane(direction), cx.now_ns);
        let from_ns = lane.since_ns;
        lane.spent_ns += to_ns - from_ns;
        let crossed = lane.under_way.take().expect("a crossing that ends has begun");
        let op = match crossed {
            Crossing::In(..) => HostOp::Write,
            Crossing::Out(..) => HostOp::Read,
        };
        cx.notify(Happened::Crossed { request: crossed.request(), op, from_ns, to_ns });
        crossed
    }
}
