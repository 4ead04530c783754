//! The cost of a component against a run of the same requests, in pairs:
//! `cargo run --release -p flashgc-c --example cost -- [ROUNDS] [REQUESTS] [key=value ...]`.
//!
//! Prints the median of each way and of the ratio to the run next to it, preconditioning left out.
#![allow(clippy::print_stdout)]

use flashgc::component::{self, Component, Submitted};
use flashgc::session::{self, Inputs, Phase, Session, TraceOpener, prepare};
use flashgc::workload::{HostOp, HostRequest};
use flashgc_c::*;
use flashgc_trace::{Format, writer_with};
use std::ffi::CString;
use std::io::{self, Cursor, Read, Write};
use std::ptr::null;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Requests of a batch.
const BATCH: usize = 1024;

#[derive(Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Trace(Vec<u8>);

impl TraceOpener for Trace {
    fn name(&self) -> String {
        "requests.fgt".into()
    }

    fn open(&mut self) -> Result<Box<dyn Read + Send>, String> {
        Ok(Box::new(Cursor::new(self.0.clone())))
    }
}

/// The device, the settings, and the requests.
struct Work {
    sets: Vec<String>,
    requests: Vec<HostRequest>,
    trace: Vec<u8>,
}

impl Work {
    fn new(count: usize, sets: Vec<String>) -> Work {
        let mut own: Vec<String> =
            ["precondition.overwrite=1", "precondition.overwrite_with=\"uniform\""]
                .map(String::from)
                .into();
        own.extend(sets);
        let setup = component::setup(Work::inputs(&own)).expect("a configuration");
        let geometry = &setup.plan.geometry;
        let page_bytes = u64::from(geometry.shape.page_bytes);
        let pages = u64::from(geometry.exported_pages);
        let mut state = 1_u64;
        let mut random = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 33
        };
        let one = |number: usize| {
            let op = if random() % 10 < 3 { HostOp::Read } else { HostOp::Write };
            let (at_ns, offset) = (number as u64 * 100_000, random() % pages * page_bytes);
            HostRequest::from_bytes(at_ns, op, offset, page_bytes, page_bytes)
        };
        let requests: Vec<HostRequest> = (0..count).map(one).collect();
        let file = Bytes::default();
        let mut writer =
            writer_with(&Format::Fgt, "cost", Box::new(file.clone())).expect("a trace");
        for (line, request) in (1..).zip(&requests) {
            writer.push(&request.record(line)).expect("a row");
        }
        writer.finish().expect("the trace ends");
        let trace = std::mem::take(&mut *file.0.lock().expect("no panic"));
        Work { sets: own, requests, trace }
    }

    fn inputs(sets: &[String]) -> Inputs {
        Inputs { device: Some(("slc-msr".into(), None)), sets: sets.to_vec(), ..Inputs::default() }
    }

    /// Seconds of a run, and its result hash.
    fn run(&self, blame: bool) -> (f64, String) {
        let mut sets = self.sets.clone();
        sets.push("workload.trace.address=\"reject\"".into());
        let inputs = Inputs { has_trace: true, ..Work::inputs(&sets) };
        let setup = prepare(&inputs).expect("a configuration");
        let options = session::Options { blame, ..session::Options::default() };
        let opener = Some(Box::new(Trace(self.trace.clone())) as Box<dyn TraceOpener>);
        let mut session = Session::new(setup, opener, options);
        while session.advance().expect("it goes on").phase != Phase::Ready {}
        let begun = spent();
        while session.advance().expect("it goes on").phase != Phase::Done {}
        let seconds = (spent() - begun).as_secs_f64();
        (seconds, session.report().result_hash().to_string())
    }

    fn component(&self, blame: bool) -> Component {
        let session = session::Options { blame, ..session::Options::default() };
        let options = component::Options { session, ..component::Options::default() };
        let setup = component::setup(Work::inputs(&self.sets)).expect("a configuration");
        Component::new(setup, options).expect("a component")
    }

    /// Seconds of a component in Rust, in batches.
    fn rust(&self, blame: bool) -> (f64, String) {
        let mut drive = self.component(blame);
        let begun = spent();
        let mut done = 0;
        for batch in self.requests.chunks(BATCH) {
            for (tag, one) in (0..).zip(batch) {
                let submitted = drive.submit(one.at_ns, one.op, one.offset_bytes, one.bytes, tag);
                assert_eq!(submitted.expect("it is right"), Submitted::Accepted);
            }
            done += drive.advance(batch[batch.len() - 1].at_ns).expect("time passes").len();
        }
        done += drive.drain().expect("the end").len();
        let seconds = (spent() - begun).as_secs_f64();
        assert_eq!(done, self.requests.len());
        (seconds, drive.finish().expect("a report").result_hash().to_string())
    }

    /// Seconds of a component in C, in batches or one by one.
    fn c(&self, blame: bool, is_single: bool) -> (f64, String) {
        let mut texts: Vec<CString> =
            self.sets.iter().map(|set| CString::new(set.as_str()).expect("text")).collect();
        let sets: Vec<_> = texts.iter().map(|text| text.as_ptr()).collect();
        texts.push(CString::new("slc-msr").expect("text"));
        let options = flashgc_options {
            size: size_of::<flashgc_options>(),
            config: null(),
            name: null(),
            device: texts[texts.len() - 1].as_ptr(),
            scheme: null(),
            sets: sets.as_ptr(),
            set_count: sets.len(),
            drive: null(),
            depth: 0,
            parts: u32::from(blame),
            verify: 0,
        };
        let requests: Vec<flashgc_request> = (0..)
            .zip(&self.requests)
            .map(|(tag, one)| flashgc_request {
                at_ns: one.at_ns,
                offset: one.offset_bytes,
                bytes: one.bytes,
                tag,
                op: one.op as u32,
                marks: 0,
                hint: 0,
                tenant: 0,
            })
            .collect();
        let mut drive = flashgc_component { id: 0 };
        let (mut done, mut count, mut all, mut accepted) = (null(), 0, 0, 0);
        // SAFETY: the options live, and every pointer can be written.
        let seconds = unsafe {
            assert_eq!(
                flashgc_open(&raw const options, &raw mut drive),
                flashgc_status::FLASHGC_OK
            );
            let begun = spent();
            for batch in requests.chunks(BATCH) {
                if is_single {
                    for one in batch {
                        flashgc_submit(drive, one.at_ns, one.op, one.offset, one.bytes, one.tag);
                    }
                } else {
                    flashgc_submit_all(drive, batch.as_ptr(), batch.len(), &raw mut accepted);
                }
                let to_ns = batch[batch.len() - 1].at_ns;
                flashgc_advance(drive, to_ns, &raw mut done, &raw mut count);
                all += count;
            }
            flashgc_drain(drive, &raw mut done, &raw mut count);
            (spent() - begun).as_secs_f64()
        };
        assert_eq!(all + count, requests.len());
        let mut json = null();
        // SAFETY: the pointer can be written, and the report is a C string.
        let report = unsafe {
            flashgc_finish(drive, &raw mut json);
            std::ffi::CStr::from_ptr(json).to_string_lossy().into_owned()
        };
        flashgc_close(drive);
        let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
        (seconds, report["result_hash"].as_str().expect("a hash").to_string())
    }
}

