//! What blktrace records, before blkparse makes text of it; in either byte order.
//!
//! ```text
//! record = magic and version u32, sequence u32, time u64, sector u64, bytes u32, action u32,
//!          pid u32, device u32, cpu u32, error u16, length u16, further data (`length` bytes)
//! ```

use crate::binary::{BinaryFormat, Bytes, RecordProblem};
use crate::format::{FormatInfo, Look, OptionInfo};
use crate::formats::Format;
use crate::formats::blkparse::{self, Action};
use crate::record::{Marks, Op, RawRecord};
use crate::rows::Parser;
use crate::write::RecordWriter;

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "blktrace",
    names: &[("blktrace", || Format::Blktrace(Action::Auto))],
    title: "binary blktrace (one file for each cpu, or `blktrace -o -`)",
    columns: "magic sequence time sector bytes action pid device cpu error length",
    units: "nanoseconds, sectors of 512 bytes, bytes",
    defined: "Linux, include/uapi/linux/blktrace_api.h, struct blk_io_trace (version 7)",
    lost: "",
    option: Some(OptionInfo {
        what: "the event to read, as a letter such as Q, I, D or C; by default D, or Q if the \
               first events contain no D",
        parse: parse_option,
    }),
    looks_like: Look::Head(|head| Order::of(head).is_some()),
};

const MAGIC: u32 = 0x6561_7400;
const VERSION: u32 = 7;
const RECORD_BYTES: usize = 48;
const BLOCK: u64 = 512;
/// The letters of blkparse, by the number of the action.
const LETTERS: &[u8] = b"?QMFGSRDCPUTIXBA";

/// Categories, in the upper half of an action.
const WRITE: u32 = 1 << 17;
const PASSTHROUGH: u32 = 1 << 25;
const NOTICE: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;
/// A group's id follows; it changes nothing else.
const WITH_GROUP: u32 = 1 << 8;

fn parse_option(text: &str) -> Result<Format, String> {
    blkparse::parse_action(text).map(Format::Blktrace)
}

pub(crate) fn option_text(action: &Action) -> Option<String> {
    blkparse::option_text(action)
}

/// The order of the bytes.
#[derive(Clone, Copy, Debug)]
enum Order {
    Little,
    Big,
}

impl Order {
    fn of(head: &[u8]) -> Option<Order> {
        let magic = head.first_chunk::<4>()?;
        let is = |number: u32| number & !0xff == MAGIC;
        if is(u32::from_le_bytes(*magic)) {
            return Some(Order::Little);
        }
        is(u32::from_be_bytes(*magic)).then_some(Order::Big)
    }

    fn number(self, bytes: &[u8], at: usize) -> u32 {
        let bytes = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        match self {
            Order::Little => u32::from_le_bytes(bytes),
            Order::Big => u32::from_be_bytes(bytes),
        }
    }

    fn long(self, bytes: &[u8], at: usize) -> u64 {
        let (first, second) = (self.number(bytes, at), self.number(bytes, at + 4));
        match self {
            Order::Little => u64::from(first) | u64::from(second) << 32,
            Order::Big => u64::from(first) << 32 | u64::from(second),
        }
    }

    fn short(self, bytes: &[u8], at: usize) -> u16 {
        match self {
            Order::Little => u16::from_le_bytes([bytes[at], bytes[at + 1]]),
            Order::Big => u16::from_be_bytes([bytes[at], bytes[at + 1]]),
        }
    }
}

/// One event.
struct Event {
    magic: u32,
    at_ns: u64,
    sector: u64,
    size_bytes: u32,
    action: u32,
    device: u32,
    data_bytes: usize,
}

impl Event {
    fn of(order: Order, bytes: &[u8]) -> Event {
        Event {
            magic: order.number(bytes, 0),
            at_ns: order.long(bytes, 8),
            sector: order.long(bytes, 16),
            size_bytes: order.number(bytes, 24),
            action: order.number(bytes, 28),
            device: order.number(bytes, 36),
            data_bytes: usize::from(order.short(bytes, 46)),
        }
    }

