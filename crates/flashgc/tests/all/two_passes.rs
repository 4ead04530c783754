//! Programs in two passes, coarse and fine (docs/one-shot.md#two-passes).

use crate::common;
use crate::common::spy::{Record, spied};
use crate::mapping_unit::schemes_run_on;

use common::{
    TINY, assert_near, at, found_against, number, refusal, run, run_verified, setup, whole,
};
use flashgc::config::Setup;
use flashgc::device::Geometry;
use flashgc::ids::{Lpn, Ppn};
use flashgc::session::Options;
use flashgc::sim::Sim;
use flashgc::verify::checker::{Checker, Promises};
use flashgc::verify::{Cause, Happened, RequestRow, RequestSink, Watch as _, What};
use flashgc::workload::HostOp;
use serde_json::Value;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};

/// QLC: blocks of four word lines of four pages.
const TWO_PASSES: [&str; 6] = [
    "device.pages_per_block=16",
    "device.pages_per_program=4",
    "device.timing.program=[\"300 us\",\"500 us\"]",
    "device.allocation=\"dynamic\"",
    "device.exported=0.5",
    "device.timing.transfer=\"1 ns/B\"",
];
const SLOTS: [&str; 2] = ["device.page_size=\"16 KiB\"", "device.mapping_unit=\"4 KiB\""];

fn passes<'a>(sets: &[&'a str]) -> Vec<&'a str> {
    [&TWO_PASSES, sets].concat()
}

/// The checker follows every page, also whether it is read from flash or from the controller, and
/// recalculates the array time of every operation; the parts of each latency add up.
#[test]
fn schemes_work_on_two_passes() {
    let lag = "device.fine_pass_lag=3";
    let devices: [&[&str]; 7] = [
        &[],
        &[lag, "gc.copy.use=\"bus\""],
        &[SLOTS[0], SLOTS[1], "device.fine_pass_lag=0"],
        &[SLOTS[0], SLOTS[1], lag, "device.timing.command=\"1 us\""],
        &[
            SLOTS[0],
            SLOTS[1],
            "gc.placement.use=\"separate-gc\"",
            "device.allocation=\"when-idle\"",
            "workload.synthetic.trim_share=0.2",
        ],
        &[SLOTS[0], SLOTS[1], lag, "device.multi_plane=2", "device.unit=\"die\""],
        &["device.unit=\"plane\"", "device.timing.read=[\"20 us\",\"30 us\",\"70 us\",\"90 us\"]"],
    ];
    schemes_run_on(&devices, &TWO_PASSES);
}

#[test]
fn cache_programs_overlap_with_the_last_pass() {
    for (lag, scheme) in [(0, "greedy"), (1, "pgc"), (2, "fifo")] {
        let [lag, scheme] =
            [format!("device.fine_pass_lag={lag}"), format!("gc.scheme=\"{scheme}\"")];
        let sets = [&lag, &scheme, SLOTS[0], SLOTS[1], "device.cache_operations=\"both\""];
        let mut sets = passes(&sets);
        if scheme.contains("pgc") {
            sets.extend([
                "gc.preemption.between-copies.merge=false",
                "gc.preemption.between-copies.pipeline=false",
            ]);
        }
        let report = run_verified(TINY, &sets);
        assert!(whole(&report, "cache.programs") > 0, "{lag}");
    }
}

/// Writes in sequence, on a die whose planes program in step.
fn sequential(sets: &[&str]) -> Value {
    let writes = [
        "device.channels=1",
        "device.chips_per_channel=1",
        "device.planes_per_die=4",
        "device.blocks_per_plane=120",
        "workload.synthetic.read_share=0.0",
        "workload.synthetic.sequential_share=1.0",
        "workload.synthetic.size=\"256 KiB\"",
        "workload.synthetic.align=\"256 KiB\"",
        "workload.synthetic.queue_depth=16",
        "workload.synthetic.requests=400",
        "precondition.fill=\"none\"",
        "precondition.overwrite=0.0",
        "gc.scheme=\"ideal\"",
    ];
    run_verified(TINY, &passes(&[&writes[..], &SLOTS, sets].concat()))
}

