//! vscsi: the binary traces of CloudPhysics, in two versions.
//!
//! ```text
//! version 1 = sn u32, len u32, nSG u32, cmd u16, ver u16, lbn u64, ts u64           (32 bytes)
//! version 2 = cmd u16, ver u16, sn u32, len u32, nSG u32, lbn u64, ts u64, rt u64   (40 bytes)
//! ```

use crate::binary::{BinaryFormat, Bytes, RecordProblem};
use crate::format::{FormatInfo, Look};
use crate::formats::Format;
use crate::formats::scsi;
use crate::record::{Marks, Op, RawRecord};
use crate::rows::Parser;
use crate::write::RecordWriter;

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "vscsi",
    names: &[("vscsi", || Format::Vscsi)],
    title: "vscsi, binary traces of CloudPhysics",
    columns: "sn len nSG cmd ver lbn ts; or cmd ver sn len nSG lbn ts rt",
    units: "microseconds, blocks of 512 bytes, bytes",
    defined: "the vscsi reader of libCacheSim (by CloudPhysics), vscsi.h",
    lost: "",
    option: None,
    looks_like: Look::Head(|head| version(head).is_some()),
};

const BLOCK: u64 = 512;
const NS_PER_US: u64 = 1000;

/// The two layouts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Version {
    One,
    Two,
}

impl Version {
    fn bytes(self) -> usize {
        match self {
            Version::One => 32,
            Version::Two => 40,
        }
    }

    /// The position of the command; the version follows it.
    fn command_at(self) -> usize {
        match self {
            Version::One => 12,
            Version::Two => 0,
        }
    }

    /// The high byte of the version's field.
    fn number(self) -> u8 {
        match self {
            Version::One => 1,
            Version::Two => 2,
        }
    }

    /// A record without its version is none.
    fn is_in(self, record: &[u8]) -> bool {
        record[self.command_at() + 3] == self.number()
    }
}

/// The version by which all records of a head are marked, if there are at least two.
fn version(head: &[u8]) -> Option<Version> {
    [Version::Two, Version::One].into_iter().find(|version| {
        let mut records = head.chunks_exact(version.bytes());
        records.len() >= 2
            && records.all(|record| {
                let high = record[version.command_at() + 1];
                version.is_in(record) && high == 0
            })
    })
}

#[derive(Default)]
struct Vscsi {
    version: Option<Version>,
}

pub(crate) fn reader() -> Parser {
    Parser::Binary(Box::new(Vscsi::default()))
}

pub(crate) fn writer() -> Option<RecordWriter> {
    None
}

impl Vscsi {
    /// The next record; `None` at the end of the file.
    fn next(&mut self, bytes: &mut Bytes) -> Result<Option<RawRecord>, RecordProblem> {
        let version = match self.version {
            Some(version) => version,
            None => {
                let head = bytes.peek(Version::Two.bytes())?;
                let mut versions = [Version::Two, Version::One].into_iter();
                let fits = |version: &Version| {
                    head.get(..version.bytes()).is_some_and(|record| version.is_in(record))
                };
                let found = versions.find(fits).ok_or_else(|| {
                    RecordProblem::Broken("its first record has neither version 1 nor 2".into())
                })?;
                *self.version.insert(found)
            }
        };
        let record = bytes.peek(version.bytes())?;
        if record.is_empty() {
            return Ok(None);
        }
        if record.len() < version.bytes() {
            return Err(RecordProblem::Cut);
        }
        let marked = version.is_in(record);
        let row = parse(version, record);
        bytes.advance(version.bytes());
        if !marked {
            return Err(RecordProblem::Bad(
                "its version differs from that of the first record".into(),
            ));
        }
        row.map(Some)
    }
}

impl BinaryFormat for Vscsi {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn next_few(
        &mut self,
        bytes: &mut Bytes,
        records: &mut Vec<RawRecord>,
    ) -> Result<(), RecordProblem> {
        records.extend(self.next(bytes)?);
        Ok(())
    }
}

fn parse(version: Version, record: &[u8]) -> Result<RawRecord, RecordProblem> {
    let number = |at: usize| {
        u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
    };
    let long = |at: usize| u64::from(number(at)) | u64::from(number(at + 4)) << 32;
    let (length, block, time_us) = match version {
        Version::One => (number(4), long(16), long(24)),
        Version::Two => (number(8), long(16), long(24)),
    };
    let at = version.command_at();
    let op = match record[at + 1] {
        0 => scsi::op(record[at]),
        _ => Op::Other,
    };
    let beyond = |what: &str| RecordProblem::Bad(format!("its {what} exceeds 64 bits"));
    Ok(RawRecord {
        at_ns: time_us.checked_mul(NS_PER_US).ok_or_else(|| beyond("time"))?,
        device: 0,
        op,
        marks: Marks::NONE,
        offset_bytes: block.checked_mul(BLOCK).ok_or_else(|| beyond("address"))?,
        size_bytes: u64::from(length),
    })
}
