//! Requests that go through the interface have the results of a run.

use crate::{Given, Random, error, text};
use flashgc::session::{Inputs, Options, Phase, Session, TraceOpener, prepare};
use flashgc_c::*;
use std::fmt::Write;
use std::io::{Cursor, Read};
use std::ptr::null;

struct Trace(String);

impl TraceOpener for Trace {
    fn name(&self) -> String {
        "requests.csv".into()
    }

    fn open(&mut self) -> Result<Box<dyn Read + Send>, String> {
        Ok(Box::new(Cursor::new(self.0.clone().into_bytes())))
    }
}

pub fn requests(seed: u64, count: u64) -> Vec<flashgc_request> {
    let mut random = Random(seed);
    let mut at_ns = 0;
    let one = |tag| {
        at_ns += if tag == 0 { 0 } else { [0, 1_000, 60_000, 200_000][random.below(4) as usize] };
        flashgc_request {
            at_ns,
            offset: 512 * random.below(100_000),
            bytes: 512 * (1 + random.below(16)),
            tag,
            op: random.below(2) as u32,
            marks: 0,
            hint: 0,
            tenant: 0,
        }
    };
    (0..count).map(one).collect()
}

/// The result hash of a run of the same requests, as a trace of MSR's form.
fn run(scheme: &str, sets: &[&str], requests: &[flashgc_request]) -> String {
    let mut trace = String::new();
    for one in requests {
        let (ticks, op) =
            (128_166_372_000_000_000 + one.at_ns / 100, ["Read", "Write"][one.op as usize]);
        writeln!(trace, "{ticks},usr,0,{op},{},{},0", one.offset, one.bytes).expect("text");
    }
    let own = ["device.blocks_per_plane=64", "precondition.overwrite=1"];
    let more = ["precondition.overwrite_with=\"uniform\"", "workload.trace.address=\"reject\""];
    let inputs = Inputs {
        device: Some(("slc-msr".into(), None)),
        scheme: Some((scheme.into(), None)),
        sets: own.iter().chain(sets).chain(&more).map(|set| set.to_string()).collect(),
        has_trace: true,
        ..Inputs::default()
    };
    let setup = prepare(&inputs).unwrap_or_else(|errors| panic!("{errors}"));
    let mut session = Session::new(setup, Some(Box::new(Trace(trace))), Options::default());
    while session.advance().expect("a run").phase != Phase::Done {}
    session.report().result_hash().to_string()
}

fn ok(status: flashgc_status) {
    assert_eq!(status, flashgc_status::FLASHGC_OK, "{}", error());
}

#[test]
fn the_result_is_that_of_a_run() {
    let buffer: &[&str] = &["device.write_buffer.size=\"128 KiB\""];
    for (scheme, sets) in [("greedy", &[][..]), ("pgc", &[]), ("idle", &[]), ("fifo", buffer)] {
        let requests = requests(3, 3_000);
        let component = Given::new(scheme, sets).open();
        let (half, mut accepted) = (requests.len() / 2, 0);
        let (mut done, mut count, mut snapshot) = (null(), 0, flashgc_snapshot { id: 0 });
        let mut json = null();
        // SAFETY: every pointer is that of a value that can be written, or of as many requests.
        unsafe {
            ok(flashgc_submit_all(component, requests.as_ptr(), requests.len(), &raw mut accepted));
            assert_eq!(accepted, requests.len());
            let to_ns = requests[half].at_ns;
            ok(flashgc_advance(component, to_ns, &raw mut done, &raw mut count));
            let done = std::slice::from_raw_parts(done, count);
            assert!(count > 0 && done.iter().all(|done| done.at_ns <= to_ns));
            let sums = done.iter().map(|done| done.parts_ns.iter().sum::<u64>());
            assert!(sums.eq(done.iter().map(|done| done.latency_ns)));
        }
        // SAFETY: as above.
        unsafe {
            ok(flashgc_take_snapshot(component, &raw mut snapshot));
            ok(flashgc_drain(component, &raw mut done, &raw mut count));
            ok(flashgc_restore(component, snapshot));
            ok(flashgc_close_snapshot(snapshot));
            ok(flashgc_drain(component, &raw mut done, &raw mut count));
            ok(flashgc_finish(component, &raw mut json));
        }
        assert_eq!(text(component, "result_hash"), run(scheme, sets, &requests), "{scheme}");
        ok(flashgc_close(component));
    }
}
