//! Groups in a chain against models, and the groups that adapt.

use crate::common::{self, assert_near, at, number, refusal, run, whole};
use crate::oracles::{BLOCKS, Found, LOG, check};
use crate::placement::compare_after;

use flashgc::ids::Lpn;
use flashgc::rng::Random;
use flashgc::sim::Sim;
use flashgc::verify::{InDetail, Watchers};
use flashgc::workload::{Overwrites, SourceError};
use flashgc_oracles::chain::chain;
use flashgc_oracles::midas::{Chain as SecondChain, Filter};
use flashgc_oracles::separation::zipf;
use serde_json::Value;

#[test]
fn the_model_of_a_chain_gives_the_figures_of_its_table() {
    let blocks = |sizes: &[f64]| sizes.iter().map(|size| (size + 0.5) * 64.0).collect::<Vec<_>>();
    let found = chain(&zipf(100_000, 1.0), &blocks(&[100.0, 100.0, 1536.0]));
    assert_near("zipf 1.0", found.write_amplification, 3.605, 4e-3);
    for (valid, expected) in found.valid.iter().zip([0.386, 0.728, 0.873]) {
        assert_near("valid", *valid, expected, 4e-3);
    }
    let found = chain(&zipf(100_000, 0.8), &blocks(&[200.0, 1536.0]));
    assert_near("zipf 0.8", found.write_amplification, 5.251, 4e-3);
    let one = chain(&zipf(100_000, 1.0), &blocks(&[1736.0]));
    assert_near("one group", one.write_amplification, 7.617, 4e-3);
}

/// A log of `blocks` blocks of 64 pages with this placement.
fn log(blocks: u32, sets: &[&str]) -> Value {
    let size = format!("device.blocks_per_plane={blocks}");
    let midas = ["gc.placement.use=\"midas\"", size.as_str()];
    run(LOG, &[&midas[..], sets].concat())
}

#[test]
fn groups_of_fixed_sizes_meet_the_model() {
    for (theta, sizes) in [(1.0, vec![400.0, 400.0]), (0.8, vec![800.0]), (0.0, vec![500.0, 500.0])]
    {
        let address = format!("workload.synthetic.address={{zipf={theta}}}");
        let keys = format!("gc.placement.midas.sizes={sizes:?}").replace(".0", "");
        let sets = [
            "gc.victim.use=\"fifo\"",
            "device.exported=0.88",
            &keys,
            if theta > 0.0 { address.as_str() } else { "workload.synthetic.address=\"uniform\"" },
            "precondition.overwrite=8.0",
            "workload.synthetic.requests=1_000_000",
        ];
        let report = log(BLOCKS as u32, &sets);
        let found = Found::new(&report, 64.0);
        let pages = whole(&report, "capacity.exported_pages") as usize;
        // Each group has half an open block in addition to its sealed ones.
        let mut groups: Vec<f64> = sizes.iter().map(|size| (size + 0.5) * 64.0).collect();
        groups.push(pages as f64 / found.rho - groups.iter().sum::<f64>());
        let model = chain(&zipf(pages, theta), &groups);
        check(&format!("chain {theta} {sizes:?}"), &found, model.write_amplification, 0.01);
        for (at, &expected) in model.valid.iter().enumerate() {
            let valid = number(&report, &format!("placement.groups.{at}.valid_share"));
            assert_near(&format!("{theta} group {at}"), valid, expected, 0.01);
        }
        assert_eq!(number(&report, "placement.fallbacks"), 0.0);
    }
}

/// Copies by class equal the copies of a second program, to the page.
#[test]
fn chains_of_fixed_sizes_are_those_of_a_second_program() {
    for sizes in [&[12][..], &[6, 9], &[3, 4, 5, 6]] {
        let key = format!("gc.placement.midas.sizes={sizes:?}");
        let rule = |_| Box::new(SecondChain(sizes.to_vec())) as Box<_>;
        for victim in [[false, false], [true, false], [true, true]] {
            compare_after(20, "midas", &[&key], &rule, victim, sizes.len() + 1);
        }
    }
}

/// Until the first epoch ends, at six drive writes on this drive, there are hot pages, and classes
/// by the number of copies.
#[test]
fn hot_pages_are_those_of_a_second_program() {
    for victim in [[false, false], [true, false], [true, true]] {
        let groups = ["gc.placement.midas.groups=6"];
        compare_after(2, "midas", &groups, &|data| Box::new(Filter::new(data)), victim, 5);
    }
}

