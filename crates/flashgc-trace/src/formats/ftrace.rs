//! Text of the kernel's tracer: /sys/kernel/tracing/trace, `trace-cmd report` and `perf script`.
//!
//! ```text
//! comm-pid [cpu] flags time: event: major,minor rwbs [bytes (command)] sector + sectors [comm]
//! ```

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit, digits};
use crate::format::{FormatInfo, LineFormat, LineWriter, Look, OptionInfo, Verdict};
use crate::formats::Format;
use crate::formats::blkparse::{parse_device, parse_rwbs};
use crate::record::{Marks, Op, RawRecord};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "ftrace",
    names: &[("ftrace", || Format::Ftrace(Event::Issue))],
    title: "block events of Linux as text (tracefs, trace-cmd report, perf script)",
    columns: "comm-pid [cpu] flags time: event: major,minor rwbs bytes (command) sector + sectors \
              [comm]",
    units: "seconds with decimals, sectors of 512 bytes, sectors",
    defined: "Linux, include/trace/events/block.h, the print formats of its events",
    lost: "",
    option: Some(OptionInfo {
        what: "the event to read: block_rq_issue (the default), block_rq_insert, \
               block_rq_complete or block_bio_queue",
        parse: parse_option,
    }),
    looks_like: Look::Lines(looks_like),
};

/// The event of a request that is taken as its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// `block_rq_issue`: the request goes to the drive.
    Issue,
    /// `block_rq_insert`: it enters the scheduler.
    Insert,
    /// `block_rq_complete`: it is done.
    Complete,
    /// `block_bio_queue`: it enters the block layer.
    Queue,
}

const EVENTS: [(&str, Event); 4] = [
    ("block_rq_issue", Event::Issue),
    ("block_rq_insert", Event::Insert),
    ("block_rq_complete", Event::Complete),
    ("block_bio_queue", Event::Queue),
];
const BLOCK: u64 = 512;
const LINE: &str = "an event: `comm-pid [cpu] flags time: event: ...`";

fn name_of(event: Event) -> &'static str {
    EVENTS.iter().find(|(_, known)| *known == event).map_or("", |(name, _)| name)
}

fn parse_option(text: &str) -> Result<Format, String> {
    let found = EVENTS.iter().find(|(name, _)| *name == text);
    found.map(|(_, event)| Format::Ftrace(*event)).ok_or_else(|| {
        let names = EVENTS.map(|(name, _)| name).join(", ");
        format!("`{text}` is not an event of a request; valid: {names}")
    })
}

pub(crate) fn option_text(event: &Event) -> Option<String> {
    (*event != Event::Issue).then(|| name_of(*event).to_string())
}

/// Reads the rows of one event.
pub(crate) struct Ftrace {
    event: &'static str,
}

pub(crate) fn reader(event: &Event) -> Ftrace {
    Ftrace { event: name_of(*event) }
}

impl LineFormat for Ftrace {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        let mut fields = Fields::new(line);
        let Some((time, event)) = head(&mut fields) else { return not_an_event(line) };
        if event != self.event.as_bytes() {
            return Ok(None);
        }
        let at_ns = time.time_ns(TimeUnit::S, "a time in seconds")?;
        let device = parse_device(&fields.need_word("a device such as 8,16")?)?;
        let op = parse_rwbs(&fields.need_word("flags such as R or WS")?)?;
        let (offset_bytes, size_bytes) = parse_extent(&mut fields)?;
        // A request without data has no extent either.
        let op = if size_bytes == 0 && op != Op::Trim { Op::Other } else { op };
        Ok(Some(RawRecord { at_ns, device, op, marks: Marks::NONE, offset_bytes, size_bytes }))
    }
}

/// Time and name of the event of a line. The name of a process may have blanks, so the time is the
/// first word that is one.
fn head<'a>(fields: &mut Fields<'a>) -> Option<(Field<'a>, &'a [u8])> {
    loop {
        let word = fields.word()?;
        let Some(time) = word.bytes.strip_suffix(b":") else { continue };
        let Some(point) = time.iter().position(|&byte| byte == b'.') else { continue };
        if digits(&time[..point]).is_some() && digits(&time[point + 1..]).is_some() {
            let name = fields.word()?.bytes.strip_suffix(b":")?;
            let name = name.strip_prefix(b"block:").unwrap_or(name);
            return Some((Field { bytes: time, column: word.column }, name));
        }
    }
}

/// A line of the tools themselves, or one that is wrong.
#[cold]
fn not_an_event(line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
    let text = line.trim_ascii();
    if text.starts_with(b"cpus=") || text.starts_with(b"version =") {
        return Ok(None);
    }
    let mut words = text.split(|&byte| byte == b' ');
    let is_loss = words.any(|word| word == b"[LOST" || word == b"DROPPED]");
    if is_loss && text.starts_with(b"CPU:") {
        return Err(FieldError::new(1, "an event; the tracer lost some here").help(
            "record again with a larger buffer (`buffer_size_kb`, `trace-cmd record -b`), or skip \
             the line (on_bad_line = \"skip\")",
        ));
    }
    Err(FieldError::new(1, LINE))
}

