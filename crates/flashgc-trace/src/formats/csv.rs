//! Text with columns that the user names.

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit, write_u64};
use crate::format::{FormatInfo, LineFormat, LineWriter, Look, OptionInfo, Verdict};
use crate::formats::Format;
use crate::record::{Marks, Op, RawRecord, Record};
use crate::write::whole_blocks;
use std::collections::HashMap;

use super::csv_header;
pub use super::csv_spec::{
    Column, CsvSpec, Delimiter, Header, Hexadecimal, OpWords, PriorityWords,
};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "csv",
    names: &[("csv", default_format)],
    title: "columns that you name",
    columns: "as named: time:UNIT, op, offset[:BLOCK], size[:BLOCK], device, priority, hint, -",
    units: "as named: s, ms, us, 100ns, ns, ps; bytes or blocks of BLOCK bytes",
    defined: "the manual, docs/formats/csv.md",
    lost: "fractions of the time unit, and every column that is not named",
    option: Some(OptionInfo {
        what: "columns and settings, such as `time:us, op, offset:512, size:512; delimiter=space; \
               header=no; read=1; write=0`",
        parse: |text| text.parse().map(Format::Csv),
    }),
    // Any text could be in this format, so it is never recognised.
    looks_like: Look::Lines(|_| Verdict::No),
};

/// `csv` without columns means these.
pub(super) fn default_format() -> Format {
    Format::Csv(CsvSpec {
        columns: vec![
            Column::Time(TimeUnit::Ns),
            Column::Device,
            Column::Op,
            Column::Offset(1),
            Column::Size(1),
        ],
        delimiter: Some(Delimiter::Char(b',')),
        header: Header::Auto,
        words: OpWords::default(),
        priorities: PriorityWords::default(),
        hexadecimal: Hexadecimal::default(),
    })
}

pub(crate) fn option_text(spec: &CsvSpec) -> Option<String> {
    Some(spec.to_string())
}

/// The content of the column of the device.
enum Devices {
    /// Undecided before the first row.
    Open,
    Numbers,
    /// Names, which are numbered in the order of their first rows.
    Names(HashMap<Vec<u8>, u64>),
}

/// The most names of devices.
const NAMES_MAX: usize = 1 << 16;

pub(crate) struct Csv {
    spec: CsvSpec,
    delimiter: Option<Delimiter>,
    devices: Devices,
    /// No row has been read yet, so the next one may be the header.
    at_start: bool,
}

pub(crate) fn reader(spec: &CsvSpec) -> Csv {
    Csv { spec: spec.clone(), delimiter: spec.delimiter, devices: Devices::Open, at_start: true }
}

impl LineFormat for Csv {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        let delimiter = match self.delimiter {
            Some(delimiter) => delimiter,
            None => *self.delimiter.insert(self.guess(line)),
        };
        if self.at_start {
            self.at_start = false;
            if csv_header::is_header(&self.spec, line, delimiter) {
                return Ok(None);
            }
            let row = self.parse_row(line, delimiter);
            return row
                .map(Some)
                .map_err(|error| csv_header::of_first_row(&self.spec, line, delimiter, error));
        }
        self.parse_row(line, delimiter).map(Some)
    }
}

#[inline]
pub(super) fn next_field<'a>(fields: &mut Fields<'a>, delimiter: Delimiter) -> Option<Field<'a>> {
    let field = match delimiter {
        Delimiter::Char(delimiter) => fields.cut(delimiter)?,
        Delimiter::Blanks => fields.word()?,
    };
    match field.bytes {
        [b'"', inner @ .., b'"'] => Some(Field { bytes: inner, column: field.column + 1 }),
        _ => Some(field),
    }
}

/// Most columns are plain decimal numbers, which need not be cut out first.
#[inline]
fn quick(fields: &mut Fields, delimiter: Delimiter, column: &Column, row: &mut RawRecord) -> bool {
    let (place, block) = match column {
        Column::Time(TimeUnit::Ps)
        | Column::Op
        | Column::Priority
        | Column::Hint
        | Column::Skip => return false,
        Column::Time(unit) => (&mut row.at_ns, unit.ns()),
        Column::Offset(block) => (&mut row.offset_bytes, *block),
        Column::Size(block) => (&mut row.size_bytes, *block),
        Column::Device => (&mut row.device, 1),
    };
    let found = match delimiter {
        Delimiter::Char(delimiter) => fields.quick_blocks(delimiter, block),
        Delimiter::Blanks => fields.quick_word_blocks(block),
    };
    *place = found.unwrap_or(*place);
    found.is_some()
}

