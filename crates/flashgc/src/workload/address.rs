//! Where requests go: distributions over the pages of a drive.

use crate::rng::Random;
use rand_distr::{Distribution, Zipf};
use serde::Serialize;

/// A distribution of addresses over `positions` places.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AddressChoice {
    /// Every place as likely as another.
    Uniform,
    /// Popularity falls with rank as rank^-theta; ranks are scattered over the places.
    Zipf {
        /// The exponent.
        theta: f64,
    },
    /// A share `r` of the requests goes to a share `f` of the places.
    HotCold {
        /// Hot share of the places.
        f: f64,
        /// Share of the requests that go there.
        r: f64,
    },
}

/// Draws places.
#[derive(Clone)]
pub struct Addresses {
    positions: u64,
    draw: Draw,
}

#[derive(Clone)]
enum Draw {
    Uniform,
    Zipf { zipf: Zipf<f64>, stride: u64 },
    HotCold { hot: u64, r: f64 },
}

impl Addresses {
    /// Over so many places, at least one.
    pub fn new(choice: &AddressChoice, positions: u64) -> Self {
        let positions = positions.max(1);
        let draw = match *choice {
            AddressChoice::Uniform => Draw::Uniform,
            AddressChoice::Zipf { theta } => match Zipf::new(positions as f64, theta) {
                Ok(zipf) => Draw::Zipf { zipf, stride: scatter_stride(positions) },
                Err(_) => Draw::Uniform,
            },
            AddressChoice::HotCold { f, r } => {
                Draw::HotCold { hot: (f * positions as f64) as u64, r }
            }
        };
        Addresses { positions, draw }
    }

    /// The next place.
    #[inline(always)]
    pub fn next(&self, random: &mut Random) -> u64 {
        match &self.draw {
            Draw::Uniform => random.below(self.positions),
            Draw::Zipf { zipf, stride } => {
                let rank = (zipf.sample(random.generator()) as u64).clamp(1, self.positions) - 1;
                (u128::from(rank) * u128::from(*stride) % u128::from(self.positions)) as u64
            }
            Draw::HotCold { hot, r } => {
                let cold = self.positions - hot;
                if *hot > 0 && (cold == 0 || random.unit() < *r) {
                    random.below(*hot)
                } else {
                    hot + random.below(cold)
                }
            }
        }
    }
}

/// A stride without a common divisor with `positions`, near its golden section: successive ranks
/// land far apart, and every place has one rank.
fn scatter_stride(positions: u64) -> u64 {
    let start = (positions as f64 * 0.618_033_988_749_894_9) as u64;
    (start.max(1)..).find(|&stride| gcd(stride, positions) == 1).unwrap_or(1)
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

    #[test]
    fn zipf_gives_each_rank_a_place_of_its_own() {
        let mut counts = counts(AddressChoice::Zipf { theta: 1.0 }, 50, 400_000);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let harmonic: f64 = (1..=50).map(|k| 1.0 / f64::from(k)).sum();
        for (rank, &count) in counts.iter().enumerate() {
            let expected = 400_000.0 / harmonic / (rank + 1) as f64;
            assert!((count as f64 - expected).abs() < 5.0 * expected.sqrt() + 1.0, "rank {rank}");
        }
    }

    #[test]
    fn extreme_shares_stay_in_range() {
        for (f, r) in [(0.0, 1.0), (1.0, 0.0), (0.5, 0.0), (0.001, 1.0)] {
            let counts = counts(AddressChoice::HotCold { f, r }, 10, 1000);
            assert_eq!(counts.iter().sum::<u64>(), 1000);
        }
    }
}
