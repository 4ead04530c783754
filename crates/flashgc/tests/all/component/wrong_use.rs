//! Wrong use returns an error with a message, and the drive remains usable.

use super::{TEXT, drive_of, sets, submit};
use crate::common::inputs;
use crate::component::requests::random;
use flashgc::component::{self, Component, Options, Submitted, Why, Wrong};
use flashgc::workload::HostOp;

fn is(wrong: &Wrong, why: Why, words: &[&str]) {
    assert_eq!(wrong.why, why, "{wrong}");
    assert!(wrong.text.starts_with("error: ") && wrong.text.contains("\n  = help: "), "{wrong}");
    words.iter().for_each(|word| assert!(wrong.text.contains(word), "{word}: {wrong}"));
}

#[test]
fn wrong_requests_and_times_are_refused_and_change_nothing() {
    let mut drive = drive_of(&sets(&[]), Options::default());
    drive.advance(1_000).expect("time passes without requests");
    let bytes = drive.bytes();
    let mut submit =
        |at_ns, op, offset, bytes| drive.submit(at_ns, op, offset, bytes, 1).expect_err("wrong");
    is(&submit(999, HostOp::Read, 0, 4096), Why::BeforeThePresent, &["999 ns", "1000 ns"]);
    is(&submit(u64::MAX, HostOp::Read, 0, 4096), Why::TooLate, &["days"]);
    is(&submit(1_000, HostOp::Write, bytes - 512, 1024), Why::BeyondTheEnd, &["1024 B"]);
    is(&submit(1_000, HostOp::Trim, u64::MAX, u64::MAX), Why::BeyondTheEnd, &["beyond the end"]);
    is(&submit(1_000, HostOp::Write, 0, 0), Why::NoBytes, &["write of 0 B"]);
    let flush = ["flush of 512 B at byte 0", "give 0 for both"];
    is(&submit(1_000, HostOp::Flush, 0, 512), Why::FlushOfBytes, &flush);
    is(&submit(1_000, HostOp::Flush, 512, 0), Why::FlushOfBytes, &["flush of 0 B at byte 512"]);
    is(&drive.advance(10).expect_err("wrong"), Why::BeforeThePresent, &["time runs backwards"]);
    is(&drive.advance(u64::MAX).expect_err("wrong"), Why::TooLate, &["latest instant"]);
    let nothing = drive.advance_to_completion(u64::MAX).expect_err("wrong");
    is(&nothing, Why::NothingUnderWay, &["submit one"]);
    assert_eq!((drive.next_event(), drive.under_way(), drive.now_ns()), (None, 0, 1_000));
    assert_eq!(drive.finish().expect("a report").to_json()["requests"]["write"], 0);
}

#[test]
fn a_full_drive_takes_requests_again_after_a_completion() {
    let mut drive = drive_of(&sets(&[]), Options { depth: Some(2), ..Options::default() });
    let submit = |drive: &mut Component, at_ns| {
        drive.submit(at_ns, HostOp::Write, 0, 4096, 1).expect("it is no error")
    };
    assert_eq!(
        [0, 0, 0].map(|at_ns| submit(&mut drive, at_ns)),
        [Submitted::Accepted, Submitted::Accepted, Submitted::Full]
    );
    assert_eq!(drive.advance_to_completion(u64::MAX).expect("one is done").len(), 1);
    let now_ns = drive.now_ns();
    assert_eq!(
        [now_ns, now_ns].map(|at_ns| submit(&mut drive, at_ns)),
        [Submitted::Accepted, Submitted::Full]
    );
}

