//! The interface of a mode of copying: where the pages go, and the operations that move them.

use crate::flash::Op;

/// The path of a copy's data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// They stay in the registers of their plane: the bus carries commands only.
    Plane,
    /// Over the bus to the controller; they are programmed in their plane.
    Controller,
    /// Over the bus to other units.
    Units,
    /// Over the bus to the planes that share a block, in turn.
    Lanes,
}

/// The mode of copies: copyback inside the plane, unless a mode names other operations. A mode
/// names operations; their times are in `flash::price` alone.
pub trait CopyMode: Copy {
    /// The path of the data.
    #[inline(always)]
    fn reach(self) -> Reach {
        Reach::Plane
    }

    /// The operation of a step that runs to its end; with copies to other units, the part of it
    /// before the pages are sent.
    #[inline(always)]
    fn step_op(self) -> Op {
        Op::Copyback
    }

    /// The read of a step between whose halves requests may run.
    #[inline(always)]
    fn read_op(self) -> Op {
        Op::ReadRegisters
    }

    /// The program of such a step.
    #[inline(always)]
    fn program_op(self) -> Op {
        Op::ProgramRegisters
    }

    /// The operation of a page that moves before any collection, inside its plane.
    #[inline(always)]
    fn page_op(self) -> Op {
        self.step_op()
    }

    /// Whether copies keep the parity of their page.
    #[inline(always)]
    fn parity(self) -> bool {
        false
    }

    /// The most pages that move in parallel.
    #[inline(always)]
    fn at_once(self) -> u32 {
        1
    }

    /// Whether a collection takes the times of the device; else its copies and erases take none.
    #[inline(always)]
    fn takes_time(self) -> bool {
        true
    }

    /// Whether the pages of each block form a list of their own.
    #[inline(always)]
    fn lists_by_block(self) -> bool {
        false
    }
}
