//! DAC: dynamic data clustering (Chiang, Lee and Chang 1999). Each page has a level. A write of a
//! page that holds data raises it by one, a copy lowers it by one, and the level is the class:
//! pages that are updated often climb away from those that are not.

use super::numbered::{self, Numbered};
use super::page_table::Levels;
use super::{Copied, Placement, State, Write};
use crate::device::Geometry;
use crate::gc::choice::{Choice, Count};
use crate::ids::Lpn;
use std::slice::Iter;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "dac",
    about: "an update raises the level of a page, a copy lowers it; each level has open blocks of \
            its own",
    keys: &[&CLASSES],
    source: "Chiang, Lee and Chang 1999 (DAC)",
};

const CLASSES: Count =
    Count { name: "classes", default: 6, least: 1, most: 16, about: "number of levels" };

/// The levels of the pages.
pub const STATE: State =
    State { by: "dac ", name: "levels of pages", without: "with all pages on the lowest level" };

/// The number of levels.
pub type Settings = numbered::Settings<Rules>;

/// Copies go to all levels.
#[derive(Clone, Debug)]
pub struct Rules;

impl Numbered for Rules {
    const CLASSES: &'static Count = &CLASSES;
    const STATE: State = STATE;
    const KEEPS_BLOCKS: bool = false;
}

/// The levels.
#[derive(Clone)]
pub struct Policy {
    levels: Levels,
    highest: u8,
}

impl Policy {
    /// Every page on the lowest level.
    pub fn new(settings: &Settings, geometry: &Geometry, _seed: u64) -> Self {
        Policy { levels: Levels::new(geometry), highest: settings.highest() }
    }
}

impl Placement for Policy {
    #[inline]
    fn class_of_write(&mut self, write: Write) -> u8 {
        let raised = || (self.levels.get(write.lpn) + 1).min(self.highest);
        let level = if write.is_update { raised() } else { 0 };
        self.levels.set(write.lpn, level);
        level
    }

    #[inline]
    fn class_of_copy(&mut self, copy: Copied) -> u8 {
        let level = self.levels.get(copy.lpn).saturating_sub(1);
        self.levels.set(copy.lpn, level);
        level
    }

    #[inline]
    fn prefetch(&self, lpn: Lpn) {
        self.levels.prefetch(lpn);
    }

    fn keep(&self, numbers: &mut Vec<u32>) {
        self.levels.keep(numbers);
    }

    fn take_kept(&mut self, numbers: &mut Iter<'_, u32>) -> Option<()> {
        self.levels.take_kept(numbers, self.highest)
    }

    fn table_bytes(&self) -> u64 {
        self.levels.bytes()
    }
}
