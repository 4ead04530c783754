//! Independent plane reads: each plane of a die reads by itself
//! (docs/independent-plane-reads.md).

use crate::common;

use common::{
    TINY, assert_near, number, prepare_or_none, refusal, run, run_verified, setup, whole,
};
use flashgc::ids::UnitId;
use flashgc::verify::checker::Checker;
use flashgc::verify::{Happened, Watch, What};
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};

const ON: &str = "device.independent_plane_reads=true";
const READ_NS: f64 = 25_000.0;

/// Reads of pages of four dies of four planes.
fn reads(sets: &[&str]) -> Value {
    let usual = [
        "device.planes_per_die=4",
        "device.blocks_per_plane=64",
        "workload.synthetic.read_share=1.0",
        "workload.synthetic.requests=20_000",
        "precondition.overwrite=0.0",
        "gc.scheme=\"ideal\"",
    ];
    run(TINY, &[&usual[..], sets].concat())
}

/// Slots, with all planes of a die in step.
const IN_STEP: [&str; 4] = [
    "device.multi_plane=4",
    "device.page_size=\"16 KiB\"",
    "device.mapping_unit=\"4 KiB\"",
    "device.allocation=\"dynamic\"",
];

/// At a large depth every plane has a read; without the feature every die has. The run lasts until
/// the plane with the most reads has ended.
#[test]
fn random_reads_are_bound_by_planes_and_not_by_dies() {
    let deep = ["workload.synthetic.queue_depth=2048", "workload.synthetic.requests=200_000"];
    for device in [&[][..], &IN_STEP[..]] {
        for (on, count) in [(&[ON][..], 16.0), (&[][..], 4.0)] {
            let found = number(&reads(&[device, &deep, on].concat()), "throughput.iops");
            assert_near(&format!("{device:?}"), found, count * 1e9 / READ_NS, 0.02);
        }
    }
}

/// The loss of throughput at smaller depths is due to planes without a read: with evenly loaded
/// planes there is none.
#[test]
fn planes_without_a_read_are_what_is_missing() {
    let of = |depth: u32, more: &[&str]| {
        let depth = format!("workload.synthetic.queue_depth={depth}");
        number(&reads(&[&[depth.as_str(), ON], more].concat()), "throughput.iops")
    };
    for depth in [64, 160, 256] {
        let share = f64::from(depth) / (f64::from(depth) + 7.5);
        let random = of(depth, &["workload.synthetic.requests=200_000"]);
        assert_near(&format!("depth {depth}"), random, share * 16.0 * 1e9 / READ_NS, 0.015);
        let even = of(depth, &["workload.synthetic.sequential_share=1.0"]);
        assert_near(&format!("even, {depth}"), even, 16.0 * 1e9 / READ_NS, 0.001);
    }
}

/// Reads alone: the planes of a die with independent plane reads count as units.
#[test]
fn without_programs_planes_read_as_units_do() {
    for depth in [1, 4, 16, 64, 256] {
        let depth = format!("workload.synthetic.queue_depth={depth}");
        let [own, units] = [ON, "device.unit=\"plane\""].map(|set| reads(&[&depth, set]));
        assert_eq!(own["latency_ns"], units["latency_ns"], "{depth}");
        assert_eq!(own["throughput"], units["throughput"], "{depth}");
    }
}

/// Transfers go one at a time.
#[test]
fn the_bus_is_shared_as_always() {
    let bus = ["device.timing.transfer=\"5 ns/B\"", "workload.synthetic.queue_depth=512", ON];
    let found = number(&reads(&bus), "throughput.iops");
    assert_near("two buses", found, 2.0 * 1e9 / (4096.0 * 5.0), 0.02);
}

const FIGURES: [&str; 6] =
    ["latency_ns", "gc", "pages", "utilisation", "write_amplification", "throughput"];

/// Programs and erases take the die as they did, and so does a single read.
#[test]
fn what_has_one_operation_at_a_time_does_not_change() {
    let writes = ["workload.synthetic.read_share=0.0"];
    let one = ["workload.synthetic.queue_depth=1", "device.allocation=\"dynamic\""];
    for sets in [&writes[..], &one[..]] {
        for scheme in ["greedy", "pgc", "fpgc", "tokens"] {
            let scheme = format!("gc.scheme=\"{scheme}\"");
            let sets = [sets, &[&scheme, common::SUSPENDS, common::BUS]].concat();
            let with = run_verified(TINY, &[&sets[..], &[ON]].concat());
            let without = run_verified(TINY, &sets);
            for figure in FIGURES {
                assert_eq!(with[figure], without[figure], "{figure} with {scheme}");
            }
        }
    }
}

/// A unit is busy from the first read of its planes to the last, and never for more than the time.
#[test]
fn a_unit_is_busy_while_any_of_its_planes_reads() {
    let deep = "workload.synthetic.queue_depth=512";
    let [with, without] = [&[deep, ON][..], &[deep][..]].map(reads);
    for report in [&with, &without] {
        let host = number(report, "utilisation.unit.host");
        assert!((0.95..=1.0).contains(&host), "{host}");
    }
    let time = |report: &Value| whole(report, "simulated_ns") as f64;
    assert_near("time", time(&without) / time(&with), 4.0, 0.05);
}

#[test]
fn what_does_not_go_with_it_is_refused() {
    for (sets, part) in [
        (&["device.unit=\"plane\""][..], "needs units of several planes"),
        (&["device.planes_per_die=1"][..], "needs dies of several planes"),
        (&["device.cache_operations=\"both\""][..], "cannot be combined with cache reads"),
    ] {
        let error = refusal(TINY, &[&[ON], sets].concat());
        assert!(error.contains(part), "{error}");
        let off = "device.independent_plane_reads=false";
        assert!(prepare_or_none(TINY, &[&[off], sets].concat()).is_some(), "{sets:?}");
    }
}

/// Reports operations with these parts to a checker, and returns its error.
fn found(operations: &[(UnitId, &'static str, u64, u64)]) -> Option<String> {
    let plan = setup(TINY, &[ON]).plan;
    let mut checker = Checker::of(&plan);
    checker.observe(0, Happened::MeasuringStarts);
    let reported = catch_unwind(AssertUnwindSafe(|| {
        for &(unit, name, from_ns, to_ns) in operations {
            let what = What::Operation(name, 0);
            checker.observe(to_ns, Happened::Busy { what, unit, from_ns, to_ns, gc: false });
        }
    }));
    reported.err().map(|panic| panic.downcast_ref::<String>().cloned().unwrap_or_default())
}

/// Die 0 has planes 0 and 4, and a poll takes no page.
#[test]
fn the_checker_finds_a_plane_that_reads_beside_other_work() {
    let geometry = setup(TINY, &[ON]).plan.geometry;
    let (die, planes) = (UnitId(0), [0, 4].map(|plane| UnitId(geometry.units + plane)));
    assert_eq!(planes.map(|plane| geometry.whole_unit(plane)), [die; 2]);
    let poll = |from_ns, to_ns| (die, "poll", from_ns, to_ns);
    let read = |at: usize, from_ns, to_ns| (planes[at], "read", from_ns, to_ns);
    for (operations, part) in [
        ([poll(0, 10), read(0, 5, 15)], "read at 5 ns while the unit worked until 10 ns"),
        ([poll(0, 10), read(0, 10, 15)], "was not of one flash page"),
    ] {
        let error = found(&operations).unwrap_or_default();
        assert!(error.contains(part), "{error}");
    }
    assert_eq!(found(&[poll(0, 10), poll(10, 15)]), None);
}
