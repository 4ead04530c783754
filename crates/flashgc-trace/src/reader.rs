//! From bytes to records: the format, its rows, order, filter.

use crate::LINE_BYTES_MAX;
use crate::binary::Bytes;
use crate::buffer::{Buffer, Data, File, Stream};
use crate::detect;
use crate::error::TraceError;
use crate::filter::{Fate, Filter, Sieve};
use crate::format::{LineFormat, Look};
use crate::formats::Format;
use crate::input::{self, Packing};
use crate::lines::Lines;
use crate::order::{Disorder, Order};
use crate::record::Record;
use crate::rows::{BinaryRows, DriveSize, Parser, RowProblem, TextRows, long_line};
use std::fmt;
use std::io::{Read, Seek};

/// The treatment of a line that cannot be parsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBadLine {
    /// It is an error.
    #[default]
    Stop,
    /// It is counted, and the first few are kept.
    Skip,
}

/// The options of a reader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// The format; `None`: recognised by the first lines.
    pub format: Option<Format>,
    /// The treatment of a line that cannot be parsed.
    pub on_bad_line: OnBadLine,
    /// The treatment of a time stamp that goes backwards.
    pub disorder: Disorder,
    /// The selection of records.
    pub filter: Filter,
}

/// Lines with content that are examined to recognise the format.
const SAMPLE_LINES: usize = 200;
/// Bytes that are examined to recognise a binary format.
const HEAD_BYTES: usize = 4096;
/// Bytes that are examined to settle the open choices of a binary format.
const SETTLE_BYTES: usize = 128 * 1024;
/// The largest number of bad lines that are kept.
const EXAMPLES_MAX: usize = 5;

/// The records of a trace, one after the other. After an error there are no more.
pub struct TraceReader {
    source: String,
    rows_of: Rows,
    format: Format,
    on_bad_line: OnBadLine,
    order: Order,
    sieve: Sieve,
    /// The last line has been read.
    at_end: bool,
    /// No more records are returned.
    done: bool,
    rows_read: u64,
    rows: u64,
    bad_rows: u64,
    bad_examples: Vec<TraceError>,
}

impl fmt::Debug for TraceReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("TraceReader");
        shown.field("source", &self.source).field("format", &self.format);
        shown.field("rows", &self.rows).field("bad_rows", &self.bad_rows).finish_non_exhaustive()
    }
}

/// Text, or binary records.
enum Rows {
    Text(TextRows),
    Binary(BinaryRows),
}

impl Rows {
    #[inline]
    fn next(&mut self) -> Result<Option<Record>, RowProblem> {
        match self {
            Rows::Text(rows) => rows.next(),
            Rows::Binary(rows) => rows.next(),
        }
    }

    /// Rows that were passed over unread.
    #[inline]
    fn passed(&self) -> u64 {
        match self {
            Rows::Text(_) => 0,
            Rows::Binary(rows) => rows.passed(),
        }
    }

    fn format_name(&self) -> &'static str {
        match self {
            Rows::Text(rows) => rows.parser.name(),
            Rows::Binary(rows) => rows.parser.name(),
        }
    }
}

/// Opens a trace: unpacks it, and recognises its format or uses the given one.
/// `source_name` is for messages only.
pub fn open(
    source_name: &str,
    data: Box<dyn Read + Send>,
    options: &OpenOptions,
) -> Result<TraceReader, TraceError> {
    open_data(source_name, Box::new(Stream(data)), options)
}

/// Opens a trace from a file: the records that the filter does not select are skipped without being
/// read, if the trace is in our own format.
pub fn open_file(
    source_name: &str,
    file: impl Read + Seek + Send + 'static,
    options: &OpenOptions,
) -> Result<TraceReader, TraceError> {
    open_data(source_name, Box::new(File(file)), options)
}

fn open_data(
    source_name: &str,
    data: Box<dyn Data>,
    options: &OpenOptions,
) -> Result<TraceReader, TraceError> {
    let (data, packing) = input::unpack(source_name, data)?;
    let mut buffer = Buffer::new(data);
    input::not_an_archive(source_name, buffer.fill_to(HEAD_BYTES))?;
    let (rows_of, format) = match binary_format(&mut buffer, options) {
        Some(format) => binary_rows(source_name, packing, buffer, format, options),
        None => text_rows(source_name, packing, buffer, options)?,
    };
    let ordered = options.disorder != Disorder::Ignore;
    Ok(TraceReader {
        source: source_name.to_string(),
        rows_of,
        format,
        on_bad_line: options.on_bad_line,
        order: Order::new(options.disorder),
        sieve: Sieve::new(options.filter.clone(), ordered),
        at_end: false,
        done: false,
        rows_read: 0,
        rows: 0,
        bad_rows: 0,
        bad_examples: Vec::new(),
    })
}

