//! Given: a placement of the program that runs the engine. The classes of open blocks are saved
//! with a drive, and so is the placement's own state.

use super::{Classes, Placement, State};
use crate::device::Geometry;
use crate::gc::choice::Choice;
use crate::gc::given::{GivenPlacement, Made};
use crate::gc::windows::Costs;
use flashgc_config::Reader;
use serde::{Serialize, Serializer};
use std::ops::{Deref, DerefMut};

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "given",
    about: "a function of the program that runs the engine names the class of each page; in Python \
            flashgc.placement",
    keys: &[],
    source: "docs/schemes/python.md",
};

/// The classes of open blocks.
pub const STATE: State = State {
    by: "given ",
    name: "open blocks of a placement function",
    without: "with new open blocks",
};

/// The placement, once the program has given it.
#[derive(Clone, Debug)]
pub struct Settings(pub Option<GivenPlacement>);

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.as_ref().map(|given| &given.policy).serialize(serializer)
    }
}

impl Settings {
    /// From the choice's table, in which no key is known.
    pub fn read(_table: &Reader<'_>) -> Option<Self> {
        Some(Settings(None))
    }
}

impl Classes for Settings {
    fn classes(&self) -> u32 {
        self.0.as_ref().map_or(1, |given| given.classes)
    }

    fn classes_of_copies(&self) -> u32 {
        self.classes()
    }

    fn kept_by(&self, _costs: Costs) -> Option<String> {
        let GivenPlacement { classes, policy } = self.0.as_ref()?;
        Some(format!("{}{} {classes}", STATE.by, policy.name()))
    }
}

/// The placement. The registry calls the hooks of the one that was given.
#[derive(Clone)]
pub struct Policy(Made<dyn Placement>);

impl Policy {
    /// The placement for a drive.
    pub fn new(settings: &Settings, geometry: &Geometry, _seed: u64) -> Self {
        match &settings.0 {
            Some(given) => Policy(given.policy.make(geometry)),
            None => unreachable!("the configuration is refused without a placement"),
        }
    }
}

impl Deref for Policy {
    type Target = dyn Placement;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl DerefMut for Policy {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.0
    }
}
