//! Without a clock the counts equal the timed run's, over random configurations.

use flashgc_histories::draw::{Drawn, draw, draw_placed, untimed_pairs};
use flashgc_histories::rules::{Outcome, check};
use std::collections::BTreeMap;

/// Configurations that are compared.
const COMPARED: usize = 200;
/// Tries of each pair of a placement and a victim.
const TRIES: u64 = 40;

/// Whether the two runs were compared. They are equal then.
fn is_compared(seed: u64, drawn: &Drawn) -> bool {
    let Drawn::Legal(history, _) = drawn else { return false };
    match check(history, seed, &["untimed"]) {
        Outcome::Passed(held) => !held.is_empty(),
        Outcome::Failed(failure) => panic!("seed {seed}: {failure:#?}\n{}", history.text()),
        Outcome::Refused(_) | Outcome::Ended(_) => false,
    }
}

#[test]
fn untimed_counts_are_the_timed_ones() {
    let seeds = (0..).filter(|&seed| is_compared(seed, &draw(seed)));
    assert_eq!(seeds.take(COMPARED).count(), COMPARED);
}

/// Every placement meets every victim of whole blocks, on planes and on superblocks.
#[test]
fn untimed_counts_are_the_timed_ones_of_each_placement_and_victim() {
    let mut compared: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, (placement, victim)) in untimed_pairs().into_iter().enumerate() {
        let seeds = at as u64 * TRIES..(at as u64 + 1) * TRIES;
        let mut drawn = seeds.map(|seed| (seed, draw_placed(seed, placement, victim)));
        let found = drawn.find(|(seed, drawn)| is_compared(*seed, drawn));
        let Some((_, Drawn::Legal(history, _))) = found else {
            panic!("no drive of {placement} and {victim} was compared");
        };
        let has_superblocks = history.get("device.superblock").is_some();
        let planes = if has_superblocks { "superblocks" } else { "planes" };
        for word in [placement, victim, planes] {
            *compared.entry(word).or_default() += 1;
        }
    }
    assert!(compared["superblocks"] >= 30 && compared["planes"] >= 30, "{compared:?}");
}
