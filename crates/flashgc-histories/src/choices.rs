//! Random choices: the same from the same seed, on every machine.

/// A generator of random choices (SplitMix64).
#[derive(Clone)]
pub struct Choices(u64);

impl Choices {
    /// From a seed.
    pub fn new(seed: u64) -> Self {
        Choices(seed)
    }

    /// The next 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: u64) -> u64 {
        (self.bits() >> 11) % bound
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.below(high - low + 1)
    }

    /// Small numbers as often as large ones: uniform in its powers of two.
    pub fn sized(&mut self, low: u64, high: u64) -> u64 {
        let steps = u64::from((high / low).max(1).ilog2());
        let from = low << self.between(0, steps);
        self.between(from.min(high), (from * 2 - 1).min(high))
    }

    /// True in this number of a hundred cases.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of these.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}

/// The seed of one history of a run.
pub fn seed_of(run: u64, at: u64) -> u64 {
    Choices::new(run.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ at).bits() >> 16
}
