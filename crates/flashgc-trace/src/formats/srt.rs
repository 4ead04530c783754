//! HP's SRT traces: a header of text, then binary records, big-endian.
//!
//! ```text
//! record = size u32, version u16, type u16, s u32, us u32, start u32, stop u32, bytes u32,
//!          block u32, device u32, driver u32, cylinder u32, flags u32, info u32
//!          [, queue length u32 in version 4] [, flags of suspicion u32]
//! ```

use crate::binary::{BinaryFormat, Bytes, RecordProblem};
use crate::format::{FormatInfo, Look};
use crate::formats::Format;
use crate::record::{Marks, Op, RawRecord};
use crate::rows::Parser;
use crate::write::RecordWriter;

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "srt",
    names: &[("srt", || Format::Srt)],
    title: "HP SRT (hplajw, cello, snake)",
    columns: "size type s us start stop bytes block device driver cylinder flags info",
    units: "seconds and microseconds, sectors of the size that the header names, bytes",
    defined: "SRT trace format of HP Labs; the `hpl` reader of DiskSim, disksim_iotrace.c",
    lost: "",
    option: None,
    looks_like: Look::Head(|head| head.starts_with(MAGIC)),
};

const MAGIC: &[u8] = b"$$TR_IOREC-";
/// The header ends with a form feed.
const HEADER_END: u8 = 0x0c;
const HEADER_BYTES_MAX: usize = 128 * 1024;
/// Words that all records have.
const WORDS: usize = 13;
const WORDS_MAX: usize = WORDS + 2;
const SHORT_IO: u32 = 1;
/// Times of these are not reliable; DiskSim skips them too.
const SUSPECT_IO: u32 = 4;
const READ: u32 = 1;
const US_PER_S: u32 = 1_000_000;

#[derive(Default)]
struct Srt {
    sector_bytes: Option<u64>,
}

pub(crate) fn reader() -> Parser {
    Parser::Binary(Box::new(Srt::default()))
}

pub(crate) fn writer() -> Option<RecordWriter> {
    None
}

impl Srt {
    /// The next record; `None` at the end of the file.
    fn next(&mut self, bytes: &mut Bytes) -> Result<Option<RawRecord>, RecordProblem> {
        let sector_bytes = match self.sector_bytes {
            Some(sector_bytes) => sector_bytes,
            None => {
                let found = read_header(bytes)?;
                *self.sector_bytes.insert(found)
            }
        };
        while let Some(size) = next_size(bytes)? {
            let record = bytes.peek(size)?;
            if record.len() < size {
                return Err(RecordProblem::Cut);
            }
            let mut words = [0_u32; WORDS_MAX];
            for (word, bytes) in words.iter_mut().zip(record.chunks_exact(4)) {
                *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            }
            bytes.advance(size);
            if words[1] & 0xffff == SHORT_IO {
                return parse(&words, sector_bytes).map(Some);
            }
        }
        Ok(None)
    }
}

impl BinaryFormat for Srt {
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

/// The size of the next record; `None` at the end of the file.
fn next_size(bytes: &mut Bytes) -> Result<Option<usize>, RecordProblem> {
    let head = bytes.peek(8)?;
    if head.is_empty() {
        return Ok(None);
    }
    if head.len() < 8 {
        return Err(RecordProblem::Cut);
    }
    let size = u32::from_be_bytes([head[0], head[1], head[2], head[3]]) as usize;
    let version = u32::from(head[5]);
    let kind = u32::from_be_bytes([0, 0, head[6], head[7]]);
    let expected = 4 * (WORDS + usize::from(version == 4) + usize::from(kind == SUSPECT_IO));
    if head[4] != 0 || !(1..=4).contains(&version) || !matches!(kind, SHORT_IO | SUSPECT_IO) {
        return Err(RecordProblem::Broken(format!(
            "there is no record of version {version} and type {kind}"
        )));
    }
    if size != expected {
        return Err(RecordProblem::Broken(format!(
            "a record of version {version} must have {expected} bytes, but this one has {size}"
        )));
    }
    Ok(Some(size))
}

fn parse(words: &[u32; WORDS_MAX], sector_bytes: u64) -> Result<RawRecord, RecordProblem> {
    let [_, _, s, us, _, _, size_bytes, block, device, _, _, flags, ..] = *words;
    if us >= US_PER_S {
        return Err(RecordProblem::Bad(format!("{us} microseconds is more than a second")));
    }
    Ok(RawRecord {
        at_ns: u64::from(s) * 1_000_000_000 + u64::from(us) * 1000,
        // The minor number's second byte names the disk; the first is a part of it.
        device: u64::from(device >> 8 & 0xff),
        op: if flags & READ == READ { Op::Read } else { Op::Write },
        marks: Marks::NONE,
        offset_bytes: u64::from(block) * sector_bytes,
        size_bytes: u64::from(size_bytes),
    })
}

/// Takes the header; returns its sector size.
fn read_header(bytes: &mut Bytes) -> Result<u64, RecordProblem> {
    let head = bytes.peek(HEADER_BYTES_MAX)?;
    let Some(end) = head.iter().position(|&byte| byte == HEADER_END) else {
        return Err(RecordProblem::Broken("its header has no end (a form feed)".into()));
    };
    let sizes = sector_sizes(&head[..end]);
    bytes.advance(end + 1);
    match sizes[..] {
        [size] => Ok(size),
        [] => Err(RecordProblem::Broken("its header names no `sectorsize`".into())),
        _ => Err(RecordProblem::Broken(format!(
            "its disks have sectors of different sizes: {sizes:?}"
        ))),
    }
}

/// The values of `sectorsize =`, each size once.
fn sector_sizes(header: &[u8]) -> Vec<u64> {
    let header = String::from_utf8_lossy(header);
    let mut sizes = Vec::new();
    for after in header.split("sectorsize").skip(1) {
        let value = after.trim_start().strip_prefix('=').unwrap_or("").trim_start();
        let digits = value.find(|char: char| !char.is_ascii_digit()).unwrap_or(value.len());
        if let Some(size) = value[..digits].parse().ok().filter(|size| (1..=65_536).contains(size))
            && !sizes.contains(&size)
        {
            sizes.push(size);
        }
    }
    sizes
}
