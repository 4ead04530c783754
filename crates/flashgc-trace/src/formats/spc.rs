//! SPC: `ASU,LBA,Size,Opcode,Timestamp` and optional fields behind them.

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit, write_u64};
use crate::format::{FormatInfo, LineFormat, LineWriter, Look, Verdict, fits_most};
use crate::formats::Format;
use crate::record::{Op, Priority, RawRecord, Record};
use crate::write::whole_blocks;

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "spc",
    names: &[("spc", || Format::Spc)],
    title: "SPC trace file (UMass Financial, WebSearch)",
    columns: "asu,lba,size,opcode,timestamp[,more]",
    units: "seconds, blocks of 512 bytes, bytes",
    defined: "SPC trace file format specification, revision 1.0.1",
    lost: "optional fields; no trims; an offset must be a multiple of 512; priority marks",
    option: None,
    looks_like: Look::Lines(looks_like),
};

const BLOCK: u64 = 512;

pub(crate) struct Spc;

pub(crate) fn reader() -> Spc {
    Spc
}

impl LineFormat for Spc {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        let mut fields = Fields::new(line);
        let device = fields.cut_blocks(b',', 1, "the ASU's number")?;
        let expected = "an address in blocks of 512 bytes";
        let offset_bytes = fields.cut_blocks(b',', BLOCK, expected)?;
        let size_bytes = fields.cut_blocks(b',', 1, "a size in bytes")?;
        let op = parse_op(&fields.need_cut(b',', "R or W")?)?;
        let expected = "a time in seconds";
        let at_ns = fields.need_cut(b',', expected)?.time_ns(TimeUnit::S, expected)?;
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
        b"R" | b"r" => Ok(Op::Read),
        b"W" | b"w" => Ok(Op::Write),
        _ => Err(field.wrong("R or W")),
    }
}

fn looks_like(sample: &[&[u8]]) -> Verdict {
    // Only this format has three numbers, a letter and a time, with commas.
    if fits_most(Box::new(Spc), sample) { Verdict::Sure } else { Verdict::No }
}

pub(crate) fn writer() -> Option<Box<dyn LineWriter>> {
    Some(Box::new(Spc))
}

impl LineWriter for Spc {
    fn write(&mut self, record: &Record, line: &mut Vec<u8>) -> Result<(), String> {
        let op: &[u8] = match record.op {
            Op::Read => b",R,",
            Op::Write => b",W,",
            Op::Trim | Op::Other => return Err("spc has no trims".into()),
        };
        write_u64(record.device, line);
        line.push(b',');
        write_u64(whole_blocks(record.offset_bytes, BLOCK, "offset")?, line);
        line.push(b',');
        write_u64(record.size_bytes, line);
        line.extend_from_slice(op);
        TimeUnit::S.write_exact(record.at_ns, line);
        Ok(())
    }
}
