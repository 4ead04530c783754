//! One reader and one writer for formats that are no more than columns between delimiters. Each
//! format is a row of the table in `table.rs`.
//!
//! 1. `Row` describes a format: its delimiter, its columns with their units, and its words.
//! 2. `Delimited` reads and writes the rows of a trace by that description. It is compiled once for
//!    each row of the table, with loops over columns and words unrolled: read column by column at
//!    run time, a trace takes a quarter longer.

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit, hexadecimal, write_u64};
use crate::format::{FormatInfo, LineFormat, LineWriter, Verdict, fits_most};
use crate::record::{Marks, Op, RawRecord, Record};
use crate::write::{OneDevice, whole_blocks};
use std::marker::PhantomData;

/// A format of columns between delimiters.
pub(crate) struct Row {
    /// Its names and its texts for the manual.
    pub(crate) info: FormatInfo,
    /// The delimiter of columns.
    pub(crate) delimiter: Delimiter,
    /// The columns, in order. Further ones are skipped, unless the line must end.
    pub(crate) columns: &'static [Column],
    /// The unit of the time. A format may have other names with other units.
    pub(crate) time: TimeUnit,
    /// Words of the operation.
    pub(crate) words: Words,
    /// Whether nothing may follow the last column.
    pub(crate) ends: bool,
    /// The line that names the columns, if there is one.
    pub(crate) header: Option<Header>,
    /// The rule by which the format is recognised.
    pub(crate) sure: Sure,
    /// Written after the last column.
    pub(crate) tail: &'static str,
}

/// The delimiter of columns.
#[derive(Clone, Copy)]
pub(crate) enum Delimiter {
    /// A comma, with or without blanks around it.
    Comma,
    /// A tab.
    Tab,
    /// Blanks, in any number.
    Blanks,
}

/// A column. Texts name the expected content, for messages.
pub(crate) enum Column {
    /// The arrival, with decimals or without them.
    Time(Decimals),
    /// The number of the device.
    Device(&'static str),
    /// The operation, by the words of the format.
    Op(&'static str),
    /// The address, in blocks of this number of bytes.
    Offset(u64, &'static str),
    /// The size, in blocks of this number of bytes.
    Size(u64, &'static str),
    /// A number that does not count.
    Number(&'static str),
    /// A text that does not count; the first one is written.
    Text(&'static str, &'static str),
}

/// Whether times have decimals.
#[derive(Clone, Copy)]
pub(crate) enum Decimals {
    /// They may have some.
    Some,
    /// They are whole numbers.
    None,
}

/// The words of the operations.
pub(crate) enum Words {
    /// One of these words; `None` for rows that do not count. The first word of an operation is
    /// written.
    These(&'static [(&'static [u8], Option<Op>)]),
    /// One of these words, in any case.
    AnyCase(&'static [(&'static [u8], Option<Op>)]),
    /// One of these words, or hexadecimal flags of which bit 0 means read.
    OrFlags(&'static [(&'static [u8], Option<Op>)]),
}

/// The line that names the columns.
pub(crate) struct Header {
    /// Its beginning.
    pub(crate) begins: &'static [u8],
    /// The whole line, if it is written.
    pub(crate) written: Option<&'static [u8]>,
}

/// The rules by which a format is recognised, where its lines fit.
pub(crate) enum Sure {
    /// No other format has such columns.
    Always,
    /// Other formats may have such columns.
    Never,
    /// Others may, but only this one has this first line.
    By(&'static [u8]),
}

/// A row of the table, as a type.
pub(crate) trait Layout: Copy + Send + 'static {
    /// The row.
    const ROW: Row;
}

/// Reads and writes one such format.
#[derive(Clone, Copy)]
pub(crate) struct Delimited<L> {
    layout: PhantomData<L>,
    /// The unit of the times, where the format has several names.
    time: TimeUnit,
    /// The device that is written, where no column names it.
    device: OneDevice,
}

impl<L: Layout> Delimited<L> {
    /// With the times of the format's first name.
    pub(crate) fn usual(layout: L) -> Self {
        Delimited::with(layout, L::ROW.time)
    }

    /// With the times of one of its names.
    pub(crate) fn with(_: L, time: TimeUnit) -> Self {
        Delimited { layout: PhantomData, time, device: OneDevice::default() }
    }

    /// Writes the format, if it can be written.
    pub(crate) fn writer(self) -> Option<Box<dyn LineWriter>> {
        if L::ROW.info.lost.is_empty() { None } else { Some(Box::new(self)) }
    }

    /// The degree to which some lines fit.
    pub(crate) fn verdict(self, sample: &[&[u8]]) -> Verdict {
        if !fits_most(Box::new(self), sample) {
            return Verdict::No;
        }
        match L::ROW.sure {
            Sure::Always => Verdict::Sure,
            Sure::By(header) if sample[0] == header => Verdict::Sure,
            Sure::Never | Sure::By(_) => Verdict::Fits,
        }
    }

