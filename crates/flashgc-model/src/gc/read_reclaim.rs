//! Read reclaim, as the plan has resolved it: a block that was read often since its erase is
//! collected, before the disturbance of its pages becomes an error.

use super::background::Precedence;
use serde::Serialize;

/// The reads that a block may have, and the order of its collection among other work.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ReadReclaim {
    /// Reads of the array in a block after which it is due.
    pub limit: u32,
    /// Its place in the unit's order of service.
    pub when: Precedence,
}
