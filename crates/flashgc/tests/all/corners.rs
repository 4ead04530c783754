//! Corners of tables and lists that whole runs seldom reach, or that leave no trace in a result.

use crate::common;

use common::{TINY, checked, drain, setup, synthetic};
use flashgc::ftl::blocks::Blocks;
use flashgc::ftl::frontier::{FrontierRules, Frontiers};
use flashgc::ftl::{Parity, Stream};
use flashgc::gc::Batch;
use flashgc::gc::used_space::{Counted, Measure, SpaceOf, UsedSpace, VictimLists};
use flashgc::ids::{BlockId, PlaneId};
use flashgc::sim::Sim;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A block of 130 pages has its valid pages in three words.
#[test]
fn the_lowest_valid_page_of_a_long_block_is_in_its_last_word() {
    let plan = setup(TINY, &["device.pages_per_block=130"]).plan;
    let mut blocks = Blocks::new(&plan.geometry);
    assert_eq!(blocks.first_valid(BlockId(1)), None);
    blocks.open(BlockId(1));
    for page in [129, 128, 100, 64, 63] {
        blocks.add_valid(BlockId(1), page);
        assert_eq!(blocks.first_valid(BlockId(1)), Some(page));
    }
}

fn rules(classes: u32) -> FrontierRules {
    FrontierRules {
        separate_gc: false,
        classes,
        always_open: 0,
        parity: false,
        reserve_blocks: 1,
        reserve_pages: 0,
        lag: 0,
    }
}

/// Blocks of a class are opened by the placement alone.
#[test]
fn a_frontier_of_a_class_opens_no_block_by_itself() {
    let geometry = setup(TINY, &[]).plan.geometry;
    let take = |classes| {
        let mut frontiers = Frontiers::new(&geometry, rules(classes));
        frontiers.take(&geometry, PlaneId(0), Stream::Host, Parity::Any).is_some()
    };
    assert!(take(0));
    assert!(!take(2));
}

/// The pages of a requested block count until a collection takes it, and not twice.
#[test]
fn a_requested_block_counts_until_it_is_taken() {
    let geometry = setup(TINY, &[]).plan.geometry;
    let measure = Measure::Used { free_pages: 10 };
    let rules = UsedSpace { of: SpaceOf::Device, measure, most_valid: 3 };
    let ten = Counted { free: 10, garbage: 0 };
    let mut lists = VictimLists::new(rules, Batch::One, &geometry);
    let plane = PlaneId(0);
    assert!(lists.is_on(ten));
    lists.add(plane);
    lists.request_one(plane);
    assert!(!lists.is_on(ten), "the block's pages are on their way");
    assert!(lists.claim(plane, 3));
    assert!(lists.is_on(ten), "its collection counts for itself");
    assert!(lists.is_empty());
}

/// A report whose sums differ from the checker's ends in a panic.
#[test]
fn the_checker_compares_each_sum_of_the_report() {
    let setup = setup(TINY, &[]);
    let mut sim = Sim::new(setup.plan.clone(), checked(&setup));
    sim.untimed().fill(0, setup.plan.geometry.exported_pages).expect("the fill fits");
    let mut results = drain(&mut sim, &mut synthetic(&setup), 1_000);
    sim.audit_counters(&results);
    results.counters.erases += 1;
    let audit = catch_unwind(AssertUnwindSafe(|| sim.audit_counters(&results)));
    assert!(audit.is_err(), "one erase too many goes unnoticed");
}
