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
    /// Blocks that each plane has beyond those of the device.
    pub extra_blocks: u32,
}
