//! The kinds of work that keep a part of the device busy.

/// The kind of work in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A whole operation, from its first phase to its last, and the copies of its step if it is one
    /// of a collection.
    Operation(&'static str, u32),
    /// A phase on the unit's bus.
    Bus {
        /// It sends a command, and else data.
        is_command: bool,
        /// The time of its bus request, in ns.
        requested_ns: u64,
    },
    /// A phase in the unit's array.
    Array,
}
