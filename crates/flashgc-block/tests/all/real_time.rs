//! A drive on the clock of the machine: no request is done before the time of the model, and
//! requests that the model serves in parallel take their time in parallel.

use crate::common::{agree, opening};
use flashgc_block::{Drive, Opening, Time};
use std::time::{Duration, Instant};

const TRANSFER: Duration = Duration::from_nanos(4096 * 5);
const PROGRAM: Duration = Duration::from_micros(200);
const READ: Duration = Duration::from_micros(25);

fn drive(slowed: f64, sets: &[&str]) -> Drive {
    let opening = Opening { time: Time::Real { slowed }, ..opening(sets) };
    Drive::open(opening, |_| true).expect("the drive opens")
}

fn took(act: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    act();
    begun.elapsed()
}

#[test]
fn a_request_takes_the_time_of_the_model() {
    for slowed in [1.0, 50.0] {
        let drive = drive(slowed, &["precondition.fill=\"none\""]);
        let write = took(|| drive.write(&[1; 4096], 0, false).expect("a write"));
        let read = took(|| drive.read(&mut [0; 4096], 0).expect("a read"));
        assert!(write >= (TRANSFER + PROGRAM).mul_f64(slowed), "{slowed}: {write:?}");
        assert!(read >= (READ + TRANSFER).mul_f64(slowed), "{slowed}: {read:?}");
        let report = drive.end().expect("a report").to_json();
        let due = (TRANSFER + PROGRAM).as_nanos() as u64;
        assert_eq!(report["latency_ns"]["write"]["max"], due);
        let notes = report["notes"].to_string();
        assert!(notes.contains("after the model's time"), "{notes}");
        assert_eq!(notes.contains("times slower"), slowed > 1.0, "{notes}");
    }
}

/// Eight clients write to eight planes, of which two share a bus in each channel. The model's times
/// are exact, whatever the machine does: no write takes longer than all transfers and a program.
#[test]
fn clients_are_served_side_by_side() {
    let slowed = 400.0;
    let drive = drive(slowed, &["precondition.fill=\"none\""]);
    let all = took(|| {
        std::thread::scope(|scope| {
            for at in 0..8_u64 {
                let drive = &drive;
                scope.spawn(move || {
                    drive.write(&[at as u8; 4096], at * 4096, false).expect("a write");
                });
            }
        });
    });
    let one_after_the_other = (TRANSFER + PROGRAM).mul_f64(8.0 * slowed);
    assert!(all < one_after_the_other, "{all:?}");
    let report = drive.end().expect("a report").to_json();
    assert_eq!(report["requests"]["write"], 8);
    let most = (8 * TRANSFER + PROGRAM).as_nanos() as u64;
    assert!(report["latency_ns"]["write"]["max"].as_u64() <= Some(most), "{report}");
}

#[test]
fn the_data_is_that_of_every_other_drive() {
    for sets in [&[][..], &["gc.scheme=\"pgc\""], &["device.write_buffer.size=\"64 KiB\""]] {
        let drive = drive(1.0, sets);
        agree(&drive, 4, 400).expect("the same");
        drive.end().expect("a report");
    }
}

/// Clients on different parts of the drive, all at once, while it collects.
#[test]
fn clients_side_by_side_find_their_own_data() {
    let drive = drive(1.0, &["gc.scheme=\"fpgc\"", "device.unit=\"die\""]);
    let part = drive.bytes() / 8;
    std::thread::scope(|scope| {
        for at in 0..8_u64 {
            let drive = &drive;
            scope.spawn(move || {
                for round in 0..60_u64 {
                    let offset = at * part + round * 7 % 13 * 4096;
                    let mut found = [0; 4096];
                    let data = [(at * 31 + round + 1) as u8; 4096];
                    drive.write(&data, offset, false).expect("a write");
                    drive.read(&mut found, offset).expect("a read");
                    assert!(found == data, "client {at}, round {round}");
                }
            });
        }
    });
    let report = drive.end().expect("a report").to_json();
    assert_eq!(report["requests"]["read"], 8 * 60);
}
