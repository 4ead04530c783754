//! The addresses and sizes of a clone's requests.

use super::free::Free;
use super::pass::Orders;
use super::walk::Walk;
use super::{JobPlan, Passes, Places, Span};
use crate::HostOp;
use crate::address::{AddressChoice, Addresses, Group};
use crate::sprandom::Sprandom;
use crate::synthetic::sizes::Sizes;
use flashgc_model::rng::Random;

/// Draws the places of a clone.
pub struct Place {
    first_byte: u64,
    span_bytes: u64,
    /// The first byte of the part in its file, and the length of the file.
    offset_bytes: u64,
    file_bytes: u64,
    walk: Walk,
    /// Whether a run that meets the end continues at the start; else at another random place.
    wraps: bool,
    /// Whether a sequential request that meets the end continues at a random place, since some
    /// requests are random and some follow those before them.
    jumps: bool,
    /// Requests that are left of a run.
    run_left: u32,
    /// The zone that is visited: its first byte, and the bytes transferred there.
    zone: (u64, u64),
    /// By kind: the unit of random places, in bytes.
    align_bytes: [u64; 3],
    /// By kind: the rotation of popular places, in blocks.
    turns: [u64; 3],
    random_share: [f64; 3],
    sizes: [Sizes; 3],
    addresses: [Addresses; 3],
    once: Once,
    /// The first bytes and the ends of the last request of each kind.
    starts: [Option<u64>; 3],
    ends: [u64; 3],
    passes: Option<Passes>,
}

/// The streams of a clone, which its files share, as in fio.
#[derive(Clone)]
pub struct Draws {
    /// The stream of places.
    pub address: Random,
    /// The stream of the choices between files.
    pub choice: Random,
    /// The streams of sizes: in passes each kind draws them from the same numbers; else all have
    /// the first stream.
    pub sizes: [Random; 3],
}

/// The orders in which random requests visit every block once.
enum Once {
    /// They do not.
    No,
    /// In orders that are drawn as a whole.
    Orders(Orders),
    /// A drawn block, or the next one that is free. Each kind counts blocks of its own smallest
    /// size.
    Free(Free),
    /// As `sprandom` writes them, some of them again.
    Sprandom(Box<Sprandom>),
}

impl Place {
    /// The places of one file of a clone, with the stream of its places.
    pub fn new(plan: &JobPlan, span: &Span, file: u32, address: &mut Random, turn: u64) -> Self {
        let align_bytes = [0, 1, 2].map(|op| plan.align_of(op));
        let walk = plan.walk.scaled(span.scale, plan.align_bytes);
        // Random places lie in a zone, where there are zones.
        let bytes = walk.strides.map_or(span.bytes, |zone| zone.range_bytes.min(span.bytes));
        let groups_of = |choice: &AddressChoice, blocks: u64| match plan.passes {
            Some(_) => Addresses::whole(choice, blocks),
            None => Addresses::new(choice, blocks),
        };
        let addresses = |op: usize| {
            let blocks = bytes / align_bytes[op];
            match &plan.places[op] {
                Places::Choice(choice) => groups_of(choice, blocks),
                Places::Zones(zones) => {
                    // In passes they begin and end with blocks.
                    let of = plan.passes.map_or(span.bytes, |_| blocks * align_bytes[op]);
                    let places = |bytes: u64| (bytes as f64 * span.scale) / of as f64;
                    let group = |zone: &super::Zone| Group {
                        places: places(zone.bytes),
                        requests: zone.requests,
                    };
                    let groups = zones.iter().map(group).collect();
                    groups_of(&AddressChoice::Groups(groups), blocks)
                }
            }
        };
        // Jobs that share a file have popular places of their own, as in fio.
        let turns = [0, 1, 2].map(|op| match &plan.places[op] {
            Places::Choice(choice) if plan.passes.is_some() && choice.is_scattered() => turn,
            _ => 0,
        });
        let blocks = bytes / plan.align_bytes;
        let once = match (plan.once, plan.passes, &plan.sprandom) {
            (_, _, Some(pass)) => {
                Once::Sprandom(Box::new(Sprandom::new(pass, blocks, address.clone())))
            }
            (false, ..) => Once::No,
            (true, None, _) => Once::Orders(Orders::new(blocks, address)),
            (true, Some(_), _) => Once::Free(Free::new(blocks)),
        };
        Place {
            first_byte: span.first_byte + u64::from(file) * span.file_step_bytes,
            span_bytes: span.bytes,
            offset_bytes: span.offset_bytes,
            file_bytes: span.file_bytes,
            walk,
            wraps: plan.time_based,
            jumps: plan.jumps(),
            run_left: 0,
            zone: (0, 0),
            align_bytes,
            turns: [0, 1, 2].map(|op| turns[op] % (bytes / align_bytes[op]).max(1)),
            random_share: plan.random_share,
            sizes: [0, 1, 2].map(|op| Sizes::new(&plan.sizes[op], align_bytes[op])),
            addresses: [0, 1, 2].map(addresses),
            once,
            starts: [None; 3],
            ends: [0; 3],
            passes: plan.passes,
        }
    }

