//! Instant copies: pages move and victims are erased in no time. No device can; the latencies that
//! remain are a floor for those of every other mode.

use super::mode::{CopyMode, Reach};
use crate::flash::Op;
use serde::Serialize;

/// Inside the plane, in no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Instant;

impl CopyMode for Instant {
    #[inline(always)]
    fn reach(self) -> Reach {
        Reach::Plane
    }

    #[inline(always)]
    fn step_op(self) -> Op {
        Op::Copyback
    }

    #[inline(always)]
    fn read_op(self) -> Op {
        Op::ReadRegisters
    }

    #[inline(always)]
    fn program_op(self) -> Op {
        Op::ProgramRegisters
    }

    #[inline(always)]
    fn takes_time(self) -> bool {
        false
    }
}
