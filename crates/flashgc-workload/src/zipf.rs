//! Zipf's distribution: the rank k of n is drawn with a probability in proportion to k^-theta.
//!
//! Rejection sampling by J. Crease, as in `rand_distr`, from which it was ported: a rank is drawn
//! from a curve that lies above the distribution and whose inverse is known, and is kept with the
//! probability by which the curve exceeds the distribution there. Powers and logarithms are those
//! of `libm`, which are the same on every machine; those of the C library are not.
//!
//! Powers are slow, and few draws need one. The inverse is a Taylor polynomial in each of some
//! segments, with a bound of its error; so is the probability to be kept. The exact expressions
//! decide where the bound leaves a doubt, so that each draw is the one that they give.

use flashgc_model::rng::{Random, unit_of};
use std::cell::{Cell, OnceCell};

/// Draws ranks.
#[derive(Clone, Debug)]
pub struct Zipf {
    theta: f64,
    /// The area under the curve.
    area: f64,
    /// 1 / (1 - theta), without meaning where theta is 1.
    power: f64,
    /// Made after some draws: few draws are made sooner without it.
    segments: OnceCell<Box<[Segment; SEGMENTS]>>,
    /// Draws without it.
    exact: Cell<u32>,
    /// The bound of all terms of (1 - x)^theta from x^4 on, over x^4.
    rest: f64,
}

/// Draws before the table is made, which takes the time of some 250.
const WITHOUT: u32 = 64;
/// Segments of equal area: a table of 16 KiB, which leaves room in the first cache.
const SEGMENTS: usize = 256;
const TERMS: usize = 6;
/// The largest exponent for which [`Zipf::rest`] is a bound.
const LARGEST: f64 = 10.0;
/// Relative error of one operation.
const ROUNDING: f64 = f64::EPSILON / 2.0;
/// Areas below this belong to the first rank, even if they are rounded.
const FIRST: f64 = 1.0 - 1e-9;