/// The format, if it is binary.
fn binary_format(buffer: &mut Buffer, options: &OpenOptions) -> Option<Format> {
    if let Some(format) = &options.format {
        return matches!(format.info().looks_like, Look::Head(_)).then(|| format.clone());
    }
    let head = buffer.fill_to(HEAD_BYTES);
    let mut all = Format::ALL.iter();
    let found = all.find(|info| matches!(info.looks_like, Look::Head(is) if is(head)))?;
    Some((found.names[0].1)())
}

fn binary_rows(
    source: &str,
    packing: Packing,
    mut buffer: Buffer,
    format: Format,
    options: &OpenOptions,
) -> (Rows, Format) {
    let mut parser = match format.parser() {
        Parser::Binary(parser) => parser,
        Parser::Lines(_) => unreachable!("a format told from its first bytes is not text"),
    };
    if !matches!(options.disorder, Disorder::Window(_)) {
        // Sorted records count in their new order, which is known only when all are read.
        let Filter { start_ns, first_row, .. } = options.filter;
        parser.skip_to(start_ns.unwrap_or(0), first_row.unwrap_or(0));
    }
    let format = parser.settle(buffer.fill_to(SETTLE_BYTES)).unwrap_or(format);
    let rows = BinaryRows::new(source, packing, Bytes::new(buffer), parser);
    (Rows::Binary(rows), format)
}

fn text_rows(
    source: &str,
    packing: Packing,
    buffer: Buffer,
    options: &OpenOptions,
) -> Result<(Rows, Format), TraceError> {
    let mut lines = Lines::new(buffer);
    lines.peek(SAMPLE_LINES);
    skip_mark(source, &mut lines)?;
    let (format, parser) = choose(source, &mut lines, packing, options)?;
    let (source, drive) = (source.to_string(), DriveSize::NONE);
    Ok((Rows::Text(TextRows { source, packing, lines, parser, drive }), format))
}

/// Skips a byte order mark of UTF-8, and refuses marks of UTF-16.
fn skip_mark(source: &str, lines: &mut Lines) -> Result<(), TraceError> {
    let head = lines.head();
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(TraceError::new(source, "the text is in UTF-16")
            .help("convert it first: `iconv -f UTF-16 -t UTF-8`"));
    }
    if head.starts_with(b"\xef\xbb\xbf") {
        lines.skip(3);
    }
    Ok(())
}

fn choose(
    source: &str,
    lines: &mut Lines,
    packing: Packing,
    options: &OpenOptions,
) -> Result<(Format, Box<dyn LineFormat>), TraceError> {
    let sample = lines.peek(SAMPLE_LINES);
    let chosen = match &options.format {
        Some(format) => Ok(format.clone()),
        None if sample.is_empty() => Err(TraceError::new(
            source,
            "the trace begins with nothing but comments and empty lines",
        )),
        None => detect::detect(source, &sample),
    };
    let settled = chosen.map(|format| {
        let Parser::Lines(mut parser) = format.parser() else {
            unreachable!("a binary format is detected from its first bytes")
        };
        let format = parser.settle(&sample).unwrap_or(format);
        (format, parser)
    });
    settled.map_err(|error| {
        // A stream that breaks within the first lines explains why they are not recognised.
        let too_long = lines.head().len() > LINE_BYTES_MAX;
        match (lines.take_failure(), lines.peek(1).is_empty()) {
            (Some(failure), _) => input::failure(source, packing, &failure),
            (None, true) if too_long => long_line(source, 1, &[]),
            _ => error,
        }
    })
}

impl TraceReader {
    /// The format, with its open choices settled.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// The name for messages.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Records returned so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// From now on a read or write that is larger than a drive of this size is a bad row.
    pub fn limit_to_drive(&mut self, bytes: u64) {
        match &mut self.rows_of {
            Rows::Text(rows) => rows.drive = DriveSize(bytes),
            Rows::Binary(rows) => rows.drive = DriveSize(bytes),
        }
    }

