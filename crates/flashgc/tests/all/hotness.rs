//! Pages by hotness: the class of a page, for writes of the host and for copies.

use crate::common;

use common::{TINY, setup};
use flashgc::ftl::Writer;
use flashgc::gc::placement::{Copied, Placement, Policy, Write};
use flashgc::ids::Lpn;

/// TINY with sub-blocks, and two groups of pages: from the first update on, and from the second.
const GROUPS: &[&str] = &[
    "device.pages_per_block=32",
    "device.sub_blocks=4",
    "device.layers=16",
    "device.exported=0.3",
    "gc.erase.use=\"sub-blocks\"",
    "gc.victim.use=\"recycle-benefit\"",
    "gc.trigger.watermark.soft=\"20%\"",
    "gc.placement.use=\"hotness-groups\"",
    "gc.placement.hotness-groups.groups=2",
    "gc.placement.hotness-groups.thresholds=[1, 2]",
];

/// The classes of a page when it is new, after one update, and after two: of the write, and of a
/// copy that follows.
fn classes(sets: &[&str]) -> [[u8; 2]; 3] {
    let setup = setup(TINY, &[GROUPS, sets].concat());
    let settings = setup.plan.gc.placement.as_ref().expect("there are groups");
    let mut placement = Policy::new(settings, &setup.plan.geometry, 1);
    let page = Lpn(5);
    [false, true, true].map(|is_update| {
        let write = Write { lpn: page, is_update, writer: Writer::default(), clock: 1, old: None };
        let copy = Copied { lpn: page, clock: 1, from: None, is_current: true };
        [placement.class_of_write(write), placement.class_of_copy(copy)]
    })
}

#[test]
fn pages_and_their_copies_go_by_hotness() {
    assert_eq!(classes(&[]), [[0, 0], [1, 1], [2, 2]]);
}

#[test]
fn all_hot_pages_go_to_the_highest_group_and_cold_ones_do_not() {
    let top = "gc.placement.hotness-groups.hot_to=\"top\"";
    assert_eq!(classes(&[top]), [[0, 0], [2, 2], [2, 2]]);
}

#[test]
fn copies_may_go_where_cold_pages_go() {
    let cold = "gc.placement.hotness-groups.copies=\"cold\"";
    assert_eq!(classes(&[cold]), [[0, 0], [1, 0], [2, 0]]);
}
