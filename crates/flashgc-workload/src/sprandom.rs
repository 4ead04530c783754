//! The order of writes of fio's `sprandom`: a drive that is to be in the steady state of uniform
//! random writes after its physical capacity was written once.
//!
//! Facts from fio's manual (HOWTO, version 3.42) and its discussions; nothing was taken from its
//! source. The life of a pass:
//!
//! 1. The writes of the pass, as many as the drive has physical blocks, are cut into regions of
//!    equal size.
//! 2. Each region first overwrites what the region before has chosen, and then writes blocks that
//!    were never written, in random order; with a cache it overwrites at its end.
//! 3. Every write of a region is chosen with the same probability: its share of invalid blocks.
//! 4. The last region has none, so every block was written and every chosen one overwritten.
//!
//! Under uniform overwrites a block of flash loses valid pages in proportion to those that it has.
//! So over the age of blocks the valid share falls from 1 by a constant factor from region to
//! region, and its mean is user / physical: this determines all shares (docs/sprandom.md).

use crate::permutation::Permutation;
use flashgc_model::rng::Random;
use serde::Serialize;

/// The most regions.
pub const REGIONS_MAX: u32 = 100_000;
/// Halvings of the interval of the factor between two regions.
const HALVINGS: u32 = 60;

/// The parameters of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SprandomPlan {
    /// (physical - user) / user, above 0 and below 1.
    pub over_provisioning: f64,
    /// Parts of the pass with a share of invalid blocks of their own, at least two.
    pub regions: u32,
    /// The cache of the drive, at most a region; with one, overwrites come one region later.
    #[serde(skip_serializing_if = "is_zero")]
    pub cache_bytes: u64,
}

/// By reference, as serialisation needs it.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

/// The writes of one region, and those of them that become invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// Writes, of new blocks and of chosen ones.
    pub writes: u64,
    /// Chosen ones among them, which the next region overwrites.
    pub chosen: u64,
}

impl SprandomPlan {
    /// Writes of a pass over this number of blocks.
    pub fn writes(&self, blocks: u64) -> u64 {
        blocks + self.overwrites(blocks)
    }

    /// Those of them that overwrite.
    fn overwrites(&self, blocks: u64) -> u64 {
        libm::round(blocks as f64 * self.over_provisioning) as u64
    }

    /// The regions of a pass over this number of blocks, in order.
    pub fn regions(&self, blocks: u64) -> Vec<Region> {
        let (writes, overwrites) = (self.writes(blocks), self.overwrites(blocks));
        let shares = self.invalid_shares();
        let all: f64 = shares.iter().sum();
        let up_to = |at: u64| (u128::from(writes) * u128::from(at) / shares.len() as u128) as u64;
        let (mut sum, mut chosen) = (0.0, 0);
        let regions = shares.iter().zip(0..).map(|(share, at)| {
            let own = up_to(at + 1) - up_to(at);
            let next = up_to((at + 2).min(shares.len() as u64)) - up_to(at + 1);
            sum += share;
            let due = libm::round(overwrites as f64 * (sum / all)) as u64;
            // Where regions have few blocks, the next one takes the rest.
            let region = Region { writes: own, chosen: (due - chosen).min(own).min(next) };
            chosen += region.chosen;
            region
        });
        regions.collect()
    }

    /// The share of invalid blocks of each region, the oldest first.
    fn invalid_shares(&self) -> Vec<f64> {
        let valid = 1.0 / (1.0 + self.over_provisioning);
        let mean = |factor: f64| {
            let powers = (0..self.regions).scan(1.0, |power, _| {
                let now = *power;
                *power *= factor;
                Some(now)
            });
            powers.sum::<f64>() / f64::from(self.regions)
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = (low + high) / 2.0;
            if mean(middle) < valid { low = middle } else { high = middle }
        }
        let mut shares = Vec::with_capacity(self.regions as usize);
        let mut valid_share = 1.0;
        for _ in 0..self.regions {
            shares.push(1.0 - valid_share);
            valid_share *= low;
        }
        shares.reverse();
        shares
    }
}

/// Draws the writes of a pass.
pub struct Sprandom {
    regions: Vec<Region>,
    waits: bool,
    random: Random,
    order: Permutation,
    /// Blocks of the order that were written.
    visited: u64,
    /// The region under way, its writes that are left, and the ones to choose from them.
    at: usize,
    left: Region,
    /// The blocks that this region overwrites, and how many of them it has.
    due: Vec<u64>,
    done: usize,
    /// The blocks that the next region overwrites.
    chosen: Vec<u64>,
}

impl Sprandom {
    /// Over this number of blocks, at least one and below 2^62.
    pub fn new(plan: &SprandomPlan, blocks: u64, mut random: Random) -> Self {
        let regions = plan.regions(blocks);
        let order = Permutation::draw(blocks, &mut random);
        Sprandom {
            left: regions[0],
            regions,
            waits: plan.cache_bytes > 0,
            random,
            order,
            visited: 0,
            at: 0,
            due: Vec::new(),
            done: 0,
            chosen: Vec::new(),
        }
    }

