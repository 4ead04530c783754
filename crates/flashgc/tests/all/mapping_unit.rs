//! A mapping unit below the flash page: slots that share programs and reads
//! (docs/mapping-unit.md).

use crate::common;

use common::{TINY, assert_near, at, number, refusal, run, run_filled, run_verified, setup, whole};
use serde_json::Value;

/// Four slots of 4 KiB in each flash page; a block has the number of flash pages that TINY has
/// pages.
const SLOTS: [&str; 3] = [
    "device.page_size=\"16 KiB\"",
    "device.mapping_unit=\"4 KiB\"",
    "device.allocation=\"dynamic\"",
];

/// Schemes that do not move single flash pages.
pub const SCHEMES: [&str; 13] = [
    "greedy",
    "pgc",
    "pgc-se",
    "fifo",
    "random",
    "cost-benefit",
    "d-choices",
    "wear-aware",
    "idle",
    "ideal",
    "pbgc",
    "ssdsim",
    "greedy-msr",
];

/// Requests suspend the operations of a collection, and find nothing in the register.
pub const SUSPENDS: [&str; 3] = [
    "device.suspend.suspend=\"20 us\"",
    "gc.preemption.suspend.merge=false",
    "gc.preemption.suspend.pipeline=false",
];

fn slots<'a>(sets: &[&'a str]) -> Vec<&'a str> {
    [&SLOTS, sets].concat()
}

/// The checker follows every slot, and recalculates the array time of every operation; the parts of
/// each latency add up.
#[test]
fn schemes_work_on_slots() {
    let bus = "device.timing.transfer=\"1 ns/B\"";
    let devices: [&[&str]; 7] = [
        &[bus],
        &[bus, "gc.copy.use=\"bus\""],
        &[bus, "gc.placement.use=\"separate-gc\"", "device.allocation=\"when-idle\""],
        &["workload.synthetic.read_share=0.2", "workload.synthetic.trim_share=0.2"],
        &["workload.synthetic.size=\"6 KiB\"", "workload.synthetic.align=\"2 KiB\""],
        &["device.unit=\"plane\"", "device.timing.command=\"1 us\""],
        &[
            "device.layers=4",
            "device.timing.layer_ratio=3.0",
            "device.timing.layer_map=\"striped\"",
        ],
    ];
    schemes_run_on(&devices, &SLOTS);
}

/// Each of these schemes on each of these devices, with and without time before the run.
pub fn schemes_run_on(devices: &[&[&str]], all: &[&str]) {
    for scheme in SCHEMES {
        for device in devices {
            if scheme == "ideal" && device.contains(&"gc.copy.use=\"bus\"") {
                continue;
            }
            let scheme = format!("gc.scheme=\"{scheme}\"");
            let mut sets = [all, &[&scheme], device].concat();
            if scheme.contains("pgc-se") {
                sets.extend(SUSPENDS);
            }
            run_filled(&setup(TINY, &sets));
            run_verified(TINY, &sets);
        }
    }
}

/// Uniform writes of 4 KiB over four planes, until the drive has collected.
pub const STEADY_WRITES: [&str; 10] = [
    "device.channels=1",
    "device.chips_per_channel=1",
    "device.blocks_per_plane=100",
    "device.allocation=\"dynamic\"",
    "device.unit=\"plane\"",
    "device.exported=0.8",
    "workload.synthetic.read_share=0.0",
    "workload.synthetic.size=\"4 KiB\"",
    "workload.synthetic.align=\"4 KiB\"",
    "precondition.overwrite=3.0",
];

/// One plane or four, with 64 flash pages of four slots in each block, or 256 pages of 4 KiB.
fn write_amplification(scheme: &str, planes: u32, unit: &[&str]) -> Value {
    let scheme = format!("gc.scheme=\"{scheme}\"");
    let planes = format!("device.planes_per_die={planes}");
    let sets = ["workload.synthetic.requests=250_000", &scheme, &planes];
    run(TINY, &[&STEADY_WRITES, &sets[..], unit].concat())
}

const JOINED: [&str; 3] =
    ["device.pages_per_block=64", "device.page_size=\"16 KiB\"", "device.mapping_unit=\"4 KiB\""];
const SMALL: [&str; 1] = ["device.pages_per_block=256"];

/// Slots lie in the log in the order of the writes, as small pages do.
#[test]
fn slots_are_written_and_copied_as_often_as_small_pages() {
    for scheme in ["greedy", "fifo", "d-choices"] {
        let report = |unit: &[&str]| write_amplification(scheme, 4, unit);
        let (joined, small) = (report(&JOINED), report(&SMALL));
        let [ours, theirs] =
            [&joined, &small].map(|report| number(report, "write_amplification_bytes"));
        assert!(theirs > 1.5, "{scheme} collects: {theirs}");
        assert_near(scheme, ours, theirs, 0.005);
        // A write of 4 KiB that takes a flash page of 16 KiB is another drive.
        let whole_pages = report(&["device.pages_per_block=64", "device.page_size=\"16 KiB\""]);
        assert!(number(&whole_pages, "write_amplification_bytes") > 3.0 * ours);
    }
}

