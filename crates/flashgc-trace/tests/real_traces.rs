//! The figures of `../shared/traces/README.md`, one row each.
//!
//! Where a file is missing the test says so by name and passes.

use flashgc_trace::{
    extents, info, open, Disorder, Filter, Format, Info, OpenOptions, TraceReader,
};
use std::fs::File;
use std::path::PathBuf;

/// The rows, from left to right as in the README.
const TABLE: &str = include_str!("real_traces.txt");

/// A row of the table.
struct Row {
    file: &'static str,
    /// Empty: the format must be told from the content.
    format: &'static str,
    rows: f64,
    reads_percent: f64,
    mean_read: f64,
    mean_write: f64,
    footprint_mib: f64,
    written_mib: f64,
    written_total_mib: f64,
    address_gib: f64,
    duration_s: f64,
}

fn table() -> Vec<Row> {
    let rows = TABLE.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let number = |index: usize| cells[index].parse::<f64>().unwrap();
        Row {
            file: cells[0],
            rows: number(1),
            reads_percent: number(2),
            mean_read: number(3),
            mean_write: number(4),
            footprint_mib: number(5),
            written_mib: number(6),
            written_total_mib: number(7),
            address_gib: number(8),
            duration_s: number(9),
            format: cells[10],
        }
    });
    let rows: Vec<Row> = rows.collect();
    assert_eq!(rows.len(), 26);
    rows
}

/// The layout of the one file here that is out of order by design.
const SYSTOR: &str = "csv:time:s, -, op, device, offset, size";

fn path(file: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.join("../../../shared/traces").join(format!("{file}.zst"))
}

#[allow(clippy::print_stderr)]
fn file(name: &str) -> Option<Box<File>> {
    let file = File::open(path(name)).ok();
    if file.is_none() {
        eprintln!("skipped: {name} is missing");
    }
    file.map(Box::new)
}

fn options(format: &str) -> OpenOptions {
    let named = |format: &str| format.parse::<Format>().unwrap();
    let format = (!format.is_empty()).then(|| named(format));
    OpenOptions { format, disorder: Disorder::Ignore, ..OpenOptions::default() }
}

fn reader(name: &str, format: &str) -> Option<TraceReader> {
    Some(open(name, file(name)?, &options(format)).unwrap_or_else(|error| panic!("{error}")))
}

fn near(what: &str, row: &Row, measured: f64, expected: f64, half_step: f64) -> Option<String> {
    let off = (measured - expected).abs() > half_step * 1.0001;
    off.then(|| format!("{}: {what} is {measured}, the README says {expected}", row.file))
}

fn compare(row: &Row, info: &Info) -> Vec<String> {
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let percent = 100.0 * info.reads as f64 / info.rows as f64;
    let duration_step = if (row.duration_s * 100.0).fract() < 1e-6 { 0.005 } else { 0.0005 };
    let checks = [
        near("rows", row, info.rows as f64, row.rows, 0.0),
        near("reads %", row, percent, row.reads_percent, 0.005),
        near("mean read", row, info.mean_read_bytes.unwrap_or(0.0), row.mean_read, 0.5),
        near("mean write", row, info.mean_write_bytes.unwrap_or(0.0), row.mean_write, 0.5),
        near("footprint", row, mib(info.footprint_bytes), row.footprint_mib, 0.05),
        near("written", row, mib(info.written_footprint_bytes), row.written_mib, 0.05),
        near("written total", row, mib(info.written_bytes), row.written_total_mib, 0.05),
        near("max address", row, mib(info.max_address_bytes) / 1024.0, row.address_gib, 0.005),
        near("duration", row, info.duration_s, row.duration_s, duration_step),
    ];
    checks.into_iter().flatten().collect()
}

/// A clock that jumped spoils one row of this file; the README leaves that row out of the
/// duration, and counts it in all else.
const BOGUS_STAMP: &str = "ycsb_ext4.blkparse.txt";

#[test]
fn info_equals_the_table() {
    let mut wrong = Vec::new();
    for row in &table() {
        let Some(reader) = reader(row.file, row.format) else { continue };
        let mut info = info(reader).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(info.bad_rows, 0);
        if row.file == BOGUS_STAMP {
            let mut options = options(row.format);
            options.filter = Filter { length_ns: Some(1_000_000_000_000), ..Filter::default() };
            let rest = open(row.file, file(row.file).unwrap(), &options).unwrap();
            let rest = flashgc_trace::info(rest).unwrap();
            assert_eq!(rest.rows, info.rows - 1);
            info.duration_s = rest.duration_s;
        }
        wrong.extend(compare(row, &info));
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn extents_agree_with_info() {
    for row in &table() {
        let Some(first) = reader(row.file, row.format) else { continue };
        let Some(second) = reader(row.file, row.format) else { continue };
        let (extents, info) = (extents(first).unwrap(), info(second).unwrap());
        assert_eq!((extents.rows, extents.reads), (info.rows, info.reads));
        assert_eq!((extents.writes, extents.written_bytes), (info.writes, info.written_bytes));
        let ends = extents.devices.iter().map(|device| (device.device, device.end_bytes));
        let rounded = |end: u64| end.next_multiple_of(4096);
        let known = info.devices.iter().map(|it| (it.device, rounded(it.max_address_bytes)));
        assert!(ends.eq(known), "{}", row.file);
        let last = extents.devices.last().unwrap();
        let base = extents.base_bytes(last.device).unwrap();
        assert_eq!(Some(base + last.end_bytes), extents.total_bytes());
    }
}

#[test]
fn five_numbers_are_not_guessed() {
    let files = [
        ("tpcc-small.mqsim.trace", "mqsim      last"),
        ("DTRS.first300s.ssdsim.trace", "ssdsim-us  last"),
        ("ssd-postmark-aligned2.disksim.trace", "disksim    last"),
        ("Financial1.rows3-50002.flashsim.trace", "disksim    last"),
    ];
    for (name, candidate) in files {
        let Some(file) = file(name) else { continue };
        let error = open(name, file, &OpenOptions::default()).unwrap_err();
        let help = error.help.unwrap();
        assert!(help.contains("--format") && help.contains(candidate), "{help}");
    }
}

#[test]
fn a_foreign_or_binary_file_is_an_error() {
    let files = ["cloudphysics.2h.csv", "diskmon_sys1.txt"];
    for name in files {
        let Some(file) = file(name) else { continue };
        let error = open(name, file, &OpenOptions::default()).unwrap_err();
        assert!(error.help.is_some(), "{error}");
    }
}

#[test]
fn disorder_is_refused_and_can_be_sorted() {
    let name = "systor17-traces-sample.csv";
    let Some(first) = file(name) else { return };
    let format = Some(SYSTOR.parse().unwrap());
    let refuse = OpenOptions { format, ..OpenOptions::default() };
    let error = open(name, first, &refuse).unwrap().find_map(Result::err).unwrap();
    assert!(error.help.unwrap().contains("sort_window"));

    let late_ns = info(reader(name, SYSTOR).unwrap()).unwrap().late_ns_max;
    let sort = OpenOptions { disorder: Disorder::Window(late_ns), ..refuse };
    let sorted: Vec<_> =
        open(name, file(name).unwrap(), &sort).unwrap().map(Result::unwrap).collect();
    assert_eq!(sorted.len(), 999);
    assert!(sorted.is_sorted_by_key(|record| (record.at_ns, record.line)));
}
