//! Text made by blkparse:
//! `major,minor cpu sequence time pid action rwbs sector + sectors [process]`.

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit, digits, write_u64};
use crate::format::{FormatInfo, LineFormat, LineWriter, Look, OptionInfo, Verdict, fits_most};
use crate::formats::Format;
use crate::record::{Marks, Op, RawRecord, Record, device_id, major_minor};
use crate::write::whole_blocks;

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "blkparse",
    names: &[("blkparse", || Format::Blkparse(Action::Auto))],
    title: "text made by blkparse (blktrace), default layout",
    columns: "major,minor cpu sequence time pid action rwbs sector + sectors [process]",
    units: "seconds with decimals, sectors of 512 bytes, sectors",
    defined: "blkparse manual page, default output",
    lost: "cpu, sequence, pid, process and all other events; offset and size must be multiples \
           of 512; priority marks",
    option: Some(OptionInfo {
        what: "the event to read, as a letter such as Q, I, D or C; by default D, or Q if the \
               first lines contain no D",
        parse: parse_option,
    }),
    looks_like: Look::Lines(looks_like),
};

/// The event of a request that is taken as its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// D (issued) if the first lines hold one, else Q (queued).
    Auto,
    /// This letter.
    Letter(u8),
}

const BLOCK: u64 = 512;
/// First words of the lines of the summary behind the events.
const SUMMARY: [&[u8]; 6] = [b"CPU", b"Total", b"Throughput", b"Events", b"Skips", b"Input file"];

fn parse_option(text: &str) -> Result<Format, String> {
    parse_action(text).map(Format::Blkparse)
}

/// The event that is taken, as a user writes it.
pub(crate) fn parse_action(text: &str) -> Result<Action, String> {
    let text = text.strip_prefix("action=").unwrap_or(text);
    match text.as_bytes() {
        b"auto" => Ok(Action::Auto),
        [letter] if letter.is_ascii_alphabetic() => Ok(Action::Letter(*letter)),
        _ => Err(format!("`{text}` is not a blkparse event; write one letter, such as Q or D")),
    }
}

pub(crate) fn option_text(action: &Action) -> Option<String> {
    match action {
        Action::Auto => None,
        Action::Letter(letter) => Some(char::from(*letter).to_string()),
    }
}

/// Reads the rows of one event.
pub(crate) struct Blkparse {
    action: Action,
    in_summary: bool,
}

pub(crate) fn reader(action: &Action) -> Blkparse {
    Blkparse { action: *action, in_summary: false }
}

impl LineFormat for Blkparse {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn settle(&mut self, sample: &[&[u8]]) -> Option<Format> {
        if self.action == Action::Auto {
            let has = |letter| sample.iter().any(|line| action_of(line) == Some(letter));
            let letter = if has(b'D') || !has(b'Q') { b'D' } else { b'Q' };
            self.action = Action::Letter(letter);
        }
        Some(Format::Blkparse(self.action))
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        let mut fields = Fields::new(line);
        let device = fields.need_word("a device such as 8,16")?;
        if device.bytes[0].is_ascii_alphabetic() && self.is_summary(line) {
            return Ok(None);
        }
        let device = parse_device(&device)?;
        fields.need_word("the CPU's number")?;
        fields.need_word("a sequence number")?;
        let time = fields.need_word("a time in seconds")?;
        fields.need_word("a process id")?;
        let action = fields.need_word("an event's letter")?;
        if !self.takes(action.bytes) {
            return Ok(None);
        }
        let at_ns = time.time_ns(TimeUnit::S, "a time in seconds")?;
        let op = parse_rwbs(&fields.need_word("flags such as R or WS")?)?;
        let (offset_bytes, size_bytes) = parse_extent(&mut fields)?;
        // A request without data has no extent either.
        let op = if size_bytes == 0 && op != Op::Trim { Op::Other } else { op };
        Ok(Some(RawRecord { at_ns, device, op, marks: Marks::NONE, offset_bytes, size_bytes }))
    }
}

impl Blkparse {
    #[inline]
    fn takes(&self, action: &[u8]) -> bool {
        match (self.action, action) {
            (Action::Letter(needed), [letter]) => needed == *letter,
            (Action::Auto, [letter]) => *letter == b'D',
            _ => false,
        }
    }

    fn is_summary(&mut self, line: &[u8]) -> bool {
        self.in_summary |= SUMMARY.iter().any(|head| line.starts_with(head));
        self.in_summary
    }
}

