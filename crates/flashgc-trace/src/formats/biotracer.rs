//! BIOtracer (Nexus 5): `lba sectors bytes type time time time time`.

use crate::error::FieldError;
use crate::fields::{Fields, TimeUnit};
use crate::format::{FormatInfo, LineFormat, LineWriter, Look, Verdict, fits_most};
use crate::formats::Format;
use crate::record::{Marks, Op, RawRecord};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "biotracer",
    names: &[("biotracer", || Format::BioTracer)],
    title: "BIOtracer (SNIA; Nexus 5 smartphone)",
    columns: "lba sectors bytes type arrival and three later times",
    units: "sectors of 512 bytes, bytes, seconds with decimals; type: odd = write",
    defined: "by its traces: Zhou et al., IISWC 2015; the reader of flashsim-dchoices",
    lost: "",
    option: None,
    looks_like: Look::Lines(looks_like),
};

const BLOCK: u64 = 512;

pub(crate) struct BioTracer;

pub(crate) fn reader() -> BioTracer {
    BioTracer
}

impl LineFormat for BioTracer {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        let mut fields = Fields::new(line);
        let offset_bytes = fields.word_blocks(BLOCK, "an address in sectors of 512 bytes")?;
        let size_bytes = fields.word_blocks(BLOCK, "a size in sectors of 512 bytes")?;
        let expected = "the same size in bytes, 512 for each sector";
        let bytes = fields.need_word(expected)?;
        // The size is there twice. That distinguishes these rows from others.
        if bytes.whole(expected)? != size_bytes {
            return Err(bytes.wrong(expected));
        }
        let kind = fields.word_blocks(1, "the type of access, odd for a write")?;
        let op = if kind % 2 == 1 { Op::Write } else { Op::Read };
        let expected = "a time in seconds";
        let at_ns = fields.need_word(expected)?.time_ns(TimeUnit::S, expected)?;
        for _ in 0..3 {
            fields.need_word(expected)?.time_ns(TimeUnit::S, expected)?;
        }
        fields.no_more_words()?;
        Ok(Some(RawRecord { at_ns, device: 0, op, marks: Marks::NONE, offset_bytes, size_bytes }))
    }
}

fn looks_like(sample: &[&[u8]]) -> Verdict {
    if fits_most(Box::new(BioTracer), sample) { Verdict::Sure } else { Verdict::No }
}

pub(crate) fn writer() -> Option<Box<dyn LineWriter>> {
    None
}
