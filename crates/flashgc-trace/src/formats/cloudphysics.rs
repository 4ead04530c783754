//! CloudPhysics as csv: `version,time,op,size,lbn`.

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit, hexadecimal, write_u64};
use crate::format::{FormatInfo, LineFormat, LineWriter, Look, Verdict, fits_most};
use crate::formats::Format;
use crate::formats::scsi;
use crate::record::{Marks, Op, RawRecord, Record};
use crate::write::{OneDevice, whole_blocks};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "cloudphysics",
    names: &[("cloudphysics", || Format::CloudPhysics)],
    title: "CloudPhysics csv (vscsi traces as text)",
    columns: "version,time,op,size,lbn",
    units: "microseconds, SCSI operation code in hexadecimal, bytes, blocks of 512 bytes",
    defined: "the csv form of libCacheSim (data/cloudPhysicsIO); Waldspurger et al., FAST 2015",
    lost: "fractions of a microsecond; the device (one only); an offset must be a multiple of 512; \
           priority marks",
    option: None,
    looks_like: Look::Lines(looks_like),
};

const BLOCK: u64 = 512;
const HEADER: &[u8] = b"version,time,op,size,lbn";
const VERSIONS: [u64; 2] = [1, 2];

pub(crate) struct CloudPhysics;

pub(crate) fn reader() -> CloudPhysics {
    CloudPhysics
}

impl LineFormat for CloudPhysics {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        if line.starts_with(b"version,") {
            return Ok(None);
        }
        let mut fields = Fields::new(line);
        let expected = "the version, 1 or 2";
        if !VERSIONS.contains(&fields.cut_blocks(b',', 1, expected)?) {
            return Err(FieldError::new(1, expected));
        }
        let at_ns = fields.cut_blocks(b',', TimeUnit::Us.ns(), "a whole time in us")?;
        let op = parse_op(&fields.need_cut(b',', CODE)?)?;
        let size_bytes = fields.cut_blocks(b',', 1, "a size in bytes")?;
        let expected = "an address in blocks of 512 bytes";
        let offset_bytes = fields.cut_blocks(b',', BLOCK, expected)?;
        Ok(Some(RawRecord { at_ns, device: 0, op, marks: Marks::NONE, offset_bytes, size_bytes }))
    }
}

const CODE: &str = "an operation code of SCSI, such as 2a";

#[inline]
fn parse_op(field: &Field) -> Result<Op, FieldError> {
    match hexadecimal(field.bytes) {
        Some(code @ 0..=0xff) => Ok(scsi::op(code as u8)),
        _ => Err(field.wrong(CODE)),
    }
}

fn looks_like(sample: &[&[u8]]) -> Verdict {
    if !fits_most(Box::new(CloudPhysics), sample) {
        return Verdict::No;
    }
    // Codes such as 2a are not decimal, so that no other format has these columns.
    let has_code = |line: &&[u8]| {
        let code = line.split(|&byte| byte == b',').nth(2).unwrap_or_default();
        hexadecimal(code).is_some() && code.iter().any(u8::is_ascii_alphabetic)
    };
    if sample[0] == HEADER || sample.iter().any(has_code) { Verdict::Sure } else { Verdict::Fits }
}

/// Writes rows of one device, since there is no column for it.
#[derive(Default)]
struct Writer {
    device: OneDevice,
}

pub(crate) fn writer() -> Option<Box<dyn LineWriter>> {
    Some(Box::<Writer>::default())
}

impl LineWriter for Writer {
    fn header(&self, line: &mut Vec<u8>) {
        line.extend_from_slice(HEADER);
        line.push(b'\n');
    }

    fn write(&mut self, record: &Record, line: &mut Vec<u8>) -> Result<(), String> {
        self.device.check(record, INFO.name)?;
        let op: &[u8] = match record.op {
            Op::Read => b",28,",
            Op::Write => b",2a,",
            Op::Trim => b",42,",
            Op::Other => return Err("cloudphysics has no code for it".into()),
        };
        line.extend_from_slice(b"1,");
        TimeUnit::Us.write_whole(record.at_ns, line);
        line.extend_from_slice(op);
        write_u64(record.size_bytes, line);
        line.push(b',');
        write_u64(whole_blocks(record.offset_bytes, BLOCK, "offset")?, line);
        Ok(())
    }
}
