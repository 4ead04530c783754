//! The arrivals of requests: the gaps between them.

use flashgc_model::rng::Random;
use serde::Serialize;

/// Time between arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Interarrival {
    /// Always the same.
    Fixed {
        /// In ns.
        ns: u64,
    },
    /// Uniform from 0.
    Uniform {
        /// The longest, in ns.
        max_ns: u64,
    },
    /// Exponential.
    Exponential {
        /// Mean, in ns.
        mean_ns: u64,
    },
    /// Two-phase hyper-exponential with a given share of short gaps; each gap draws its phase.
    Bursty {
        /// Share of arrivals in the fast phase.
        fast_share: f64,
        /// Mean gap of the fast phase, in ns.
        fast_ns: f64,
        /// Mean gap of the slow phase, in ns.
        slow_ns: f64,
    },
    /// Two-phase hyper-exponential. With the probability `stay` a gap is of the same phase as the
    /// gap before it, otherwise its phase is drawn afresh. So `fast_share` is the share of fast
    /// gaps whatever `stay` is, and `stay` is the correlation of the phases of successive gaps.
    Hyperexponential {
        /// Share of the gaps that are of the fast phase.
        fast_share: f64,
        /// Mean gap of the fast phase, in ns.
        fast_ns: f64,
        /// Mean gap of the slow phase, in ns.
        slow_ns: f64,
        /// Probability that a gap keeps the phase of the one before without drawing.
        stay: f64,
    },
    /// Exponential gaps, but with fewer short ones: gaps shorter than `below_ns` are as in an
    /// exponential distribution, the others `below_ns` and an exponential time.
    Spaced {
        /// Mean of all gaps, in ns; also the mean of the distribution of which short gaps are a
        /// part.
        mean_ns: f64,
        /// The bound of a short gap, in ns.
        below_ns: f64,
        /// Share of short gaps.
        short_share: f64,
        /// Mean of the part of a long gap beyond `below_ns`, in ns.
        beyond_ns: f64,
    },
}

impl Interarrival {
    /// The arrivals with this mean gap, of whose gaps the share `share` is shorter than
    /// `below_ns`. `None` where there are none: gaps that are hardly ever short have a mean of at
    /// least `below_ns`.
    ///
    /// Above the share that exponential gaps have, this is a mixture of two exponentials: the fast
    /// mean is a tenth of `below_ns`, and the fast share and the slow mean follow. Below it, gaps
    /// are spaced. At it, both are exponential gaps.
    pub fn bursty(mean_ns: f64, below_ns: f64, share: f64) -> Option<Interarrival> {
        let fast_ns = (below_ns / 10.0).min(mean_ns);
        let fast_below = 1.0 - libm::exp(-below_ns / fast_ns);
        // The share of short gaps grows with the share of the fast phase: bisect.
        let slow_ns = |p: f64| (mean_ns - p * fast_ns) / (1.0 - p);
        let short = |p: f64| p * fast_below + (1.0 - p) * (1.0 - libm::exp(-below_ns / slow_ns(p)));
        let (mut low, mut high) = (0.0, 1.0 - 1e-9);
        if share > short(high) {
            return None;
        }
        if share < short(low) - 1e-9 {
            return Self::spaced(mean_ns, below_ns, share);
        }
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if short(middle) < share {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(Interarrival::Bursty { fast_share: low, fast_ns, slow_ns: slow_ns(low) })
    }

    /// With p the share, q the share in exponential gaps and E their mean below the bound b, the
    /// mean m is p E + (1 - p) (b + beyond), and q E + (1 - q) (b + m) = m gives E.
    fn spaced(mean_ns: f64, below_ns: f64, share: f64) -> Option<Interarrival> {
        let beyond_ns =
            (mean_ns - share * Self::short_mean_ns(mean_ns, below_ns)) / (1.0 - share) - below_ns;
        (beyond_ns >= 0.0).then_some(Interarrival::Spaced {
            mean_ns,
            below_ns,
            short_share: share,
            beyond_ns,
        })
    }

    /// The mean of those exponential gaps of mean `mean_ns` that are shorter than `below_ns`.
    fn short_mean_ns(mean_ns: f64, below_ns: f64) -> f64 {
        let longer = libm::exp(-below_ns / mean_ns);
        mean_ns - below_ns * longer / (1.0 - longer)
    }

    /// The least share of gaps shorter than `below_ns` that [`Self::bursty`] can give, and the
    /// share that exponential gaps have.
    pub fn short_shares(mean_ns: f64, below_ns: f64) -> (f64, f64) {
        // With nothing beyond the bound, p E + (1 - p) b = m.
        let least = (below_ns - mean_ns) / (below_ns - Self::short_mean_ns(mean_ns, below_ns));
        (least.max(0.0), 1.0 - libm::exp(-below_ns / mean_ns))
    }

    /// The mean gap, in ns.
    pub fn mean_ns(&self) -> f64 {
        match *self {
            Interarrival::Fixed { ns } => ns as f64,
            Interarrival::Uniform { max_ns } => max_ns as f64 / 2.0,
            Interarrival::Exponential { mean_ns } => mean_ns as f64,
            Interarrival::Spaced { mean_ns, .. } => mean_ns,
            Interarrival::Bursty { fast_share, fast_ns, slow_ns }
            | Interarrival::Hyperexponential { fast_share, fast_ns, slow_ns, .. } => {
                fast_share * fast_ns + (1.0 - fast_share) * slow_ns
            }
        }
    }
}

/// Draws the gaps of one stream of arrivals.
#[derive(Clone)]
pub struct Gaps {
    choice: Interarrival,
    /// The phase of the gap before.
    fast: Option<bool>,
}

impl Gaps {
    /// From the beginning.
    pub fn new(choice: Interarrival) -> Self {
        Gaps { choice, fast: None }
    }

