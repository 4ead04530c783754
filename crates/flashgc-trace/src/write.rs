//! Writes traces.

use crate::error::TraceError;
use crate::format::LineWriter;
use crate::formats::Format;
use crate::record::{Op, Record};
use std::io::{self, Write};

/// Bytes that are gathered before they are written.
const CHUNK_BYTES: usize = 64 * 1024;

/// A number of whole blocks, or an error.
pub(crate) fn whole_blocks(bytes: u64, block: u64, what: &str) -> Result<u64, String> {
    if bytes.is_multiple_of(block) {
        return Ok(bytes / block);
    }
    Err(format!("its {what} of {bytes} bytes is not a multiple of {block}"))
}

/// The device of a format that has no column for it: there can be only one.
#[derive(Clone, Copy, Default)]
pub(crate) struct OneDevice(Option<u64>);

impl OneDevice {
    /// An error if the record is of another device than the first one.
    pub(crate) fn check(&mut self, record: &Record, format: &str) -> Result<(), String> {
        let first = *self.0.get_or_insert(record.device);
        if first == record.device {
            return Ok(());
        }
        let both = format!("{first} and {}", record.device);
        Err(format!("{format} has no column for the device, but the trace has several: {both}"))
    }
}

/// Writes the records of a binary format.
pub(crate) trait BinaryWriter: Send {
    /// Writes the header before the first record.
    fn begin(&mut self, origin: &str, out: &mut Vec<u8>) -> io::Result<()>;
    /// A record; it need not appear at once.
    fn push(&mut self, record: &Record, out: &mut Vec<u8>) -> io::Result<()>;
    /// Writes the end after the last record.
    fn finish(&mut self, out: &mut Vec<u8>) -> io::Result<()>;
}

/// Writes the records of one format.
pub(crate) enum RecordWriter {
    /// A text format.
    Lines(Box<dyn LineWriter>),
    /// A binary file, in which no information is lost.
    Binary(Box<dyn BinaryWriter>),
}

impl From<Box<dyn LineWriter>> for RecordWriter {
    fn from(lines: Box<dyn LineWriter>) -> Self {
        RecordWriter::Lines(lines)
    }
}

/// The result of writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Records.
    pub rows: u64,
    /// Records skipped because they are neither read, write nor trim.
    pub others: u64,
    /// Records of high priority that were written without their mark.
    pub marks_lost: u64,
    /// Records with a placement hint that were written without it.
    pub hints_lost: u64,
    /// Flushes that were skipped, and writes that lost their forced unit access.
    pub flushes_lost: u64,
}

/// Writes records in one format.
///
/// Times are cut off to the format's resolution, which its page in the manual gives; with fgt
/// nothing is lost. Other data that a format cannot hold (a trim, an address
/// between two sectors, a second device) is an error that names the record, except rows of
/// [`Op::Other`], which are skipped and counted. Lost marks of high priority, lost hints and
/// lost flushes are counted.
pub struct TraceWriter {
    name: &'static str,
    records: RecordWriter,
    out: Box<dyn Write + Send>,
    chunk: Vec<u8>,
    written: Written,
}

/// A writer for a format, or an error if it cannot be written.
pub fn writer(format: &Format, out: Box<dyn Write + Send>) -> Result<TraceWriter, TraceError> {
    writer_with(format, "", out)
}

/// The writer of a format. Our own format keeps the `origin` of the records, a few words.
pub fn writer_with(
    format: &Format,
    origin: &str,
    out: Box<dyn Write + Send>,
) -> Result<TraceWriter, TraceError> {
    let name = format.name();
    let Some(mut records) = format.record_writer() else {
        let names = Format::names_to_write().join(", ");
        return Err(TraceError::new(name, format!("the format {name} cannot be written"))
            .help(format!("formats that can be written: {names}")));
    };
    let mut chunk = Vec::with_capacity(CHUNK_BYTES + 1024);
    match &mut records {
        RecordWriter::Lines(lines) => lines.header(&mut chunk),
        RecordWriter::Binary(binary) => {
            binary.begin(origin, &mut chunk).map_err(|error| failed(name, &error))?;
        }
    }
    Ok(TraceWriter { name, records, out, chunk, written: Written::default() })
}

impl TraceWriter {
    /// Writes a record.
    pub fn push(&mut self, record: &Record) -> Result<(), TraceError> {
        match &mut self.records {
            RecordWriter::Binary(binary) => {
                let pushed = binary.push(record, &mut self.chunk);
                pushed.map_err(|error| failed(self.name, &error))?;
            }
            RecordWriter::Lines(_) if record.op == Op::Other => {
                self.written.others += 1;
                self.written.flushes_lost += u64::from(record.is_flush());
                return Ok(());
            }
            RecordWriter::Lines(lines) => {
                let before = self.chunk.len();
                if let Err(why) = lines.write(record, &mut self.chunk) {
                    self.chunk.truncate(before);
                    return Err(self.refuse(record, &why));
                }
                self.chunk.push(b'\n');
                let marks = record.marks;
                let is_lost = marks.is_high() && !lines.keeps_priority();
                self.written.marks_lost += u64::from(is_lost);
                let is_lost = marks.hint() > 0 && !lines.keeps_hints();
                self.written.hints_lost += u64::from(is_lost);
                self.written.flushes_lost += u64::from(marks.is_fua());
            }
        }
        self.written.rows += 1;
        if self.chunk.len() >= CHUNK_BYTES {
            self.flush_chunk()?;
        }
        Ok(())
    }

    /// Writes the remaining records, and returns the counts.
    pub fn finish(mut self) -> Result<Written, TraceError> {
        if let RecordWriter::Binary(binary) = &mut self.records {
            binary.finish(&mut self.chunk).map_err(|error| failed(self.name, &error))?;
        }
        self.flush_chunk()?;
        self.out.flush().map_err(|error| failed(self.name, &error))?;
        Ok(self.written)
    }

    fn flush_chunk(&mut self) -> Result<(), TraceError> {
        self.out.write_all(&self.chunk).map_err(|error| failed(self.name, &error))?;
        self.chunk.clear();
        Ok(())
    }

    #[cold]
    fn refuse(&self, record: &Record, why: &str) -> TraceError {
        let op = match record.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Other => "row",
        };
        let message =
            format!("the {op} of line {} cannot be written as {}: {why}", record.line, self.name);
        TraceError::new(&format!("(written as {})", self.name), message)
            .help("fgt and csv keep everything: `csv:time:ns, device, op, offset, size`")
    }
}

fn failed(name: &str, error: &std::io::Error) -> TraceError {
    TraceError::new(
        &format!("(written as {name})"),
        format!("the trace cannot be written: {error}"),
    )
}
