//! Instant copies: pages move inside their plane and victims are erased in no time, which no device
//! can do.

use super::mode::CopyMode;
use serde::Serialize;

/// Inside the plane, in no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Instant;

impl CopyMode for Instant {
    #[inline(always)]
    fn takes_time(self) -> bool {
        false
    }
}
