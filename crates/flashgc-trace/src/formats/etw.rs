//! Disk events of Windows as csv (xperf): `DiskRead, TimeStamp, ...`.
//!
//! 1. The header, between `BeginHeader` and `EndHeader`, names the columns of each event.
//! 2. `DiskRead` and `DiskWrite` are rows. All other events are passed over.

use crate::error::FieldError;
use crate::fields::{Field, Fields, TimeUnit};
use crate::format::{FormatInfo, LineFormat, LineWriter, Look, Verdict, fits_most};
use crate::formats::Format;
use crate::record::{Marks, Op, RawRecord};

pub(crate) const INFO: FormatInfo = FormatInfo {
    name: "etw",
    names: &[("etw", || Format::Etw(Stamp::Event)), ("etw-start", || Format::Etw(Stamp::Start))],
    title: "Windows disk events csv (SNIA, Microsoft production); etw-start: times of the start",
    columns: "event, TimeStamp, process, thread, irp, ByteOffset, IOSize, ElapsedTime, DiskNum, \
              ...",
    units: "microseconds, bytes, bytes (hexadecimal); event: DiskRead, DiskWrite",
    defined: "the header of each file; Kavalanekar et al., IISWC 2008",
    lost: "",
    option: None,
    looks_like: Look::Lines(looks_like),
};

/// The time of a request that is taken as its arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// The event's own, at the end of the request.
    Event,
    /// The event's own less the elapsed time. Rows then are a little out of order.
    Start,
}

/// The positions of the columns, from 0, after the event's name.
#[derive(Clone, Copy)]
struct Columns {
    time: usize,
    offset: usize,
    size: usize,
    elapsed: usize,
    disk: usize,
    /// One more than the last of them.
    needed: usize,
}

/// No line is cut further than this.
const COLUMNS_MAX: usize = 16;
/// The columns of the traces at SNIA.
const USUAL: Columns = Columns { time: 0, offset: 4, size: 5, elapsed: 6, disk: 7, needed: 8 };

/// Reads one file.
pub(crate) struct Etw {
    stamp: Stamp,
    in_header: bool,
    columns: Columns,
}

pub(crate) fn reader(stamp: &Stamp) -> Etw {
    Etw { stamp: *stamp, in_header: false, columns: USUAL }
}

pub(crate) fn option_text(_stamp: &Stamp) -> Option<String> {
    None
}

impl LineFormat for Etw {
    fn name(&self) -> &'static str {
        INFO.name
    }

    fn parse(&mut self, line: &[u8]) -> Result<Option<RawRecord>, FieldError> {
        let mut fields = Fields::new(line);
        let event = fields.need_cut(b',', "the name of an event")?;
        let op = match event.bytes {
            b"DiskRead" => Op::Read,
            b"DiskWrite" => Op::Write,
            b"BeginHeader" | b"EndHeader" => {
                self.in_header = event.bytes == b"BeginHeader";
                return Ok(None);
            }
            name if name.first().is_some_and(u8::is_ascii_alphabetic) => return Ok(None),
            _ if self.in_header => return Ok(None),
            _ => return Err(event.wrong("the name of an event")),
        };
        if self.in_header {
            self.columns = columns_of(fields)?;
            return Ok(None);
        }
        self.parse_row(fields, op).map(Some)
    }
}

impl Etw {
    #[inline]
    fn parse_row(&self, mut fields: Fields, op: Op) -> Result<RawRecord, FieldError> {
        let columns = &self.columns;
        let nothing = Field { bytes: b"", column: 0 };
        let mut cells = [nothing; COLUMNS_MAX];
        for cell in &mut cells[..columns.needed] {
            *cell = fields.need_cut(b',', "the columns that the header names")?;
        }
        let expected = "a whole time in us";
        let event_ns = cells[columns.time].blocks(TimeUnit::Us.ns(), expected)?;
        let at_ns = match self.stamp {
            Stamp::Event => event_ns,
            Stamp::Start => {
                let field = &cells[columns.elapsed];
                let elapsed_ns = field.blocks(TimeUnit::Us.ns(), expected)?;
                // The first requests may have begun before the trace.
                event_ns.saturating_sub(elapsed_ns)
            }
        };
        let offset_bytes =
            cells[columns.offset].whole_or_hex("an offset in bytes, such as 0x1000")?;
        let size_bytes = cells[columns.size].whole_or_hex("a size in bytes, such as 0x1000")?;
        let device = cells[columns.disk].whole("the disk's number")?;
        Ok(RawRecord { at_ns, device, op, marks: Marks::NONE, offset_bytes, size_bytes })
    }
}