/// The shares of a run that adapts, with sizes; none before there was an epoch.
fn adapted(sets: &[&str]) -> (f64, Vec<Option<u64>>) {
    let drive = [
        "gc.victim.use=\"cost-benefit\"",
        "gc.victim.cost-benefit.form=\"sqrt-age\"",
        "gc.trigger.watermark.soft=\"4 blocks\"",
        "device.exported=0.93",
    ];
    let report = log(2048, &[&drive[..], sets].concat());
    let groups = at(&report, "placement.groups").as_array().expect("groups").clone();
    let sizes = groups.iter().map(|group| group["most_blocks"].as_u64()).collect();
    (number(&report, "write_amplification"), sizes)
}

/// The best chain without a hot group, with exact sizes and blocks of 1,024 pages, has 3.94; and
/// no policy that knows the past alone is below 2.62.
#[test]
fn groups_that_adapt_come_near_the_best_chain() {
    let zipf = "workload.synthetic.address={zipf=1.0}";
    let requests = "workload.synthetic.requests=400_000";
    let (found, sizes) = adapted(&[zipf, requests, "precondition.overwrite=16.0"]);
    assert!((2.7..4.1).contains(&found), "{found} {sizes:?}");
    let sized = sizes.iter().filter(|size| size.is_some()).count();
    assert!(sized >= 3 && sizes.len() == sized + 1, "{sizes:?}");
    // Before the first epoch is over there are hot pages, and four classes by copies.
    let (early, none) =
        adapted(&[zipf, "workload.synthetic.requests=200_000", "precondition.overwrite=2.0"]);
    assert_eq!(none, [None; 5]);
    assert!(found < early, "{found} {early}");
    // Uniform writes have nothing to separate.
    let sets = ["workload.synthetic.address=\"uniform\"", requests, "precondition.overwrite=16.0"];
    let (uniform, sizes) = adapted(&sets);
    assert!((6.5..8.5).contains(&uniform), "{uniform} {sizes:?}");
}

/// Zipf over pages that lie scattered, or uniform writes.
struct Changing {
    ends: Vec<f64>,
    random: Random,
    /// The first of the popular pages; none are popular while this is `None`.
    popular: Option<u32>,
}

impl Overwrites for Changing {
    fn next(&mut self) -> Result<Lpn, SourceError> {
        let (at, pages) = (self.random.unit(), self.ends.len());
        let Some(first) = self.popular else { return Ok(Lpn((at * pages as f64) as u32)) };
        let rank = self.ends.partition_point(|&end| end < at).min(pages - 1) as u32;
        Ok(Lpn((rank * 389 + first) % pages as u32))
    }
}

/// Popular pages, then none, then others. Groups are merged soon after the change, since the shares
/// of their valid pages differ from the forecast, and formed again after an epoch.
///
/// Fails where irregular groups are not merged (`IRREGULAR` of 9): they stay for 16 drive writes.
#[test]
fn groups_are_merged_when_the_workload_changes_and_formed_again() {
    let sizes = ["gc.scheme=\"midas\"", "device.blocks_per_plane=512", "device.exported=0.88"];
    let setup = common::setup(LOG, &sizes);
    let pages = setup.plan.geometry.exported_pages;
    let mut below = 0.0;
    let ends = zipf(pages as usize, 1.0).into_iter().map(|share| {
        below += share;
        below
    });
    let mut source =
        Changing { ends: ends.collect(), random: Random::named(5, "changing"), popular: None };
    let mut sim = Sim::new(setup.plan.clone(), common::checked(&setup));
    sim.untimed().fill(0, pages).expect("it fits");
    // After each quarter of a drive write: copies, and groups with a size.
    let mut write = |popular: Option<u32>, quarters: u32| -> Vec<(u64, usize)> {
        source.popular = popular;
        let step = |_| {
            let before = sim.untimed().pages_moved();
            sim.untimed().overwrite(&mut source, u64::from(pages) / 4).expect("there is space");
            let copies = sim.untimed().pages_moved() - before;
            let groups = sim.seen().results().placement.and_then(|found| found.groups);
            let groups = groups.expect("there are groups");
            (copies, groups.iter().filter(|group| group.most_blocks.is_some()).count())
        };
        (0..quarters).map(step).collect()
    };
    let (first, uniform, other) = (write(Some(0), 48), write(None, 24), write(Some(7919), 56));
    let last = |found: &[(u64, usize)]| found[found.len() - 1];
    let (before, after) = (last(&first), last(&other));
    assert!(before.1 >= 3, "{first:?}");
    let merged = uniform.iter().position(|found| found.1 == 0);
    assert!(merged.is_some_and(|at| at < 16), "{uniform:?}");
    assert!(after.1 >= 3, "{other:?}");
    // The second time the groups are as good as the first time.
    assert!(after.0.abs_diff(before.0) < before.0 / 10, "{before:?} {after:?}");
}

