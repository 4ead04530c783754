//! Given: a placement of the program that runs the engine. The classes of open blocks are saved
//! with a drive, and nothing else.

use super::{Candidates, Classes, Placement, State, Write};
use crate::device::Geometry;
use crate::ftl::Ftl;
use crate::gc::given::GivenPlacement;
use crate::gc::windows::Costs;
use crate::ids::{BlockId, Lpn, PlaneId};
use serde::{Serialize, Serializer};

/// The word in the configuration.
pub const NAME: &str = "given";

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

/// The placement.
pub struct Policy(Box<dyn Placement>);

impl Policy {
    /// The placement for a drive.
    pub fn new(settings: &Settings, geometry: &Geometry, _seed: u64) -> Self {
        match &settings.0 {
            Some(given) => Policy(given.policy.make(geometry)),
            None => unreachable!("the configuration is refused without a placement"),
        }
    }
}

impl Placement for Policy {
    fn class_of_write(&mut self, write: Write) -> u8 {
        self.0.class_of_write(write)
    }

    fn class_of_copy(&self, lpn: Lpn) -> u8 {
        self.0.class_of_copy(lpn)
    }

    fn choose(
        &mut self,
        plane: PlaneId,
        class: u8,
        ftl: &Ftl,
        candidates: &Candidates<'_>,
    ) -> Option<BlockId> {
        self.0.choose(plane, class, ftl, candidates)
    }

    fn invalidated(&mut self, plane: PlaneId, block: BlockId) {
        self.0.invalidated(plane, block);
    }

    fn touch(&mut self, ftl: &Ftl, geometry: &Geometry, plane: PlaneId, block: BlockId) {
        self.0.touch(ftl, geometry, plane, block);
    }
}
