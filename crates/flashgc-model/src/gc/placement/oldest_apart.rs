//! Copies of the oldest block apart: pages of the block that was sealed first in its plane have
//! survived all others, so they are cold, and their copies have an open block of their own.
//!
//! For collectors that move cold pages to level wear: what they move together stays together, and
//! is not mixed with copies of pages that change soon.

use super::{Classes, Copied, Placement, State, Write};
use crate::device::Geometry;
use crate::ftl::Ftl;
use crate::ftl::blocks::BlockState;
use crate::gc::choice::{About, Choice, Word};
use crate::gc::windows::Costs;
use crate::ids::{BlockId, PlaneId};
use crate::memory::bytes_of;
use flashgc_config::Reader;
use serde::Serialize;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "oldest-apart",
    about: "copies of the block that was sealed first in its plane have an open block of their own",
    keys: &[&OTHERS],
    source: "static wear levelling; docs/schemes/levelling.md",
};

const OTHERS: Word<Others> = Word {
    name: "others",
    words: &[("with-host", Others::WithHost), ("apart", Others::Apart)],
    default: 0,
    about: About::Each(&[
        "copies of other blocks share the open block of the host",
        "copies of other blocks have a third open block",
    ]),
};

/// The open blocks of each plane.
pub const STATE: State = State {
    by: "oldest-apart ",
    name: "open blocks for copies of the oldest",
    without: "with new open blocks",
};

/// The copies of other blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Others {
    WithHost,
    Apart,
}

impl Others {
    /// The class of their copies. Those of the oldest block go to the next, the last one.
    fn class(self) -> u8 {
        u8::from(self == Others::Apart)
    }
}

/// The classes of copies.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    others: Others,
}

impl Settings {
    /// From `[gc.placement.oldest-apart]`.
    pub fn read(table: &Reader<'_>) -> Option<Self> {
        Some(Settings { others: OTHERS.read(table) })
    }
}

impl Classes for Settings {
    fn classes(&self) -> u32 {
        u32::from(self.others.class()) + 2
    }

    fn classes_of_copies(&self) -> u32 {
        2
    }

    fn kept_by(&self, _costs: Costs) -> Option<String> {
        Some(format!("{}{}", STATE.by, self.classes()))
    }
}

/// The blocks whose copies are apart.
#[derive(Clone)]
pub struct Policy {
    others: Others,
    /// For each block, whether it is a victim that was sealed before all that are sealed now.
    is_oldest: Vec<bool>,
}

impl Policy {
    /// No block is a victim.
    pub fn new(settings: &Settings, geometry: &Geometry, _seed: u64) -> Self {
        Policy { others: settings.others, is_oldest: vec![false; geometry.blocks as usize] }
    }
}

impl Placement for Policy {
    fn class_of_write(&mut self, _write: Write) -> u8 {
        0
    }

    fn class_of_copy(&mut self, copy: Copied) -> u8 {
        let is_oldest = copy.from.is_some_and(|from| self.is_oldest[from.block.index()]);
        self.others.class() + u8::from(is_oldest)
    }

    /// A walk that ends at the first older block: only the oldest is compared with all.
    fn touch(&mut self, ftl: &Ftl, geometry: &Geometry, plane: PlaneId, block: BlockId) {
        let blocks = &ftl.blocks;
        let own = blocks.seal_number(block);
        let mut others = geometry.blocks_of(plane).map(BlockId);
        self.is_oldest[block.index()] = blocks.state(block) == BlockState::Victim
            && !others.any(|other| blocks.is_sealed(other) && blocks.seal_number(other) < own);
    }

    fn table_bytes(&self) -> u64 {
        bytes_of(&self.is_oldest)
    }
}
