//! Requests whose times do not depend on the drive: an open loop.

use super::{DRIVES, drive_of, hash, run, sets, submit, with_parts};
use crate::common::Choices;
use flashgc::component::{Completion, Component, Options};
use flashgc::workload::{HostOp, HostRequest};

const COUNT: usize = 2_000;
/// Bytes that requests touch: less than the drive has.
const BYTES: usize = 6 << 20;

/// Reads, writes, trims and flushes of many sizes, in bursts and after pauses; several may come at
/// one instant.
pub fn random(seed: u64, count: usize) -> Vec<HostRequest> {
    let mut choices = Choices::new(seed);
    let mut at_ns = 0;
    let mut requests = Vec::new();
    for number in 0..count {
        at_ns += match choices.below(40) {
            _ if number == 0 => 0,
            0 => 30_000_000,
            1..=5 => 0,
            6..=9 => 1_000_000,
            _ => 150_000,
        };
        let bytes = 512 * (1 + choices.below(24) as u64);
        let offset = 512 * choices.below((BYTES - (1 << 14)) / 512) as u64;
        let op = match choices.below(100) {
            0..=29 => HostOp::Read,
            30..=93 => HostOp::Write,
            94..=97 => HostOp::Trim,
            _ => HostOp::Flush,
        };
        if op == HostOp::Flush {
            requests.push(HostRequest::flush(at_ns));
            continue;
        }
        let request = HostRequest::from_bytes(at_ns, op, offset, bytes, 4096);
        let is_write = op == HostOp::Write;
        let high = choices.below(20) == 0;
        let fua = is_write && choices.below(50) == 0;
        let hint = if is_write { choices.below(3) as u8 } else { 0 };
        requests.push(HostRequest { high, fua, hint, ..request });
    }
    requests
}

/// All requests are known before time advances, in one step.
fn at_once(drive: &mut Component, requests: &[HostRequest]) -> Vec<Completion> {
    (0..).zip(requests).for_each(|(tag, request)| submit(drive, request, tag));
    drive.drain().unwrap_or_else(|why| panic!("{why}")).to_vec()
}

/// Each request is submitted at its very instant, and time advances from event to event.
fn event_by_event(drive: &mut Component, requests: &[HostRequest]) -> Vec<Completion> {
    let mut done = Vec::new();
    for (tag, request) in (0..).zip(requests) {
        while let Some(next_ns) = drive.next_event().filter(|&at_ns| at_ns < request.at_ns) {
            done.extend_from_slice(drive.advance(next_ns).unwrap_or_else(|why| panic!("{why}")));
        }
        done.extend_from_slice(drive.advance(request.at_ns).unwrap_or_else(|why| panic!("{why}")));
        submit(drive, request, tag);
    }
    while let Some(next_ns) = drive.next_event() {
        done.extend_from_slice(drive.advance(next_ns).unwrap_or_else(|why| panic!("{why}")));
    }
    done
}

/// Time advances in steps of no meaning, each of them beyond the last request in the end.
fn in_steps(drive: &mut Component, requests: &[HostRequest]) -> Vec<Completion> {
    let (mut done, mut next, mut at_ns) = (Vec::new(), 0, 0);
    let mut choices = Choices::new(3);
    while next < requests.len() || drive.under_way() > 0 {
        let to_ns = at_ns + 1 + choices.below(700_000) as u64;
        // The requests of a step come in any order.
        let end = next + requests[next..].iter().take_while(|one| one.at_ns <= to_ns).count();
        let mut numbers: Vec<usize> = (next..end).collect();
        let (early, late): (Vec<_>, Vec<_>) =
            numbers.drain(..).partition(|&number| requests[number].at_ns * 2 < at_ns + to_ns);
        late.iter().chain(&early).for_each(|&at| submit(drive, &requests[at], at as u64));
        done.extend_from_slice(drive.advance(to_ns).unwrap_or_else(|why| panic!("{why}")));
        if choices.below(64) == 0 {
            drive.statistics().unwrap_or_else(|why| panic!("{why}"));
        }
        (next, at_ns) = (end, to_ns);
    }
    done.extend_from_slice(drive.advance(at_ns + 1_000_000_000).expect("time passes"));
    done
}

