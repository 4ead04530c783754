//! The recorded timeline: its entries add up to the busy times of the engine, links have two ends,
//! and recording changes nothing.

use crate::common;

use common::{BUFFER, BUS, FULL_LINK, LINK, OPEN, SIZES, SUSPENDS, TRIMS, at, tiny_with};
use flashgc::session::{Options, Phase, Session};
use flashgc::verify::timeline::{
    Counter, Entry, LINKS_MAX, Stretch, TimelineRequest, TimelineSink,
};
use flashgc::workload::HostOp;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::mpsc::channel;

/// Whatever a unit, a bus or a request may do.
const RUNS: [&[&str]; 12] = [
    &[],
    &[OPEN, TRIMS, SIZES],
    &[OPEN, BUS, LINK, TRIMS],
    &[FULL_LINK, TRIMS, SIZES],
    &[BUFFER, SIZES, BUS],
    &[OPEN, BUS, LINK, BUFFER, TRIMS, SIZES],
    &[BUS, "gc.scheme=\"fpgc\"", SUSPENDS],
    &[OPEN, BUS, "gc.scheme=\"pgc-pipeline\"", "device.registers=2", SIZES],
    &["device.allocation=\"when-idle\"", SIZES, BUS],
    &["device.allocation=\"dynamic\"", "gc.scheme=\"cost-benefit\"", TRIMS],
    &[BUS, "gc.scheme=\"parallel\"", "device.unit=\"channel\""],
    &[OPEN, "gc.scheme=\"pregc\""],
];

/// A part of the drive, or a request's place, that has one entry at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Track {
    Unit(u32),
    Array(u32),
    Bus(u32),
    /// Of reads, out; or of writes, in.
    Link(bool),
    Collection(u32),
    Request(u32),
    Counter(u32),
}

/// An entry as the tests compare it.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    track: Track,
    from_ns: u64,
    to_ns: u64,
    gc: bool,
    value: f64,
    links: Vec<u64>,
}

fn row(stretch: Stretch<'_>) -> Row {
    let Stretch { from_ns, to_ns, entry, links } = stretch;
    let (track, gc, value) = match entry {
        Entry::Operation(work) => (Track::Unit(work.unit.0), work.gc, 0.0),
        Entry::Array { unit, gc } => (Track::Array(unit.0), gc, 0.0),
        Entry::Transfer { bus, gc, .. } => (Track::Bus(bus.0), gc, 0.0),
        Entry::Link { op, .. } => (Track::Link(op == HostOp::Read), false, 0.0),
        Entry::Collection { collection, .. } => (Track::Collection(collection.unit.0), true, 0.0),
        Entry::Request { slot, pages, .. } => (Track::Request(slot), false, pages.into()),
        Entry::Count(counter, value) => {
            let number = match counter {
                Counter::Outstanding => 0,
                Counter::FreeBlocks => 1,
                Counter::WriteAmplification => 2,
                Counter::Waiting(unit) => 3 + unit.0,
            };
            (Track::Counter(number), false, value)
        }
    };
    Row { track, from_ns, to_ns, gc, value, links: links.to_vec() }
}

/// The entries of a run's timeline, its end in ns, and the report.
fn record(sets: &[&str], request: impl FnOnce(TimelineSink) -> TimelineRequest) -> Recorded {
    let (send, reported) = channel();
    let sink: TimelineSink =
        Box::new(move |stretch| send.send(row(stretch)).expect("the test listens"));
    let options = Options { timeline: Some(request(sink)), verify: true, ..Options::default() };
    let mut session = Session::new(tiny_with(sets), None, options);
    while session.advance().unwrap_or_else(|error| panic!("{sets:?}\n{error}")).phase != Phase::Done
    {
    }
    let ends_ns = session.timeline().expect("a timeline").ends_ns();
    let report = session.report().to_json();
    Recorded { rows: reported.try_iter().collect(), ends_ns, report }
}

