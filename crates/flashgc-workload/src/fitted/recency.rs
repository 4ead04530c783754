//! Places in the order in which they were last written.
//!
//! Each write takes a new slot at the end. A Fenwick tree counts the slots in use, so that the
//! place of any rank is found in a few steps; when the slots are used up they are numbered anew.

const NOWHERE: u32 = u32::MAX;

/// Places in the order in which they were last written.
#[derive(Clone, Debug)]
pub struct Recency {
    /// The slot of each place.
    slots: Vec<u32>,
    /// The place in each slot.
    places: Vec<u32>,
    /// Sums of slots in use, from 1.
    tree: Vec<u32>,
    next: u32,
}

impl Recency {
    /// From the oldest to the newest; each of the places `0..order.len()` once.
    pub fn new(order: &[u32]) -> Self {
        let slots = 2 * order.len() + 64;
        let mut recency = Recency {
            slots: vec![NOWHERE; order.len()],
            places: vec![NOWHERE; slots],
            tree: vec![0; slots + 1],
            next: 0,
        };
        recency.number(order);
        recency
    }

    /// Places in all.
    pub fn len(&self) -> u32 {
        self.slots.len() as u32
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Assigns the first slots to the places, in this order.
    fn number(&mut self, order: &[u32]) {
        self.places.fill(NOWHERE);
        self.tree.fill(0);
        for (slot, &place) in order.iter().enumerate() {
            self.places[slot] = place;
            self.slots[place as usize] = slot as u32;
            self.tree[slot + 1] = 1;
        }
        for at in 1..self.tree.len() {
            let above = at + (at & at.wrapping_neg());
            if above < self.tree.len() {
                self.tree[above] += self.tree[at];
            }
        }
        self.next = order.len() as u32;
    }

    /// The place is the newest from now on.
    pub fn touch(&mut self, place: u32) {
        if self.next as usize == self.places.len() {
            let order: Vec<u32> =
                self.places.iter().copied().filter(|&place| place != NOWHERE).collect();
            self.number(&order);
        }
        let old = self.slots[place as usize];
        self.count(old, false);
        self.places[old as usize] = NOWHERE;
        self.count(self.next, true);
        self.places[self.next as usize] = place;
        self.slots[place as usize] = self.next;
        self.next += 1;
    }

    fn count(&mut self, slot: u32, more: bool) {
        let mut at = slot as usize + 1;
        while at < self.tree.len() {
            self.tree[at] = if more { self.tree[at] + 1 } else { self.tree[at] - 1 };
            at += at & at.wrapping_neg();
        }
    }

    /// The rank of a place: 0 is the newest.
    pub fn rank(&self, place: u32) -> u32 {
        let mut at = self.slots[place as usize] as usize + 1;
        let mut older_or_same = 0;
        while at > 0 {
            older_or_same += self.tree[at];
            at -= at & at.wrapping_neg();
        }
        self.len() - older_or_same
    }

    /// The place of this rank: 0 is the newest. There is at least one place.
    pub fn find(&self, rank: u32) -> u32 {
        let mut left = self.len() - 1 - rank.min(self.len() - 1);
        let (mut slot, mut step) = (0, self.places.len().next_power_of_two());
        while step > 0 {
            if slot + step < self.tree.len() && self.tree[slot + step] <= left {
                slot += step;
                left -= self.tree[slot];
            }
            step /= 2;
        }
        self.places[slot]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashgc_model::rng::Random;

    #[test]
    fn ranks_are_those_of_a_plain_list() {
        let mut random = Random::named(1, "test");
        for count in [1, 2, 7, 100] {
            let mut list: Vec<u32> = (0..count).rev().collect();
            let mut recency = Recency::new(&list);
            for _ in 0..2000 {
                let rank = random.below(u64::from(count)) as u32;
                let place = recency.find(rank);
                assert_eq!(place, list[(count - 1 - rank) as usize]);
                assert_eq!(recency.rank(place), rank);
                recency.touch(place);
                list.retain(|&known| known != place);
                list.push(place);
            }
        }
    }
}
