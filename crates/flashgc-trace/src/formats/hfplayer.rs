//! A trace of hfplayer: sixteen columns between commas.

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit};
use crate::format::{FormatInfo, LineFormat, LineWriter, Look, Verdict, fits_most};
use crate::formats::Format;
use crate::record::{Op, Priority, RawRecord};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "hfplayer",
    names: &[("hfplayer", || Format::HfPlayer)],
    title: "hfplayer csv (CRIS, University of Minnesota)",
    columns: "dump_offset,elapsed_usecs,elapsed_ticks,cmd,inflight,ts,seqid,lun_ssid,op,phase,lba,\
              nblks,latency_ticks,host_id,host_lun,latency_usecs",
    units: "microseconds with decimals, blocks of 512 bytes, blocks; cmd: RD_IN, WR_IN",
    defined: "hfplayer 3.0, HFParsed.cc and the header line of its traces",
    lost: "",
    option: None,
    looks_like: Look::Lines(looks_like),
};

const BLOCK: u64 = 512;

pub(crate) struct HfPlayer;

pub(crate) fn reader() -> HfPlayer {
    HfPlayer
}

impl LineFormat for HfPlayer {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        let mut fields = Fields::new(line);
        fields.cut_blocks(b',', 1, "a place in the dump")?;
        let expected = "a time in us";
        let at_ns = fields.need_cut(b',', expected)?.time_ns(TimeUnit::Us, expected)?;
        fields.need_cut(b',', "a time in ticks")?;
        let Some(op) = parse_command(&fields.need_cut(b',', COMMAND)?)? else { return Ok(None) };
        for expected in ["requests in flight", "a time stamp", "a sequence number"] {
            fields.need_cut(b',', expected)?;
        }
        let device = fields.cut_blocks(b',', 1, "the LUN's number")?;
        fields.need_cut(b',', "the operation's number")?;
        fields.need_cut(b',', "a phase")?;
        let expected = "an address in blocks of 512 bytes";
        let offset_bytes = fields.cut_blocks(b',', BLOCK, expected)?;
        let size_bytes = fields.cut_blocks(b',', BLOCK, "a size in blocks of 512 bytes")?;
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

const COMMAND: &str = "RD_IN or WR_IN";

/// `None` is a response; its request has a row of its own.
#[inline]
fn parse_command(field: &Field) -> Result<Option<Op>, FieldError> {
    match field.bytes {
        b"RD_IN" | b"RD" => Ok(Some(Op::Read)),
        b"WR_IN" | b"WR" => Ok(Some(Op::Write)),
        b"RD_OUT" | b"WR_OUT" => Ok(None),
        _ => Err(field.wrong(COMMAND)),
    }
}

fn looks_like(sample: &[&[u8]]) -> Verdict {
    // Only this format has these words in the fourth column.
    if fits_most(Box::new(HfPlayer), sample) { Verdict::Sure } else { Verdict::No }
}

pub(crate) fn writer() -> Option<Box<dyn LineWriter>> {
    None
}
