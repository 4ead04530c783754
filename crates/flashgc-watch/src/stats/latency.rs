//! Latencies: an exact mean, minimum, maximum and spread, and a histogram for percentiles.

use super::histogram::Histogram;
use super::stddev;
use serde::Serialize;

/// The latencies of one kind of request.
#[derive(Clone)]
pub struct Latency {
    histogram: Histogram,
    sum: u128,
    squares: u128,
    min: u64,
    max: u64,
}

/// Exact moments and extremes of the samples.
#[derive(Clone, Copy, Debug)]
pub struct Exact {
    /// Sum, in ns.
    pub sum: u128,
    /// Sum of the squares, in ns^2.
    pub squares: u128,
    /// Shortest, in ns; `u64::MAX` without samples.
    pub min: u64,
    /// Longest, in ns.
    pub max: u64,
}

/// The metrics of the report. `None` where there is no sample.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LatencySummary {
    /// Samples.
    pub count: u64,
    /// Mean, in ns.
    pub mean: Option<f64>,
    /// Standard deviation of the population, in ns.
    pub stddev: Option<f64>,
    /// Shortest, in ns.
    pub min: Option<u64>,
    /// Percentiles by nearest rank, in ns, within 0.1 %.
    pub p50: Option<u64>,
    /// See `p50`.
    pub p90: Option<u64>,
    /// See `p50`.
    pub p95: Option<u64>,
    /// See `p50`.
    pub p99: Option<u64>,
    /// See `p50`.
    pub p99_9: Option<u64>,
    /// See `p50`.
    pub p99_99: Option<u64>,
    /// Longest, in ns.
    pub max: Option<u64>,
}

impl Default for Latency {
    fn default() -> Self {
        Latency::new()
    }
}

impl Latency {
    /// Latencies without samples.
    pub fn new() -> Self {
        Latency { histogram: Histogram::default(), sum: 0, squares: 0, min: u64::MAX, max: 0 }
    }

    /// Adds a sample.
    #[inline(always)]
    pub fn record(&mut self, ns: u64) {
        self.histogram.record(ns);
        self.sum += u128::from(ns);
        self.squares += u128::from(ns) * u128::from(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
    }

    /// Adds the samples of another.
    pub fn add(&mut self, other: &Latency) {
        self.histogram.add(&other.histogram);
        self.sum += other.sum;
        self.squares += other.squares;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// The values that need no rounding.
    pub fn exact(&self) -> Exact {
        Exact { sum: self.sum, squares: self.squares, min: self.min, max: self.max }
    }

    /// Samples.
    pub fn count(&self) -> u64 {
        self.histogram.total()
    }

    /// Samples that share the bucket of this one.
    pub fn count_near(&self, ns: u64) -> u64 {
        self.histogram.count_of(ns)
    }

    /// The percentile `per_myriad / 10,000` by nearest rank, in ns.
    pub fn percentile(&self, per_myriad: u64) -> u64 {
        self.at_rank(self.rank(per_myriad))
    }

    fn rank(&self, per_myriad: u64) -> u128 {
        (u128::from(self.count()) * u128::from(per_myriad)).div_ceil(10_000).max(1)
    }

    /// Several percentiles in rising order, in one walk; `None` where there is no sample.
    fn percentiles<const N: usize>(&self, per_myriad: [u64; N]) -> [Option<u64>; N] {
        let ranks = per_myriad.map(|per_myriad| self.rank(per_myriad));
        let mut found = [None; N];
        let (mut seen, mut next) = (0u128, 0);
        for bucket in self.histogram.recorded() {
            seen += u128::from(bucket.count);
            while next < N && seen >= ranks[next] {
                found[next] = Some(bucket.median().clamp(self.min, self.max));
                next += 1;
            }
        }
        found
    }

    /// The latency below which this share of the samples lies, in ns.
    pub fn quantile(&self, share: f64) -> u64 {
        self.at_rank(libm::ceil(self.count() as f64 * share) as u128)
    }

    fn at_rank(&self, rank: u128) -> u64 {
        let mut seen = 0u128;
        for bucket in self.histogram.recorded() {
            seen += u128::from(bucket.count);
            if seen >= rank {
                return bucket.median().clamp(self.min, self.max);
            }
        }
        self.max
    }

    /// The metrics of the report.
    pub fn summary(&self) -> LatencySummary {
        let count = self.count();
        let [p50, p90, p95, p99, p99_9, p99_99] =
            self.percentiles([5_000, 9_000, 9_500, 9_900, 9_990, 9_999]);
        LatencySummary {
            count,
            mean: (count > 0).then(|| self.sum as f64 / count as f64),
            stddev: (count > 0).then(|| stddev(count, self.sum, self.squares)),
            min: (count > 0).then_some(self.min),
            p50,
            p90,
            p95,
            p99,
            p99_9,
            p99_99,
            max: (count > 0).then_some(self.max),
        }
    }

    /// The distribution: upper end of each bucket that holds samples, and its count.
    pub fn distribution(&self) -> Vec<(u64, u64)> {
        self.histogram.recorded().map(|bucket| (bucket.last, bucket.count)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Latency;

    #[test]
    fn percentiles_are_by_nearest_rank_and_within_a_thousandth() {
        let mut latency = Latency::new();
        for ns in 1..=100_000u64 {
            latency.record(ns * 10);
        }
        let summary = latency.summary();
        for (got, expected) in [
            (summary.p50, 500_000),
            (summary.p90, 900_000),
            (summary.p99_9, 999_000),
            (summary.p99_99, 999_900),
        ] {
            let got = got.unwrap();
            assert!(
                got.abs_diff(expected) as f64 <= expected as f64 * 1e-3,
                "{got} for {expected}"
            );
        }
        assert_eq!((summary.min, summary.max), (Some(10), Some(1_000_000)));
        assert_eq!(summary.mean, Some(500_005.0));
    }

    #[test]
    fn no_sample_gives_no_figure() {
        let summary = Latency::new().summary();
        assert_eq!((summary.count, summary.mean, summary.p99), (0, None, None));
    }

    #[test]
    fn one_sample_is_every_percentile() {
        let mut latency = Latency::new();
        latency.record(305_600);
        let summary = latency.summary();
        assert_eq!((summary.p50, summary.p99_99), (Some(305_600), Some(305_600)));
        assert_eq!(summary.stddev, Some(0.0));
    }
}
