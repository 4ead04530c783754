//! The addresses of requests: distributions over the pages of a drive.

use super::permutation::Permutation;
use super::ranked::{Ranked, ZipfChoice};
use super::zipf::Zipf;
use flashgc_model::rng::Random;
use serde::Serialize;

/// A distribution of addresses over `positions` places.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AddressChoice {
    /// Every place with the same probability.
    Uniform,
    /// Popularity falls with rank as rank^-theta.
    Zipf(ZipfChoice),
    /// Self-similar: the share `1 - h` of the requests goes to the share `h` of the places, and so
    /// on within that share. Ranks are scattered over the places.
    Pareto {
        /// Above 0 and below 1.
        h: f64,
    },
    /// Gaussian around a place; draws beyond the places are repeated.
    Normal {
        /// The standard deviation, as a share of the places.
        stddev: f64,
        /// The place of the mean, as a share of the places.
        center: f64,
    },
    /// A share `r` of the requests goes to a share `f` of the places.
    HotCold {
        /// Hot share of the places.
        f: f64,
        /// Share of the requests that go there.
        r: f64,
    },
    /// Groups of places, one behind the other, each with its share of the requests; uniform in
    /// each.
    Groups(Vec<Group>),
    /// Groups of places, scattered over all places.
    Scattered {
        /// The groups, as for [`AddressChoice::Groups`].
        groups: Vec<Group>,
        /// Names the permutation of the places: the same number, the same places.
        scatter: u64,
    },
}

impl AddressChoice {
    /// Whether it is a law of ranks that leaves the location of popular places open.
    pub fn is_scattered(&self) -> bool {
        match self {
            AddressChoice::Zipf(choice) => *choice == ZipfChoice::new(choice.theta),
            AddressChoice::Pareto { .. } => true,
            _ => false,
        }
    }

    /// The permutation that scatters the places of groups, where one does.
    pub(super) fn scatter(&self, positions: u64) -> Option<Permutation> {
        let AddressChoice::Scattered { scatter, .. } = self else { return None };
        Some(Permutation::draw(positions, &mut Random::named(*scatter, "scatter")))
    }
}

/// A group of places.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Group {
    /// Its share of the places.
    pub places: f64,
    /// Its share of the requests.
    pub requests: f64,
}

/// Draws places.
#[derive(Clone)]
pub struct Addresses {
    positions: u64,
    draw: Draw,
    /// The permutation of the places of groups, where they are scattered.
    scatter: Option<Permutation>,
}

#[derive(Clone)]
enum Draw {
    Uniform,
    Zipf { zipf: Zipf, scatter: Scatter },
    Ranked(Box<Ranked>, Scatter),
    Pareto { power: f64, scatter: Scatter },
    Normal { stddev: f64, center: f64 },
    HotCold { hot: u64, r: f64 },
    Groups(Vec<Drawn>),
}

/// A group: the sum of its share of the requests and the shares before it, and its places.
#[derive(Clone)]
struct Drawn {
    up_to: f64,
    first: u64,
    places: u64,
}

impl Addresses {
    /// Over this number of places, at least one.
    pub fn new(choice: &AddressChoice, positions: u64) -> Self {
        let positions = positions.max(1);
        let draw = match choice {
            AddressChoice::Uniform => Draw::Uniform,
            AddressChoice::Zipf(choice) if *choice == ZipfChoice::new(choice.theta) => {
                let zipf = Zipf::new(positions, choice.theta);
                Draw::Zipf { zipf, scatter: Scatter::new(positions) }
            }
            AddressChoice::Zipf(choice) => {
                let ranked = Box::new(Ranked::new(choice, positions));
                Draw::Ranked(ranked, Scatter::new(positions))
            }
            AddressChoice::Pareto { h } => {
                let power = libm::log(*h) / libm::log(1.0 - h);
                Draw::Pareto { power, scatter: Scatter::new(positions) }
            }
            AddressChoice::Normal { stddev, center } => {
                let of = positions as f64;
                Draw::Normal { stddev: stddev * of, center: center * of }
            }
            AddressChoice::HotCold { f, r } => {
                Draw::HotCold { hot: (f * positions as f64) as u64, r: *r }
            }
            AddressChoice::Groups(groups) | AddressChoice::Scattered { groups, .. } => {
                Draw::Groups(drawn(groups, positions))
            }
        };
        Addresses { positions, draw, scatter: choice.scatter(positions) }
    }

    /// Addresses with groups that begin and end as fio's zones do: their first place and their
    /// number of places are rounded down, so that the last places may have no requests.
    pub fn whole(choice: &AddressChoice, positions: u64) -> Self {
        let (AddressChoice::Groups(groups) | AddressChoice::Scattered { groups, .. }) = choice
        else {
            return Addresses::new(choice, positions);
        };
        let positions = positions.max(1);
        let draw = Draw::Groups(whole(groups, positions));
        Addresses { positions, draw, scatter: choice.scatter(positions) }
    }

