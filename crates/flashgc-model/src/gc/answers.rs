//! The answers of the slots, as the plan has resolved them.

use crate::device::{Level, Shape};
use crate::ftl::Ftl;
use crate::ids::PlaneId;
use serde::Serialize;

/// The isolation that keeps the erase of a sub-block from disturbing its neighbours (paper
/// speedup-gc, section II-A).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Isolation {
    /// Valid pages of its neighbours move first.
    Software,
    /// Layers between sub-blocks that never hold data.
    Hardware,
}

/// An amount of free space in a plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Space {
    /// Erased blocks that are not open.
    Blocks(u32),
    /// Erased pages, including open blocks.
    Pages(u32),
}

/// The cost of the operations of collections, and of pre-migration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cost {
    /// The times of the device.
    #[default]
    Device,
    /// Zero: the remaining latencies are the cost of the host's own operations and of the waits
    /// that the scheme imposes.
    None,
}

impl Cost {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, Cost); 2] = [("device", Cost::Device), ("none", Cost::None)];

    /// Whether it has the times of the device; such a scheme is written without the key.
    pub fn is_of_device(&self) -> bool {
        *self == Cost::Device
    }
}

/// Number of blocks that are collected before the host is served by the unit again.
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

/// The slot *blocking*: the part around the victim's plane that is blocked for the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct BlockingChoice {
    /// The level of the part.
    pub level: Level,
    /// Whether only blocks are blocked, the victim and the one that copies fill; the level is then
    /// the unit's, in which operations follow each other.
    #[serde(skip_serializing_if = "is_false")]
    pub blocks: bool,
    /// The level of the part that stays blocked during the erase, where that part is smaller. It is
    /// at least the unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub erasing: Option<Level>,
    /// Whether the part is blocked for other collections as well, so that one at a time works in
    /// it.
    #[serde(skip_serializing_if = "is_false")]
    pub one_collection: bool,
}

impl Isolation {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, Isolation); 2] =
        [("software", Isolation::Software), ("hardware", Isolation::Hardware)];
}

impl Space {
    /// Whether the plane's free space is below this amount (or at it, when `inclusive`).
    #[inline(always)]
    pub fn is_short(self, ftl: &Ftl, plane: PlaneId, inclusive: bool) -> bool {
        let (free, limit) = match self {
            Space::Blocks(limit) => (ftl.frontiers.blocks_to_spare(plane), limit),
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

impl Batch {
    /// The words of the configuration.
    pub const WORDS: [(&'static str, Batch); 3] =
        [("one", Batch::One), ("until-stop", Batch::UntilStop), ("list", Batch::List)];
}

impl BlockingChoice {
    /// Whether the blocking covers every plane of a unit.
    pub fn covers_unit(self, unit: Level) -> bool {
        self.level <= unit
    }
}

fn is_false(flag: &bool) -> bool {
    !*flag
}
