//! Tencent CBS: `Timestamp,Offset,Size,IOType,VolumeID`.

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit, write_u64};
use crate::format::{FormatInfo, LineFormat, LineWriter, Look, Verdict, fits_most};
use crate::formats::Format;
use crate::record::{Op, Priority, RawRecord, Record};
use crate::write::whole_blocks;

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "tencent",
    names: &[("tencent", || Format::Tencent)],
    title: "Tencent CBS csv (SNIA; cloud block storage)",
    columns: "timestamp,offset,size,iotype,volume",
    units: "whole seconds, sectors of 512 bytes, sectors; iotype: 0 = read, 1 = write",
    defined: "README of the SNIA download; Zhang et al., USENIX ATC 2020",
    lost: "fractions of a second; no trims; offset and size must be multiples of 512; \
           priority marks",
    option: None,
    looks_like: Look::Lines(looks_like),
};

const BLOCK: u64 = 512;
const HEADER: &[u8] = b"Timestamp,Offset,Size,IOType,VolumeID";

pub(crate) struct Tencent;

pub(crate) fn reader() -> Tencent {
    Tencent
}

impl LineFormat for Tencent {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        if line.starts_with(b"Timestamp,") {
            return Ok(None);
        }
        let mut fields = Fields::new(line);
        let at_ns = fields.cut_blocks(b',', TimeUnit::S.ns(), "a whole time in seconds")?;
        let offset_bytes = fields.cut_blocks(b',', BLOCK, "an offset in sectors of 512 bytes")?;
        let size_bytes = fields.cut_blocks(b',', BLOCK, "a size in sectors of 512 bytes")?;
        let op = parse_op(&fields.need_cut(b',', "0 (read) or 1 (write)")?)?;
        let device = fields.cut_blocks(b',', 1, "the volume's number")?;
        match fields.cut(b',') {
            None => Ok(Some(RawRecord {
                at_ns,
                device,
                op,
                priority: Priority::Normal,
                offset_bytes,
                size_bytes,
            })),
            Some(field) => Err(field.wrong("the end of the line")),
        }
    }
}

fn parse_op(field: &Field) -> Result<Op, FieldError> {
    match field.bytes {
        b"0" => Ok(Op::Read),
        b"1" => Ok(Op::Write),
        _ => Err(field.wrong("0 (read) or 1 (write)")),
    }
}

fn looks_like(sample: &[&[u8]]) -> Verdict {
    if !fits_most(Box::new(Tencent), sample) {
        Verdict::No
    } else if sample[0] == HEADER {
        Verdict::Sure
    } else {
        // Five bare numbers, which fit other formats too.
        Verdict::Fits
    }
}

pub(crate) fn writer() -> Option<Box<dyn LineWriter>> {
    Some(Box::new(Tencent))
}

impl LineWriter for Tencent {
    fn write(&mut self, record: &Record, line: &mut Vec<u8>) -> Result<(), String> {
        let op: &[u8] = match record.op {
            Op::Read => b",0,",
            Op::Write => b",1,",
            Op::Trim | Op::Other => return Err("tencent has no trims".into()),
        };
        TimeUnit::S.write_whole(record.at_ns, line);
        line.push(b',');
        write_u64(whole_blocks(record.offset_bytes, BLOCK, "offset")?, line);
        line.push(b',');
        write_u64(whole_blocks(record.size_bytes, BLOCK, "size")?, line);
        line.extend_from_slice(op);
        write_u64(record.device, line);
        Ok(())
    }
}
