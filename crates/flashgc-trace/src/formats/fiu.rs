//! The traces of FIU: `time pid process lba size op major minor md5`.

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit};
use crate::format::{FormatInfo, LineFormat, LineWriter, Look, Verdict, fits_most};
use crate::formats::Format;
use crate::record::{Marks, Op, RawRecord, device_id};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "fiu",
    names: &[("fiu", || Format::Fiu)],
    title: "FIU traces (SNIA; IODedup, SRCMap: homes, mail, web)",
    columns: "time pid process lba size op major minor md5",
    units: "nanoseconds, blocks of 512 bytes, blocks; op: R, W",
    defined: "README of the SNIA download; Koller and Rangaswami, FAST 2010",
    lost: "",
    option: None,
    looks_like: Look::Lines(looks_like),
};

const BLOCK: u64 = 512;
/// Hexadecimal digits of one sum; a row may have several of them, one behind the other.
const MD5_DIGITS: usize = 32;

pub(crate) struct Fiu;

pub(crate) fn reader() -> Fiu {
    Fiu
}

impl LineFormat for Fiu {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        let mut fields = Fields::new(line);
        let at_ns = fields.word_blocks(TimeUnit::Ns.ns(), "a whole time in ns")?;
        fields.need_word("a process id")?;
        // The name of a process may hold blanks, so the rest is read from the end.
        check_md5(&fields.need_last_word("the MD5 sum of the data")?)?;
        let minor = device_number(&fields.need_last_word("the device's minor number")?)?;
        let major = device_number(&fields.need_last_word("the device's major number")?)?;
        let op = parse_op(&fields.need_last_word("R or W")?)?;
        let expected = "a size in blocks of 512 bytes";
        let size_bytes = fields.need_last_word(expected)?.blocks(BLOCK, expected)?;
        let expected = "an address in blocks of 512 bytes";
        let offset_bytes = fields.need_last_word(expected)?.blocks(BLOCK, expected)?;
        let device = device_id(major, minor);
        Ok(Some(RawRecord { at_ns, device, op, marks: Marks::NONE, offset_bytes, size_bytes }))
    }
}

#[inline]
fn check_md5(field: &Field) -> Result<(), FieldError> {
    let digits = field.bytes.get(..MD5_DIGITS);
    match digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) {
        true => Ok(()),
        false => Err(field.wrong("the MD5 sum of the data, at the end")),
    }
}

#[inline]
fn device_number(field: &Field) -> Result<u32, FieldError> {
    let expected = "a device number of at most 1048575";
    let number = u32::try_from(field.whole(expected)?).ok();
    number.filter(|number| number >> 20 == 0).ok_or_else(|| field.wrong(expected))
}

#[inline]
fn parse_op(field: &Field) -> Result<Op, FieldError> {
    match field.bytes {
        b"R" => Ok(Op::Read),
        b"W" => Ok(Op::Write),
        _ => Err(field.wrong("R or W")),
    }
}

fn looks_like(sample: &[&[u8]]) -> Verdict {
    // Only this format has checksums at the end of the line.
    if fits_most(Box::new(Fiu), sample) { Verdict::Sure } else { Verdict::No }
}

pub(crate) fn writer() -> Option<Box<dyn LineWriter>> {
    None
}
