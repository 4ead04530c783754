//! The interface of a placement that sorts pages into classes: the questions that it answers, and
//! its notifications.

use crate::device::{Geometry, Shape};
use crate::ftl::{BlockFacts, Ftl, Writer};
use crate::gc::foresight::Foresight;
use crate::gc::victim::{Candidates, Ranks};
use crate::gc::windows::Costs;
use crate::ids::{BlockId, Lpn, PlaneId};
use flashgc_config::Reader;
use serde::Serialize;
use std::slice::Iter;
use std::sync::Arc;

/// A page that the host writes.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// The page.
    pub lpn: Lpn,
    /// Whether it holds data.
    pub is_update: bool,
    /// The writer of the page, with the hint of the host.
    pub writer: Writer,
    /// The clock: pages that the host has written, this one included.
    pub clock: u64,
    /// The block that holds its data until now, where the placement
    /// [keeps blocks](Classes::keeps_blocks).
    pub old: Option<BlockFacts>,
}

/// A page that a collection moves, or that moves before its collection.
#[derive(Clone, Copy, Debug)]
pub struct Copied {
    /// The page.
    pub lpn: Lpn,
    /// The clock: pages that the host has written.
    pub clock: u64,
    /// The block that it leaves, where the placement [keeps blocks](Classes::keeps_blocks).
    pub from: Option<BlockFacts>,
    /// Whether the data is still valid: the host has not written or trimmed the page meanwhile.
    pub is_current: bool,
}

/// The updates that the identifier of hot pages has counted, and its memory.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct HotnessCounts {
    /// Writes of pages that held data.
    pub updates: u64,
    /// Updates among them that found their page hot.
    pub hot_updates: u64,
    /// Times that all counters were halved.
    pub decays: u64,
    /// Bytes of the counters.
    pub counter_bytes: u64,
    /// Bytes that keep the block groups.
    pub group_bytes: u64,
    /// Times that all groups of a plane were formed anew.
    pub groups_formed: u64,
}

/// The pages that each class took since measuring began, for the report.
#[derive(Clone, Debug, Serialize)]
pub struct PlacementCounts {
    /// Each class, the lowest first.
    pub classes: Vec<ClassPages>,
    /// Writes by the host that went to another class, since their class had no page and the erased
    /// blocks belonged to the reserve.
    pub fallbacks: u64,
    /// Bytes that the placement keeps.
    pub table_bytes: u64,
    /// The placement handles of the host, where there are any.
    #[serde(skip)]
    pub handles: Option<HandleCounts>,
    /// The groups of blocks, where blocks are collected by group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<GroupCounts>>,
}

/// The pages that a class took.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct ClassPages {
    /// Writes by the host.
    pub writes: u64,
    /// Copies.
    pub copies: u64,
}

/// The log of a drive on the placement handles of the host.
#[derive(Clone, Debug, Default)]
pub struct HandleCounts {
    /// The pages of each handle.
    pub pages: Vec<ClassPages>,
    /// The erased pages in the open blocks of each.
    pub available: Vec<u64>,
    /// Pages that the host wrote with the number of no handle.
    pub invalid: u64,
    /// Blocks out of which pages were moved.
    pub reallocated: u64,
}

/// The blocks of a class.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GroupCounts {
    /// The most sealed blocks of each plane; `None` for the group that has the others.
    pub most_blocks: Option<u32>,
    /// Sealed blocks at the end.
    pub blocks: u32,
    /// Collections of its blocks.
    pub collections: u64,
    /// Valid pages of these, as a share of their data pages.
    pub valid_share: Option<f64>,
}

/// The state of a placement that is saved with a drive, for users.
pub struct State {
    /// The first word of the settings that it depends on ([`Classes::kept_by`]).
    pub by: &'static str,
    /// Its name.
    pub name: &'static str,
    /// The start of a run without it, in words.
    pub without: &'static str,
}

/// The properties of a placement that follow from its settings.
pub trait Classes {
    /// Classes of pages, each with an open block of its own in every plane.
    fn classes(&self) -> u32;

    /// Classes among them that copies may go to.
    fn classes_of_copies(&self) -> u32;

    /// The first of these, which follow each other: they are the last classes. `None` where all
    /// copies of one victim go to one class, and that may be any.
    fn first_of_copies(&self) -> Option<u32> {
        Some(self.classes() - self.classes_of_copies())
    }

    /// The first classes, this many, always have an open block, or one that is kept for them.
    fn always_open(&self) -> u32 {
        0
    }

    /// Whether its blocks must be parts of larger ones.
    fn needs_sub_blocks(&self) -> bool {
        false
    }