    /// Another pass begins, in another order.
    pub fn restart(&mut self) {
        self.order = Permutation::draw(self.order.count(), &mut self.random);
        (self.visited, self.at, self.left, self.done) = (0, 0, self.regions[0], 0);
        self.due.clear();
        self.chosen.clear();
    }
}

/// The blocks of the pass, in the order in which they are written.
impl Iterator for Sprandom {
    type Item = u64;

    #[inline]
    fn next(&mut self) -> Option<u64> {
        while self.left.writes == 0 {
            self.at += 1;
            self.left = *self.regions.get(self.at)?;
            std::mem::swap(&mut self.due, &mut self.chosen);
            self.chosen.clear();
            self.done = 0;
        }
        let due = (self.due.len() - self.done) as u64;
        let is_new = self.visited < self.order.count();
        let overwrites = if self.waits { due >= self.left.writes } else { due > 0 };
        let block = if due > 0 && (overwrites || !is_new) {
            self.done += 1;
            self.due[self.done - 1]
        } else if is_new {
            self.visited += 1;
            self.order.of(self.visited - 1)
        } else {
            return None;
        };
        if self.random.below(self.left.writes) < self.left.chosen {
            self.chosen.push(block);
            self.left.chosen -= 1;
        }
        self.left.writes -= 1;
        Some(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(over_provisioning: f64, regions: u32, cache_bytes: u64) -> SprandomPlan {
        SprandomPlan { over_provisioning, regions, cache_bytes }
    }

    fn pass(plan: &SprandomPlan, blocks: u64, seed: u64) -> Vec<u64> {
        Sprandom::new(plan, blocks, Random::named(seed, "pass")).collect()
    }

    /// The closed form for many regions: with the least valid share v, the mean over regions is
    /// (1 - v) / ln(1 / v), and the valid share of age x is v^x.
    #[test]
    fn shares_are_those_of_the_closed_form() {
        for over_provisioning in [0.07, 0.15, 0.28, 0.6] {
            let mean = |v: f64| (1.0 - v) / -libm::log(v);
            let (mut low, mut high) = (1e-9, 1.0 - 1e-9);
            for _ in 0..80 {
                let v = (low + high) / 2.0;
                if mean(v) < 1.0 / (1.0 + over_provisioning) { low = v } else { high = v }
            }
            let shares = plan(over_provisioning, 2_000, 0).invalid_shares();
            for (at, share) in shares.iter().enumerate() {
                let age = 1.0 - at as f64 / 1_999.0;
                assert!((1.0 - share - libm::pow(low, age)).abs() < 1e-3, "{at}: {share}");
            }
            let sum: f64 = shares.iter().sum::<f64>() / 2_000.0;
            assert!((1.0 - sum - 1.0 / (1.0 + over_provisioning)).abs() < 1e-9, "{sum}");
        }
    }

    /// Every block is written; each region has its writes, and its chosen ones are overwritten
    /// within the next region, at its start or, with a cache, at its end.
    #[test]
    fn each_region_is_left_with_its_share() {
        for (blocks, over_provisioning, regions, cache) in [
            (10_000u64, 0.15, 100u32, 0),
            (10_000, 0.15, 100, 1),
            (10_000, 0.07, 7, 0),
            (5_003, 0.9, 2, 0),
            (5_003, 0.9, 2, 1),
            (1_000, 0.28, 1_280, 0),
        ] {
            let plan = plan(over_provisioning, regions, cache);
            let writes = pass(&plan, blocks, 1);
            assert_eq!(writes, pass(&plan, blocks, 1), "the same seed");
            assert_ne!(writes, pass(&plan, blocks, 2), "another seed");
            assert_eq!(writes.len() as u64, plan.writes(blocks));
            let mut last = vec![usize::MAX; blocks as usize];
            for (at, block) in writes.iter().enumerate() {
                last[*block as usize] = at;
            }
            assert!(last.iter().all(|&at| at != usize::MAX), "each block is written");
            let (mut from, mut before) = (0, Vec::new());
            for Region { writes: count, chosen } in plan.regions(blocks) {
                let own = &writes[from..from + count as usize];
                let is_dead = |at: usize| last[own[at] as usize] != from + at;
                let dead: Vec<u64> =
                    (0..own.len()).filter(|&at| is_dead(at)).map(|at| own[at]).collect();
                assert_eq!(dead.len() as u64, chosen, "{from}: {plan:?}");
                let at = if cache > 0 { own.len() - before.len() } else { 0 };
                assert_eq!(own[at..at + before.len()], before, "{from}: {plan:?}");
                (from, before) = (from + count as usize, dead);
            }
        }
    }

    #[test]
    fn a_pass_that_restarts_is_another_one() {
        let mut source = Sprandom::new(&plan(0.15, 10, 0), 1_000, Random::named(1, "pass"));
        let first: Vec<u64> = source.by_ref().collect();
        source.restart();
        let second: Vec<u64> = source.collect();
        assert_eq!(first.len(), second.len());
        assert_ne!(first, second);
    }
}
