//! A run over time: its rows are the report, interval by interval, and asking for them changes
//! nothing.

use crate::common;

use common::{BUS, CLOSED, OPEN, TRIMS, assert_near, at, number, tiny_with, whole};
use flashgc::ids::PlaneId;
use flashgc::session::{Options, Phase, Session};
use flashgc::sim::Sim;
use flashgc::stats::{Series, SeriesRequest, SeriesRow, SeriesSink};
use flashgc::verify::{InDetail, Watchers};
use serde_json::Value;
use std::sync::mpsc::{Receiver, channel};

fn sink() -> (SeriesSink, Receiver<SeriesRow>) {
    let (send, rows) = channel();
    (Box::new(move |row: &SeriesRow| send.send(*row).expect("the test listens")), rows)
}

/// The report of a run, and its rows.
fn run(sets: &[&str], interval_ns: Option<u64>, verify: bool) -> (Value, Vec<SeriesRow>) {
    let (sink, rows) = sink();
    let series = Some(SeriesRequest { interval_ns, sink });
    let options = Options { verify, series, ..Options::default() };
    let mut session = Session::new(tiny_with(sets), None, options);
    while session.advance().unwrap_or_else(|error| panic!("{sets:?}\n{error}")).phase != Phase::Done
    {
    }
    let report = session.report().to_json();
    (report, rows.try_iter().collect())
}

fn sum(rows: &[SeriesRow], of: fn(&SeriesRow) -> u64) -> u64 {
    rows.iter().map(of).sum()
}

/// The rows add up to the metrics of the report.
fn assert_totals(sets: &[&str], report: &Value, rows: &[SeriesRow]) {
    let totals: [(&str, u64); 5] = [
        ("requests.read", sum(rows, |row| row.requests_read)),
        ("requests.write", sum(rows, |row| row.requests_write)),
        ("gc.count", sum(rows, |row| row.gc_count)),
        ("pages.gc_moved", sum(rows, |row| row.gc_moved)),
        ("gc.total_busy_ns", sum(rows, |row| row.gc_busy_ns)),
    ];
    for (key, found) in totals {
        assert_eq!(found, whole(report, key), "{key} with {sets:?}");
    }
    let longest = [
        ("read", rows.iter().filter_map(|row| row.latency_read_max_ns).max()),
        ("write", rows.iter().filter_map(|row| row.latency_write_max_ns).max()),
    ];
    for (op, found) in longest {
        let expected = at(report, &format!("latency_ns.{op}.max")).as_u64();
        assert_eq!(found, expected, "longest {op} with {sets:?}");
    }
    let weighted = |row: &SeriesRow| {
        row.latency_write_mean_ns.map_or(0.0, |mean| mean * row.requests_write as f64)
    };
    let mean = rows.iter().map(weighted).sum::<f64>() / number(report, "requests.write");
    assert_near("mean of writes", mean, number(report, "latency_ns.write.mean"), 1e-9);
    assert!(rows.windows(2).all(|pair| pair[0].start_ns < pair[1].start_ns), "{sets:?}");
    let end_ns = whole(report, "simulated_ns");
    assert!(rows.iter().all(|row| row.start_ns <= end_ns), "{sets:?}");
}

const PARALLEL: &str = "gc.copy.use=\"parallel\"";
const DYNAMIC: &str = "device.allocation=\"dynamic\"";

/// Schemes whose collections run in one piece, step by step, over the bus and in other units.
const RUNS: [&[&str]; 7] = [
    &[CLOSED],
    &[OPEN, "engine.coalesce=false"],
    &[OPEN, BUS, "gc.copy.use=\"bus\"", TRIMS],
    &[CLOSED, BUS, PARALLEL, "device.registers=3"],
    &[
        OPEN,
        BUS,
        PARALLEL,
        "device.registers=3",
        "gc.copy.parallel.path=\"global\"",
        "gc.copy.parallel.parity=false",
        DYNAMIC,
    ],
    &[CLOSED, DYNAMIC, "device.unit=\"plane\"", "gc.erase.use=\"blocks\""],
    &[OPEN, "gc.trigger.watermark.batch=\"until-stop\"", "gc.placement.use=\"separate-gc\""],
];

