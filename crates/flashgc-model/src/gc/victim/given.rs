//! Given: a policy of the program that runs the engine.

use super::{Choice, VictimPolicy};
use crate::device::Geometry;
use crate::gc::given::{Given, Made};
use flashgc_config::Reader;
use serde::Serialize;
use std::ops::{Deref, DerefMut};

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "given",
    about: "a function of the program that runs the engine; in Python flashgc.victim",
    keys: &[],
    source: "docs/schemes/python.md",
};

/// The policy, once the program has given it.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Settings(pub Option<Given<dyn VictimPolicy>>);

impl Settings {
    /// From the choice's table, in which no key is known.
    pub fn read(_table: &Reader<'_>) -> Self {
        Settings(None)
    }
}

/// The policy. The registry calls the hooks of the one that was given.
#[derive(Clone)]
pub struct Policy(Made<dyn VictimPolicy>);

impl Policy {
    /// The policy for a drive.
    pub fn new(settings: &Settings, geometry: &Geometry) -> Self {
        match &settings.0 {
            Some(given) => Policy(given.make(geometry)),
            None => unreachable!("the configuration is refused without a policy"),
        }
    }
}

impl Deref for Policy {
    type Target = dyn VictimPolicy;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl DerefMut for Policy {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.0
    }
}
