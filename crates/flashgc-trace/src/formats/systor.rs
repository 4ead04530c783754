//! SYSTOR '17: `Timestamp,Response,IOType,LUN,Offset,Size`.

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit, write_u64};
use crate::format::{FormatInfo, LineFormat, LineWriter, Look, Verdict, fits_most};
use crate::formats::Format;
use crate::record::{Op, Priority, RawRecord, Record};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "systor",
    names: &[("systor", || Format::Systor)],
    title: "SYSTOR '17 csv (SNIA; enterprise VDI)",
    columns: "timestamp,response,iotype,lun,offset,size",
    units: "seconds with decimals, bytes, bytes; iotype: R, W or nothing",
    defined: "README of the SNIA download; Lee et al., SYSTOR 2017",
    lost: "the response time; no trims; priority marks",
    option: None,
    looks_like: Look::Lines(looks_like),
};

const HEADER: &[u8] = b"Timestamp,Response,IOType,LUN,Offset,Size";

pub(crate) struct Systor;

pub(crate) fn reader() -> Systor {
    Systor
}

impl LineFormat for Systor {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        if line.starts_with(b"Timestamp,") {
            return Ok(None);
        }
        let mut fields = Fields::new(line);
        let expected = "a time in seconds";
        let at_ns = fields.need_cut(b',', expected)?.time_ns(TimeUnit::S, expected)?;
        fields.need_cut(b',', "a response time")?;
        let op = parse_op(&fields.need_cut(b',', "R, W or nothing")?)?;
        let device = fields.cut_blocks(b',', 1, "the number of the LUN")?;
        let offset_bytes = fields.cut_blocks(b',', 1, "an offset in bytes")?;
        let size_bytes = fields.cut_blocks(b',', 1, "a size in bytes")?;
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
        // The recorder saw no response, so that it did not know the operation.
        b"" => Ok(Op::Other),
        _ => Err(field.wrong("R, W or nothing")),
    }
}

fn looks_like(sample: &[&[u8]]) -> Verdict {
    // Only this format has a letter in the third of six columns.
    if fits_most(Box::new(Systor), sample) { Verdict::Sure } else { Verdict::No }
}

pub(crate) fn writer() -> Option<Box<dyn LineWriter>> {
    Some(Box::new(Systor))
}

impl LineWriter for Systor {
    fn header(&self, line: &mut Vec<u8>) {
        line.extend_from_slice(HEADER);
        line.push(b'\n');
    }

    fn write(&mut self, record: &Record, line: &mut Vec<u8>) -> Result<(), String> {
        let op: &[u8] = match record.op {
            Op::Read => b",,R,",
            Op::Write => b",,W,",
            Op::Trim | Op::Other => return Err("systor has no trims".into()),
        };
        TimeUnit::S.write_exact(record.at_ns, line);
        line.extend_from_slice(op);
        write_u64(record.device, line);
        line.push(b',');
        write_u64(record.offset_bytes, line);
        line.push(b',');
        write_u64(record.size_bytes, line);
        Ok(())
    }
}
