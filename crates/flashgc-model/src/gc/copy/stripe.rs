//! Copies over the bus where planes share their blocks.

use super::mode::{CopyMode, Reach};
use crate::flash::Op;

/// Read to the controller, and programmed in the unit that has the next page of the open block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stripe;

impl CopyMode for Stripe {
    #[inline(always)]
    fn reach(self) -> Reach {
        Reach::Lanes
    }

    #[inline(always)]
    fn step_op(self) -> Op {
        Op::Read
    }

    #[inline(always)]
    fn read_op(self) -> Op {
        Op::Read
    }

    #[inline(always)]
    fn program_op(self) -> Op {
        Op::Program
    }

    #[inline(always)]
    fn page_op(self) -> Op {
        Op::CopyOverBus
    }
}
