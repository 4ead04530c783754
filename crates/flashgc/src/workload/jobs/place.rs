//! Where the requests of a clone go, and how large they are.

use super::free::Free;
use super::pass::Orders;
use super::{JobPlan, Passes, Places, Span};
use crate::rng::Random;
use crate::workload::HostOp;
use crate::workload::address::{AddressChoice, Addresses, Group};
use crate::workload::synthetic::sizes::Sizes;

/// Draws the places of a clone.
pub struct Place {
    first_byte: u64,
    span_bytes: u64,
    /// Of each kind: its random places are multiples of this.
    align_bytes: [u64; 3],
    random_share: [f64; 3],
    sizes: [Sizes; 3],
    addresses: [Addresses; 3],
    once: Once,
    /// Where the last request of each kind began and ended.
    starts: [Option<u64>; 3],
    ends: [u64; 3],
    address: Random,
    /// In passes each kind draws its sizes from the same numbers; else all have the first stream.
    size: [Random; 3],
    passes: Option<Passes>,
    /// The streams with which every pass begins, where passes are the same.
    first: Option<Box<(Random, [Random; 3])>>,
}

/// How random requests visit every block once.
enum Once {
    /// They do not.
    No,
    /// In orders that are drawn as a whole.
    Orders(Orders),
    /// A drawn block, or the next one that is free. Each kind counts blocks of its own smallest
    /// size.
    Free(Free),
}

impl Place {
    /// Of one clone, from these streams.
    pub fn new(plan: &JobPlan, span: &Span, mut address: Random, size: Random) -> Self {
        let align_bytes = [0, 1, 2].map(|op| plan.align_of(op));
        let addresses = |op: usize| {
            let blocks = span.bytes / align_bytes[op];
            match &plan.places[op] {
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
            }
        };
        let blocks = span.bytes / plan.align_bytes;
        let once = match (plan.once, plan.passes) {
            (false, _) => Once::No,
            (true, None) => Once::Orders(Orders::new(blocks, &mut address)),
            (true, Some(_)) => Once::Free(Free::new(blocks)),
        };
        let size = [size.clone(), size.clone(), size];
        let repeats = plan.passes == Some(Passes::Same);
        Place {
            first_byte: span.first_byte,
            span_bytes: span.bytes,
            align_bytes,
            random_share: plan.random_share,
            sizes: [0, 1, 2].map(|op| Sizes::new(&plan.sizes[op], align_bytes[op])),
            addresses: [0, 1, 2].map(addresses),
            once,
            starts: [None; 3],
            ends: [0; 3],
            first: repeats.then(|| Box::new((address.clone(), size.clone()))),
            address,
            size,
            passes: plan.passes,
        }
    }

    /// The next request of this kind: its first byte on the drive, and its bytes. `None` where the
    /// pass is over.
    pub fn next(&mut self, op: HostOp) -> Option<(u64, u64)> {
        let (offset, bytes) = match self.passes {
            None => self.wrapped(op as usize),
            Some(_) => self.within(op as usize)?,
        };
        self.starts[op as usize] = Some(offset);
        self.ends[op as usize] = offset + bytes;
        Some((self.first_byte + offset, bytes))
    }

    /// The next request, of one pass after the other.
    pub fn next_for_ever(&mut self, op: HostOp) -> (u64, u64) {
        loop {
            if let Some(found) = self.next(op) {
                return found;
            }
            self.begin_pass();
        }
    }

    /// The next pass begins.
    pub fn begin_pass(&mut self) {
        (self.starts, self.ends) = ([None; 3], [0; 3]);
        if let Once::Free(free) = &mut self.once {
            free.clear();
        }
        if let Some((address, size)) = self.first.as_deref() {
            (self.address, self.size) = (address.clone(), size.clone());
        }
    }

    /// Whether a write is due in a pass of trims with writes: up to where the last trim began.
    pub fn write_is_due(&self) -> bool {
        self.starts[HostOp::Write as usize] != self.starts[HostOp::Trim as usize]
    }

    fn is_random(&mut self, at: usize) -> bool {
        let share = self.random_share[at];
        share >= 1.0 || (share > 0.0 && self.address.unit() < share)
    }

    /// A request behind the end of the part begins at its start, or is moved back.
    fn wrapped(&mut self, at: usize) -> (u64, u64) {
        let bytes = self.sizes[at].next(&mut self.size[0]).min(self.span_bytes);
        let align_bytes = self.align_bytes[at];
        let offset = if self.is_random(at) {
            let block = match &mut self.once {
                Once::Orders(orders) => orders.next(&mut self.address),
                _ => self.addresses[at].next(&mut self.address),
            };
            // A request that would leave the part is moved back to end with it.
            let last = (self.span_bytes - bytes) / align_bytes * align_bytes;
            (block * align_bytes).min(last)
        } else if self.ends[at] + bytes <= self.span_bytes {
            self.ends[at]
        } else {
            0
        };
        (offset, bytes)
    }

    /// A request that fits its place; `None` where none does.
    fn within(&mut self, at: usize) -> Option<(u64, u64)> {
        let align_bytes = self.align_bytes[at];
        let is_random = self.is_random(at);
        let offset = if is_random {
            let drawn = self.addresses[at].next(&mut self.address);
            let block = match &self.once {
                Once::Free(free) => free.next(drawn)?,
                _ => drawn,
            };
            block * align_bytes
        } else {
            self.ends[at]
        };
        let room_bytes = self.span_bytes.saturating_sub(offset);
        if room_bytes < self.sizes[at].smallest_bytes() {
            return None;
        }
        let bytes = self.sizes[at].next_within(room_bytes, &mut self.size[at]);
        match &mut self.once {
            Once::Free(free) if is_random => {
                let visited = free.visit(offset / align_bytes, bytes / align_bytes);
                Some((offset, visited * align_bytes))
            }
            _ => Some((offset, bytes)),
        }
    }
}
