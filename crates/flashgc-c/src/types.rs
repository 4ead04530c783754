//! What C sees: statuses, operations, requests, completions.

use flashgc::component::{PARTS, Why, Wrong};
use flashgc::workload::HostOp;
use std::ffi::c_char;

/// The version of the interface. A library of another one does not fit this header.
pub const FLASHGC_ABI_VERSION: u32 = 1;

/// The number of the parts of a latency.
pub const FLASHGC_PARTS: usize = 9;
const _: () = assert!(FLASHGC_PARTS == PARTS);

/// What a function has done. Errors are below zero, and `flashgc_error` has their text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum flashgc_status {
    /// Done.
    FLASHGC_OK = 0,
    /// The drive has as many requests as it takes: submit it again after the next completion.
    FLASHGC_FULL = 1,
    /// There is no such thing at present.
    FLASHGC_NONE = 2,
    /// A pointer is null, a size is wrong, or a number names nothing.
    FLASHGC_BAD_ARGUMENT = -1,
    /// The handle names nothing: it was closed, or never given.
    FLASHGC_BAD_HANDLE = -2,
    /// The component has been finished, and takes no further request.
    FLASHGC_FINISHED = -3,
    /// The configuration has errors.
    FLASHGC_CONFIGURATION = -4,
    /// The configuration is right, and cannot have its requests from outside.
    FLASHGC_NOT_LIVE = -5,
    /// A request or an advance lies before the present.
    FLASHGC_BEFORE_THE_PRESENT = -6,
    /// A time lies after the latest instant that can be simulated.
    FLASHGC_TOO_LATE = -7,
    /// A request ends beyond the end of the drive.
    FLASHGC_BEYOND_THE_END = -8,
    /// A read, a write or a trim of no bytes.
    FLASHGC_NO_BYTES = -9,
    /// A write or a trim, and the drive takes none any more.
    FLASHGC_READ_ONLY = -10,
    /// No request is under way that could be done.
    FLASHGC_NOTHING_UNDER_WAY = -11,
    /// The drive cannot be copied.
    FLASHGC_NO_SNAPSHOT = -12,
    /// A snapshot of another component.
    FLASHGC_ANOTHER_COMPONENT = -13,
    /// The drive has stopped, or could not be made.
    FLASHGC_STOPPED = -14,
    /// Another thread uses the component at this moment.
    FLASHGC_BUSY = -15,
    /// A fault of flashgc itself; please report it.
    FLASHGC_FAILED = -16,
    /// A request of a tenant that the configuration does not have.
    FLASHGC_NO_TENANT = -17,
}

/// The operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum flashgc_op {
    /// Reads data.
    FLASHGC_READ = 0,
    /// Writes data.
    FLASHGC_WRITE = 1,
    /// Discards data.
    FLASHGC_TRIM = 2,
    /// Asks that the writes that are done survive a loss of power; without offset and bytes.
    FLASHGC_FLUSH = 3,
}

const _: () = assert!(
    HostOp::Read as u32 == flashgc_op::FLASHGC_READ as u32
        && HostOp::Write as u32 == flashgc_op::FLASHGC_WRITE as u32
        && HostOp::Trim as u32 == flashgc_op::FLASHGC_TRIM as u32
        && HostOp::Flush as u32 == flashgc_op::FLASHGC_FLUSH as u32
);

/// The request is of high priority (`flashgc_request.marks`).
pub const FLASHGC_HIGH: u32 = 1;
/// The write is done only when its data survives a loss of power (`flashgc_request.marks`).
pub const FLASHGC_FUA: u32 = 2;

/// A component. 0 names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct flashgc_component {
    /// For the library alone.
    pub id: u64,
}

/// A state of a component. 0 names none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct flashgc_snapshot {
    /// For the library alone.
    pub id: u64,
}

