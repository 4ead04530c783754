//! The host's link, as the checker follows it: each transfer takes the time of its bytes, a lane
//! has one at a time, and nothing waits for a lane that is free.

use super::Happened;
use super::slab::entry;
use flashgc_model::plan::{Additions, Duplex, HostLink, Stage};
use flashgc_workload::HostOp;

/// A request, by its place in the slab.
#[derive(Clone, Copy, Default)]
struct Crossing {
    bytes: u64,
    /// Since when it has a place, and its command was handled, in ns.
    in_since_ns: u64,
    /// When a page of it was done last, in ns.
    out_since_ns: u64,
}

/// A direction, in ns.
#[derive(Clone, Copy, Default)]
struct Lane {
    /// The end of its last transfer.
    end_ns: u64,
    /// Since when that had waited.
    waited_since_ns: u64,
}

/// What has crossed the link.
pub(super) struct Crossings {
    rules: HostLink,
    requests: Vec<Crossing>,
    request_of_op: Vec<u32>,
    /// To the device, and to the host.
    lanes: [Lane; 2],
    /// What each transfer takes more, drawn by the checker itself.
    jitter: [Additions; 2],
}

impl Crossings {
    pub(super) fn new(rules: HostLink, seed: u64) -> Self {
        let lanes = [Lane::default(); 2];
        let jitter = rules.additions(seed);
        Crossings { rules, requests: Vec::new(), request_of_op: Vec::new(), lanes, jitter }
    }

    /// Takes an event of a request or of one of its pages. Returns the stage and the time of a
    /// transfer that ends.
    pub(super) fn observe(&mut self, now_ns: u64, happened: Happened) -> Option<(Stage, u64)> {
        match happened {
            Happened::Arrived { request, size_bytes, .. } => {
                let new = Crossing { bytes: size_bytes, ..Crossing::default() };
                *entry(&mut self.requests, request, new) = new;
            }
            Happened::ComesIn { request } | Happened::Handled { request, .. } => {
                self.requests[request as usize].in_since_ns = now_ns;
            }
            Happened::Accepted { op, request, .. } => {
                *entry(&mut self.request_of_op, op, request) = request;
                self.accepted(now_ns, request);
            }
            Happened::Done { op, .. } => {
                let request = self.request_of_op[op as usize];
                self.requests[request as usize].out_since_ns = now_ns;
            }
            Happened::Crossed { request, op, from_ns, to_ns } => {
                return Some(self.crossed(request, op, (from_ns, to_ns)));
            }
            _ => {}
        }
        None
    }

    /// A request that carries no data to the device waits only for those before it, which the
    /// lane of the other direction cannot delay.
    fn accepted(&mut self, now_ns: u64, request: u32) {
        if self.rules.duplex == Duplex::Half {
            return;
        }
        let since_ns = self.requests[request as usize].in_since_ns.max(self.lanes[0].end_ns);
        assert_eq!(now_ns, since_ns, "the time at which a request has come in over the link");
    }

    /// The data of a request has crossed the link.
    fn crossed(&mut self, request: u32, op: HostOp, (from_ns, to_ns): (u64, u64)) -> (Stage, u64) {
        let Crossing { bytes, in_since_ns, out_since_ns } = self.requests[request as usize];
        let goes_out = op == HostOp::Read;
        let since_ns = if goes_out { out_since_ns } else { in_since_ns };
        let is_half = self.rules.duplex == Duplex::Half;
        let free_ns = match is_half {
            true => self.lanes[0].end_ns.max(self.lanes[1].end_ns),
            false => self.lanes[usize::from(goes_out)].end_ns,
        };
        assert!(free_ns <= from_ns, "two requests cross the link at {from_ns} ns");
        // Data that leaves a half-duplex link goes before what waits to come in.
        if goes_out || !is_half {
            assert_eq!(from_ns, since_ns.max(free_ns), "the start of a transfer over the link");
        }
        let lane = &mut self.lanes[usize::from(goes_out)];
        assert!(
            lane.waited_since_ns <= since_ns,
            "the link went at {from_ns} ns to data that had waited since {since_ns} ns, after \
             data that had waited since {} ns",
            lane.waited_since_ns
        );
        (lane.end_ns, lane.waited_since_ns) = (to_ns, since_ns);
        let spent_ns = to_ns - from_ns;
        let added_ns = self.jitter[usize::from(goes_out)].draw_ns();
        let expected_ns = self.rules.rate.ns_for(bytes) + added_ns;
        assert_eq!(spent_ns, expected_ns, "the time of {bytes} B on the link");
        (self.rules.stages()[usize::from(goes_out)], spent_ns)
    }
}
