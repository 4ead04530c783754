//! The settings of a placement whose only key is its number of classes. The placements of this kind
//! differ in their rules alone.

use super::{Classes, State};
use crate::gc::choice::Count;
use crate::gc::windows::Costs;
use flashgc_config::Reader;
use serde::{Serialize, Serializer};
use std::marker::PhantomData;

/// The differences between placements with a number of classes.
pub trait Numbered {
    /// The key.
    const CLASSES: &'static Count;
    /// Its tables, which are saved with a drive.
    const STATE: State;
    /// Whether it reads the history of blocks.
    const KEEPS_BLOCKS: bool;

    /// The number of these classes that copies may go to: all.
    fn classes_of_copies(classes: u32) -> u32 {
        classes
    }

    /// The first of these: they are the last classes.
    fn first_of_copies(classes: u32) -> u32 {
        classes - Self::classes_of_copies(classes)
    }
}

/// The number of classes under these rules.
#[derive(Clone, Debug)]
pub struct Settings<R> {
    classes: u32,
    rules: PhantomData<R>,
}

impl<R: Numbered> Settings<R> {
    /// From the table of the choice.
    pub fn read(table: &Reader<'_>) -> Option<Self> {
        Some(Settings { classes: R::CLASSES.checked(table)?, rules: PhantomData })
    }

    /// The last class.
    pub fn highest(&self) -> u8 {
        self.classes as u8 - 1
    }
}

impl<R> Serialize for Settings<R> {
    /// Writes a table with the one key.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([("classes", self.classes)])
    }
}

impl<R: Numbered> Classes for Settings<R> {
    fn classes(&self) -> u32 {
        self.classes
    }

    fn classes_of_copies(&self) -> u32 {
        R::classes_of_copies(self.classes)
    }

    fn first_of_copies(&self) -> Option<u32> {
        Some(R::first_of_copies(self.classes))
    }

    fn keeps_blocks(&self) -> bool {
        R::KEEPS_BLOCKS
    }

    fn kept_by(&self, _costs: Costs) -> Option<String> {
        Some(format!("{}{}", R::STATE.by, self.classes))
    }
}
