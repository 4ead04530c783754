//! `table_bytes`: the memory of the tables that grow with the drive, counted by hand.

use crate::common;

use common::{TINY, finish, prepare_or_none, run, whole};
use flashgc::config::presets;

/// The drive of TINY: 8 planes of 16 blocks of 8 pages; 76 pages of each plane hold data.
const PLANES: u64 = 8;
const BLOCKS: u64 = PLANES * 16;
const PAGES: u64 = BLOCKS * 8;
const USER_PAGES: u64 = PLANES * 76;

/// The map and the reverse map have 4 bytes for each page.
const MAP: u64 = 4 * (USER_PAGES + PAGES);
/// A block has its state (4 bytes), one word of valid bits (8), its erases now and when the
/// measured part began (4 and 4), the time and the number of its sealing (8 and 8), and its two
/// neighbours in the list of erased blocks (4 and 4).
const BLOCK_TABLES: u64 = BLOCKS * (4 + 8 + 4 + 4 + 8 + 8 + 4 + 4);

fn table_bytes(sets: &[&str]) -> u64 {
    whole(&run(TINY, sets), "table_bytes")
}

#[test]
fn the_tables_are_those_of_pages_and_blocks() {
    assert_eq!(table_bytes(&["gc.victim.use=\"random\""]), MAP + BLOCK_TABLES);
}

/// Greedy has a row for each plane and number of valid pages: a bit for each block (one word), a
/// bit for each of these words (one word), and a count of 4 bytes.
#[test]
fn an_index_of_victims_adds_to_them() {
    assert_eq!(table_bytes(&[]), MAP + BLOCK_TABLES + PLANES * 8 * (8 + 8 + 4));
}

#[test]
fn hotness_groups_add_their_counters_and_groups() {
    let sets = [
        "device.pages_per_block=32",
        "device.sub_blocks=4",
        "device.layers=16",
        "device.exported=0.3",
        "device.blocks_per_plane=32",
        "gc.erase.use=\"sub-blocks\"",
        "gc.victim.use=\"recycle-benefit\"",
        "gc.trigger.watermark.soft=\"20%\"",
    ];
    let groups = "gc.placement.use=\"hotness-groups\"";
    let groups = [groups, "gc.placement.hotness-groups.groups=3"];
    let counters = ["gc.placement.hotness-groups.counters=256"];
    let without = table_bytes(&sets);
    let with = run(TINY, &[&sets[..], &groups, &counters].concat());
    let [counters, groups] =
        ["hotness.counter_bytes", "hotness.group_bytes"].map(|key| whole(&with, key));
    assert_eq!(counters, 7 * 256);
    // An entry, and a place of 4 bytes in each of three lists.
    let each = groups / (PLANES * 32);
    assert_eq!(groups, each * PLANES * 32);
    assert!((12 + 32..12 + 64).contains(&each), "{each} bytes for a block");
    assert_eq!(whole(&with, "table_bytes"), without + counters + groups);
}

/// What a run is refused for before it begins: with the tables of the placement, which are more
/// than those of the drive for some, and estimated from smaller drives.
#[test]
fn the_tables_are_known_before_a_run() {
    let sets = |scheme: &str| {
        let large = ["device.blocks_per_plane=220", "device.pages_per_block=64"];
        let short = ["workload.synthetic.requests=50", "precondition.overwrite=0"];
        let scheme = format!("gc.scheme=\"{scheme}\"");
        large.into_iter().chain(short).map(String::from).chain([scheme]).collect::<Vec<_>>()
    };
    let (mut known, mut with_more) = (0, 0);
    for scheme in presets::scheme_names() {
        let sets = sets(scheme);
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let Some(setup) = prepare_or_none(TINY, &sets) else { continue };
        let (expected, pages) = (setup.table_bytes_expected(), setup.plan.geometry.pages);
        let report = finish(setup, None, false).unwrap_or_else(|e| panic!("{scheme}: {e}"));
        let own = whole(&report, "table_bytes");
        let share = expected as f64 / own as f64;
        assert!((0.95..1.1).contains(&share), "{scheme}: {expected} expected, {own} in the run");
        known += 1;
        with_more += u32::from(own > u64::from(pages) * 8);
    }
    assert!(known > 30 && with_more > 3, "{known} {with_more}");
}
