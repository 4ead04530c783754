//! Block traces: read, recognise, filter, describe and write them, streamed in constant memory.
//!
//! The path of a trace:
//! 1. [`open`] takes bytes and a name for messages. It unpacks gzip and zstd, and recognises
//!    the format by the first lines, or uses the given one.
//! 2. [`TraceReader`] cuts lines, has the format parse them, keeps them in order, filters them,
//!    and returns [`Record`]s.
//! 3. [`info`] and [`extents`] read a whole trace and describe it; [`writer`] writes one.
//!
//! No file is opened here and no environment is read. A mistake of the user is a
//! [`TraceError`] with its place and advice.
//!
//! A new format is a row in `formats/table.rs`, or a file in `formats/` where it has logic of its
//! own, and its line in `formats/mod.rs`.

mod binary;
mod buffer;
mod describe;
mod detect;
mod error;
mod fields;
mod filter;
mod format;
mod formats;
mod input;
mod lines;
mod merge;
mod order;
mod pages;
mod reader;
mod record;
mod rows;
mod write;
mod wrong_numbers;
mod zstd_frames;

pub use binary::{BinaryFormat, Bytes, RecordProblem};
pub use describe::{
    Batches, Burst, DeviceExtent, DeviceInfo, Extents, GapInfo, HintCounts, HintInfo, Hotness,
    Info, Interarrival, Sequential, SizeInfo, Sizes, SpreadInfo, Timeline, Updates, extents, info,
};
pub use error::{FieldError, TraceError};
pub use fields::TimeUnit;
pub use filter::Filter;
pub use format::{FormatInfo, LineFormat, LineWriter, Look, NamedFormat, OptionInfo, Verdict};
pub use formats::Format;
pub use formats::blkparse::Action;
pub use formats::csv::{Column, CsvSpec, Delimiter, Header, Hexadecimal, OpWords, PriorityWords};
pub use formats::etw::Stamp;
pub use formats::fio::Waits;
pub use formats::ftrace::Event;
pub use merge::{MERGE_TRACES_MAX, Merge, MergeOptions, merge};
pub use order::Disorder;
pub use reader::{OnBadLine, OpenOptions, TraceReader, open, open_file};
pub use record::{Marks, Op, RawRecord, Record, device_id, parse_device};
pub use rows::Parser;
pub use write::{TraceWriter, Written, writer, writer_with};

/// Footprints are counted in pages of this size.
pub const FOOTPRINT_PAGE_BYTES: u64 = 4096;
/// A line that is longer than this is an error.
pub const LINE_BYTES_MAX: usize = 64 * 1024;
/// A request of more than this, unless it is a trim, is a bad line: no drive takes it, and a wrong
/// column does.
pub const REQUEST_BYTES_MAX: u64 = 1 << 40;
/// No request ends beyond this address.
pub const ADDRESS_BYTES_MAX: u64 = 1 << 62;
