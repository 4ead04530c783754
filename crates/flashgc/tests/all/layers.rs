//! Layers of different speed: their resolution in the plan, the mean, which stays, and the checker,
//! which notices an operation that takes the time of another layer.

use crate::common;

use common::{TINY, found_against, number, refusal, run, run_verified, setup};
use flashgc::device::{LayerMap, PageTimes, Timing};
use flashgc::ids::{BlockId, Lpn, Ppn, UnitId};
use flashgc::session::Setup;
use flashgc::verify::checker::{Checker, Promises};
use flashgc::verify::{Cause, Happened, Watch, What};
use serde_json::Value;

/// Four layers of two pages, the slowest three times as slow as the fastest.
const LAYERS: [&str; 2] = ["device.layers=4", "device.timing.layer_ratio=3"];

fn with_layers<'a>(sets: &[&'a str]) -> Vec<&'a str> {
    [&LAYERS[..], sets].concat()
}

#[test]
fn a_ratio_needs_layers_and_a_sensible_number() {
    let cases: &[(&[&str], &[&str])] = &[
        (
            &["device.timing.layer_ratio=2"],
            &["layer_ratio = 2 needs device.layers", "set `device.layers`, as in `layers = 64`"],
        ),
        (&["device.layers=4", "device.timing.layer_ratio=0.5"], &["`device.timing.layer_ratio`"]),
        (&["device.layers=4", "device.timing.layer_ratio=101"], &["`device.timing.layer_ratio`"]),
        (&["device.layers=4", "device.timing.layer_ratio=\"2\""], &["without quotes"]),
        (
            &["device.layers=4", "device.timing.layer_map=\"odd\""],
            &["`device.timing.layer_map`", "\"in-order\"", "\"striped\""],
        ),
        // With wrong layers, the speeds cause no error.
        (
            &["device.layers=3", "device.timing.layer_ratio=2"],
            &["each layer must have the same number of pages"],
        ),
    ];
    for (sets, parts) in cases {
        let found = refusal(TINY, sets);
        assert_eq!(found.matches("error: ").count(), 1, "{found}");
        for part in *parts {
            assert!(found.contains(part), "expected: {part}\nfound:\n{found}");
        }
    }
}

#[test]
fn layers_that_do_not_differ_make_no_difference() {
    let plain = run(TINY, &["device.layers=4"]);
    for sets in [
        &["device.layers=4", "device.timing.layer_ratio=1"][..],
        &["device.layers=1", "device.timing.layer_ratio=9"],
        &["device.layers=4", "device.timing.layer_map=\"striped\""],
    ] {
        assert!(setup(TINY, sets).plan.timing.layer_speed.is_none());
        let report = run(TINY, sets);
        for key in ["latency_ns", "gc", "pages", "simulated_ns"] {
            assert_eq!(report.get(key), plain.get(key), "{key} with {sets:?}");
        }
    }
    let unused = |sets: &[&str]| setup(TINY, sets).unused_keys().to_vec();
    let map = "device.timing.layer_map=\"striped\"";
    assert_eq!(unused(&["device.layers=4", map]), ["device.timing.layer_map"]);
    assert_eq!(unused(&with_layers(&[map])), [""; 0]);
}

/// The array time of each page of the first block, by the table of the model.
fn times(setup: &Setup) -> Vec<[u64; 2]> {
    let plan = &setup.plan;
    let times = PageTimes::new(&plan.timing, &plan.geometry.shape).expect("layers differ");
    let pages = plan.geometry.shape.pages_per_block * plan.geometry.shape.sub_blocks;
    (0..pages).map(|page| [times.read_ns(Ppn(page)), times.program_ns(Ppn(page))]).collect()
}