/// The processor's time of this thread: a machine may be shared.
fn spent() -> Duration {
    let mut at = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it can be written.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut at) };
    Duration::new(at.tv_sec as u64, at.tv_nsec as u32)
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number =
        |or: usize| arguments.next().map_or(or, |text| text.parse().expect("a number"));
    let (rounds, count) = (number(7), number(300_000));
    let work = Work::new(count, arguments.collect());
    for blame in [false, true] {
        type Way<'a> = (&'a str, Box<dyn Fn() -> (f64, String) + 'a>);
        let ways: [Way<'_>; 3] = [
            ("Rust", Box::new(|| work.rust(blame))),
            ("C, in batches", Box::new(|| work.c(blame, false))),
            ("C, one by one", Box::new(|| work.c(blame, true))),
        ];
        let (mut runs, mut own) = (Vec::new(), vec![(Vec::new(), Vec::new()); ways.len()]);
        for _ in 0..rounds {
            for (at, (_, way)) in ways.iter().enumerate() {
                let (seconds, expected) = work.run(blame);
                let (taken, hash) = way();
                assert_eq!(hash, expected, "the same result");
                runs.push(seconds);
                own[at].0.push(taken);
                own[at].1.push(taken / seconds);
            }
        }
        let each_ns = |seconds: f64| seconds * 1e9 / count as f64;
        println!("parts: {blame}; a run takes {:.0} ns a request", each_ns(median(runs)));
        for ((name, _), (taken, ratios)) in ways.iter().zip(own) {
            println!("  {name}: {:.0} ns, {:.3} times", each_ns(median(taken)), median(ratios));
        }
    }
}
