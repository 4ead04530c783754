//! The addresses and sizes of requests of one kind.

use super::sizes::{Size, Sizes};
use crate::address::{AddressChoice, Addresses};
use flashgc_model::rng::Random;
use serde::Serialize;

/// Sizes and addresses of the reads, or of the writes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PatternPlan {
    /// Sizes in bytes, with weights.
    pub sizes: Vec<Size>,
    /// The addresses.
    pub address: AddressChoice,
    /// Share of the requests that begin where the one before ended, whatever that one did.
    pub sequential_share: f64,
    /// The other requests access an extent of this many bytes from its start to its end, one after
    /// the other, before they go to another. Then `address` is a distribution over extents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extent_bytes: Option<u64>,
}

/// The part of the drive, from its start, that requests go to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Footprint {
    /// A share of the drive.
    Share(f64),
    /// A number of bytes, in whole pages.
    Bytes(u64),
}

impl Footprint {
    /// Pages on a drive with `exported_pages` pages: at least one, at most all.
    pub fn pages(&self, exported_pages: u32, page_bytes: u64) -> u64 {
        let pages = match *self {
            Footprint::Share(share) => (share * f64::from(exported_pages)) as u64,
            Footprint::Bytes(bytes) => bytes / page_bytes,
        };
        pages.clamp(1, u64::from(exported_pages))
    }
}

/// The units of the first bytes of requests.
#[derive(Clone, Copy, Debug)]
pub struct Aligns {
    /// Multiples of this.
    pub all_bytes: u64,
    /// For requests of at least this size, multiples of this.
    pub large_bytes: u64,
}

/// Draws requests of one pattern.
#[derive(Clone)]
pub struct Pattern {
    sizes: Sizes,
    addresses: Addresses,
    sequential_share: f64,
    extent: Option<Extent>,
    align_bytes: u64,
    large_bytes: u64,
    span_bytes: u64,
}

/// The extent under way, and where its next request begins.
#[derive(Clone)]
struct Extent {
    bytes: u64,
    next: u64,
    end: u64,
}

/// The streams that patterns draw from, and the byte after the request before.
pub struct Draws {
    /// For addresses, and for which requests are sequential.
    pub address: Random,
    /// For sizes.
    pub size: Random,
    /// The end of the request before, in bytes.
    pub next_offset: u64,
}

impl Draws {
    /// From the streams of these names.
    pub fn new(seed: u64, address: &str, size: &str) -> Self {
        Draws {
            address: Random::named(seed, address),
            size: Random::named(seed, size),
            next_offset: 0,
        }
    }
}

impl Pattern {
    /// Over the first `span_bytes` of the drive.
    pub fn new(plan: &PatternPlan, aligns: Aligns, span_bytes: u64) -> Self {
        let Aligns { all_bytes: align_bytes, large_bytes } = aligns;
        let place_bytes = plan.extent_bytes.unwrap_or(align_bytes);
        Pattern {
            sizes: Sizes::new(&plan.sizes, align_bytes),
            addresses: Addresses::new(&plan.address, span_bytes / place_bytes),
            sequential_share: plan.sequential_share,
            extent: plan.extent_bytes.map(|bytes| Extent { bytes, next: 0, end: 0 }),
            align_bytes,
            large_bytes,
            span_bytes,
        }
    }

    /// Whether every request is one whole page at a place of its own, so that [`Self::next_place`]
    /// gives all of it.
    pub fn is_one_page(&self, plan: &PatternPlan, page_bytes: u64) -> bool {
        matches!(plan.sizes[..], [Size::Fixed { bytes, .. }] if bytes == page_bytes)
            && self.align_bytes == page_bytes
            && self.large_bytes == page_bytes
            && self.sequential_share == 0.0
            && self.extent.is_none()
    }

    /// The next place, in units of the alignment.
    #[inline(always)]
    pub fn next_place(&self, draws: &mut Draws) -> u64 {
        self.addresses.next(&mut draws.address)
    }

    /// The next request: its first byte, and its bytes.
    #[inline]
    pub fn next(&mut self, draws: &mut Draws) -> (u64, u64) {
        let bytes = self.sizes.next(&mut draws.size).min(self.span_bytes);
        let (offset, bytes) = self.placed(draws, bytes);
        draws.next_offset = offset + bytes;
        (offset, bytes)
    }

    /// A request of this size; the last one of an extent is cut to end with it.
    #[inline]
    fn placed(&mut self, draws: &mut Draws, bytes: u64) -> (u64, u64) {
        if self.sequential_share > 0.0 && draws.address.unit() < self.sequential_share {
            let fits = draws.next_offset + bytes <= self.span_bytes;
            return (if fits { draws.next_offset } else { 0 }, bytes);
        }
        if let Some(extent) = &mut self.extent {
            return extent.take(&self.addresses, draws, bytes, self.span_bytes);
        }
        (self.drawn_offset(draws, bytes), bytes)
    }

    #[inline]
    fn drawn_offset(&self, draws: &mut Draws, bytes: u64) -> u64 {
        let offset = self.next_place(draws) * self.align_bytes;
        // A request that would leave the footprint is moved back to end with it.
        let offset = offset.min((self.span_bytes - bytes) / self.align_bytes * self.align_bytes);
        if bytes >= self.large_bytes {
            offset / self.large_bytes * self.large_bytes
        } else {
            offset
        }
    }
}

impl Extent {
    /// The next request of the extent, or the first one of another.
    fn take(
        &mut self,
        addresses: &Addresses,
        draws: &mut Draws,
        bytes: u64,
        span_bytes: u64,
    ) -> (u64, u64) {
        if self.next == self.end {
            self.next = addresses.next(&mut draws.address) * self.bytes;
            self.end = (self.next + self.bytes).min(span_bytes);
        }
        let offset = self.next;
        self.next = (offset + bytes).min(self.end);
        (offset, self.next - offset)
    }
}