/// Each word line takes its transfers twice and both passes, however far they lie apart.
#[test]
fn a_word_line_takes_its_data_twice_and_both_passes() {
    for (planes, lag) in [(1, 0), (1, 2), (4, 1), (4, 3)] {
        let sets = [format!("device.multi_plane={planes}"), format!("device.fine_pass_lag={lag}")];
        let report = sequential(&sets.each_ref().map(String::as_str));
        let bytes = f64::from(planes) * 4.0 * 16_384.0;
        let expected = bytes * 1e9 / (2.0 * bytes + 300_000.0 + 500_000.0);
        assert_near(&sets.join(" "), number(&report, "throughput.bytes_per_s"), expected, 0.01);
    }
}

/// Of 164 written word lines, the last four lie in an open block: each slot is read once, and slots
/// of word lines whose fine pass is to come need no flash.
#[test]
fn a_word_line_between_its_passes_is_read_from_the_controller() {
    for (lag, lines) in [(0, 0.0), (1, 1.0), (3, 3.0), (15, 4.0)] {
        let lag = format!("device.fine_pass_lag={lag}");
        let sets = [
            "device.channels=1",
            "device.chips_per_channel=1",
            "device.planes_per_die=1",
            "device.blocks_per_plane=20",
            "device.pages_per_block=64",
            "device.exported=0.5125",
            "workload.synthetic.read_share=1.0",
            "workload.synthetic.sequential_share=1.0",
            "workload.synthetic.requests=2_624",
            "workload.synthetic.queue_depth=1",
            "precondition.overwrite=0.0",
            SLOTS[0],
            SLOTS[1],
            &lag,
        ];
        let report = run_verified(TINY, &passes(&sets));
        let mean_ns = number(&report, "latency_ns.read.mean");
        let from_flash = mean_ns * 2_624.0 / (25_000.0 + 4_096.0);
        assert_near(&lag, from_flash, 2_624.0 - lines * 16.0, 1e-6);
    }
}

/// Two dies on a bus, where requests suspend every operation of a collection.
const SUSPENDED: &str = r#"
seed = 1
[device]
channels = 1
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 1
blocks_per_plane = 40
pages_per_block = 12
pages_per_program = 2
page_size = "16 KiB"
exported = 0.7
unit = "plane"
allocation = "dynamic"
fine_pass_lag = 2
suspend.suspend = "0 ns"
[device.timing]
read = "38204 ns"
program = ["9392 ns", "14715 ns"]
erase = "1 us"
transfer = "5 ns/B"
[gc]
trigger.watermark.soft = "10 blocks"
preemption.use = "suspend"
preemption.suspend.of = "any"
[workload.synthetic]
requests = 118
read_share = 0.5
queue_depth = 1
size = "16 KiB"
"#;

/// A read that was answered while a pass was in the array requested the bus together with the
/// transfer of the next pass: the bus dropped one of the two, or another unit that waited for it,
/// and the run ended with "the drive is full" among erased pages.
#[test]
fn a_read_that_a_program_answers_leaves_its_next_pass_the_bus() {
    for (lag, depth) in [(0, 1), (1, 1), (2, 1), (2, 4), (5, 8)] {
        for seed in [90_911, 1, 2, 3, 4, 5] {
            let sets = [
                format!("seed={seed}"),
                format!("device.fine_pass_lag={lag}"),
                format!("workload.synthetic.queue_depth={depth}"),
            ];
            let report = run_verified(SUSPENDED, &sets.each_ref().map(String::as_str));
            assert_eq!(requests(&report), 118, "{sets:?}");
        }
    }
}

