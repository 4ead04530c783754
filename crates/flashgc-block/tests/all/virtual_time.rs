//! Time of a drive that is served without a clock: the engine's time.

use crate::common::drive;

/// A write takes its transfer and its program, a read its array time and its transfer.
#[test]
fn latencies_are_those_of_one_request_at_a_time() {
    let drive = drive(&["precondition.fill=\"none\""]);
    drive.write(&[1; 4096], 0, false).expect("a write");
    drive.read(&mut [0; 4096], 0).expect("a read");
    let report = drive.end().expect("a report").to_json();
    let (transfer, program, read) = (4096 * 5, 200_000, 25_000);
    assert_eq!(report["latency_ns"]["write"]["max"], transfer + program);
    assert_eq!(report["latency_ns"]["read"]["max"], read + transfer);
    assert_eq!(report["requests"]["write"], 1);
}