    /// The next request of this kind: its first byte on the drive, and its bytes. `None` where the
    /// pass is over.
    pub fn next(&mut self, op: HostOp, draws: &mut Draws) -> Option<(u64, u64)> {
        let (offset, bytes) = match self.passes {
            _ if matches!(self.once, Once::Sprandom(_)) => self.of_pass(op as usize)?,
            None => self.wrapped(op as usize, draws),
            Some(_) => self.within(op as usize, draws)?,
        };
        self.starts[op as usize] = Some(offset);
        self.ends[op as usize] = offset + bytes;
        Some((self.first_byte + offset, bytes))
    }

    /// The next pass begins.
    pub fn begin_pass(&mut self) {
        self.run_left = 0;
        if let Once::Sprandom(pass) = &mut self.once {
            pass.restart();
        }
        self.enter(0);
    }

    /// Whether a write is due in a pass of trims with writes: up to where the last trim began.
    pub fn write_is_due(&self) -> bool {
        self.starts[HostOp::Write as usize] != self.starts[HostOp::Trim as usize]
    }

    fn is_random(&self, at: usize, address: &mut Random) -> bool {
        let share = self.random_share[at];
        share >= 1.0 || (share > 0.0 && address.unit() < share)
    }

    /// The next block of a pass of `sprandom`, whose requests are whole blocks.
    fn of_pass(&mut self, at: usize) -> Option<(u64, u64)> {
        let Once::Sprandom(pass) = &mut self.once else { return None };
        pass.next().map(|block| (block * self.align_bytes[at], self.align_bytes[at]))
    }

    /// A request behind the end of the part begins at its start, or is moved back.
    fn wrapped(&mut self, at: usize, draws: &mut Draws) -> (u64, u64) {
        let bytes = self.sizes[at].next(&mut draws.sizes[0]).min(self.span_bytes);
        let align_bytes = self.align_bytes[at];
        let address = &mut draws.address;
        let offset = if self.is_random(at, address) {
            let block = match &mut self.once {
                Once::Orders(orders) => orders.next(address),
                _ => self.addresses[at].next(address),
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

    /// A zone is entered, or all of the part where there are none.
    fn enter(&mut self, first_byte: u64) {
        self.zone = (first_byte, 0);
        (self.starts, self.ends) = ([None; 3], [0; 3]);
        if let Once::Free(free) = &mut self.once {
            free.clear();
        }
    }

    /// A request that fits its place; `None` where none does.
    fn within(&mut self, at: usize, draws: &mut Draws) -> Option<(u64, u64)> {
        let Draws { address, sizes, .. } = draws;
        if let Some(zone) = self.walk.strides.filter(|zone| self.zone.1 >= zone.amount_bytes) {
            let next = self.zone.0 + zone.range_bytes + zone.gap_bytes;
            self.enter(if self.offset_bytes + next >= self.file_bytes { 0 } else { next });
        }
        let goes_on = self.run_left > 0;
        self.run_left = if goes_on { self.run_left - 1 } else { self.walk.run - 1 };
        let mut is_random = !goes_on && self.is_random(at, address);
        let smallest = self.sizes[at].smallest_bytes();
        let mut offset =
            if is_random { self.drawn(at, address)? } else { self.following(at, goes_on)? };
        // A rest that is too small ends the pass, as in fio.
        let jumps = self.jumps && !is_random && self.room_bytes(offset) == 0;
        if jumps || (goes_on && self.room_bytes(offset) < smallest) {
            is_random = !self.wraps || jumps;
            offset = if is_random { self.drawn(at, address)? } else { 0 };
        }
        let room_bytes = self.room_bytes(offset);
        if room_bytes < smallest {
            return None;
        }
        let drawn = self.sizes[at].next_within(room_bytes, &mut sizes[at]);
        let bytes = match &mut self.once {
            Once::Free(free) if is_random => {
                let align_bytes = self.align_bytes[at];
                let block = (offset - self.zone.0) / align_bytes;
                free.visit(block, drawn / align_bytes) * align_bytes
            }
            _ => drawn,
        };
        self.zone.1 += bytes;
        Some((offset, bytes))
    }

    fn room_bytes(&self, offset: u64) -> u64 {
        self.span_bytes.saturating_sub(offset)
    }

    /// A random place; `None` where all were visited. The blocks of a zone are free again then.
    fn drawn(&mut self, at: usize, address: &mut Random) -> Option<u64> {
        let mut drawn = self.addresses[at].next(address);
        if self.turns[at] > 0 {
            drawn = (drawn + self.turns[at]) % (self.span_bytes / self.align_bytes[at]);
        }
        let block = match &mut self.once {
            Once::Free(free) => match free.next(drawn) {
                None if self.walk.strides.is_some() => {
                    free.clear();
                    drawn
                }
                found => found?,
            },
            _ => drawn,
        };
        Some(self.zone.0 + block * self.align_bytes[at])
    }

    /// The place of a request that follows the one before of its kind.
    fn following(&self, at: usize, is_of_run: bool) -> Option<u64> {
        let Some(start) = self.starts[at] else { return Some(self.zone.0) };
        if is_of_run && self.walk.stays {
            return Some(start);
        }
        let next = self.walk.after(self.ends[at], self.offset_bytes, self.file_bytes)?;
        let is_behind = |zone_bytes: u64| next >= self.zone.0 + zone_bytes;
        let leaves = self.walk.strides.is_some_and(|zone| is_behind(zone.range_bytes));
        Some(if leaves { self.zone.0 } else { next })
    }
}
