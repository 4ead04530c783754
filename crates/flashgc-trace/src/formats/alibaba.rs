//! Alibaba block traces: `device_id,opcode,offset,length,timestamp`.

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit, write_u64};
use crate::format::{FormatInfo, LineFormat, LineWriter, Look, Verdict, fits_most};
use crate::formats::Format;
use crate::record::{Op, Priority, RawRecord, Record};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "alibaba",
    names: &[("alibaba", || Format::Alibaba)],
    title: "Alibaba Cloud block traces (2020)",
    columns: "device,opcode,offset,length,timestamp",
    units: "bytes, bytes, microseconds; opcode: R, W",
    defined: "README of alibaba/block-traces; Li et al., IISWC 2020",
    lost: "fractions of a microsecond; no trims; priority marks",
    option: None,
    looks_like: Look::Lines(looks_like),
};

pub(crate) struct Alibaba;

pub(crate) fn reader() -> Alibaba {
    Alibaba
}

impl LineFormat for Alibaba {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        if line.starts_with(b"device_id,") {
            return Ok(None);
        }
        let mut fields = Fields::new(line);
        let device = fields.cut_blocks(b',', 1, "the device's number")?;
        let op = parse_op(&fields.need_cut(b',', "R or W")?)?;
        let offset_bytes = fields.cut_blocks(b',', 1, "an offset in bytes")?;
        let size_bytes = fields.cut_blocks(b',', 1, "a length in bytes")?;
        let at_ns = fields.cut_blocks(b',', TimeUnit::Us.ns(), "a whole time in us")?;
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

fn parse_op(field: &Field) -> Result<Op, FieldError> {
    match field.bytes {
        b"R" => Ok(Op::Read),
        b"W" => Ok(Op::Write),
        _ => Err(field.wrong("R or W")),
    }
}

fn looks_like(sample: &[&[u8]]) -> Verdict {
    // Only this format has a letter in the second of five columns.
    if fits_most(Box::new(Alibaba), sample) { Verdict::Sure } else { Verdict::No }
}

pub(crate) fn writer() -> Option<Box<dyn LineWriter>> {
    Some(Box::new(Alibaba))
}

impl LineWriter for Alibaba {
    fn write(&mut self, record: &Record, line: &mut Vec<u8>) -> Result<(), String> {
        let op: &[u8] = match record.op {
            Op::Read => b",R,",
            Op::Write => b",W,",
            Op::Trim | Op::Other => return Err("alibaba has no trims".into()),
        };
        write_u64(record.device, line);
        line.extend_from_slice(op);
        write_u64(record.offset_bytes, line);
        line.push(b',');
        write_u64(record.size_bytes, line);
        line.push(b',');
        TimeUnit::Us.write_whole(record.at_ns, line);
        Ok(())
    }
}
