//! The distribution of values: a histogram of constant size, with its moments.

use serde::Serialize;

/// Fine buckets of an octave: a value is known within 1.6 %.
const FINE_BITS: u32 = 6;
/// Buckets of an octave as they are given out.
const COARSE_BITS: u32 = 3;

/// Values, counted in buckets whose width grows with the value. Small ones are exact.
#[derive(Clone, Default)]
pub(super) struct Spread {
    buckets: Vec<u64>,
    count: u64,
    sum: f64,
    squares: f64,
    min: Option<u64>,
    max: u64,
}

/// The distribution of values. Percentiles are by nearest rank, and at most 1.6 % too low.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SpreadInfo {
    /// Values; where pages are sampled, the estimate for all of them.
    pub count: u64,
    /// Mean.
    pub mean: Option<f64>,
    /// Standard deviation of the population.
    pub stddev: Option<f64>,
    /// Coefficient of variation: `stddev / mean`.
    pub cv: Option<f64>,
    /// Least value.
    pub min: Option<u64>,
    /// Percentiles.
    pub p1: Option<u64>,
    /// See `p1`.
    pub p5: Option<u64>,
    /// See `p1`.
    pub p10: Option<u64>,
    /// See `p1`.
    pub p25: Option<u64>,
    /// See `p1`.
    pub p50: Option<u64>,
    /// See `p1`.
    pub p75: Option<u64>,
    /// See `p1`.
    pub p90: Option<u64>,
    /// See `p1`.
    pub p95: Option<u64>,
    /// See `p1`.
    pub p99: Option<u64>,
    /// The percentile 99.9.
    pub p99_9: Option<u64>,
    /// Greatest value.
    pub max: Option<u64>,
    /// Buckets that are not empty, in order: least value of the bucket, and its number of values.
    /// Eight buckets to an octave; values below 16 have one each.
    pub histogram: Vec<(u64, u64)>,
}

/// The bucket of a value, with `2^bits` buckets to an octave.
#[inline]
fn bucket(value: u64, bits: u32) -> usize {
    let octave = (u64::BITS - value.leading_zeros()).saturating_sub(bits + 1);
    ((u64::from(octave) << bits) + (value >> octave)) as usize
}

/// The least value of a bucket.
fn least(bucket: usize, bits: u32) -> u64 {
    let bucket = bucket as u64;
    let octave = (bucket >> bits).saturating_sub(1);
    (bucket - (octave << bits)) << octave
}

impl Spread {
    #[inline]
    pub(super) fn add(&mut self, value: u64) {
        self.add_weighted(value, 1);
    }

    /// Counts the value `weight` times.
    #[inline]
    pub(super) fn add_weighted(&mut self, value: u64, weight: u64) {
        let at = bucket(value, FINE_BITS);
        if at >= self.buckets.len() {
            self.buckets.resize(at + 1, 0);
        }
        self.buckets[at] += weight;
        self.count += weight;
        let (value_f, weight) = (value as f64, weight as f64);
        self.sum += weight * value_f;
        self.squares += weight * value_f * value_f;
        self.min = Some(self.min.map_or(value, |min| min.min(value)));
        self.max = self.max.max(value);
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// The value of this rank, from 1; the least of its bucket.
    fn at_rank(&self, rank: u64) -> u64 {
        let mut seen = 0;
        for (at, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= rank {
                return least(at, FINE_BITS).max(self.min.unwrap_or(0));
            }
        }
        self.max
    }

    fn percentile(&self, percent: f64) -> Option<u64> {
        let rank = (percent / 100.0 * self.count as f64).ceil() as u64;
        (self.count > 0).then(|| self.at_rank(rank.clamp(1, self.count)))
    }

    fn histogram(&self) -> Vec<(u64, u64)> {
        let mut coarse: Vec<(u64, u64)> = Vec::new();
        for (at, &count) in self.buckets.iter().enumerate().filter(|&(_, &count)| count > 0) {
            let from = least(bucket(least(at, FINE_BITS), COARSE_BITS), COARSE_BITS);
            match coarse.last_mut() {
                Some((last, sum)) if *last == from => *sum += count,
                _ => coarse.push((from, count)),
            }
        }
        coarse
    }

    pub(super) fn info(&self) -> SpreadInfo {
        let some = self.count > 0;
        let count = self.count as f64;
        let mean = some.then(|| self.sum / count);
        let deviation = |mean: f64| (self.squares / count - mean * mean).max(0.0).sqrt();
        let stddev = mean.map(deviation);
        let cv = mean.zip(stddev).and_then(|(mean, sd)| (mean > 0.0).then(|| sd / mean));
        SpreadInfo {
            count: self.count,
            mean,
            stddev,
            cv,
            min: self.min,
            p1: self.percentile(1.0),
            p5: self.percentile(5.0),
            p10: self.percentile(10.0),
            p25: self.percentile(25.0),
            p50: self.percentile(50.0),
            p75: self.percentile(75.0),
            p90: self.percentile(90.0),
            p95: self.percentile(95.0),
            p99: self.percentile(99.0),
            p99_9: self.percentile(99.9),
            max: some.then_some(self.max),
            histogram: self.histogram(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn buckets_are_in_order_and_begin_with_their_least_value() {
        for bits in [COARSE_BITS, FINE_BITS] {
            for at in 0..bucket(u64::MAX, bits) {
                assert_eq!(bucket(least(at, bits), bits), at);
                assert_eq!(bucket(least(at + 1, bits) - 1, bits), at);
            }
        }
    }

    #[test]
    fn common_sizes_are_exact() {
        let mut spread = Spread::default();
        for size in [4096, 4096, 7168, 65_536] {
            spread.add(size);
        }
        let info = spread.info();
        assert_eq!((info.p50, info.p75, info.p99), (Some(4096), Some(7168), Some(65_536)));
        assert_eq!(info.histogram, [(4096, 2), (7168, 1), (65_536, 1)]);
        assert_eq!(info.mean, Some(20_224.0));
    }

    #[test]
    fn nothing_has_no_mean() {
        let info = Spread::default().info();
        assert_eq!((info.count, info.mean, info.cv, info.p50), (0, None, None, None));
    }

    proptest! {
        #[test]
        fn percentiles_are_near(mut values in prop::collection::vec(0_u64..1 << 40, 1..200)) {
            let mut spread = Spread::default();
            values.iter().for_each(|&value| spread.add(value));
            values.sort_unstable();
            let info = spread.info();
            let exact = values[values.len().div_ceil(2) - 1];
            let found = info.p50.unwrap();
            prop_assert!(found <= exact && exact as f64 <= found as f64 * 1.0157 + 1.0);
            prop_assert_eq!(info.max, values.last().copied());
            prop_assert_eq!(info.min, values.first().copied());
            let total: u64 = info.histogram.iter().map(|(_, count)| count).sum();
            prop_assert_eq!(total, values.len() as u64);
        }
    }
}