    /// Number of lines so far that could not be parsed.
    pub fn bad_rows(&self) -> u64 {
        self.bad_rows
    }

    /// The errors of the first five of them.
    pub fn bad_examples(&self) -> &[TraceError] {
        &self.bad_examples
    }

    /// The origin that the file names.
    pub fn origin(&self) -> Option<&str> {
        match &self.rows_of {
            Rows::Text(_) => None,
            Rows::Binary(rows) => rows.parser.origin(),
        }
    }

    /// Records so far that were earlier than the one before them in the file.
    pub fn out_of_order(&self) -> u64 {
        self.order.out_of_order()
    }

    /// The number of apparent restarts of a 32-bit clock from 0, and its unit.
    pub fn clock_wraps(&self) -> (u64, Option<&'static str>) {
        self.order.wraps()
    }

    /// The largest delay of a record behind the latest one before it, in ns: a window of this size
    /// sorts the trace.
    pub fn late_ns_max(&self) -> u64 {
        self.order.step_back_ns_max()
    }

    /// The next row of the file, whatever its time.
    #[inline]
    fn read_row(&mut self) -> Result<Option<Record>, TraceError> {
        loop {
            match self.rows_of.next() {
                Ok(Some(row)) => {
                    self.rows_read += 1;
                    return Ok(Some(row));
                }
                Ok(None) => return Ok(None),
                Err(RowProblem::Bad(error)) => self.bad(error)?,
                Err(RowProblem::Broken(error)) => return Err(error),
            }
        }
    }

    #[cold]
    fn bad(&mut self, error: TraceError) -> Result<(), TraceError> {
        if self.on_bad_line == OnBadLine::Stop {
            return Err(error);
        }
        self.bad_rows += 1;
        if self.bad_examples.len() < EXAMPLES_MAX {
            self.bad_examples.push(error);
        }
        Ok(())
    }

    /// The next record in the requested order.
    #[inline]
    fn next_in_order(&mut self) -> Result<Option<Record>, TraceError> {
        loop {
            if let Some(record) = self.order.give(self.at_end) {
                return Ok(Some(record));
            }
            if self.at_end {
                return Ok(None);
            }
            match self.read_row()? {
                None => self.at_end = true,
                Some(record) => {
                    self.order.take(&self.source, &record)?;
                    if self.order.is_direct() {
                        return Ok(Some(record));
                    }
                }
            }
        }
    }

    #[inline]
    fn next_needed(&mut self) -> Result<Option<Record>, TraceError> {
        loop {
            if self.sieve.is_full() {
                return Ok(None);
            }
            let Some(record) = self.next_in_order()? else { return self.end() };
            let passed = self.rows_of.passed();
            match self.sieve.judge(&record, passed) {
                Fate::Keep => return Ok(Some(record)),
                Fate::Drop => {}
                Fate::Stop => return self.end(),
            }
        }
    }

    /// The end is an error if no record was returned.
    fn end(&self) -> Result<Option<Record>, TraceError> {
        if self.rows > 0 {
            return Ok(None);
        }
        let name = self.rows_of.format_name();
        let rows = self.rows_read + self.rows_of.passed();
        if rows > 0 {
            let message = match rows {
                1 => "the filter leaves out the only row".into(),
                _ => format!("the filter leaves none of the {rows} rows"),
            };
            return Err(TraceError::new(&self.source, message).help(
                "`flashgc trace info` of the whole trace shows its times, its rows and its devices",
            ));
        }
        let error = TraceError::new(&self.source, format!("the trace contains no row of {name}"));
        Err(match self.bad_examples.first() {
            Some(first) => error.help(format!(
                "lines that cannot be parsed: {}; the first is line {}: {}",
                self.bad_rows,
                first.line.unwrap_or(0),
                first.message
            )),
            None => error.help("it contains no lines, only comments, or only other events"),
        })
    }
}

impl Iterator for TraceReader {
    type Item = Result<Record, TraceError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        match self.next_needed() {
            Ok(Some(record)) => {
                self.rows += 1;
                Some(Ok(record))
            }
            Ok(None) => {
                self.done = true;
                None
            }
            Err(error) => {
                self.done = true;
                Some(Err(error))
            }
        }
    }
}
