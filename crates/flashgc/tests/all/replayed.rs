//! A workload drawn directly, and the same workload written as a trace and replayed, give equal
//! results under every scheme; and waiting requests are served first come, first served.

use crate::common;
use crate::common::spy::{Record, spied};

use common::{Choices, MemoryTrace, drain, finish, prepare_or_none, setup, synthetic};
use flashgc::config::presets;
use flashgc::session::Setup;
use flashgc::sim::Sim;
use flashgc::verify::Happened;
use flashgc::workload::{HostOp, HostRequest, ListSource, Source};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex};

/// The device and the settings for a run of any scheme, on 8 planes.
const BASE: &str = r#"
[device]
channels = 2
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 2
blocks_per_plane = 48
pages_per_block = 8
sub_blocks = 4
layers = 8
page_size = "4 KiB"
registers = 2
exported = 0.5
suspend = { suspend = "20 us" }
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
[gc.trigger.watermark]
soft = "7 blocks"
[gc.placement.hotness-groups]
groups = 3
thresholds = [2, 4, 8]
"#;

/// Settings, one drawn from each row. Rows are of the same length for every configuration, so that
/// a failure is drawn again from its number.
const DRAWN: &[&[&str]] = &[
    &["device.unit=\"plane\"", "device.unit=\"die\"", "device.unit=\"chip\""],
    &["device.multi_plane=1", "device.multi_plane=1", "device.multi_plane=2"],
    &[
        "device.allocation=\"striped\"",
        "device.allocation=\"striped\"",
        "device.allocation=\"dynamic\"",
    ],
    &[
        "device.service=[\"gc\",\"host\"]",
        "device.service=[\"gc\",\"host\"]",
        "device.service=[\"host\",\"gc\"]",
        "device.service=[\"gc\",\"reads\",\"writes\"]",
        "device.service=[\"writes\",\"gc\",\"reads\"]",
    ],
    &["device.timing.transfer=\"0 ns/B\"", "device.timing.transfer=\"5 ns/B\""],
    &["", "", "device.write_buffer.size=\"64 KiB\""],
    &["", "device.host_link.transfer=\"1 ns/B\""],
    &[
        "precondition.fill=\"sequential\"",
        "precondition.fill=\"sequential\"",
        "precondition.fill=\"none\"",
    ],
    &[
        "workload.synthetic.read_share=0",
        "workload.synthetic.read_share=0.3",
        "workload.synthetic.read_share=0.7",
    ],
    &[
        "workload.synthetic.trim_share=0",
        "workload.synthetic.trim_share=0",
        "workload.synthetic.trim_share=0.1",
    ],
    &[
        "workload.synthetic.size=\"4 KiB\"",
        "workload.synthetic.size=\"4 KiB\"",
        "workload.synthetic.size={\"4 KiB\"=0.7,\"16 KiB\"=0.3}",
        "workload.synthetic.size={\"2 KiB\"=0.5,\"10 KiB\"=0.5}",
        "workload.synthetic.size=\"512 B\"",
    ],
    &[
        "workload.synthetic.address=\"uniform\"",
        "workload.synthetic.address={zipf=1.1}",
        "workload.synthetic.address={hot_cold={f=0.01,r=0.9}}",
    ],
    &[
        "workload.synthetic.interarrival.exponential=\"40 us\"",
        "workload.synthetic.interarrival.exponential=\"300 us\"",
        "workload.synthetic.interarrival.fixed=\"100 us\"",
        "workload.synthetic.interarrival.bursty={mean=\"400 us\",below=\"40 us\",share=0.8}",
    ],
];

/// The assignments of one configuration under a scheme.
fn draw(scheme: &str, choices: &mut Choices) -> Vec<String> {
    let mut sets = vec![
        format!("seed={}", 1 + choices.below(1000)),
        format!("gc.scheme=\"{scheme}\""),
        "workload.synthetic.requests=3_000".to_string(),
    ];
    let drawn = DRAWN.iter().map(|row| row[choices.below(row.len())]);
    sets.extend(drawn.filter(|set| !set.is_empty()).map(String::from));
    sets
}

/// Bytes that a writer leaves behind.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("one thread").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The output of `flashgc trace generate` for a workload.
fn generated(setup: &Setup, format: &str) -> MemoryTrace {
    let bytes = Shared::default();
    let format = format.parse().expect("a format");
    let mut writer = flashgc_trace::writer(&format, Box::new(bytes.clone())).expect("a writer");
    let mut source = synthetic(setup);
    let mut line = 0;
    while let Some(request) = source.next().expect("a synthetic workload goes on") {
        line += 1;
        writer.push(&request.record(line)).expect("memory takes it");
    }
    writer.finish().expect("memory takes it");
    let bytes = bytes.0.lock().expect("one thread").clone();
    MemoryTrace { name: "generated".into(), bytes }
}

/// The configuration with the trace in place of the workload.
fn replay_sets(sets: &[String], format: &str) -> Vec<String> {
    let kept = sets.iter().filter(|set| !set.starts_with("workload.")).cloned();
    kept.chain([format!("workload.trace.format=\"{format}\"")]).collect()
}

