//! The rows of a file, whatever its kind: text cut into lines, or binary records.

use crate::binary::{BinaryFormat, Bytes, RecordProblem};
use crate::detect;
use crate::error::{FieldError, TraceError};
use crate::format::LineFormat;
use crate::input::{self, Packing};
use crate::lines::{LineProblem, Lines, is_without_data};
use crate::record::{Op, RawRecord, Record};
use crate::{ADDRESS_BYTES_MAX, LINE_BYTES_MAX, REQUEST_BYTES_MAX};

/// Reads the rows of one format.
pub enum Parser {
    /// A text format.
    Lines(Box<dyn LineFormat>),
    /// A binary format.
    Binary(Box<dyn BinaryFormat>),
}

/// The conversion of a format's type into its reader.
pub(crate) trait IntoParser {
    fn into_parser(self) -> Parser;
}

impl<T: LineFormat + 'static> IntoParser for T {
    fn into_parser(self) -> Parser {
        Parser::Lines(Box::new(self))
    }
}

impl IntoParser for Parser {
    fn into_parser(self) -> Parser {
        self
    }
}

/// The reason why there is no next row.
pub(crate) enum RowProblem {
    /// This row could not be parsed; the next one may be correct.
    Bad(TraceError),
    /// Nothing more can be read.
    Broken(TraceError),
}

/// The reason why no drive could receive this request.
#[inline]
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

/// The size of the drive on which the rows are replayed, in bytes; without one, every size will do.
#[derive(Clone, Copy)]
pub(crate) struct DriveSize(pub(crate) u64);

impl DriveSize {
    pub(crate) const NONE: DriveSize = DriveSize(u64::MAX);

    /// The problem of a row, if there is one.
    #[inline]
    fn check(self, row: &RawRecord) -> Result<(), FieldError> {
        if let Some(expected) = implausible(row) {
            return Err(FieldError::new(0, expected));
        }
        if row.op != Op::Trim && row.size_bytes > self.0 {
            return Err(self.too_large(row));
        }
        Ok(())
    }

    #[cold]
    fn too_large(self, row: &RawRecord) -> FieldError {
        let (size, drive) = (row.size_bytes, self.0);
        FieldError::new(0, format!("at most {drive} bytes (the whole drive), got {size} bytes"))
            .help("use a larger drive, or skip such rows with `--on-bad-line skip`")
    }
}

/// Number of lines after an unparsed one that may explain it.
const LINES_AHEAD: usize = 200;

/// The rows of a text.
pub(crate) struct TextRows {
    pub(crate) source: String,
    pub(crate) packing: Packing,
    pub(crate) lines: Lines,
    pub(crate) parser: Box<dyn LineFormat>,
    pub(crate) drive: DriveSize,
}

impl TextRows {
    /// The next row of the file, whatever its time.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Record>, RowProblem> {
        loop {
            let line = match self.lines.next() {
                Ok(Some(line)) => line,
                Ok(None) => return Ok(None),
                Err(problem) => return Err(self.on_problem(problem)),
            };
            let text = self.lines.bytes(line);
            if is_without_data(text) {
                continue;
            }
            match self.parser.parse(text) {
                Ok(None) => {}
                Ok(Some(row)) => match self.drive.check(&row) {
                    Ok(()) => return Ok(Some(row.on_line(self.lines.line()))),
                    Err(wrong) => return Err(self.bad(text, wrong)),
                },
                Err(wrong) => {
                    // Reading in advance may move the bytes in the buffer.
                    let text = text.to_vec();
                    if !self.parser.passes_over(&text, &self.lines.peek(LINES_AHEAD)) {
                        return Err(self.bad(&text, wrong));
                    }
                }
            }
        }
    }

    #[cold]
    fn on_problem(&self, problem: LineProblem) -> RowProblem {
        match problem {
            LineProblem::Io(error) => {
                let error = input::failure(&self.source, self.packing, &error);
                RowProblem::Broken(error.on_line(self.lines.line() + 1))
            }
            LineProblem::TooLong(text) => {
                RowProblem::Bad(long_line(&self.source, self.lines.line(), &text))
            }
        }
    }

    #[cold]
    fn bad(&self, text: &[u8], wrong: FieldError) -> RowProblem {
        let name = self.parser.name();
        let message = if detect::is_binary(text) {
            format!("the line is not text, and so not a row of {name}")
        } else {
            format!("not a row of {name}: expected {}", wrong.expected)
        };
        let mut error =
            TraceError::new(&self.source, message).at(self.lines.line(), text, wrong.column);
        error.help = wrong.help.map(|help| help.into_owned().into());
        RowProblem::Bad(error)
    }
}