impl Csv {
    /// The first delimiter that cuts the line into enough columns.
    fn guess(&self, line: &[u8]) -> Delimiter {
        let count = |byte| 1 + line.iter().filter(|&&found| found == byte).count();
        let enough = |byte: &&u8| count(**byte) >= self.spec.columns.len();
        b",;\t|".iter().find(enough).map_or(Delimiter::Blanks, |byte| Delimiter::Char(*byte))
    }

    fn parse_row(&mut self, line: &[u8], delimiter: Delimiter) -> Result<RawRecord, FieldError> {
        let mut fields = Fields::new(line);
        let mut row = RawRecord {
            at_ns: 0,
            device: 0,
            op: Op::Other,
            marks: Marks::NONE,
            offset_bytes: 0,
            size_bytes: 0,
        };
        let (mut marks, mut hint) = (Marks::NONE, 0);
        let (spec, hexadecimal) = (&self.spec, self.spec.hexadecimal);
        for column in &spec.columns {
            let is_name = *column == Column::Device && matches!(self.devices, Devices::Names(_));
            let is_plain = !is_name && !hexadecimal.is_of(column);
            if is_plain && quick(&mut fields, delimiter, column, &mut row) {
                continue;
            }
            let Some(field) = next_field(&mut fields, delimiter) else {
                return Err(too_short(spec, line, column));
            };
            match column {
                Column::Skip => {}
                Column::Time(unit) => row.at_ns = field.time_ns(*unit, "a time")?,
                Column::Op => row.op = op(&spec.words, &field)?,
                Column::Offset(block) => {
                    row.offset_bytes = blocks(&field, *block, hexadecimal.offset, "an offset")?;
                }
                Column::Size(block) => {
                    row.size_bytes = blocks(&field, *block, hexadecimal.size, "a size")?;
                }
                Column::Device => row.device = self.devices.number(&field, hexadecimal.device)?,
                Column::Priority => marks = priority(&spec.priorities, &field)?,
                Column::Hint => hint = hint_of(&field)?,
            }
        }
        if matches!(self.devices, Devices::Open) {
            self.devices = Devices::Numbers;
        }
        row.marks = marks.with_hint(hint);
        Ok(row)
    }
}

impl Devices {
    /// The number of a device. The first row decides whether devices have names.
    fn number(&mut self, field: &Field, is_hexadecimal: bool) -> Result<u64, FieldError> {
        let expected = "a device's number";
        let number = blocks(field, 1, is_hexadecimal, expected);
        if matches!(self, Devices::Open) && number.is_err() && !field.bytes.is_empty() {
            *self = Devices::Names(HashMap::new());
        }
        let Devices::Names(names) = self else { return number };
        if let Some(&number) = names.get(field.bytes) {
            return Ok(number);
        }
        if names.len() == NAMES_MAX || field.bytes.is_empty() {
            return Err(FieldError::new(
                field.column,
                format!("the name of a device, of which there are at most {NAMES_MAX}"),
            ));
        }
        let number = names.len() as u64;
        names.insert(field.bytes.to_vec(), number);
        Ok(number)
    }
}

/// A number of blocks, in bytes.
fn blocks(
    field: &Field,
    block: u64,
    is_hexadecimal: bool,
    expected: &'static str,
) -> Result<u64, FieldError> {
    if !is_hexadecimal && !field.has_hexadecimal_mark() {
        return field.blocks(block, expected);
    }
    let count = field.hexadecimal(expected)?;
    count.checked_mul(block).ok_or_else(|| field.wrong(expected).help("it is too large"))
}

#[inline]
fn op(words: &OpWords, field: &Field) -> Result<Op, FieldError> {
    let is = |words| is_one_of(words, field);
    if is(&words.read) {
        Ok(Op::Read)
    } else if is(&words.write) {
        Ok(Op::Write)
    } else if is(&words.trim) {
        Ok(Op::Trim)
    } else if is(&words.other) {
        Ok(Op::Other)
    } else {
        Err(field
            .wrong("a word for the operation")
            .help("name the words, as in `; read=1; write=0; other=2`"))
    }
}

#[inline]
fn priority(words: &PriorityWords, field: &Field) -> Result<Marks, FieldError> {
    if is_one_of(&words.normal, field) {
        Ok(Marks::NONE)
    } else if is_one_of(&words.high, field) {
        Ok(Marks::HIGH)
    } else {
        Err(field
            .wrong("a word for the priority")
            .help("name the words, as in `; high=1; normal=0`"))
    }
}