    /// The next gap, in ns.
    #[inline]
    pub fn next_ns(&mut self, random: &mut Random) -> u64 {
        let gap_ns = match self.choice {
            Interarrival::Fixed { ns } => return ns,
            Interarrival::Uniform { max_ns } => random.unit() * max_ns as f64,
            Interarrival::Exponential { mean_ns } => random.exponential() * mean_ns as f64,
            Interarrival::Bursty { fast_share, fast_ns, slow_ns } => {
                let mean_ns = if random.unit() < fast_share { fast_ns } else { slow_ns };
                random.exponential() * mean_ns
            }
            Interarrival::Hyperexponential { fast_share, fast_ns, slow_ns, stay } => {
                let fast = match self.fast {
                    Some(fast) if stay > 0.0 && random.unit() < stay => fast,
                    _ => random.unit() < fast_share,
                };
                self.fast = Some(fast);
                random.exponential() * if fast { fast_ns } else { slow_ns }
            }
            Interarrival::Spaced { mean_ns, below_ns, short_share, beyond_ns } => {
                if random.unit() < short_share {
                    // The inverse of the distribution function, below the bound.
                    let q = 1.0 - libm::exp(-below_ns / mean_ns);
                    -libm::log(1.0 - random.unit() * q) * mean_ns
                } else {
                    below_ns + random.exponential() * beyond_ns
                }
            }
        };
        rounded(gap_ns)
    }
}

/// What `libm::round` gives for a gap, without its steps for numbers of other magnitudes.
#[inline]
fn rounded(ns: f64) -> u64 {
    let whole = ns as u64;
    whole.saturating_add(u64::from(ns - whole as f64 >= 0.5))
}

/// Two independent streams of arrivals, laid over each other.
pub struct TwoStreams {
    reads: Gaps,
    writes: Gaps,
    next_read_ns: u64,
    next_write_ns: u64,
}

impl TwoStreams {
    /// Before their beginning.
    pub fn new(reads: Interarrival, writes: Interarrival) -> Self {
        let (reads, writes) = (Gaps::new(reads), Gaps::new(writes));
        TwoStreams { reads, writes, next_read_ns: 0, next_write_ns: 0 }
    }

    /// Both begin at `start_ns`, each with a gap.
    pub fn begin(&mut self, start_ns: u64, random: &mut [Random; 2]) {
        self.next_read_ns = start_ns.saturating_add(self.reads.next_ns(&mut random[0]));
        self.next_write_ns = start_ns.saturating_add(self.writes.next_ns(&mut random[1]));
    }

    /// Both begin so that the first arrival is at 0.
    pub fn begin_at_0(&mut self, random: &mut [Random; 2]) {
        self.begin(0, random);
        let first_ns = self.next_read_ns.min(self.next_write_ns);
        self.next_read_ns -= first_ns;
        self.next_write_ns -= first_ns;
    }

