//! An iolog of fio, version 2 or 3.
//!
//! Version 3 has a time before each action. Version 2 has none: its clock moves by `wait` only.

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit, write_u64};
use crate::format::{FormatInfo, LineFormat, LineWriter, Look, Verdict};
use crate::formats::Format;
use crate::record::{Marks, Op, RawRecord, Record};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "fio",
    names: &[("fio", || Format::Fio(Waits::Manual)), ("fio-ms", || Format::Fio(Waits::Program))],
    title: "fio iolog, version 2 and 3; fio-ms: waits of version 2 as fio takes them",
    columns: "time file action offset length (version 2: no time, and waits)",
    units: "microseconds (fio-ms: waits in ms), bytes, bytes; action: read, write, trim, sync, \
            datasync, wait",
    defined: "fio's HOWTO, trace file format v2 and v3; log_io_u() and read_iolog() in iolog.c",
    lost: "fractions of a microsecond; devices are files, numbered as they appear; \
           priority marks",
    option: None,
    looks_like: Look::Lines(looks_like),
};

const HEADERS: [(&[u8], Version); 2] =
    [(b"fio version 2 iolog", Version::Waits), (b"fio version 3 iolog", Version::Times)];
const EXPECTED_HEADER: &str = "the first line, `fio version 2 iolog` or `fio version 3 iolog`";
const ACTION: &str = "an action: read, write, trim, sync, datasync, wait, add, open, close";
/// A trace with more file names than this is refused.
const FILES_MAX: u64 = 1 << 16;
/// fio does not read longer names either.
const NAME_BYTES_MAX: usize = 256;

/// The meaning of a wait of version 2. The manual and the program differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Waits {
    /// Microseconds from the wait before.
    Manual,
    /// Milliseconds from the start.
    Program,
}

#[derive(Clone, Copy)]
enum Version {
    Waits,
    Times,
}

/// Reads one log.
pub(crate) struct Fio {
    waits: Waits,
    version: Option<Version>,
    /// The sum of the waits so far; version 2 only.
    clock_ns: u64,
    files: Files,
}

pub(crate) fn reader(waits: &Waits) -> Fio {
    Fio { waits: *waits, version: None, clock_ns: 0, files: Files::default() }
}

pub(crate) fn option_text(_waits: &Waits) -> Option<String> {
    None
}

impl LineFormat for Fio {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        if let Some(version) = header(line) {
            self.version = Some(version);
            return Ok(None);
        }
        let mut fields = Fields::new(line);
        let at_ns = match self.version {
            None => return Err(FieldError::new(1, EXPECTED_HEADER)),
            Some(Version::Waits) => self.clock_ns,
            Some(Version::Times) => fields.word_blocks(TimeUnit::Us.ns(), "a whole time in us")?,
        };
        let device = self.files.number(&fields.need_word("the name of a file")?)?;
        let action = fields.need_word(ACTION)?;
        let op = match action.bytes {
            b"read" => Op::Read,
            b"write" => Op::Write,
            b"trim" => Op::Trim,
            // Their offset and length have no meaning.
            b"sync" | b"datasync" | b"sync_file_range" | b"syncfs" => {
                let op = Op::Other;
                return Ok(Some(RawRecord {
                    at_ns,
                    device,
                    op,
                    marks: Marks::NONE,
                    offset_bytes: 0,
                    size_bytes: 0,
                }));
            }
            b"wait" => return self.wait(&mut fields).map(|()| None),
            b"add" | b"open" | b"close" | b"unlink" => return Ok(None),
            _ => return Err(action.wrong(ACTION)),
        };
        let offset_bytes = fields.word_blocks(1, "an offset in bytes")?;
        let size_bytes = fields.word_blocks(1, "a length in bytes")?;
        Ok(Some(RawRecord { at_ns, device, op, marks: Marks::NONE, offset_bytes, size_bytes }))
    }
}

impl Fio {
    fn wait(&mut self, fields: &mut Fields) -> Result<(), FieldError> {
        let (unit, expected) = match self.waits {
            Waits::Manual => (TimeUnit::Us, "a whole time in us"),
            Waits::Program => (TimeUnit::Ms, "a whole time in ms"),
        };
        let field = fields.need_word(expected)?;
        let wait_ns = field.blocks(unit.ns(), expected)?;
        match (self.version, self.waits) {
            (Some(Version::Waits), Waits::Manual) => {
                let after_ns = self.clock_ns.checked_add(wait_ns);
                self.clock_ns =
                    after_ns.ok_or_else(|| field.wrong(expected).help("the waits are too long"))?;
            }
            (Some(Version::Waits), Waits::Program) => self.clock_ns = self.clock_ns.max(wait_ns),
            // Version 3 has times of its own, and fio passes over its waits too.
            _ => {}
        }
        Ok(())
    }
}

fn header(line: &[u8]) -> Option<Version> {
    if !line.starts_with(b"fio ") {
        return None;
    }
    let found = HEADERS.iter().find(|(header, _)| *header == line.trim_ascii_end());
    found.map(|(_, version)| *version)
}

/// The files of a log, numbered as they appear.
#[derive(Default)]
struct Files {
    numbers: BTreeMap<Box<[u8]>, u64>,
    /// The file of the line before, which is often the file of the next one too.
    last: Box<[u8]>,
    last_number: u64,
}

impl Files {
    #[inline]
    fn number(&mut self, name: &Field) -> Result<u64, FieldError> {
        if *self.last != *name.bytes {
            self.last_number = self.look_up(name)?;
            self.last = name.bytes.into();
        }
        Ok(self.last_number)
    }

