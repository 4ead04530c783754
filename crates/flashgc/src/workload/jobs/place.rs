//! Where the requests of a clone go, and how large they are.

use super::pass::Passes;
use super::{JobPlan, Places, Span};
use crate::rng::Random;
use crate::workload::HostOp;
use crate::workload::address::{AddressChoice, Addresses, Group};
use crate::workload::synthetic::sizes::Sizes;

/// Draws the places of a clone.
pub struct Place {
    first_byte: u64,
    span_bytes: u64,
    align_bytes: u64,
    random_share: [f64; 3],
    sizes: [Sizes; 3],
    addresses: [Addresses; 3],
    passes: Option<Passes>,
    /// Where the last request of each kind ended.
    ends: [u64; 3],
    address: Random,
    size: Random,
}

impl Place {
    /// Of one clone, from these streams.
    pub fn new(plan: &JobPlan, span: &Span, mut address: Random, size: Random) -> Self {
        let blocks = span.bytes / plan.align_bytes;
        let addresses = |op: usize| match &plan.places[op] {
            Places::Choice(choice) => Addresses::new(choice, blocks),
            Places::Zones(zones) => {
                let places = |bytes: u64| (bytes as f64 * span.scale) / span.bytes as f64;
                let group = |zone: &super::Zone| Group {
                    places: places(zone.bytes),
                    requests: zone.requests,
                };
                let groups = zones.iter().map(group).collect();
                Addresses::new(&AddressChoice::Groups(groups), blocks)
            }
        };
        let passes = plan.once.then(|| Passes::new(blocks, &mut address));
        Place {
            first_byte: span.first_byte,
            span_bytes: span.bytes,
            align_bytes: plan.align_bytes,
            random_share: plan.random_share,
            sizes: [0, 1, 2].map(|op| Sizes::new(&plan.sizes[op], plan.align_bytes)),
            addresses: [0, 1, 2].map(addresses),
            passes,
            ends: [0; 3],
            address,
            size,
        }
    }

    /// The next request of this kind: its first byte on the drive, and its bytes.
    pub fn next(&mut self, op: HostOp) -> (u64, u64) {
        let at = op as usize;
        let bytes = self.sizes[at].next(&mut self.size).min(self.span_bytes);
        let share = self.random_share[at];
        let is_random = share >= 1.0 || (share > 0.0 && self.address.unit() < share);
        let offset = if is_random {
            let block = match &mut self.passes {
                Some(passes) => passes.next(&mut self.address),
                None => self.addresses[at].next(&mut self.address),
            };
            // A request that would leave the part is moved back to end with it.
            let last = (self.span_bytes - bytes) / self.align_bytes * self.align_bytes;
            (block * self.align_bytes).min(last)
        } else if self.ends[at] + bytes <= self.span_bytes {
            self.ends[at]
        } else {
            0
        };
        self.ends[at] = offset + bytes;
        (self.first_byte + offset, bytes)
    }
}
