//! Pre-migration, as the plan has resolved it: pages of the next victim move before any plane needs
//! space, while the host is idle (paper pre-gc, section 4), or the unit is.

use serde::Serialize;

/// The start and the amount of pre-migration.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PreMigration {
    /// The most pages that a plane can still provide before its trigger starts.
    pub distance_pages: u64,
    /// The rule that leaves a victim to the collection.
    pub stop: Stop,
    /// Whether a unit moves pages while other units serve requests: as soon as none waits for it.
    #[serde(skip_serializing_if = "is_drive_idle")]
    pub when_unit_idle: bool,
}

fn is_drive_idle(when_unit_idle: &bool) -> bool {
    !when_unit_idle
}

/// The end of the pre-migration of a victim. Section 4.2 says that it continues "once the valid
/// page ratio is less than" T_page and ends when it "is larger", which would leave it without work:
/// these are the two readings with some work (docs/schemes/pregc.md#the-stop-rule).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// At most this number of its pages are valid (rule A).
    ValidLeft(u32),
    /// At least this number of its pages have moved (rule B).
    Moved(u32),
}

impl Stop {
    /// Whether a victim is left alone that has `valid` valid pages, after `moved` of its pages
    /// moved.
    pub fn is_reached(self, valid: u32, moved: u32) -> bool {
        match self {
            Stop::ValidLeft(pages) => valid <= pages,
            Stop::Moved(pages) => moved >= pages || valid == 0,
        }
    }
}
