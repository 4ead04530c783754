//! Wrong use of a component, in words for users.

use crate::ids::PlaneId;
use crate::session::RunError;
use std::fmt;

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The configuration has errors.
    Configuration,
    /// The configuration is right, and cannot have its requests from outside.
    NotLive,
    /// A request or an advance lies before the present.
    BeforeThePresent,
    /// A time lies after the latest instant that can be simulated.
    TooLate,
    /// A request ends beyond the end of the drive.
    BeyondTheEnd,
    /// A read, a write or a trim of no bytes.
    NoBytes,
    /// A flush with an offset or a size.
    FlushOfBytes,
    /// A request of a tenant that the configuration does not have.
    NoTenant,
    /// A write or a trim, and the drive takes none any more.
    ReadOnly,
    /// No request is under way that could be done.
    NothingUnderWay,
    /// The drive cannot be copied.
    NoSnapshot,
    /// A snapshot of another component.
    AnotherComponent,
    /// The drive has stopped, or could not be made.
    Stopped,
}

/// Wrong use of a component, or a drive that has stopped. The text is ready for users.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The kind.
    pub why: Why,
    /// The error, its place, and the remedy.
    pub text: String,
    /// As [`RunError::uncollected`].
    pub uncollected: Option<PlaneId>,
}

impl Wrong {
    pub(super) fn new(why: Why, text: String) -> Self {
        Wrong { why, text, uncollected: None }
    }

    /// An error of the engine, in the form of an error for users.
    pub(super) fn of_engine(why: Why, error: RunError) -> Self {
        let (text, uncollected) = (error.text, error.uncollected);
        let text = if text.starts_with("error: ") { text } else { format!("error: {text}") };
        Wrong { why, text, uncollected }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for Wrong {}

pub(super) fn before_the_present(what: &str, at_ns: u64, now_ns: u64) -> Wrong {
    Wrong::new(
        Why::BeforeThePresent,
        format!(
            "error: time runs backwards: {what} at {at_ns} ns, and the present is {now_ns} ns\n  \
             = help: give a time that is not before the present, or restore a snapshot to go back"
        ),
    )
}

pub(super) fn too_late(what: &str, at_ns: u64, limit_ns: u64) -> Wrong {
    Wrong::new(
        Why::TooLate,
        format!(
            "error: {what} at {at_ns} ns, and the latest instant of this drive is {limit_ns} ns \
             ({} days)\n  = help: give times in nanoseconds since the drive was ready",
            limit_ns / 86_400_000_000_000
        ),
    )
}

pub(super) fn beyond_the_end(offset_bytes: u64, bytes: u64, drive_bytes: u64) -> Wrong {
    Wrong::new(
        Why::BeyondTheEnd,
        format!(
            "error: a request of {bytes} B at byte {offset_bytes} ends beyond the end of the \
             drive, which has {drive_bytes} B\n  = help: map the addresses to the drive, or \
             make it larger (`device.exported`, `device.blocks_per_plane`)"
        ),
    )
}

pub(super) fn no_tenant(tenant: u16, count: usize) -> Wrong {
    let text = match count.checked_sub(1) {
        None => format!(
            "error: a request of tenant {tenant}, and the configuration has no tenants\n  = help: \
             add [[workload.tenants]], as in `workload.tenants=[{{ name = \"reader\" }}]`"
        ),
        Some(last) => format!(
            "error: a request of tenant {tenant}, and the configuration has tenants 0 to {last}\n  \
             = help: give one of these numbers, or add [[workload.tenants]]"
        ),
    };
    Wrong::new(Why::NoTenant, text)
}

pub(super) fn no_bytes(op: &str) -> Wrong {
    Wrong::new(
        Why::NoBytes,
        format!("error: a {op} of 0 B\n  = help: give at least one byte; only a flush has none"),
    )
}

pub(super) fn flush_of_bytes(offset_bytes: u64, bytes: u64) -> Wrong {
    Wrong::new(
        Why::FlushOfBytes,
        format!(
            "error: a flush of {bytes} B at byte {offset_bytes}\n  = help: give 0 for both; a \
             flush is for all data that was written before it"
        ),
    )
}

pub(super) fn read_only(op: &str) -> Wrong {
    Wrong::new(
        Why::ReadOnly,
        format!(
            "error: a {op}, and the drive is read-only: too many of its blocks are bad\n  = help: \
             read, or lower the shares of device.failures"
        ),
    )
}

pub(super) fn nothing_under_way() -> Wrong {
    Wrong::new(
        Why::NothingUnderWay,
        "error: no request is under way or to come, so that none can be done\n  = help: submit one \
         first, or advance to a time"
            .into(),
    )
}

pub(super) fn no_snapshot(why: &str, help: &str) -> Wrong {
    Wrong::new(
        Why::NoSnapshot,
        format!("error: the drive cannot be copied: {why}\n  = help: {help}"),
    )
}

pub(super) fn another_component() -> Wrong {
    Wrong::new(
        Why::AnotherComponent,
        "error: the snapshot is one of another component\n  = help: restore it into the component \
         that made it"
            .into(),
    )
}