    /// The next arrival, and whether it reads. Of two at the same time the read comes first.
    #[inline]
    pub fn next(&mut self, random: &mut [Random; 2]) -> (u64, bool) {
        if self.next_read_ns <= self.next_write_ns {
            let at_ns = self.next_read_ns;
            self.next_read_ns = at_ns.saturating_add(self.reads.next_ns(&mut random[0]));
            (at_ns, true)
        } else {
            let at_ns = self.next_write_ns;
            self.next_write_ns = at_ns.saturating_add(self.writes.next_ns(&mut random[1]));
            (at_ns, false)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(choice: Interarrival, count: usize) -> Vec<u64> {
        let (mut gaps, mut random) = (Gaps::new(choice), Random::named(1, "arrival"));
        (0..count).map(|_| gaps.next_ns(&mut random)).collect()
    }

    /// The mean gap, and the share of those below a bound.
    fn measured(choice: Interarrival, below_ns: u64) -> (f64, f64) {
        let gaps = gaps(choice, 400_000);
        let short = gaps.iter().filter(|&&gap| gap < below_ns).count();
        (gaps.iter().sum::<u64>() as f64 / 4e5, short as f64 / 4e5)
    }

    fn assert_bursty(mean_ns: f64, below_ns: f64, share: f64) -> Interarrival {
        let arrivals = Interarrival::bursty(mean_ns, below_ns, share).expect("there are such gaps");
        assert!((arrivals.mean_ns() / mean_ns - 1.0).abs() < 1e-6, "{arrivals:?}");
        let (mean, short) = measured(arrivals, below_ns as u64);
        assert!((mean / mean_ns - 1.0).abs() < 0.01, "{mean}");
        let noise = 4.0 * libm::sqrt(share / 4e5);
        assert!((short - share).abs() <= noise, "{short}, not {share}");
        arrivals
    }

    #[test]
    fn bursty_arrivals_have_the_mean_and_the_share_requested() {
        let bursty = assert_bursty(13.47e6, 1.5e6, 0.3132);
        assert!(matches!(bursty, Interarrival::Bursty { .. }));
    }

    #[test]
    fn fewer_short_gaps_than_exponential_ones_have_are_possible_too() {
        for (mean_ns, share) in [(26.14e6, 0.0014), (3.218e6, 0.0001), (1e6, 0.7), (2e6, 0.0)] {
            let spaced = assert_bursty(mean_ns, 1.5e6, share);
            assert!(matches!(spaced, Interarrival::Spaced { .. }), "{spaced:?}");
        }
    }

    #[test]
    fn at_the_share_of_exponential_gaps_spaced_ones_are_exponential() {
        let (_, plain) = Interarrival::short_shares(2e6, 1.5e6);
        let Some(Interarrival::Spaced { beyond_ns, .. }) = Interarrival::spaced(2e6, 1.5e6, plain)
        else {
            panic!("there are such gaps")
        };
        assert!((beyond_ns / 2e6 - 1.0).abs() < 1e-9, "{beyond_ns}");
    }

    /// Gaps of mean 1 ms cannot nearly all be longer than 1.5 ms.
    #[test]
    fn a_share_that_the_mean_rules_out_is_refused() {
        let (least, plain) = Interarrival::short_shares(1e6, 1.5e6);
        assert!(least > 0.3 && least < plain, "{least} {plain}");
        assert_eq!(Interarrival::bursty(1e6, 1.5e6, 0.1), None);
        assert_eq!(Interarrival::bursty(1e6, 1.5e6, least - 1e-6), None);
        assert!(Interarrival::bursty(1e6, 1.5e6, least + 1e-6).is_some());
        assert_eq!(Interarrival::bursty(1e6, 1.5e6, 1.0), None);
    }

    /// `stay` is the correlation of the phases of neighbours, and moves neither share nor mean.
    #[test]
    fn staying_makes_runs_and_keeps_the_share() {
        // The means are far enough apart to identify the phase of a gap.
        for stay in [0.0, 0.5, 0.9] {
            let choice = Interarrival::Hyperexponential {
                fast_share: 0.3,
                fast_ns: 1e3,
                slow_ns: 1e9,
                stay,
            };
            let fast: Vec<f64> = gaps(choice, 400_000)
                .iter()
                .map(|&gap| if gap < 100_000 { 1.0 } else { 0.0 })
                .collect();
            let share = fast.iter().sum::<f64>() / fast.len() as f64;
            assert!((share - 0.3).abs() < 0.01, "{share}");
            let both = fast.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>()
                / (fast.len() - 1) as f64;
            let correlation = (both - share * share) / (share * (1.0 - share));
            assert!((correlation - stay).abs() < 0.01, "{correlation}, not {stay}");
        }
    }

    /// Halves, numbers next to them, numbers without a fraction, infinity, and NaN.
    #[test]
    fn gaps_are_rounded_as_the_library_rounds() {
        let mut random = Random::named(1, "gaps");
        let drawn = (0..100_000).map(|at| random.unit() * libm::exp2(f64::from(at % 70)));
        let odd = [0.0, 0.5, 0.49999999999999994, 1.5, 2.5, 4503599627370495.5, 1e300, -0.7];
        for ns in drawn.chain(odd).chain([f64::INFINITY, f64::NAN]) {
            assert_eq!(super::rounded(ns), libm::round(ns) as u64, "{ns:e}");
        }
    }

    #[test]
    fn two_streams_come_in_order_each_at_its_own_rate() {
        let mut random = [Random::named(1, "read-arrival"), Random::named(1, "write-arrival")];
        let reads = Interarrival::Exponential { mean_ns: 1_000_000 };
        let writes = Interarrival::Fixed { ns: 3_000_000 };
        let mut both = TwoStreams::new(reads, writes);
        both.begin_at_0(&mut random);
        let (mut last_ns, mut counts, mut last_write_ns) = (0, [0u32; 2], None);
        for at in 0..400_000 {
            let (at_ns, is_read) = both.next(&mut random);
            assert!(at_ns >= last_ns && (at > 0 || at_ns == 0));
            last_ns = at_ns;
            counts[usize::from(is_read)] += 1;
            if !is_read {
                assert!(last_write_ns.is_none_or(|last| at_ns - last == 3_000_000));
                last_write_ns = Some(at_ns);
            }
        }
        let share = f64::from(counts[1]) / 4e5;
        assert!((share - 0.75).abs() < 0.005, "{share}");
    }
}
