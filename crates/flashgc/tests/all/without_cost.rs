//! Schemes without GC cost: the operations of collections take no time, and all else is theirs. The
//! checker watches all runs here.

use crate::common;
use crate::net::{BASE, DEVICES, WORKLOADS};

use common::{SUSPENDS, TINY, at, finish, number, prepare_or_none, run_verified, whole};
use flashgc::config::presets;
use serde_json::Value;

const NONE: &str = "gc.cost=\"none\"";

/// The report without the names of the scheme.
fn outcome(report: &Value) -> Vec<Value> {
    let keys = ["latency_ns", "pages", "erases", "utilisation", "wear", "simulated_ns"];
    keys.iter().map(|key| at(report, key).clone()).collect()
}

/// Collections took no time, but for programs that took writes of the host in.
fn is_free(report: &Value, what: &str) {
    let merged = report.pointer("/gc/merged").and_then(Value::as_u64).unwrap_or(0);
    assert!(merged > 0 || whole(report, "gc.total_busy_ns") == 0, "{what}");
}

/// Preemption, time slices, tokens, pre-migration, copies in other units: nothing refuses it.
#[test]
fn every_scheme_runs_without_cost() {
    let (mut runs, mut erases, mut moved) = (0, 0, 0);
    for scheme in presets::scheme_names() {
        for (device, of_device) in DEVICES {
            for (workload, of_workload) in [&WORKLOADS[0], &WORKLOADS[2], &WORKLOADS[4]] {
                let name = format!("gc.scheme=\"{scheme}\"");
                let sets = [&[name.as_str()], *of_device, *of_workload].concat();
                let Some(setup) = prepare_or_none(BASE, &[&sets[..], &[NONE]].concat()) else {
                    let costs = prepare_or_none(BASE, &sets).is_some();
                    assert!(!costs, "{scheme} {device} is refused without cost alone");
                    continue;
                };
                let what = format!("{scheme} {device} {workload}");
                let report = finish(setup, None, true).unwrap_or_else(|e| panic!("{what}: {e}"));
                is_free(&report, &what);
                (runs, erases) = (runs + 1, erases + whole(&report, "erases"));
                moved += whole(&report, "pages.gc_moved");
            }
        }
    }
    assert!(runs > 1000 && erases > 30_000 && moved > erases, "{runs} {erases} {moved}");
}

#[test]
fn copyback_without_cost_is_an_instant_copy() {
    for more in ["device.unit=\"plane\"", "device.timing.command=\"1 us\""] {
        let instant = run_verified(TINY, &["gc.copy.use=\"instant\"", more]);
        for copy in ["copyback", "bus"] {
            let copy = format!("gc.copy.use=\"{copy}\"");
            let report = run_verified(TINY, &[&copy, NONE, more]);
            assert_eq!(outcome(&report), outcome(&instant), "{copy} {more}");
        }
    }
}

/// Reads of a scheme that delays writes may be faster than reads with collections without cost:
/// more requests come in the same time.
#[test]
fn the_scheme_still_decides_by_the_times_of_the_device() {
    let slices = ["gc.pacing.use=\"time-slices\"", "gc.trigger.watermark.hard=\"none\""];
    let slice = ["gc.pacing.time-slices.length=\"450 us\""];
    let sets = [&slices[..], &slice].concat();
    let report = run_verified(TINY, &[&sets[..], &[NONE]].concat());
    is_free(&report, "time slices");
    // A slice of 450 us has room for two copies of 225 us, or for one erase.
    let (slices, moved) = (whole(&report, "gc.time_slices"), whole(&report, "pages.gc_moved"));
    let erases = whole(&report, "erases");
    assert!(slices >= moved.div_ceil(2) + erases - 8, "{slices} {moved} {erases}");
    assert!(slices > 2 * whole(&report, "gc.count"));
}

#[test]
fn pages_move_ahead_without_cost() {
    let text = TINY.replace("queue_depth = 8\n", "");
    let sets = [
        "workload.synthetic.interarrival={bursty={mean=\"2 ms\",below=\"200 us\",share=0.5}}",
        "workload.synthetic.read_share=0.0",
        "gc.background.use=\"pre-migration\"",
        "gc.background.pre-migration.distance=\"3 blocks\"",
        NONE,
    ];
    let report = run_verified(&text, &sets);
    is_free(&report, "pre-migration");
    assert!(whole(&report, "pages.background_moved") > 100);
    let busy_ns = at(&report, "background.busy_ns");
    assert_eq!(busy_ns.as_u64(), Some(0));
}

/// A program that a collection pads belongs to the collection, like the program of its copies. The
/// checker took it for one of the host.
#[test]
fn programs_that_a_collection_pads_take_no_time_without_cost() {
    let slots = [
        "device.page_size=\"16 KiB\"",
        "device.mapping_unit=\"4 KiB\"",
        "device.allocation=\"dynamic\"",
        "device.write_buffer.size=\"256 KiB\"",
        "device.write_buffer.power_loss_protection=false",
        "device.exported=0.45",
        "workload.synthetic.size=\"6 KiB\"",
        SUSPENDS,
    ];
    for free in [NONE, "gc.copy.use=\"instant\""] {
        for preemption in ["never", "between-copies", "suspend"] {
            let preemption = format!("gc.preemption.use=\"{preemption}\"");
            let sets = [&slots[..], &[free, &preemption]].concat();
            let report = run_verified(TINY, &sets);
            assert!(whole(&report, "slots.padded") > 0 && whole(&report, "gc.count") > 0);
            if free == NONE {
                is_free(&report, &preemption);
            }
        }
    }
}

/// A write that joins the program of a copy is the host's own, and takes the time of the device.
#[test]
fn no_write_is_faster_than_a_program() {
    let sets = [
        "gc.preemption.use=\"suspend\"",
        "gc.preemption.suspend.of=\"any\"",
        "gc.preemption.suspend.merge=true",
        "gc.preemption.suspend.poll=\"1 us\"",
        SUSPENDS,
        "workload.synthetic.read_share=0.5",
        "workload.synthetic.address={hot_cold={f=0.02,r=0.9}}",
        NONE,
    ];
    let report = run_verified(TINY, &sets);
    is_free(&report, "merged writes");
    let setup = common::setup(TINY, &sets);
    let least_ns = u64::from(setup.plan.timing.program_ns as u32);
    assert!(whole(&report, "latency_ns.write.p50") >= least_ns);
    assert!(number(&report, "latency_ns.write.mean") >= least_ns as f64);
}
