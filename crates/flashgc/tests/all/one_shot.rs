//! One-shot programs: the pages of a word line are programmed together (docs/one-shot.md).

use crate::common;
use crate::mapping_unit::{STEADY_WRITES, schemes_run_on};

use common::{
    TINY, assert_near, at, found_against, number, refusal, run, run_verified, setup, whole,
};
use flashgc::verify::checker::Promises;
use serde_json::Value;

/// TLC: blocks of three word lines of three pages.
const WORD_LINES: [&str; 4] = [
    "device.pages_per_block=9",
    "device.pages_per_program=3",
    "device.allocation=\"dynamic\"",
    "device.exported=0.5",
];
const SLOTS: [&str; 2] = ["device.page_size=\"16 KiB\"", "device.mapping_unit=\"4 KiB\""];

fn joined<'a>(sets: &[&'a str]) -> Vec<&'a str> {
    [&WORD_LINES, sets].concat()
}

/// The checker follows every page, and recalculates the array time of every operation; the parts of
/// each latency add up.
#[test]
fn schemes_work_on_word_lines() {
    let bus = "device.timing.transfer=\"1 ns/B\"";
    let types = "device.timing.read=[\"20 us\",\"30 us\",\"70 us\"]";
    let devices: [&[&str]; 8] = [
        &[],
        &[bus, "gc.copy.use=\"bus\""],
        &[bus, SLOTS[0], SLOTS[1]],
        &[bus, SLOTS[0], SLOTS[1], types, "gc.copy.use=\"bus\""],
        &[
            SLOTS[0],
            SLOTS[1],
            "gc.placement.use=\"separate-gc\"",
            "device.allocation=\"when-idle\"",
        ],
        &[SLOTS[0], SLOTS[1], types, "workload.synthetic.trim_share=0.2"],
        &["workload.synthetic.size=\"6 KiB\"", "workload.synthetic.align=\"2 KiB\"", types],
        &[
            "device.unit=\"plane\"",
            "device.timing.command=\"1 us\"",
            "device.layers=3",
            "device.timing.layer_ratio=3.0",
            "device.timing.layer_map=\"striped\"",
        ],
    ];
    schemes_run_on(&devices, &WORD_LINES);
}

/// Writes in sequence, on 4 planes of one bus each or of one together.
fn sequential(sets: &[&str]) -> Value {
    let writes = [
        "device.unit=\"plane\"",
        "device.blocks_per_plane=40",
        "device.timing.transfer=\"1 ns/B\"",
        "device.timing.program=\"2.25 ms\"",
        "workload.synthetic.read_share=0.0",
        "workload.synthetic.sequential_share=1.0",
        "workload.synthetic.size=\"96 KiB\"",
        "workload.synthetic.align=\"96 KiB\"",
        "workload.synthetic.queue_depth=64",
        "workload.synthetic.requests=1_000",
        "precondition.fill=\"none\"",
        "precondition.overwrite=0.0",
        "gc.scheme=\"ideal\"",
    ];
    run_verified(TINY, &joined(&[&writes[..], sets].concat()))
}

/// Pages times bytes of a page, divided by their transfers and one program.
#[test]
fn a_word_line_takes_its_transfers_and_one_program() {
    for (pages, sets) in [(1, "device.pages_per_program=1"), (3, "device.pages_per_program=3")] {
        let report = sequential(&[&SLOTS[..], &[sets]].concat());
        let page_ns = 16_384.0;
        let bytes_per_s =
            8.0 * f64::from(pages) * 16_384.0 * 1e9 / (2_250_000.0 + f64::from(pages) * page_ns);
        assert_near(sets, number(&report, "throughput.bytes_per_s"), bytes_per_s, 0.01);
    }
}

/// The report of a run on a drive with these settings of its programs, preconditioned until steady.
fn write_amplification(scheme: &str, unit: &[&str]) -> Value {
    let scheme = format!("gc.scheme=\"{scheme}\"");
    let sets = ["workload.synthetic.requests=1_000", &scheme];
    run(TINY, &[&STEADY_WRITES, &sets[..], unit].concat())
}

