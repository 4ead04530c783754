//! The content of a row of a trace.

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
    /// A row that is none of these. It is counted, and not replayed, unless it is a flush: see
    /// [`Marks::FUA`].
    Other,
}

/// What marks a request: high priority, forced unit access, and the placement hint that the host
/// gives with a write. As wide as [`Op`], for the same reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u64);

impl Marks {
    /// A request without marks.
    pub const NONE: Marks = Marks(0);
    /// One of high priority, which may be served before others.
    pub const HIGH: Marks = Marks(1);
    /// Forced unit access: the write is done when its data survives a loss of power. With
    /// [`Op::Other`] the row is a flush: all writes that are done have to survive one.
    pub const FUA: Marks = Marks(1 << 9);
    /// Numbers of marks are below this.
    pub(crate) const NUMBERS: u64 = 1 << 10;

    /// The marks of a request of high priority, with forced unit access, and with this hint (0 is
    /// none).
    #[inline]
    pub const fn of(high: bool, fua: bool, hint: u8) -> Self {
        Marks(high as u64 | (hint as u64) << 1 | (fua as u64) << 9)
    }

    /// These marks and those.
    #[must_use]
    pub const fn and(self, other: Marks) -> Self {
        Marks(self.0 | other.0)
    }

    /// The marks with this hint; 0 is none.
    #[must_use]
    pub const fn with_hint(self, hint: u8) -> Self {
        Marks(self.0 & !(0xff << 1) | (hint as u64) << 1)
    }

    /// Whether the write, or all writes before the row, have to survive a loss of power.
    #[inline]
    pub const fn is_fua(self) -> bool {
        self.0 >> 9 & 1 == 1
    }

    /// Whether the request is of high priority.
    #[inline]
    pub const fn is_high(self) -> bool {
        self.0 & 1 == 1
    }

    /// The placement hint: 0 without any.
    #[inline]
    pub const fn hint(self) -> u8 {
        (self.0 >> 1) as u8
    }

    /// The marks as a number: the priority in the lowest bit, then the hint, then forced unit
    /// access.
    pub(crate) const fn number(self) -> u64 {
        self.0
    }

    /// The marks of such a number.
    pub(crate) const fn from_number(number: u64) -> Self {
        Marks(number % Marks::NUMBERS)
    }
}

/// One row of a trace, in our units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Time as in the file, in ns; the first record need not be at zero.
    pub at_ns: u64,
    /// Device, disk, volume or ASU, whichever the format has.
    pub device: u64,
    /// Its operation.
    pub op: Op,
    /// High priority and placement hint.
    pub marks: Marks,
    /// First byte.
    pub offset_bytes: u64,
    /// Bytes from there on; zero is possible.
    pub size_bytes: u64,
    /// Line in the (unpacked) file, from 1.
    pub line: u64,
}

impl Record {
    /// Whether it is a flush, which has no place.
    #[inline]
    pub fn is_flush(&self) -> bool {
        self.op == Op::Other && self.marks.is_fua()
    }

    /// The byte after the last one.
    pub fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.size_bytes
    }
}

/// A format's reading of a line; the reader adds the line number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawRecord {
    /// See [`Record::at_ns`].
    pub at_ns: u64,
    /// See [`Record::device`].
    pub device: u64,
    /// See [`Record::op`].
    pub op: Op,
    /// See [`Record::marks`].
    pub marks: Marks,
    /// See [`Record::offset_bytes`].
    pub offset_bytes: u64,
    /// See [`Record::size_bytes`].
    pub size_bytes: u64,
}

impl RawRecord {
    /// The record, with its line number.
    pub fn on_line(self, line: u64) -> Record {
        let RawRecord { at_ns, device, op, marks, offset_bytes, size_bytes } = self;
        Record { at_ns, device, op, marks, offset_bytes, size_bytes, line }
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
