//! Mistakes in traces: each error has its place and advice.

use crate::bad_config::assert_says;
use crate::common;

use common::{MemoryTrace, finish, setup};

const TRACED: &str = r#"
[device]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 16
pages_per_block = 8
page_size = "4 KiB"
exported = 0.6
unit = "die"
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "0 ns/B"
[gc.trigger.watermark]
soft = "3 blocks"
[workload.trace]
"#;

/// Replays bytes as a trace; returns the error.
fn trace_error(bytes: &[u8], sets: &[&str]) -> String {
    let trace = MemoryTrace { name: "t.csv".into(), bytes: bytes.to_vec() };
    match finish(setup(TRACED, sets), Some(trace), true) {
        Ok(_) => panic!("{} bytes were accepted", bytes.len()),
        Err(error) => error,
    }
}

const ROWS: &str = "128166372003061629,web,0,Write,0,4096,1331\n\
                    128166372003061639,web,0,Read,4096,8192,1331\n";

#[test]
fn a_trace_with_nothing_in_it_is_an_error() {
    assert_says(&trace_error(b"", &[]), &["the trace is empty", "t.csv"]);
    let later = trace_error(ROWS.as_bytes(), &["workload.trace.start=\"60 min\""]);
    assert_says(&later, &["the filter leaves none of the 2 rows", "t.csv"]);
}

#[test]
fn a_malformed_line_stops_the_run_with_its_number_or_is_counted() {
    let rows = format!("{ROWS}128166372003061649,web,0,Wriet,0,4096,1331\n");
    assert_says(&trace_error(rows.as_bytes(), &[]), &["--> t.csv:3:26", "Wriet", "^"]);
    let skip = setup(TRACED, &["workload.trace.on_bad_line=\"skip\""]);
    let report = finish(skip, Some(MemoryTrace::text("t.csv", &rows)), true).expect("it goes on");
    assert_eq!(common::whole(&report, "bad_rows"), 1);
    let notes = common::at(&report, "notes").to_string();
    assert!(notes.contains("skipped lines of the trace: 1"), "{notes}");
}

#[test]
fn time_that_runs_backwards_is_an_error_with_its_line() {
    let rows = format!("{ROWS}128166372003061000,web,0,Write,0,4096,1331\n");
    assert_says(&trace_error(rows.as_bytes(), &[]), &["--> t.csv:3", "the time goes back", "sort"]);
}

#[test]
fn an_address_beyond_the_device_is_an_error_unless_wrapped_or_compacted() {
    let rows = format!("{ROWS}128166372003061649,web,0,Write,99999744,4096,1331\n");
    let found = trace_error(rows.as_bytes(), &[]);
    assert_says(&found, &["the drive has 622592 bytes", "--> t.csv:3", "address = \"wrap\""]);
    for address in ["wrap", "compact"] {
        let sets = format!("workload.trace.address=\"{address}\"");
        let trace = MemoryTrace::text("t.csv", &rows);
        let report = finish(setup(TRACED, &[&sets]), Some(trace), true).expect("it is placed");
        assert_eq!(common::whole(&report, "requests.write"), 2, "{address}");
    }
}

#[test]
fn a_trace_that_touches_more_than_the_drive_cannot_be_compacted() {
    let rows: String = (0..200)
        .map(|at| format!("{},web,0,Write,{},4096,1\n", 128166372003061629u64 + at, at * 8192))
        .collect();
    let found = trace_error(rows.as_bytes(), &["workload.trace.address=\"compact\""]);
    assert_says(&found, &["touches 200 pages", "the drive has 152", "use a larger drive"]);
}

/// A zstd frame of one raw block.
fn zstd(content: &[u8]) -> Vec<u8> {
    // Magic number, a single segment with two bytes of size (less 256), one last raw block.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x60];
    frame.extend(((content.len() - 256) as u16).to_le_bytes());
    frame.extend(&((content.len() as u32) << 3 | 1).to_le_bytes()[..3]);
    frame.extend(content);
    frame
}

#[test]
fn a_truncated_archive_is_an_error_of_its_own() {
    let rows = format!("{ROWS}{}", "128166372003061700,web,0,Read,0,512,9\n".repeat(20));
    let frame = zstd(rows.as_bytes());
    let whole = MemoryTrace { name: "t.zst".into(), bytes: frame.clone() };
    let report = finish(setup(TRACED, &[]), Some(whole), true).expect("the frame is whole");
    assert_eq!(common::whole(&report, "requests.read"), 21);
    for cut in [10, 40, frame.len() / 2, frame.len() - 1] {
        let found = trace_error(&frame[..cut], &[]);
        assert!(found.contains("zstd"), "cut at {cut}: {found}");
    }
    assert_says(&trace_error(&frame[..frame.len() / 2], &[]), &["ends too early", "is truncated"]);
    let gzip =
        [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 0xff, 0, 0, 0xff], &[b'1'; 9][..]].concat();
    assert_says(&trace_error(&gzip, &[]), &["gzip"]);
}

#[test]
fn noise_is_no_trace() {
    let noise: Vec<u8> = (0..2000u32).map(|at| (at * 37 % 251) as u8).collect();
    assert_says(&trace_error(&noise, &[]), &["t.csv"]);
    assert_says(&trace_error(b"PK\x03\x04....", &[]), &["compressed with zip", "unzip"]);
}

#[test]
fn a_trace_that_is_missing_is_said() {
    let found = finish(setup(TRACED, &[]), None, false).expect_err("there is none");
    assert_says(&found, &["the workload is a trace, but no trace was given", "--trace FILE"]);
}
