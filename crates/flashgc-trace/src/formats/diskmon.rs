//! A log of DiskMon: `number time duration disk request sector length`, between tabs.

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit};
use crate::format::{FormatInfo, LineFormat, LineWriter, Look, Verdict, fits_most};
use crate::formats::Format;
use crate::record::{Op, Priority, RawRecord};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "diskmon",
    names: &[("diskmon", || Format::DiskMon)],
    title: "DiskMon log (Sysinternals)",
    columns: "number time duration disk request sector length",
    units: "seconds with decimals, sectors of 512 bytes, sectors; request: Read, Write",
    defined: "the columns of DiskMon's window, which it saves between tabs",
    lost: "",
    option: None,
    looks_like: Look::Lines(looks_like),
};

const BLOCK: u64 = 512;

pub(crate) struct DiskMon;

pub(crate) fn reader() -> DiskMon {
    DiskMon
}

impl LineFormat for DiskMon {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        let mut fields = Fields::new(line);
        fields.cut_blocks(b'\t', 1, "the row's number")?;
        let expected = "a time in seconds";
        let at_ns = fields.need_cut(b'\t', expected)?.time_ns(TimeUnit::S, expected)?;
        fields.need_cut(b'\t', "a duration")?;
        let device = fields.cut_blocks(b'\t', 1, "the disk's number")?;
        let op = parse_op(&fields.need_cut(b'\t', "Read or Write")?)?;
        let expected = "a sector of 512 bytes";
        let offset_bytes = fields.cut_blocks(b'\t', BLOCK, expected)?;
        let expected = "a length in sectors of 512 bytes";
        let size_bytes = fields.cut_blocks(b'\t', BLOCK, expected)?;
        Ok(Some(RawRecord {
            at_ns,
            device,
            op,
            priority: Priority::Normal,
            offset_bytes,
            size_bytes,
        }))
    }
}

#[inline]
fn parse_op(field: &Field) -> Result<Op, FieldError> {
    match field.bytes {
        b"Read" => Ok(Op::Read),
        b"Write" => Ok(Op::Write),
        _ => Err(field.wrong("Read or Write")),
    }
}

fn looks_like(sample: &[&[u8]]) -> Verdict {
    // Only this format has Read or Write in the fifth of seven columns between tabs.
    if fits_most(Box::new(DiskMon), sample) { Verdict::Sure } else { Verdict::No }
}

pub(crate) fn writer() -> Option<Box<dyn LineWriter>> {
    None
}