/// The drive of the authors' artifact, 8 GiB in blocks of 1,024 pages with 4 of them free, filled
/// and then written with Zipf of exponent 1, in windows of 8 GiB. On such a stream their simulator
/// (sungkyun123/MiDAS-Simulation, with the thread of its model joined) has 3.812 before its first
/// sizes, and 3.637 and 3.636 in the second and third window behind them. In the short form the
/// blocks have an eighth of the pages, and sizes save as much.
#[test]
fn the_run_of_the_authors_is_met_before_and_after_the_sizes() {
    let pages_per_block: u32 = if common::is_long() { 1024 } else { 128 };
    let drive = [
        "gc.scheme=\"midas\"",
        "gc.trigger.watermark.soft=\"4 blocks\"",
        "device.blocks_per_plane=2048",
        &format!("device.pages_per_block={pages_per_block}"),
        "device.exported=0.9313225748",
    ];
    let setup = common::setup(LOG, &drive);
    let pages = setup.plan.geometry.exported_pages;
    assert_eq!(pages, if common::is_long() { 1_953_125 } else { 244_140 });
    let mut below = 0.0;
    let ends = zipf(pages as usize, 1.0).into_iter().map(|share| {
        below += share;
        below
    });
    let random = Random::named(7, "authors");
    let mut source = Changing { ends: ends.collect(), random, popular: Some(7919) };
    let mut sim = Sim::new(setup.plan.clone(), Watchers::from(InDetail::default()));
    sim.untimed().fill(0, pages).expect("it fits");
    let window = u64::from(pages_per_block) << 11;
    let mut write = |_| {
        let before = sim.untimed().pages_moved();
        sim.untimed().overwrite(&mut source, window).expect("there is space");
        let copies = sim.untimed().pages_moved() - before;
        let groups = sim.seen().results().placement.and_then(|found| found.groups);
        let sized = groups.expect("groups").iter().filter(|it| it.most_blocks.is_some()).count();
        (1.0 + copies as f64 / window as f64, sized)
    };
    let found: Vec<(f64, usize)> = (0..9).map(&mut write).collect();
    assert_near("what they save", found[7].0 / found[3].0, 3.636 / 3.812, 0.02);
    if common::is_long() {
        assert_near("before the sizes", found[3].0, 3.812, 0.01);
        assert_near("with them", found[7].0, 3.636, 0.01);
        assert_near("with them", found[8].0, 3.637, 0.01);
    }
    assert!(found[3].1 == 0 && found[7].1 >= 5, "{found:?}");
}

#[test]
fn what_groups_cannot_be_combined_with_is_refused_with_a_reason() {
    let refused = |sets: &[&str]| {
        let midas = ["gc.placement.use=\"midas\"", "device.blocks_per_plane=64"];
        refusal(LOG, &[&midas[..], sets].concat())
    };
    let blocks = refused(&["gc.erase.use=\"blocks\"", "gc.erase.blocks.count=2"]);
    assert!(blocks.contains("needs an erase of one block"), "{blocks}");
    let sizes = refused(&["gc.placement.midas.sizes=[40, 24]"]);
    assert!(sizes.contains("sizes sum up to 64 blocks, but a plane has 64"), "{sizes}");
    let none = refused(&["gc.placement.midas.sizes=[]"]);
    assert!(none.contains("1 to 15 numbers of at least 1"), "{none}");
    let both = refused(&["gc.placement.midas.sizes=[4]", "gc.placement.midas.groups=3"]);
    assert!(both.contains("groups and sizes exclude each other"), "{both}");
}
