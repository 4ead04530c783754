//! The numbers of the fields of Perfetto's messages that a timeline has, from its public schema:
//! <https://perfetto.dev/docs/reference/trace-packet-proto>.

/// A trace: a file is any number of them, one after the other.
pub mod trace {
    pub const PACKET: u64 = 1;
}

/// An event, or the description of a track.
pub mod packet {
    pub const TIMESTAMP_NS: u64 = 8;
    pub const SEQUENCE: u64 = 10;
    pub const TRACK_EVENT: u64 = 11;
    pub const INTERNED_DATA: u64 = 12;
    pub const SEQUENCE_FLAGS: u64 = 13;
    pub const TRACK_DESCRIPTOR: u64 = 60;

    /// Incremental state is cleared: interned names are written again.
    pub const STATE_CLEARED: u64 = 1;
    /// The packet uses names that were interned before.
    pub const NEEDS_STATE: u64 = 2;
}

/// The beginning or end of a slice, or the value of a counter.
pub mod event {
    pub const CATEGORY_IID: u64 = 3;
    pub const DEBUG_ANNOTATION: u64 = 4;
    pub const TYPE: u64 = 9;
    pub const NAME_IID: u64 = 10;
    pub const TRACK: u64 = 11;
    pub const DOUBLE_VALUE: u64 = 44;
    pub const FLOW: u64 = 47;

    pub const SLICE_BEGIN: u64 = 1;
    pub const SLICE_END: u64 = 2;
    pub const COUNTER: u64 = 4;
}

/// A property of a slice.
pub mod annotation {
    pub const NAME_IID: u64 = 1;
    pub const UINT_VALUE: u64 = 3;
    pub const STRING_VALUE: u64 = 6;
}

/// Names, each with the number by which packets refer to it.
pub mod interned {
    pub const CATEGORIES: u64 = 1;
    pub const EVENTS: u64 = 2;
    pub const ANNOTATIONS: u64 = 3;

    /// `EventCategory`, `EventName` and `DebugAnnotationName` have equal fields.
    pub const IID: u64 = 1;
    pub const NAME: u64 = 2;
}

/// A track; a counter track has a unit.
pub mod track {
    pub const ID: u64 = 1;
    pub const NAME: u64 = 2;
    pub const PARENT: u64 = 5;
    pub const COUNTER: u64 = 8;
    pub const CHILD_ORDERING: u64 = 11;
    pub const RANK: u64 = 12;
    pub const DESCRIPTION: u64 = 14;

    /// Children of a track are in the order of their rank.
    pub const CHILDREN_BY_RANK: u64 = 3;
    /// The unit of a counter, in its own message.
    pub const UNIT_NAME: u64 = 6;
}
