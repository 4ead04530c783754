//! A station: what waits in front of a unit, and what is known of the operation that it serves.

/// The state of one unit, apart from what the flash itself does.
#[derive(Clone, Default)]
pub(super) struct Station {
    /// Further page operations that share the one under way (multi-plane operations).
    pub group: Vec<u32>,
    /// Blocks that the operation of the host under way fills.
    pub filled: u32,
    /// Whether this unit is already on the list of units to check.
    pub listed: bool,
}
