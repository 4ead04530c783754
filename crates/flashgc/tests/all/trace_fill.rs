//! A drive that is filled by the requests of a trace, after paper parallel-gc, section V-A.3.

use crate::common;

use common::{Choices, MemoryTrace, TINY, at, setup, whole};
use flashgc::session::{Options, Phase, SavedDrive, Session, TraceOpener};
use serde_json::Value;

/// The tiny drive has 608 user pages.
fn replay(sets: &[&str]) -> String {
    let mut text = TINY.replace("overwrite = 1.0\n", "").replace("sequential", "trace");
    text.truncate(text.find("[workload").expect("a workload"));
    format!(
        "{text}\n[workload.trace]\nformat = \"spc\"\n{}\n[precondition]\nfill = \"trace\"\n",
        sets.join("\n")
    )
}

/// A trace of requests: an operation, a first page and pages.
fn trace(requests: &[(char, u64, u64)]) -> MemoryTrace {
    let rows = requests
        .iter()
        .enumerate()
        .map(|(at, (op, page, pages))| format!("0,{},{},{op},{}.0\n", page * 8, pages * 4096, at));
    MemoryTrace::text("my.spc", &rows.collect::<String>())
}

fn run(trace: MemoryTrace, workload: &[&str], sets: &[&str]) -> Result<Value, String> {
    common::finish(setup(&replay(workload), sets), Some(trace), true)
}

fn drive(trace: MemoryTrace, workload: &[&str], sets: &[&str]) -> SavedDrive {
    let opener = Box::new(trace) as Box<dyn TraceOpener>;
    let options = Options { verify: true, ..Options::default() };
    let mut session = Session::new(setup(&replay(workload), sets), Some(opener), options);
    while session.advance().unwrap_or_else(|error| panic!("{error}")).phase != Phase::Ready {}
    session.into_drive().expect("it is preconditioned")
}

/// The order in which pages were last written, as far as blocks of one plane tell: with one plane
/// pages lie in the order of their writing.
fn order_of_writing(saved: &SavedDrive) -> Vec<usize> {
    let mut pages: Vec<usize> = (0..saved.state.map.len()).collect();
    pages.sort_by_key(|&lpn| saved.state.map[lpn]);
    pages
}

const ONE_PLANE: &[&str] = &[
    "device.channels=1",
    "device.chips_per_channel=1",
    "device.planes_per_die=1",
    "device.blocks_per_plane=32",
    "device.exported=0.125",
];

#[test]
fn reads_come_first_then_writes_then_both_shifted() {
    // 32 user pages; the trace spans 8, and touches pages 1 to 3, 4, 6 and 7.
    let requests = [('w', 6, 2), ('r', 1, 2), ('r', 4, 1), ('w', 2, 2)];
    let saved = drive(trace(&requests), &[], ONE_PLANE);
    let expected = [
        // The pages read, then the pages written: page 2 is written again.
        &[1, 4, 6, 7, 2, 3][..],
        // Both in the order of the trace, shifted by 8, by 16 and by 24.
        &[14, 15, 9, 10, 12, 11],
        &[22, 23, 17, 18, 20, 19],
        &[30, 31, 25, 26, 28, 27],
        // By 32 they meet themselves, so that each continues with the lowest page that is left; the
        // other pages that it would write were written.
        &[0],
        &[5],
        &[8],
        &[13],
        &[16],
        &[21],
        &[24],
        &[29],
    ];
    assert_eq!(order_of_writing(&saved), expected.concat());
    let report = run(trace(&requests), &[], ONE_PLANE).expect("it runs");
    assert_eq!(whole(&report, "precondition.trace_fill.read_pages"), 3);
    assert_eq!(whole(&report, "precondition.trace_fill.write_pages"), 4);
    assert_eq!(whole(&report, "precondition.trace_fill.shifted_pages"), 32 - 6);
    assert_eq!(whole(&report, "precondition.filled_pages"), 33);
    assert_eq!(at(&report, "config.precondition.fill"), "trace");
}

#[test]
fn a_part_of_a_page_is_written_as_a_whole_one() {
    let text = "0,9,512,w,0.0\n0,15,1024,r,1.0\n";
    let saved = drive(MemoryTrace::text("my.spc", text), &[], ONE_PLANE);
    assert_eq!(order_of_writing(&saved)[..3], [2, 1, 4]);
    assert_eq!(saved.origin.precondition.trace_fill.expect("needs a filled drive").read_pages, 2);
}

#[test]
fn any_trace_that_reads_or_writes_fills_the_drive() {
    let mut choices = Choices::new(21);
    for case in 0..60 {
        let count = 1 + choices.below(40);
        let requests: Vec<(char, u64, u64)> = (0..count)
            .map(|_| {
                let op = ['r', 'w'][choices.below(2)];
                (op, choices.below(900) as u64, 1 + choices.below(30) as u64)
            })
            .collect();
        let address = ["address = \"wrap\"", "address = \"compact\""][choices.below(2)];
        // A trace that touches more pages than the drive has cannot be compacted.
        let touched: std::collections::BTreeSet<u64> =
            requests.iter().flat_map(|&(_, page, pages)| page..page + pages).collect();
        let address = if touched.len() > 600 { "address = \"wrap\"" } else { address };
        let allocation = ["striped", "dynamic"][case % 2];
        let allocation = format!("device.allocation=\"{allocation}\"");
        let sets = [
            &allocation,
            ["precondition.overwrite=0.0", "precondition.overwrite=0.7"][case / 2 % 2],
        ];
        let writes = requests.iter().any(|request| request.0 == 'w');
        let report = run(trace(&requests), &[address], &sets).expect("it runs");
        // Every page read holds data: nothing was left unwritten.
        assert_eq!(whole(&report, "pages.unwritten_read"), 0, "{requests:?}");
        let saved = drive(trace(&requests), &[address], &sets);
        assert!(saved.state.map.iter().all(|&ppn| ppn != u32::MAX));
        assert_eq!(saved.origin.precondition.overwritten_pages > 0, case / 2 % 2 == 1);
        assert!(
            writes
                || !at(&report, "notes").as_array().expect("a list").is_empty()
                || case / 2 % 2 == 0
        );
    }
}

#[test]
fn one_page_fills_the_drive_page_by_page() {
    let saved = drive(trace(&[('r', 0, 1)]), &[], ONE_PLANE);
    assert_eq!(order_of_writing(&saved), (0..32).collect::<Vec<_>>());
}

#[test]
fn a_trace_that_only_trims_is_refused() {
    let text = "time,op,offset,size\n0,trim,0,4096\n1,trim,8192,4096\n";
    let csv = replay(&[]).replace("\"spc\"", "\"csv:time:s,op,offset,size\"");
    let error = common::finish(setup(&csv, &[]), Some(MemoryTrace::text("my.csv", text)), false)
        .expect_err("it cannot fill");
    assert!(error.contains("neither reads nor writes"), "{error}");
    assert!(error.contains("my.csv"), "{error}");
}

/// The key of a drive distinguishes traces, and does not depend on arrival times.
#[test]
fn the_key_knows_the_requests_of_the_trace() {
    let requests = [('w', 6, 2), ('r', 1, 2)];
    let key = |trace: MemoryTrace, sets: &[&str]| drive(trace, &[], sets).origin.key();
    let own = key(trace(&requests), &[]);
    assert_eq!(key(trace(&requests), &["workload.trace.time_scale=2.0"]), own);
    assert_ne!(key(trace(&[('w', 6, 2), ('r', 1, 3)]), &[]), own);
    assert_ne!(key(trace(&[('r', 6, 2), ('r', 1, 2)]), &[]), own);
}