    /// The unit of the times.
    #[inline(always)]
    fn unit(self) -> TimeUnit {
        if L::ROW.info.names.len() == 1 { L::ROW.time } else { self.time }
    }
}

/// A loop over the elements of a constant list that the compiler unrolls, so that every choice by
/// an element is made when it is compiled.
macro_rules! unrolled {
    ($element:ident in $list:expr => $body:block) => {
        unrolled!(@ $element, $list, $body, 0 1 2 3 4 5 6 7 8 9 10 11)
    };
    (@ $element:ident, $list:expr, $body:block, $($at:literal)*) => {
        $(if const { $list.len() > $at } {
            let $element = const { if $list.len() > $at { &$list[$at] } else { &$list[0] } };
            $body
        })*
        const { assert!($list.len() > 0 && $list.len() <= 12) }
    };
}

/// Takes columns off a line.
trait Cut {
    fn any<'a>(
        &self,
        fields: &mut Fields<'a>,
        expected: &'static str,
    ) -> Result<Field<'a>, FieldError>;
    fn blocks(
        &self,
        fields: &mut Fields<'_>,
        block: u64,
        expected: &'static str,
    ) -> Result<u64, FieldError>;
    fn rest<'a>(&self, fields: &mut Fields<'a>) -> Option<Field<'a>>;
}

struct At<const BYTE: u8>;
struct AtBlanks;

impl<const BYTE: u8> Cut for At<BYTE> {
    #[inline(always)]
    fn any<'a>(
        &self,
        fields: &mut Fields<'a>,
        expected: &'static str,
    ) -> Result<Field<'a>, FieldError> {
        fields.need_cut(BYTE, expected)
    }

    #[inline(always)]
    fn blocks(
        &self,
        fields: &mut Fields<'_>,
        block: u64,
        expected: &'static str,
    ) -> Result<u64, FieldError> {
        fields.cut_blocks(BYTE, block, expected)
    }

    #[inline(always)]
    fn rest<'a>(&self, fields: &mut Fields<'a>) -> Option<Field<'a>> {
        fields.cut(BYTE)
    }
}

impl Cut for AtBlanks {
    #[inline(always)]
    fn any<'a>(
        &self,
        fields: &mut Fields<'a>,
        expected: &'static str,
    ) -> Result<Field<'a>, FieldError> {
        fields.need_word(expected)
    }

    #[inline(always)]
    fn blocks(
        &self,
        fields: &mut Fields<'_>,
        block: u64,
        expected: &'static str,
    ) -> Result<u64, FieldError> {
        fields.word_blocks(block, expected)
    }

    #[inline(always)]
    fn rest<'a>(&self, fields: &mut Fields<'a>) -> Option<Field<'a>> {
        fields.word()
    }
}

/// Whether a column names the device.
const fn names_device(columns: &[Column]) -> bool {
    let mut at = 0;
    while at < columns.len() {
        if matches!(columns[at], Column::Device(_)) {
            return true;
        }
        at += 1;
    }
    false
}

/// The expected form of a time, for messages.
fn time_expected(unit: TimeUnit, decimals: Decimals) -> &'static str {
    match (unit, decimals) {
        (TimeUnit::S, Decimals::Some) => "a time in seconds",
        (TimeUnit::S, Decimals::None) => "a whole time in seconds",
        (TimeUnit::Ms, Decimals::Some) => "a time in ms",
        (TimeUnit::Ms, Decimals::None) => "a whole time in ms",
        (TimeUnit::Us, Decimals::Some) => "a time in us",
        (TimeUnit::Us, Decimals::None) => "a whole time in us",
        (TimeUnit::Ticks100Ns, _) => "a time in ticks of 100 ns",
        (TimeUnit::Ns, Decimals::Some) => "a time in ns",
        (TimeUnit::Ns, Decimals::None) => "a whole time in ns",
        (TimeUnit::Ps, Decimals::Some) => "a time in ps",
        (TimeUnit::Ps, Decimals::None) => "a whole time in ps",
    }
}

impl<L: Layout> LineFormat for Delimited<L> {
    fn name(&self) -> &'static str {
        L::ROW.info.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        if let Some(header) = &L::ROW.header
            && line.starts_with(header.begins)
        {
            return Ok(None);
        }
        // In constants, so that only one of the three is compiled for each format.
        if const { matches!(L::ROW.delimiter, Delimiter::Comma) } {
            self.columns(line, &At::<b','>)
        } else if const { matches!(L::ROW.delimiter, Delimiter::Tab) } {
            self.columns(line, &At::<b'\t'>)
        } else {
            self.columns(line, &AtBlanks)
        }
    }
}

