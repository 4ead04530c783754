//! Given: a policy of the program that runs the engine.

use super::{Candidates, Choice, Loss, VictimPolicy};
use crate::device::Geometry;
use crate::gc::given::Given;
use crate::ids::{BlockId, PlaneId};
use crate::rng::Random;
use flashgc_config::Reader;
use serde::Serialize;

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

/// The policy.
pub struct Policy(Box<dyn VictimPolicy>);

impl Policy {
    /// The policy for a drive.
    pub fn new(settings: &Settings, geometry: &Geometry) -> Self {
        match &settings.0 {
            Some(given) => Policy(given.make(geometry)),
            None => unreachable!("the configuration is refused without a policy"),
        }
    }
}

impl VictimPolicy for Policy {
    fn sealed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.0.sealed(plane, block, valid);
    }

    fn invalidated(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.0.invalidated(plane, block, valid);
    }

    fn claimed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.0.claimed(plane, block, valid);
    }

    fn opened(&mut self, plane: PlaneId, block: BlockId) {
        self.0.opened(plane, block);
    }

    fn erased(&mut self, plane: PlaneId, block: BlockId) {
        self.0.erased(plane, block);
    }

    fn keeps_times(&self) -> bool {
        self.0.keeps_times()
    }

    fn lost(&mut self, plane: PlaneId, block: BlockId, loss: Loss) {
        self.0.lost(plane, block, loss);
    }

    fn measuring_begins(&mut self, candidates: &Candidates<'_>) {
        self.0.measuring_begins(candidates);
    }

    fn before(&self, a: BlockId, b: BlockId, candidates: &Candidates<'_>) -> bool {
        self.0.before(a, b, candidates)
    }

    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        random: &mut Random,
    ) -> Option<BlockId> {
        self.0.pick(plane, candidates, random)
    }

    fn table_bytes(&self) -> u64 {
        self.0.table_bytes()
    }
}
