//! The work that is done before any collection, as the plan has resolved it.
//!
//! A task that is in use has a field here; its work is a file in `background/`.

use super::pre_migration::PreMigration;
use super::read_reclaim::ReadReclaim;
use serde::Serialize;

/// The place of background work in a unit's order of service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Precedence {
    /// At the place of collections: before requests, unless the device serves them first.
    BeforeHost,
    /// While no request waits for the unit.
    UnitIdle,
    /// While no request is outstanding.
    DriveIdle,
}

/// The answer of the slot *background*: the settings of the tasks in use.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BackgroundPlan {
    /// Whether pages of the write buffer are flushed while the drive is idle.
    #[serde(skip)]
    pub flushes_buffer: bool,
    /// Pages that move before any collection, where there are such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_migration: Option<PreMigration>,
    /// Blocks that are collected since they were read often, where there are such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_reclaim: Option<ReadReclaim>,
}

impl BackgroundPlan {
    /// Whether a task runs operations of its own in idle units.
    pub fn uses_units(&self) -> bool {
        self.pre_migration.is_some()
    }

    /// Whether a task waits until no request is outstanding.
    pub fn waits_for_idle(&self) -> bool {
        let reclaims = self.read_reclaim.is_some_and(|it| it.when == Precedence::DriveIdle);
        self.uses_units() || reclaims
    }

    /// Whether a task must be told of pages that collections move.
    pub fn follows_moves(&self) -> bool {
        self.pre_migration.is_some()
    }
}
