//! Planes in step: multi-plane operations where programs join pages (docs/one-shot.md#planes).

use crate::common;
use crate::mapping_unit::schemes_run_on;

use common::{
    TINY, assert_near, at, found_against, number, refusal, run, run_verified, setup, whole,
};
use flashgc::verify::checker::Promises;
use serde_json::Value;

const SLOTS: [&str; 3] = [
    "device.page_size=\"16 KiB\"",
    "device.mapping_unit=\"4 KiB\"",
    "device.allocation=\"dynamic\"",
];
const BUS: &str = "device.timing.transfer=\"1 ns/B\"";
/// Transfer of a flash page.
const PAGE_NS: f64 = 16_384.0;
const PAGE_BYTES: f64 = 16_384.0;

/// Requests of one kind on one die of four planes.
fn of_one_kind(sets: &[&str]) -> Value {
    let usual = [
        "device.channels=1",
        "device.chips_per_channel=1",
        "device.planes_per_die=4",
        "device.blocks_per_plane=128",
        "device.pages_per_block=9",
        "device.timing.program=\"2.25 ms\"",
        BUS,
        "workload.synthetic.queue_depth=64",
        "workload.synthetic.requests=300",
        "precondition.overwrite=0.0",
        "gc.scheme=\"ideal\"",
    ];
    run_verified(TINY, &[&usual[..], &SLOTS, sets].concat())
}

/// Bytes of the pages of all planes, divided by their transfers and one program; with cache
/// programs, by the longer of both.
#[test]
fn a_program_writes_a_word_line_of_each_plane() {
    let writes = [
        "workload.synthetic.read_share=0.0",
        "workload.synthetic.sequential_share=1.0",
        "workload.synthetic.size=\"192 KiB\"",
        "workload.synthetic.align=\"192 KiB\"",
        "precondition.fill=\"none\"",
    ];
    for planes in [1, 2, 4] {
        for pages in [1, 3] {
            for cached in ["none", "programs"] {
                let device = [
                    format!("device.multi_plane={planes}"),
                    format!("device.pages_per_program={pages}"),
                    format!("device.cache_operations=\"{cached}\""),
                ];
                let device = device.each_ref().map(String::as_str);
                let report = of_one_kind(&[&writes[..], &device].concat());
                let joined = f64::from(planes * pages);
                let (transfer_ns, program_ns) = (joined * PAGE_NS, 2_250_000.0);
                let ns = match cached {
                    "none" => transfer_ns + program_ns,
                    _ => program_ns.max(transfer_ns),
                };
                let expected = joined * PAGE_BYTES * 1e9 / ns;
                let found = number(&report, "throughput.bytes_per_s");
                assert_near(&device.join(" "), found, expected, 0.01);
            }
        }
    }
}

/// Pages of the same number in all planes share a tR; two random ones hardly ever are.
#[test]
fn a_read_is_of_the_same_page_in_each_plane() {
    for planes in [1, 2, 4] {
        let together = format!("device.multi_plane={planes}");
        let size = ["workload.synthetic.size=\"64 KiB\"", "workload.synthetic.align=\"64 KiB\""];
        let reads = ["workload.synthetic.read_share=1.0", &together];
        let report = of_one_kind(&[&reads[..], &size].concat());
        let ns = 25_000.0 + f64::from(planes) * PAGE_NS;
        let expected = f64::from(planes) * PAGE_BYTES * 1e9 / ns;
        let found = number(&report, "throughput.bytes_per_s");
        assert_near(&together, found, expected, 0.01);
        let random = of_one_kind(&[&reads[..], &["workload.synthetic.requests=2_000"]].concat());
        let found = number(&random, "throughput.bytes_per_s");
        assert_near(&together, found, 4096.0 * 1e9 / (25_000.0 + PAGE_NS / 4.0), 0.02);
    }
}

