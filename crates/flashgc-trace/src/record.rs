//! What a row of a trace says.

use serde::Serialize;

/// What a request does.
///
/// It is as wide as the field next to it in a record: a byte would leave a gap there, and a gap
/// is copied in pieces, which costs more than decoding a record. Two halves of a word cost as much.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[repr(u64)]
pub enum Op {
    /// Reads data.
    Read,
    /// Writes data.
    Write,
    /// Discards data (trim, discard, unmap).
    Trim,
    /// A row that is none of these, such as a flush. It is counted, and not replayed.
    Other,
}

/// Whether a request may be served before others. As wide as [`Op`], for the same reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u64)]
pub enum Priority {
    /// A request like any other.
    #[default]
    Normal,
    /// It was marked as one of high priority.
    High,
}

/// One row of a trace, in our units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Time as in the file, in ns; the first record need not be at zero.
    pub at_ns: u64,
    /// Device, disk, volume or ASU, whichever the format has.
    pub device: u64,
    /// What it does.
    pub op: Op,
    /// Whether it was marked.
    pub priority: Priority,
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes from there on; zero is possible.
    pub size_bytes: u64,
    /// Line in the (unpacked) file, from 1.
    pub line: u64,
}

impl Record {
    /// The byte after the last one.
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.size_bytes
    }
}

/// What a format makes of a line; the reader adds the line number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRecord {
    /// See [`Record::at_ns`].
    pub at_ns: u64,
    /// See [`Record::device`].
    pub device: u64,
    /// See [`Record::op`].
    pub op: Op,
    /// See [`Record::priority`].
    pub priority: Priority,
    /// See [`Record::offset_bytes`].
    pub offset_bytes: u64,
    /// See [`Record::size_bytes`].
    pub size_bytes: u64,
}

impl RawRecord {
    /// The record, with its line number.
    pub fn on_line(self, line: u64) -> Record {
        let RawRecord { at_ns, device, op, priority, offset_bytes, size_bytes } = self;
        Record { at_ns, device, op, priority, offset_bytes, size_bytes, line }
    }
}

/// Minor numbers of Linux take 20 bits.
const MINOR_BITS: u32 = 20;

/// The id of a Linux device `major,minor`, as Linux numbers it.
pub fn device_id(major: u32, minor: u32) -> u64 {
    (u64::from(major) << MINOR_BITS) | u64::from(minor)
}

/// A device as a user writes it: a number, or `major,minor`.
pub fn parse_device(text: &str) -> Option<u64> {
    match text.split_once(',') {
        Some((major, minor)) => {
            let minor: u32 = minor.trim().parse().ok().filter(|minor| minor >> MINOR_BITS == 0)?;
            Some(device_id(major.trim().parse().ok()?, minor))
        }
        None => text.trim().parse().ok(),
    }
}

/// The two numbers of [`device_id`].
pub(crate) fn major_minor(device: u64) -> (u64, u64) {
    (device >> MINOR_BITS, device & ((1 << MINOR_BITS) - 1))
}
