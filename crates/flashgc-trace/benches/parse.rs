//! How fast each format is read, from bytes in memory to records.
//!
//! `cargo bench -p flashgc-trace --bench parse` reads some 24 MB of each format, or of those whose
//! name holds the given word. With `cargo test` it reads a few rows, and what was read must be
//! what was written.
#![allow(clippy::print_stdout)]

use flashgc_trace::{info, open, writer, Format, Op, OpenOptions, Record, TraceError};
use std::io::{Cursor, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Text of one format in full.
const BYTES: usize = 24_000_000;
/// Rows of one format with `cargo test`.
const SMALL_ROWS: u64 = 2_000;
/// The best of so many counts.
const ROUNDS: u32 = 5;
/// A time of our days, for formats that count from an epoch; the others begin a run anew.
const EPOCH_NS: u64 = 1_281_663_852_955_146_600;

/// One row as text, for a format that is not written.
type Row = fn(&Record) -> String;

/// A format, whether its clock is that of our days, and its rows if it is not written.
struct Case {
    format: &'static str,
    epoch: bool,
    row: Option<Row>,
}

const fn written(format: &'static str, epoch: bool) -> Case {
    Case { format, epoch, row: None }
}

const fn made(format: &'static str, epoch: bool, row: Row) -> Case {
    Case { format, epoch, row: Some(row) }
}

const CASES: &[Case] = &[
    written("msr", true),
    written("spc", false),
    written("disksim", false),
    written("ssdsim", false),
    written("mqsim", false),
    written("flashsim", false),
    written("heimdall", false),
    written("blkparse:D", false),
    written("blkreplay", false),
    written("systor", true),
    written("alibaba", true),
    written("tencent", true),
    written("cloudphysics", true),
    written("fio", false),
    made("fiu", false, fiu),
    made("diskmon", false, diskmon),
    made("biotracer", true, biotracer),
    made("etw", false, etw),
    made("etw-start", false, etw),
    made("wiscsee", false, wiscsee),
    made("hfplayer", false, hfplayer),
    written("csv", true),
    written("csv:time:us, op, offset:512, size:512; delimiter=space; read=1; write=0", false),
];

fn seconds(at_ns: u64) -> (u64, u64) {
    (at_ns / 1_000_000_000, at_ns % 1_000_000_000)
}

fn fiu(record: &Record) -> String {
    let op = if record.op == Op::Read { 'R' } else { 'W' };
    let (lba, blocks) = (record.offset_bytes / 512, record.size_bytes / 512);
    let md5 = "88b93b628d84082186026d9da044f173";
    format!("{} 4253 nfsd {lba} {blocks} {op} 0 0 {md5}", record.at_ns)
}

fn diskmon(record: &Record) -> String {
    let (s, ns) = seconds(record.at_ns);
    let op = if record.op == Op::Read { "Read" } else { "Write" };
    let (sector, length) = (record.offset_bytes / 512, record.size_bytes / 512);
    format!("{}\t{s}.{:06}\t0.00038147\t0\t{op}\t{sector}\t{length}\r", record.line, ns / 1000)
}

fn biotracer(record: &Record) -> String {
    let (s, ns) = seconds(record.at_ns);
    let kind = if record.op == Op::Read { 4 } else { 5 };
    let time = format!("\t\t{s}.{ns:09}").repeat(4);
    let (lba, sectors) = (record.offset_bytes / 512, record.size_bytes / 512);
    format!("{lba}\t\t{sectors}\t\t{}\t\t{kind}{time}", record.size_bytes)
}

fn etw(record: &Record) -> String {
    let event = if record.op == Op::Read { "DiskRead" } else { "DiskWrite" };
    format!(
        "{event:>22}, {:>10},        xperf.exe (3984),      11844, 0xffffe288b23f1b20, {:#014x}, \
         {:#010x},           0,        0, 0x060043,         283,       3, Original, \
         0xffffe288272d0d20, \"C:\\$Mft\"",
        record.at_ns / 1000,
        record.offset_bytes,
        record.size_bytes
    )
}

fn wiscsee(record: &Record) -> String {
    let (s, ns) = seconds(record.at_ns);
    let op = if record.op == Op::Read { "read" } else { "write" };
    let (offset, size) = (record.offset_bytes, record.size_bytes);
    format!("39949 D {op} {offset} {size} {s}.{ns:09} 7.3902e-05 False")
}

fn hfplayer(record: &Record) -> String {
    let op = if record.op == Op::Read { "RD_IN" } else { "WR_IN" };
    let (at_ns, line) = (record.at_ns, record.line);
    let (lba, blocks) = (record.offset_bytes / 512, record.size_bytes / 512);
    format!(
        "{},{}.{:03},{},{op},1,30736997643173280,{line},0,1,0,{lba},{blocks},171264,6,1,80.280",
        line * 28,
        at_ns / 1000,
        at_ns % 1000,
        at_ns * 2
    )
}

/// Rows as in a busy server's trace, the same each time.
fn record(index: u64, epoch: bool) -> Record {
    let mixed = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 17;
    Record {
        at_ns: if epoch { EPOCH_NS } else { 0 } + index * 40_100,
        device: 0,
        op: if mixed.is_multiple_of(3) { Op::Read } else { Op::Write },
        offset_bytes: mixed % (1 << 25) * 4096,
        size_bytes: 4096 * (1 + mixed % 16),
        line: index + 1,
    }
}

/// Bytes that can still be seen when the writer is gone.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no other thread").write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// So many rows as text.
fn text(case: &Case, format: &Format, rows: u64) -> Result<Vec<u8>, TraceError> {
    let records = (0..rows).map(|index| record(index, case.epoch));
    if let Some(row) = case.row {
        return Ok(records.map(|record| row(&record) + "\n").collect::<String>().into_bytes());
    }
    let shared = Shared::default();
    let mut out = writer(format, Box::new(shared.clone()))?;
    for record in records {
        out.push(&record)?;
    }
    out.finish()?;
    let bytes = std::mem::take(&mut *shared.0.lock().expect("no other thread"));
    Ok(bytes)
}

fn in_full(case: &Case) -> Result<(), TraceError> {
    let format: Format = case.format.parse().expect("a known name");
    let row_bytes = text(case, &format, 10_000)?.len() / 10_000;
    let bytes: Arc<[u8]> = text(case, &format, (BYTES / row_bytes) as u64)?.into();
    let options = OpenOptions { format: Some(format), ..OpenOptions::default() };
    let opened = || open(case.format, Box::new(Cursor::new(bytes.clone())), &options);
    let (mut parse_s, mut info_s) = (f64::MAX, f64::MAX);
    let (mut sum, mut rows) = (0_u64, 0_u64);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        (sum, rows) = (0, 0);
        for record in opened()? {
            sum = sum.wrapping_mul(31).wrapping_add(record?.offset_bytes);
            rows += 1;
        }
        parse_s = parse_s.min(start.elapsed().as_secs_f64());
        let start = Instant::now();
        assert_eq!(info(opened()?)?.rows, rows);
        info_s = info_s.min(start.elapsed().as_secs_f64());
    }
    let mb = bytes.len() as f64 / 1e6;
    let name: String = case.format.chars().take(18).collect();
    println!(
        "{name:<18} {:>8.1} {mb:>6.1} {:>9.0} {:>9.1} {:>9.0}  {sum:x}",
        bytes.len() as f64 / rows as f64,
        mb / parse_s,
        rows as f64 / parse_s / 1e6,
        mb / info_s
    );
    Ok(())
}

