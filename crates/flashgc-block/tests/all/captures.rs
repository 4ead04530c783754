//! Captured requests: as a trace they give the result of the drive that was served.

use crate::common::{Choices, SLOTS, agree, opening_of, setup_or_none};
use flashgc::session::{Options, Phase, Session, TraceOpener};
use flashgc_block::{Capture, Drive, Opening, Time};
use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A trace in memory.
struct Trace(Vec<u8>);

impl TraceOpener for Trace {
    fn name(&self) -> String {
        "capture.fgt".into()
    }

    fn open(&mut self) -> Result<Box<dyn Read + Send>, String> {
        Ok(Box::new(Cursor::new(self.0.clone())))
    }
}

/// A new folder for the captures of a test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("flashgc-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Serves a drive, and runs the captured trace. Both results, and the number of collections.
fn twice(
    sets: &[&str],
    time: Time,
    folder: &Path,
    serve: impl FnOnce(&Drive),
) -> Option<([String; 2], u64)> {
    let path = folder.join("capture.fgt");
    let capture = Some(Capture::new(&path).expect("a file"));
    let opening = Opening { time, capture, ..opening_of(setup_or_none(sets)?) };
    let drive = Drive::open(opening, |_| true).expect("the drive opens");
    serve(&drive);
    assert!(!path.exists(), "half of a trace has a temporary name");
    let served = drive.end().expect("a report");
    assert!(served.to_json()["notes"].to_string().contains("requests are in"));
    let trace = Trace(fs::read(&path).expect("a trace"));
    fs::remove_file(&path).expect("the trace");
    let setup = setup_or_none(sets)?;
    let mut session = Session::new(setup, Some(Box::new(trace)), Options::default());
    while session.advance().expect("a run").phase != Phase::Done {}
    let run = session.report();
    let count = run.to_json()["gc"]["count"].as_u64()?;
    Some(([served, run].map(|report| report.result_hash().to_string()), count))
}

/// Settings of the devices. The last one has [`SLOTS`] as well.
const DEVICES: &[&[&str]] = &[
    &["device.unit=\"plane\""],
    &["device.write_buffer.size=\"64 KiB\""],
    &["device.write_buffer={ size = \"64 KiB\", power_loss_protection = false }"],
    &["device.write_buffer={ size = \"256 KiB\", power_loss_protection = false }"],
];
const SCHEMES: &[&str] = &["greedy", "pgc", "fpgc", "gsm", "pregc-gftl", "idle"];

/// The settings of a device under a scheme.
fn sets_of(scheme: &str, device: usize) -> Vec<&str> {
    let slots = if device + 1 < DEVICES.len() { &[][..] } else { SLOTS };
    [&[scheme], slots, DEVICES[device]].concat()
}

/// Trims, flushes, forced writes and unaligned requests are kept as they came.
#[test]
fn a_served_drive_is_the_drive_of_a_run() {
    let folder = folder("at-once");
    let mut of_devices = vec![0; DEVICES.len()];
    for scheme in SCHEMES {
        let scheme = format!("gc.scheme=\"{scheme}\"");
        for (device, collections) in of_devices.iter_mut().enumerate() {
            let sets = sets_of(&scheme, device);
            let serve = |drive: &Drive| agree(drive, 11, 2_500).expect("the same data");
            let Some((hashes, count)) = twice(&sets, Time::Off, &folder, serve) else { continue };
            assert_eq!(hashes[0], hashes[1], "{sets:?}");
            *collections += count;
        }
    }
    assert!(of_devices.iter().all(|&count| count > 100), "{of_devices:?}");
    fs::remove_dir_all(folder).expect("the folder");
}

/// In real time clients wait for each other, and the drive works while it is idle, at the end too.
#[test]
fn a_drive_in_real_time_is_the_drive_of_a_run() {
    let folder = folder("real");
    for scheme in SCHEMES {
        let scheme = format!("gc.scheme=\"{scheme}\"");
        for device in 0..DEVICES.len() {
            let sets = sets_of(&scheme, device);
            let time = Time::Real { slowed: 1.0 };
            let Some((hashes, _)) = twice(&sets, time, &folder, side_by_side) else { continue };
            assert_eq!(hashes[0], hashes[1], "{sets:?}");
        }
    }
    fs::remove_dir_all(folder).expect("the folder");
}

/// Four clients, with pauses.
fn side_by_side(drive: &Drive) {
    std::thread::scope(|scope| {
        for seed in 0..4 {
            scope.spawn(move || {
                let mut choices = Choices::new(seed);
                let mut data = vec![seed as u8; 8192];
                for _ in 0..80 {
                    let offset = choices.below((drive.bytes() - 8192) / 512) * 512;
                    match choices.below(8) {
                        0..5 => drive.write(&data, offset, choices.below(4) == 0),
                        5 => drive.read(&mut data, offset),
                        6 => drive.trim(8192, offset),
                        _ => drive.flush(),
                    }
                    .expect("a request");
                    if choices.below(20) == 0 {
                        std::thread::sleep(Duration::from_millis(2));
                    }
                }
            });
        }
    });
    std::thread::sleep(Duration::from_millis(5));
}