impl<L: Layout> Delimited<L> {
    #[inline(always)]
    fn columns(&self, line: &[u8], cut: &impl Cut) -> Result<Option<RawRecord>, FieldError> {
        let mut fields = Fields::new(line);
        let mut record = RawRecord {
            at_ns: 0,
            device: 0,
            op: Op::Other,
            marks: Marks::NONE,
            offset_bytes: 0,
            size_bytes: 0,
        };
        unrolled!(column in L::ROW.columns => {
            match *column {
                Column::Time(decimals) => record.at_ns = self.time(&mut fields, cut, decimals)?,
                Column::Device(expected) => record.device = cut.blocks(&mut fields, 1, expected)?,
                Column::Offset(block, expected) => {
                    record.offset_bytes = cut.blocks(&mut fields, block, expected)?;
                }
                Column::Size(block, expected) => {
                    record.size_bytes = cut.blocks(&mut fields, block, expected)?;
                }
                Column::Op(expected) => {
                    match Self::word(&cut.any(&mut fields, expected)?, expected)? {
                        Some(op) => record.op = op,
                        None => return Ok(None),
                    }
                }
                Column::Number(expected) => {
                    cut.blocks(&mut fields, 1, expected)?;
                }
                Column::Text(_, expected) => {
                    cut.any(&mut fields, expected)?;
                }
            }
        });
        if L::ROW.ends
            && let Some(field) = cut.rest(&mut fields)
        {
            return Err(field.wrong("the end of the line"));
        }
        Ok(Some(record))
    }

    #[inline(always)]
    fn time(
        &self,
        fields: &mut Fields<'_>,
        cut: &impl Cut,
        decimals: Decimals,
    ) -> Result<u64, FieldError> {
        let unit = self.unit();
        let expected = time_expected(unit, decimals);
        match decimals {
            Decimals::Some => cut.any(fields, expected)?.time_ns(unit, expected),
            Decimals::None if unit == TimeUnit::Ps => Ok(cut.blocks(fields, 1, expected)? / 1000),
            Decimals::None => cut.blocks(fields, unit.ns(), expected),
        }
    }

    /// The operation of a word; `None` is a row that does not count.
    #[inline(always)]
    fn word(field: &Field<'_>, expected: &'static str) -> Result<Option<Op>, FieldError> {
        unrolled!(known in L::ROW.words.list() => {
            if field.bytes == known.0 {
                return Ok(known.1);
            }
        });
        L::ROW.words.read_rare(field, expected)
    }

    /// The word for an operation.
    #[inline(always)]
    fn word_of(op: Op) -> Result<&'static [u8], String> {
        unrolled!(known in L::ROW.words.list() => {
            if known.1 == Some(op) && op != Op::Other {
                return Ok(known.0);
            }
        });
        Err(format!("{} has no trims", L::ROW.info.name))
    }
}

impl Words {
    const fn list(&self) -> &'static [(&'static [u8], Option<Op>)] {
        match self {
            Words::These(list) | Words::AnyCase(list) | Words::OrFlags(list) => list,
        }
    }

    /// A word that is none of them as they are.
    #[cold]
    fn read_rare(
        &self,
        field: &Field<'_>,
        expected: &'static str,
    ) -> Result<Option<Op>, FieldError> {
        match self {
            Words::These(_) => Err(field.wrong(expected)),
            Words::AnyCase(list) => {
                let found = list.iter().find(|(word, _)| word.eq_ignore_ascii_case(field.bytes));
                found.map(|(_, op)| *op).ok_or_else(|| field.wrong(expected))
            }
            Words::OrFlags(_) => match hexadecimal(field.bytes) {
                Some(flags) if flags & 1 == 1 => Ok(Some(Op::Read)),
                Some(_) => Ok(Some(Op::Write)),
                None => Err(field.wrong("hexadecimal flags, of which bit 0 means read")),
            },
        }
    }
}

impl<L: Layout> LineWriter for Delimited<L> {
    fn header(&self, line: &mut Vec<u8>) {
        if let Some(text) = L::ROW.header.as_ref().and_then(|header| header.written) {
            line.extend_from_slice(text);
            line.push(b'\n');
        }
    }

    fn write(&mut self, record: &Record, line: &mut Vec<u8>) -> Result<(), String> {
        let delimiter = match L::ROW.delimiter {
            Delimiter::Comma => b',',
            Delimiter::Tab => b'\t',
            Delimiter::Blanks => b' ',
        };
        if !const { names_device(L::ROW.columns) } {
            self.device.check(record, L::ROW.info.name)?;
        }
        unrolled!(column in L::ROW.columns => {
            match *column {
                Column::Time(Decimals::Some) => self.unit().write_exact(record.at_ns, line),
                Column::Time(Decimals::None) => self.unit().write_whole(record.at_ns, line),
                Column::Device(_) => write_u64(record.device, line),
                Column::Op(_) => {
                    let word = Self::word_of(record.op)?;
                    line.extend_from_slice(word);
                }
                Column::Offset(block, _) => {
                    write_u64(whole_blocks(record.offset_bytes, block, "offset")?, line);
                }
                Column::Size(block, _) => {
                    write_u64(whole_blocks(record.size_bytes, block, "size")?, line);
                }
                Column::Number(_) => line.push(b'0'),
                Column::Text(fill, _) => line.extend_from_slice(fill.as_bytes()),
            }
            line.push(delimiter);
        });
        line.pop();
        line.extend_from_slice(L::ROW.tail.as_bytes());
        Ok(())
    }
}
