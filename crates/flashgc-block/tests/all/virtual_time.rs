//! Time of a drive that is served without a clock: that of the engine.

use crate::common::{Choices, drive, opening, setup_or_none};
use flashgc::session::{Options, Phase, Session, TraceOpener};
use flashgc::verify::{Happened, Listener};
use flashgc::workload::HostOp;
use flashgc_block::Drive;
use std::io::{Cursor, Read};
use std::sync::{Arc, Mutex};

/// A trace in memory.
struct Rows(String);

impl TraceOpener for Rows {
    fn name(&self) -> String {
        "rows.csv".into()
    }

    fn open(&mut self) -> Result<Box<dyn Read + Send>, String> {
        Ok(Box::new(Cursor::new(self.0.clone().into_bytes())))
    }
}

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

/// Random requests, and the rows of a trace that has the same at the same times.
fn served(sets: &[&str]) -> (String, String) {
    let rows = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&rows);
    let through = |mut listener: Listener| -> Listener {
        let mut extent = (0, 0);
        Box::new(move |now_ns, happened| {
            let mut rows = kept.lock().expect("rows");
            match happened {
                Happened::Arrived { offset_bytes, size_bytes, .. } => {
                    extent = (offset_bytes, size_bytes);
                    rows.push(String::new());
                }
                Happened::Accepted { kind, .. } => {
                    let op = ["R", "W", "T"][kind as usize];
                    *rows.last_mut().expect("a row") =
                        format!("{now_ns},{op},{},{}\n", extent.0, extent.1);
                }
                _ => {}
            }
            listener(now_ns, happened);
        })
    };
    let drive = Drive::open_through(opening(sets), |_| true, through).expect("the drive opens");
    let mut choices = Choices::new(11);
    let pages = drive.bytes() / 4096;
    for _ in 0..4_000 {
        let offset = choices.below(pages - 4) * 4096;
        let mut data = vec![3; (1 + choices.below(3)) as usize * 4096];
        match [HostOp::Read, HostOp::Write, HostOp::Trim][choices.below(9) as usize / 4] {
            HostOp::Read => drive.read(&mut data, offset),
            HostOp::Write => drive.write(&data, offset, false),
            _ => drive.trim(data.len() as u64, offset),
        }
        .expect("a request");
    }
    let hash = drive.end().expect("a report").result_hash().to_string();
    let rows = rows.lock().expect("rows").concat();
    (hash, rows)
}

/// The same requests from a trace, at the same times, give the same result: a served drive is no
/// other drive.
#[test]
fn a_served_drive_is_the_drive_of_a_run() {
    for scheme in ["greedy", "pgc", "fpgc", "gsm", "pregc-gftl", "idle"] {
        let scheme = format!("gc.scheme=\"{scheme}\"");
        for device in ["device.unit=\"plane\"", "device.write_buffer.size=\"64 KiB\""] {
            let format = "workload.trace.format=\"csv:time:ns, op, offset, size\"";
            let sets = [scheme.as_str(), device, format];
            let Some(setup) = setup_or_none(&sets) else { continue };
            let (hash, rows) = served(&sets);
            let mut session = Session::new(setup, Some(Box::new(Rows(rows))), Options::default());
            while session.advance().expect("a run").phase != Phase::Done {}
            let report = session.report();
            assert_eq!(report.result_hash(), hash, "{sets:?}");
            assert!(report.to_json()["gc"]["count"].as_u64() > Some(10), "{sets:?}");
        }
    }
}
