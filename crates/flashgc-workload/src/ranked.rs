//! Zipf's distribution as other programs have it: how ranks are drawn, where they lie, and whether
//! the popular ones change.

use super::permutation::Permutation;
use super::zipf::Zipf;
use flashgc_model::rng::Random;
use serde::Serialize;
use std::cell::Cell;

/// Popularity falls with rank as rank^-theta.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ZipfChoice {
    /// The exponent.
    pub theta: f64,
    /// The location of the ranks.
    #[serde(skip_serializing_if = "Ranks::are_scattered")]
    pub ranks: Ranks,
    /// Whether ranks are drawn by the formula of Gray and others, and not exactly.
    #[serde(skip_serializing_if = "is_false")]
    pub by_formula: bool,
    /// Whether the popular ranks change places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shuffle: Option<Shuffle>,
    /// The number of ranks, where it is not that of the places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub population: Option<u64>,
}

/// By reference, as serialisation needs it.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// The location of the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ranks {
    /// Each rank has a place of its own, far from its neighbours' places.
    Scattered,
    /// The most popular one has the first place, and so on.
    InOrder,
    /// The place is the remainder of a product, as in fio: some places have several ranks, and
    /// others none.
    Hashed,
}

impl Ranks {
    /// By reference, as serialisation needs it.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    fn are_scattered(&self) -> bool {
        *self == Ranks::Scattered
    }
}

/// The popular ranks are permuted among themselves again and again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Shuffle {
    /// The most popular ranks, as a share of all.
    pub share: f64,
    /// Draws between two permutations, as a share of the places.
    pub every: f64,
}

impl ZipfChoice {
    /// Drawn exactly, scattered, and the same for ever.
    pub fn new(theta: f64) -> Self {
        ZipfChoice {
            theta,
            ranks: Ranks::Scattered,
            by_formula: false,
            shuffle: None,
            population: None,
        }
    }
}

/// Draws ranks and permutes them.
#[derive(Clone)]
pub struct Ranked {
    positions: u64,
    population: u64,
    draw: Draw,
    ranks: Ranks,
    shuffle: Option<Shuffling>,
}

#[derive(Clone)]
enum Draw {
    Exact(Zipf),
    Formula(Gray),
}

#[derive(Clone)]
struct Shuffling {
    /// Ranks that are permuted.
    ranks: u64,
    every: u64,
    /// Draws until the next permutation.
    left: Cell<u64>,
    /// None before the first one is due.
    order: Cell<Option<Permutation>>,
}

impl Ranked {
    /// Over this number of places, at least one.
    pub fn new(choice: &ZipfChoice, positions: u64) -> Self {
        let population = choice.population.unwrap_or(positions);
        let draw = match choice.by_formula {
            true => Draw::Formula(Gray::new(population, choice.theta)),
            false => Draw::Exact(Zipf::new(population, choice.theta)),
        };
        let of = |share: f64| libm::round(share * positions as f64) as u64;
        let shuffle = choice.shuffle.map(|Shuffle { share, every }| {
            let every = of(every).max(1);
            Shuffling {
                ranks: of(share).min(positions),
                every,
                left: Cell::new(every),
                order: Cell::new(None),
            }
        });
        Ranked { positions, population, draw, ranks: choice.ranks, shuffle }
    }

    /// The next rank, from 0 on, and where it lies unless ranks are scattered.
    #[inline]
    pub fn next(&self, random: &mut Random) -> u64 {
        let drawn = match &self.draw {
            Draw::Exact(zipf) => zipf.next(random),
            Draw::Formula(gray) => gray.next(random.unit()),
        };
        let rank = drawn.clamp(1, self.population) - 1;
        let rank = if self.population > self.positions { self.shared(rank) } else { rank };
        let rank = match &self.shuffle {
            Some(shuffle) => shuffle.rank(rank, random),
            None => rank,
        };
        match self.ranks {
            Ranks::Hashed => rank.wrapping_mul(HASH) % self.positions,
            Ranks::Scattered | Ranks::InOrder => rank,
        }
    }

