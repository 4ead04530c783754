//! Jitter: a time that is drawn each time anew and added to a fixed one.

use crate::rng::Random;
use serde::Serialize;

/// The distribution of the time that is added.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Jitter {
    /// The same time each time.
    Fixed {
        /// It, in ns.
        ns: u64,
    },
    /// Exponential.
    Exponential {
        /// Its mean, in ns.
        mean_ns: u64,
    },
    /// Normal; times below 0 are 0.
    Normal {
        /// The mean of the whole distribution, in ns.
        mean_ns: u64,
        /// Its standard deviation, in ns.
        stddev_ns: u64,
    },
    /// Lognormal.
    Lognormal {
        /// The mean of the times themselves, in ns.
        mean_ns: u64,
        /// Their standard deviation, in ns.
        stddev_ns: u64,
    },
}

/// The longest time that is drawn, in ns: that of the longest operation of a device.
pub const LONGEST_NS: u64 = 1_000_000_000_000;

impl Default for Jitter {
    /// Nothing is added.
    fn default() -> Self {
        Jitter::Fixed { ns: 0 }
    }
}

impl Jitter {
    /// Whether it never adds anything.
    pub fn is_nothing(&self) -> bool {
        match *self {
            Jitter::Fixed { ns: mean_ns } | Jitter::Exponential { mean_ns } => mean_ns == 0,
            Jitter::Normal { mean_ns, stddev_ns } | Jitter::Lognormal { mean_ns, stddev_ns } => {
                mean_ns == 0 && stddev_ns == 0
            }
        }
    }
}

/// The additions of one stage of the host, in their order.
#[derive(Clone, Debug)]
pub struct Additions {
    of: Jitter,
    /// Of a lognormal distribution: the mean of the logarithm, and its standard deviation.
    logarithm: [f64; 2],
    random: Random,
}

impl Additions {
    /// The additions of this distribution, from the seed's stream of this name.
    pub fn new(of: Jitter, seed: u64, stream: &str) -> Self {
        let logarithm = match of {
            Jitter::Lognormal { mean_ns, stddev_ns } if mean_ns > 0 => {
                let spread = stddev_ns as f64 / mean_ns as f64;
                let variance = libm::log1p(spread * spread);
                [libm::log(mean_ns as f64) - variance / 2.0, libm::sqrt(variance)]
            }
            _ => [0.0; 2],
        };
        Additions { of, logarithm, random: Random::named(seed, stream) }
    }

    /// The next time to add, in ns.
    pub fn draw_ns(&mut self) -> u64 {
        let ns = match self.of {
            Jitter::Fixed { ns } => return ns,
            Jitter::Exponential { mean_ns } => self.random.exponential() * mean_ns as f64,
            Jitter::Normal { mean_ns, stddev_ns } => {
                mean_ns as f64 + self.random.normal(stddev_ns as f64)
            }
            Jitter::Lognormal { .. } => {
                let [mean, stddev] = self.logarithm;
                libm::exp(mean + self.random.normal(stddev))
            }
        };
        libm::round(ns).clamp(0.0, LONGEST_NS as f64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::{Additions, Jitter};

    /// The mean, the standard deviation and the 99th percentile of a million draws, in ns.
    fn drawn(of: Jitter) -> [f64; 3] {
        let mut additions = Additions::new(of, 1, "test");
        let mut times: Vec<f64> = (0..1_000_000).map(|_| additions.draw_ns() as f64).collect();
        times.sort_by(f64::total_cmp);
        let mean = times.iter().sum::<f64>() / 1e6;
        let variance = times.iter().map(|ns| (ns - mean) * (ns - mean)).sum::<f64>() / 1e6;
        [mean, variance.sqrt(), times[990_000]]
    }

    fn is_near(found: [f64; 3], expected: [f64; 3]) {
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 0.01, "{found} in place of {expected}");
        }
    }

    /// Each expected percentile is the inverse of the distribution function at 0.99.
    #[test]
    fn draws_have_the_moments_and_the_tail_of_their_distribution() {
        let (mean_ns, stddev_ns) = (20_000, 5_000);
        is_near(drawn(Jitter::Exponential { mean_ns }), [20_000.0, 20_000.0, 92_103.0]);
        is_near(drawn(Jitter::Normal { mean_ns, stddev_ns }), [20_000.0, 5_000.0, 31_632.0]);
        let (mean_ns, stddev_ns) = (20_000, 20_000);
        let lognormal = Jitter::Lognormal { mean_ns, stddev_ns };
        is_near(drawn(lognormal), [20_000.0, 20_000.0, 98_098.0]);
    }

    /// The times were calculated apart from this code, from the definitions of the generator and
    /// of the distributions, with the logarithm and the cosine of another library.
    #[test]
    fn the_first_draws_are_those_of_the_definitions() {
        let (mean_ns, stddev_ns) = (20_000, 20_000);
        for (of, expected) in [
            (Jitter::Fixed { ns: 7 }, [7; 5]),
            (Jitter::Exponential { mean_ns }, [49_003, 11_452, 3_656, 46_088, 18_945]),
            (Jitter::Normal { mean_ns, stddev_ns }, [0, 29_792, 31_066, 15_015, 11_035]),
            (Jitter::Lognormal { mean_ns, stddev_ns }, [2_594, 21_259, 22_417, 11_492, 9_737]),
        ] {
            let mut additions = Additions::new(of, 1, "test");
            assert_eq!([(); 5].map(|()| additions.draw_ns()), expected, "{of:?}");
        }
    }

    /// Half of a normal distribution around 0 is 0, and the mean of the rest halved is
    /// stddev / sqrt(2 pi).
    #[test]
    fn what_lies_below_0_is_0() {
        let mut additions =
            Additions::new(Jitter::Normal { mean_ns: 0, stddev_ns: 10_000 }, 1, "test");
        let times: Vec<u64> = (0..100_000).map(|_| additions.draw_ns()).collect();
        let zeros = times.iter().filter(|&&ns| ns == 0).count();
        assert!((49_500..50_500).contains(&zeros), "{zeros}");
        let mean = times.iter().sum::<u64>() as f64 / 1e5;
        assert!((mean - 3_989.0).abs() < 60.0, "{mean}");
    }
}
