//! The places of the device: requests inside it, which the checker counts by what they do.

use rustc_hash::FxHashSet;

/// Requests that have begun inside the device and were not served.
pub(super) struct Inside {
    most: u32,
    /// By place in the slab. Never walked.
    requests: FxHashSet<u32>,
}

impl Inside {
    /// Of a device that holds this number of requests.
    pub(super) fn new(most: u32) -> Self {
        Inside { most, requests: FxHashSet::default() }
    }

    /// A request crosses the host's link, or a page of it was accepted: it has a place.
    pub(super) fn works(&mut self, now_ns: u64, request: u32) {
        self.requests.insert(request);
        let (inside, most) = (self.requests.len(), self.most);
        assert!(
            inside <= most as usize,
            "at {now_ns} ns {inside} requests were in the device, which holds {most}"
        );
    }

    /// A request is done.
    pub(super) fn served(&mut self, request: u32) {
        self.requests.remove(&request);
    }
}
