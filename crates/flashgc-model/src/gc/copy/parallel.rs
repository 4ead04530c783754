//! Parallel page migration (paper parallel-gc, section IV-D): several pages of a plane in parallel,
//! one in each of its data registers.

use super::mode::{CopyMode, Reach};
use crate::flash::Op;
use serde::Serialize;

/// Several pages of a plane in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Parallel {
    /// Pages that move in parallel.
    pub workers: u32,
    /// Whether a page keeps its odd or even number; only inside the plane.
    pub parity: bool,
    /// Their path.
    pub path: CopyPath,
    /// The pages of one list.
    pub list: ListOf,
}

/// The path of the pages of a parallel step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyPath {
    /// To the plane in which they are, by copyback.
    Local,
    /// To other units, by read and program over the bus.
    Global,
}

/// The pages of one list, from which the steps are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListOf {
    /// Pages of one block: the last step of each block may be smaller.
    Block,
    /// Pages of all blocks that one erase frees.
    Extent,
}

impl CopyPath {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, CopyPath); 2] =
        [("local", CopyPath::Local), ("global", CopyPath::Global)];
}

impl ListOf {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, ListOf); 2] =
        [("block", ListOf::Block), ("extent", ListOf::Extent)];
}

impl Parallel {
    /// The operation of this path.
    #[inline(always)]
    fn by_path(self, local: Op, global: Op) -> Op {
        match self.path {
            CopyPath::Local => local,
            CopyPath::Global => global,
        }
    }
}

impl CopyMode for Parallel {
    #[inline(always)]
    fn reach(self) -> Reach {
        match self.path {
            CopyPath::Local => Reach::Plane,
            CopyPath::Global => Reach::Units,
        }
    }

    #[inline(always)]
    fn step_op(self) -> Op {
        self.by_path(Op::Copyback, Op::Read)
    }

    #[inline(always)]
    fn read_op(self) -> Op {
        self.by_path(Op::ReadRegisters, Op::Read)
    }

    #[inline(always)]
    fn program_op(self) -> Op {
        self.by_path(Op::ProgramRegisters, Op::Program)
    }

    #[inline(always)]
    fn page_op(self) -> Op {
        self.by_path(Op::Copyback, Op::CopyOverBus)
    }

    #[inline(always)]
    fn parity(self) -> bool {
        self.parity
    }

    #[inline(always)]
    fn at_once(self) -> u32 {
        self.workers
    }

    #[inline(always)]
    fn lists_by_block(self) -> bool {
        self.list == ListOf::Block
    }
}
