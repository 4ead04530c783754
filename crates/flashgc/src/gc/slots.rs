//! The slots of a scheme, as the plan has resolved them.

use super::placement::HotnessGroups;
use super::used_space::UsedSpace;
use super::{Idle, PreMigration, Preemption, TimeSlices, Victim, victim};
use crate::device::{Level, Shape};
use crate::ftl::Ftl;
use crate::ids::PlaneId;
use serde::Serialize;
use std::collections::BTreeMap;

/// A resolved scheme: one choice for each slot.
#[derive(Clone, Debug, Serialize)]
pub struct GcPlan {
    /// The preset's name.
    pub scheme: String,
    /// The choice of every slot, by the slot's name.
    pub slots: BTreeMap<&'static str, &'static str>,
    /// When a plane needs space.
    pub trigger: Watermark,
    /// The trigger `used-space`, where the scheme has it; `trigger` then has the thresholds of a
    /// plane that has only the space that collection itself needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub used_space: Option<UsedSpace>,
    /// The idle trigger, where it is joined to the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idle: Option<Idle>,
    /// The most blocks of a plane that one erase frees.
    pub erase_blocks: u32,
    /// How sub-blocks are erased, where they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_blocks: Option<Isolation>,
    /// The most pages that a collection of several blocks moves; one block may always move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub move_cap_pages: Option<u32>,
    /// Which candidate is next.
    pub victim: victim::Settings,
    /// How valid pages move.
    pub copy: CopyChoice,
    /// Whether copies go to a frontier of their own.
    pub separate_gc: bool,
    /// Where pages go by their hotness, where they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hotness_groups: Option<HotnessGroups>,
    /// The part that is blocked for the host during a collection.
    pub blocking: BlockingChoice,
    /// How the host preempts collections, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemption: Option<Preemption>,
    /// The time slices of a collection, where it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_slices: Option<TimeSlices>,
    /// Pages that move before any collection, where there are such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_migration: Option<PreMigration>,
    /// Erased blocks of each plane that host writes never take: derived from the worst collection.
    pub reserve_blocks: u32,
    /// Erased pages of each plane that host writes never take either, where a number of blocks does
    /// not describe them: see docs/reserve.md. Follows from the rest.
    #[serde(skip)]
    pub reserve_pages: u32,
}

impl GcPlan {
    /// The number of entries of a batch's list that a collection with these victims takes.
    pub fn listed_by(&self, victims: &[Victim]) -> u32 {
        match self.sub_blocks {
            Some(_) => victims.iter().filter(|victim| victim.is_erased()).count() as u32,
            None => 1,
        }
    }
}

/// What keeps the erase of a sub-block from disturbing its neighbours (paper speedup-gc, section
/// II-A).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Valid pages of its neighbours move first.
    Software,
    /// Layers between sub-blocks that never hold data.
    Hardware,
}

impl Isolation {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, Isolation); 2] =
        [("software", Isolation::Software), ("hardware", Isolation::Hardware)];
}

/// An amount of free space in a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Space {
    /// Erased blocks that are not open.
    Blocks(u32),
    /// Erased pages, those of open blocks included.
    Pages(u32),
}

impl Space {
    /// Whether the plane's free space is below this amount (or at it, when `inclusive`).
    #[inline(always)]
    pub fn is_short(self, ftl: &Ftl, plane: PlaneId, inclusive: bool) -> bool {
        let (free, limit) = match self {
            Space::Blocks(limit) => (ftl.frontiers.free_blocks(plane), limit),
            Space::Pages(limit) => (ftl.frontiers.free_pages(plane), limit),
        };
        free < limit || (inclusive && free == limit)
    }

    /// Twice the amount.
    pub fn twice(self) -> Space {
        match self {
            Space::Blocks(blocks) => Space::Blocks(blocks.saturating_mul(2)),
            Space::Pages(pages) => Space::Pages(pages.saturating_mul(2)),
        }
    }

    /// The amount in pages.
    pub fn pages(self, shape: &Shape) -> u64 {
        match self {
            Space::Blocks(blocks) => shape.pages_of_blocks(blocks.into()),
            Space::Pages(pages) => u64::from(pages),
        }
    }
}

