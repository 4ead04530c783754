//! Columns of a frame: `base + unit * number`, each number in as few bytes as the largest needs.
//!
//! ```text
//! column = kind u8 (0: from the base, 1: from the number before), width u8 (0, 1, 2, 4 or 8),
//!          base u64, unit u64, numbers (`width` bytes each)
//! ```
//! A width of 0 means that all are equal to the base. Times that never go back are kept as steps.

const HEAD_BYTES: usize = 18;
const FROM_BASE: u8 = 0;
const STEPS: u8 = 1;

/// The most bytes that a column of this number of records takes.
pub(super) fn column_bytes_max(records: usize) -> usize {
    HEAD_BYTES + 8 * records
}

/// Appends a column.
pub(super) fn write(values: &[u64], into: &mut Vec<u8>) {
    let first = values.first().copied().unwrap_or(0);
    if values.is_sorted() && values.last().is_some_and(|&last| last > first) {
        let before = std::iter::once(&first).chain(values);
        let steps = before.zip(values).map(|(before, value)| value - before);
        return write_numbers(STEPS, first, steps, into);
    }
    let base = values.iter().copied().min().unwrap_or(0);
    write_numbers(FROM_BASE, base, values.iter().map(|&value| value - base), into);
}

fn write_numbers(
    kind: u8,
    base: u64,
    numbers: impl Iterator<Item = u64> + Clone,
    into: &mut Vec<u8>,
) {
    let mut unit = 0;
    for number in numbers.clone() {
        unit = gcd(unit, number);
        if unit == 1 {
            break;
        }
    }
    let unit = unit.max(1);
    let largest = numbers.clone().max().unwrap_or(0) / unit;
    let width = match largest {
        0 => 0_u8,
        1..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    };
    into.extend_from_slice(&[kind, width]);
    into.extend_from_slice(&base.to_le_bytes());
    into.extend_from_slice(&unit.to_le_bytes());
    for number in numbers {
        into.extend_from_slice(&(number / unit).to_le_bytes()[..usize::from(width)]);
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b > 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Reads a column of `values.len()` numbers, and returns the number of bytes it took; `None` if
/// there is no such column. Numbers beyond 64 bits wrap: no correct writer produces them.
pub(super) fn read(bytes: &[u8], values: &mut [u64]) -> Option<usize> {
    let (head, rest) = bytes.split_at_checked(HEAD_BYTES)?;
    let (kind, width) = (head[0], usize::from(head[1]));
    let base = u64::from_le_bytes(head[2..10].try_into().ok()?);
    let unit = u64::from_le_bytes(head[10..18].try_into().ok()?);
    let numbers = rest.get(..width * values.len())?;
    let scaled = |number: u64| number.wrapping_mul(unit);
    match width {
        0 => values.fill(0),
        1 => spread::<1>(numbers, values, |n| scaled(u64::from(n[0]))),
        2 => spread::<2>(numbers, values, |n| scaled(u64::from(u16::from_le_bytes(n)))),
        4 => spread::<4>(numbers, values, |n| scaled(u64::from(u32::from_le_bytes(n)))),
        8 => spread::<8>(numbers, values, |n| scaled(u64::from_le_bytes(n))),
        _ => return None,
    }
    match kind {
        FROM_BASE => values.iter_mut().for_each(|value| *value = value.wrapping_add(base)),
        STEPS => {
            let mut before = base;
            for value in values {
                before = before.wrapping_add(*value);
                *value = before;
            }
        }
        _ => return None,
    }
    Some(HEAD_BYTES + numbers.len())
}

#[inline]
fn spread<const N: usize>(numbers: &[u8], values: &mut [u64], of: impl Fn([u8; N]) -> u64) {
    for (value, number) in values.iter_mut().zip(numbers.chunks_exact(N)) {
        let mut bytes = [0; N];
        bytes.copy_from_slice(number);
        *value = of(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn round_trip(values: &[u64]) -> usize {
        let mut bytes = Vec::new();
        write(values, &mut bytes);
        assert!(bytes.len() <= column_bytes_max(values.len()));
        let mut found = vec![0; values.len()];
        assert_eq!(read(&bytes, &mut found), Some(bytes.len()));
        assert_eq!(found, values);
        assert_eq!(read(&bytes[..bytes.len() - 1], &mut found), None);
        bytes.len() - HEAD_BYTES
    }

    #[test]
    fn columns_take_as_little_as_they_need() {
        assert_eq!(round_trip(&[7; 100]), 0);
        assert_eq!(round_trip(&[4096, 0, 8192, 255 * 4096]), 4);
        assert_eq!(round_trip(&[u64::MAX, 0]), 2);
        assert_eq!(round_trip(&[u64::MAX, 0, 1]), 24);
        // Steps of at most 255 us.
        assert_eq!(round_trip(&[1 << 50, (1 << 50) + 1000, (1 << 50) + 256_000]), 3);
    }

    proptest! {
        #[test]
        fn any_column(values in prop::collection::vec(any::<u64>(), 1..50), shift in 0_u32..60) {
            round_trip(&values);
            round_trip(&values.iter().map(|value| value >> shift).collect::<Vec<_>>());
            let mut sorted = values;
            sorted.sort_unstable();
            round_trip(&sorted);
        }
    }
}
