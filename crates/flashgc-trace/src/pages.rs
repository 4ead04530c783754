//! A set of page numbers that stays small, dense or sparse.

use std::collections::BTreeMap;

/// Pages of a chunk: 256 MiB of address space.
const CHUNK_PAGES: u64 = 1 << 16;
/// A set that reaches into more chunks than this spreads over 256 TiB.
const CHUNKS_MAX: usize = 1 << 20;
const WORDS: usize = (CHUNK_PAGES / 64) as usize;
/// A list of more pages than this takes more room than the bitmap.
const LIST_MAX: usize = 2048;

enum Chunk {
    List(Vec<u16>),
    Bits(Box<[u64; WORDS]>, u64),
    Full,
}

/// A set of page numbers.
#[derive(Default)]
pub(crate) struct PageSet {
    chunks: BTreeMap<u64, Chunk>,
    count: u64,
}

impl PageSet {
    /// Adds `first..end`. False: the set has spread beyond the largest possible drive.
    #[must_use]
    pub(crate) fn insert(&mut self, first: u64, end: u64) -> bool {
        if self.chunks.len() > CHUNKS_MAX {
            return false;
        }
        let mut at = first;
        while at < end {
            let index = at / CHUNK_PAGES;
            let stop = end.min((index + 1).saturating_mul(CHUNK_PAGES));
            let base = index * CHUNK_PAGES;
            let chunk = self.chunks.entry(index).or_insert_with(|| Chunk::List(Vec::new()));
            self.count += chunk.insert((at - base) as usize, (stop - base) as usize);
            at = stop;
        }
        true
    }

    /// Pages in the set.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }
}

impl Chunk {
    fn count(&self) -> u64 {
        match self {
            Chunk::List(pages) => pages.len() as u64,
            Chunk::Bits(_, count) => *count,
            Chunk::Full => CHUNK_PAGES,
        }
    }

    /// Adds `first..end` and returns the number of new pages.
    fn insert(&mut self, first: usize, end: usize) -> u64 {
        if (first, end) == (0, CHUNK_PAGES as usize) {
            let known = self.count();
            *self = Chunk::Full;
            return CHUNK_PAGES - known;
        }
        if let Chunk::List(pages) = self {
            if pages.len() + (end - first) <= LIST_MAX {
                return insert_in_list(pages, first, end);
            }
            let mut bits = Box::new([0; WORDS]);
            for &page in pages.iter() {
                bits[usize::from(page) / 64] |= 1 << (page % 64);
            }
            *self = Chunk::Bits(bits, pages.len() as u64);
        }
        let Chunk::Bits(bits, count) = self else { return 0 };
        let added = insert_in_bits(bits, first, end);
        *count += added;
        if *count == CHUNK_PAGES {
            *self = Chunk::Full;
        }
        added
    }
}

fn insert_in_list(pages: &mut Vec<u16>, first: usize, end: usize) -> u64 {
    let from = pages.partition_point(|&page| usize::from(page) < first);
    let known = pages[from..].partition_point(|&page| usize::from(page) < end);
    if known < end - first {
        pages.splice(from..from + known, (first..end).map(|page| page as u16));
    }
    (end - first - known) as u64
}

fn insert_in_bits(bits: &mut [u64; WORDS], first: usize, end: usize) -> u64 {
    let mut added = 0;
    let mut at = first;
    while at < end {
        let stop = end.min((at / 64 + 1) * 64);
        let mask = (u64::MAX >> (64 - (stop - at))) << (at % 64);
        let word = &mut bits[at / 64];
        added += u64::from((mask & !*word).count_ones());
        *word |= mask;
        at = stop;
    }
    added
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn counts_what_a_plain_set_counts(
            ranges in prop::collection::vec((0_u64..200_000, 0_u64..5_000), 1..60),
            small in prop::collection::vec(60_000_u64..70_000, 1..300),
        ) {
            let mut set = PageSet::default();
            let mut plain = BTreeSet::new();
            for (first, length) in ranges.into_iter().chain(small.into_iter().map(|at| (at, 1))) {
                prop_assert!(set.insert(first, first + length));
                plain.extend(first..first + length);
                prop_assert_eq!(set.count(), plain.len() as u64);
            }
        }
    }

    #[test]
    fn a_full_chunk_takes_no_room() {
        let mut set = PageSet::default();
        assert!(set.insert(0, 3 * CHUNK_PAGES) && set.insert(7, 9));
        assert_eq!(set.count(), 3 * CHUNK_PAGES);
        assert!(set.chunks.values().all(|chunk| matches!(chunk, Chunk::Full)));
    }
}