/// A read from the controller was done at the next event of the drive, and its service time was
/// below zero where that had waited for the bus. It takes no time. Every other read takes at least
/// its array time and its transfer.
#[test]
fn a_read_from_the_controller_takes_no_time_while_a_pass_is_under_way() {
    let times = ["device.timing.read=\"18280 ns\"", "workload.synthetic.requests=269"];
    let passes = "device.timing.program=[\"147893 ns\",\"113910 ns\"]";
    for seed in [50_805, 1, 2, 3, 4, 5, 6, 7] {
        let seed = format!("seed={seed}");
        let setup = setup(SUSPENDED, &[&seed, passes, times[0], times[1]]);
        let rows = rows_of(setup);
        assert_eq!(rows.len(), 269);
        let reads = rows.iter().filter(|row| row.op == HostOp::Read);
        let least = reads.map(RequestRow::latency_ns).filter(|&ns| ns > 0).min();
        assert_eq!(least, Some(18_280 + 81_920), "{seed}");
    }
}

fn requests(report: &Value) -> u64 {
    whole(report, "requests.read") + whole(report, "requests.write")
}

fn rows_of(setup: Setup) -> Vec<RequestRow> {
    let rows: Arc<Mutex<Vec<RequestRow>>> = Arc::default();
    let kept = Arc::clone(&rows);
    let request_log: RequestSink =
        Box::new(move |batch| kept.lock().expect("a list").extend_from_slice(batch));
    let options = Options { verify: true, request_log: Some(request_log), ..Options::default() };
    common::finish_with(setup, None, options).expect("a run");
    let rows = rows.lock().expect("a list");
    rows.clone()
}

/// Reports a false flash read to the checker: together with a read of the host, a read of the page
/// that was copied last, while its program is suspended.
struct Misled {
    checker: Checker,
    geometry: Geometry,
    copied: Vec<Option<(Ppn, Lpn)>>,
    ended: Vec<&'static str>,
}

impl Record for Misled {
    fn observe(&mut self, now_ns: u64, happened: Happened) {
        self.checker.observe(now_ns, happened);
        match happened {
            Happened::Programmed { ppn, lpn, cause: Cause::Copy { .. }, .. } => {
                self.copied[self.geometry.unit_of_page(ppn).index()] = Some((ppn, lpn));
            }
            Happened::Busy { what: What::Operation(name, _), unit, .. } if name != "suspend" => {
                self.ended[unit.index()] = name;
            }
            Happened::Busy { what: What::Operation(..), unit, .. } => {
                let program = self.ended[unit.index()] == "copy-program";
                self.copied[unit.index()] = self.copied[unit.index()].filter(|_| program);
            }
            Happened::Read { ppn, .. } => {
                let unit = self.geometry.unit_of_page(ppn).index();
                let is_suspended = self.ended[unit] == "copy-program";
                if let Some((ppn, lpn)) = self.copied[unit].take().filter(|_| is_suspended) {
                    self.checker.observe(now_ns, Happened::Read { ppn, lpn });
                }
            }
            _ => {}
        }
    }
}

#[test]
fn the_checker_notices_a_read_of_a_page_whose_program_is_suspended() {
    let setup = setup(SUSPENDED, &["device.fine_pass_lag=0", "workload.synthetic.requests=2000"]);
    let (plan, geometry) = (setup.plan.clone(), setup.plan.geometry.clone());
    let units = geometry.units as usize;
    let (copied, ended) = (vec![None; units], vec![""; units]);
    let misled = Misled { checker: Checker::of(&plan), geometry, copied, ended };
    let mut sim = Sim::new(plan, spied(misled).0);
    sim.untimed().fill(0, setup.plan.geometry.exported_pages).expect("the fill fits");
    let run = || common::drain(&mut sim, &mut common::synthetic(&setup), 1000);
    let outcome = catch_unwind(AssertUnwindSafe(run)).err().expect("the checker finds it");
    let found = outcome.downcast_ref::<String>().expect("in words");
    assert!(found.contains("whose program was suspended"), "{found}");
}

