//! Histories of an index against walks.

use super::*;
use crate::rng::Random;
use std::cmp::Reverse;

const PAGES: u32 = 6;

/// The valid pages of each candidate, and when it was sealed.
type Model = Vec<Option<(u32, u64)>>;

/// The score of cost-benefit, in whole numbers; blocks without valid pages are equal.
fn rank(now: u64, valid: u32, sealed: u64) -> Reverse<u64> {
    let score = u64::from(PAGES - valid) * (now - sealed) * 60 / u64::from(PAGES + valid);
    Reverse(if valid == 0 { u64::MAX } else { score })
}

fn hold(index: &mut SealOrder, model: &Model, now: u64, most_valid: u32) {
    let rank = |valid, sealed| rank(now, valid, sealed);
    let ranked = model.iter().enumerate().filter_map(|(block, candidate)| {
        let (valid, sealed) = candidate.filter(|&(v, _)| v < PAGES && v <= most_valid)?;
        Some((rank(valid, sealed), BlockId(block as u32)))
    });
    let sealed = |block: BlockId| model[block.index()].expect("only candidates are asked").1;
    let found = index.first(PlaneId(0), most_valid, sealed, rank);
    assert_eq!(found, ranked.min().map(|(_, block)| block));
}

/// The fewest valid pages among the blocks that were sealed first. Several blocks have one time.
fn hold_first(index: &SealOrder, model: &Model, numbers: &[u32], count: u32) {
    let of = |block: usize| Some((numbers[block], model[block]?.0, block as u32));
    let mut sealed: Vec<_> = (0..model.len()).filter_map(of).collect();
    assert_eq!(index.candidates(PlaneId(0)) as usize, sealed.len());
    sealed.sort_unstable();
    let first = sealed.iter().take(count as usize).filter(|&&(_, valid, _)| valid < PAGES);
    let fewest = first.map(|&(_, valid, block)| (valid, block)).min();
    let found = index.fewest_of_first(PlaneId(0), count);
    assert_eq!(found, fewest.filter(|_| count as usize <= sealed.len()).map(|it| BlockId(it.1)));
}

/// A score that falls with a weight of the block: its erases, for example.
fn hold_weighted(
    index: &SealOrder,
    least: &mut LeastWeights,
    model: &Model,
    weights: &[u64],
    now: u64,
) {
    let weight = |block: BlockId| weights[block.index()];
    least.update(PlaneId(0), index, weight);
    let sealed = |block: BlockId| model[block.index()].expect("a candidate").1;
    let rank = |valid: u32, block: BlockId, weight: u64| {
        Reverse(u64::from(PAGES - valid) * (now - sealed(block)) * 60 / (weight + 1))
    };
    let ranked = model.iter().enumerate().filter_map(|(block, candidate)| {
        let (valid, _) = candidate.filter(|&(valid, _)| valid < PAGES)?;
        let block = BlockId(block as u32);
        Some((rank(valid, block, weight(block)), block))
    });
    let found = index.first_weighted(PlaneId(0), u32::MAX, least, weight, rank);
    assert_eq!(found, ranked.min().map(|(_, block)| block));
}

/// Random histories, in which several blocks are sealed at a time, some are old, and turns are
/// numbered anew. The index finds what a walk over all blocks finds.
fn try_histories(blocks: u32, steps: u64, checks_one_in: u64) -> u32 {
    let mut random = Random::named(1, "seal order");
    let plane = PlaneId(0);
    let mut index = SealOrder::of(1, PAGES, blocks);
    let mut model: Model = vec![None; blocks as usize];
    let (mut least, mut weights) = (LeastWeights::new(&index), vec![0; blocks as usize]);
    let (mut numbers, mut seals) = (vec![0; blocks as usize], 0);
    for step in 1..steps {
        let (block, now) = (BlockId(random.below(u64::from(blocks)) as u32), step / 5 + 1);
        match model[block.index()] {
            None => {
                let valid = random.below(u64::from(PAGES) + 1) as u32;
                weights[block.index()] += random.below(9);
                index.seal(plane, block, valid);
                model[block.index()] = Some((valid, now));
                seals += 1;
                numbers[block.index()] = seals;
            }
            Some((valid, from)) if valid > 0 && random.below(4) > 0 => {
                index.lower(plane, block, valid - 1);
                model[block.index()] = Some((valid - 1, from));
            }
            Some((valid, _)) if block.0 % 16 > 0 || random.below(50) == 0 => {
                index.claim(plane, block, valid);
                model[block.index()] = None;
            }
            Some(_) => {}
        }
        if random.below(checks_one_in) == 0 {
            hold(&mut index, &model, now, random.below(u64::from(PAGES) + 2) as u32);
            hold_weighted(&index, &mut least, &model, &weights, now);
            hold_first(&index, &model, &numbers, random.below(u64::from(blocks)) as u32);
        }
    }
    seals
}

/// Turns are numbered anew more than a hundred times.
#[test]
fn an_index_finds_what_a_walk_over_all_blocks_finds() {
    assert!(try_histories(100, 120_000, 5) > 100 * 100);
}

/// Turns take more than 64 words.
#[test]
fn an_index_of_many_blocks_finds_what_a_walk_finds() {
    assert!(try_histories(5_000, 120_000, 100) > 2 * 5_000);
}
