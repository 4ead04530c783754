//! Preconditioning until write amplification is steady, and how measuring begins after it.

use crate::common;
use crate::drive::preconditioned;

use common::{MemoryTrace, ONE_PLANE, TINY, TINY_DRIVE, at, run, setup};
use flashgc::session::{Options, Phase, Session, TraceOpener, prepare};
use serde_json::Value;

const STEADY: &[&str] = &["precondition.until=\"steady\"", "precondition.at_most=12"];

/// The last windows must lie within 1 % of their mean. On small drives they seldom do: chance
/// moves write amplification by more.
#[test]
fn a_drive_is_steady_only_where_its_last_windows_agree() {
    let text = TINY.replace("overwrite = 1.0\n", "");
    let mut reached = 0;
    for blocks in [16, 64, 256] {
        for seed in 0..4 {
            let blocks = format!("device.blocks_per_plane={blocks}");
            let seed = format!("seed={seed}");
            let report = run(&text, &[STEADY, &[blocks.as_str(), seed.as_str()]].concat());
            let steady = at(&report, "precondition.steady");
            if steady["reached"] == Value::Bool(false) {
                continue;
            }
            reached += 1;
            let windows = steady["windows"].as_array().expect("a list");
            let windows: Vec<f64> = windows.iter().filter_map(Value::as_f64).collect();
            let mean = windows.iter().sum::<f64>() / windows.len() as f64;
            let agree = |window: &f64| (window - mean).abs() <= 0.01 * mean;
            assert!(windows.len() == 4 && windows.iter().all(agree), "{blocks}: {windows:?}");
        }
    }
    assert!((1..12).contains(&reached), "{reached} of 12 drives were steady");
}

/// A collection that is due when measuring begins does not begin before the first request, wherever
/// requests come from: the unit serves both in the order of the device. Once it began before the
/// first request of a closed loop and of jobs, and not before the first one of a trace with times.
#[test]
fn a_collection_that_is_due_at_the_start_waits_for_its_turn() {
    const FULL: [&str; 1] = ["precondition.overwrite=0.7"];
    let job = "{file=\"drive\",size=\"4 KiB\",read_share=1.0,requests=1,depth=1}";
    let jobs = format!("workload.jobs.job=[{job}]");
    let jobs = jobs.as_str();
    let closed = ["workload.synthetic.queue_depth=1", "workload.synthetic.read_share=1.0"];
    let filled = setup(TINY_DRIVE, &[&ONE_PLANE[..], &FULL, &[jobs]].concat());
    let mut drive = preconditioned(&filled, None, false);
    assert!(!drive.state.planes[0].triggered, "its own scheme has enough space");
    drive.state.planes[0].triggered = true;
    for (workload, trace) in [
        (&[jobs][..], None),
        (&[closed[0], closed[1], "workload.synthetic.requests=1"][..], None),
        (
            &["workload.trace.format=\"csv\""][..],
            Some(MemoryTrace::text("t.csv", "0,0,r,0,4096\n")),
        ),
    ] {
        for (order, wait_us) in [("[\"host\",\"gc\"]", 0), ("[\"gc\",\"host\"]", 1_500)] {
            let service = format!("device.service={order}");
            let more = ["gc.trigger.watermark.soft=\"5 blocks\"", &service];
            let sets = [&ONE_PLANE[..], &FULL, &more, workload].concat();
            let mut inputs = common::inputs(TINY_DRIVE, &sets);
            inputs.has_trace = trace.is_some();
            let setup = prepare(&inputs).unwrap_or_else(|errors| panic!("{errors}"));
            let opener = trace.clone().map(|trace| Box::new(trace) as Box<dyn TraceOpener>);
            let options = Options { verify: true, ..Options::default() };
            let mut session = Session::with_drive(setup, opener, drive.clone(), "a", options)
                .unwrap_or_else(|error| panic!("{error}"));
            while session.advance().expect("it goes on").phase != Phase::Done {}
            let report = session.report().to_json();
            let latency_us = at(&report, "latency_ns.read.max").as_u64().map(|ns| ns / 1000);
            assert!(latency_us >= Some(25 + wait_us), "{sets:?}: {latency_us:?}");
            assert!(wait_us > 0 || latency_us == Some(25), "{sets:?}: {latency_us:?}");
        }
    }
}

/// Copies for a page written, over half a drive write after three: preconditioned in no time, and
/// written in simulated time.
#[test]
fn cold_pages_cost_as_much_after_preconditioning_as_after_timed_writes() {
    let copies = |allocation: &str, overwrite: f64, writes: f64| {
        let sets = [
            format!("device.allocation=\"{allocation}\""),
            format!("precondition.overwrite={overwrite}"),
            format!("workload.synthetic.requests=\"{writes} drive writes\""),
        ];
        let sets: Vec<&str> = COLD.iter().copied().chain(sets.iter().map(String::as_str)).collect();
        common::whole(&run(TINY, &sets), "pages.gc_moved") as f64
    };
    let striped = copies("striped", 3.0, 0.5);
    for allocation in ["striped", "dynamic", "when-idle"] {
        let timed = copies(allocation, 0.0, 3.5) - copies(allocation, 0.0, 3.0);
        let preconditioned = copies(allocation, 3.0, 0.5);
        for (other, name) in [(timed, "timed"), (striped, "striped")] {
            let ratio = preconditioned / other;
            assert!((0.9..1.1).contains(&ratio), "{allocation}, {name}: {ratio:.3}");
        }
    }
    let by_erased = [
        "device.allocation=\"dynamic\"",
        "precondition.overwrite=3.0",
        "precondition.planes=\"most-erased\"",
        "workload.synthetic.requests=\"0.5 drive writes\"",
    ];
    let drifted = common::whole(&run(TINY, &[COLD, &by_erased].concat()), "pages.gc_moved");
    assert!((drifted as f64) < 0.8 * striped, "{drifted} copies, {striped} under stripes");
}

/// The key used to have no effect without a word where writes have no other plane.
#[test]
fn planes_of_preconditioning_are_unused_where_there_is_no_choice() {
    let unused = |allocation: &str| {
        let allocation = format!("device.allocation=\"{allocation}\"");
        let sets = [&allocation, "precondition.planes=\"most-erased\""];
        common::setup(TINY, &sets).unused_keys().to_vec()
    };
    for allocation in ["striped", "when-idle"] {
        assert_eq!(unused(allocation), ["precondition.planes"], "{allocation}");
    }
    assert_eq!(unused("dynamic"), [""; 0]);
}

/// Four planes with copies apart, and writes to a fifth of the pages alone.
const COLD: &[&str] = &[
    "device.channels=4",
    "device.chips_per_channel=1",
    "device.planes_per_die=1",
    "device.blocks_per_plane=300",
    "device.exported=0.85",
    "gc.placement.use=\"separate-gc\"",
    "workload.synthetic.size=\"4 KiB\"",
    "workload.synthetic.queue_depth=32",
    "workload.synthetic.read_share=0.0",
    "workload.synthetic.address={groups=[{places=0.2,requests=1}],scatter=1}",
];
