//! Sub-blocks under the checker: an erase of them frees a run of one block that its isolation
//! allows, no data is lost beside it, and the index finds what the scan finds.

mod common;

use common::{run, run_verified, whole, Choices, TINY};
use proptest::prelude::*;

/// TINY with blocks of 32 pages in sub-blocks of 8, each of 4 layers.
const LAYERED: &[&str] = &[
    "device.pages_per_block=32",
    "device.sub_blocks=4",
    "device.layers=16",
    "gc.erase.use=\"sub-blocks\"",
    "gc.victim.use=\"recycle-benefit\"",
    "gc.trigger.watermark.soft=\"12 blocks\"",
];
const HARDWARE: &[&str] = &["gc.erase.sub-blocks.isolation=\"hardware\"", "device.exported=0.45"];

fn with<'a>(sets: &[&[&'a str]]) -> Vec<&'a str> {
    sets.concat()
}

#[test]
fn windows_isolated_by_software_lose_nothing() {
    let report = run_verified(TINY, &with(&[LAYERED, &["device.exported=0.5"]]));
    assert!(whole(&report, "gc.count") > 100);
    assert!(whole(&report, "gc.neighbours_moved") > 0);
    assert_eq!(whole(&report, "capacity.isolation_pages"), 0);
}

#[test]
fn invalid_sub_blocks_isolated_by_layers_lose_nothing() {
    let sets = with(&[LAYERED, HARDWARE, &["gc.victim.use=\"invalid-sub-blocks\""]]);
    let report = run_verified(TINY, &sets);
    assert!(whole(&report, "gc.count") > 100);
    // 3 layers of 2 pages in each of 8 x 16 blocks.
    assert_eq!(whole(&report, "capacity.isolation_pages"), 768);
}
