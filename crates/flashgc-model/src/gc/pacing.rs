//! The slot *pacing*, as the plan has resolved it.

use super::Space;
use serde::Serialize;

/// The time slices of a collection, as the plan has resolved them (GFTL; paper pre-gc, section 5.1;
/// the rules: docs/schemes/gftl.md#the-time-slices).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct TimeSlices {
    /// The longest slice, in ns; one operation always fits.
    pub length_ns: u64,
    /// With less free space than this in a plane of its unit, a collection runs without a pause.
    pub floor: Space,
    /// Time slices in each gap between requests.
    pub per_gap: u32,
    /// Blocks that each plane has in addition to the device's.
    pub extra_blocks: u32,
}

/// Collection in proportion to the writes of the host, as the plan has resolved it
/// (docs/schemes/tokens.md#the-account).
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Tokens {
    /// With less free space than this in a plane of its unit, a collection needs no payment.
    pub floor: Space,
    /// The floor in pages.
    #[serde(skip)]
    pub floor_pages: u64,
    /// The soft threshold of the trigger, in pages.
    #[serde(skip)]
    pub soft_pages: u64,
    /// The urgency at the floor, in thousandths.
    pub urgency_max_milli: u32,
}

impl Tokens {
    /// The factor of the price with this number of free pages, in thousandths: 1 at the soft
    /// threshold, from where it grows linearly down to the floor.
    pub fn urgency(&self, free_pages: u64) -> u32 {
        let span = self.soft_pages.saturating_sub(self.floor_pages).max(1);
        let short = self.soft_pages.saturating_sub(free_pages).min(span);
        let more = u64::from(self.urgency_max_milli - 1000);
        1000 + (more * short / span) as u32
    }
}
