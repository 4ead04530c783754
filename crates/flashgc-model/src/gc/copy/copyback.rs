//! Copyback: a page is read into the register of its plane and programmed from there.

use super::mode::CopyMode;
use serde::Serialize;

/// Inside the plane, without the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Copyback {
    /// Whether a page keeps its odd or even number.
    pub parity: bool,
}

impl CopyMode for Copyback {
    #[inline(always)]
    fn parity(self) -> bool {
        self.parity
    }
}