/// The watermark trigger: collect while free space is below a threshold.
#[derive(Clone, Debug, Serialize)]
pub struct Watermark {
    /// With less than this, a plane needs space.
    pub soft: Space,
    /// With less than this, collection is served before every request, whatever the order of
    /// service; where requests may preempt a collection, before every write. `None`: never.
    pub hard: Option<Space>,
    /// Once it needs space, a plane is collected until it has this much.
    pub stop: Space,
    /// Whether a threshold itself counts as below it (`compare = "<="`).
    pub inclusive: bool,
    /// The blocks that the unit collects in one batch.
    pub batch: Batch,
    /// Whether a unit collects while no request waits there.
    #[serde(skip_serializing_if = "is_true")]
    pub idle_units: bool,
}

fn is_true(flag: &bool) -> bool {
    *flag
}

fn is_false(flag: &bool) -> bool {
    !*flag
}

/// How many blocks are collected before the host is served by the unit again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Batch {
    /// One block.
    One,
    /// Blocks until the trigger's `stop`.
    UntilStop,
    /// Every block that holds an invalid page when the batch begins, or that is on the list of the
    /// trigger `used-space` then.
    List,
}

impl Batch {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, Batch); 3] =
        [("one", Batch::One), ("until-stop", Batch::UntilStop), ("list", Batch::List)];
}

/// The slot *copy*.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyChoice {
    /// Read to the controller and written back over the bus.
    Bus,
    /// Inside the plane, without the bus.
    Copyback {
        /// Whether a page keeps its odd or even number.
        parity: bool,
    },
    /// Several pages of a plane in parallel, one in each of its data registers.
    Parallel(ParallelCopy),
}

/// Parallel page migration (paper parallel-gc, section IV-D).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ParallelCopy {
    /// Pages that move in parallel.
    pub workers: u32,
    /// Whether a page keeps its odd or even number; only inside the plane.
    pub parity: bool,
    /// Where they go.
    pub path: CopyPath,
    /// Which pages form one list.
    pub list: ListOf,
}

/// Where the pages of a parallel step go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CopyPath {
    /// To the plane in which they are, by copyback.
    Local,
    /// To other units, by read and program over the bus.
    Global,
}

impl CopyPath {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, CopyPath); 2] =
        [("local", CopyPath::Local), ("global", CopyPath::Global)];
}

/// Which pages form one list, from which the steps are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ListOf {
    /// Those of one block: the last step of each block may be smaller.
    Block,
    /// Those of all blocks that one erase frees.
    Extent,
}

impl ListOf {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, ListOf); 2] =
        [("block", ListOf::Block), ("extent", ListOf::Extent)];
}

impl CopyChoice {
    /// Whether copies keep the parity of their page.
    pub fn parity(self) -> bool {
        match self {
            CopyChoice::Bus => false,
            CopyChoice::Copyback { parity } => parity,
            CopyChoice::Parallel(parallel) => parallel.parity,
        }
    }

    /// The most pages that move in parallel.
    pub fn at_once(self) -> u32 {
        match self {
            CopyChoice::Bus | CopyChoice::Copyback { .. } => 1,
            CopyChoice::Parallel(parallel) => parallel.workers,
        }
    }

    /// Whether copies go to other units.
    pub fn is_global(self) -> bool {
        matches!(self, CopyChoice::Parallel(ParallelCopy { path: CopyPath::Global, .. }))
    }

    /// Whether copies stay in their plane's registers and need the bus for commands only.
    pub fn stays_in_plane(self) -> bool {
        self != CopyChoice::Bus && !self.is_global()
    }

    /// Whether the pages of each block form a list of their own.
    pub fn lists_by_block(self) -> bool {
        match self {
            CopyChoice::Bus | CopyChoice::Copyback { .. } => false,
            CopyChoice::Parallel(parallel) => parallel.list == ListOf::Block,
        }
    }
}

/// The slot *blocking*: the part around the victim's plane that is blocked for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct BlockingChoice {
    /// The level of the part.
    pub level: Level,
    /// Whether only blocks are blocked, the victim and the one that copies fill; the level is then
    /// that of the unit, in which operations follow each other.
    #[serde(skip_serializing_if = "is_false")]
    pub blocks: bool,
    /// The level of the part that stays blocked during the erase, where that part is smaller. It is
    /// at least the unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erasing: Option<Level>,
}

impl BlockingChoice {
    /// Whether the blocking covers every plane of a unit.
    pub fn covers_unit(self, unit: Level) -> bool {
        self.level <= unit
    }
}
