//! The work that is done before any collection, as the plan has resolved it.
//!
//! A task that is in use has a field here; its work is a file in `background/`.

use super::pre_migration::PreMigration;
use serde::Serialize;

/// The answer of the slot *background*: the settings of the tasks in use.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BackgroundPlan {
    /// Whether pages of the write buffer are flushed while the drive is idle.
    #[serde(skip)]
    pub flushes_buffer: bool,
    /// Pages that move before any collection, where there are such.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pre_migration: Option<PreMigration>,
}

impl BackgroundPlan {
    /// Whether a task runs operations of its own in idle units.
    pub fn uses_units(&self) -> bool {
        self.pre_migration.is_some()
    }

    /// Whether a task must be told of pages that collections move.
    pub fn follows_moves(&self) -> bool {
        self.pre_migration.is_some()
    }
}
