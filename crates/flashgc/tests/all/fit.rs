//! Drives that are sized by their trace, and drives that are overwritten uniformly.

use crate::common;

use common::{MemoryTrace, at, finish, inputs, number, refusal, setup, whole};
use flashgc::session::{FitScan, Fitted, Inputs, fit, prepare};
use serde_json::Value;

const REPLAY: &str = r#"
[device]
preset = "slc-msr"
[gc]
scheme = "greedy"
[workload.trace]
format = "csv"
fit = "90%"
[precondition]
overwrite = 1.0
overwrite_with = "uniform"
"#;

/// Writes of this number of pages, `step` pages apart.
fn trace(pages: u64, step: u64) -> MemoryTrace {
    let rows = (0..pages).map(|at| format!("{},0,w,{},4096\n", at * 1000, at * step * 4096));
    MemoryTrace::text("pages.csv", &rows.collect::<String>())
}

fn with(sets: &[&str]) -> Inputs {
    Inputs { has_trace: true, ..inputs(REPLAY, sets) }
}

fn footprint(inputs: &Inputs, trace: &MemoryTrace) -> u64 {
    let setup = prepare(inputs).expect("a configuration");
    assert!(setup.awaits_fit());
    let mut scan = FitScan::new(&setup, &mut trace.clone()).expect("a trace");
    loop {
        if let Some(pages) = scan.advance().expect("rows") {
            return pages;
        }
    }
}

fn sized(inputs: &Inputs, fitted: &Fitted) -> flashgc::session::Setup {
    let inputs = Inputs { fitted: Some(fitted.clone()), ..inputs.clone() };
    prepare(&inputs).unwrap_or_else(|errors| panic!("{errors}"))
}

fn run(inputs: &Inputs, trace: MemoryTrace) -> Value {
    let fitted = fit(std::slice::from_ref(inputs), footprint(inputs, &trace)).expect("a size");
    finish(sized(inputs, &fitted), Some(trace), true).expect("a run")
}

#[test]
fn only_pages_that_are_touched_count() {
    assert_eq!(footprint(&with(&[]), &trace(5000, 7)), 5000);
    let twice = MemoryTrace::text("twice.csv", "0,0,w,0,8192\n10,0,r,4096,8192\n");
    assert_eq!(footprint(&with(&[]), &twice), 3);
    assert_eq!(footprint(&with(&["device.page_size=\"16 KiB\""]), &twice), 1);
}

/// The user capacity is the least that holds the trace at the given share, whatever its size.
#[test]
fn the_trace_takes_the_required_share() {
    for (pages, share) in [(60_000, 0.9), (500_000, 0.9), (500_000, 0.5), (2_000_000, 1.0)] {
        let inputs = with(&[&format!("workload.trace.fit={share}")]);
        let fitted = fit(std::slice::from_ref(&inputs), pages).expect("a size");
        let shape = &sized(&inputs, &fitted).plan.geometry;
        let reached = pages as f64 / f64::from(shape.exported_pages);
        // A block more in each plane is the least that can be added.
        let block = f64::from(shape.planes * 64) / f64::from(shape.exported_pages);
        assert!(reached <= share && reached > share - 2.0 * block, "{pages}, {share}: {reached}");
    }
}

/// A small footprint needs fewer planes, and channels go last.
#[test]
fn planes_shrink_before_dies_chips_and_channels() {
    let counts = |pages| {
        let inputs = with(&[]);
        let fitted = fit(std::slice::from_ref(&inputs), pages).expect("a size");
        let shape = sized(&inputs, &fitted).plan.geometry.shape;
        (shape.channels, shape.planes_per_die)
    };
    assert_eq!(counts(2_000_000), (8, 8));
    assert_eq!(counts(200_000), (8, 4));
    assert_eq!(counts(100_000), (8, 2));
    assert_eq!(counts(30_000), (8, 1));
    assert_eq!(counts(10_000), (2, 1));
    assert_eq!(counts(10), (1, 1));
}

#[test]
fn a_tiny_trace_gets_the_smallest_drive_with_room_for_the_thresholds_and_is_reported() {
    let report = run(&with(&[]), trace(100, 1));
    let note = at(&report, "notes").to_string();
    assert!(note.contains("touches only 100 pages"), "{note}");
    assert!(number(&report, "fit.footprint_share") < 0.1);
    assert!(whole(&report, "capacity.physical_pages") < 10_000);
}

