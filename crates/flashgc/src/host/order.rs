//! Keeps operations on one logical page in their order of arrival.
//!
//! Only the last accepted operation of each busy page is in the table; each other one is linked to
//! the one before it. An operation that finds its page busy waits outside the queues until its
//! turn, and then takes the place in its queue that the order of arrival gives it; or it waits in
//! the queue from the beginning, where one queue keeps the order by itself.
//!
//! Each operation enters the table and leaves it again, so it is as plain as can be: places in a
//! row, of which a page takes the first free one from its own on, and at most half of which are
//! taken.

use super::Op;
use crate::ids::Lpn;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Place {
    lpn: u32,
    /// The last operation on the page, or `NONE` where the place is free.
    op: u32,
}

const FREE: Place = Place { lpn: 0, op: NONE };

/// The busy pages.
#[derive(Clone, Default)]
pub struct PageOrder {
    places: Vec<Place>,
    /// Places that are taken.
    taken: usize,
}

impl PageOrder {
    /// Records an accepted operation; returns the one before it, if its page is busy.
    #[inline]
    pub fn accept(&mut self, ops: &mut [Op], lpn: Lpn, op: u32) -> Option<u32> {
        ops[op as usize].behind = NONE;
        let before = self.insert(lpn.0, op);
        if let Some(before) = before {
            ops[before as usize].behind = op;
        }
        before
    }

    /// Records that an operation is done; returns the next one on its page.
    #[inline]
    pub fn leave(&mut self, op: &Op, lpn: Lpn) -> Option<u32> {
        let behind = op.behind;
        if behind == NONE {
            self.remove(lpn.0);
            return None;
        }
        Some(behind)
    }

    /// The place that a page takes if it is free. Multiplication spreads neighbours (Knuth).
    #[inline(always)]
    fn own(&self, lpn: u32) -> usize {
        let bits = self.places.len().trailing_zeros();
        (u64::from(lpn.wrapping_mul(0x9e37_79b1)) >> (u32::BITS - bits)) as usize
    }

    #[inline(always)]
    fn behind(&self, at: usize) -> usize {
        (at + 1) & (self.places.len() - 1)
    }

    /// The place of a page, or the free one that it would take.
    #[inline(always)]
    fn find(&self, lpn: u32) -> usize {
        let mut at = self.own(lpn);
        while self.places[at].op != NONE && self.places[at].lpn != lpn {
            at = self.behind(at);
        }
        at
    }

    #[inline(always)]
    fn insert(&mut self, lpn: u32, op: u32) -> Option<u32> {
        if 2 * self.taken >= self.places.len() {
            self.grow();
        }
        let at = self.find(lpn);
        let before = std::mem::replace(&mut self.places[at], Place { lpn, op }).op;
        self.taken += usize::from(before == NONE);
        (before != NONE).then_some(before)
    }

    /// Those behind move up, so that each is still found from its own place on.
    #[inline(always)]
    fn remove(&mut self, lpn: u32) {
        let mut gap = self.find(lpn);
        debug_assert!(self.places[gap].op != NONE, "the page is busy");
        let mask = self.places.len() - 1;
        let mut at = self.behind(gap);
        while self.places[at].op != NONE {
            let own = self.own(self.places[at].lpn);
            if at.wrapping_sub(own) & mask >= at.wrapping_sub(gap) & mask {
                self.places[gap] = self.places[at];
                gap = at;
            }
            at = self.behind(at);
        }
        self.places[gap] = FREE;
        self.taken -= 1;
    }

    #[cold]
    fn grow(&mut self) {
        let larger = vec![FREE; (2 * self.places.len()).max(128)];
        let before = std::mem::replace(&mut self.places, larger);
        for place in before.into_iter().filter(|place| place.op != NONE) {
            let at = self.find(place.lpn);
            self.places[at] = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PageOrder;
    use std::collections::BTreeMap;

    #[test]
    fn the_table_holds_what_a_map_holds() {
        let mut state = 1u64;
        let mut below = |limit: u64| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (state >> 33) % limit
        };
        let (mut order, mut expected) = (PageOrder::default(), BTreeMap::new());
        for step in 0..100_000u32 {
            let lpn = below(700) as u32 * (1 << below(8));
            // Now and then there are few pages, and then many.
            if below(2) == 0 || (step / 10_000) % 2 == 0 && below(3) > 0 {
                assert_eq!(order.insert(lpn, step), expected.insert(lpn, step));
            } else if expected.remove(&lpn).is_some() {
                order.remove(lpn);
            }
            assert_eq!(order.taken, expected.len());
        }
        for (&lpn, &op) in &expected {
            assert_eq!(order.places[order.find(lpn)].op, op);
        }
    }
}
