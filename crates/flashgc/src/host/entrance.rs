//! The places of the device: a bounded number of requests is inside, and the others wait outside.
//!
//! A request takes a place before anything else, and leaves it when it is done. Then another one
//! comes in, at once or when what waits in the device has begun: the one that has waited longest;
//! the next in a sweep over the addresses, as hosts order what waits for a disk; or the first in
//! the queue of the job whose turn it is, as a drive fetches commands from several submission
//! queues.

mod round_robin;

use crate::ids::Lpn;
use crate::plan::{JobQueues, Places, QueueOrder};
use crate::workload::HostRequest;
use round_robin::Turns;
use std::collections::{BTreeMap, VecDeque};

/// The places, and the requests that wait for one.
#[derive(Clone)]
pub(super) struct Entrance {
    most: u32,
    inside: u32,
    /// Whether a place that a request leaves is closed until what waits in the device has begun.
    opens_late: bool,
    is_closed: bool,
    outside: Outside,
}

/// The requests that wait for a place.
#[derive(Clone)]
enum Outside {
    Arrival(VecDeque<(u32, HostRequest)>),
    Address(ByAddress),
    RoundRobin(Turns),
}

/// A sweep over the addresses.
#[derive(Clone)]
struct ByAddress {
    /// Requests that waited so far.
    count: u64,
    /// By address, and of equal ones by arrival.
    waiting: BTreeMap<(u32, u64), (u32, HostRequest)>,
    /// Where the sweep is.
    swept: Lpn,
}

impl ByAddress {
    fn add(&mut self, id: u32, request: HostRequest) {
        self.waiting.insert((request.first.0, self.count), (id, request));
        self.count += 1;
    }

    fn next(&mut self) -> Option<(u32, HostRequest)> {
        let ahead = self.waiting.range((self.swept.0, 0)..).next();
        let (&key, _) = ahead.or_else(|| self.waiting.first_key_value())?;
        self.waiting.remove(&key)
    }
}

impl Entrance {
    /// Free places.
    pub(super) fn new(rules: Places, jobs: &JobQueues, opens_late: bool) -> Self {
        let outside = match rules.order {
            QueueOrder::RoundRobin => Outside::RoundRobin(Turns::new(jobs)),
            QueueOrder::Address => {
                Outside::Address(ByAddress { count: 0, waiting: BTreeMap::new(), swept: Lpn(0) })
            }
            QueueOrder::Arrival => Outside::Arrival(VecDeque::new()),
        };
        Entrance { most: rules.count, inside: 0, opens_late, is_closed: false, outside }
    }

    /// A request of this clone of a job is here. Returns whether it has a place; otherwise it
    /// waits.
    pub(super) fn comes(&mut self, id: u32, request: HostRequest, clone: u16) -> bool {
        let has_place = self.has_place() && self.is_empty();
        if has_place {
            self.comes_in(&request);
            return true;
        }
        match &mut self.outside {
            Outside::Arrival(queue) => queue.push_back((id, request)),
            Outside::Address(queue) => queue.add(id, request),
            Outside::RoundRobin(turns) => turns.add(id, request, clone),
        }
        false
    }

    fn has_place(&self) -> bool {
        self.inside < self.most && !self.is_closed
    }

    /// Whether no request waits.
    fn is_empty(&self) -> bool {
        match &self.outside {
            Outside::Arrival(queue) => queue.is_empty(),
            Outside::Address(queue) => queue.waiting.is_empty(),
            Outside::RoundRobin(turns) => turns.is_empty(),
        }
    }

    fn comes_in(&mut self, request: &HostRequest) {
        self.inside += 1;
        if let Outside::Address(queue) = &mut self.outside {
            queue.swept = request.first;
        }
    }

    /// A request is done. Returns whether another one may take its place now.
    pub(super) fn leaves(&mut self) -> bool {
        self.inside -= 1;
        self.is_closed = self.opens_late;
        !self.is_closed && !self.is_empty()
    }

    /// Opens the places that were closed. Returns whether another request may take one.
    pub(super) fn opens(&mut self) -> bool {
        std::mem::take(&mut self.is_closed) && !self.is_empty()
    }

    /// The next request that comes in, if there is one and a place.
    pub(super) fn next(&mut self) -> Option<(u32, HostRequest)> {
        if !self.has_place() {
            return None;
        }
        let next = match &mut self.outside {
            Outside::Arrival(queue) => queue.pop_front(),
            Outside::Address(queue) => queue.next(),
            Outside::RoundRobin(turns) => turns.next(),
        }?;
        self.comes_in(&next.1);
        Some(next)
    }
}
