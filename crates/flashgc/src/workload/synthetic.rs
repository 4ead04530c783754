//! Synthetic workloads: address, size, operation and arrival from one seed.
//!
//! Each of the four draws from a stream of its own, so that changing the sizes leaves the
//! addresses as they were.

use super::address::{AddressChoice, Addresses};
use super::{HostOp, HostRequest, Overwrites, Source, SourceError};
use crate::ids::Lpn;
use crate::rng::Random;
use serde::Serialize;

/// A synthetic workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SyntheticPlan {
    /// Requests of the measured part.
    pub requests: u64,
    /// Share of reads.
    pub read_share: f64,
    /// Share of trims.
    pub trim_share: f64,
    /// Sizes in bytes, with weights.
    pub sizes: Vec<Size>,
    /// Where requests go.
    pub address: AddressChoice,
    /// Share of the drive, from its start, that requests go to.
    pub footprint: f64,
    /// Share of the requests that begin where the one before ended.
    pub sequential_share: f64,
    /// Requests begin at multiples of this many bytes.
    pub align_bytes: u64,
    /// When they arrive, in an open loop.
    pub interarrival: Option<Interarrival>,
}

/// One size of a mixture.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Size {
    /// Always the same.
    Fixed {
        /// Bytes.
        bytes: u64,
        /// Weight in the mixture.
        weight: f64,
    },
    /// Exponential, rounded up to a multiple of the alignment.
    Exponential {
        /// Mean before rounding, in bytes.
        mean_bytes: u64,
        /// Weight in the mixture.
        weight: f64,
    },
}

impl Size {
    fn weight(&self) -> f64 {
        match *self {
            Size::Fixed { weight, .. } | Size::Exponential { weight, .. } => weight,
        }
    }
}

/// Time between arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interarrival {
    /// Always the same.
    Fixed {
        /// In ns.
        ns: u64,
    },
    /// Exponential.
    Exponential {
        /// Mean, in ns.
        mean_ns: u64,
    },
    /// Two-phase hyper-exponential with a given share of short gaps.
    Bursty {
        /// Share of arrivals in the fast phase.
        fast_share: f64,
        /// Mean gap of the fast phase, in ns.
        fast_ns: f64,
        /// Mean gap of the slow phase, in ns.
        slow_ns: f64,
    },
}

impl Interarrival {
    /// The bursty arrivals with this mean gap, of whose gaps the share `share` is shorter than
    /// `below_ns`. `None` where no mixture of two exponentials has both.
    ///
    /// The slow phase is the free parameter: the fast one is a tenth of `below_ns`, and its share
    /// and the slow mean follow from the two conditions.
    pub fn bursty(mean_ns: f64, below_ns: f64, share: f64) -> Option<Interarrival> {
        let fast_ns = (below_ns / 10.0).min(mean_ns);
        let fast_below = 1.0 - libm::exp(-below_ns / fast_ns);
        // The share of short gaps grows with the share of the fast phase: bisect.
        let slow_ns = |p: f64| (mean_ns - p * fast_ns) / (1.0 - p);
        let short = |p: f64| p * fast_below + (1.0 - p) * (1.0 - libm::exp(-below_ns / slow_ns(p)));
        let (mut low, mut high) = (0.0, 1.0 - 1e-9);
        if share < short(low) - 1e-9 || share > short(high) {
            return None;
        }
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if short(middle) < share {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(Interarrival::Bursty { fast_share: low, fast_ns, slow_ns: slow_ns(low) })
    }

    fn next_ns(&self, random: &mut Random) -> u64 {
        match *self {
            Interarrival::Fixed { ns } => ns,
            Interarrival::Exponential { mean_ns } => {
                libm::round(random.exponential() * mean_ns as f64) as u64
            }
            Interarrival::Bursty { fast_share, fast_ns, slow_ns } => {
                let mean_ns = if random.unit() < fast_share { fast_ns } else { slow_ns };
                libm::round(random.exponential() * mean_ns) as u64
            }
        }
    }
}

/// Draws the requests of a plan.
pub struct Synthetic {
    plan: SyntheticPlan,
    page_bytes: u64,
    span_bytes: u64,
    left: u64,
    at_ns: u64,
    first: bool,
    next_offset: u64,
    addresses: Addresses,
    arrival: Random,
    address: Random,
    size: Random,
    op: Random,
    weights: f64,
    one_page: bool,
}

impl Synthetic {
    /// Over a drive of so many exported pages.
    pub fn new(plan: &SyntheticPlan, exported_pages: u32, page_bytes: u64, seed: u64) -> Self {
        let span_pages = span_pages(plan, exported_pages);
        let span_bytes = span_pages * page_bytes;
        let one_page = matches!(plan.sizes[..], [Size::Fixed { bytes, .. }] if bytes == page_bytes)
            && plan.align_bytes == page_bytes;
        Synthetic {
            page_bytes,
            span_bytes,
            left: plan.requests,
            at_ns: 0,
            first: true,
            next_offset: 0,
            addresses: Addresses::new(&plan.address, span_bytes / plan.align_bytes),
            arrival: Random::named(seed, "arrival"),
            address: Random::named(seed, "address"),
            size: Random::named(seed, "size"),
            op: Random::named(seed, "op"),
            weights: plan.sizes.iter().map(Size::weight).sum(),
            one_page,
            plan: plan.clone(),
        }
    }

