//! Five numbers between blanks: time, device, block, size, and what to do.
//! DiskSim began it, and several simulators took it over with other units.

use crate::error::FieldError;
use crate::fields::{write_u64, Field, Fields, TimeUnit};
use crate::format::{fits_most, LineFormat, LineWriter, Verdict};
use crate::record::{Op, RawRecord, Record};
use crate::write::whole_blocks;

const BLOCK: u64 = 512;

/// One such format.
#[derive(Clone, Copy)]
pub(crate) struct Five {
    pub(crate) name: &'static str,
    pub(crate) unit: TimeUnit,
    pub(crate) time: &'static str,
    /// The last column is hexadecimal flags, of which bit 0 counts.
    pub(crate) flags: bool,
    /// Times may have decimals.
    pub(crate) decimals: bool,
}

impl LineFormat for Five {
    fn name(&self) -> &'static str {
        self.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        let mut fields = Fields::new(line);
        let at_ns = if self.decimals {
            fields.need_word(self.time)?.time_ns(self.unit, self.time)?
        } else if self.unit == TimeUnit::Ps {
            fields.word_blocks(1, self.time)? / 1000
        } else {
            fields.word_blocks(self.unit.ns(), self.time)?
        };
        let device = fields.word_blocks(1, "the device's number")?;
        let expected = "an address in blocks of 512 bytes";
        let offset_bytes = fields.word_blocks(BLOCK, expected)?;
        let expected = "a size in blocks of 512 bytes";
        let size_bytes = fields.word_blocks(BLOCK, expected)?;
        let op = self.op(&fields.need_word("0 (write) or 1 (read)")?)?;
        fields.no_more_words()?;
        Ok(Some(RawRecord { at_ns, device, op, offset_bytes, size_bytes }))
    }
}

impl Five {
    fn op(&self, field: &Field) -> Result<Op, FieldError> {
        match field.bytes {
            b"0" => Ok(Op::Write),
            b"1" => Ok(Op::Read),
            digits if self.flags => match hexadecimal(digits) {
                Some(flags) if flags & 1 == 1 => Ok(Op::Read),
                Some(_) => Ok(Op::Write),
                None => Err(field.wrong("hexadecimal flags, of which bit 0 means read")),
            },
            _ => Err(field.wrong("0 (write) or 1 (read)")),
        }
    }

    pub(crate) fn looks_like(self, sample: &[&[u8]]) -> Verdict {
        if fits_most(Box::new(self), sample) {
            Verdict::Fits
        } else {
            Verdict::No
        }
    }
}

fn hexadecimal(bytes: &[u8]) -> Option<u64> {
    let bytes = bytes.strip_prefix(b"0x").unwrap_or(bytes);
    if bytes.is_empty() || bytes.len() > 16 || !bytes.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    u64::from_str_radix(std::str::from_utf8(bytes).ok()?, 16).ok()
}

impl LineWriter for Five {
    fn write(&mut self, record: &Record, line: &mut Vec<u8>) -> Result<(), String> {
        let op = match record.op {
            Op::Read => b'1',
            Op::Write => b'0',
            Op::Trim | Op::Other => return Err(format!("{} has no trims", self.name)),
        };
        if self.decimals {
            self.unit.write_exact(record.at_ns, line);
        } else {
            self.unit.write_whole(record.at_ns, line);
        }
        line.push(b' ');
        write_u64(record.device, line);
        line.push(b' ');
        write_u64(whole_blocks(record.offset_bytes, BLOCK, "offset")?, line);
        line.push(b' ');
        write_u64(whole_blocks(record.size_bytes, BLOCK, "size")?, line);
        line.extend_from_slice(&[b' ', op]);
        Ok(())
    }
}
