//! A load of blkreplay: `start ; sector ; length ; op ; replay_delay ; replay_duration`.

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit, write_u64};
use crate::format::{FormatInfo, LineFormat, LineWriter, Look, Verdict, fits_most};
use crate::formats::Format;
use crate::record::{Marks, Op, RawRecord, Record};
use crate::write::{OneDevice, whole_blocks};
use memchr::{memchr, memchr_iter};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "blkreplay",
    names: &[("blkreplay", || Format::Blkreplay)],
    title: "blkreplay .load",
    columns: "start ; sector ; length ; op ; replay_delay ; replay_duration",
    units: "seconds with decimals, sectors of 512 bytes, sectors; op: R, W",
    defined: "blkreplay manual (doc/blkreplay) and the header line of its loads",
    lost: "the device (one only); offset and size must be multiples of 512; priority marks",
    option: None,
    looks_like: Look::Lines(looks_like),
};

const BLOCK: u64 = 512;

/// Reads a load. Before each head there may be free text, such as a licence.
pub(crate) struct Blkreplay {
    in_body: bool,
}

pub(crate) fn reader() -> Blkreplay {
    Blkreplay { in_body: false }
}

impl LineFormat for Blkreplay {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        let text = line.trim_ascii_start();
        if !self.in_body && memchr(b';', text).is_none() {
            return Ok(None);
        }
        if is_head(text) {
            self.in_body = true;
            return Ok(None);
        }
        let record = parse_row(line)?;
        self.in_body = true;
        Ok(Some(record))
    }

    fn passes_over(&mut self, line: &[u8], ahead: &[&[u8]]) -> bool {
        let row = |line: &[u8]| is_head(line) || parse_row(line).is_ok();
        let follows = ahead.iter().find(|line| row(line));
        let is_text = !is_like_a_row(line) && follows.is_some_and(|line| is_head(line));
        // All lines until the head are text too.
        self.in_body &= !is_text;
        is_text
    }
}

/// The line that names the columns: `start ; sector; length ; op ; ...`.
fn is_head(line: &[u8]) -> bool {
    let mut names = line.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
    names.next() == Some(b"start") && names.next() == Some(b"sector")
}

/// A spoiled row must not be taken for text.
fn is_like_a_row(line: &[u8]) -> bool {
    let begins = line.trim_ascii_start().first().is_some_and(u8::is_ascii_digit);
    begins && memchr_iter(b';', line).count() >= 3
}

fn parse_row(line: &[u8]) -> Result<RawRecord, FieldError> {
    let mut fields = Fields::new(line);
    let expected = "a time in seconds";
    let at_ns = fields.need_cut(b';', expected)?.time_ns(TimeUnit::S, expected)?;
    let expected = "a sector of 512 bytes";
    let offset_bytes = fields.need_cut(b';', expected)?.blocks(BLOCK, expected)?;
    let expected = "a length in sectors of 512 bytes";
    let size_bytes = fields.need_cut(b';', expected)?.blocks(BLOCK, expected)?;
    let op = parse_op(&fields.need_cut(b';', "R or W")?)?;
    Ok(RawRecord { at_ns, device: 0, op, marks: Marks::NONE, offset_bytes, size_bytes })
}

fn parse_op(field: &Field) -> Result<Op, FieldError> {
    match field.bytes {
        b"R" | b"r" => Ok(Op::Read),
        b"W" | b"w" => Ok(Op::Write),
        b"D" => Ok(Op::Trim),
        // Flags such as RA (read ahead) are rows, but blkreplay does not replay them.
        flags if !flags.is_empty() && flags.iter().all(u8::is_ascii_alphabetic) => Ok(Op::Other),
        _ => Err(field.wrong("R or W")),
    }
}

fn looks_like(sample: &[&[u8]]) -> Verdict {
    // After several licences there may be no row among the first lines, but there is a head.
    if sample.iter().any(|line| is_head(line)) || fits_most(Box::new(reader()), sample) {
        Verdict::Sure
    } else {
        Verdict::No
    }
}

/// Writes a load. There is no column for the device, so there can be only one.
#[derive(Default)]
struct Writer {
    device: OneDevice,
}

pub(crate) fn writer() -> Option<Box<dyn LineWriter>> {
    Some(Box::<Writer>::default())
}

impl LineWriter for Writer {
    fn header(&self, line: &mut Vec<u8>) {
        line.extend_from_slice(b"start ; sector; length ; op ;  ");
        line.extend_from_slice(b"replay_delay=0 ; replay_duration=0\n");
    }

    fn write(&mut self, record: &Record, line: &mut Vec<u8>) -> Result<(), String> {
        self.device.check(record, INFO.name)?;
        let op: &[u8] = match record.op {
            Op::Read => b" ; R",
            Op::Write => b" ; W",
            Op::Trim => b" ; D",
            Op::Other => return Err("blkreplay cannot replay it".into()),
        };
        TimeUnit::S.write_exact(record.at_ns, line);
        line.extend_from_slice(b" ; ");
        write_u64(whole_blocks(record.offset_bytes, BLOCK, "offset")?, line);
        line.extend_from_slice(b" ; ");
        write_u64(whole_blocks(record.size_bytes, BLOCK, "size")?, line);
        line.extend_from_slice(op);
        line.extend_from_slice(b" ; 0.0 ; 0.0");
        Ok(())
    }
}