/// `sector + sectors`, behind the bytes and the command that requests have and bios do not.
#[inline]
fn parse_extent(fields: &mut Fields) -> Result<(u64, u64), FieldError> {
    let expected = "a sector, `+` and a number of sectors";
    let mut sector = fields.need_word(expected)?;
    loop {
        let next = fields.need_word(expected)?;
        if next.bytes == b"+" {
            break;
        }
        sector = next;
    }
    let expected = "a number of sectors of 512 bytes";
    let size_bytes = fields.need_word(expected)?.blocks(BLOCK, expected)?;
    // A flush has no sector, which is shown as the largest number.
    if size_bytes == 0 {
        return Ok((0, 0));
    }
    Ok((sector.blocks(BLOCK, "a sector of 512 bytes")?, size_bytes))
}

fn looks_like(sample: &[&[u8]]) -> Verdict {
    let is_event = |line: &&&[u8]| head(&mut Fields::new(line)).is_some();
    let events = sample.iter().filter(is_event).count();
    // Other events, such as scheduler events, may fill the beginning.
    if events > 0 && events * 2 >= sample.len() { Verdict::Sure } else { Verdict::No }
}

pub(crate) fn writer(_event: &Event) -> Option<Box<dyn LineWriter>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of tracefs, of older and newer kernels, of trace-cmd and of perf.
    const LINES: [&str; 7] = [
        "           <...>-1234  [002] d..1. 1234.567890: block_rq_issue: 8,16 W 8192 () 779 + 16 \
         [kworker/2:1]",
        " a b: 1.2 c-77 (   77) [000] .... 1.310000: block_rq_issue: 8,16 RA 4096 () 123 + 8 \
         be,0,6 [a b: 1.2 c]",
        "fio-9  [001]   2.000001: block_rq_issue:       259,0 DS 524288 (9e 10 00) 2048 + 1024 \
         none,0,0 [fio]",
        "fio 9 [001] 2.000002: block:block_rq_issue: 259,0 WFS 512 () 8 + 1 [fio]",
        "kworker/7:1H-250 [007] .... 3.0: block_rq_issue: 8,0 FF 0 () 18446744073709551615 + 0 [k]",
        "fio-9 [001] .... 3.1: block_bio_queue: 8,0 R 64 + 8 [fio]",
        "fio-9 [001] .... 3.2: sched_switch: prev_comm=fio prev_pid=9 ==> next_comm=x next_pid=1",
    ];

    fn rows(event: Event, lines: &[&str]) -> Vec<(u64, u64, Op, u64, u64)> {
        let mut format = reader(&event);
        let rows = lines.iter().filter_map(|line| format.parse(line.as_bytes()).unwrap());
        rows.map(|row| (row.at_ns, row.device, row.op, row.offset_bytes, row.size_bytes)).collect()
    }

    #[test]
    fn one_event_of_each_request_is_a_row() {
        let (sda, sdb, nvme) = (8 << 20, (8 << 20) + 16, 259 << 20);
        let expected = [
            (1_234_567_890_000, sdb, Op::Write, 779 * 512, 8192),
            (1_310_000_000, sdb, Op::Read, 123 * 512, 4096),
            (2_000_001_000, nvme, Op::Trim, 1 << 20, 1 << 19),
            (2_000_002_000, nvme, Op::Write, 4096, 512),
            (3_000_000_000, sda, Op::Other, 0, 0),
        ];
        assert_eq!(rows(Event::Issue, &LINES), expected);
        let queued = [(3_100_000_000, sda, Op::Read, 64 * 512, 4096)];
        assert_eq!(rows(Event::Queue, &LINES), queued);
        assert_eq!(rows(Event::Complete, &["cpus=8", "version = 7"]), []);
    }

    #[test]
    fn lost_events_are_not_passed_over() {
        for line in ["CPU:3 [LOST 55 EVENTS]", "CPU:3 [55 EVENTS DROPPED]"] {
            let error = reader(&Event::Issue).parse(line.as_bytes()).unwrap_err();
            assert!(error.expected.contains("lost some here"), "{line}");
            assert!(error.help.unwrap().contains("buffer_size_kb"));
        }
    }

    #[test]
    fn a_beginning_of_other_events_is_recognised() {
        let switch = LINES[6].as_bytes();
        assert_eq!(looks_like(&[b"cpus=2", switch, switch]), Verdict::Sure);
        assert_eq!(looks_like(&[b"8,16 0 1 0.1 7 D W 8 + 8 [x]"]), Verdict::No);
    }
}
