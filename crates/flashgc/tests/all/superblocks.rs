//! Superblocks: planes that share their blocks (docs/superblocks.md).

use crate::common;

use common::{TINY, assert_near, number, refusal, run, run_verified, whole};
use serde_json::Value;

const BUS_COPIES: &str = "gc.copy.use=\"bus\"";
const BUS: &str = "device.timing.transfer=\"1 ns/B\"";
const WORDS: [&str; 5] = ["plane", "die", "chip", "channel", "drive"];

/// The checker follows every page, its order in each plane, and all times.
#[test]
fn schemes_work_on_superblocks() {
    for superblock in &WORDS[1..] {
        for unit in &WORDS[..4] {
            for scheme in ["greedy", "fifo", "d-choices"] {
                let sets = [
                    format!("device.superblock=\"{superblock}\""),
                    format!("device.unit=\"{unit}\""),
                    format!("gc.scheme=\"{scheme}\""),
                ];
                let sets = sets.each_ref().map(String::as_str);
                let usual = ["device.blocks_per_plane=24", BUS_COPIES, BUS];
                let all = [&usual[..], &sets].concat();
                let place = |word| WORDS.iter().position(|other| other == word);
                if place(superblock) < place(unit) {
                    assert!(refusal(TINY, &all).contains("must be at least the unit"), "{sets:?}");
                    continue;
                }
                let report = run_verified(TINY, &all);
                assert!(whole(&report, "gc.count") > 0, "{sets:?}");
            }
        }
    }
}

/// Of one unit, without time: a drive of superblocks over these planes, and one of one plane whose
/// blocks are as large.
fn with_planes(planes: u32, sets: &[&str]) -> Value {
    let pages = 48 / planes;
    let device = [
        "device.channels=1".to_string(),
        "device.chips_per_channel=1".into(),
        format!("device.planes_per_die={planes}"),
        format!("device.pages_per_block={pages}"),
        "device.superblock=\"die\"".into(),
    ];
    let usual = [
        "device.blocks_per_plane=100",
        "device.exported=0.85",
        "workload.synthetic.read_share=0.0",
        "workload.synthetic.requests=20_000",
        BUS_COPIES,
    ];
    let device: Vec<&str> = device.iter().map(String::as_str).collect();
    run_verified(TINY, &[&device[..], &usual, sets].concat())
}

#[test]
fn superblocks_of_one_unit_are_larger_blocks_of_one_plane() {
    let keys = ["pages.gc_moved", "gc.count", "erases", "precondition.programmed_pages"];
    for scheme in ["greedy", "fifo", "d-choices", "cost-benefit", "random"] {
        let victim = format!("gc.victim.use=\"{scheme}\"");
        let rules: &[&str] = match scheme {
            "cost-benefit" => &[&victim, "gc.victim.cost-benefit.form=\"sqrt-age\""],
            _ => &[&victim],
        };
        for placement in ["one-frontier", "separate-gc"] {
            let placement = format!("gc.placement.use=\"{placement}\"");
            for timing in ["none", "events"] {
                let timing = format!("engine.timing=\"{timing}\"");
                let sets = [rules, &[&placement, &timing]].concat();
                let large = with_planes(1, &sets);
                for planes in [2, 4, 6] {
                    let shared = with_planes(planes, &sets);
                    for key in keys {
                        let (found, expected) = (whole(&shared, key), whole(&large, key));
                        assert!(expected > 0, "{sets:?} {key}");
                        assert_eq!(found, expected, "{planes} planes, {sets:?}: {key}");
                    }
                }
            }
        }
    }
}