/// Without time, a drive of word lines writes and copies the same as a drive with pages of that
/// size, and in one plane the same as a drive with small pages.
#[test]
fn a_word_line_is_a_large_page() {
    let line = ["device.pages_per_block=64", SLOTS[0], SLOTS[1], "device.pages_per_program=4"];
    let large = [
        "device.pages_per_block=16",
        "device.page_size=\"64 KiB\"",
        "device.mapping_unit=\"4 KiB\"",
    ];
    let [three, small] = [3, 1].map(|pages| format!("device.pages_per_program={pages}"));
    let one = "device.planes_per_die=1";
    let three = ["device.pages_per_block=63", SLOTS[0], SLOTS[1], one, &three];
    let small = ["device.pages_per_block=252", one, &small];
    let whole_pages = ["device.pages_per_block=252", one, "device.pages_per_program=3"];
    let key = "precondition.programmed_pages";
    for scheme in ["greedy", "fifo", "d-choices", "cost-benefit"] {
        let programmed = |unit: &[&str]| whole(&write_amplification(scheme, unit), key);
        assert_eq!(programmed(&line), programmed(&large), "{scheme}");
        assert!(programmed(&line) > 0, "{scheme} collects");
        let expected = programmed(&small);
        assert_eq!(programmed(&three), expected, "{scheme}");
        assert_eq!(programmed(&whole_pages), expected, "{scheme}");
    }
}

#[test]
fn the_report_counts_programs() {
    let report = run_verified(TINY, &joined(&SLOTS));
    assert_eq!(whole(&report, "slots.per_page"), 4);
    assert_eq!(whole(&report, "slots.per_program"), 12);
    // A step of a collection programs 12 slots, except where some of them came from the host.
    let (steps, moved) = (whole(&report, "gc.copy_steps"), whole(&report, "pages.gc_moved"));
    assert!(steps > 0 && steps * 12 >= moved / 2, "{steps} steps, {moved} slots");
    let report = run_verified(TINY, &joined(&[]));
    assert_eq!((whole(&report, "slots.per_page"), whole(&report, "slots.per_program")), (1, 3));
    assert_eq!(at(&report, "config.device.shape.pages_per_program"), 3);
}

/// The checker's word lines are its own.
#[test]
fn the_checker_notices_a_program_of_a_wrong_length() {
    let setup = setup(TINY, &joined(&SLOTS));
    let mut promises = Promises::of(&setup.plan);
    for timing in promises.timing.as_mut().expect("the checker looks") {
        timing.program_ns *= 3;
    }
    let found = found_against(&setup, promises);
    assert!(found.contains("ended a flush with 200000 ns"), "{found}");
}

#[test]
fn what_cannot_join_pages_is_refused() {
    let refused: [(&[&str], &str); 11] = [
        (&["device.allocation=\"striped\""], "set device.allocation = \"dynamic\""),
        (&["device.pool=\"chip\""], "remove device.pool"),
        (&["device.summary.pages=1"], "remove device.summary"),
        (&["device.write_completion=\"loaded\""], "write_completion"),
        (&["device.write_buffer.size=\"20 KiB\""], "at least two programs (6 mapped pages), got 5"),
        (&["gc.scheme=\"parallel\"", "device.registers=2"], "set gc.copy.use = \"bus\""),
        (&["gc.scheme=\"gsm\"", "device.sub_blocks=3"], "or remove device.pages_per_program"),
        (&["gc.scheme=\"pgc-merge\""], "set gc.preemption.between-copies.merge = false"),
        (&["gc.scheme=\"bbgc\""], "set gc.blocking.use = \"plane\""),
        (&["gc.background.use=\"flush-buffer\""], "set gc.background.use = \"nothing\""),
        (
            &["gc.scheme=\"bbgc\"", SLOTS[0], SLOTS[1]],
            "or remove device.mapping_unit and device.pages_per_program",
        ),
    ];
    for (sets, words) in refused {
        let found = refusal(TINY, &joined(sets));
        assert!(found.contains("pages_per_program"), "{sets:?}\n{found}");
        assert!(found.contains(words), "{sets:?}\n{found}");
    }
    for (sets, words) in [
        ("device.pages_per_program=2", "must divide device.pages_per_block = 9, got 2"),
        ("device.pages_per_program=0", "`device.pages_per_program` is out of range"),
        ("device.layers=9", "must divide the 1 page of a layer, got 3"),
    ] {
        let found = refusal(TINY, &joined(&[sets]));
        assert!(found.contains(words), "{sets}\n{found}");
    }
}

/// Programs of one page give the results of the default.
#[test]
fn a_program_of_one_page_changes_nothing() {
    let hash = |sets: &[&str]| at(&run(TINY, sets), "result_hash").clone();
    assert_eq!(hash(&["device.pages_per_program=1"]), hash(&[]));
    let slots = [SLOTS[0], SLOTS[1], "device.allocation=\"dynamic\""];
    let one = [&slots[..], &["device.pages_per_program=1"]].concat();
    assert_eq!(hash(&one), hash(&slots));
}
