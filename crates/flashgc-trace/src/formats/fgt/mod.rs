//! Our own format: fixed records in columns, packed in frames that can be passed over.
//!
//! All numbers are little-endian.
//!
//! ```text
//! file    = magic, version u32, length u32, origin (JSON, `length` bytes), crc32 u32 of all that,
//!           frame..., end
//! frame   = head, payload (zstd with checksum, `packed` bytes)
//! head    = crc32 u32 of the rest, records u32, packed u32, plain u32,
//!           first row u64, earliest time u64, latest time u64
//! end     = a head of no records, with the number of all rows and their earliest and latest time
//! payload = five columns: time, device, operation, offset, size
//! ```
//! A column has the same width for all records of its frame, so that a frame is read without a
//! branch for each record; see [`columns`]. A reader that does not need a frame skips it by
//! its head.

mod columns;
mod frame;
mod reader;
mod writer;

use crate::format::{FormatInfo, Look};
use crate::formats::Format;
use crate::rows::Parser;
use crate::write::RecordWriter;

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "fgt",
    names: &[("fgt", || Format::Fgt)],
    title: "flashgc's own: binary, small and fast",
    columns: "time, device, operation, offset, size",
    units: "nanoseconds, bytes, bytes",
    defined: "docs/formats/fgt.md",
    lost: "nothing",
    option: None,
    looks_like: Look::Head(|head| head.starts_with(&frame::MAGIC)),
};

pub(crate) fn reader() -> Parser {
    Parser::Binary(Box::new(reader::Reader::default()))
}

#[allow(clippy::unnecessary_wraps)]
pub(crate) fn writer() -> Option<RecordWriter> {
    Some(RecordWriter::Binary(Box::new(writer::Writer::default())))
}