/// The inverse of the curve over a part of the area.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Segment {
    /// The area up to its middle.
    middle: f64,
    /// The polynomial in the distance from the middle.
    terms: [f64; TERMS],
    /// The largest difference between the polynomial and the exact expression as it is computed.
    /// Infinite where the polynomial is of no use.
    error: f64,
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
        let fourth = theta * (theta - 1.0) * (theta - 2.0) * (theta - 3.0) / 24.0;
        // Each term from the fifth on is at most 0.6 of the one before, for x is at most a half.
        let rest = if theta <= LARGEST { libm::fabs(fourth) / 0.4 } else { f64::INFINITY };
        Zipf { theta, area, power, segments: OnceCell::new(), exact: Cell::new(0), rest }
    }

    fn all_segments(&self) -> Box<[Segment; SEGMENTS]> {
        let unused = Segment { middle: 0.0, terms: [0.0; TERMS], error: f64::INFINITY };
        let mut segments = Box::new([unused; SEGMENTS]);
        for (at, segment) in segments.iter_mut().enumerate() {
            *segment = self.segment(at).unwrap_or(unused);
        }
        segments
    }

    /// The Taylor polynomial of [`Self::reaches`] in a segment. `None` where it is not needed, and
    /// where its terms do not fall fast enough.
    fn segment(&self, at: usize) -> Option<Segment> {
        let share = |at: f64| at / SEGMENTS as f64 * self.area;
        if share(at as f64 + 1.0) < FIRST {
            return None;
        }
        let middle = share(at as f64 + 0.5);
        let half = share(0.5) * (1.0 + 1e-9);
        // The curve reaches x^(1 / slope), where x = slope (area - 1) + 1.
        let slope = 1.0 - self.theta;
        let base = middle * slope + self.theta;
        let reached = self.reaches_area(middle);
        // No term is more than this share of the one before.
        let falls = libm::fabs(slope).max(1.0) * half / base;
        if !(base > 0.0 && falls < 0.5) {
            return None;
        }
        let (mut terms, mut term) = ([0.0; TERMS], reached);
        for (order, kept) in terms.iter_mut().enumerate() {
            *kept = term;
            term *= (1.0 - order as f64 * slope) / (order as f64 + 1.0) / base;
        }
        let cut = libm::fabs(term) * libm::pow(half, TERMS as f64) / (1.0 - falls);
        let most = libm::fabs(reached) / (1.0 - falls);
        // An error of the base is multiplied by the power. The bound is eight times the count of
        // rounding errors in both expressions.
        let lowest = base - half * libm::fabs(slope);
        let of_base = libm::fabs((middle + half) * slope) / lowest * 2.0 + 4.0;
        let of_power = if slope == 0.0 { 0.0 } else { libm::fabs(self.power) * of_base };
        let rounding = 8.0 * ROUNDING * (of_power + 128.0) * (most + 1.0);
        Some(Segment { middle, terms, error: cut + rounding })
    }

    /// The point at which the area under the curve reaches this value.
    #[inline]
    fn reaches_area(&self, area: f64) -> f64 {
        if self.theta == 1.0 {
            libm::exp(area - 1.0)
        } else {
            libm::pow(area * (1.0 - self.theta) + self.theta, self.power)
        }
    }

    /// The next rank, from 1 on. Rounding may name the rank behind the last.
    #[inline]
    pub fn next(&self, random: &mut Random) -> u64 {
        loop {
            let drawn = random.bits();
            if let Some(rank) = self.rank(drawn, random.unit()) {
                return rank;
            }
        }
    }

    /// The rank to which these bits lead, as a share of the area, if a number in [0, 1) keeps it.
    #[inline]
    fn rank(&self, drawn: u64, chance: f64) -> Option<u64> {
        let area = unit_of(drawn) * self.area;
        if area < FIRST {
            return Some(1);
        }
        let Some(segments) = self.segments.get() else { return self.early_rank(drawn, chance) };
        let Segment { middle, terms: [a, b, c, d, e, f], error } =
            segments[(drawn >> (u64::BITS - SEGMENTS.ilog2())) as usize];
        let by = area - middle;
        let square = by * by;
        let at = (a + b * by) + square * ((c + d * by) + square * (e + f * by));
        let rank = (at + 1.0) as i64;
        let whole = rank as f64;
        let beyond = at + 1.0 - whole;
        if beyond > error && beyond < 1.0 - error {
            // The curve falls as at^-theta, so the rank is kept with (at / rank)^theta.
            let (x, theta) = ((whole - at) / whole, self.theta);
            let kept =
                1.0 - theta * x * (1.0 - (theta - 1.0) * x / 2.0 * (1.0 - (theta - 2.0) * x / 3.0));
            let doubt = self.rest * (x * x) * (x * x) + theta * error + 1e-12;
            if chance < kept - doubt {
                return Some(rank as u64);
            }
            if chance > kept + doubt {
                return None;
            }
        }
        self.exact_rank(unit_of(drawn), chance)
    }

    /// Draws a rank before the segments are made: they pay off after `WITHOUT` draws.
    #[cold]
    #[inline(never)]
    fn early_rank(&self, drawn: u64, chance: f64) -> Option<u64> {
        self.exact.set(self.exact.get() + 1);
        if self.exact.get() == WITHOUT {
            self.segments.get_or_init(|| self.all_segments());
        }
        self.exact_rank(unit_of(drawn), chance)
    }

    /// Draws a rank by the exact expressions.
    #[cold]
    #[inline(never)]
    fn exact_rank(&self, share: f64, chance: f64) -> Option<u64> {
        let area = share * self.area;
        let at = if area <= 1.0 { area } else { self.reaches_area(area) };
        let rank = libm::floor(at + 1.0);
        // The curve is flat over the first rank, and falls as at^-theta behind it.
        let kept = if rank > 1.0 { libm::pow(at / rank, self.theta) } else { 1.0 };
        (chance < kept).then_some(rank as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THETAS: [f64; 16] = [
        0.0, 1e-9, 0.3, 0.5, 0.8, 0.99, 0.999_999, 1.0, 1.000_001, 1.1, 1.2, 1.5, 2.0, 3.0, 5.0,
        10.0,
    ];

    /// Pearson's chi-squared of drawn ranks against the exact probabilities of an exponent, in
    /// standard deviations from its mean. Ranks are taken together until one draw in 64 is due.
    fn deviation(counts: &[u64], theta: f64) -> f64 {
        let draws = counts.iter().sum::<u64>() as f64;
        let weight = |rank: usize| libm::pow(rank as f64 + 1.0, -theta);
        let all: f64 = (0..counts.len()).map(weight).sum();
        let (mut square, mut bins, mut found, mut due) = (0.0, 0.0, 0.0, 0.0);
        for (rank, &count) in counts.iter().enumerate() {
            found += count as f64;
            due += draws * weight(rank) / all;
            let is_last = rank + 1 == counts.len();
            if due >= draws / 64.0 || (is_last && due > 20.0) {
                square += (found - due) * (found - due) / due;
                (bins, found, due) = (bins + 1.0, 0.0, 0.0);
            }
        }
        let freedom = f64::max(bins - 1.0, 1.0);
        (square - freedom) / libm::sqrt(2.0 * freedom)
    }

    fn counted(ranks: u64, theta: f64, draws: u64) -> Vec<u64> {
        let zipf = Zipf::new(ranks, theta);
        let mut random = Random::named(7, "address");
        let mut counts = vec![0u64; ranks as usize];
        for _ in 0..draws {
            counts[zipf.next(&mut random).clamp(1, ranks) as usize - 1] += 1;
        }
        counts
    }

    #[test]
    fn ranks_follow_the_exact_distribution() {
        for theta in [0.0, 0.3, 0.5, 0.8, 0.99, 1.0, 1.1, 1.2, 1.5, 2.0, 3.0] {
            for ranks in [1u64, 2, 50, 1_000, 1_000_000] {
                let found = deviation(&counted(ranks, theta, 1_000_000), theta);
                assert!(found < 5.0, "theta {theta}, {ranks} ranks: {found} deviations");
            }
        }
    }

    /// The test above would see an exponent that is wrong by 1 %.
    #[test]
    fn ranks_do_not_follow_another_exponent() {
        for theta in [0.5, 0.99, 1.0, 1.2, 2.0, 3.0] {
            let counts = counted(1_000_000, theta, 4_000_000);
            assert!(deviation(&counts, theta) < 5.0, "{theta}");
            for wrong in [theta * 0.99, theta * 1.01] {
                let found = deviation(&counts, wrong);
                assert!(found > 10.0, "theta {theta} passes as {wrong}: {found} deviations");
            }
        }
        assert!(deviation(&counted(1_000_000, 0.0, 4_000_000), 0.01) > 10.0);
    }

    /// Also next to the borders of ranks, and between keeping a rank and drawing again.
    #[test]
    fn polynomials_change_no_draw() {
        let mut random = Random::named(5, "address");
        for theta in THETAS {
            for ranks in [1, 2, 3, 50, 1_000, 1_000_000, 100_000_000, 1 << 40] {
                let zipf = Zipf::new(ranks, theta);
                let exact =
                    |drawn: u64, chance: u64| zipf.exact_rank(unit_of(drawn), unit_of(chance));
                let same = |drawn: u64, chance: u64| {
                    let found = zipf.rank(drawn, unit_of(chance));
                    assert_eq!(found, exact(drawn, chance), "{theta} {ranks} {drawn} {chance}");
                };
                for _ in 0..20_000 {
                    same(random.bits(), random.bits());
                }
                for _ in 0..100 {
                    let (drawn, chance) = (random.bits(), random.bits());
                    let rank = exact(drawn, 0);
                    let end = last(|other| exact(other, 0) <= rank);
                    let kept = last(|other| exact(drawn, other).is_some());
                    for by in (-4i64..=4).map(|step| step << 11) {
                        same(end.saturating_add_signed(by), chance);
                        same(drawn, kept.saturating_add_signed(by));
                    }
                }
            }
        }
    }

    /// The last number for which this holds, as it does for all before it.
    fn last(holds: impl Fn(u64) -> bool) -> u64 {
        (0..u64::BITS)
            .rev()
            .fold(0, |low, bit| if holds(low | 1 << bit) { low | 1 << bit } else { low })
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
