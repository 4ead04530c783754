//! The state of the host's link.

use crate::workload::HostRequest;
use flashgc_config::units::Rate;
use std::collections::VecDeque;

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

/// A device's link to its host.
#[derive(Clone)]
pub(super) struct Link {
    pub(super) rate: Rate,
    pub(super) under_way: Option<Crossing>,
    pub(super) since_ns: u64,
    /// Requests that wait to come in, in the order of arrival.
    pub(super) incoming: VecDeque<(u32, HostRequest)>,
    /// Reads whose data waits to go out, and its bytes, in the order of their ends.
    pub(super) outgoing: VecDeque<(u32, u64)>,
    /// Whether the pages of a request are being accepted: nothing crosses before they are.
    pub(super) is_cutting: bool,
    /// Time in which data crossed, in ns.
    pub(super) spent_ns: u64,
}

impl Link {
    pub(super) fn new(rate: Rate) -> Self {
        Link {
            rate,
            under_way: None,
            since_ns: 0,
            incoming: VecDeque::new(),
            outgoing: VecDeque::new(),
            is_cutting: false,
            spent_ns: 0,
        }
    }
}
