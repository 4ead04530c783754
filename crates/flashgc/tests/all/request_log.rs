//! The log of requests: its rows are the report, request by request, and writing them changes
//! nothing.

use crate::common;

use common::{
    BUFFER, BUS, CLOSED, FULL_LINK, LINK, OPEN, SIZES, SUSPENDS, TRIMS, assert_near, at, drain,
    finish_with, number, tiny_with, whole,
};
use flashgc::session::Options;
use flashgc::sim::Sim;
use flashgc::verify::{BATCH_ROWS, InDetail, PerRequest, RequestRow, RequestSink, Watchers};
use flashgc::workload::{HostOp, HostRequest, ListSource};
use serde_json::Value;
use std::sync::mpsc::{Receiver, channel};

fn sink() -> (RequestSink, Receiver<Vec<RequestRow>>) {
    let (send, batches) = channel();
    (Box::new(move |rows| send.send(rows.to_vec()).expect("the test listens")), batches)
}

/// The report of a run, and the batches of its log.
fn run(sets: &[&str], blame: bool, verify: bool) -> (Value, Vec<Vec<RequestRow>>) {
    let (sink, batches) = sink();
    let options = Options { verify, blame, request_log: Some(sink), ..Options::default() };
    let report = finish_with(tiny_with(sets), None, options);
    (report.unwrap_or_else(|error| panic!("{sets:?}\n{error}")), batches.try_iter().collect())
}

/// Collections that run to their end and that are preempted, with all that a request may wait for.
const RUNS: [&[&str]; 10] = [
    &[CLOSED],
    &[OPEN, TRIMS, SIZES],
    &[OPEN, BUS, LINK, TRIMS],
    &[CLOSED, FULL_LINK, TRIMS, SIZES],
    &[CLOSED, BUFFER, SIZES],
    &[OPEN, BUS, LINK, BUFFER, TRIMS, SIZES],
    &[CLOSED, BUS, "gc.scheme=\"fpgc\"", SUSPENDS],
    &[OPEN, BUS, "gc.scheme=\"pgc-pipeline\"", "device.registers=2", SIZES],
    &[OPEN, BUS, "gc.scheme=\"ideal\""],
    &[CLOSED, "device.allocation=\"dynamic\"", "gc.scheme=\"cost-benefit\"", TRIMS],
];

fn latencies(rows: &[RequestRow], kind: &str) -> Vec<u64> {
    let is_needed = |row: &&RequestRow| match kind {
        "read" => row.op == HostOp::Read,
        "write" => row.op == HostOp::Write,
        _ => row.op != HostOp::Trim,
    };
    let mut latencies: Vec<u64> =
        rows.iter().filter(is_needed).map(RequestRow::latency_ns).collect();
    latencies.sort_unstable();
    latencies
}

/// The rows have the counts, means, percentiles and maxima of the report.
fn assert_report(sets: &[&str], report: &Value, rows: &[RequestRow]) {
    for kind in ["read", "write", "all"] {
        let found = latencies(rows, kind);
        let requests = ["read", "write"].map(|kind| whole(report, &format!("requests.{kind}")));
        let expected = match kind {
            "read" => requests[0],
            "write" => requests[1],
            _ => requests.iter().sum(),
        };
        assert_eq!(found.len() as u64, expected, "{kind} with {sets:?}");
        let of = |name: &str| number(report, &format!("latency_ns.{kind}.{name}"));
        assert_eq!(found[found.len() - 1] as f64, of("max"), "{kind} with {sets:?}");
        let mean = found.iter().sum::<u64>() as f64 / found.len() as f64;
        assert_near("mean", mean, of("mean"), 1e-9);
        for (name, share) in [("p50", 0.5), ("p99", 0.99), ("p99_9", 0.999)] {
            let rank = (found.len() as f64 * share).ceil() as usize;
            assert_near(name, found[rank - 1] as f64, of(name), 0.001);
        }
    }
    let trims = rows.iter().filter(|row| row.op == HostOp::Trim).count() as u64;
    assert_eq!(trims, whole(report, "requests.trim"), "{sets:?}");
    let bytes: u64 = rows.iter().map(|row| row.size_bytes).sum();
    assert!(bytes > 0 && rows.iter().all(|row| row.offset_bytes % 512 == 0), "{sets:?}");
}

/// Every request has one row, which appears when it is done.
fn assert_order(sets: &[&str], rows: &[RequestRow]) {
    assert!(rows.windows(2).all(|pair| pair[0].end_ns <= pair[1].end_ns), "{sets:?}");
    let mut arrived = rows.to_vec();
    arrived.sort_by_key(|row| row.request);
    assert!(arrived.iter().map(|row| row.request).eq(0..rows.len() as u64), "{sets:?}");
    assert!(arrived.windows(2).all(|pair| pair[0].arrival_ns <= pair[1].arrival_ns), "{sets:?}");
    for row in rows {
        assert!(row.arrival_ns <= row.start_ns && row.start_ns <= row.end_ns, "{row:?}");
    }
}