struct Recorded {
    rows: Vec<Row>,
    ends_ns: Option<u64>,
    report: Value,
}

fn whole(sink: TimelineSink) -> TimelineRequest {
    TimelineRequest { from_ns: 0, to_ns: u64::MAX, units: None, entries_max: u64::MAX, sink }
}

fn sum(rows: &[Row], is_needed: impl Fn(Track) -> bool, gc: bool) -> u64 {
    let rows = rows.iter().filter(|row| is_needed(row.track) && row.gc == gc);
    rows.map(|row| row.to_ns - row.from_ns).sum()
}

/// The share of the time as the report gives it.
fn share(spent_ns: u64, parts: u32, report: &Value) -> f64 {
    let simulated_ns = at(report, "simulated_ns").as_u64().expect("a time");
    spent_ns as f64 / (u64::from(parts) * simulated_ns) as f64
}

#[test]
fn entries_add_up_to_the_busy_times() {
    for sets in RUNS {
        let Recorded { rows, ends_ns, report } = record(sets, whole);
        assert_eq!(ends_ns, None);
        let plain = common::run_tiny(sets);
        assert_eq!(at(&report, "result_hash"), at(&plain, "result_hash"), "{sets:?}");
        let units = if sets.contains(&"device.unit=\"channel\"") { 2 } else { 4 };
        for (gc, key) in [(false, "host"), (true, "gc")] {
            let on_units = sum(&rows, |track| matches!(track, Track::Unit(_)), gc);
            let reported = at(&report, &format!("utilisation.unit.{key}"));
            assert_eq!(reported, share(on_units, units, &report), "{key} on units with {sets:?}");
            let on_buses = sum(&rows, |track| matches!(track, Track::Bus(_)), gc);
            let reported = at(&report, &format!("utilisation.bus.{key}"));
            assert_eq!(reported, share(on_buses, 2, &report), "{key} on buses with {sets:?}");
        }
        let in_arrays = sum(&rows, |track| matches!(track, Track::Array(_)), true);
        assert_eq!(at(&report, "gc.total_busy_ns"), in_arrays, "{sets:?}");
        if sets.contains(&LINK) {
            let on_link = sum(&rows, |track| matches!(track, Track::Link(_)), false);
            assert_eq!(at(&report, "utilisation.host_link.host"), share(on_link, 1, &report));
        }
        if sets.contains(&FULL_LINK) {
            for (leaves, key) in [(false, "in"), (true, "out")] {
                let one_way = sum(&rows, |track| track == Track::Link(leaves), false);
                let reported = at(&report, &format!("utilisation.host_link_{key}.host"));
                assert_eq!(reported, share(one_way, 1, &report), "{key}");
            }
        }
    }
}

#[test]
fn a_track_has_one_entry_at_a_time() {
    for sets in RUNS {
        let Recorded { rows, .. } = record(sets, whole);
        let mut ends: BTreeMap<Track, u64> = BTreeMap::new();
        for row in &rows {
            let end_ns = ends.entry(row.track).or_default();
            assert!(*end_ns <= row.from_ns && row.from_ns <= row.to_ns, "{row:?} with {sets:?}");
            *end_ns = row.to_ns;
        }
    }
}

#[test]
fn counters_and_collections_are_those_of_the_report() {
    for sets in RUNS {
        let Recorded { rows, report, .. } = record(sets, whole);
        let last = |number| {
            let is_needed = |row: &&Row| row.track == Track::Counter(number);
            rows.iter().rev().find(is_needed).map_or(-1.0, |row| row.value)
        };
        assert_eq!(last(0), 0.0, "requests under way at the end of {sets:?}");
        for unit in 0..2 {
            assert_eq!(last(3 + unit), 0.0, "page operations waiting at the end of {sets:?}");
        }
        let collections = rows.iter().filter(|row| matches!(row.track, Track::Collection(_)));
        let count = at(&report, "gc.count").as_u64().expect("a number");
        let all = collections.count() as u64;
        assert!((count..=count + 8).contains(&all), "{all}, not {count}, with {sets:?}");
        let requests = rows.iter().filter(|row| matches!(row.track, Track::Request(_))).count();
        assert_eq!(requests, 3000, "{sets:?}");
    }
}

