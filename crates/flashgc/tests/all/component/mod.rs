//! A component on another's clock has the results of a run with the same requests.

mod loops;
mod requests;
mod snapshots;
mod tenants;
mod wrong_use;

use crate::common::{MemoryTrace, TINY_DRIVE, finish_with, inputs};
use flashgc::component::{self, Component, Marks, Options, Request, Submitted};
use flashgc::session::{self, prepare};
use flashgc::workload::HostRequest;
use flashgc_trace::{Format, writer_with};
use serde_json::Value;
use std::io::{self, Write};
use std::sync::{Arc, Mutex};

/// The drives on which results are compared: presets of schemes, slots, and parts of devices.
pub(super) const DRIVES: [&[&str]; 25] = [
    &[],
    &["gc.scheme=\"pgc\""],
    &["gc.scheme=\"fpgc\"", "device.suspend.suspend=\"20 us\""],
    &["gc.scheme=\"pgc-pipeline\"", "device.registers=2", "device.timing.transfer=\"25 ns/B\""],
    &["gc.scheme=\"idle\""],
    &["gc.scheme=\"idle-pgc\"", "device.write_buffer.size=\"64 KiB\""],
    &["gc.scheme=\"pregc\""],
    &["gc.scheme=\"cost-benefit\"", "device.allocation=\"dynamic\""],
    &["gc.scheme=\"parallel\"", "device.registers=2"],
    &["gc.scheme=\"tokens\""],
    &["gc.victim.use=\"random\"", "gc.copy.use=\"bus\"", "device.timing.transfer=\"5 ns/B\""],
    &["gc.victim.use=\"d-choices\"", "gc.blocking.use=\"channel\""],
    &["gc.placement.use=\"separate-gc\"", "gc.victim.use=\"fifo\""],
    &["gc.placement.use=\"sepbit\"", "gc.trigger.watermark.soft=\"13 blocks\""],
    &["gc.placement.use=\"fdp\"", "gc.trigger.watermark.soft=\"13 blocks\""],
    &["device.write_buffer.size=\"64 KiB\""],
    &["device.write_buffer.size=\"64 KiB\"", "gc.background.use=[\"flush-buffer\"]"],
    &["device.host_link.transfer=\"1 ns/B\"", "device.timing.command=\"200 ns\""],
    &["device.host_link.transfer=\"1 ns/B\"", "device.write_buffer.size=\"128 KiB\""],
    &["device.multi_plane=2", "device.allocation=\"dynamic\""],
    &["device.mapping_unit=\"2 KiB\"", "device.allocation=\"dynamic\""],
    &["gc.pacing.use=\"time-slices\""],
    &["gc.scheme=\"ideal\"", "seed=7"],
    &["gc.scheme=\"wear-aware\"", "gc.trigger.watermark.soft=\"4 blocks\""],
    &[
        "device.firmware={command=\"5 us\",cores=2,jitter.exponential=\"9 us\"}",
        "device.host_link={transfer=\"1 ns/B\",jitter.lognormal={mean=\"3 us\",stddev=\"4 us\"}}",
    ],
];

/// The tiny drive, filled and overwritten once.
pub(super) const TEXT: &str = TINY_DRIVE;
/// The fill of the drive, for a run and for a component.
pub(super) const FILL: [&str; 3] = [
    "device.blocks_per_plane=48",
    "precondition.overwrite=1.0",
    "precondition.overwrite_with=\"uniform\"",
];

pub(super) fn sets<'a>(of: &[&[&'a str]]) -> Vec<&'a str> {
    of.iter().flat_map(|sets| sets.iter().copied()).chain(FILL).collect()
}

/// A component of the tiny drive.
pub(super) fn drive_of(sets: &[&str], options: Options) -> Component {
    let setup =
        component::setup(inputs(TEXT, sets)).unwrap_or_else(|why| panic!("{sets:?}\n{why}"));
    Component::new(setup, options).unwrap_or_else(|why| panic!("{sets:?}\n{why}"))
}

/// Options with the parts of latencies.
pub(super) fn with_parts() -> Options {
    let session = session::Options { blame: true, ..session::Options::default() };
    Options { session, ..Options::default() }
}

/// A file in memory.
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

/// The requests as a trace.
pub(super) fn trace(requests: &[HostRequest]) -> MemoryTrace {
    let file = Bytes::default();
    let mut writer = writer_with(&Format::Fgt, "test", Box::new(file.clone())).expect("a writer");
    for (line, request) in (1..).zip(requests) {
        writer.push(&request.record(line)).expect("a row");
    }
    writer.finish().expect("the trace ends");
    let bytes = std::mem::take(&mut *file.0.lock().expect("no panic"));
    MemoryTrace { name: "requests.fgt".into(), bytes }
}

/// The report of a run of the requests.
pub(super) fn run(sets: &[&str], requests: &[HostRequest]) -> Value {
    let inputs = session::Inputs { has_trace: true, ..inputs(TEXT, sets) };
    let setup = prepare(&inputs).unwrap_or_else(|errors| panic!("{sets:?}\n{errors}"));
    let report = finish_with(setup, Some(trace(requests)), session::Options::default());
    report.unwrap_or_else(|error| panic!("{sets:?}\n{error}"))
}

/// Submits a request as it is.
pub(super) fn submit(drive: &mut Component, request: &HostRequest, tag: u64) {
    let HostRequest { at_ns, op, offset_bytes, bytes, high, fua, hint, job, .. } = *request;
    let marks = [(high, Marks::HIGH), (fua, Marks::FUA)];
    let marks = marks.iter().filter(|(has, _)| *has).fold(Marks::NONE, |all, one| all.and(one.1));
    let marks = marks.with_hint(hint);
    let plain = Request::new(at_ns, op, offset_bytes, bytes, tag);
    let submitted = drive.submit_request(Request { marks, tenant: job, ..plain });
    assert_eq!(submitted.unwrap_or_else(|why| panic!("{why}")), Submitted::Accepted);
}

/// The result hash of a report.
pub(super) fn hash(report: &Value) -> &str {
    report["result_hash"].as_str().expect("a report has a hash")
}