fn action_of(line: &[u8]) -> Option<u8> {
    let mut fields = Fields::new(line);
    parse_device(&fields.word()?).ok()?;
    match fields.word().and_then(|_| fields.word()).and_then(|_| fields.word()) {
        Some(_) => fields.word()?,
        None => return None,
    };
    match fields.word()?.bytes {
        [letter] => Some(*letter),
        _ => None,
    }
}

#[inline]
pub(crate) fn parse_device(field: &Field) -> Result<u64, FieldError> {
    let parse = || {
        let comma = field.bytes.iter().position(|&byte| byte == b',')?;
        let major = u32::try_from(digits(&field.bytes[..comma])?).ok()?;
        let minor = u32::try_from(digits(&field.bytes[comma + 1..])?).ok()?;
        (minor < 1 << 20).then(|| device_id(major, minor))
    };
    parse().ok_or_else(|| field.wrong("a device such as 8,16"))
}

/// The first letter that names an operation counts; an F before it is a flush in advance.
#[inline]
pub(crate) fn parse_rwbs(field: &Field) -> Result<Op, FieldError> {
    let flags = field.bytes;
    let kind = if flags[0] == b'F' && flags.len() > 1 { flags[1] } else { flags[0] };
    match kind {
        b'R' => Ok(Op::Read),
        b'W' => Ok(Op::Write),
        b'D' | b'E' => Ok(Op::Trim),
        _ if flags.iter().all(u8::is_ascii_alphabetic) => Ok(Op::Other),
        _ => Err(field.wrong("flags such as R or WS")),
    }
}

/// `sector + sectors`; a flush or a SCSI command has none.
#[inline]
fn parse_extent(fields: &mut Fields) -> Result<(u64, u64), FieldError> {
    let Some(sector) = fields.word() else { return Ok((0, 0)) };
    if matches!(sector.bytes[0], b'[' | b'(') {
        return Ok((0, 0));
    }
    let offset_bytes = sector.blocks(BLOCK, "a sector of 512 bytes")?;
    let plus = fields.need_word("`+` and a number of sectors")?;
    if matches!(plus.bytes[0], b'(' | b'[') {
        return Ok((0, 0));
    }
    if plus.bytes != b"+" {
        return Err(plus.wrong("`+` and a number of sectors"));
    }
    let expected = "a number of sectors of 512 bytes";
    let size_bytes = fields.need_word(expected)?.blocks(BLOCK, expected)?;
    Ok((offset_bytes, size_bytes))
}

fn looks_like(sample: &[&[u8]]) -> Verdict {
    let mut format = reader(&Action::Auto);
    format.settle(sample);
    // A head of other events only, such as a run of merges, is still blkparse's.
    let events = sample.iter().filter(|line| action_of(line).is_some()).count();
    if fits_most(Box::new(format), sample) || (events > 0 && events * 2 >= sample.len()) {
        Verdict::Sure
    } else {
        Verdict::No
    }
}

/// Writes events of one letter.
struct Writer {
    letter: u8,
    sequence: u64,
}

pub(crate) fn writer(action: &Action) -> Option<Box<dyn LineWriter>> {
    let letter = if let Action::Letter(letter) = action { *letter } else { b'D' };
    Some(Box::new(Writer { letter, sequence: 0 }))
}

impl LineWriter for Writer {
    fn write(&mut self, record: &Record, line: &mut Vec<u8>) -> Result<(), String> {
        let flags = match record.op {
            Op::Read => b'R',
            Op::Write => b'W',
            Op::Trim => b'D',
            Op::Other => return Err("blkparse has no such event".into()),
        };
        let (major, minor) = major_minor(record.device);
        if major > u64::from(u32::MAX) {
            return Err(format!("{} is not a Linux device number", record.device));
        }
        self.sequence += 1;
        write_u64(major, line);
        line.push(b',');
        write_u64(minor, line);
        line.extend_from_slice(b" 0 ");
        write_u64(self.sequence, line);
        line.push(b' ');
        TimeUnit::S.write_exact(record.at_ns, line);
        line.extend_from_slice(&[b' ', b'0', b' ', self.letter, b' ', flags, b' ']);
        write_u64(whole_blocks(record.offset_bytes, BLOCK, "offset")?, line);
        line.extend_from_slice(b" + ");
        write_u64(whole_blocks(record.size_bytes, BLOCK, "size")?, line);
        line.extend_from_slice(b" [trace]");
        Ok(())
    }
}
