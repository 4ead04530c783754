//! Scores of blocks as fractions, compared without rounding.

use std::cmp::Ordering;

/// A fraction whose denominator is not zero. The product of a numerator and a denominator must fit
/// into 128 bits.
#[derive(Clone, Copy, Debug)]
pub struct Fraction {
    pub over: u128,
    pub under: u64,
}

impl Ord for Fraction {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        (self.over * u128::from(other.under)).cmp(&(other.over * u128::from(self.under)))
    }
}

impl PartialOrd for Fraction {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Fraction {}

#[cfg(test)]
mod tests {
    use super::Fraction;

    #[test]
    fn fractions_are_compared_by_value() {
        let of = |over, under| Fraction { over, under };
        assert_eq!(of(1, 2), of(3, 6));
        assert!(of(1, 3) < of(1, 2) && of(2, 3) > of(1, 2));
        let most = u128::from(u32::MAX) * u128::from(u64::MAX >> 4);
        assert!(of(most, u64::from(u32::MAX)) < of(most, u64::from(u32::MAX) - 1));
    }
}