/// Time stops at each completion, and requests are submitted one pause before they come.
fn by_completions(drive: &mut Component, requests: &[HostRequest]) -> Vec<Completion> {
    let (mut done, mut next) = (Vec::new(), 0);
    loop {
        // Two requests are submitted in advance, so that some must be withdrawn.
        while next < requests.len() && drive.under_way() < 3 {
            let at_ns = requests[next].at_ns;
            if at_ns <= drive.now_ns() && next > 0 {
                return done;
            }
            submit(drive, &requests[next], next as u64);
            next += 1;
        }
        if drive.under_way() == 0 {
            return done;
        }
        done.extend_from_slice(drive.advance_to_completion(u64::MAX).expect("one is done"));
    }
}

type Way = fn(&mut Component, &[HostRequest]) -> Vec<Completion>;
const WAYS: [(&str, Way); 3] =
    [("at once", at_once), ("event by event", event_by_event), ("in steps", in_steps)];

#[test]
fn an_open_loop_gives_the_result_hash_of_a_run() {
    let (first, last) = (random(1, COUNT), random(2, COUNT / 4));
    for (number, drive) in DRIVES.into_iter().enumerate() {
        let sets = sets(&[drive]);
        let requests = if number % 3 == 2 { &last } else { &first };
        let expected = run(&sets, requests);
        for (at, (name, way)) in WAYS.into_iter().enumerate() {
            let options = if at == 1 { with_parts() } else { Options::default() };
            let mut drive = drive_of(&sets, options);
            let done = way(&mut drive, requests);
            assert_eq!(done.len(), requests.len(), "{name} {sets:?}");
            check(&done, requests, at == 1);
            let report = drive.finish().unwrap_or_else(|why| panic!("{why}")).to_json();
            assert_eq!(hash(&report), hash(&expected), "{name} {sets:?}");
        }
    }
}

/// Completions come in order of time, each request has one, and parts add up to its latency.
fn check(done: &[Completion], requests: &[HostRequest], has_parts: bool) {
    assert!(done.windows(2).all(|pair| pair[0].at_ns <= pair[1].at_ns));
    let mut tags: Vec<u64> = done.iter().map(|done| done.tag).collect();
    tags.sort_unstable();
    assert_eq!(tags, (0..requests.len() as u64).collect::<Vec<_>>());
    for done in done {
        let request = requests[done.tag as usize];
        assert_eq!((request.op, request.at_ns + done.latency_ns), (done.op, done.at_ns));
        assert_eq!(done.parts.is_some(), has_parts && done.op.has_parts());
        assert_eq!(done.parts.map_or(done.latency_ns, |parts| parts.iter().sum()), done.latency_ns);
        assert!(!done.is_refused);
    }
}

/// A drive that rests between requests as in a run has the same results whether the next requests
/// are submitted in advance or not.
#[test]
fn requests_that_are_known_in_advance_change_nothing_where_time_stops_at_completions() {
    let requests: Vec<HostRequest> = random(4, 300)
        .into_iter()
        .scan(0, |at_ns, request| {
            // Every completion lies between two arrivals.
            *at_ns += 40_000_000;
            Some(HostRequest { at_ns: *at_ns - 40_000_000, ..request })
        })
        .collect();
    for drive in DRIVES {
        let sets = sets(&[drive]);
        let expected = run(&sets, &requests);
        let mut drive = drive_of(&sets, Options::default());
        assert_eq!(by_completions(&mut drive, &requests).len(), requests.len(), "{sets:?}");
        let report = drive.finish().expect("a report").to_json();
        assert_eq!(hash(&report), hash(&expected), "{sets:?}");
    }
}
