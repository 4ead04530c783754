//! Shared code of the integration tests: configurations as text, runs to their end, values by key.
#![allow(dead_code, reason = "every test file uses a part")]

pub mod spy;

use flashgc::config::{self, WorkloadPlan};
use flashgc::measure::Results;
use flashgc::session::{Inputs, Options, Phase, Session, Setup, TraceOpener, prepare};
use flashgc::sim::{Compiled, Sim};
use flashgc::verify::blame::Blame;
use flashgc::verify::checker::{Checker, Promises};
use flashgc::verify::{InDetail, Watchers};
use flashgc::workload::Source;
use flashgc::workload::synthetic::Synthetic;
use serde_json::Value;
use std::io::{Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// The placements of whole blocks that sort pages into classes and need no future.
pub fn by_class() -> impl Iterator<Item = &'static str> {
    of_the_past().filter(|word| !["one-frontier", "separate-gc"].contains(word))
}

/// Every placement of whole blocks that needs no future.
pub fn of_the_past() -> impl Iterator<Item = &'static str> {
    let others = ["hotness-groups", "oracle", "given"];
    config::words_of("placement").into_iter().filter(move |word| !others.contains(word))
}

/// The drive of [`TINY`] without a workload.
macro_rules! tiny_drive {
    () => {
        r#"
seed = 1

[device]
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 16
pages_per_block = 8
page_size = "4 KiB"
exported = 0.6
unit = "die"

[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "0 ns/B"
command = "0 ns"

[gc]
scheme = "greedy"

[gc.trigger.watermark]
soft = "3 blocks"
"#
    };
}
pub(crate) use tiny_drive;

/// The drive of [`TINY`] without a workload, to which a test adds its own.
pub const TINY_DRIVE: &str = tiny_drive!();

/// A drive of two channels, two chips each, of two planes: 8 planes of 16 blocks of 8 pages, that
/// the tests change with assignments.
pub const TINY: &str = concat!(
    tiny_drive!(),
    r#"
[workload.synthetic]
requests = 3_000
read_share = 0.3
queue_depth = 8

[precondition]
fill = "sequential"
overwrite = 1.0
"#
);

/// Makes it a drive of one plane.
pub const ONE_PLANE: [&str; 3] =
    ["device.channels=1", "device.chips_per_channel=1", "device.planes_per_die=1"];

/// Requests that come whether or not others are done.
pub const OPEN: &str = "workload.synthetic.interarrival={exponential=\"150 us\"}";
/// Requests that come when others are done.
pub const CLOSED: &str = "workload.synthetic.queue_depth=8";
/// A bus whose transfers take time.
pub const BUS: &str = "device.timing.transfer=\"25 ns/B\"";
/// A host link.
pub const LINK: &str = "device.host_link.transfer=\"1 ns/B\"";
/// A host link with a lane for each direction.
pub const FULL_LINK: &str = "device.host_link={transfer=\"1 ns/B\",duplex=\"full\"}";
/// A write buffer of 16 pages.
pub const BUFFER: &str = "device.write_buffer.size=\"64 KiB\"";
/// Some of the requests are trims.
pub const TRIMS: &str = "workload.synthetic.trim_share=0.1";
/// Requests of three pages and more.
pub const SIZES: &str = "workload.synthetic.size=\"10 KiB\"";
/// Reads may suspend operations.
pub const SUSPENDS: &str = "device.suspend.suspend=\"20 us\"";

/// Whether the long forms of the tests are run.
pub fn is_long() -> bool {
    std::env::var_os("FLASHGC_LONG").is_some()
}

/// The inputs of a configuration with assignments.
pub fn inputs(text: &str, sets: &[&str]) -> Inputs {
    Inputs {
        name: "run.toml".into(),
        text: text.into(),
        sets: sets.iter().map(|set| (*set).to_string()).collect(),
        ..Inputs::default()
    }
}

/// A configuration that must be accepted.
pub fn setup(text: &str, sets: &[&str]) -> Setup {
    prepare(&inputs(text, sets)).unwrap_or_else(|errors| panic!("{sets:?}\n{errors}"))
}

/// The setup of a configuration, if it is accepted.
pub fn prepare_or_none(text: &str, sets: &[&str]) -> Option<Setup> {
    prepare(&inputs(text, sets)).ok()
}

/// The tiny drive without its closed loop: requests need times.
pub fn open_tiny() -> String {
    TINY.replace("queue_depth = 8\n", "")
}

/// The tiny drive with assignments. `OPEN` replaces its closed loop.
pub fn tiny_with(sets: &[&str]) -> Setup {
    let is_open = sets.contains(&OPEN);
    setup(&if is_open { open_tiny() } else { TINY.into() }, sets)
}

/// The errors of a configuration that must be refused, as users see them.
pub fn refusal(text: &str, sets: &[&str]) -> String {
    match prepare(&inputs(text, sets)) {
        Ok(_) => panic!("{sets:?} was accepted"),
        Err(errors) => errors.to_string(),
    }
}

/// Runs a session to its end; returns its report, or the error as users see it.
pub fn finish(setup: Setup, trace: Option<MemoryTrace>, verify: bool) -> Result<Value, String> {
    finish_with(setup, trace, Options { verify, ..Options::default() })
}

/// Runs a setup with other options.
pub fn finish_with(
    setup: Setup,
    trace: Option<MemoryTrace>,
    options: Options,
) -> Result<Value, String> {
    let opener = trace.map(|trace| Box::new(trace) as Box<dyn TraceOpener>);
    let mut session = Session::new(setup, opener, options);
    while session.advance().map_err(|error| error.to_string())?.phase != Phase::Done {}
    Ok(session.report().to_json())
}

/// The report of a configuration with assignments.
pub fn run(text: &str, sets: &[&str]) -> Value {
    finish(setup(text, sets), None, false).unwrap_or_else(|error| panic!("{sets:?}\n{error}"))
}

/// Runs a configuration under the checker.
pub fn run_verified(text: &str, sets: &[&str]) -> Value {
    finish(setup(text, sets), None, true).unwrap_or_else(|error| panic!("{sets:?}\n{error}"))
}

/// The report of the tiny drive with assignments.
pub fn run_tiny(sets: &[&str]) -> Value {
    finish(tiny_with(sets), None, false).unwrap_or_else(|error| panic!("{sets:?}\n{error}"))
}

/// The number at a dotted key.
pub fn number(report: &Value, key: &str) -> f64 {
    at(report, key).as_f64().unwrap_or_else(|| panic!("`{key}` is no number"))
}

/// The whole number at a dotted key.
pub fn whole(report: &Value, key: &str) -> u64 {
    at(report, key).as_u64().unwrap_or_else(|| panic!("`{key}` is no whole number"))
}

/// The value at a dotted key.
pub fn at<'a>(report: &'a Value, key: &str) -> &'a Value {
    let pointer = format!("/{}", key.replace('.', "/"));
    report.pointer(&pointer).unwrap_or_else(|| panic!("`{key}` is missing"))
}