/// Without time, passes change nothing.
#[test]
fn passes_change_no_placement() {
    let of = |sets: &[&str]| {
        let usual = [SLOTS[0], SLOTS[1], "workload.synthetic.requests=1_000"];
        let report = run(TINY, &passes(&[&usual[..], sets].concat()));
        whole(&report, "precondition.programmed_pages")
    };
    let one = of(&["device.timing.program=\"800 us\""]);
    assert_eq!(of(&[]), one);
    assert_eq!(of(&["device.fine_pass_lag=3"]), one);
}

#[test]
fn the_report_names_the_passes() {
    let report = run_verified(TINY, &passes(&SLOTS));
    let timing = at(&report, "config.device.timing");
    assert_eq!(whole(timing, "program_ns"), 800_000);
    let passes = ["coarse_ns", "fine_ns", "lag"].map(|key| whole(at(timing, "passes"), key));
    assert_eq!(passes, [300_000, 500_000, 1]);
}

/// The checker has its own account of passes, and of the pages in flash.
#[test]
fn the_checker_notices_a_wrong_pass() {
    let setup = setup(TINY, &passes(&[SLOTS[0], SLOTS[1]]));
    let mut promises = Promises::of(&setup.plan);
    for timing in promises.timing.as_mut().expect("the checker looks") {
        let passes = timing.passes.as_mut().expect("there are two");
        passes.lag = 0;
    }
    let found = found_against(&setup, promises);
    assert!(found.contains("ended a flush with 300000 ns"), "{found}");
    let mut promises = Promises::of(&setup.plan);
    promises.lag = 3;
    let found = found_against(&setup, promises);
    assert!(found.contains("whose program is not over"), "{found}");
    let mut promises = Promises::of(&setup.plan);
    promises.lag = 0;
    let found = found_against(&setup, promises);
    assert!(found.contains("found no flash, and its page is programmed"), "{found}");
}

#[test]
fn passes_without_meaning_are_refused() {
    let refused: [(&str, &str); 7] = [
        (
            "device.timing.program=[\"1 ms\",\"2 ms\",\"3 ms\"]",
            "program must be one time, or those of the coarse and the fine pass, got 3",
        ),
        ("device.timing.program=[\"1 ms\",\"0 ns\"]", "program must be at least 1 ns, got 0 ns"),
        ("device.timing.program=[\"600 s\",\"600 s\"]", "program must be at most 1000 s"),
        ("device.pages_per_program=1", "need a pages_per_program above 1"),
        ("device.fine_pass_lag=4", "must be below the 4 word lines of a block, got 4"),
        ("device.fine_pass_lag=64", "`device.fine_pass_lag` is out of range"),
        ("device.timing.transfer=\"0 ns/B\"", "need a bus time"),
    ];
    for (set, words) in refused {
        let found = refusal(TINY, &passes(&[set]));
        assert!(found.contains(words), "{set}\n{found}");
    }
    let layers = ["device.layers=4", "device.timing.layer_ratio=2.0"];
    let found = refusal(TINY, &passes(&layers));
    assert!(found.contains("cannot be combined with a layer_ratio above 1"), "{found}");
    let found = refusal(TINY, &passes(&["device.pages_per_block=4"]));
    assert!(
        found.contains("must be below the 1 word lines of a block, got 1, the default"),
        "{found}"
    );
    let one = ["device.timing.program=\"1 ms\"", "device.fine_pass_lag=1"];
    let setup = setup(TINY, &passes(&one));
    assert!(setup.unused_keys().iter().any(|key| key == "device.fine_pass_lag"));
}

/// A list of one is that one.
#[test]
fn one_pass_is_what_there_was() {
    let hash = |set: &str| at(&run(TINY, &passes(&[set])), "result_hash").clone();
    let [list, one] =
        ["[\"800 us\"]", "\"800 us\""].map(|time| format!("device.timing.program={time}"));
    assert_eq!(hash(&list), hash(&one));
}
