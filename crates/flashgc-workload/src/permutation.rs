//! A random permutation that needs no table: a network of Feistel's over the next power of four,
//! whose numbers beyond the last one are mapped on until they are one of the numbers.

use flashgc_model::rng::Random;

const ROUNDS: usize = 6;

/// A permutation of the numbers from 0 on.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    count: u64,
    /// Bits of half a number.
    half_bits: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// A drawn one of this many numbers, at least one and below 2^62.
    pub fn draw(count: u64, random: &mut Random) -> Self {
        let count = count.max(1);
        let bits = 64 - (count - 1).leading_zeros();
        let keys = [(); ROUNDS].map(|()| random.bits());
        Permutation { count, half_bits: bits.div_ceil(2).max(1), keys }
    }

    /// The number of its elements.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The number in the place of this one.
    #[inline]
    pub fn of(&self, number: u64) -> u64 {
        let mut at = self.mapped(number);
        while at >= self.count {
            at = self.mapped(at);
        }
        at
    }

    /// The place of this number: what [`Self::of`] gives it for.
    #[inline]
    pub fn place_of(&self, number: u64) -> u64 {
        let mut at = self.unmapped(number);
        while at >= self.count {
            at = self.unmapped(at);
        }
        at
    }

    #[inline]
    fn mapped(&self, number: u64) -> u64 {
        let (mut left, mut right) = (number >> self.half_bits, number & self.mask());
        for key in self.keys {
            (left, right) = (right, left ^ self.mixed(right, key));
        }
        (left << self.half_bits) | right
    }

    #[inline]
    fn unmapped(&self, number: u64) -> u64 {
        let (mut left, mut right) = (number >> self.half_bits, number & self.mask());
        for key in self.keys.into_iter().rev() {
            (left, right) = (right ^ self.mixed(left, key), left);
        }
        (left << self.half_bits) | right
    }

    fn mask(&self) -> u64 {
        (1 << self.half_bits) - 1
    }

    #[inline]
    fn mixed(&self, half: u64, key: u64) -> u64 {
        let mixed = (half ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed >> 32) & self.mask()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_a_place_of_its_own_and_back() {
        for count in [1, 2, 3, 10, 64, 1000] {
            let order = Permutation::draw(count, &mut Random::named(1, "order"));
            let mut numbers: Vec<u64> = (0..count).map(|place| order.of(place)).collect();
            assert!((0..count).all(|place| order.place_of(numbers[place as usize]) == place));
            numbers.sort_unstable();
            assert!(numbers.into_iter().eq(0..count), "{count}");
        }
    }
}