pub(crate) fn long_line(source: &str, line: u64, text: &[u8]) -> TraceError {
    TraceError::new(source, format!("the line is longer than {LINE_BYTES_MAX} bytes"))
        .at(line, text, 0)
        .help("this does not look like a text file with one request per line")
}

/// The rows of a binary file.
pub(crate) struct BinaryRows {
    pub(crate) source: String,
    pub(crate) packing: Packing,
    pub(crate) bytes: Bytes,
    pub(crate) parser: Box<dyn BinaryFormat>,
    pub(crate) drive: DriveSize,
    /// Records that were read at once, and how many of them have been returned.
    ahead: Vec<RawRecord>,
    given: usize,
    /// Records given so far and those passed over; they are numbered as lines are.
    record: u64,
    passed: u64,
}

impl BinaryRows {
    pub(crate) fn new(
        source: &str,
        packing: Packing,
        bytes: Bytes,
        parser: Box<dyn BinaryFormat>,
    ) -> Self {
        let source = source.to_string();
        let (ahead, given, record, passed) = (Vec::new(), 0, 0, 0);
        let drive = DriveSize::NONE;
        BinaryRows { source, packing, bytes, parser, drive, ahead, given, record, passed }
    }

    /// Records that were passed over unread.
    #[inline]
    pub(crate) fn passed(&self) -> u64 {
        self.passed
    }

    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Record>, RowProblem> {
        if self.given == self.ahead.len() && !self.read_ahead()? {
            return Ok(None);
        }
        let row = self.ahead[self.given];
        self.given += 1;
        self.record += 1;
        match self.drive.check(&row) {
            Ok(()) => Ok(Some(row.on_line(self.record))),
            Err(wrong) => {
                let why = format!("expected {}", wrong.expected);
                Err(self.on_problem(RecordProblem::Bad(why)))
            }
        }
    }

    /// False: the file has ended.
    fn read_ahead(&mut self) -> Result<bool, RowProblem> {
        self.given = 0;
        self.ahead.clear();
        let read = self.parser.next_few(&mut self.bytes, &mut self.ahead);
        let passed = self.parser.first_row();
        self.record += passed - self.passed;
        self.passed = passed;
        if let Err(problem) = read {
            self.ahead.clear();
            self.record += 1;
            return Err(self.on_problem(problem));
        }
        Ok(!self.ahead.is_empty())
    }

    #[cold]
    fn on_problem(&self, problem: RecordProblem) -> RowProblem {
        let (name, at_byte) = (self.parser.name(), self.bytes.position());
        let record = self.record;
        let error = |message: String| {
            let mut error = TraceError::new(&self.source, message);
            error.line = Some(record);
            error.at_byte = Some(at_byte);
            error
        };
        match problem {
            RecordProblem::Io(failure) => {
                RowProblem::Broken(input::failure(&self.source, self.packing, &failure))
            }
            RecordProblem::Bad(why) => {
                RowProblem::Bad(error(format!("not a record of {name}: {why}")))
            }
            RecordProblem::Broken(why) => {
                RowProblem::Broken(error(format!("the {name} file cannot be read further: {why}")))
            }
            RecordProblem::Cut => RowProblem::Broken(
                error(format!("the {name} file ends in the middle of a record")).help(
                    "the file is truncated, perhaps by an interrupted download; fetch it again",
                ),
            ),
        }
    }
}