    /// The letter by which blkparse shows it; `None` for a notice.
    fn letter(&self) -> Option<u8> {
        let number = (self.action & 0xffff & !WITH_GROUP) as usize;
        let known = self.action & NOTICE == 0;
        known.then(|| LETTERS.get(number).copied().unwrap_or(b'?'))
    }

    fn row(&self) -> Result<RawRecord, RecordProblem> {
        let offset = self.sector.checked_mul(BLOCK);
        let offset_bytes =
            offset.ok_or_else(|| RecordProblem::Bad("its sector is out of range".into()))?;
        let op = if self.action & PASSTHROUGH != 0 || self.size_bytes == 0 {
            Op::Other
        } else if self.action & DISCARD != 0 {
            Op::Trim
        } else if self.action & WRITE != 0 {
            Op::Write
        } else {
            Op::Read
        };
        // A command that goes past the block layer names no place, and a flush has none.
        let nowhere = op == Op::Other;
        Ok(RawRecord {
            at_ns: self.at_ns,
            device: u64::from(self.device),
            op,
            marks: Marks::NONE,
            offset_bytes: if nowhere { 0 } else { offset_bytes },
            size_bytes: if nowhere { 0 } else { u64::from(self.size_bytes) },
        })
    }
}

struct Blktrace {
    action: Action,
    order: Option<Order>,
}

pub(crate) fn reader(action: &Action) -> Parser {
    Parser::Binary(Box::new(Blktrace { action: *action, order: None }))
}

pub(crate) fn writer(_: &Action) -> Option<RecordWriter> {
    None
}

impl Blktrace {
    /// The next record; `None` at the end of the file.
    fn next(&mut self, bytes: &mut Bytes) -> Result<Option<RawRecord>, RecordProblem> {
        loop {
            let record = bytes.peek(RECORD_BYTES)?;
            if record.is_empty() {
                return Ok(None);
            }
            if record.len() < RECORD_BYTES {
                return Err(RecordProblem::Cut);
            }
            let Some(order) = self.order.or_else(|| Order::of(record)) else {
                return Err(RecordProblem::Broken(
                    "an event does not start with the magic number".into(),
                ));
            };
            self.order = Some(order);
            let event = Event::of(order, record);
            if event.magic != MAGIC | VERSION {
                return Err(RecordProblem::Broken(broken(event.magic)));
            }
            bytes.advance(RECORD_BYTES);
            if event.data_bytes > 0 {
                if bytes.peek(event.data_bytes)?.len() < event.data_bytes {
                    return Err(RecordProblem::Cut);
                }
                bytes.advance(event.data_bytes);
            }
            if event.letter().is_some_and(|letter| self.action == Action::Letter(letter)) {
                return event.row().map(Some);
            }
        }
    }
}

impl BinaryFormat for Blktrace {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn settle(&mut self, head: &[u8]) -> Option<Format> {
        if self.action == Action::Auto {
            let letters = letters(head);
            let has = |letter| letters.contains(&letter);
            let letter = if has(b'D') || !has(b'Q') { b'D' } else { b'Q' };
            self.action = Action::Letter(letter);
        }
        Some(Format::Blktrace(self.action))
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

fn broken(magic: u32) -> String {
    if magic & !0xff == MAGIC {
        let version = magic & 0xff;
        return format!(
            "it has version {version}, but only version {VERSION} is supported; convert it to text \
             with `blkparse`"
        );
    }
    "an event does not start with the magic number".into()
}

/// The letters of the whole events of a head.
fn letters(head: &[u8]) -> Vec<u8> {
    let Some(order) = Order::of(head) else { return Vec::new() };
    let mut letters = Vec::new();
    let mut rest = head;
    while rest.len() >= RECORD_BYTES {
        let event = Event::of(order, rest);
        letters.extend(event.letter());
        rest = rest.get(RECORD_BYTES + event.data_bytes..).unwrap_or(&[]);
    }
    letters
}
