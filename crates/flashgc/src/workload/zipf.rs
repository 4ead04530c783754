//! Zipf's distribution: the rank k of n is drawn with a probability in proportion to k^-theta.
//!
//! Rejection sampling by J. Crease, as in `rand_distr`, from which it was ported: a rank is drawn
//! from a curve that lies above the distribution and whose inverse is known, and is kept with the
//! probability by which the curve exceeds the distribution there. Powers and logarithms are those
//! of `libm`, which are the same on every machine; those of the C library are not.

use crate::rng::Random;

/// Draws ranks.
#[derive(Clone, Copy, Debug)]
pub struct Zipf {
    theta: f64,
    /// The area under the curve.
    area: f64,
    /// 1 / (1 - theta), without meaning where theta is 1.
    power: f64,
}

impl Zipf {
    /// Over this many ranks, at least one. The exponent is not negative.
    pub fn new(ranks: u64, theta: f64) -> Self {
        let ranks = ranks.max(1) as f64;
        let power = 1.0 / (1.0 - theta);
        let area = if theta == 1.0 {
            1.0 + libm::log(ranks)
        } else {
            (libm::pow(ranks, 1.0 - theta) - theta) * power
        };
        Zipf { theta, area, power }
    }

    /// Where the area under the curve reaches a share of the whole.
    #[inline]
    fn reaches(&self, share: f64) -> f64 {
        let area = share * self.area;
        if area <= 1.0 {
            area
        } else if self.theta == 1.0 {
            libm::exp(area - 1.0)
        } else {
            libm::pow(area * (1.0 - self.theta) + self.theta, self.power)
        }
    }

    /// The next rank, from 1 on. Rounding may name the rank behind the last.
    #[inline]
    pub fn next(&self, random: &mut Random) -> u64 {
        loop {
            let at = self.reaches(random.unit());
            let rank = libm::floor(at + 1.0);
            // The curve is flat over the first rank, and falls as at^-theta behind it.
            let kept = if rank > 1.0 { libm::pow(at / rank, self.theta) } else { 1.0 };
            if random.unit() < kept {
                return rank as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pearson's chi-squared against the exact probabilities, over all ranks that are expected
    /// often enough, with those behind them as one.
    #[test]
    fn ranks_follow_the_exact_distribution() {
        let draws = 1_000_000;
        for theta in [0.0, 0.3, 0.8, 0.99, 1.0, 1.1, 1.5, 3.0] {
            for ranks in [1u64, 2, 50, 1_000] {
                let zipf = Zipf::new(ranks, theta);
                let mut random = Random::named(7, "address");
                let mut counts = vec![0u64; ranks as usize];
                for _ in 0..draws {
                    counts[zipf.next(&mut random).clamp(1, ranks) as usize - 1] += 1;
                }
                let weight = |rank: usize| libm::pow(rank as f64 + 1.0, -theta);
                let all: f64 = (0..ranks as usize).map(weight).sum();
                let expected = |rank: usize| draws as f64 * weight(rank) / all;
                let often = (0..ranks as usize).take_while(|&rank| expected(rank) > 20.0).count();
                let square = |found: f64, due: f64| (found - due) * (found - due) / due;
                let mut sum: f64 =
                    (0..often).map(|rank| square(counts[rank] as f64, expected(rank))).sum();
                let due: f64 = (often..ranks as usize).map(expected).sum();
                if due > 1.0 {
                    sum += square(counts[often..].iter().sum::<u64>() as f64, due);
                }
                // Five standard deviations above the mean.
                let freedom = often as f64;
                let most = freedom + 5.0 * libm::sqrt(2.0 * freedom);
                assert!(sum < most, "theta {theta}, {ranks} ranks: {sum} of {most}");
            }
        }
    }

    /// Numbers that every machine must draw.
    #[test]
    fn draws_are_the_same_on_every_machine() {
        let drawn = |theta| {
            let zipf = Zipf::new(1 << 40, theta);
            let mut random = Random::named(1, "address");
            [(); 6].map(|()| zipf.next(&mut random))
        };
        assert_eq!(
            drawn(0.8),
            [17721430346, 128582, 225743835004, 185138217333, 151466285683, 371945340350]
        );
        assert_eq!(drawn(1.0), [101816, 441175871, 195016562, 88146563, 4001692970, 12080704396]);
        assert_eq!(drawn(1.2), [7, 1, 258, 158, 102, 1317]);
    }
}
