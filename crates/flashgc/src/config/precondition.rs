//! `[precondition]`: the state of the drive when measuring begins.

use flashgc_config::Reader;
use serde::Serialize;

/// How a drive is brought to its starting state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PreconditionPlan {
    /// Whether every exported page is written once, in order.
    pub fill: bool,
    /// Drive writes of overwriting after it; the most that are tried where it is until steady.
    pub overwrite: f64,
    /// Whether overwriting ends as soon as write amplification is steady.
    pub until_steady: bool,
}

/// The most drive writes that are tried where none is said.
const STEADY_DRIVE_WRITES_MAX: f64 = 50.0;

/// Reads the table.
pub fn read(table: &Reader<'_>) -> Option<PreconditionPlan> {
    let fill = table.choice("fill", &[("sequential", true), ("none", false)]).unwrap_or(true);
    let overwrite = table.f64("overwrite", 0.0..=10_000.0);
    let until_steady = table.choice("until", &[("steady", true)]).unwrap_or(false);
    let most = table.f64("at_most", 0.0..=10_000.0);
    if until_steady && overwrite.is_some() {
        table.error(
            "overwrite",
            "both `overwrite` and `until` say when overwriting ends",
            "give one of them; `at_most` bounds `until = \"steady\"`",
        );
    }
    if !until_steady && most.is_some() {
        table.error(
            "at_most",
            "`at_most` has no meaning without `until`",
            "add until = \"steady\"",
        );
    }
    if !fill && (until_steady || overwrite.is_some_and(|writes| writes > 0.0)) {
        table.error(
            "fill",
            "a drive is overwritten only after it was filled",
            "set fill = \"sequential\", or leave `overwrite` and `until` out",
        );
    }
    table.finish();
    let overwrite = if until_steady {
        most.unwrap_or(STEADY_DRIVE_WRITES_MAX)
    } else {
        overwrite.unwrap_or(0.0)
    };
    Some(PreconditionPlan { fill, overwrite, until_steady })
}
