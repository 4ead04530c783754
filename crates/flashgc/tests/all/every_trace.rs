//! Every real trace runs on a drive that it fits, under the checker: the traces next to the
//! repository, if they are there, and the captures in the package.
//!
//! The drive has an eighth more pages than the trace touches, and is filled and half overwritten,
//! so that it collects as soon as the trace writes. The short form replays 2,500 rows of each;
//! `FLASHGC_LONG=1` all.
#![allow(clippy::print_stdout)]

use crate::common;

use common::{MemoryTrace, finish, number, setup, shared, whole};
use flashgc_trace::{Disorder, Filter, OpenOptions, info, open};
use std::io::Cursor;

/// The traces, their rows and formats, in the table that `trace info` is compared with.
const TABLE: &str = include_str!("../../../flashgc-trace/tests/all/real_traces.txt");
const PAGE_BYTES: u64 = 4096;
const PAGES_PER_BLOCK: u64 = 64;
const PLANES: u64 = 16;
const SHORT_ROWS: u64 = 2500;

const DRIVE: &str = r#"
[device]
channels = 4
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 2
pages_per_block = 64
page_size = "4 KiB"
exported = 0.8
unit = "die"
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "25 ns/B"
[gc]
scheme = "greedy"
[precondition]
overwrite = 0.5
[workload.trace]
address = "compact"
"#;

/// Settings that skip a part of these, since their clocks jump by years; see the manual's page of
/// the format.
fn left_out(file: &str) -> &'static [&'static str] {
    match file {
        "ycsb_ext4.blkparse.txt" => &["workload.trace.length=\"1000 s\""],
        "nexus5_Booting_log176.txt" => &["workload.trace.start=\"1000000000 s\""],
        _ => &[],
    }
}

/// The requirements of a trace, or of its first rows: pages, and a window that sorts it; and its
/// reads and writes.
fn needs(name: &str, bytes: &[u8], format: &str, rows: Option<u64>) -> (u64, u64, u64) {
    let format = (!format.is_empty()).then(|| format.parse().expect("a known format"));
    let filter = match name {
        "ycsb_ext4.blkparse.txt" => {
            Filter { length_ns: Some(1_000_000_000_000), rows, ..Filter::default() }
        }
        "nexus5_Booting_log176.txt" => {
            Filter { start_ns: Some(1_000_000_000_000_000_000), rows, ..Filter::default() }
        }
        _ => Filter { rows, ..Filter::default() },
    };
    let options =
        OpenOptions { format, disorder: Disorder::Ignore, filter, ..OpenOptions::default() };
    let reader = open(name, Box::new(Cursor::new(bytes.to_vec())), &options);
    let info = info(reader.expect("it opens")).expect("it is read");
    // A trim needs no page, and none of pages that are neither read nor written is replayed.
    let pages = info.footprint_bytes / PAGE_BYTES;
    (pages, info.late_ns_max, info.reads + info.writes)
}

fn run(name: &str, format: &str, bytes: Vec<u8>, long: bool) {
    let (pages, late_ns, rows) = needs(name, &bytes, format, (!long).then_some(SHORT_ROWS));
    let blocks = (pages * 9 / 8 * 5 / 4).div_ceil(PAGES_PER_BLOCK * PLANES).max(32);
    let mut sets = vec![format!("device.blocks_per_plane={blocks}")];
    sets.extend(left_out(name).iter().map(|set| (*set).to_string()));
    if late_ns > 0 {
        sets.push(format!("workload.trace.sort_window=\"{late_ns} ns\""));
    }
    if !format.is_empty() {
        sets.push(format!("workload.trace.format={format:?}"));
    }
    if !long {
        sets.push(format!("workload.trace.rows={SHORT_ROWS}"));
    }
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let trace = MemoryTrace { name: name.into(), bytes };
    let report = finish(setup(DRIVE, &sets), Some(trace), true)
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let done = whole(&report, "requests.read") + whole(&report, "requests.write");
    let done = done + whole(&report, "requests.trim");
    let expected = if long { rows } else { rows.min(SHORT_ROWS) };
    // Rows that are neither read, write nor trim are among the first ones, and are skipped;
    // requests that cross from one part of the drive to another count twice.
    assert!(done <= 2 * expected && done * 10 >= expected * 9, "{name}: {done} of {expected}");
    if long {
        assert!(done >= expected, "{name}: {done} of {expected}");
    }
    println!(
        "{name}: {done} requests, write amplification {}, mean latency {:.0} us",
        report["write_amplification"],
        number(&report, "latency_ns.all.mean") / 1e3
    );
}

#[test]
#[ignore = "needs ../shared/traces"]
fn every_real_trace_runs_under_the_checker() {
    let long = common::is_long();
    let mut seen = Vec::new();
    for line in TABLE.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = line.split(" | ").map(str::trim).collect();
        let (name, format) = (columns[0], columns.last().copied().unwrap_or(""));
        let format = format.trim_end_matches('|').trim();
        if !seen.contains(&name) {
            seen.push(name);
            let Some(file) = shared(&format!("traces/{name}.zst")) else {
                println!("skipped: {name} is missing");
                continue;
            };
            run(name, format, std::fs::read(file).expect("the file is readable"), long);
        }
    }
    assert!(seen.len() >= 35, "{} traces", seen.len());
}

#[test]
fn every_capture_of_the_package_runs_under_the_checker() {
    let captures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../python/flashgc/captures");
    let files = std::fs::read_dir(captures).expect("the package has captures");
    let mut names: Vec<String> = files
        .map(|file| file.expect("it is listed").file_name().into_string().expect("ASCII"))
        .filter(|name| name.ends_with(".fgt"))
        .collect();
    names.sort();
    assert_eq!(
        names,
        ["dbench", "mariadb", "postgresql", "rocksdb", "sqlite"].map(|name| format!("{name}.fgt"))
    );
    for name in names {
        let bytes = std::fs::read(format!("{captures}/{name}")).expect("the file is readable");
        run(&name, "", bytes, common::is_long());
    }
}