    /// With more ranks than places: the most popular ones have a place each, as they have on the
    /// drive that this one stands for, and the others share the other places evenly. So the places
    /// have the shares of the requests that parts of the larger drive have.
    fn shared(&self, rank: u64) -> u64 {
        let own = self.positions.div_ceil(OWN);
        if rank < own {
            return rank;
        }
        let (places, ranks) = (self.positions - own, self.population - own);
        let part = u128::from(rank - own) * u128::from(places) / u128::from(ranks);
        // A single place has all ranks.
        (own + part as u64).min(self.positions - 1)
    }

    /// Whether the ranks are still to be scattered.
    pub fn are_scattered(&self) -> bool {
        self.ranks.are_scattered()
    }
}

/// One place of this many has one rank, where others have several.
const OWN: u64 = 1024;

/// The factor by which fio finds the place of a rank.
const HASH: u64 = 0x9e37_ffff_fffc_0001;

impl Shuffling {
    /// The rank in the place of this one.
    #[inline]
    fn rank(&self, rank: u64, random: &mut Random) -> u64 {
        match self.left.get() {
            0 => {
                self.order.set(Some(Permutation::draw(self.ranks, random)));
                self.left.set(self.every - 1);
            }
            left => self.left.set(left - 1),
        }
        match self.order.get() {
            Some(order) if rank < self.ranks => order.of(rank),
            _ => rank,
        }
    }
}

/// The formula of Gray and others (SIGMOD 1994), which fio and YCSB use: a continuous curve in
/// place of the sums, exact for the first two ranks.
#[derive(Clone, Debug)]
struct Gray {
    ranks: f64,
    zeta: f64,
    /// The sum up to which the second rank reaches.
    second: f64,
    eta: f64,
    power: f64,
}

/// Terms of the sum that are added up; the others are the area under the curve.
const TERMS: u64 = 1 << 20;

impl Gray {
    /// The exponent is not 1.
    fn new(ranks: u64, theta: f64) -> Self {
        let term = |rank: u64| libm::pow(rank as f64, -theta);
        let most = ranks.min(TERMS);
        // The smallest first.
        let sum: f64 = (1..=most).rev().map(term).sum();
        let until = |rank: u64| libm::pow(rank as f64, 1.0 - theta) / (1.0 - theta);
        let rest = until(ranks) - until(most) + (term(ranks) - term(most)) / 2.0;
        let (zeta, second) = (sum + rest, 1.0 + libm::pow(0.5, theta));
        let ranks = ranks as f64;
        let eta = (1.0 - libm::pow(2.0 / ranks, 1.0 - theta)) / (1.0 - second / zeta);
        Gray { ranks, zeta, second, eta, power: 1.0 / (1.0 - theta) }
    }

