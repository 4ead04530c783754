//! The speed of reading each format, from bytes in memory to records.
//!
//! `cargo bench -p flashgc-trace --bench parse` reads some 24 MB of each format, or of those whose
//! name contains the given word. With `cargo test` it reads a few rows, and the records read must
//! equal the records written.
#![allow(clippy::print_stdout)]

use flashgc_trace::{Format, Marks, Op, OpenOptions, Record, TraceError, info, open, writer};
use std::io::{Cursor, Write};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Text of one format in full.
const BYTES: usize = 24_000_000;
/// Rows of one format with `cargo test`.
const SMALL_ROWS: u64 = 2_000;
/// The number of measurements, of which the best one counts.
const ROUNDS: u32 = 5;
/// A time of our days, for formats that count from an epoch; the others begin a run anew.
const EPOCH_NS: u64 = 1_281_663_852_955_146_600;

/// The sources of a format's rows.
enum Rows {
    /// By the format's own writer.
    Written,
    /// Lines of text.
    Lines(fn(&Record) -> String),
    /// Binary records behind a head.
    Binary(&'static [u8], fn(&Record) -> Vec<u8>),
}

/// A format, whether its clock has dates of today, and its rows.
struct Case {
    format: &'static str,
    epoch: bool,
    rows: Rows,
}

const fn written(format: &'static str, epoch: bool) -> Case {
    Case { format, epoch, rows: Rows::Written }
}

const fn made(format: &'static str, epoch: bool, row: fn(&Record) -> String) -> Case {
    Case { format, epoch, rows: Rows::Lines(row) }
}

const fn binary(format: &'static str, head: &'static [u8], record: fn(&Record) -> Vec<u8>) -> Case {
    Case { format, epoch: false, rows: Rows::Binary(head, record) }
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
    made("ftrace", false, ftrace),
    binary("blktrace", b"", blktrace),
    binary("vscsi", b"", vscsi),
    binary("srt", SRT_HEAD, srt),
    binary("oracle-general", b"", oracle_general),
    written("fgt", true),
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

fn ftrace(record: &Record) -> String {
    let op = if record.op == Op::Read { 'R' } else { 'W' };
    let ((s, ns), bytes) = (seconds(record.at_ns), record.size_bytes);
    let (sector, sectors) = (record.offset_bytes / 512, bytes / 512);
    format!(
        "fio-77 [003] d..1. {s}.{:06}: block_rq_issue: 0,0 {op} {bytes} () {sector} + {sectors} \
         be,0,4 [fio]",
        ns / 1000
    )
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

fn words(numbers: &[u32], one: fn(u32) -> [u8; 4]) -> Vec<u8> {
    numbers.iter().flat_map(|&number| one(number)).collect()
}

/// Low half first.
fn halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

fn blktrace(record: &Record) -> Vec<u8> {
    let category = if record.op == Op::Read { 1 } else { 2 };
    let [time, sector] = [record.at_ns, record.offset_bytes / 512].map(halves);
    let [bytes, action] = [record.size_bytes as u32, category << 16 | 7];
    let first = [0x6561_7407, record.line as u32, time[0], time[1], sector[0], sector[1]];
    words(&[&first[..], &[bytes, action, 77, 0, 3, 0]].concat(), u32::to_le_bytes)
}

fn vscsi(record: &Record) -> Vec<u8> {
    let command = if record.op == Op::Read { 0x28 } else { 0x2a };
    let [block, us, after] = [record.offset_bytes / 512, record.at_ns / 1000, 300].map(halves);
    let first = [0x200 << 16 | command, record.line as u32, record.size_bytes as u32, 1];
    let rest = [block[0], block[1], us[0], us[1], after[0], after[1]];
    words(&[&first[..], &rest].concat(), u32::to_le_bytes)
}

fn oracle_general(record: &Record) -> Vec<u8> {
    let [block, next] = [record.offset_bytes / 512, u64::MAX].map(halves);
    let (s, size) = (seconds(record.at_ns).0 as u32, record.size_bytes as u32);
    words(&[s, block[0], block[1], size, next[0], next[1]], u32::to_le_bytes)
}

const SRT_HEAD: &[u8] = b"$$TR_IOREC-1.3\0\ndisks = { sectorsize = 512 };\n\x0c";

fn srt(record: &Record) -> Vec<u8> {
    let (s, ns) = seconds(record.at_ns);
    let (size, block) = (record.size_bytes as u32, (record.offset_bytes / 512) as u32);
    let flags = u32::from(record.op == Op::Read);
    let first = [56, 4 << 16 | 1, s as u32, (ns / 1000) as u32, 0, 1];
    words(&[&first[..], &[size, block, 0, 4, 0, flags, 0, 1]].concat(), u32::to_be_bytes)
}

/// Rows as in a busy server's trace, the same each time.
fn record(index: u64, epoch: bool) -> Record {
    let mixed = index.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 17;
    Record {
        at_ns: if epoch { EPOCH_NS } else { 0 } + index * 40_100,
        device: 0,
        op: if mixed.is_multiple_of(3) { Op::Read } else { Op::Write },
        marks: Marks::NONE,
        offset_bytes: mixed % (1 << 25) * 4096,
        size_bytes: 4096 * (1 + mixed % 16),
        line: index + 1,
    }
}

/// Bytes that can still be read when the writer is gone.
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

/// A file with this number of rows.
fn file(case: &Case, format: &Format, rows: u64) -> Result<Vec<u8>, TraceError> {
    let records = (0..rows).map(|index| record(index, case.epoch));
    match case.rows {
        Rows::Written => {}
        Rows::Lines(row) => {
            let lines = records.map(|record| row(&record) + "\n");
            return Ok(lines.collect::<String>().into_bytes());
        }
        Rows::Binary(head, row) => {
            return Ok(head.iter().copied().chain(records.flat_map(|it| row(&it))).collect());
        }
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
    let row_bytes = file(case, &format, 10_000)?.len() / 10_000;
    let bytes: Arc<[u8]> = file(case, &format, (BYTES / row_bytes) as u64)?.into();
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

/// The records written are read back, except for the fields that not all formats keep: the times,
/// and the operations of a format that has reads alone.
fn small(case: &Case) -> Result<(), TraceError> {
    let format: Format = case.format.parse().expect("a known name");
    let bytes = file(case, &format, SMALL_ROWS)?;
    let options = OpenOptions { format: Some(format), ..OpenOptions::default() };
    let found: Vec<Record> =
        open(case.format, Box::new(Cursor::new(bytes)), &options)?.collect::<Result<_, _>>()?;
    assert_eq!(found.len() as u64, SMALL_ROWS, "{}", case.format);
    for (index, found) in found.iter().enumerate() {
        let expected = record(index as u64, case.epoch);
        let op = if case.format == "oracle-general" { expected.op } else { found.op };
        let same = Record { at_ns: expected.at_ns, op, line: expected.line, ..*found };
        assert_eq!(same, expected, "{}", case.format);
    }
    Ok(())
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo bench` passes the flag for measuring; anything else runs the small form.
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