    /// The next place.
    #[inline(always)]
    pub fn next(&self, random: &mut Random) -> u64 {
        let place = self.drawn(random);
        match &self.scatter {
            None => place,
            Some(scatter) => scatter.of(place),
        }
    }

    #[inline(always)]
    fn drawn(&self, random: &mut Random) -> u64 {
        match &self.draw {
            Draw::Uniform => random.below(self.positions),
            Draw::Zipf { zipf, scatter } => {
                scatter.place(zipf.next(random).clamp(1, self.positions) - 1)
            }
            Draw::Ranked(ranked, scatter) => match ranked.are_scattered() {
                true => scatter.place(ranked.next(random)),
                false => ranked.next(random),
            },
            Draw::Pareto { power, scatter } => {
                let share = libm::pow(random.unit(), *power);
                let rank = (share * self.positions as f64) as u64;
                scatter.place(rank.min(self.positions - 1))
            }
            Draw::Normal { stddev, center } => self.normal(*stddev, *center, random),
            Draw::HotCold { hot, r } => {
                let cold = self.positions - hot;
                if *hot > 0 && (cold == 0 || random.unit() < *r) {
                    random.below(*hot)
                } else {
                    hot + random.below(cold)
                }
            }
            Draw::Groups(groups) => {
                let drawn = random.unit();
                let at = groups.partition_point(|group| group.up_to <= drawn);
                let group = &groups[at.min(groups.len() - 1)];
                group.first + random.below(group.places)
            }
        }
    }

    fn normal(&self, stddev: f64, center: f64, random: &mut Random) -> u64 {
        for _ in 0..NORMAL_TRIES {
            let at = libm::floor(center + random.normal(stddev));
            if at >= 0.0 && at < self.positions as f64 {
                return at as u64;
            }
        }
        (center as u64).min(self.positions - 1)
    }
}

/// With a mean among the places and a standard deviation of at most their number, at least a third
/// of the draws fall on a place: this many misses do not occur.
const NORMAL_TRIES: u32 = 1000;

/// The places of each group that has requests: at least one, even if its share is less.
fn drawn(groups: &[Group], positions: u64) -> Vec<Drawn> {
    let place = |share: f64| libm::round(share * positions as f64) as u64;
    let places =
        |_: &Group, end: f64, first: u64| place(end).min(positions).saturating_sub(first).max(1);
    parted(groups, positions, place, places)
}

/// The most by which a sum of shares may fall short of a whole place.
const ROUNDING: f64 = 1e-6;

/// The whole places of each group that has requests.
fn whole(groups: &[Group], positions: u64) -> Vec<Drawn> {
    let place = |share: f64| libm::floor(share * positions as f64 + ROUNDING) as u64;
    let places =
        |group: &Group, _: f64, first: u64| place(group.places).clamp(1, positions - first);
    parted(groups, positions, place, places)
}

/// The groups that have requests, one after the other: `place` gives the place at a sum of shares,
/// and `places` the number of places of a group that ends at a sum and has this first place.
fn parted(
    groups: &[Group],
    positions: u64,
    place: impl Fn(f64) -> u64,
    places: impl Fn(&Group, f64, u64) -> u64,
) -> Vec<Drawn> {
    let (mut share, mut up_to) = (0.0, 0.0);
    let mut drawn = Vec::new();
    for group in groups {
        let first = place(share).min(positions - 1);
        share += group.places;
        up_to += group.requests;
        if group.requests > 0.0 {
            drawn.push(Drawn { up_to, first, places: places(group, share, first) });
        }
    }
    drawn
}

/// The place behind each group, in their order.
pub(super) fn group_ends(groups: &[Group], positions: u64) -> Vec<u64> {
    let mut share = 0.0;
    let end = |group: &Group| {
        share += group.places;
        (libm::round(share * positions as f64) as u64).min(positions)
    };
    groups.iter().map(end).collect()
}

/// Ranks scattered over places: successive ranks land far apart, and every place has one rank.
#[derive(Clone)]
pub(super) struct Scatter {
    positions: u64,
    stride: u64,
    /// The reciprocal of the positions, over 2^64. Zero where products of a rank and the stride may
    /// need more than 64 bits.
    reciprocal: u64,
}

impl Scatter {
    pub(super) fn new(positions: u64) -> Self {
        let fits = positions <= 1 << 32;
        let reciprocal = if fits { u64::MAX / positions } else { 0 };
        Scatter { positions, stride: scatter_stride(positions), reciprocal }
    }

    /// The factor from places to their ranks.
    pub(super) fn inverse(&self) -> u64 {
        inverse(self.stride, self.positions)
    }

