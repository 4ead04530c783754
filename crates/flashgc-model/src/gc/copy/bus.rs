//! Copies over the bus: read to the controller and written back.

use super::mode::{CopyMode, Reach};
use crate::flash::Op;

/// Read to the controller and written back over the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bus;

impl CopyMode for Bus {
    #[inline(always)]
    fn reach(self) -> Reach {
        Reach::Controller
    }

    #[inline(always)]
    fn step_op(self) -> Op {
        Op::CopyOverBus
    }

    #[inline(always)]
    fn read_op(self) -> Op {
        Op::Read
    }

    #[inline(always)]
    fn program_op(self) -> Op {
        Op::Program
    }
}
