//! Stories of requests: the requested ones are kept, their work adds up to the parts of the
//! latency, and keeping them changes nothing.

use crate::common;

use common::{BUFFER, BUS, FULL_LINK, LINK, OPEN, SIZES, SUSPENDS, TRIMS, at, tiny_with};
use flashgc::session::{Options, Phase, Session};
use flashgc::verify::RequestRow;
use flashgc::verify::blame::Part;
use flashgc::verify::story::{Choice, Step, Story, Work};
use flashgc::workload::HostOp;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::mpsc::channel;

/// Whatever a request may wait for.
const RUNS: [&[&str]; 10] = [
    &[],
    &[OPEN, TRIMS, SIZES],
    &[OPEN, BUS, LINK, TRIMS],
    &[OPEN, FULL_LINK, TRIMS, SIZES],
    &[BUFFER, SIZES],
    &[OPEN, BUS, LINK, BUFFER, TRIMS, SIZES],
    &[BUS, "gc.scheme=\"fpgc\"", SUSPENDS],
    &[OPEN, BUS, "gc.scheme=\"pgc-pipeline\"", "device.registers=2", SIZES],
    &["device.allocation=\"when-idle\"", SIZES],
    &["device.allocation=\"dynamic\"", "gc.scheme=\"cost-benefit\"", TRIMS],
];

/// The report, the stories, and the row of each request in order of arrival.
fn run(sets: &[&str], choice: Choice) -> (Value, Vec<Story>, Vec<RequestRow>) {
    let (send, batches) = channel();
    let options = Options {
        stories: Some(choice),
        request_log: Some(Box::new(move |rows: &[RequestRow]| {
            send.send(rows.to_vec()).expect("the test listens");
        })),
        ..Options::default()
    };
    let mut session = Session::new(tiny_with(sets), None, options);
    while session.advance().unwrap_or_else(|error| panic!("{error}")).phase != Phase::Done {}
    let stories = session.stories().expect("stories").stories().to_vec();
    let mut rows: Vec<RequestRow> = batches.try_iter().flatten().collect();
    rows.sort_by_key(|row| row.request);
    (session.report().to_json(), stories, rows)
}

#[test]
fn the_slowest_are_those_of_the_log_and_nothing_changes() {
    for sets in RUNS {
        for op in [None, Some(HostOp::Read), Some(HostOp::Write)] {
            let (report, stories, mut rows) = run(sets, Choice::Slowest(7, op));
            let plain = common::run_tiny(sets);
            assert_eq!(at(&report, "result_hash"), at(&plain, "result_hash"), "{sets:?}");
            rows.retain(|row| op.map_or(row.op != HostOp::Trim, |op| row.op == op));
            rows.sort_by_key(|row| (u64::MAX - row.latency_ns(), row.request));
            let reported: Vec<RequestRow> = stories.iter().map(|story| story.row).collect();
            assert_eq!(reported, rows[..7], "{op:?} with {sets:?}");
        }
    }
}

#[test]
fn requests_by_number_are_reported_in_their_order() {
    let numbers = [900, 3, 0, 5_000_000];
    let (_, stories, rows) = run(&[OPEN, TRIMS], Choice::Numbers(BTreeSet::from(numbers)));
    let reported: Vec<RequestRow> = stories.iter().map(|story| story.row).collect();
    assert_eq!(reported, [rows[0], rows[3], rows[900]]);
}

/// The steps begin at the arrival or later, end with the request, and never go back in time.
#[test]
fn steps_go_from_arrival_to_end() {
    for sets in RUNS {
        let (_, stories, rows) = run(sets, Choice::Numbers((0..2000).collect()));
        assert_eq!(stories.len(), rows.len().min(2000), "{sets:?}");
        for story in &stories {
            let times: Vec<u64> = story.steps.iter().map(|&(at_ns, _)| at_ns).collect();
            assert!(times.is_sorted(), "{:?}", story.row);
            assert!(times.first().is_some_and(|&first| first >= story.row.arrival_ns));
            assert_eq!(times.last(), Some(&story.row.end_ns), "{:?}", story.row);
            let is_end = |&&(_, step): &&(u64, Step)| matches!(step, Step::Done | Step::Crossed);
            assert!(story.steps.last().iter().all(is_end), "{:?}", story.row);
            assert!(story.work.iter().all(|work| work.to_ns > story.row.arrival_ns));
        }
    }
}

/// The waits of an operation in queues, from when until when, in ns.
fn waits(story: &Story) -> Vec<(u64, u64)> {
    let (mut waits, mut queued) = (Vec::new(), None);
    for &(at_ns, step) in &story.steps {
        match step {
            Step::Queued(_) => queued = Some(at_ns),
            Step::Taken => waits.push((queued.take().expect("a queue"), at_ns)),
            _ => {}
        }
    }
    waits
}