    /// The place of a rank: the remainder of a division, which takes several times the time of a
    /// product with the reciprocal. The product gives the quotient, or one less.
    #[inline(always)]
    fn place(&self, rank: u64) -> u64 {
        let Scatter { positions, stride, reciprocal } = *self;
        if reciprocal == 0 {
            return (u128::from(rank) * u128::from(stride) % u128::from(positions)) as u64;
        }
        let product = rank * stride;
        let quotient = ((u128::from(product) * u128::from(reciprocal)) >> 64) as u64;
        let rest = product - quotient * positions;
        if rest < positions { rest } else { rest - positions }
    }
}

/// A stride without a common divisor with `positions`, near its golden section.
fn scatter_stride(positions: u64) -> u64 {
    let start = (positions as f64 * 0.618_033_988_749_894_9) as u64;
    (start.max(1)..).find(|&stride| gcd(stride, positions) == 1).unwrap_or(1)
}

/// The number whose product with this one leaves 1 when it is divided by `positions`.
fn inverse(stride: u64, positions: u64) -> u64 {
    let of = i128::from(positions);
    let (mut old, mut new) = ((i128::from(stride), 1_i128), (of, 0_i128));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
    }
    old.1.rem_euclid(of) as u64
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(choice: AddressChoice, positions: u64, draws: u64) -> Vec<u64> {
        let addresses = Addresses::new(&choice, positions);
        let mut random = Random::named(1, "address");
        let mut counts = vec![0; positions as usize];
        for _ in 0..draws {
            counts[addresses.next(&mut random) as usize] += 1;
        }
        counts
    }

    #[test]
    fn hot_places_get_their_share() {
        let counts = counts(AddressChoice::HotCold { f: 0.2, r: 0.8 }, 100, 100_000);
        let hot: u64 = counts[..20].iter().sum();
        assert!((79_000..81_000).contains(&hot), "{hot}");
        assert!(counts.iter().all(|&n| n > 0));
    }

    /// Read off fio 3.33: `zoned:60/10:30/20:10/70` over 2, 5, 7 and 12 blocks.
    #[test]
    fn whole_groups_are_zones_of_fio() {
        let group = |places, requests| Group { places, requests };
        let choice = AddressChoice::Groups(vec![group(0.1, 0.6), group(0.2, 0.3), group(0.7, 0.1)]);
        for (positions, expected) in [
            (2, vec![1.0, 0.0]),
            (5, vec![0.9, 0.033, 0.033, 0.033, 0.0]),
            (7, vec![0.9, 0.0, 0.025, 0.025, 0.025, 0.025, 0.0]),
            (12, [vec![0.6, 0.15, 0.15], vec![0.0125; 8], vec![0.0]].concat()),
        ] {
            let (addresses, draws) = (Addresses::whole(&choice, positions), 20_000);
            let mut random = Random::named(1, "address");
            let mut counts = vec![0; positions as usize];
            for _ in 0..draws {
                counts[addresses.next(&mut random) as usize] += 1;
            }
            for (count, share) in counts.iter().zip(&expected) {
                let found = f64::from(*count) / f64::from(draws);
                assert!((found - share).abs() < 0.01, "{positions}: {counts:?}");
            }
        }
    }

    #[test]
    fn groups_get_their_shares_and_what_is_in_none_gets_nothing() {
        let group = |places, requests| Group { places, requests };
        let groups = vec![group(0.1, 0.6), group(0.3, 0.0), group(0.2, 0.3), group(0.2, 0.1)];
        let counts = counts(AddressChoice::Groups(groups), 50, 100_000);
        let sum = |from: usize, to: usize| counts[from..to].iter().sum::<u64>();
        assert_eq!((sum(5, 20), sum(40, 50)), (0, 0));
        for (found, expected) in [(sum(0, 5), 60_000), (sum(20, 30), 30_000), (sum(30, 40), 10_000)]
        {
            assert!(u64::abs_diff(found, expected) < 1_000, "{found}");
        }
        assert!(counts[..5].iter().all(|&n| n.abs_diff(12_000) < 600), "{counts:?}");
    }

    /// The number of hot places in each tenth of the drive is random, and the same for the same
    /// number.
    #[test]
    fn scattered_groups_lie_all_over() {
        let groups =
            vec![Group { places: 0.2, requests: 1.0 }, Group { places: 0.8, requests: 0.0 }];
        let hot = |scatter| {
            let choice = AddressChoice::Scattered { groups: groups.clone(), scatter };
            let found = counts(choice, 10_000, 200_000);
            (0..10_000).filter(|&place| found[place] > 0).collect::<Vec<usize>>()
        };
        let found = hot(1);
        assert_eq!((found.len(), &found), (2_000, &hot(1)));
        for tenth in 0..10 {
            let here = found.iter().filter(|&&place| place / 1_000 == tenth).count();
            // The standard deviation is 12.
            assert!(here.abs_diff(200) < 50, "{tenth}: {here}");
        }
        let both = hot(2).iter().filter(|place| found.binary_search(place).is_ok()).count();
        assert!(both.abs_diff(400) < 80, "{both}");
    }

    #[test]
    fn a_group_smaller_than_a_place_keeps_its_requests() {
        let groups =
            vec![Group { places: 0.001, requests: 0.5 }, Group { places: 0.9, requests: 0.5 }];
        for positions in [1, 2, 10] {
            let counts = counts(AddressChoice::Groups(groups.clone()), positions, 10_000);
            assert_eq!(counts.iter().sum::<u64>(), 10_000);
            assert!(counts[0] > 4_500, "{counts:?}");
        }
    }

    #[test]
    fn zipf_gives_each_rank_a_place_of_its_own() {
        let mut counts = counts(AddressChoice::Zipf(ZipfChoice::new(1.0)), 50, 400_000);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let harmonic: f64 = (1..=50).map(|k| 1.0 / f64::from(k)).sum();
        for (rank, &count) in counts.iter().enumerate() {
            let expected = 400_000.0 / harmonic / (rank + 1) as f64;
            assert!((count as f64 - expected).abs() < 5.0 * expected.sqrt() + 1.0, "rank {rank}");
        }
    }

    #[test]
    fn places_are_the_rests_of_a_division() {
        let mut random = Random::named(1, "address");
        for positions in [1, 2, 3, 10, 1000, (1 << 21) - 1, 1 << 32, (1 << 32) + 1, 1 << 45] {
            let scatter = Scatter::new(positions);
            let due =
                |rank: u64| u128::from(rank) * u128::from(scatter.stride) % u128::from(positions);
            let drawn = [(); 10_000].map(|()| random.below(positions));
            for rank in drawn.into_iter().chain([0, positions / 2, positions - 1]) {
                assert_eq!(u128::from(scatter.place(rank)), due(rank), "{rank} of {positions}");
            }
        }
    }

    /// The first k of n ranks get the share (k / n)^(ln(1 - h) / ln h) of the draws.
    #[test]
    fn pareto_is_self_similar() {
        for h in [0.1, 0.2, 0.4, 0.7] {
            let counts = counts(AddressChoice::Pareto { h }, 1000, 400_000);
            let stride = scatter_stride(1000);
            let counts: Vec<u64> =
                (0..1000).map(|rank| counts[(rank * stride % 1000) as usize]).collect();
            let power = libm::log(1.0 - h) / libm::log(h);
            for first in [10, 50, 200, 500, 900] {
                let found = counts[..first].iter().sum::<u64>() as f64 / 400_000.0;
                let due = libm::pow(first as f64 / 1000.0, power);
                assert!((found - due).abs() < 0.005, "h {h}, {first}: {found} of {due}");
            }
            assert!((libm::pow(h, power) - (1.0 - h)).abs() < 1e-12);
        }
    }

    #[test]
    fn normal_has_its_mean_and_deviation() {
        let (stddev, center) = (0.05, 0.25);
        let counts = counts(AddressChoice::Normal { stddev, center }, 10_000, 400_000);
        let moment = |of: fn(f64, f64) -> f64, by: f64| {
            let terms = counts.iter().enumerate();
            terms.map(|(at, &n)| of(at as f64 / 1e4, by) * n as f64).sum::<f64>() / 400_000.0
        };
        let mean = moment(|at, _| at, 0.0);
        let variance = moment(|at, mean| (at - mean) * (at - mean), mean);
        assert!((mean - center).abs() < 0.0005, "{mean}");
        assert!((libm::sqrt(variance) - stddev).abs() < 0.0005, "{variance}");
        // Half of the draws lie within 0.6745 standard deviations.
        let near: u64 = counts[2163..2837].iter().sum();
        assert!((near as f64 / 400_000.0 - 0.5).abs() < 0.005, "{near}");
    }

    #[test]
    fn extreme_shares_stay_in_range() {
        for (f, r) in [(0.0, 1.0), (1.0, 0.0), (0.5, 0.0), (0.001, 1.0)] {
            let counts = counts(AddressChoice::HotCold { f, r }, 10, 1000);
            assert_eq!(counts.iter().sum::<u64>(), 1000);
        }
        for (stddev, center) in [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)] {
            let counts = counts(AddressChoice::Normal { stddev, center }, 10, 1000);
            assert_eq!(counts.iter().sum::<u64>(), 1000);
        }
        for h in [1e-6, 0.5, 1.0 - 1e-6] {
            assert_eq!(counts(AddressChoice::Pareto { h }, 10, 1000).iter().sum::<u64>(), 1000);
        }
    }
}