    /// The rank of a number in [0, 1), from 1 on. Rounding may name the rank behind the last.
    #[inline]
    fn next(&self, drawn: f64) -> u64 {
        let area = drawn * self.zeta;
        if area < 1.0 {
            1
        } else if area < self.second {
            2
        } else {
            1 + (self.ranks * libm::pow(self.eta * drawn - self.eta + 1.0, self.power)) as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(choice: &ZipfChoice, positions: u64, draws: u64) -> Vec<u64> {
        let (ranked, mut random) = (Ranked::new(choice, positions), Random::named(1, "address"));
        let mut counts = vec![0; positions as usize];
        (0..draws).for_each(|_| counts[ranked.next(&mut random) as usize] += 1);
        counts
    }

    #[test]
    fn ranks_in_order_fall_as_the_power() {
        let choice = ZipfChoice { ranks: Ranks::InOrder, ..ZipfChoice::new(1.0) };
        let counts = counts(&choice, 50, 400_000);
        let harmonic: f64 = (1..=50).map(|k| 1.0 / f64::from(k)).sum();
        for (rank, &count) in counts.iter().enumerate() {
            let due = 400_000.0 / harmonic / (rank + 1) as f64;
            assert!((count as f64 - due).abs() < 5.0 * due.sqrt() + 1.0, "rank {rank}");
        }
    }

    /// Parts of a small drive have the share of the draws that parts of a large one have, and the
    /// most popular ranks keep theirs.
    #[test]
    fn a_small_drive_has_the_shares_of_a_large_one() {
        let (places, population, draws) = (10_000_u64, 1_000_000_u64, 2_000_000_u64);
        let choice = ZipfChoice {
            ranks: Ranks::InOrder,
            population: Some(population),
            ..ZipfChoice::new(1.0)
        };
        let counts = counts(&choice, places, draws);
        let harmonic = |ranks: u64| (1..=ranks).map(|k| 1.0 / k as f64).sum::<f64>();
        let share = |ranks: u64| harmonic(ranks) / harmonic(population);
        for rank in 1..=3 {
            let found = counts[..rank].iter().sum::<u64>() as f64 / draws as f64;
            assert!((found / share(rank as u64) - 1.0).abs() < 0.01, "rank {rank}: {found}");
        }
        for part in [0.01, 0.1, 0.5] {
            let found = counts[..(part * 1e4) as usize].iter().sum::<u64>() as f64 / draws as f64;
            let due = share((part * 1e6) as u64);
            assert!((found / due - 1.0).abs() < 0.01, "{part}: {found}, {due}");
        }
        // With fewer ranks than places the other places have none.
        let few = ZipfChoice { population: Some(7), ..choice };
        let counts = self::counts(&few, 50, 10_000);
        assert!(counts[6] > 0 && counts[7..].iter().all(|&count| count == 0), "{counts:?}");
        for places in [1, 2] {
            let counts = self::counts(&choice, places, 1000);
            assert!(counts.iter().all(|&count| count > 0), "{counts:?}");
        }
    }

    /// The formula is exact for two ranks, and its inverse is known: rank k or less up to
    /// 1 + ((k/n)^(1-theta) - 1) / eta.
    #[test]
    fn the_formula_has_its_own_distribution() {
        let (ranks, theta) = (1000_u64, 1.1);
        let gray = Gray::new(ranks, theta);
        let sum: f64 = (1..=ranks).map(|k| libm::pow(k as f64, -theta)).sum();
        assert!((gray.zeta - sum).abs() < 1e-9);
        assert_eq!([0.0, 0.999 / sum, 1.001 / sum].map(|drawn| gray.next(drawn)), [1, 1, 2]);
        for rank in [3, 10, 100, 999] {
            let up_to = 1.0 + (libm::pow(rank as f64 / 1000.0, 1.0 - theta) - 1.0) / gray.eta;
            assert_eq!(
                [up_to - 1e-9, up_to + 1e-9].map(|drawn| gray.next(drawn)),
                [rank, rank + 1]
            );
        }
        assert_eq!(gray.next(1.0 - f64::EPSILON / 2.0), 1000);
    }

    #[test]
    fn a_long_sum_ends_with_an_area() {
        for theta in [0.5, 0.99, 1.1] {
            let ranks = 3 * TERMS;
            let sum: f64 = (1..=ranks).rev().map(|k| libm::pow(k as f64, -theta)).sum();
            assert!((Gray::new(ranks, theta).zeta / sum - 1.0).abs() < 1e-9);
        }
    }

    /// With 1,953,125 places, 35.1 % have no rank.
    #[test]
    fn hashed_ranks_share_places() {
        let places = 1_953_125_u64;
        let mut used = vec![false; places as usize];
        (0..places).for_each(|rank| used[(rank.wrapping_mul(HASH) % places) as usize] = true);
        let none = used.iter().filter(|&&is_used| !is_used).count() as f64 / places as f64;
        assert!((none - 0.351).abs() < 0.001, "{none}");
    }

    #[test]
    fn popular_ranks_change_places_among_themselves() {
        let shuffle = Some(Shuffle { share: 0.2, every: 2.0 });
        let choice = ZipfChoice { ranks: Ranks::InOrder, shuffle, ..ZipfChoice::new(1.2) };
        let (ranked, mut random) = (Ranked::new(&choice, 100), Random::named(1, "address"));
        let mut hottest = Vec::new();
        for _ in 0..10 {
            let mut counts = [0; 100];
            (0..200).for_each(|_| counts[ranked.next(&mut random) as usize] += 1);
            let most = (0..100).max_by_key(|&at| counts[at]).expect("places");
            assert!(most < 20, "{most}");
            hottest.push(most);
        }
        assert_eq!(hottest[0], 0, "the first order is that of the ranks");
        hottest.sort_unstable();
        hottest.dedup();
        assert!(hottest.len() > 4, "{hottest:?}");
        // Long-term counts by place: equal for all popular places.
        let counts = counts(&choice, 100, 400_000);
        let (hot, cold) = (&counts[..20], &counts[20..]);
        let mean = hot.iter().sum::<u64>() as f64 / 20.0;
        assert!(hot.iter().all(|&n| (n as f64 / mean - 1.0).abs() < 0.25), "{hot:?}");
        assert!(cold.iter().all(|&n| (n as f64) < mean / 3.0), "{cold:?}");
    }

    /// The share of the pages that are written again within `u` writes, among pages whose last data
    /// lived for at most `v` writes. The formula is by Wang and others (FAST 2022).
    fn inferred(theta: f64, pages: u64, v: f64, u: f64) -> f64 {
        let weights: Vec<f64> = (1..=pages).map(|rank| libm::pow(rank as f64, -theta)).collect();
        let sum: f64 = weights.iter().sum();
        let within = |p: f64, writes: f64| -libm::expm1(writes * libm::log1p(-p));
        let (mut both, mut young) = (0.0, 0.0);
        for p in weights.into_iter().map(|weight| weight / sum) {
            young += p * within(p, v);
            both += p * within(p, v) * within(p, u);
        }
        both / young
    }

    /// With skew, the lifetime of the data that a write replaces predicts the lifetime of the new
    /// data.
    #[test]
    fn lifetimes_can_be_inferred_as_far_as_writes_are_skewed() {
        // 10 GiB of pages; v and u in GiB.
        for (theta, v, u, due) in
            [(1.0, 0.25, 1.0, 0.9767), (1.0, 1.0, 1.0, 0.9370), (0.0, 0.25, 1.0, 0.0952)]
        {
            let found = inferred(theta, 5 << 19, v * 262_144.0, u * 262_144.0);
            assert!((found - due).abs() < 2e-4, "{theta} {v} {u}: {found}");
        }
        // The measured share in the draws of a small volume.
        let (pages, v, u) = (20_000, 500, 2_000);
        let choice = ZipfChoice { ranks: Ranks::InOrder, ..ZipfChoice::new(1.0) };
        let (ranked, mut random) = (Ranked::new(&choice, pages), Random::named(1, "address"));
        let mut writes = vec![Vec::new(); pages as usize];
        (0..600_000).for_each(|at: u32| writes[ranked.next(&mut random) as usize].push(at));
        let (mut young, mut both) = (0, 0);
        for times in writes {
            for three in times.windows(3).filter(|three| three[1] - three[0] <= v) {
                young += 1;
                both += u32::from(three[2] - three[1] <= u);
            }
        }
        let (found, due) = (f64::from(both) / f64::from(young), inferred(1.0, pages, 500.0, 2e3));
        assert!((found - due).abs() < 0.004, "{found}, {due}");
    }
}
