//! The places of the device: a bounded number of requests is inside, and the others wait outside.
//!
//! A request takes a place before anything else, and leaves it when it is done. Then another one
//! comes in: the one that has waited longest, or the next in a sweep over the addresses, as hosts
//! order what waits for a disk.

use crate::ids::Lpn;
use crate::plan::{Places, QueueOrder};
use crate::workload::HostRequest;
use std::collections::BTreeMap;

/// The places, and who waits for one.
pub(super) struct Entrance {
    rules: Places,
    inside: u32,
    /// Requests that came so far.
    count: u64,
    /// By order of coming in: the address where that counts, and the number of the request.
    outside: BTreeMap<(u32, u64), (u32, HostRequest)>,
    /// Where the sweep over the addresses is.
    swept: Lpn,
}

impl Entrance {
    /// Free places.
    pub(super) fn new(rules: Places) -> Self {
        Entrance { rules, inside: 0, count: 0, outside: BTreeMap::new(), swept: Lpn(0) }
    }

    /// A request is here. Returns whether it has a place; otherwise it waits.
    pub(super) fn comes(&mut self, id: u32, request: HostRequest) -> bool {
        let has_place = self.inside < self.rules.count && self.outside.is_empty();
        if has_place {
            self.comes_in(&request);
            return true;
        }
        let address = match self.rules.order {
            QueueOrder::Arrival => 0,
            QueueOrder::Address => request.first.0,
        };
        self.outside.insert((address, self.count), (id, request));
        self.count += 1;
        false
    }

    fn comes_in(&mut self, request: &HostRequest) {
        self.inside += 1;
        if self.rules.order == QueueOrder::Address {
            self.swept = request.first;
        }
    }

    /// A request is done. Returns whether another one waits for its place.
    pub(super) fn leaves(&mut self) -> bool {
        self.inside -= 1;
        !self.outside.is_empty()
    }

    /// The next request that comes in, if there is one and a place.
    pub(super) fn next(&mut self) -> Option<(u32, HostRequest)> {
        if self.inside == self.rules.count {
            return None;
        }
        let ahead = self.outside.range((self.swept.0, 0)..).next();
        let (&key, _) = ahead.or_else(|| self.outside.first_key_value())?;
        let next = self.outside.remove(&key)?;
        self.comes_in(&next.1);
        Some(next)
    }
}
