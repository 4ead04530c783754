//! The small entries of a store: each entry has two adjacent copies, in one write, and each copy
//! has a checksum. So an entry that is damaged in one place is still known.

use crate::record::checksum_of;

/// The kind of an entry; part of its checksum, with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    State,
    Wear,
    Record,
    Trim,
    Saved,
}

/// Bytes of the checksum of a copy.
pub const CHECK_BYTES: usize = 4;

/// An entry as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sealed<'a> {
    /// Zeros: it was never written, or was cleared.
    Empty,
    /// The content.
    Whole(&'a [u8]),
    /// Both copies are damaged.
    Damaged,
}

/// The checksum of the content of an entry.
pub fn check_of(kind: Kind, number: u32, content: &[u8]) -> u32 {
    checksum_of(&[&[kind as u8], &number.to_le_bytes(), content])
}

/// Appends an entry: its content and its checksum, twice.
pub fn seal(kind: Kind, number: u32, content: &[u8], into: &mut Vec<u8>) {
    let check = check_of(kind, number, content).to_le_bytes();
    for _ in 0..2 {
        into.extend_from_slice(content);
        into.extend_from_slice(&check);
    }
}

/// The content of an entry's bytes, and whether both copies agree.
pub fn unseal(kind: Kind, number: u32, bytes: &[u8]) -> (Sealed<'_>, bool) {
    let (one, other) = bytes.split_at(bytes.len() / 2);
    let is_empty = |copy: &[u8]| copy.iter().all(|&byte| byte == 0);
    match (content_of(kind, number, one), content_of(kind, number, other)) {
        (Some(content), _) => (Sealed::Whole(content), one == other),
        (None, Some(content)) => (Sealed::Whole(content), false),
        (None, None) if is_empty(one) || is_empty(other) => (Sealed::Empty, one == other),
        (None, None) => (Sealed::Damaged, false),
    }
}

/// The content of a copy that is whole.
fn content_of(kind: Kind, number: u32, copy: &[u8]) -> Option<&[u8]> {
    let (content, check) = copy.split_at(copy.len() - CHECK_BYTES);
    (check == check_of(kind, number, content).to_le_bytes()).then_some(content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_survives_any_one_flipped_bit() {
        for content in [&[7_u8, 0, 9, 0, 0, 0, 0, 0, 1, 2, 3, 4][..], &[0; 28]] {
            let mut bytes = Vec::new();
            seal(Kind::Wear, 5, content, &mut bytes);
            assert_eq!(unseal(Kind::Wear, 5, &bytes), (Sealed::Whole(content), true));
            assert_eq!(unseal(Kind::Wear, 6, &bytes), (Sealed::Damaged, false));
            assert_eq!(unseal(Kind::Trim, 5, &bytes), (Sealed::Damaged, false));
            for bit in 0..bytes.len() * 8 {
                let mut flipped = bytes.clone();
                flipped[bit / 8] ^= 1 << (bit % 8);
                assert_eq!(unseal(Kind::Wear, 5, &flipped), (Sealed::Whole(content), false));
            }
        }
        let mut empty = [0; 32];
        assert_eq!(unseal(Kind::Trim, 0, &empty), (Sealed::Empty, true));
        empty[20] = 4;
        assert_eq!(unseal(Kind::Trim, 0, &empty), (Sealed::Empty, false));
    }
}
