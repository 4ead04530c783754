//! How a plan is written into a report: a plain workload in few words, any other in full.
//!
//! The hash of a result covers this text, so that a plain workload keeps its form whatever keys are
//! added to workloads.

use super::{Footprint, Interarrival, Mix, PhasePlan, Size, SyntheticPlan};
use crate::address::AddressChoice;
use crate::length::Length;
use serde::{Serialize, Serializer};

/// One phase in which reads and writes are alike, on a share of the drive.
#[derive(Serialize)]
struct Plain<'a> {
    requests: Length,
    read_share: f64,
    trim_share: f64,
    sizes: &'a [Size],
    address: &'a AddressChoice,
    footprint: f64,
    sequential_share: f64,
    align_bytes: u64,
    interarrival: Option<Interarrival>,
}

#[derive(Serialize)]
struct Full<'a> {
    requests: Length,
    align_bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    large_align_bytes: Option<u64>,
    rate: f64,
    phases: &'a [PhasePlan],
}

fn plain(plan: &SyntheticPlan) -> Option<Plain<'_>> {
    let [phase] = &plan.phases[..] else { return None };
    let Mix::Shares { read_share, trim_share, interarrival } = phase.mix else { return None };
    let Footprint::Share(footprint) = phase.footprint else { return None };
    let is_plain = plan.rate == 1.0
        && plan.large_align_bytes.is_none()
        && phase.read == phase.write
        && phase.write.extent_bytes.is_none()
        && phase.high_share.is_none()
        && phase.hints.is_none();
    is_plain.then_some(Plain {
        requests: plan.requests,
        read_share,
        trim_share,
        sizes: &phase.read.sizes,
        address: &phase.read.address,
        footprint,
        sequential_share: phase.read.sequential_share,
        align_bytes: plan.align_bytes,
        interarrival,
    })
}

impl Serialize for SyntheticPlan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let Some(plain) = plain(self) {
            return plain.serialize(serializer);
        }
        let SyntheticPlan { requests, align_bytes, large_align_bytes, rate, ref phases } = *self;
        Full { requests, align_bytes, large_align_bytes, rate, phases }.serialize(serializer)
    }
}
