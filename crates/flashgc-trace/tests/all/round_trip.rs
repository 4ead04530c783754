//! Records that are written and read again are the same, within the format's resolution.

use flashgc_trace::{Format, Marks, Op, OpenOptions, Record, TraceError, open, writer};
use proptest::prelude::*;
use std::io::{Cursor, Write};
use std::sync::{Arc, Mutex};

/// Bytes that can still be read when the writer is gone.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn write(format: &Format, records: &[Record]) -> Result<Vec<u8>, TraceError> {
    let shared = Shared::default();
    let mut writer = writer(format, Box::new(shared.clone()))?;
    for record in records {
        writer.push(record)?;
    }
    let rows = records.iter().filter(|record| record.op != Op::Other).count() as u64;
    let written = writer.finish()?;
    assert_eq!((written.rows, written.others), (rows, records.len() as u64 - rows));
    let bytes = shared.0.lock().unwrap().clone();
    Ok(bytes)
}

fn read(format: &Format, bytes: Vec<u8>) -> Result<Vec<Record>, TraceError> {
    let options = OpenOptions { format: Some(format.clone()), ..OpenOptions::default() };
    open("written", Box::new(Cursor::new(bytes)), &options)?.collect()
}

/// The content that each format can hold: the resolution of its times, whether it has trims,
/// devices, and addresses between sectors.
struct Capacity {
    format: &'static str,
    resolution_ns: u64,
    trims: bool,
    devices: bool,
    bytes: bool,
    /// Bytes in which the size is counted, if not as the address.
    size: Option<u64>,
    /// Whether it keeps marks of high priority and placement hints.
    marks: bool,
}

const fn holds(format: &'static str, resolution_ns: u64, can: [bool; 3]) -> Capacity {
    let [trims, devices, bytes] = can;
    Capacity { format, resolution_ns, trims, devices, bytes, size: None, marks: false }
}

const MARKED: &str = "csv:time:ns, device, op, hint, offset, size, priority; high=1; normal=0";

const ALL: [Capacity; 23] = [
    holds("msr", 100, [false, true, true]),
    holds("spc", 1, [false, true, false]),
    holds("disksim", 1, [false, true, false]),
    holds("ssdsim", 1, [false, false, false]),
    holds("ssdsim-us", 1_000, [false, false, false]),
    holds("mqsim", 1, [false, false, false]),
    holds("mqsim-us", 1_000, [false, false, false]),
    holds("mqsim-ps", 1, [false, false, false]),
    holds("blkparse", 1, [true, true, false]),
    holds("blkparse:Q", 1, [true, true, false]),
    holds("blkreplay", 1, [true, false, false]),
    holds("systor", 1, [false, true, true]),
    holds("alibaba", 1_000, [false, true, true]),
    holds("tencent", 1_000_000_000, [false, true, false]),
    holds("cloudphysics", 1_000, [true, false, false]),
    // Its devices are numbered as they appear; see the test of its own.
    holds("fio", 1_000, [true, false, true]),
    Capacity { size: Some(4096), ..holds("flashsim", 1, [false, true, false]) },
    holds("heimdall", 1, [false, true, true]),
    holds("csv", 1, [true, true, true]),
    Capacity { marks: true, ..holds(MARKED, 1, [true, true, true]) },
    Capacity { marks: true, ..holds("fgt", 1, [true, true, true]) },
    holds("csv:op, size:512, -, offset:512, time:us; delimiter=space", 1_000, [true, false, false]),
    holds("csv:time:ms,device,op,offset,size;header=yes;read=0;write=1", 1_000_000, [true; 3]),
];

/// Op, address in sectors, sectors, bytes beyond, time to the record before, device.
type Draw = (u8, u64, u64, u64, u64, u64);

fn records(draws: &[Draw], holds: &Capacity) -> Vec<Record> {
    let mut at_ns = 0_u64;
    let row = |(index, draw): (usize, &Draw)| {
        let &(op, sector, sectors, beyond, gap_ns, device) = draw;
        at_ns += gap_ns;
        let op = match op {
            0 => Op::Read,
            1 => Op::Write,
            _ if holds.trims => Op::Trim,
            _ => Op::Write,
        };
        let beyond = if holds.bytes { beyond } else { 0 };
        let device = if holds.devices { device } else { 0 };
        let marked = holds.marks && sectors.is_multiple_of(3);
        let marks = if marked { Marks::HIGH } else { Marks::NONE };
        let marks = marks.with_hint(if holds.marks { (sectors % 256) as u8 } else { 0 });
        let offset_bytes = sector * 512 + beyond;
        let size_bytes = sectors * holds.size.unwrap_or(512) + beyond;
        Record { at_ns, device, op, marks, offset_bytes, size_bytes, line: index as u64 + 1 }
    };
    draws.iter().enumerate().map(row).collect()
}

proptest! {
    #[test]
    fn what_was_written_is_read(
        draws in prop::collection::vec(
            (0_u8..3, 0_u64..1 << 40, 1_u64..1 << 20, 0_u64..512, 0_u64..1 << 40, 0_u64..1 << 30),
            1..40,
        ),
    ) {
        for holds in &ALL {
            let format: Format = holds.format.parse().unwrap();
            let records = records(&draws, holds);
            let bytes = write(&format, &records).unwrap();
            let found = read(&format, bytes).unwrap();
            let cut = |record: &Record| Record {
                at_ns: record.at_ns / holds.resolution_ns * holds.resolution_ns,
                line: 0,
                ..*record
            };
            let found: Vec<Record> = found.iter().map(cut).collect();
            let expected: Vec<Record> = records.iter().map(cut).collect();
            prop_assert_eq!(found, expected, "{}", holds.format);
        }
    }
}

