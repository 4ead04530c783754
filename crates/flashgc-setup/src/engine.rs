//! `[engine]`: the execution of a run. No key changes a result.

use flashgc_config::Reader;

/// The settings.
#[derive(Clone, Copy, Debug)]
pub struct Engine {
    /// Whether collections that nothing can interrupt run as one event.
    pub coalesce: bool,
    /// Whether requests come in logical time, without a clock.
    pub untimed: bool,
}

/// The words of `engine.timing`.
const TIMING: &[(&str, bool)] = &[("events", false), ("none", true)];

impl Engine {
    /// Reads the table. Errors are noted.
    pub fn read(table: &Reader<'_>) -> Self {
        let coalesce = table.bool("coalesce").unwrap_or(true);
        let untimed = table.choice("timing", TIMING).unwrap_or(false);
        table.finish();
        Engine { coalesce, untimed }
    }
}