#[cold]
fn too_short(spec: &CsvSpec, line: &[u8], column: &Column) -> FieldError {
    let count = spec.columns.len();
    let message = format!("{count} columns; the line ends before `{column}`");
    FieldError::new(line.len() as u64 + 1, message)
        .help("the delimiter is detected from the first row, unless `; delimiter=...` sets it")
}

/// A number that fits a byte.
#[inline]
fn hint_of(field: &Field) -> Result<u8, FieldError> {
    let number = field.whole("a placement hint from 0 to 255")?;
    u8::try_from(number).map_err(|_| {
        field
            .wrong("a placement hint from 0 to 255")
            .help("name the column `-` if it holds no hints")
    })
}

#[inline]
fn is_one_of(words: &[String], field: &Field) -> bool {
    words.iter().any(|word| word.as_bytes().eq_ignore_ascii_case(field.bytes))
}

/// Writes the named columns; `-` where one does not count.
struct Writer {
    spec: CsvSpec,
    device: Option<u64>,
}

pub(crate) fn writer(spec: &CsvSpec) -> Option<Box<dyn LineWriter>> {
    Some(Box::new(Writer { spec: spec.clone(), device: None }))
}

impl Writer {
    fn delimiter(&self) -> u8 {
        match self.spec.delimiter {
            Some(Delimiter::Char(byte)) => byte,
            Some(Delimiter::Blanks) => b' ',
            None => b',',
        }
    }

    fn op_word(&self, op: Op) -> Result<&[u8], String> {
        let words = match op {
            Op::Read => &self.spec.words.read,
            Op::Write => &self.spec.words.write,
            Op::Trim => &self.spec.words.trim,
            Op::Other => &self.spec.words.other,
        };
        first(words).ok_or_else(|| format!("the word {op:?} is not assigned to an operation"))
    }

    fn priority_word(&self, marks: Marks) -> Result<&[u8], String> {
        let (name, words) = match marks.is_high() {
            false => ("Normal", &self.spec.priorities.normal),
            true => ("High", &self.spec.priorities.high),
        };
        first(words).ok_or_else(|| format!("the word {name} is not assigned to a priority"))
    }
}

fn write_number(number: u64, is_hexadecimal: bool, line: &mut Vec<u8>) {
    if is_hexadecimal {
        line.extend_from_slice(format!("{number:x}").as_bytes());
    } else {
        write_u64(number, line);
    }
}

fn first(words: &[String]) -> Option<&[u8]> {
    words.first().map(String::as_bytes)
}

impl LineWriter for Writer {
    fn keeps_priority(&self) -> bool {
        self.spec.columns.contains(&Column::Priority)
    }

    fn keeps_hints(&self) -> bool {
        self.spec.columns.contains(&Column::Hint)
    }

    fn header(&self, line: &mut Vec<u8>) {
        if self.spec.header == Header::Yes {
            for (index, column) in self.spec.columns.iter().enumerate() {
                if index > 0 {
                    line.push(self.delimiter());
                }
                line.extend_from_slice(column.to_string().as_bytes());
            }
            line.push(b'\n');
        }
    }

