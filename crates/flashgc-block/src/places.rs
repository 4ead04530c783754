//! The places of a store for the data of pages: which of them are taken, and by how many pages.
//!
//! A copy of a page has the place of its source, so that a place may have several pages. It is free
//! when the last of them is erased, and then its space in the file waits for the next programs.

use std::collections::BTreeSet;

/// The place of a page without data.
pub const NONE: u32 = u32::MAX;
/// Free places keep this much of the file's space: to give it back and to take it again costs more
/// than the writes.
const SPARE: usize = 64 << 20;

/// The taken and free places.
pub struct Places {
    /// Number of pages at each place. At the maximum, a place stays taken for ever.
    uses: Vec<u16>,
    /// Free places that may have space in the file.
    free: BTreeSet<u32>,
    /// Free places without space in the file.
    holes: BTreeSet<u32>,
    /// Places from this one on were never taken.
    fresh: u32,
    /// The search for a free place begins here, so that consecutive programs have adjacent places.
    next: u32,
    /// The maximum number of free places with space in the file.
    spare: usize,
}

impl Places {
    /// The places of a drive with this many pages, of which these are taken.
    pub fn new(pages: u32, page_bytes: usize, taken: impl Iterator<Item = u32>) -> Self {
        let mut uses = vec![0_u16; pages as usize];
        let mut fresh = 0;
        for place in taken {
            uses[place as usize] = uses[place as usize].saturating_add(1);
            fresh = fresh.max(place + 1);
        }
        let free = (0..fresh).filter(|&place| uses[place as usize] == 0).collect();
        let spare = (SPARE / page_bytes).max(1);
        Places { uses, free, holes: BTreeSet::new(), fresh, next: 0, spare }
    }

    /// A free place is taken.
    pub fn take(&mut self) -> u32 {
        let place = self.free.range(self.next..).next().or(self.free.first()).copied();
        let place = match place {
            Some(place) => {
                self.free.remove(&place);
                place
            }
            None => self.holes.pop_first().unwrap_or_else(|| {
                self.fresh += 1;
                self.fresh - 1
            }),
        };
        self.uses[place as usize] = 1;
        self.next = place + 1;
        place
    }

    /// Another page has this place as well.
    pub fn share(&mut self, place: u32) {
        let uses = &mut self.uses[place as usize];
        *uses = uses.saturating_add(1);
    }

    /// A page has it no longer. Returns whether its space is to be given back.
    pub fn leave(&mut self, place: u32) -> bool {
        let uses = &mut self.uses[place as usize];
        if *uses == u16::MAX {
            return false;
        }
        *uses -= 1;
        if *uses > 0 {
            return false;
        }
        let is_hole = self.free.len() >= self.spare;
        if is_hole { &mut self.holes } else { &mut self.free }.insert(place);
        is_hole
    }

    /// The free places that may have space, which have none from now on.
    pub fn give_back(&mut self) -> BTreeSet<u32> {
        let free = std::mem::take(&mut self.free);
        self.holes.extend(&free);
        free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_free_when_the_last_of_its_pages_has_left() {
        let mut places = Places::new(8, 4096, [0, 2, 2].into_iter());
        assert_eq!([(); 3].map(|()| places.take()), [1, 3, 4]);
        assert!(!places.leave(2));
        places.share(0);
        assert!(!places.leave(0));
        // The next free one behind the last that was taken, or the first.
        assert_eq!(places.take(), 5);
        assert!(!places.leave(2) && !places.leave(0));
        assert_eq!([(); 3].map(|()| places.take()), [0, 2, 6]);
    }

    #[test]
    fn space_beyond_the_spare_is_given_back() {
        let mut places = Places::new(8, SPARE / 2, 0..6);
        assert_eq!([5, 0, 3, 2].map(|place| places.leave(place)), [false, false, true, true]);
        assert_eq!([(); 5].map(|()| places.take()), [0, 5, 2, 3, 6]);
        assert!(!places.leave(1));
        assert_eq!(places.give_back(), BTreeSet::from([1]));
    }
}