#[test]
fn what_a_format_cannot_hold_is_refused() {
    let record = Record {
        at_ns: 0,
        device: 0,
        op: Op::Trim,
        marks: Marks::NONE,
        offset_bytes: 0,
        size_bytes: 512,
        line: 7,
    };
    for name in ["msr", "spc", "disksim", "ssdsim", "mqsim", "systor", "alibaba", "tencent"] {
        let error = write(&name.parse().unwrap(), &[record]).unwrap_err();
        assert!(error.message.contains("trim of line 7"), "{error}");
    }
    let odd = Record { op: Op::Read, offset_bytes: 100, ..record };
    for name in ["spc", "disksim", "blkreplay", "blkparse", "tencent", "cloudphysics"] {
        let error = write(&name.parse().unwrap(), &[odd]).unwrap_err();
        assert!(error.message.contains("multiple of 512"), "{error}");
    }
    let record = Record { op: Op::Read, ..record };
    let second = Record { device: 1, ..record };
    let error = write(&Format::FlashSim, &[record]).unwrap_err();
    assert!(error.message.contains("multiple of 4096"), "{error}");
    for name in ["blkreplay", "cloudphysics", "mqsim", "ssdsim", "csv:op, offset, size"] {
        let error = write(&name.parse().unwrap(), &[record, second]).unwrap_err();
        assert!(error.message.contains("0 and 1"), "{error}");
    }
    for name in ["fiu", "diskmon", "biotracer", "etw", "wiscsee", "hfplayer", "ftrace"] {
        let error = write(&name.parse().unwrap(), &[]).unwrap_err();
        assert!(error.message.contains("cannot be written"), "{error}");
    }
    let other = Record { op: Op::Other, ..record };
    assert_eq!(write(&Format::Spc, &[other]).unwrap(), b"");
}

#[test]
fn marks_that_a_format_has_no_place_for_are_counted() {
    let marked = |name: &str| {
        let shared = Shared::default();
        let mut writer = writer(&name.parse().unwrap(), Box::new(shared.clone())).unwrap();
        let (high, hinted, fua) = (Marks::HIGH, Marks::NONE.with_hint(3), Marks::FUA);
        let rows = [(Op::Write, high), (Op::Read, hinted), (Op::Write, hinted)];
        for (op, marks) in rows.into_iter().chain([(Op::Write, fua), (Op::Other, fua)]) {
            let (offset_bytes, size_bytes, line) = (0, 4096, 1);
            let record = Record { at_ns: 0, device: 0, op, marks, offset_bytes, size_bytes, line };
            writer.push(&record).unwrap();
        }
        let written = writer.finish().unwrap();
        (written.marks_lost, written.hints_lost, written.flushes_lost)
    };
    assert_eq!(["fgt", MARKED].map(marked), [(0, 0, 0), (0, 0, 2)]);
    assert_eq!(["csv", "spc", "blkreplay"].map(marked), [(1, 2, 2); 3]);
}

#[test]
fn devices_of_fio_are_files_in_the_order_of_their_first_row() {
    let row = |at_ns, device| {
        let (offset_bytes, size_bytes) = (4096, 512);
        Record {
            at_ns,
            device,
            op: Op::Write,
            marks: Marks::NONE,
            offset_bytes,
            size_bytes,
            line: 0,
        }
    };
    let fio: Format = "fio".parse().unwrap();
    let bytes = write(&fio, &[row(0, 70), row(1000, 3), row(2000, 70)]).unwrap();
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert_eq!(
        text,
        "fio version 3 iolog\n0 /trace/device-70 add\n0 /trace/device-70 open\n\
         0 /trace/device-70 write 4096 512\n1 /trace/device-3 add\n1 /trace/device-3 open\n\
         1 /trace/device-3 write 4096 512\n2 /trace/device-70 write 4096 512\n"
    );
    let found = read(&fio, bytes).unwrap();
    let found: Vec<_> = found.iter().map(|record| (record.at_ns, record.device)).collect();
    assert_eq!(found, [(0, 0), (1000, 1), (2000, 0)]);
}

#[test]
fn the_default_detects_what_it_wrote() {
    let row = |at_ns| Record {
        at_ns,
        device: 0,
        op: Op::Write,
        marks: Marks::NONE,
        offset_bytes: 4096,
        size_bytes: 512,
        line: 0,
    };
    let mut reported = vec![Format::Msr, Format::Spc, Format::Blkreplay, Format::Systor];
    reported.extend([Format::Alibaba, Format::CloudPhysics, "fio".parse().unwrap()]);
    reported.push("blkparse:Q".parse().unwrap());
    for format in reported {
        let bytes = write(&format, &[row(100), row(200)]).unwrap();
        let reader =
            open("written", Box::new(Cursor::new(bytes)), &OpenOptions::default()).unwrap();
        assert_eq!(*reader.format(), format);
    }
}