/// Finds the columns by their names in the header.
fn columns_of(mut names: Fields) -> Result<Columns, FieldError> {
    let mut found = [None; 5];
    let needed: [&[u8]; 5] = [b"TimeStamp", b"ByteOffset", b"IOSize", b"ElapsedTime", b"DiskNum"];
    for at in 0..COLUMNS_MAX {
        let Some(name) = names.cut(b',') else { break };
        if let Some(index) = needed.iter().position(|needed| *needed == name.bytes) {
            found[index] = Some(at);
        }
    }
    let [Some(time), Some(offset), Some(size), Some(elapsed), Some(disk)] = found else {
        return Err(FieldError::new(
            1,
            "the columns TimeStamp, ByteOffset, IOSize, ElapsedTime and DiskNum",
        ));
    };
    let last = time.max(offset).max(size).max(elapsed).max(disk);
    Ok(Columns { time, offset, size, elapsed, disk, needed: last + 1 })
}

fn looks_like(sample: &[&[u8]]) -> Verdict {
    // A header may be longer than the sample.
    let begins = sample.first().is_some_and(|line| line.trim_ascii() == b"BeginHeader");
    if begins || fits_most(Box::new(reader(&Stamp::Event)), sample) {
        Verdict::Sure
    } else {
        Verdict::No
    }
}

pub(crate) fn writer(_stamp: &Stamp) -> Option<Box<dyn LineWriter>> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const SNIA: &str = "\
BeginHeader
              DiskRead,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr,   \
ByteOffset,     IOSize, ElapsedTime,  DiskNum, IrpFlags, DiskSvcTime, I/O Pri,  VolSnap
           DiskReadInit,  TimeStamp,     Process Name ( PID),   ThreadID,             IrpPtr
EndHeader
           DiskReadInit,       8329,        xperf.exe (3984),      11844, 0xffffe288b23f1b20
              DiskRead,       8612,        xperf.exe (3984),      11844, 0xffffe288b23f1b20, \
0x018f0b8000, 0x00001000,         283,        1, 0x060043,         283,       3, Original
";

    fn rows(text: &str, stamp: Stamp) -> Vec<RawRecord> {
        let mut format = reader(&stamp);
        text.lines().filter_map(|line| format.parse(line.as_bytes()).unwrap()).collect()
    }

    #[test]
    fn columns_are_found_by_the_header() {
        let expected = RawRecord {
            at_ns: 8_612_000,
            device: 1,
            op: Op::Read,
            marks: Marks::NONE,
            offset_bytes: 0x1_8f0b_8000,
            size_bytes: 4096,
        };
        assert_eq!(rows(SNIA, Stamp::Event), [expected]);
        assert_eq!(rows(SNIA, Stamp::Start), [RawRecord { at_ns: 8_329_000, ..expected }]);
        // Later versions have a column for the CPU, and cut files have no header.
        let later = SNIA.replace("ThreadID,", "ThreadID, CPU,").replace("11844,", "11844, 1,");
        assert_eq!(rows(&later, Stamp::Event), [expected]);
        let headless = SNIA.split_once("EndHeader\n").unwrap().1;
        assert_eq!(rows(headless, Stamp::Event), [expected]);
    }

    #[test]
    fn a_header_without_a_column_is_an_error() {
        let mut format = reader(&Stamp::Event);
        format.parse(b"BeginHeader").unwrap();
        let error = format.parse(b"DiskRead, TimeStamp, IOSize").unwrap_err();
        assert!(error.expected.contains("ByteOffset"));
    }
}