/// What a component is made of. Texts may be null, and stay the caller's.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct flashgc_options {
    /// sizeof(flashgc_options).
    pub size: usize,
    /// The configuration, as TOML; its workload is ignored.
    pub config: *const c_char,
    /// Its name in messages.
    pub name: *const c_char,
    /// The name of a device preset, which replaces the configuration's whole device.
    pub device: *const c_char,
    /// The name of a scheme preset, which replaces the configuration's.
    pub scheme: *const c_char,
    /// Settings `key.path=value` over all else.
    pub sets: *const *const c_char,
    /// Their number.
    pub set_count: usize,
    /// The file of a saved drive (`flashgc drive save`) in place of preconditioning.
    pub drive: *const c_char,
    /// The most requests that it has at a time; 0 for any number.
    pub depth: u32,
    /// Not 0: latencies are split into their parts.
    pub parts: u32,
    /// Not 0: the checkers watch every operation, which is slower.
    pub verify: u32,
}

/// A request.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct flashgc_request {
    /// When it comes, in ns: not before the present.
    pub at_ns: u64,
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub bytes: u64,
    /// It comes back with the completion.
    pub tag: u64,
    /// A `flashgc_op`.
    pub op: u32,
    /// `FLASHGC_HIGH` and `FLASHGC_FUA`, or 0.
    pub marks: u32,
    /// The placement hint of a write, to 255; 0 is none.
    pub hint: u32,
    /// The number of its tenant, in the order of `[[workload.tenants]]`; 0 without tenants.
    pub tenant: u32,
}

/// A request that is done.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct flashgc_completion {
    /// That of the request.
    pub tag: u64,
    /// When it was done, in ns.
    pub at_ns: u64,
    /// From its arrival until then, in ns.
    pub latency_ns: u64,
    /// What the latency consists of, in ns, by the order of `flashgc_part_name`; zeros where it is
    /// not split.
    pub parts_ns: [u64; FLASHGC_PARTS],
    /// A `flashgc_op`.
    pub op: u32,
    /// Not 0: a write or a trim that came when the drive was read-only.
    pub is_refused: u32,
}

/// What a component is at present.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct flashgc_info {
    /// The present, in ns.
    pub now_ns: u64,
    /// Requests that were submitted and are not done.
    pub under_way: u64,
    /// The bytes that the drive has for its host.
    pub bytes: u64,
    /// The bytes of the unit that it maps: smaller writes read the rest of theirs first.
    pub page_bytes: u64,
    /// Not 0: it takes no further write, since too many of its blocks are bad.
    pub is_read_only: u32,
    /// 0.
    pub reserved: u32,
}

/// An error with its status.
pub(crate) struct Failed {
    pub(crate) status: flashgc_status,
    pub(crate) text: String,
}

impl Failed {
    pub(crate) fn new(status: flashgc_status, text: impl Into<String>) -> Self {
        Failed { status, text: text.into() }
    }
}

impl From<Wrong> for Failed {
    fn from(wrong: Wrong) -> Self {
        let status = match wrong.why {
            Why::Configuration => flashgc_status::FLASHGC_CONFIGURATION,
            Why::NotLive => flashgc_status::FLASHGC_NOT_LIVE,
            Why::BeforeThePresent => flashgc_status::FLASHGC_BEFORE_THE_PRESENT,
            Why::TooLate => flashgc_status::FLASHGC_TOO_LATE,
            Why::BeyondTheEnd => flashgc_status::FLASHGC_BEYOND_THE_END,
            Why::NoBytes => flashgc_status::FLASHGC_NO_BYTES,
            Why::FlushOfBytes => flashgc_status::FLASHGC_BAD_ARGUMENT,
            Why::NoTenant => flashgc_status::FLASHGC_NO_TENANT,
            Why::ReadOnly => flashgc_status::FLASHGC_READ_ONLY,
            Why::NothingUnderWay => flashgc_status::FLASHGC_NOTHING_UNDER_WAY,
            Why::NoSnapshot => flashgc_status::FLASHGC_NO_SNAPSHOT,
            Why::AnotherComponent => flashgc_status::FLASHGC_ANOTHER_COMPONENT,
            Why::Stopped => flashgc_status::FLASHGC_STOPPED,
        };
        Failed { status, text: wrong.text }
    }
}