    fn draw_size(&mut self) -> u64 {
        let align = self.plan.align_bytes;
        let chosen = match self.plan.sizes[..] {
            [only] => only,
            _ => {
                let mut left = self.size.unit() * self.weights;
                let mut sizes = self.plan.sizes.iter();
                *sizes
                    .find(|size| {
                        left -= size.weight();
                        left < 0.0
                    })
                    .unwrap_or(&self.plan.sizes[0])
            }
        };
        let bytes = match chosen {
            Size::Fixed { bytes, .. } => bytes,
            Size::Exponential { mean_bytes, .. } => {
                let drawn = libm::ceil(self.size.exponential() * mean_bytes as f64) as u64;
                drawn.max(1).next_multiple_of(align)
            }
        };
        bytes.min(self.span_bytes)
    }

    fn draw_offset(&mut self, bytes: u64) -> u64 {
        let sequential = self.plan.sequential_share;
        if sequential > 0.0 && self.address.unit() < sequential {
            if self.next_offset + bytes > self.span_bytes {
                return 0;
            }
            return self.next_offset;
        }
        let offset = self.addresses.next(&mut self.address) * self.plan.align_bytes;
        // A request that would leave the drive is moved back to end with it.
        offset.min((self.span_bytes - bytes) / self.plan.align_bytes * self.plan.align_bytes)
    }

    fn draw_op(&mut self) -> HostOp {
        let (read, trim) = (self.plan.read_share, self.plan.trim_share);
        if trim == 0.0 && (read == 0.0 || read == 1.0) {
            return if read == 0.0 { HostOp::Write } else { HostOp::Read };
        }
        let drawn = self.op.unit();
        if drawn < read {
            HostOp::Read
        } else if drawn < read + trim {
            HostOp::Trim
        } else {
            HostOp::Write
        }
    }
}

impl Source for Synthetic {
    #[inline]
    fn next(&mut self) -> Result<Option<HostRequest>, SourceError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        if let Some(interarrival) = &self.plan.interarrival {
            // Time begins with the first arrival.
            if !self.first {
                let gap_ns = interarrival.next_ns(&mut self.arrival);
                self.at_ns = self.at_ns.saturating_add(gap_ns);
            }
            self.first = false;
        }
        let op = self.draw_op();
        if self.one_page && self.plan.sequential_share == 0.0 {
            let first = Lpn(self.addresses.next(&mut self.address) as u32);
            return Ok(Some(HostRequest {
                at_ns: self.at_ns,
                op,
                first,
                pages: 1,
                offset_bytes: u64::from(first.0) * self.page_bytes,
                bytes: self.page_bytes,
                head_partial: false,
                tail_partial: false,
            }));
        }
        let bytes = self.draw_size();
        let offset = self.draw_offset(bytes);
        self.next_offset = offset + bytes;
        Ok(Some(HostRequest::from_bytes(self.at_ns, op, offset, bytes, self.page_bytes)))
    }
}

fn span_pages(plan: &SyntheticPlan, exported_pages: u32) -> u64 {
    ((plan.footprint * f64::from(exported_pages)) as u64).clamp(1, u64::from(exported_pages))
}

/// Pages for preconditioning, from the workload's own distribution of addresses and sizes.
pub struct SyntheticOverwrites {
    requests: Synthetic,
    current: Option<HostRequest>,
    at: u32,
}

impl SyntheticOverwrites {
    /// The writes of the workload for ever, from streams of their own.
    pub fn new(plan: &SyntheticPlan, exported_pages: u32, page_bytes: u64, seed: u64) -> Self {
        let endless = SyntheticPlan {
            requests: u64::MAX,
            read_share: 0.0,
            trim_share: 0.0,
            interarrival: None,
            ..plan.clone()
        };
        let mut requests = Synthetic::new(&endless, exported_pages, page_bytes, seed);
        requests.address = Random::named(seed, "precondition");
        requests.size = Random::named(seed, "precondition-size");
        SyntheticOverwrites { requests, current: None, at: 0 }
    }
}

impl Overwrites for SyntheticOverwrites {
    #[inline]
    fn next(&mut self) -> Result<Lpn, SourceError> {
        loop {
            if let Some(request) = self.current {
                if self.at < request.pages {
                    self.at += 1;
                    return Ok(Lpn(request.first.0 + self.at - 1));
                }
            }
            self.current = self.requests.next()?;
            self.at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursty_arrivals_have_the_mean_and_the_share_asked_for() {
        let arrivals = Interarrival::bursty(13.47e6, 1.5e6, 0.3132).unwrap();
        let mut random = Random::named(1, "arrival");
        let gaps: Vec<u64> = (0..400_000).map(|_| arrivals.next_ns(&mut random)).collect();
        let mean = gaps.iter().sum::<u64>() as f64 / gaps.len() as f64;
        let short = gaps.iter().filter(|&&g| g < 1_500_000).count() as f64 / gaps.len() as f64;
        assert!((mean / 13.47e6 - 1.0).abs() < 0.01, "{mean}");
        assert!((short / 0.3132 - 1.0).abs() < 0.01, "{short}");
    }

    #[test]
    fn a_share_below_that_of_plain_exponential_gaps_is_refused() {
        assert_eq!(Interarrival::bursty(1e6, 1.5e6, 0.1), None);
    }
}