    fn look_up(&mut self, name: &Field) -> Result<u64, FieldError> {
        if let Some(number) = self.numbers.get(name.bytes) {
            return Ok(*number);
        }
        if name.bytes.len() > NAME_BYTES_MAX {
            return Err(name.wrong("the name of a file, at most 256 bytes long"));
        }
        let number = self.numbers.len() as u64;
        if number == FILES_MAX {
            return Err(name.wrong("one of at most 65536 files"));
        }
        self.numbers.insert(name.bytes.into(), number);
        Ok(number)
    }
}

fn looks_like(sample: &[&[u8]]) -> Verdict {
    let is_wait = |line: &&[u8]| {
        let mut fields = Fields::new(line);
        fields.word().and_then(|_| fields.word()).is_some_and(|action| action.bytes == b"wait")
    };
    match sample.first().and_then(|line| header(line)) {
        None => Verdict::No,
        // The meaning of its waits cannot be guessed.
        Some(Version::Waits) if sample.iter().any(is_wait) => Verdict::Fits,
        Some(_) => Verdict::Sure,
    }
}

/// Writes version 3. Each device is a file, which is added and opened when it appears.
#[derive(Default)]
struct Writer {
    opened: BTreeSet<u64>,
}

pub(crate) fn writer(_waits: &Waits) -> Option<Box<dyn LineWriter>> {
    Some(Box::<Writer>::default())
}

/// `time file action`.
fn write_action(record: &Record, action: &[u8], line: &mut Vec<u8>) {
    TimeUnit::Us.write_whole(record.at_ns, line);
    line.extend_from_slice(b" /trace/device-");
    write_u64(record.device, line);
    line.push(b' ');
    line.extend_from_slice(action);
}

impl LineWriter for Writer {
    fn header(&self, line: &mut Vec<u8>) {
        line.extend_from_slice(b"fio version 3 iolog\n");
    }

    fn write(&mut self, record: &Record, line: &mut Vec<u8>) -> Result<(), String> {
        let action: &[u8] = match record.op {
            Op::Read => b"read ",
            Op::Write => b"write ",
            Op::Trim => b"trim ",
            Op::Other => return Err("fio has no action for it".into()),
        };
        if self.opened.insert(record.device) {
            write_action(record, b"add\n", line);
            write_action(record, b"open\n", line);
        }
        write_action(record, action, line);
        write_u64(record.offset_bytes, line);
        line.push(b' ');
        write_u64(record.size_bytes, line);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str, waits: Waits) -> Vec<(u64, u64, Op, u64)> {
        let mut format = reader(&waits);
        let rows = text.lines().filter_map(|line| format.parse(line.as_bytes()).unwrap());
        rows.map(|row| (row.at_ns, row.device, row.op, row.size_bytes)).collect()
    }

    #[test]
    fn waits_move_the_clock_of_version_2() {
        let text = "fio version 2 iolog\n/b add\n/a add\n/b open\n/b read 0 4096\n/b wait 150 0\n\
                    /a write 8 512\n/a wait 50\n/b datasync 8 512\n/b trim 0 1\n/b close\n";
        let expected = [
            (0, 0, Op::Read, 4096),
            (150_000, 1, Op::Write, 512),
            (200_000, 0, Op::Other, 0),
            (200_000, 0, Op::Trim, 1),
        ];
        assert_eq!(rows(text, Waits::Manual), expected);
        let mut format = reader(&Waits::Manual);
        format.parse(b"fio version 2 iolog").unwrap();
        format.parse(b"/a wait 18446744073709551 0").unwrap();
        assert_eq!(format.parse(b"/a wait 1000 0").unwrap_err().column, 9);
    }

    #[test]
    fn the_program_counts_waits_in_ms_from_the_start() {
        let text = "fio version 2 iolog\na wait 4000 0\na read 0 8\na wait 6000 0\na read 8 8\n\
                    a wait 5000 0\na read 16 8\n";
        let times: Vec<u64> = rows(text, Waits::Program).iter().map(|row| row.0).collect();
        assert_eq!(times, [4_000_000_000, 6_000_000_000, 6_000_000_000]);
    }

    #[test]
    fn version_3_has_times() {
        let text = "fio version 3 iolog \n2 nvme add\n872 nvme open\n878 nvme write 0 16384\n\
                    880 nvme wait 7 0\n888 nvme sync 3 9\n";
        assert_eq!(
            rows(text, Waits::Manual),
            [(878_000, 0, Op::Write, 16_384), (888_000, 0, Op::Other, 0)]
        );
        assert_eq!(reader(&Waits::Manual).parse(b"878 nvme write 0 16384").unwrap_err().column, 1);
    }

    #[test]
    fn files_without_end_are_an_error() {
        let mut format = reader(&Waits::Manual);
        format.parse(b"fio version 3 iolog").unwrap();
        let long = format!("1 {} read 0 512", "x".repeat(257));
        assert_eq!(format.parse(long.as_bytes()).unwrap_err().column, 3);
        for file in 0..FILES_MAX {
            let row = format.parse(format!("1 {file} read 0 512").as_bytes()).unwrap().unwrap();
            assert_eq!(row.device, file);
        }
        assert!(format.parse(b"1 0 read 0 512").is_ok());
        assert!(format.parse(b"1 x read 0 512").unwrap_err().expected.contains("65536"));
    }
}
