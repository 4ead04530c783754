//! The records of a collection: its victims, its copies, and its row in the log.

use crate::ids::{BlockId, PlaneId, Ppn, UnitId};
use serde::Serialize;

/// The role of a block that a collection has claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Its valid pages move, and it is erased.
    Victim,
    /// It was erased already and is erased again, since it lies between victims.
    Between,
    /// The sub-block next to a victim: its valid pages move, since the erase would disturb them.
    Neighbour,
    /// The erased sub-block next to a victim: it must not be opened before the erase has ended.
    FreeNeighbour,
}

/// A block that a collection erases, or empties because the block next to it is erased.
#[derive(Clone, Copy, Debug)]
pub struct Victim {
    /// The block.
    pub block: BlockId,
    /// Its valid pages when it was chosen.
    pub valid: u32,
    /// The role of the block in the collection.
    pub role: Role,
}

impl Victim {
    /// Whether the collection erases it.
    #[inline(always)]
    pub fn is_erased(&self) -> bool {
        matches!(self.role, Role::Victim | Role::Between)
    }
}

/// One page that a collection moves.
#[derive(Clone, Copy, Debug)]
pub struct Copy {
    /// Its source page.
    pub from: Ppn,
    /// Its destination page; `Ppn::NONE` until it is taken.
    pub to: Ppn,
}

/// A page that was read in one unit and is to be programmed in another.
#[derive(Clone, Copy, Debug)]
pub struct CrossUnit {
    /// The unit whose collection moves it.
    pub job: UnitId,
    /// Its place among the copies of that collection.
    pub copy: usize,
    /// The plane that it goes to.
    pub plane: PlaneId,
}

/// A row of the log of collections.
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
    /// The time of the victim's choice, in ns.
    pub selected_ns: u64,
    /// The end of its erase, in ns.
    pub end_ns: u64,
    /// Valid pages of its blocks and of their neighbours when they were chosen.
    pub valid: u32,
    /// Valid pages among them in the neighbours, which moved since the erase would disturb them.
    pub neighbour_valid: u32,
    /// Copies that the collection made.
    pub moved: u32,
    /// Steps in which it made them: several copies in parallel are one step.
    pub steps: u32,
    /// Copies whose page was rewritten or trimmed before they ended.
    pub wasted: u32,
    /// Erased pages of the plane when the victim was chosen.
    pub free_pages_before: u32,
    /// Erased pages of the plane after the erase.
    pub free_pages_after: u32,
}