/// Each link joins a request with an operation or a collection of a unit.
#[test]
fn links_have_two_ends() {
    for sets in RUNS {
        let Recorded { rows, .. } = record(sets, whole);
        let mut ends: BTreeMap<u64, Vec<&Row>> = BTreeMap::new();
        for row in &rows {
            let is_request = matches!(row.track, Track::Request(_));
            assert!(is_request || row.links.len() <= LINKS_MAX, "{row:?}");
            for link in &row.links {
                ends.entry(*link).or_default().push(row);
            }
        }
        assert!(ends.len() > 1000, "{} links with {sets:?}", ends.len());
        for (link, mut ends) in ends {
            ends.sort_by_key(|row| matches!(row.track, Track::Request(_)));
            let [work, request] = ends[..] else { panic!("link {link} of {ends:?} with {sets:?}") };
            assert!(matches!(work.track, Track::Unit(_) | Track::Collection(_)), "{work:?}");
            assert!(matches!(request.track, Track::Request(_)), "{request:?}");
            assert!(work.from_ns < request.to_ns && request.from_ns < work.to_ns, "{sets:?}");
        }
    }
}

#[test]
fn a_window_has_what_overlaps_it() {
    let all = record(RUNS[2], whole).rows;
    let (from_ns, to_ns) = (50_000_000, 90_000_000);
    let cut = record(RUNS[2], |sink| TimelineRequest { from_ns, to_ns, ..whole(sink) }).rows;
    let is_counter = |row: &&Row| matches!(row.track, Track::Counter(_));
    let overlaps = |row: &&Row| row.to_ns >= from_ns && row.from_ns < to_ns;
    let needed: Vec<&Row> = all.iter().filter(overlaps).filter(|row| !is_counter(row)).collect();
    assert!(needed.len() > 100);
    assert_eq!(cut.iter().filter(|row| !is_counter(row)).collect::<Vec<_>>(), needed);
    let first: Vec<&Row> = cut.iter().filter(is_counter).take(7).collect();
    assert!(first.iter().all(|row| row.from_ns == from_ns), "{first:?}");
    // Write amplification has its own value by then, not the value at the last collection.
    for row in first.iter().filter(|row| row.track != Track::Counter(2)) {
        let before = |other: &&Row| other.track == row.track && other.from_ns < from_ns;
        let last = all.iter().filter(is_counter).rfind(before).expect("an earlier value");
        assert_eq!(row.value, last.value, "{row:?}");
    }
}

#[test]
fn chosen_units_are_recorded_alone() {
    let rows = record(RUNS[2], |sink| TimelineRequest { units: Some(vec![3]), ..whole(sink) }).rows;
    for row in &rows {
        match row.track {
            Track::Unit(unit) | Track::Array(unit) | Track::Collection(unit) => assert_eq!(unit, 3),
            Track::Bus(bus) => assert_eq!(bus, 1),
            Track::Counter(number) => assert!(number < 3 || number == 6, "{row:?}"),
            Track::Link(_) => {}
            Track::Request(_) => assert!(!row.links.is_empty(), "{row:?}"),
        }
    }
    assert!(rows.iter().any(|row| row.track == Track::Unit(3)));
}

#[test]
fn too_many_entries_end_the_timeline() {
    let all = record(RUNS[0], whole).rows;
    let cut = record(RUNS[0], |sink| TimelineRequest { entries_max: 500, ..whole(sink) });
    assert_eq!(cut.rows[..], all[..500]);
    assert_eq!(cut.ends_ns, Some(all[500].to_ns));
    let notes = at(&cut.report, "notes").to_string();
    assert!(notes.contains("the timeline ends after 0.0"), "{notes}");
    assert!(notes.contains("with 500 entries, the maximum"), "{notes}");
}