    fn write(&mut self, record: &Record, line: &mut Vec<u8>) -> Result<(), String> {
        let device = *self.device.get_or_insert(record.device);
        if device != record.device && !self.spec.columns.contains(&Column::Device) {
            let both = format!("{device} and {}", record.device);
            return Err(format!(
                "no column is named for the device, but the trace has several: {both}"
            ));
        }
        for (index, column) in self.spec.columns.iter().enumerate() {
            if index > 0 {
                line.push(self.delimiter());
            }
            match column {
                Column::Skip => line.push(b'-'),
                Column::Time(unit) => unit.write_whole(record.at_ns, line),
                Column::Op => line.extend_from_slice(self.op_word(record.op)?),
                Column::Offset(block) => {
                    let blocks = whole_blocks(record.offset_bytes, *block, "offset")?;
                    write_number(blocks, self.spec.hexadecimal.offset, line);
                }
                Column::Size(block) => {
                    let blocks = whole_blocks(record.size_bytes, *block, "size")?;
                    write_number(blocks, self.spec.hexadecimal.size, line);
                }
                Column::Device => write_number(record.device, self.spec.hexadecimal.device, line),
                Column::Priority => {
                    line.extend_from_slice(self.priority_word(record.marks)?);
                }
                Column::Hint => write_u64(record.marks.hint().into(), line),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(spec: &str, lines: &[&str]) -> Vec<RawRecord> {
        let mut format = reader(&spec.parse().unwrap());
        lines.iter().filter_map(|line| format.parse(line.as_bytes()).unwrap()).collect()
    }

    #[test]
    fn reads_other_layouts() {
        let rows = parse(
            "time:us, op, offset:512, size:512, device",
            &["time\top\toffset\tsize\tdev", "1.5\tR\t8\t16\t3"],
        );
        let expected = RawRecord {
            at_ns: 1500,
            device: 3,
            op: Op::Read,
            marks: Marks::NONE,
            offset_bytes: 4096,
            size_bytes: 8192,
        };
        assert_eq!(rows, [expected]);
        let heimdall = parse(
            "time:ms, device, offset, size, op; delimiter=space; read=1; write=0",
            &["223.412 0 3159347200 36864 0"],
        );
        assert_eq!((heimdall[0].at_ns, heimdall[0].op), (223_412_000, Op::Write));
        assert_eq!(parse("-, op, offset, size", &["x,\"w\",1,2,3"])[0].size_bytes, 2);
    }

    #[test]
    fn a_column_marks_requests_of_high_priority() {
        let rows = parse("op, offset, size, priority", &["w,0,512,High", "w,0,512,n"]);
        let marks: Vec<Marks> = rows.iter().map(|row| row.marks).collect();
        assert_eq!(marks, [Marks::HIGH, Marks::NONE]);
        let rows = parse("priority, op, offset, size; high=0|1; normal=2", &["1,r,0,512"]);
        assert_eq!(rows[0].marks, Marks::HIGH);
        let mut format = reader(&"op, offset, size, priority".parse().unwrap());
        let error = format.parse(b"w,0,512,1").unwrap_err();
        assert_eq!((error.column, error.help.unwrap().contains("high=1")), (9, true));
    }

    #[test]
    fn a_column_has_placement_hints() {
        let rows = parse("hint, op, offset, size, priority", &["7,w,0,512,n", "255,w,0,512,h"]);
        let marks: Vec<Marks> = rows.iter().map(|row| row.marks).collect();
        assert_eq!(marks, [Marks::NONE.with_hint(7), Marks::HIGH.with_hint(255)]);
        let mut format = reader(&"op, offset, size, hint".parse().unwrap());
        for (hint, help) in [("256", "name the column `-`"), ("-1", ""), ("hot", "")] {
            let error = format.parse(format!("w,0,512,{hint}").as_bytes()).unwrap_err();
            assert_eq!(error.column, 9, "{hint}");
            assert!(error.help.unwrap_or_default().contains(help), "{hint}");
        }
    }

    #[test]
    fn numbers_may_be_hexadecimal() {
        let rows = parse("op, offset:512, size, device", &["w,0x1F,0X200,0x3", "r,16,512,3"]);
        let reported = |row: &RawRecord| (row.offset_bytes, row.size_bytes, row.device);
        assert_eq!(
            rows.iter().map(reported).collect::<Vec<_>>(),
            [(31 * 512, 512, 3), (8192, 512, 3)]
        );
        let spec = "op, offset, size, device; hex=offset|device";
        assert_eq!(reported(&parse(spec, &["w,1f000,512,10"])[0]), (0x1f000, 512, 16));
        for (spec, line) in
            [(spec, "w,1g,512,0"), ("op, offset:512, size", "w,0xffffffffffffffff,1")]
        {
            let error = reader(&spec.parse().unwrap()).parse(line.as_bytes()).unwrap_err();
            assert_eq!((error.column, &*error.expected), (3, "an offset"));
        }
        let mut line = Vec::new();
        let record = Record { line: 1, ..parse(spec, &["w,1f000,512,10"])[0].on_line(1) };
        writer(&spec.parse().unwrap()).unwrap().write(&record, &mut line).unwrap();
        assert_eq!(line, b"w,1f000,512,10");
    }

    #[test]
    fn devices_may_have_names() {
        let rows = ["w,0,1,sdb", "w,0,1,sda", "w,0,1,7", "w,0,1,sdb"];
        let devices: Vec<u64> =
            parse("op, offset, size, device", &rows).iter().map(|row| row.device).collect();
        assert_eq!(devices, [0, 1, 2, 0]);
        // The first row decides: a name behind numbers is an error.
        let mut format = reader(&"op, offset, size, device".parse().unwrap());
        format.parse(b"w,0,1,7").unwrap();
        assert_eq!(format.parse(b"w,0,1,sda").unwrap_err().expected, "a device's number");
        assert!(reader(&"op, offset, size, device".parse().unwrap()).parse(b"w,0,1,").is_err());
    }

    #[test]
    fn an_unknown_word_is_an_error() {
        let mut format = reader(&"op, offset, size".parse().unwrap());
        let error = format.parse(b"1,2,3").unwrap_err();
        assert_eq!(error.column, 1);
        assert!(error.help.unwrap().contains("read=1"));
    }
}
