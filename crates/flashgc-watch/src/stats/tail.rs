//! The interval of a high percentile, from the batches of a run.
//!
//! The share of requests above a bound near the percentile is a mean, so that batch means give its
//! interval with the correlation of neighbours (see `intervals`). Read off the histogram of all
//! requests at both ends, it is the interval of the percentile: Iglehart, "Simulating stable
//! stochastic systems, VI: Quantile estimation", Journal of the ACM 23, 1976.

use super::Latency;
use super::batches::MOST;
use super::intervals::{GROUPS, half_width};

/// Buckets of each power of two.
const PER_OCTAVE: usize = 16;
const BUCKETS: usize = 64 * PER_OCTAVE;

/// Latencies of the requests of each batch, in coarse buckets.
#[derive(Clone, Debug)]
pub struct Tail {
    batches: Vec<Vec<u32>>,
    now: Vec<u32>,
}

impl Default for Tail {
    fn default() -> Self {
        Tail { batches: Vec::new(), now: vec![0; BUCKETS] }
    }
}

fn bucket(ns: u64) -> usize {
    let octave = 63 - ns.max(PER_OCTAVE as u64).leading_zeros() as usize;
    let within = (ns.max(PER_OCTAVE as u64) >> (octave - 4)) as usize % PER_OCTAVE;
    octave * PER_OCTAVE + within
}

impl Tail {
    /// A request is done.
    #[inline(always)]
    pub fn record(&mut self, ns: u64) {
        self.now[bucket(ns)] += 1;
    }

    /// A batch ends, and each two neighbours become one if `merges`.
    #[cold]
    pub fn end_batch(&mut self, merges: bool) {
        self.batches.push(std::mem::replace(&mut self.now, vec![0; BUCKETS]));
        debug_assert!(self.batches.len() <= MOST, "there are batches of latencies only");
        if merges {
            let whole = std::mem::take(&mut self.batches);
            let add = |pair: &[Vec<u32>]| {
                pair[0].iter().zip(&pair[1]).map(|(a, b)| a.saturating_add(*b)).collect()
            };
            self.batches = whole.chunks_exact(2).map(add).collect();
        }
    }

    /// The interval of the percentile `per_myriad / 10,000` of these latencies, of all batches and
    /// of the one under way. `None` if it has no upper end yet.
    pub fn interval(&self, all: &Latency, per_myriad: u64, confidence: f64) -> Option<[u64; 2]> {
        if (self.batches.len() as u64) < GROUPS || all.count() == 0 {
            return None;
        }
        let above = |counts: &[u32], from: usize| -> u64 {
            counts[from..].iter().map(|&count| u64::from(count)).sum()
        };
        let from = bucket(all.percentile(per_myriad));
        let groups = GROUPS as usize;
        let mut shares = Vec::with_capacity(groups);
        for group in 0..groups {
            let cut = |at: usize| self.batches.len() * at / groups;
            let part = &self.batches[cut(group)..cut(group + 1)];
            let count: u64 = part.iter().map(|counts| above(counts, 0)).sum();
            let high: u64 = part.iter().map(|counts| above(counts, from)).sum();
            if count == 0 {
                return None;
            }
            shares.push(high as f64 / count as f64);
        }
        let mean = shares.iter().sum::<f64>() / groups as f64;
        let outside = 1.0 - per_myriad as f64 / 10_000.0;
        // The bound of a bucket leaves somewhat more above it, whose spread is as much larger.
        let half = half_width(&shares, confidence)? * libm::sqrt(outside / mean.max(outside));
        let (low, high) = (1.0 - outside - half, 1.0 - outside + half);
        let expected = outside * all.count() as f64;
        let is_known = high < 1.0 && expected >= GROUPS as f64;
        is_known.then(|| [all.quantile(low.max(0.0)), all.quantile(high)])
    }
}

#[cfg(test)]
mod tests {
    use super::{Tail, bucket};
    use crate::stats::{Batches, Latency, Sums};
    use flashgc_model::rng::Random;

    #[test]
    fn buckets_rise_and_are_narrow() {
        let mut before = 0;
        for shift in 0..58u32 {
            for step in 16..32u64 {
                let at = bucket(step << shift);
                assert!(at > before || (shift, step) == (0, 16), "{step} << {shift}");
                before = at;
            }
        }
        assert_eq!(bucket(0), bucket(15));
    }

    #[test]
    fn the_interval_holds_the_percentile_about_as_often_as_it_says() {
        let mut inside = 0;
        for seed in 0..100 {
            let mut random = Random::named(seed, "tail");
            let (mut tail, mut latency) = (Tail::default(), Latency::new());
            let mut batches = Batches::default();
            for written in 1..=100_000u64 {
                // Exponential, of mean 1 ms.
                let ns = (-libm::log(1.0 - random.unit()) * 1e6) as u64;
                tail.record(ns);
                latency.record(ns);
                if written >= batches.next_at() {
                    let merges = batches.end(Sums { written, programmed: written });
                    tail.end_batch(merges);
                }
            }
            let truth = (-libm::log(0.001) * 1e6) as u64;
            let [low, high] = tail.interval(&latency, 9_990, 0.95).expect("there is an interval");
            assert!(high - low < truth / 5, "{low} to {high}");
            inside += u32::from((low..=high).contains(&truth));
        }
        assert!((88..=100).contains(&inside), "{inside} of 100");
    }
}