/// Without a shared bus, and where nothing closes a plane, a wait in a queue is the work of the
/// unit meanwhile: by kind, to the nanosecond.
#[test]
fn the_work_meanwhile_is_the_wait() {
    let mut sums = [0; 3];
    for sets in [&["device.unit=\"channel\""][..], &["device.unit=\"channel\"", OPEN, SIZES]] {
        let (_, stories, _) = run(sets, Choice::Slowest(1000, None));
        for story in &stories {
            let waits = waits(story);
            let worked = |names: &[&str]| {
                let of = |work: &Work, &(from_ns, to_ns): &(u64, u64)| {
                    work.to_ns.min(to_ns).saturating_sub(work.from_ns.max(from_ns))
                };
                let work = story.work.iter().filter(|work| names.contains(&work.operation));
                work.map(|work| waits.iter().map(|wait| of(work, wait)).sum::<u64>()).sum::<u64>()
            };
            let worked =
                [worked(&["copy"]), worked(&["erase"]), worked(&["read", "program", "read-rest"])];
            let parts = story.row.parts.expect("parts");
            let part = |part: Part| parts[part as usize];
            // It may have waited for its page behind other requests before that.
            let host_ns = part(Part::Host).min(worked[2]);
            assert_eq!(worked, [part(Part::Copies), part(Part::Erase), host_ns], "{:?}", story.row);
            let whole_ns: u64 = waits.iter().map(|(from_ns, to_ns)| to_ns - from_ns).sum();
            let reported_ns = worked.iter().sum::<u64>() + part(Part::Space);
            assert_eq!(reported_ns, whole_ns, "{:?}", story.row);
            sums.iter_mut().zip(worked).for_each(|(sum, ns)| *sum += ns);
        }
    }
    assert!(sums.iter().all(|&ns| ns > 1_000_000), "{sums:?}: there is nothing to see");
}

/// Every operation of a collection has its collection, with the valid pages that it copies.
#[test]
fn the_collections_of_a_story_are_those_of_its_work() {
    let (_, stories, _) = run(&[], Choice::Slowest(200, None));
    let mut whole = 0;
    for story in &stories {
        for collection in &story.collections {
            let of = |name: &str| {
                let work = story.work.iter().filter(|work| {
                    work.collection == Some(collection.number) && work.operation == name
                });
                work.map(|work| work.pages).sum::<u32>()
            };
            let valid: u32 = collection.blocks.iter().map(|&(_, valid)| valid).sum();
            assert!(of("copy") <= valid, "{:?}", story.row);
            let is_whole = collection.selected_ns >= story.row.arrival_ns
                && collection.end_ns.is_some_and(|end_ns| end_ns <= story.row.end_ns);
            // Pages that the host rewrote meanwhile are not copied.
            whole += u32::from(is_whole && of("copy") == valid && valid > 0);
        }
        let known = |number| story.collections.iter().any(|one| one.number == number);
        assert!(story.work.iter().all(|work| work.collection.is_none_or(known)), "{:?}", story.row);
    }
    assert!(whole > 10, "{whole}");
}

/// A request may wait for any number of operations, and its story has a bounded number of them:
/// one stands for those in the middle, with their number and time.
#[test]
fn a_story_of_a_long_wait_is_bounded() {
    let sets = [
        "device.unit=\"channel\"",
        "workload.synthetic.interarrival={fixed=\"1 us\"}",
        "workload.synthetic.requests=9000",
        "workload.synthetic.read_share=0.0",
        "gc.scheme=\"random\"",
    ];
    let (_, stories, _) = run(&sets, Choice::Slowest(50, None));
    let mut whole = 0;
    for story in &stories {
        assert!(story.work.len() <= 8192 + 1, "{:?}", story.row);
        assert!(story.collections.len() <= 8192, "{:?}", story.row);
        let [(from_ns, to_ns)] = waits(story)[..] else { continue };
        let left_out = story.work.iter().find(|work| work.left_out.is_some());
        let Some(left_out) = left_out.filter(|work| work.from_ns >= from_ns) else { continue };
        let before = story.work.iter().take_while(|work| work.left_out.is_none()).count();
        assert!(left_out.to_ns <= to_ns && before > 0 && before <= 2048, "{:?}", story.row);
        let gc_ns = |work: &Work| match work.left_out {
            Some(left_out) => left_out.gc_ns,
            None if work.gc => work.to_ns.min(to_ns) - work.from_ns.max(from_ns),
            None => 0,
        };
        let parts = story.row.parts.expect("parts");
        let of_gc = parts[Part::Copies as usize] + parts[Part::Erase as usize];
        assert_eq!(story.work.iter().map(gc_ns).sum::<u64>(), of_gc, "{:?}", story.row);
        whole += 1;
    }
    assert!(whole > 10, "{whole} of {} stories leave operations out", stories.len());
}