fn assert_equal(sets: &[String], direct: Setup, format: &str) -> bool {
    let trace = generated(&direct, format);
    let again = replay_sets(sets, format);
    let again: Vec<&str> = again.iter().map(String::as_str).collect();
    let replayed = setup(BASE, &again);
    let drawn = finish(direct, None, false);
    let replayed = finish(replayed, Some(trace), false);
    let (Ok(drawn), Ok(replayed)) = (&drawn, &replayed) else {
        // A drive that ran full, at the same place.
        assert_eq!(drawn.as_ref().err(), replayed.as_ref().err(), "{sets:?}");
        return false;
    };
    if drawn["result_hash"] != replayed["result_hash"] {
        // A value is easier to understand than a hash.
        for key in ["latency_ns", "simulated_ns", "pages", "gc", "requests"] {
            assert_eq!(drawn[key], replayed[key], "{key}\n{}", sets.join("\n"));
        }
        panic!("the hashes differ\n{}", sets.join("\n"));
    }
    drawn["gc"]["count"].as_u64() > Some(0)
}

/// At least this many configurations of each scheme.
const OF_EACH: usize = 8;

#[test]
fn a_workload_and_its_trace_give_equal_results_under_every_scheme() {
    let mut choices = Choices::new(16);
    let (mut tried, mut collected) = (0, BTreeMap::new());
    for scheme in presets::scheme_names() {
        let mut of_it = 0;
        for _ in 0..100 {
            let sets = draw(scheme, &mut choices);
            let refs: Vec<&str> = sets.iter().map(String::as_str).collect();
            let Some(direct) = prepare_or_none(BASE, &refs) else { continue };
            let format = ["fgt", "csv:time:ns, device, op, offset, size"][of_it % 2];
            if assert_equal(&sets, direct, format) {
                *collected.entry(scheme).or_insert(0) += 1;
            }
            of_it += 1;
            if of_it == OF_EACH {
                break;
            }
        }
        assert_eq!(of_it, OF_EACH, "{scheme}: too few legal configurations");
        tried += of_it;
    }
    assert!(tried >= 200, "{tried} configurations");
    let idle: Vec<_> =
        presets::scheme_names().into_iter().filter(|name| !collected.contains_key(name)).collect();
    assert!(idle.is_empty(), "no collection under {idle:?}");
}

/// The end of each page operation, in order of time.
#[derive(Default)]
struct Done(Vec<(u64, u32)>);

impl Record for Done {
    fn observe(&mut self, now_ns: u64, happened: Happened) {
        if let Happened::Done { lpn, .. } = happened {
            self.0.push((now_ns, lpn.0));
        }
    }
}

/// A drive of one plane.
const ONE_PLANE: &[&str] = &[
    "device.channels=1",
    "device.dies_per_chip=1",
    "device.planes_per_die=1",
    "device.unit=\"plane\"",
    "device.timing.program=\"222 us\"",
    "device.timing.transfer=\"0 ns/B\"",
    "workload.trace.format=\"fgt\"",
];

/// Plays requests on one plane that holds data everywhere, or nowhere.
fn play(sets: &[&str], is_filled: bool, requests: &[HostRequest]) -> Vec<(u64, u32)> {
    let setup = setup(BASE, &[ONE_PLANE, sets].concat());
    let pages = setup.plan.geometry.exported_pages;
    let (watch, done) = spied(Done::default());
    let mut sim = Sim::new(setup.plan, watch);
    if is_filled {
        sim.untimed().fill(0, pages).expect("the fill fits");
    }
    drain(&mut sim, &mut ListSource::new(requests.to_vec()), 1000);
    let mut done = done.lock().expect("the run has ended");
    std::mem::take(&mut done.0)
}

/// The second write of page 1 used to be queued anew when the first was done, behind all others.
#[test]
fn a_write_that_waits_for_its_page_keeps_its_place() {
    let writes = [0, 1, 1, 2, 3].iter().zip(0..);
    let requests: Vec<HostRequest> = writes
        .map(|(&page, at)| {
            HostRequest::from_bytes(at * 10_000, HostOp::Write, page * 4096, 4096, 4096)
        })
        .collect();
    let expected: Vec<(u64, u32)> =
        [0, 1, 1, 2, 3].into_iter().zip(1..).map(|(page, n)| (n * 222_000, page)).collect();
    for scheme in presets::scheme_names() {
        let scheme = format!("gc.scheme=\"{scheme}\"");
        assert_eq!(play(&[&scheme], false, &requests), expected, "{scheme}");
    }
    let dynamic = ["device.allocation=\"dynamic\""];
    assert_eq!(play(&dynamic, false, &requests), expected);
}

/// Reads, writes, and writes of a part of a page, on pages that are busy all the time: a part is
/// written as soon as the rest is read.
#[test]
fn one_unit_serves_hot_pages_in_order_of_arrival() {
    let mut choices = Choices::new(7);
    for scheme in ["greedy", "pgc", "fpgc", "gftl", "pregc", "parallel"] {
        let scheme = format!("gc.scheme=\"{scheme}\"");
        for allocation in ["striped", "dynamic"] {
            let allocation = format!("device.allocation=\"{allocation}\"");
            let mut at_ns = 0;
            let mut draw = || {
                at_ns += choices.below(200_000) as u64;
                let op = [HostOp::Read, HostOp::Write][choices.below(2)];
                let page = choices.below(4) as u64;
                let bytes = [4096, 4096, 512][choices.below(3)];
                HostRequest::from_bytes(at_ns, op, page * 4096, bytes, 4096)
            };
            // Few enough that nothing is collected.
            let requests: Vec<HostRequest> = (0..100).map(|_| draw()).collect();
            let done = play(&[&scheme, &allocation], true, &requests);
            let pages: Vec<u32> = done.iter().map(|&(_, lpn)| lpn).collect();
            let requested: Vec<u32> = requests.iter().map(|request| request.first.0).collect();
            assert_eq!(pages, requested, "{scheme} {allocation}");
        }
    }
}