#[test]
fn pages_take_the_time_of_their_layer_and_their_mean_is_nominal() {
    // Speeds 1, 5/3, 7/3 and 3: four nominal times by 105, 63, 45 and 35 parts of 248.
    let slow_to_fast = [42_339, 25_403, 18_145, 14_113];
    let in_order = times(&setup(TINY, &with_layers(&[])));
    let reads: Vec<u64> = in_order.iter().map(|[read_ns, _]| *read_ns).collect();
    assert_eq!(reads, [0, 0, 1, 1, 2, 2, 3, 3].map(|layer| slow_to_fast[layer]));
    let striped = times(&setup(TINY, &with_layers(&["device.timing.layer_map=\"striped\""])));
    let reads: Vec<u64> = striped.iter().map(|[read_ns, _]| *read_ns).collect();
    assert_eq!(reads, [0, 1, 2, 3, 0, 1, 2, 3].map(|layer| slow_to_fast[layer]));
    let preset = setup(
        "[device]\npreset = \"pre-gc-3d\"\n[workload.synthetic]\nrequests = 1\nqueue_depth = 1\n",
        &[],
    );
    let slowest_by_fastest = |times: &[[u64; 2]], at: usize| {
        let of = times.iter().map(|time| time[at] as f64);
        of.clone().fold(0.0, f64::max) / of.fold(f64::MAX, f64::min)
    };
    for setup in [setup(TINY, &LAYERS), preset] {
        let Timing { read_ns, program_ns, layer_speed, .. } = setup.plan.timing;
        let times = times(&setup);
        let ratio = layer_speed.expect("layers differ").layer_ratio;
        for (at, nominal_ns) in [read_ns, program_ns].into_iter().enumerate() {
            let mean_ns =
                times.iter().map(|time| time[at]).sum::<u64>() as f64 / times.len() as f64;
            assert!((mean_ns - nominal_ns as f64).abs() < 1.0, "{mean_ns} ns");
            assert!((slowest_by_fastest(&times, at) - ratio).abs() < 1e-3);
        }
    }
}

/// A block of sub-blocks has its layers once, not once in each.
#[test]
fn sub_blocks_share_the_layers_of_their_block() {
    let sets = [
        "device.sub_blocks=2",
        "gc.erase.use=\"sub-blocks\"",
        "gc.victim.use=\"recycle-benefit\"",
        "device.exported=0.4",
    ];
    let parts = times(&setup(TINY, &with_layers(&sets)));
    assert_eq!(parts, times(&setup(TINY, &LAYERS)));
    run_verified(TINY, &with_layers(&sets));
}

#[test]
fn the_last_pages_take_the_sum_of_their_times() {
    let setup = setup(TINY, &LAYERS);
    let times = PageTimes::new(&setup.plan.timing, &setup.plan.geometry.shape).expect("layers");
    let last_ns: u64 = (5..8).map(|page| times.program_ns(Ppn(page))).sum();
    assert_eq!(times.last_pages_ns(3), last_ns);
}

/// Reads of random pages meet every layer fitted, so that their mean hardly moves.
#[test]
fn the_mean_of_random_reads_stays() {
    let sets = ["workload.synthetic.read_share=1.0", "workload.synthetic.queue_depth=1"];
    let mean = |report: &Value| number(report, "latency_ns.read.mean");
    let (plain, layered) = (run(TINY, &sets), run(TINY, &with_layers(&sets)));
    common::assert_near("mean read", mean(&layered), mean(&plain), 0.02);
    assert!(number(&layered, "latency_ns.read.max") > number(&plain, "latency_ns.read.max"));
}

/// Runs a drive whose checker was given other times, and returns its complaint.
fn found(sets: &[&str], change: impl Fn(&mut Timing)) -> String {
    let setup = setup(TINY, &with_layers(sets));
    let mut promises = Promises::of(&setup.plan);
    promises.timing.as_mut().expect("the checker looks").iter_mut().for_each(change);
    found_against(&setup, promises)
}

#[test]
fn the_checker_notices_pages_of_a_wrong_layer() {
    for (share, name) in [("1.0", "read"), ("0.0", "program")] {
        let share = format!("workload.synthetic.read_share={share}");
        let found = found(&[&share], |timing| {
            let speed = timing.layer_speed.as_mut().expect("layers differ");
            speed.layer_map = LayerMap::Striped;
        });
        assert!(found.contains(&format!("ended a {name} with")), "{found}");
    }
}

/// The host only writes, so that all reads belong to copies.
#[test]
fn the_checker_notices_copies_that_read_too_fast() {
    let copies: &[(&str, &[&str])] = &[
        ("collection", &["gc.copy.use=\"copyback\""]),
        ("collection", &["gc.copy.use=\"parallel\"", "device.registers=2"]),
        ("copy", &["gc.copy.use=\"bus\""]),
        ("copy", &["engine.coalesce=false"]),
        (
            "read-out",
            &[
                "gc.copy.use=\"parallel\"",
                "gc.copy.parallel.path=\"global\"",
                "device.registers=2",
                "device.allocation=\"dynamic\"",
            ],
        ),
        (
            "copy-read",
            &["gc.preemption.use=\"between-copies\"", "gc.preemption.between-copies.merge=true"],
        ),
    ];
    for (name, sets) in copies {
        let sets = [&["workload.synthetic.read_share=0.0"], *sets].concat();
        let found = found(&sets, |timing| timing.read_ns += 1000);
        assert!(found.contains(&format!("ended a {name} with")), "{sets:?}: {found}");
    }
}

