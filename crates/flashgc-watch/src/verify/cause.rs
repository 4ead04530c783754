//! The causes of programs.

use flashgc_model::ids::Ppn;

/// The cause of the program of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The host wrote it.
    Host {
        /// The page operation.
        op: u32,
    },
    /// It left the write buffer, or a copy of it did.
    Flush,
    /// A collection moved it from here.
    Copy {
        /// The page it came from.
        from: Ppn,
    },
    /// It was pre-migrated from here.
    MoveAhead {
        /// The page it came from.
        from: Ppn,
    },
}
