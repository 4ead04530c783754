//! The slot *placement*: where host and copied pages are written.

use super::copy;
use super::erase::Erase;
use super::hotness_groups;
use super::slot::{OneOf, choice};
use crate::device::Shape;
use crate::gc::CopyChoice;
use crate::gc::choice::Row;
use crate::gc::placement::HotnessGroups;
use crate::gc::victim::{Ranks, Settings};
use flashgc_config::Reader;

/// Where host and copied pages are written.
pub enum Placement {
    OneFrontier,
    SeparateGc,
    HotnessGroups(HotnessGroups),
}

impl OneOf for Placement {
    const NAME: &'static str = "placement";
    const QUESTION: &'static str = "where are host and copied pages written?";
    type Keys = Placement;
    const CHOICES: &'static [Row<Placement>] = &[
        Row {
            choice: choice(
                "one-frontier",
                "copies share the plane's open block with host writes",
                &[],
            ),
            read: |_, _| Some(Placement::OneFrontier),
        },
        Row {
            choice: choice("separate-gc", "copies go to a separate open block", &[]),
            read: |_, _| Some(Placement::SeparateGc),
        },
        Row {
            choice: hotness_groups::CHOICE,
            read: |table, _| hotness_groups::read(table).map(Placement::HotnessGroups),
        },
    ];
}

impl Placement {
    /// Whether copies go to a frontier of their own.
    pub fn separates_gc(&self) -> bool {
        matches!(self, Placement::SeparateGc)
    }

    /// Streams of copies, each with an open block of its own.
    pub fn streams(&self) -> u32 {
        match self {
            Placement::OneFrontier | Placement::SeparateGc => 1,
            Placement::HotnessGroups(groups) => groups.groups() + 1,
        }
    }

    /// Where pages go by their hotness, where they do. Block groups rank blocks as the victim does.
    pub fn hotness_groups(&self, victim: &Settings) -> Option<HotnessGroups> {
        let Placement::HotnessGroups(groups) = self else { return None };
        let by_invalid_sub_blocks = victim.ranks() == Ranks::SubBlocks;
        Some(HotnessGroups { by_invalid_sub_blocks, ..groups.clone() })
    }

    /// Hotness groups need sub-blocks, and enough blocks in a plane.
    pub fn check(
        &self,
        root: &Reader<'_>,
        shape: &Shape,
        erase: &Erase,
        mode: CopyChoice,
    ) -> Option<()> {
        let Placement::HotnessGroups(groups) = self else { return Some(()) };
        let table = root.table("gc").table(Placement::NAME);
        if erase.sub_blocks().is_none() {
            let help = "set gc.erase.use = \"sub-blocks\", or choose another gc.placement.use";
            table.error(
                "use",
                "hotness-groups needs sub-block erase, but this scheme erases whole blocks",
                help,
            );
            return None;
        }
        if mode.parity() || mode.is_global() {
            table.error(
                "use",
                "hotness-groups cannot be combined with parity = true or path = \"global\"",
                copy::WITHOUT_PARITY,
            );
            return None;
        }
        let table = table.table(hotness_groups::CHOICE.name);
        hotness_groups::check_blocks(root, &table, shape, groups)
    }
}
