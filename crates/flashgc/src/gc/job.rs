//! A job: one collection, from the choice of its victim to the end of its erase.

use crate::ids::{BlockId, PlaneId, Ppn};
use serde::Serialize;

/// One page that a job moves.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    /// Where it was.
    pub from: Ppn,
    /// Where it goes; `Ppn::NONE` until its page is taken.
    pub to: Ppn,
}

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Stage {
    /// No job is open.
    #[default]
    Closed,
    /// All copies and the erase run as one operation.
    Whole,
    /// Pages are being moved one by one.
    Copying,
    /// The victim is being erased.
    Erasing,
}

/// The job of one unit.
#[derive(Clone, Debug, Default)]
pub struct Job {
    /// How far it is.
    pub stage: Stage,
    /// The plane that is collected.
    pub plane: Option<PlaneId>,
    /// The blocks that will be erased, all at once.
    pub victims: Vec<BlockId>,
    /// When the victim was chosen, in ns.
    pub selected_ns: u64,
    /// When the host was shut out, in ns: earlier than the choice inside a batch.
    pub hold_since_ns: u64,
    /// Valid pages of the victims when they were chosen.
    pub valid_at_selection: u32,
    /// Erased pages of the plane when the victim was chosen.
    pub free_pages_at_selection: u32,
    /// Whether the list of pages was fixed at the start, since nothing may interrupt.
    pub fixed: bool,
    /// The pages to move, in order.
    pub copies: Vec<Copy>,
    /// The copies that filled a block, by their place in the list, in order.
    pub fills: Vec<u32>,
    /// The copy under way or next.
    pub next: usize,
    /// Copies that ended.
    pub moved: u32,
    /// Copies of pages that the host rewrote or trimmed before they ended.
    pub wasted: u32,
    /// Blocks that the present turn may still collect, this one included.
    pub batch_left: u32,
}

impl Job {
    /// Whether a job is open.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.stage != Stage::Closed
    }

    /// Whether the copy at this place filled a block.
    pub fn fills_with(&self, at: usize) -> bool {
        self.fills.binary_search(&(at as u32)).is_ok()
    }
}

/// What the log of collections keeps of a job.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct JobRow {
    /// The unit that worked.
    pub unit: u32,
    /// The plane collected.
    pub plane: u32,
    /// The first block erased, counted in its plane.
    pub victim: u32,
    /// Blocks erased at once.
    pub blocks: u32,
    /// When the victim was chosen, in ns.
    pub selected_ns: u64,
    /// When its erase ended, in ns.
    pub end_ns: u64,
    /// Valid pages of its blocks when they were chosen.
    pub valid: u32,
    /// Copies that the job made.
    pub moved: u32,
    /// Copies whose page was rewritten or trimmed before they ended.
    pub wasted: u32,
    /// Erased pages of the plane when the victim was chosen.
    pub free_pages_before: u32,
    /// Erased pages of the plane after the erase.
    pub free_pages_after: u32,
}