/// In one plane every victim is the same, while nothing is timed.
#[test]
fn an_untimed_drive_of_slots_is_one_of_small_pages() {
    for scheme in ["greedy", "fifo", "d-choices", "cost-benefit"] {
        let [joined, small] =
            [&JOINED[..], &SMALL].map(|unit| write_amplification(scheme, 1, unit));
        let key = "precondition.programmed_pages";
        assert!(whole(&joined, key) > 0, "{scheme} collects");
        assert_eq!(at(&joined, key), at(&small, key), "{scheme}");
    }
}

/// Slots of a random layout: a page with any requested slot is read once. Of victims with a share v
/// of valid slots, (1 - (1 - v)^4) / 4 v reads a copy.
#[test]
fn a_collection_reads_each_flash_page_once() {
    let report = write_amplification("fifo", 4, &[&JOINED[..], &["gc.copy.use=\"bus\""]].concat());
    let valid = number(&report, "gc.moved_per_gc") / 256.0;
    let expected = (1.0 - (1.0 - valid).powi(4)) / (4.0 * valid);
    assert_near("reads a copy", number(&report, "slots.reads_per_copy"), expected, 0.02);
}

/// Only the requested slots cross the bus.
#[test]
fn a_read_transfers_its_slots() {
    let reads = ["workload.synthetic.read_share=1.0", "workload.synthetic.queue_depth=1"];
    let timed = ["device.timing.transfer=\"10 ns/B\"", "precondition.overwrite=0.0"];
    let report = run_verified(TINY, &slots(&[reads, timed].concat()));
    // 25 us in the array, and 4096 B at 10 ns.
    assert_eq!(number(&report, "latency_ns.read.max"), 65_960.0);
    assert_eq!(number(&report, "latency_ns.read.min"), 65_960.0);
}

/// Pages in the report are slots, and it has their number in a flash page.
#[test]
fn the_report_counts_slots() {
    let report = run_verified(TINY, &slots(&["workload.synthetic.read_share=0.0"]));
    assert_eq!(whole(&report, "slots.per_page"), 4);
    assert_eq!(whole(&report, "pages.host_written"), 3_000);
    assert_eq!(whole(&report, "capacity.physical_pages"), 8 * 16 * 8 * 4);
    let programmed = whole(&report, "pages.flushed") + whole(&report, "pages.gc_moved");
    let amplification = number(&report, "write_amplification") * 3_000.0;
    assert!((amplification - programmed as f64).abs() < 1e-6);
    let whole_pages = run_verified(TINY, &["device.page_size=\"16 KiB\""]);
    assert!(at(&whole_pages, "capacity").get("slots").is_none());
    assert!(whole_pages.get("slots").is_none());
}

/// Each refusal names the key and the way out, which works.
#[test]
fn what_moves_single_flash_pages_is_refused() {
    let refused: [(&[&str], &str); 11] = [
        (&["device.allocation=\"striped\""], "device.allocation"),
        (&["device.pool=\"chip\""], "device.pool"),
        (&["device.summary.pages=1"], "device.summary"),
        (&["device.write_completion=\"loaded\""], "write_completion"),
        (
            &["device.write_buffer.size=\"16 KiB\""],
            "at least two flash pages (8 mapped pages), got 4",
        ),
        (&["gc.scheme=\"parallel\"", "device.registers=2"], "set gc.copy.use = \"bus\""),
        (&["gc.copy.copyback.parity=true"], "set gc.copy.use = \"bus\""),
        (&["gc.scheme=\"gsm\"", "device.sub_blocks=2"], "set gc.erase.use = \"block\""),
        (&["gc.scheme=\"pgc-merge\""], "set gc.preemption.between-copies.merge = false"),
        (&["gc.scheme=\"bbgc\""], "set gc.blocking.use = \"plane\""),
        (&["gc.background.use=\"flush-buffer\""], "set gc.background.use = \"nothing\""),
    ];
    for (sets, words) in refused {
        let found = refusal(TINY, &slots(sets));
        assert!(found.contains("a mapping_unit below page_size"), "{sets:?}\n{found}");
        assert!(found.contains(words), "{sets:?}\n{found}");
    }
    let kept = ["device.write_buffer={size=\"1 MiB\",flush=\"when-full\"}"];
    let found = refusal(TINY, &slots(&kept));
    assert!(found.contains("flush = \"when-full\" needs programs of one page"), "{found}");
    for unit in ["3 KiB", "32 KiB", "0 B", "128 B"] {
        let unit = format!("device.mapping_unit=\"{unit}\"");
        let found = refusal(TINY, &slots(&[&unit]));
        assert!(found.contains("mapping_unit must be page_size (16384 B) or a half"), "{found}");
    }
    let blocks = ["device.pages_per_block=20_000", "device.exported=0.5"];
    let found = refusal(TINY, &slots(&blocks));
    assert!(found.contains("at most 65535 slots, got 80000"), "{found}");
}

/// A mapping unit of a whole page is none.
#[test]
fn a_unit_of_a_whole_page_changes_nothing() {
    let hash = |sets: &[&str]| at(&run(TINY, sets), "result_hash").clone();
    assert_eq!(hash(&["device.mapping_unit=\"4 KiB\""]), hash(&[]));
}