#[test]
fn collection_works_on_a_trace_that_fits() {
    let report = run(&with(&[]), trace(20_000, 3));
    assert!(whole(&report, "pages.gc_moved") > 10_000, "{report:#}");
    assert!(number(&report, "fit.footprint_share") > 0.85);
    assert_eq!(at(&report, "fit.changed.planes_per_die.from"), 8);
    assert_eq!(number(&report, "fit.share"), 0.9);
    let note = at(&report, "notes").to_string();
    assert!(note.contains("sized to the trace"), "{note}");
}

/// Schemes with different thresholds share one drive, on which each has room.
#[test]
fn schemes_that_are_compared_share_one_drive() {
    let all: Vec<Inputs> = ["greedy", "pgc", "gftl", "pbgc", "parallel", "greedy-msr"]
        .iter()
        .map(|scheme| with(&[&format!("gc.scheme=\"{scheme}\"")]))
        .collect();
    let fitted = fit(&all, 30_000).expect("a size");
    let exported: Vec<u32> =
        all.iter().map(|inputs| sized(inputs, &fitted).plan.geometry.exported_pages).collect();
    assert!(exported.iter().all(|&pages| pages == exported[0]), "{exported:?}");
    // Alone, greedy gets by with a drive of its own.
    let alone = fit(&all[..1], 30_000).expect("a size");
    assert!(sized(&all[0], &alone).plan.geometry.exported_pages <= exported[0]);
}

/// A scheme that the device cannot carry has no effect on the size.
#[test]
fn a_scheme_that_does_not_suit_the_device_does_not_hinder_the_others() {
    let all = ["fpgc", "greedy"].map(|scheme| with(&[&format!("gc.scheme=\"{scheme}\"")]));
    assert_eq!(fit(&all, 30_000).unwrap(), fit(&all[1..], 30_000).unwrap());
    assert!(fit(&all[..1], 30_000).is_err());
}

#[test]
fn what_is_given_beats_the_fit() {
    let kept = setup(REPLAY, &["workload.trace.fit=\"none\""]);
    assert!(!kept.awaits_fit());
    let given = setup(REPLAY, &["device.blocks_per_plane=128"]);
    assert!(!given.awaits_fit());
    assert_eq!(given.plan.geometry.shape.blocks_per_plane, 128);
    let both = setup(REPLAY, &["device.blocks_per_plane=128", "workload.trace.fit=\"50%\""]);
    assert!(both.awaits_fit());
}

#[test]
fn shares_and_addresses_that_cannot_be_are_refused() {
    let wrapped = refusal(REPLAY, &["workload.trace.address=\"wrap\""]);
    assert!(wrapped.contains("set address = \"compact\""), "{wrapped}");
    for share in ["0", "\"0%\"", "1.5", "\"all\""] {
        let reported = refusal(REPLAY, &[&format!("workload.trace.fit={share}")]);
        assert!(reported.contains("fit"), "{reported}");
    }
}

#[test]
fn a_trace_beyond_any_size_of_the_device_is_refused() {
    let inputs = with(&["workload.trace.fit=0.01", "device.planes_per_die=1"]);
    let reported = fit(std::slice::from_ref(&inputs), 1 << 31).unwrap_err().to_string();
    assert!(reported.contains("does not fit any size of this device"), "{reported}");
}

/// Uniform overwriting does not depend on the workload: a trace and a synthetic workload find the
/// same drive.
#[test]
fn a_uniform_overwrite_is_the_same_for_every_workload() {
    let sets = ["workload.trace.fit=\"none\"", "device.blocks_per_plane=64"];
    let trace = finish(setup(REPLAY, &sets), Some(trace(1000, 1)), true).expect("a run");
    let synthetic = REPLAY
        .replace("[workload.trace]\nformat = \"csv\"\nfit = \"90%\"", "[workload.synthetic]")
        + "\n[workload.synthetic.interarrival]\nfixed = \"1 ms\"\n";
    let sets = ["device.blocks_per_plane=64", "workload.synthetic.requests=1000"];
    let drawn = finish(setup(&synthetic, &sets), None, true).expect("a run");
    for key in ["overwritten_pages", "programmed_pages", "write_amplification"] {
        let key = format!("precondition.{key}");
        assert_eq!(at(&trace, &key), at(&drawn, &key), "{key}");
    }
    assert!(number(&trace, "precondition.write_amplification") > 1.5);
    let own = finish(
        setup(
            &synthetic,
            &[
                &sets[..],
                &[
                    "precondition.overwrite_with=workload",
                    "workload.synthetic.address={ zipf = 1.2 }",
                ],
            ]
            .concat(),
        ),
        None,
        true,
    );
    let own = number(&own.expect("a run"), "precondition.write_amplification");
    assert!(own < 0.9 * number(&drawn, "precondition.write_amplification"), "{own}");
}