/// Without time, planes in step write and copy the same as one plane of larger pages.
#[test]
fn planes_in_step_are_one_plane_of_larger_pages() {
    let usual = [
        "device.channels=1",
        "device.chips_per_channel=1",
        "device.blocks_per_plane=100",
        "device.pages_per_block=12",
        "device.allocation=\"dynamic\"",
        "device.mapping_unit=\"4 KiB\"",
        "device.exported=0.8",
        "workload.synthetic.read_share=0.0",
        "workload.synthetic.requests=1_000",
        "workload.synthetic.size=\"4 KiB\"",
        "workload.synthetic.align=\"4 KiB\"",
        "precondition.overwrite=3.0",
    ];
    let key = "precondition.programmed_pages";
    for scheme in ["greedy", "fifo", "d-choices", "cost-benefit"] {
        let scheme = format!("gc.scheme=\"{scheme}\"");
        let of = |sets: &[&str]| run(TINY, &[&usual[..], &[&scheme], sets].concat());
        let types = "device.pages_per_program=3";
        let planes =
            ["device.planes_per_die=4", "device.multi_plane=4", "device.page_size=\"16 KiB\""];
        let large = ["device.planes_per_die=1", "device.page_size=\"64 KiB\""];
        let [planes, large] =
            [planes.to_vec(), large.to_vec()].map(|sets| of(&[&sets[..], &[types]].concat()));
        assert_eq!(whole(&planes, key), whole(&large, key), "{scheme}");
        assert!(whole(&planes, key) > 0, "{scheme} collects");
        // In time they differ by the array reads of one page in place of four.
        let [planes, large] = [&planes, &large].map(|report| number(report, "write_amplification"));
        assert_near(&scheme, planes, large, 0.02);
    }
}

/// The checker follows every page and recalculates the array time of every operation.
#[test]
fn schemes_work_on_planes_in_step() {
    let types = "device.timing.read=[\"20 us\",\"30 us\",\"70 us\"]";
    let lines = ["device.pages_per_block=9", "device.pages_per_program=3"];
    let devices: [&[&str]; 6] = [
        &[BUS, SLOTS[0], SLOTS[1], SLOTS[2]],
        &[BUS, SLOTS[0], SLOTS[1], SLOTS[2], lines[0], lines[1], types, "gc.copy.use=\"bus\""],
        &[BUS, SLOTS[2], lines[0], lines[1], types],
        &[SLOTS[0], SLOTS[1], "device.allocation=\"when-idle\"", "device.unit=\"chip\""],
        &[
            SLOTS[0],
            SLOTS[1],
            SLOTS[2],
            "device.layers=4",
            "device.timing.layer_ratio=3.0",
            "workload.synthetic.trim_share=0.2",
        ],
        &[
            SLOTS[0],
            SLOTS[1],
            SLOTS[2],
            lines[0],
            lines[1],
            "device.layers=3",
            "device.timing.layer_ratio=3.0",
            "device.timing.layer_map=\"striped\"",
            "gc.placement.use=\"separate-gc\"",
        ],
    ];
    let usual = ["device.multi_plane=2", "device.blocks_per_plane=24", "device.exported=0.5"];
    schemes_run_on(&devices, &usual);
}

#[test]
fn the_report_has_the_planes_of_the_device() {
    let sets = [&SLOTS[..], &["device.multi_plane=2"]].concat();
    let report = run_verified(TINY, &sets);
    assert_eq!(whole(&report, "slots.per_page"), 4);
    assert_eq!(whole(&report, "slots.per_program"), 8);
    let shape = |key: &str| whole(&report, &format!("config.device.shape.{key}"));
    assert_eq!([shape("planes_per_die"), shape("multi_plane")], [2, 2]);
    assert_eq!([shape("pages_per_block"), shape("blocks_per_plane")], [32, 16]);
    assert!(at(&report, "config.device.shape").get("pages_per_program").is_none());
    // `multi_plane = 1` is the default.
    let hash = |sets: &[&str]| at(&run(TINY, sets), "result_hash").clone();
    assert_eq!(hash(&[&SLOTS[..], &["device.multi_plane=1"]].concat()), hash(&SLOTS));
}

/// The checker's planes are its own.
#[test]
fn the_checker_notices_a_program_of_a_wrong_length() {
    let setup = setup(TINY, &[&SLOTS[..], &["device.multi_plane=2"]].concat());
    let mut promises = Promises::of(&setup.plan);
    for timing in promises.timing.as_mut().expect("the checker looks") {
        timing.program_ns *= 2;
    }
    let found = found_against(&setup, promises);
    assert!(found.contains("ended a flush with 200000 ns"), "{found}");
}

#[test]
fn planes_in_step_are_groups_of_equal_size() {
    let refused: [(&[&str], &str); 3] = [
        (
            &["device.planes_per_die=4", "device.multi_plane=3"],
            "must divide device.planes_per_die = 4",
        ),
        (&["device.multi_plane=2", "device.unit=\"plane\""], "needs units of several planes"),
        (
            &["device.multi_plane=2", "device.pages_per_block=10_000"],
            "at most 65535 mapped pages together, got 80000",
        ),
    ];
    for (sets, words) in refused {
        let found = refusal(TINY, &[&SLOTS[..], sets].concat());
        assert!(found.contains(words), "{sets:?}\n{found}");
    }
}
