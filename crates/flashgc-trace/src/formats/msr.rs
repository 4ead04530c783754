//! MSR Cambridge: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime`.

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit, write_u64};
use crate::format::{FormatInfo, LineFormat, LineWriter, Look, Verdict, fits_most};
use crate::formats::Format;
use crate::record::{Op, Priority, RawRecord, Record};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "msr",
    names: &[("msr", || Format::Msr)],
    title: "MSR Cambridge csv (SNIA)",
    columns: "timestamp,host,disk,type,offset,size[,response]",
    units: "Windows filetime (100 ns ticks), bytes, bytes",
    defined: "README of the SNIA download; Narayanan et al., FAST 2008",
    lost: "fractions of 100 ns, the host's name and the response time; no trims; \
           priority marks",
    option: None,
    looks_like: Look::Lines(looks_like),
};

pub(crate) struct Msr;

pub(crate) fn reader() -> Msr {
    Msr
}

impl LineFormat for Msr {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        if line.starts_with(b"Timestamp,") {
            return Ok(None);
        }
        let mut fields = Fields::new(line);
        let expected = "a time in ticks of 100 ns";
        let at_ns = fields.cut_blocks(b',', TimeUnit::Ticks100Ns.ns(), expected)?;
        fields.need_cut(b',', "the host's name")?;
        let device = fields.cut_blocks(b',', 1, "the disk's number")?;
        let op = parse_op(&fields.need_cut(b',', "Read or Write")?)?;
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
        b"Read" => Ok(Op::Read),
        b"Write" => Ok(Op::Write),
        word if word.eq_ignore_ascii_case(b"read") => Ok(Op::Read),
        word if word.eq_ignore_ascii_case(b"write") => Ok(Op::Write),
        _ => Err(field.wrong("Read or Write")),
    }
}

fn looks_like(sample: &[&[u8]]) -> Verdict {
    // Only this format has six columns with Read or Write in the fourth.
    if fits_most(Box::new(Msr), sample) { Verdict::Sure } else { Verdict::No }
}

pub(crate) fn writer() -> Option<Box<dyn LineWriter>> {
    Some(Box::new(Msr))
}

impl LineWriter for Msr {
    fn write(&mut self, record: &Record, line: &mut Vec<u8>) -> Result<(), String> {
        let op: &[u8] = match record.op {
            Op::Read => b",Read,",
            Op::Write => b",Write,",
            Op::Trim | Op::Other => return Err("msr has no trims".into()),
        };
        TimeUnit::Ticks100Ns.write_whole(record.at_ns, line);
        line.extend_from_slice(b",trace,");
        write_u64(record.device, line);
        line.extend_from_slice(op);
        write_u64(record.offset_bytes, line);
        line.push(b',');
        write_u64(record.size_bytes, line);
        line.extend_from_slice(b",0");
        Ok(())
    }
}