#[test]
fn rows_are_the_report_and_change_nothing() {
    for sets in RUNS {
        let plain = common::run_tiny(sets);
        let mut logs = Vec::new();
        for (blame, verify) in [(false, false), (true, false), (true, true), (false, true)] {
            let (report, batches) = run(sets, blame, verify);
            assert_eq!(at(&report, "result_hash"), at(&plain, "result_hash"), "{sets:?}");
            assert!(whole(&report, "gc.count") > 10, "{sets:?}: there is nothing to see");
            let rows = batches.concat();
            assert_report(sets, &report, &rows);
            assert_order(sets, &rows);
            for row in &rows {
                let has_parts = blame && row.op != HostOp::Trim;
                assert_eq!(row.parts.is_some(), has_parts, "{row:?}");
                if let Some(parts) = row.parts {
                    assert_eq!(parts.iter().sum::<u64>(), row.latency_ns(), "{row:?}");
                }
            }
            logs.push(rows.iter().map(|row| RequestRow { parts: None, ..*row }).collect());
        }
        assert!(logs.windows(2).all(|pair: &[Vec<_>]| pair[0] == pair[1]), "{sets:?}");
    }
}

#[test]
fn rows_leave_in_batches() {
    let (report, batches) = run(&[CLOSED, "workload.synthetic.requests=140_000"], false, false);
    let lengths: Vec<usize> = batches.iter().map(Vec::len).collect();
    assert_eq!(lengths, [BATCH_ROWS, BATCH_ROWS, 140_000 - 2 * BATCH_ROWS]);
    assert_report(&[], &report, &batches.concat());
}

const PAGE: u64 = 4096;

/// Requests at 0, 10 us, 20 us and so on, on an erased drive, as kind, page and bytes: the start
/// and the end of each, in us.
fn times_us(sets: &[&str], requests: &[(HostOp, u64, u64)]) -> Vec<(u64, u64)> {
    let sets = [&[OPEN], sets].concat();
    let (sink, batches) = sink();
    let plan = tiny_with(&sets).plan;
    let per_request = PerRequest::new(Some(sink), None, None, &plan.geometry);
    let mut sim = Sim::new(plan, Watchers::from(InDetail { per_request, ..InDetail::default() }));
    let requests = requests.iter().enumerate().map(|(at, &(op, page, bytes))| {
        let request = HostRequest::from_bytes(at as u64 * 10_000, op, page * PAGE, bytes, PAGE);
        HostRequest { hint: 255 - at as u8, ..request }
    });
    let requests: Vec<HostRequest> = requests.collect();
    drain(&mut sim, &mut ListSource::new(requests.clone()), 10);
    flashgc::sim::ending::rows(&mut sim);
    let mut rows: Vec<RequestRow> = batches.try_iter().flatten().collect();
    rows.sort_by_key(|row| row.request);
    for (row, request) in rows.iter().zip(&requests) {
        let given = (request.at_ns, request.op, request.offset_bytes, request.bytes);
        assert_eq!((row.arrival_ns, row.op, row.offset_bytes, row.size_bytes), given);
        assert_eq!(row.hint, request.hint);
    }
    rows.iter().map(|row| (row.start_ns / 1000, row.end_ns / 1000)).collect()
}

#[test]
fn the_start_is_that_of_the_first_operation_that_gets_its_unit() {
    use HostOp::{Read, Trim, Write};
    // Pages 0 and 8 are on one unit, and page 1 on another; a program takes 200 us, a read 25 us.
    let found = times_us(
        &[],
        &[
            (Write, 0, PAGE),
            (Write, 0, PAGE),
            // Nothing was ever written there: neither needs a unit.
            (Read, 16, PAGE),
            (Trim, 16, PAGE),
            // The rest of this page is not read, so that its program is its start.
            (Write, 8, 512),
            // Two pages: the second one starts at once.
            (Write, 0, 2 * PAGE),
            // The rest of the page is read first.
            (Write, 0, 512),
        ],
    );
    let expected = [(0, 200), (200, 400), (20, 20), (30, 30), (400, 600), (50, 800), (800, 1025)];
    assert_eq!(found, expected);
}

#[test]
fn the_start_of_a_buffered_write_is_its_access() {
    use HostOp::Write;
    // A buffer of one page, whose access takes 20 us; the flush of page 0 takes 200 us.
    let buffer = ["device.write_buffer={size=\"4 KiB\",access=\"20 us\"}"];
    let found = times_us(&buffer, &[(Write, 0, PAGE), (Write, 0, PAGE), (Write, 9, PAGE)]);
    assert_eq!(found, [(0, 20), (20, 40), (240, 260)]);
}
