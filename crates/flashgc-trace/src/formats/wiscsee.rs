//! Events of WiscSee: `pid action op offset size time delay sync`.

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit};
use crate::format::{FormatInfo, LineFormat, LineWriter, Look, Verdict, fits_most};
use crate::formats::Format;
use crate::record::{Marks, Op, RawRecord};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "wiscsee",
    names: &[("wiscsee", || Format::WiscSee)],
    title: "WiscSee events (blkparse-events-for-ftlsim.txt)",
    columns: "pid action op offset size time delay sync",
    units: "bytes, bytes, seconds with decimals; action: D issued, C completed; op: read, write, \
            discard",
    defined: "by the event files of WiscSee, tests/testdata; He et al., EuroSys 2017",
    lost: "",
    option: None,
    looks_like: Look::Lines(looks_like),
};

pub(crate) struct WiscSee;

pub(crate) fn reader() -> WiscSee {
    WiscSee
}

impl LineFormat for WiscSee {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        let mut fields = Fields::new(line);
        fields.word_blocks(1, "a process id")?;
        let action = fields.need_word("the letter of an event, such as D")?;
        match action.bytes {
            b"D" => {}
            [letter] if letter.is_ascii_alphabetic() => return Ok(None),
            _ => return Err(action.wrong("the letter of an event, such as D")),
        }
        let op = parse_op(&fields.need_word("read, write or discard")?)?;
        let offset_bytes = fields.word_blocks(1, "an offset in bytes")?;
        let size_bytes = fields.word_blocks(1, "a size in bytes")?;
        let expected = "a time in seconds";
        let at_ns = fields.need_word(expected)?.time_ns(TimeUnit::S, expected)?;
        fields.need_word("a delay in seconds")?;
        fields.need_word("whether it was synchronous")?;
        Ok(Some(RawRecord { at_ns, device: 0, op, marks: Marks::NONE, offset_bytes, size_bytes }))
    }
}

#[inline]
fn parse_op(field: &Field) -> Result<Op, FieldError> {
    match field.bytes {
        b"read" => Ok(Op::Read),
        b"write" => Ok(Op::Write),
        b"discard" => Ok(Op::Trim),
        _ => Err(field.wrong("read, write or discard")),
    }
}

fn looks_like(sample: &[&[u8]]) -> Verdict {
    // Only this format has a letter and a word after a number.
    if fits_most(Box::new(WiscSee), sample) { Verdict::Sure } else { Verdict::No }
}

pub(crate) fn writer() -> Option<Box<dyn LineWriter>> {
    None
}