/// The events that a checker receives, of one unit of the tiny drive.
struct Story(Checker);

const UNIT: UnitId = UnitId(0);

impl Story {
    fn new(sets: &[&str]) -> Self {
        let setup = setup(TINY, &with_layers(sets));
        let mut checker = Checker::new(&setup.plan.geometry, Promises::of(&setup.plan));
        checker.observe(0, Happened::MeasuringStarts);
        Story(checker)
    }

    fn program(&mut self, ppn: u32, lpn: u32, cause: Cause) -> &mut Self {
        let (ppn, lpn) = (Ppn(ppn), Lpn(lpn));
        self.0.observe(0, Happened::Programmed { ppn, lpn, cause, current: true });
        self
    }

    /// An operation with this time in the array, in two parts.
    fn works(&mut self, name: &'static str, copies: u32, from_ns: u64, ns: u64) -> &mut Self {
        let gc = !["read", "program"].contains(&name);
        let half_ns = from_ns + ns / 2;
        let operation = What::Operation(name, copies);
        for (what, from_ns, to_ns) in [
            (What::Array, from_ns, half_ns),
            (What::Array, half_ns, from_ns + ns),
            (operation, from_ns, from_ns + ns),
        ] {
            self.0.observe(to_ns, Happened::Busy { what, unit: UNIT, from_ns, to_ns, gc });
        }
        self
    }
}

const HOST: Cause = Cause::Host { op: 0 };
// The nominal 200 us by 105 and 63 parts of 62.
const SLOW_NS: u64 = 338_710;
const NEXT_NS: u64 = 203_226;

#[test]
fn the_checker_passes_the_times_of_the_layers() {
    let mut story = Story::new(&[]);
    story.program(0, 1, HOST).works("program", 0, 0, SLOW_NS);
    story.program(1, 2, HOST).works("program", 0, 1_000_000, SLOW_NS);
    story.program(2, 3, HOST).works("program", 0, 2_000_000, NEXT_NS);
    // From page 0 to page 3.
    story.program(3, 1, Cause::Copy { from: Ppn(0) });
    story.works("copy", 1, 3_000_000, 42_339 + NEXT_NS).works("erase", 0, 4_000_000, 1_500_000);
}

#[test]
#[should_panic(expected = "ended a program with 338710 ns in the array, and its pages take 203226")]
fn the_checker_catches_a_program_in_a_wrong_layer() {
    let mut story = Story::new(&[]);
    story.program(0, 1, HOST).works("program", 0, 0, SLOW_NS);
    story.program(1, 2, HOST).works("program", 0, 1_000_000, SLOW_NS);
    story.program(2, 3, HOST).works("program", 0, 2_000_000, SLOW_NS);
}

#[test]
#[should_panic(expected = "ended a copy with")]
fn the_checker_catches_a_copy_of_nominal_time() {
    let mut story = Story::new(&[]);
    story.program(0, 1, HOST).works("program", 0, 0, SLOW_NS);
    story.program(1, 1, Cause::Copy { from: Ppn(0) }).works("copy", 1, 1_000_000, 225_000);
}

#[test]
#[should_panic(expected = "ended a program with 203226 ns")]
fn the_checker_catches_planes_that_wait_for_the_fastest() {
    let mut story = Story::new(&["device.multi_plane=2"]);
    let other = setup(TINY, &[]).plan.geometry.planes_of(UNIT)[1];
    let first = setup(TINY, &[]).plan.geometry.first_page(BlockId(other.0 * 16)).0;
    for (at, lpn) in [(0, 1), (1, 2)] {
        story.program(first + at, lpn, HOST).works("program", 0, u64::from(at) << 20, SLOW_NS);
    }
    // A slow page here, a faster one there.
    story.program(0, 4, HOST).program(first + 2, 5, HOST);
    story.works("program", 0, 3_000_000, NEXT_NS);
}
