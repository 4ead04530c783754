//! The future of a run, for a placement that knows it: when each page changes next.
//!
//! The writes of a run and its trims of pages that hold data are its *changes*, numbered from 0 in
//! the order of the requests. The requests are drawn once before the drive is written, and each
//! change of a page is linked to the next one. The changes of one page keep their order in any
//! run, so the links are right even where requests overtake each other.

use crate::ids::Lpn;
use crate::memory::{bytes_of, table};
use std::sync::Arc;

/// The number of no change.
pub const NEVER: u32 = u32::MAX;
/// Changes of one part of the table: no table is copied as it grows.
const PART: usize = 1 << 18;
/// Changes that are kept at most: 4 GiB.
pub const MOST_CHANGES: u64 = 1 << 30;

/// The changes of a run.
pub struct Foresight {
    /// By page: its first change.
    first: Vec<u32>,
    /// By change: the next one of the same page.
    next: Vec<Vec<u32>>,
}

impl Foresight {
    /// The first change of each page.
    pub fn first_of_pages(&self) -> &[u32] {
        &self.first
    }

    /// The change of the same page that follows this one.
    #[inline]
    pub fn after(&self, change: u32) -> u32 {
        let at = change as usize;
        self.next.get(at / PART).and_then(|part| part.get(at % PART)).copied().unwrap_or(NEVER)
    }

    /// Bytes of the links.
    pub fn bytes(&self) -> u64 {
        self.next.iter().map(bytes_of).sum()
    }
}

/// More changes than are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooMany;

/// Links the changes of a run while its requests are drawn.
pub struct Foreseer {
    foresight: Foresight,
    /// By page: its last change.
    last: Vec<u32>,
    /// Whether each page holds data, 64 pages in a number.
    held: Vec<u64>,
    changes: u64,
    most: u64,
}

impl Foreseer {
    /// An empty list of changes, on a drive with this number of user pages, of which these hold
    /// data.
    pub fn new(pages: u32, holds_data: impl Fn(Lpn) -> bool) -> Self {
        let mut held = vec![0; (pages as usize).div_ceil(64)];
        for lpn in (0..pages).map(Lpn).filter(|&lpn| holds_data(lpn)) {
            held[lpn.index() / 64] |= 1 << (lpn.0 % 64);
        }
        Foreseer {
            foresight: Foresight { first: table(NEVER, pages as usize), next: Vec::new() },
            last: table(NEVER, pages as usize),
            held,
            changes: 0,
            most: MOST_CHANGES,
        }
    }

    /// The host writes a page.
    pub fn written(&mut self, lpn: Lpn) -> Result<(), TooMany> {
        self.held[lpn.index() / 64] |= 1 << (lpn.0 % 64);
        self.changed(lpn)
    }

    /// The host trims a page.
    pub fn trimmed(&mut self, lpn: Lpn) -> Result<(), TooMany> {
        let (word, bit) = (lpn.index() / 64, 1 << (lpn.0 % 64));
        if self.held[word] & bit == 0 {
            return Ok(());
        }
        self.held[word] &= !bit;
        self.changed(lpn)
    }

    fn changed(&mut self, lpn: Lpn) -> Result<(), TooMany> {
        if self.changes == self.most {
            return Err(TooMany);
        }
        let (now, last) = (self.changes as u32, self.last[lpn.index()] as usize);
        let Foresight { first, next } = &mut self.foresight;
        match next.get_mut(last / PART) {
            Some(part) => part[last % PART] = now,
            None => first[lpn.index()] = now,
        }
        self.last[lpn.index()] = now;
        if self.changes.is_multiple_of(PART as u64) {
            next.push(Vec::with_capacity(PART));
        }
        if let Some(part) = next.last_mut() {
            part.push(NEVER);
        }
        self.changes += 1;
        Ok(())
    }

    /// Changes until now.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// All requests were drawn.
    pub fn finish(self) -> Arc<Foresight> {
        Arc::new(self.foresight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_of_a_page_are_linked() {
        let mut foreseer = Foreseer::new(4, |lpn| lpn.0 == 3);
        for lpn in [0, 1, 0, 2, 0] {
            foreseer.written(Lpn(lpn)).expect("few");
        }
        for lpn in [1, 1, 3, 3] {
            foreseer.trimmed(Lpn(lpn)).expect("few");
        }
        foreseer.written(Lpn(1)).expect("few");
        assert_eq!(foreseer.changes(), 8, "the second trims find no data");
        let found = foreseer.finish();
        assert_eq!(found.first_of_pages(), [0, 1, 3, 6]);
        let next: Vec<u32> = (0..9).map(|change| found.after(change)).collect();
        assert_eq!(next, [2, 5, 4, NEVER, NEVER, 7, NEVER, NEVER, NEVER]);
    }

    #[test]
    fn links_reach_over_the_parts_of_the_table() {
        let mut foreseer = Foreseer::new(2, |_| false);
        foreseer.written(Lpn(0)).expect("few");
        (0..2 * PART).for_each(|_| foreseer.written(Lpn(1)).expect("few"));
        foreseer.written(Lpn(0)).expect("few");
        let found = foreseer.finish();
        assert_eq!(found.after(0), 2 * PART as u32 + 1);
        assert_eq!(found.after(PART as u32 - 1), PART as u32);
        assert_eq!(found.bytes(), 3 * 4 * PART as u64);
    }

    #[test]
    fn changes_are_counted_up_to_the_limit() {
        let mut foreseer = Foreseer { most: 2, ..Foreseer::new(1, |_| false) };
        assert_eq!([(); 3].map(|()| foreseer.written(Lpn(0))), [Ok(()), Ok(()), Err(TooMany)]);
    }
}
