//! Random numbers: one seed, and a stream of its own for every purpose.
//!
//! A stream depends only on the seed and its name, so that more draws from one (a policy that
//! samples victims, for example) never change another (the addresses of the workload).

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A named stream of random numbers.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// The stream of this name under this seed.
    pub fn named(seed: u64, name: &str) -> Self {
        // FNV-1a over the name; the generator's own SplitMix64 then spreads the bits.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |h, b| {
            (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3)
        });
        Random(Xoshiro256PlusPlus::seed_from_u64(hash ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }

    /// 64 random bits.
    #[inline(always)]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number below `bound`, which is not zero.
    ///
    /// The multiplication favours some numbers by less than bound / 2^64, far below any visible
    /// effect.
    #[inline(always)]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in [0, 1).
    #[inline(always)]
    pub fn unit(&mut self) -> f64 {
        unit_of(self.bits())
    }

    /// An exponential variate of mean 1. The logarithm is the same on every machine.
    #[inline]
    pub fn exponential(&mut self) -> f64 {
        -libm::log(1.0 - self.unit())
    }

    /// A normal variate of mean 0 and this standard deviation, by Box and Muller's transform, of
    /// which one half is used.
    #[inline]
    pub fn normal(&mut self, stddev: f64) -> f64 {
        let radius = libm::sqrt(2.0 * self.exponential());
        let turn = self.unit() * core::f64::consts::TAU;
        stddev * radius * libm::cos(turn)
    }
}

/// Bits that a number determines and that look random (the finalizer of SplitMix64).
pub fn mixed(mut bits: u64) -> u64 {
    for factor in [0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xbf58_476d_1ce4_e5b9] {
        bits = (bits ^ (bits >> 31)).wrapping_mul(factor);
    }
    bits ^ (bits >> 29)
}

/// The number in [0, 1) that random bits are.
#[inline(always)]
pub fn unit_of(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn streams_depend_on_seed_and_name_only() {
        let draw = |seed, name| Random::named(seed, name).bits();
        assert_eq!(draw(1, "address"), draw(1, "address"));
        assert_ne!(draw(1, "address"), draw(1, "size"));
        assert_ne!(draw(1, "address"), draw(2, "address"));
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let mut stream = Random::named(3, "test");
        let mut seen = [0u32; 7];
        for _ in 0..70_000 {
            seen[stream.below(7) as usize] += 1;
        }
        assert!(seen.iter().all(|&n| (9_500..10_500).contains(&n)), "{seen:?}");
    }
}
