//! From bytes to records: lines, the format's parser, order, filter.

use crate::detect;
use crate::error::{FieldError, TraceError};
use crate::filter::{Fate, Filter, Sieve};
use crate::format::LineFormat;
use crate::formats::Format;
use crate::input::{self, Packing};
use crate::lines::{says_nothing, LineProblem, Lines};
use crate::order::{Disorder, Order};
use crate::record::{Op, RawRecord, Record};
use crate::{ADDRESS_BYTES_MAX, LINE_BYTES_MAX, REQUEST_BYTES_MAX};
use std::fmt;
use std::io::Read;
use std::ops::Range;

/// What to do with a line that cannot be understood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnBadLine {
    /// It is an error.
    #[default]
    Stop,
    /// It is counted, and the first few are kept.
    Skip,
}

/// How a trace is read.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// The format; `None`: told from the first lines.
    pub format: Option<Format>,
    /// What to do with a line that cannot be understood.
    pub on_bad_line: OnBadLine,
    /// What to do with a time stamp that goes backwards.
    pub disorder: Disorder,
    /// Which records are wanted.
    pub filter: Filter,
}

/// So many lines that say something are looked at to tell the format.
const SAMPLE_LINES: usize = 200;
/// So many bad lines are kept.
const EXAMPLES_MAX: usize = 5;

/// The records of a trace, one after the other. After an error there are no more.
pub struct TraceReader {
    source: String,
    lines: Lines,
    packing: Packing,
    parser: Box<dyn LineFormat>,
    format: Format,
    on_bad_line: OnBadLine,
    order: Order,
    sieve: Sieve,
    /// The last line has been read.
    at_end: bool,
    /// Nothing more is given out.
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

/// Opens a trace: unpacks it, and tells its format or takes the one given.
/// `source_name` is for messages only.
pub fn open(
    source_name: &str,
    data: Box<dyn Read + Send>,
    options: &OpenOptions,
) -> Result<TraceReader, TraceError> {
    let (data, packing) = input::unpack(source_name, data)?;
    let mut lines = Lines::new(data);
    lines.peek(SAMPLE_LINES);
    skip_mark(source_name, &mut lines)?;
    let (format, parser) = choose(source_name, &mut lines, packing, options)?;
    let ordered = options.disorder != Disorder::Ignore;
    Ok(TraceReader {
        source: source_name.to_string(),
        lines,
        packing,
        parser,
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

/// Passes over a byte order mark of UTF-8, and refuses those of UTF-16.
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
        let mut parser = format.line_format();
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

fn long_line(source: &str, line: u64, text: &[u8]) -> TraceError {
    TraceError::new(source, format!("the line is longer than {LINE_BYTES_MAX} bytes"))
        .at(line, text, 0)
        .help("this is hardly a text with one request on each line")
}

/// Why no drive could be asked for this.
pub(crate) fn implausible(row: &RawRecord) -> Option<&'static str> {
    // A trim may well cover a whole drive.
    if row.op != Op::Trim && row.size_bytes > REQUEST_BYTES_MAX {
        return Some("a request of at most 1 TiB");
    }
    let end = row.offset_bytes.checked_add(row.size_bytes);
    if end.is_none_or(|end| end > ADDRESS_BYTES_MAX) {
        return Some("an address below 4 EiB");
    }
    None
}

impl TraceReader {
    /// The format, with what was left open settled.
    pub fn format(&self) -> &Format {
        &self.format
    }

    /// The name for messages.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Records given out so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Lines that were not understood so far.
    pub fn bad_rows(&self) -> u64 {
        self.bad_rows
    }

    /// The first five of them.
    pub fn bad_examples(&self) -> &[TraceError] {
        &self.bad_examples
    }

    /// Records so far that were earlier than the one before them in the file.
    pub fn out_of_order(&self) -> u64 {
        self.order.out_of_order()
    }

    /// How late a record was behind the latest one before it, at most: a window of this size
    /// sorts the trace.
    pub fn late_ns_max(&self) -> u64 {
        self.order.step_back_ns_max()
    }

    /// The next row of the file, whatever its time.
    #[inline]
    fn read_row(&mut self) -> Result<Option<Record>, TraceError> {
        loop {
            let range = match self.lines.next() {
                Ok(Some(range)) => range,
                Ok(None) => return Ok(None),
                Err(problem) => {
                    self.on_problem(problem)?;
                    continue;
                }
            };
            let line = self.lines.bytes(range.clone());
            if says_nothing(line) {
                continue;
            }
            match self.parser.parse(line) {
                Ok(None) => {}
                Ok(Some(row)) => match implausible(&row) {
                    None => {
                        self.rows_read += 1;
                        return Ok(Some(row.on_line(self.lines.line())));
                    }
                    Some(expected) => self.on_bad_row(range, FieldError::new(0, expected))?,
                },
                Err(error) => self.on_bad_row(range, error)?,
            }
        }
    }

    #[cold]
    fn on_problem(&mut self, problem: LineProblem) -> Result<(), TraceError> {
        match problem {
            LineProblem::Io(error) => {
                let error = input::failure(&self.source, self.packing, &error);
                Err(error.on_line(self.lines.line() + 1))
            }
            LineProblem::TooLong(range) => {
                let text = self.lines.bytes(range);
                self.bad(long_line(&self.source, self.lines.line(), text))
            }
        }
    }

    #[cold]
    fn on_bad_row(&mut self, range: Range<usize>, wrong: FieldError) -> Result<(), TraceError> {
        let text = self.lines.bytes(range);
        let name = self.parser.name();
        let message = if detect::is_binary(text) {
            format!("the line is no text, and no row of {name}")
        } else {
            format!("not a row of {name}: expected {}", wrong.expected)
        };
        let mut error =
            TraceError::new(&self.source, message).at(self.lines.line(), text, wrong.column);
        error.help = wrong.help.map(|help| help.into_owned());
        self.bad(error)
    }

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

    /// The next record in the order asked for.
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
    fn next_wanted(&mut self) -> Result<Option<Record>, TraceError> {
        loop {
            if self.sieve.is_full() {
                return Ok(None);
            }
            let Some(record) = self.next_in_order()? else { return self.end() };
            match self.sieve.judge(&record) {
                Fate::Keep => return Ok(Some(record)),
                Fate::Drop => {}
                Fate::Stop => return self.end(),
            }
        }
    }

    /// The end is an error if nothing was given out.
    fn end(&self) -> Result<Option<Record>, TraceError> {
        if self.rows > 0 {
            return Ok(None);
        }
        let name = self.parser.name();
        if self.rows_read > 0 {
            let message = format!("the filter leaves none of {} rows", self.rows_read);
            return Err(TraceError::new(&self.source, message));
        }
        let error = TraceError::new(&self.source, format!("the trace holds no row of {name}"));
        Err(match self.bad_examples.first() {
            Some(first) => error.help(format!(
                "{} lines were not understood; the first is line {}: {}",
                self.bad_rows,
                first.line.unwrap_or(0),
                first.message
            )),
            None => error.help("it holds no lines, only comments, or only other events"),
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
        match self.next_wanted() {
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