/// What was written is read, but for the times, which not all formats hold.
fn small(case: &Case) -> Result<(), TraceError> {
    let format: Format = case.format.parse().expect("a known name");
    let bytes = text(case, &format, SMALL_ROWS)?;
    let options = OpenOptions { format: Some(format), ..OpenOptions::default() };
    let found: Vec<Record> =
        open(case.format, Box::new(Cursor::new(bytes)), &options)?.collect::<Result<_, _>>()?;
    assert_eq!(found.len() as u64, SMALL_ROWS, "{}", case.format);
    for (index, found) in found.iter().enumerate() {
        let expected = record(index as u64, case.epoch);
        let same = Record { at_ns: expected.at_ns, line: expected.line, ..*found };
        assert_eq!(same, expected, "{}", case.format);
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo bench` says that it measures; anything else runs the small form.
    let is_test =
        !arguments.iter().any(|a| a == "--bench") || arguments.iter().any(|a| a == "--test");
    let only = arguments.iter().find(|a| !a.starts_with("--")).map(String::as_str);
    let cases = CASES.iter().filter(|case| only.is_none_or(|only| case.format.contains(only)));
    if !is_test {
        println!(
            "{:<18} {:>8} {:>6} {:>9} {:>9} {:>9}  sum",
            "reading, one core", "B/row", "MB", "MB/s", "Mrows/s", "info MB/s"
        );
    }
    let mut count = 0;
    for case in cases {
        count += 1;
        if let Err(error) = if is_test { small(case) } else { in_full(case) } {
            println!("{error}");
            return ExitCode::FAILURE;
        }
    }
    if is_test {
        println!("{count} formats are read as they were written");
    }
    ExitCode::SUCCESS
}
