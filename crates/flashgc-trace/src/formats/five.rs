//! Five numbers in a row: time, device, address, size, op. DiskSim, SSDSim, MQSim, FlashSim and
//! FlashNet all have them, with other units.

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit, hexadecimal, write_u64};
use crate::format::{LineFormat, LineWriter, Verdict, fits_most};
use crate::record::{Op, Priority, RawRecord, Record};
use crate::write::whole_blocks;

/// In what an address or a size is counted.
#[derive(Clone, Copy)]
pub(crate) struct Count {
    /// Bytes of one.
    pub(crate) block: u64,
    /// What should be there, for messages.
    pub(crate) what: &'static str,
}

/// The address of most of them.
pub(crate) const SECTOR: Count = Count { block: 512, what: "an address in blocks of 512 bytes" };
/// The size of most of them.
pub(crate) const SECTORS: Count = Count { block: 512, what: "a size in blocks of 512 bytes" };

/// One such format.
#[derive(Clone, Copy)]
pub(crate) struct Five {
    pub(crate) name: &'static str,
    pub(crate) unit: TimeUnit,
    pub(crate) time: &'static str,
    /// Times may have decimals.
    pub(crate) decimals: bool,
    pub(crate) address: Count,
    pub(crate) size: Count,
    /// The last column is hexadecimal flags, of which bit 0 counts.
    pub(crate) flags: bool,
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
        let offset_bytes = fields.word_blocks(self.address.block, self.address.what)?;
        let size_bytes = fields.word_blocks(self.size.block, self.size.what)?;
        let op = self.op(&fields.need_word("0 (write) or 1 (read)")?)?;
        fields.no_more_words()?;
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
        if fits_most(Box::new(self), sample) { Verdict::Fits } else { Verdict::No }
    }
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
        write_u64(whole_blocks(record.offset_bytes, self.address.block, "offset")?, line);
        line.push(b' ');
        write_u64(whole_blocks(record.size_bytes, self.size.block, "size")?, line);
        line.extend_from_slice(&[b' ', op]);
        Ok(())
    }
}
