//! Numbers that are wider than those in which the state of a placement is saved.

use std::slice::Iter;

/// Appends a number in two halves.
pub fn keep_whole(number: u64, numbers: &mut Vec<u32>) {
    numbers.extend([number as u32, (number >> 32) as u32]);
}

/// Takes it from the front.
pub fn take_whole(numbers: &mut Iter<'_, u32>) -> Option<u64> {
    let (&low, &high) = (numbers.next()?, numbers.next()?);
    Some(u64::from(low) | u64::from(high) << 32)
}

/// Appends a fraction, bit by bit.
pub fn keep_fraction(number: f64, numbers: &mut Vec<u32>) {
    keep_whole(number.to_bits(), numbers);
}

/// Takes it from the front; `None` where it is negative, or no number.
pub fn take_fraction(numbers: &mut Iter<'_, u32>) -> Option<f64> {
    let number = f64::from_bits(take_whole(numbers)?);
    (number.is_finite() && number >= 0.0).then_some(number)
}
