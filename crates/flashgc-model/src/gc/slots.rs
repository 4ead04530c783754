//! A resolved scheme: the answer of every slot.

use super::given::{Given, Pacer};
use super::placement::{self, Classes};
use super::used_space::UsedSpace;
use super::{
    BackgroundPlan, Batch, BlockingChoice, CopyChoice, Cost, Idle, Isolation, Preemption, Space,
    TimeSlices, Tokens, Victim, victim,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ops::Range;

/// A resolved scheme: one choice for each slot.
#[derive(Clone, Debug, Serialize)]
pub struct GcPlan {
    /// The preset's name.
    pub scheme: String,
    /// The choice of every slot, by the slot's name.
    pub slots: BTreeMap<&'static str, String>,
    /// The cost of the operations of collections.
    #[serde(skip_serializing_if = "Cost::is_of_device")]
    pub cost: Cost,
    /// The thresholds at which a plane needs space.
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
    /// The isolation of sub-blocks, where these are erased.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sub_blocks: Option<Isolation>,
    /// The most pages that a collection of several blocks moves; one block may always move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub move_cap_pages: Option<u32>,
    /// The policy that chooses the next candidate.
    pub victim: victim::Settings,
    /// The path of valid pages.
    pub copy: CopyChoice,
    /// Whether copies go to a frontier of their own.
    pub separate_gc: bool,
    /// The classification of pages, where they have classes.
    #[serde(flatten)]
    pub placement: Option<placement::Settings>,
    /// The part that is blocked for the host during a collection.
    pub blocking: BlockingChoice,
    /// The rules by which the host preempts collections, where it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemption: Option<Preemption>,
    /// The time slices of a collection, where it has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_slices: Option<TimeSlices>,
    /// The payments of host writes for a collection, where they advance it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Tokens>,
    /// The policy for their length in place of a setting.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pacer: Option<Given<dyn Pacer>>,
    /// The work before any collection.
    #[serde(flatten)]
    pub background: BackgroundPlan,
    /// Erased blocks of each plane that host writes never take: derived from the worst collection.
    pub reserve_blocks: u32,
    /// Erased pages of each plane that host writes never take either, where a number of blocks does
    /// not describe them: see docs/reserve.md. Follows from the rest.
    #[serde(skip)]
    pub reserve_pages: u32,
}

impl GcPlan {
    /// Whether the operations of collections take time.
    #[inline(always)]
    pub fn takes_time(&self) -> bool {
        self.cost == Cost::Device && self.copy.takes_time()
    }

    /// Classes of pages; 0 where there are none.
    pub fn classes(&self) -> u32 {
        self.placement.as_ref().map_or(0, Classes::classes)
    }

    /// Classes that copies may go to; 1 where there are no classes.
    pub fn classes_of_copies(&self) -> u32 {
        self.placement.as_ref().map_or(1, Classes::classes_of_copies)
    }

    /// The classes that copies may go to. `None` where all copies of one victim go to one class,
    /// and that may be any.
    #[inline]
    pub fn which_take_copies(&self) -> Option<Range<u32>> {
        let Some(placement) = &self.placement else { return Some(0..0) };
        let first = placement.first_of_copies()?;
        Some(first..first + placement.classes_of_copies())
    }

    /// Classes, the first ones, that always have an open block, or one that is kept for them.
    pub fn always_open(&self) -> u32 {
        self.placement.as_ref().map_or(0, Classes::always_open)
    }

    /// Whether the history of each block is kept, by the clock of host writes.
    pub fn keeps_stamps(&self) -> bool {
        self.victim.keeps_clock() || self.placement.as_ref().is_some_and(Classes::keeps_blocks)
    }

    /// Blocks of a plane that other streams may have open, in addition to the one of any stream.
    pub fn streams_beside(&self) -> u32 {
        self.classes().saturating_sub(1).max(u32::from(self.separate_gc))
    }

    /// Whether a collection closes the block that the host fills, since its copies go there too.
    pub fn closes_open_block(&self) -> bool {
        self.blocking.blocks && !self.separate_gc
    }

    /// The slot and the name of a policy of the program that runs the engine, if there is one.
    pub fn given(&self) -> Option<(&'static str, &str)> {
        if let victim::Settings::given(settings) = &self.victim {
            return settings.0.as_ref().map(|given| ("victim policy", given.name()));
        }
        if let Some(placement::Settings::given(settings)) = &self.placement {
            return settings.0.as_ref().map(|given| ("placement", given.policy.name()));
        }
        self.pacer.as_ref().map(|given| ("pace", given.name()))
    }

    /// Whether a collection is spread over time.
    pub fn is_paced(&self) -> bool {
        self.time_slices.is_some() || self.tokens.is_some()
    }

    /// The number of entries of a batch's list that a collection with these victims takes.
    pub fn listed_by(&self, victims: &[Victim]) -> u32 {
        match self.sub_blocks {
            Some(_) => victims.iter().filter(|victim| victim.is_erased()).count() as u32,
            None => 1,
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