#[test]
fn rows_add_up_to_the_report_and_change_nothing() {
    for sets in RUNS {
        let plain = common::run_tiny(sets);
        for (interval_ns, verify) in [(None, true), (Some(1_000_000), false), (Some(70_000), true)]
        {
            let (report, rows) = run(sets, interval_ns, verify);
            assert_eq!(at(&report, "result_hash"), at(&plain, "result_hash"), "{sets:?}");
            assert!(whole(&report, "gc.count") > 10, "{sets:?}: there is nothing to see");
            let most = if interval_ns.is_none() { 4096 } else { 100_000 };
            assert!(rows.len() > 10 && rows.len() <= most, "{sets:?}: {} rows", rows.len());
            assert_totals(sets, &report, &rows);
            let interval_ns = interval_ns.unwrap_or(1);
            assert!(rows.iter().all(|row| row.start_ns.is_multiple_of(interval_ns)), "{sets:?}");
        }
    }
}

#[test]
fn an_interval_that_has_doubled_has_the_rows_of_one_that_was_given() {
    for sets in RUNS {
        let (_, doubled) = run(sets, None, false);
        let fits =
            |interval_ns: &u64| doubled.iter().all(|row| row.start_ns.is_multiple_of(*interval_ns));
        let intervals = (0..30).map(|doublings| 1000 << doublings).filter(fits);
        let given: Vec<u64> =
            intervals.filter(|&ns| run(sets, Some(ns), false).1 == doubled).collect();
        assert!(given.len() == 1 && given[0] > 1000, "{sets:?}: {given:?}");
    }
}

#[test]
fn collection_works_no_longer_than_its_interval_lasts() {
    for sets in RUNS {
        let (_, rows) = run(sets, Some(100_000), false);
        // At most eight units, one per plane; an erase takes 15 intervals.
        let busiest = rows.iter().map(|row| row.gc_busy_ns).max();
        assert!(busiest.is_some_and(|ns| ns > 0 && ns <= 8 * 100_000), "{sets:?}: {busiest:?}");
    }
}

/// The last row has the erased blocks that the drive has then, and the fewest of all rows belong to
/// the hardest pressed plane.
#[test]
fn erased_blocks_are_those_of_the_drive() {
    for sets in RUNS {
        let setup = tiny_with(sets);
        let plan = setup.plan.clone();
        let (sink, rows) = sink();
        let request = SeriesRequest { interval_ns: Some(50_000), sink };
        let series = Some(Series::new(request, plan.geometry.shape.blocks_per_plane));
        let mut sim = Sim::new(plan, Watchers::from(InDetail { series, ..InDetail::default() }));
        let pages = setup.plan.geometry.exported_pages;
        sim.untimed().fill(0, pages).expect("it fits");
        let mut source = common::synthetic(&setup);
        sim.start(&mut source).expect("it starts");
        let mut fewest = u32::MAX;
        let planes: Vec<PlaneId> = (0..setup.plan.geometry.planes).map(PlaneId).collect();
        let free = |sim: &Sim<Watchers>| -> Vec<u32> {
            planes.iter().map(|&plane| sim.ftl().frontiers.free_blocks(plane)).collect()
        };
        loop {
            fewest = fewest.min(free(&sim).into_iter().min().expect("there are planes"));
            if sim.run(&mut source, 1).expect("it goes on").finished {
                break;
            }
        }
        let results = sim.seen().results();
        flashgc::sim::ending::series(&mut sim, &results);
        let rows: Vec<SeriesRow> = rows.try_iter().collect();
        let last = rows.last().expect("there are rows");
        let all: u64 = free(&sim).into_iter().map(u64::from).sum();
        assert_eq!(last.free_blocks_end, all, "{sets:?}");
        let erased: u32 = planes.iter().map(|&plane| sim.ftl().frontiers.free_pages(plane)).sum();
        let shape = &setup.plan.geometry.shape;
        let pages = shape.planes() * shape.data_pages_per_plane();
        assert_eq!(last.used_pages_end, pages - u64::from(erased), "{sets:?}");
        assert!(rows.iter().all(|row| row.used_pages_end <= pages), "{sets:?}");
        // Within one event a block can be opened and another erased.
        let found = rows.iter().map(|row| row.free_blocks_min).min();
        assert!(found.is_some_and(|found| found <= fewest && found + 1 >= fewest), "{sets:?}");
        let most = rows.iter().map(|row| row.outstanding_max).max();
        if sets.contains(&CLOSED) {
            assert_eq!(most, Some(8), "{sets:?}");
        }
    }
}

#[test]
fn a_run_that_reads_has_no_collection_and_no_writes() {
    let (_, rows) = run(&[CLOSED, "workload.synthetic.read_share=1.0"], None, false);
    assert!(!rows.is_empty());
    for row in rows {
        assert_eq!((row.latency_write_mean_ns, row.latency_write_max_ns), (None, None));
        assert_eq!((row.requests_write, row.gc_count, row.gc_moved, row.gc_busy_ns), (0, 0, 0, 0));
    }
}