#[test]
fn configurations_that_cannot_be_live_are_refused() {
    for (set, word) in [
        ("engine.timing=\"none\"", "engine.timing"),
        ("gc.placement.use=\"oracle\"", "gc.placement.use"),
        ("workload.trace.queue_depth=4", "queue_depth"),
        ("workload.trace.loops=2", "loops"),
        ("workload.trace.time_scale=2.0", "time_scale"),
        ("precondition.fill=\"trace\"", "precondition.fill"),
        ("device.write_completion=\"loaded\"", "write_completion"),
    ] {
        let roomy = "gc.trigger.watermark.soft=\"13 blocks\"";
        let wrong = component::setup(inputs(
            TEXT,
            &[set, roomy, "device.blocks_per_plane=48", "device.exported=0.4"],
        ))
        .expect_err("it cannot be live");
        is(&wrong, Why::NotLive, &[word, "requests from outside"]);
    }
    let wrong = component::setup(inputs(TEXT, &["device.channels=0"])).expect_err("it is wrong");
    assert_eq!(wrong.why, Why::Configuration);
    assert!(wrong.text.contains("device.channels"), "{wrong}");
}

/// A request may come at the latest instant, and would be done after it.
#[test]
fn a_request_that_ends_after_the_latest_instant_is_not_left_out() {
    let mut drive = drive_of(&[], Options::default());
    let late = drive.advance(u64::MAX).expect_err("it is too late").text;
    let latest = late.split("this drive is ").nth(1).and_then(|text| text.split(' ').next());
    let latest_ns = latest.and_then(|text| text.parse().ok()).expect("its number");
    drive.submit(latest_ns, HostOp::Read, 0, 512, 1).expect("it may come");
    is(&drive.drain().expect_err("it is not done"), Why::Stopped, &["the run exceeds"]);
}

/// The drive is full: an error of the engine ends it, and a snapshot restores it.
#[test]
fn a_drive_that_has_stopped_says_why() {
    let full = ["device.exported=0.97", "device.blocks_per_plane=8", "gc.scheme=\"greedy\""];
    let Ok(setup) = component::setup(inputs(TEXT, &full)) else { return };
    let Ok(mut drive) = Component::new(setup, Options::default()) else { return };
    let snapshot = drive.snapshot().expect("a snapshot");
    for (tag, request) in (0..).zip(&random(9, 2_000)) {
        if request.offset_bytes + request.bytes <= drive.bytes() {
            submit(&mut drive, request, tag);
        }
    }
    if let Err(first) = drive.drain().map(<[_]>::len) {
        let again =
            drive.submit(u64::MAX / 4, HostOp::Read, 0, 512, 1).expect_err("it has stopped");
        assert_eq!((again.why, &again.text), (Why::Stopped, &first.text));
        drive.restore(&snapshot).expect("it goes back");
        drive.advance(1).expect("it runs");
    }
}

/// Once too many blocks are bad, writes that were submitted before come back refused, and reads are
/// served on.
#[test]
fn a_drive_that_becomes_read_only_refuses_writes_as_they_come() {
    let failing = ["device.failures={ program = 1e-3, erase = 0.1 }"];
    for by_completions in [false, true] {
        let mut drive = drive_of(&sets(&[&failing]), Options::default());
        let requests = random(11, 9_000);
        let left = (0..).zip(&requests).filter(|(_, request)| request.op != HostOp::Flush);
        let count = left.map(|(tag, request)| submit(&mut drive, request, tag)).count();
        let mut done = Vec::new();
        while drive.under_way() > 0 {
            let some = match by_completions {
                false => drive.drain(),
                true => drive.advance_to_completion(u64::MAX),
            };
            done.extend_from_slice(some.unwrap_or_else(|why| panic!("{why}")));
        }
        assert!(drive.is_read_only());
        assert_eq!(done.len(), count);
        let first = done.iter().position(|done| done.is_refused).expect("one is refused");
        let writes = |done: &component::Completion| matches!(done.op, HostOp::Write | HostOp::Trim);
        assert!(done[first..].iter().filter(|done| writes(done)).any(|done| done.is_refused));
        assert!(done[first..].iter().any(|done| done.op == HostOp::Read && !done.is_refused));
        let now_ns = drive.now_ns();
        let wrong = drive.submit(now_ns, HostOp::Write, 0, 4096, 1).expect_err("it is read-only");
        is(&wrong, Why::ReadOnly, &["a write, and the drive is read-only"]);
    }
}

#[test]
fn components_may_go_to_other_threads() {
    fn is_send<T: Send>() {}
    is_send::<Component>();
    is_send::<component::Snapshot>();
}
