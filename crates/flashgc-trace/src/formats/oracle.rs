//! oracleGeneral: the binary traces of libCacheSim, which have no column of operations.
//!
//! ```text
//! record = time u32, object u64, size u32, next access i64      (24 bytes, little-endian)
//! ```

use crate::binary::{BinaryFormat, Bytes, RecordProblem};
use crate::format::{FormatInfo, Look, OptionInfo};
use crate::formats::Format;
use crate::record::{Marks, Op, RawRecord};
use crate::rows::Parser;
use crate::write::RecordWriter;

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "oracle-general",
    names: &[("oracle-general", || Format::OracleGeneral(BLOCK))],
    title: "oracleGeneral, binary traces of libCacheSim; every row is a read",
    columns: "time object size next",
    units: "whole seconds, objects that are blocks of 512 bytes, bytes",
    defined: "libCacheSim, oracleGeneralBin.h and its FAQ",
    lost: "",
    option: Some(OptionInfo {
        what: "the bytes of a block, of which the object is the number: 1 where objects are byte \
               offsets; by default 512",
        parse: parse_option,
    }),
    // Any bytes could be such records.
    looks_like: Look::Head(|_| false),
};

const BLOCK: u64 = 512;
const RECORD_BYTES: usize = 24;
const NS_PER_S: u64 = 1_000_000_000;

fn parse_option(text: &str) -> Result<Format, String> {
    let block = text.parse::<u64>().ok().filter(|block| (1..=1 << 30).contains(block));
    block.map(Format::OracleGeneral).ok_or_else(|| {
        format!("`{text}` is not a block size; write a number of bytes, such as 1 or 512")
    })
}

pub(crate) fn option_text(block: &u64) -> Option<String> {
    (*block != BLOCK).then(|| block.to_string())
}

struct OracleGeneral {
    block: u64,
}

pub(crate) fn reader(block: &u64) -> Parser {
    Parser::Binary(Box::new(OracleGeneral { block: *block }))
}

pub(crate) fn writer(_: &u64) -> Option<RecordWriter> {
    None
}

impl BinaryFormat for OracleGeneral {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn next_few(
        &mut self,
        bytes: &mut Bytes,
        records: &mut Vec<RawRecord>,
    ) -> Result<(), RecordProblem> {
        if let Some(record) = bytes.take::<RECORD_BYTES>()? {
            records.push(self.row(&record)?);
        }
        Ok(())
    }
}

impl OracleGeneral {
    fn row(&self, record: &[u8; RECORD_BYTES]) -> Result<RawRecord, RecordProblem> {
        let number = |at: usize| {
            u32::from_le_bytes([record[at], record[at + 1], record[at + 2], record[at + 3]])
        };
        let object = u64::from(number(4)) | u64::from(number(8)) << 32;
        let offset = object.checked_mul(self.block).ok_or_else(|| {
            RecordProblem::Bad(format!(
                "its object {object} is not the number of a block of {} bytes: objects that are \
                 hashes have no place on a drive",
                self.block
            ))
        });
        Ok(RawRecord {
            at_ns: u64::from(number(0)) * NS_PER_S,
            device: 0,
            op: Op::Read,
            marks: Marks::NONE,
            offset_bytes: offset?,
            size_bytes: u64::from(number(12)),
        })
    }
}