/// Asserts that a value differs from the expected one by at most this share of it.
pub fn assert_near(what: &str, found: f64, expected: f64, share: f64) {
    let off = found / expected - 1.0;
    assert!(off.abs() <= share, "{what}: {found} is {:.3} % off {expected}", off * 100.0);
}

/// The requests of a synthetic workload.
pub fn synthetic(setup: &Setup) -> Synthetic {
    let WorkloadPlan::Synthetic(workload) = &setup.workload else {
        panic!("the workload is a trace");
    };
    let geometry = &setup.plan.geometry;
    let page_bytes = u64::from(geometry.shape.page_bytes);
    Synthetic::new(&workload.plan, geometry.exported_pages, page_bytes, setup.plan.seed)
}

/// Watchers with a checker, and with the parts of each latency, which must add up.
pub fn checked(setup: &Setup) -> Watchers {
    let checker = Checker::of(&setup.plan);
    let blame = Blame::new(&setup.plan);
    let (checker, blame) = (Some(checker), Some(blame));
    Watchers::from(InDetail { checker, blame, ..InDetail::default() })
}

/// Runs a drive whose checker was given other promises, and returns its complaint.
pub fn found_against(setup: &Setup, promises: Promises) -> String {
    let checker = Checker::new(&setup.plan.geometry, promises);
    let watchers = Watchers::from(InDetail { checker: Some(checker), ..InDetail::default() });
    let mut sim = Sim::new(setup.plan.clone(), watchers);
    sim.untimed().fill(0, setup.plan.geometry.exported_pages).expect("the fill fits");
    let run = || drain(&mut sim, &mut synthetic(setup), 1000);
    let outcome = catch_unwind(AssertUnwindSafe(run)).err().expect("the checker finds it");
    outcome.downcast_ref::<String>().expect("in words").clone()
}

/// Runs a simulation to its end in slices of `budget` events.
pub fn drain<W: Compiled>(sim: &mut Sim<W>, source: &mut dyn Source, budget: u64) -> Results {
    sim.start(source).expect("the workload starts");
    while !sim.run(source, budget).expect("the run goes on").finished {}
    sim.seen().results()
}

/// Runs the synthetic workload on a drive that was filled in order, under the checker, and audits
/// its final state.
pub fn run_filled(setup: &Setup) -> Results {
    let mut sim = Sim::new(setup.plan.clone(), checked(setup));
    sim.untimed()
        .fill(0, setup.plan.geometry.exported_pages)
        .expect("the drive takes what it exports");
    let results = drain(&mut sim, &mut synthetic(setup), 10_000);
    sim.audit();
    sim.audit_counters(&results);
    results
}

/// A trace in memory.
#[derive(Clone)]
pub struct MemoryTrace {
    /// The name for messages.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

impl MemoryTrace {
    /// From text.
    pub fn text(name: &str, text: &str) -> Self {
        MemoryTrace { name: name.into(), bytes: text.as_bytes().to_vec() }
    }
}

impl TraceOpener for MemoryTrace {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn open(&mut self) -> Result<Box<dyn Read + Send>, String> {
        Ok(Box::new(Cursor::new(self.bytes.clone())))
    }
}

/// A file of the folder next to the repository, if it is there.
pub fn shared(path: &str) -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let file = root.join(path);
    file.exists().then_some(file)
}

/// Random choices that are equal on every machine: a small generator for test inputs.
pub struct Choices(u64);

impl Choices {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Choices(seed)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as usize % bound
    }
}