    /// Whether each erase must free one whole block.
    fn needs_single_blocks(&self) -> bool {
        false
    }

    /// Whether it reads the history of blocks: class, and the clock when they were opened and
    /// sealed.
    fn keeps_blocks(&self) -> bool {
        true
    }

    /// Whether it needs the next change of each page, before any page is written.
    fn foresees(&self) -> bool {
        false
    }

    /// Whether it can work on a device of this shape. Errors are noted; `root` is for remedies,
    /// `table` is the choice's own.
    fn check(&self, _root: &Reader<'_>, _table: &Reader<'_>, _shape: &Shape) -> Option<()> {
        Some(())
    }

    /// Receives the unit that the victim policy ranks.
    fn set_ranks(&mut self, _ranks: Ranks) {}

    /// The settings that its saved state depends on; `None` where none is saved.
    fn kept_by(&self, _costs: Costs) -> Option<String> {
        None
    }
}

/// A way to sort pages into classes. Every hook has a harmless default.
pub trait Placement: Send {
    /// The class of a write by the host.
    fn class_of_write(&mut self, write: Write) -> u8;

    /// The class of a page that a collection moves.
    fn class_of_copy(&mut self, copy: Copied) -> u8;

    /// The page will be written or copied soon: its entries in the tables are brought into the
    /// cache.
    #[inline]
    fn prefetch(&self, _lpn: Lpn) {}

    /// The data of a page was written to this block, by the host or by a copy that is valid.
    #[inline]
    fn placed(&mut self, _lpn: Lpn, _block: BlockId) {}

    /// A page was taken for a write by the host, or for a copy.
    #[inline]
    fn took_page(&mut self, _lpn: Lpn, _is_copy: bool) {}

    /// The host trimmed a page that held data.
    fn trimmed(&mut self, _lpn: Lpn) {}

    /// A block of a class was opened. This and the next two are called only where the placement
    /// [keeps blocks](Classes::keeps_blocks).
    fn opened(&mut self, _block: BlockFacts) {}

    /// A block of a class was sealed, or released by a collection that did not erase it.
    fn sealed(&mut self, _block: BlockFacts) {}

    /// A collection took a block, before its first copy. The clock shows the pages that the host
    /// has written.
    fn collected(&mut self, _block: BlockFacts, _clock: u64) {}

    /// The erased block that takes the next pages of this class: the next of the plane's list.
    fn choose(
        &mut self,
        plane: PlaneId,
        _class: u8,
        ftl: &Ftl,
        _candidates: &Candidates<'_>,
    ) -> Option<BlockId> {
        ftl.frontiers.free_list(plane).next()
    }

    /// A sealed block of this plane that is collected before any that the victim policy ranks.
    fn due(&self, _plane: PlaneId, _candidates: &Candidates<'_>) -> Option<BlockId> {
        None
    }

    /// For each block of the drive whether the victim policy can choose it; `None` where it can
    /// choose all.
    fn left_to_victim(&self) -> Option<&[bool]> {
        None
    }

    /// A valid page of a sealed block became invalid.
    #[inline]
    fn invalidated(&mut self, _plane: PlaneId, _block: BlockId) {}

    /// A block was sealed, opened, claimed, erased or given back.
    fn touch(&mut self, _ftl: &Ftl, _geometry: &Geometry, _plane: PlaneId, _block: BlockId) {}

    /// The changes of the run from now on, where the placement [foresees](Classes::foresees) them.
    fn foresee(&mut self, _foresight: &Arc<Foresight>) {}

    /// Counting for the report begins; streams of random numbers start anew.
    fn start_counting(&mut self, _seed: u64) {}

    /// Appends the state to save with the drive to these numbers.
    fn keep(&self, _numbers: &mut Vec<u32>) {}

    /// Takes the saved state from the front of these numbers; `None` where they do not fit. The
    /// blocks of the drive are known.
    fn take_kept(&mut self, _numbers: &mut Iter<'_, u32>) -> Option<()> {
        Some(())
    }

    /// Bytes of the tables.
    fn table_bytes(&self) -> u64 {
        0
    }

    /// The pages that each placement handle of the host took since counting began, and pages
    /// without a handle, where there are handles. Handles are the first classes.
    fn of_handles(&self) -> Option<HandleCounts> {
        None
    }

    /// The groups of blocks since counting began, where blocks are collected by group.
    fn of_groups(&self) -> Option<Vec<GroupCounts>> {
        None
    }

    /// The counts of hot pages for the report.
    fn counts(&self) -> Option<HotnessCounts> {
        None
    }
}
