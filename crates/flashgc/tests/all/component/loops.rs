//! Closed loops that are driven from outside.

use super::{DRIVES, drive_of, hash, run, sets, submit};
use crate::component::requests::random;
use flashgc::component::Options;
use flashgc::workload::HostRequest;

/// Keeps this many requests under way: the end of one is answered with the next one at once.
fn closed(sets: &[&str], requests: &[HostRequest], depth: usize) -> String {
    let mut drive = drive_of(sets, Options::default());
    let mut left = (0..).zip(requests);
    for (tag, request) in left.by_ref().take(depth) {
        submit(&mut drive, &HostRequest { at_ns: 0, ..*request }, tag);
    }
    while drive.under_way() > 0 {
        let done = drive.advance_to_completion(u64::MAX).unwrap_or_else(|why| panic!("{why}"));
        let (count, at_ns) = (done.len(), drive.now_ns());
        for (tag, request) in left.by_ref().take(count) {
            submit(&mut drive, &HostRequest { at_ns, ..*request }, tag);
        }
    }
    let report = drive.finish().unwrap_or_else(|why| panic!("{why}"));
    report.result_hash().to_string()
}

#[test]
fn a_closed_loop_from_outside_gives_the_result_hash_of_a_queue_depth() {
    let requests = random(5, 1_500);
    for (number, drive) in DRIVES.into_iter().enumerate() {
        let depth = [1, 2, 8, 33][number % 4];
        let depth_key = format!("workload.trace.queue_depth={depth}");
        let own = sets(&[drive]);
        let expected = run(&sets(&[drive, &[&depth_key]]), &requests);
        assert_eq!(closed(&own, &requests, depth), hash(&expected), "depth {depth} {own:?}");
    }
}
