//! Block groups: the blocks of a plane in groups of about equal size, by their benefit.
//!
//! Every benefit in a group is at least as great as every one in the group below it, no group has
//! more than m blocks, and every block is in exactly one (paper speedup-gc, section III-B and
//! Algorithm 1). The listing there cannot run as printed. The rules in its place
//! (docs/schemes/speedup.md#algorithm-1-repaired):
//!
//! - A block leaves its group before it is put into one.
//! - A benefit that is greater than no group's least goes to the first group.
//! - Where no group below has room for what a full one evicts, a group above whose least benefit
//!   is the same takes the block. Failing that, all groups are formed anew, of even size.
//!
//! The paper examines every block that is written. Here a block has a *distance*: the least number
//! of its pages that must become invalid before its benefit can pass the least one of the group
//! above, and so before it can change groups. It is examined when the distance reaches zero, when
//! one of its sub-blocks is sealed, opened, claimed or erased, and when its benefit is requested.

mod kept;

use crate::gc::heap::{self, Order};
use crate::gc::windows::Benefit;
use std::cmp::Reverse;

/// The value of a block for its group.
#[derive(Clone, Copy, Debug)]
pub struct Worth {
    /// Its benefit.
    pub benefit: Benefit,
    /// Whether an erased sub-block lies in the window of that benefit.
    pub has_room: bool,
}

/// Finds the worth of blocks, counted in their plane.
pub trait Sight {
    /// The worth of a block now; `before` was its benefit.
    fn worth(&self, block: u32, before: Benefit) -> Worth;

    /// Whether it is worth at least this benefit, and then whether it has room in the window of
    /// that benefit.
    fn still(&self, block: u32, benefit: Benefit) -> Option<bool>;

    /// The least number of its pages that must become invalid before it reaches this benefit.
    fn distance(&self, block: u32, benefit: Benefit) -> u32;
}

/// A block that waits to be examined.
const DUE: u32 = u32::MAX;
/// The place of a block that is in no heap.
const NOT_THERE: u32 = u32::MAX;
/// Pages of a block became invalid so that it may pass the group above.
const RISEN: u32 = u32::MAX - 1;
/// No distance: the worth of the block may have changed since it was found.
const UNKNOWN: u32 = u32::MAX - 2;
/// A distance that is never used up.
const FAR: u32 = u32::MAX / 2;

/// The stored values of a block.
#[derive(Clone, Copy)]
struct Known {
    /// A lower bound of its benefit: the benefit at its last examination, since it can only rise
    /// until the block is due.
    benefit: Benefit,
    /// Pages that may become invalid before it must be examined, or `DUE`.
    distance: u32,
    /// The distance when the benefit was found.
    distance_then: u32,
    /// Its place in the heap of its group; `NOT_THERE` while it is due.
    in_heap: u32,
    /// Its place in its group's heap of blocks that have erased sub-blocks.
    place: u32,
    group: u8,
    free: u8,
    has_room: bool,
}

#[derive(Clone, Default)]
struct Group {
    blocks: u32,
    /// Members that are not due, as a heap: the least benefit that was found is at its root.
    heap: Vec<u32>,
    /// Members with erased sub-blocks, as a heap: the best one for new pages is at its root.
    open: Vec<u32>,
}

/// The least benefit first; the lowest block among equals.
struct ByBenefit<'a>(&'a mut [Known]);

impl Order<u32> for ByBenefit<'_> {
    #[inline(always)]
    fn is_above(&self, &a: &u32, &b: &u32) -> bool {
        (self.0[a as usize].benefit, a) < (self.0[b as usize].benefit, b)
    }

    #[inline(always)]
    fn moved(&mut self, &block: &u32, place: u32) {
        self.0[block as usize].in_heap = place;
    }
}

fn has_more_room(known: &[Known], a: u32, b: u32) -> bool {
    let rank = |block: u32| {
        let known = &known[block as usize];
        (known.has_room, known.benefit, Reverse(block))
    };
    rank(a) > rank(b)
}

/// Orders blocks with an erased sub-block in their window first, then by the greatest benefit, and
/// by the lowest number among equals.
struct ByRoom<'a>(&'a mut [Known]);

impl Order<u32> for ByRoom<'_> {
    #[inline(always)]
    fn is_above(&self, &a: &u32, &b: &u32) -> bool {
        has_more_room(self.0, a, b)
    }

    fn moved(&mut self, &block: &u32, place: u32) {
        self.0[block as usize].place = place;
    }
}

/// The groups of one plane.
#[derive(Clone)]
pub struct Groups {
    most: u32,
    groups: Vec<Group>,
    known: Vec<Known>,
    due: Vec<u32>,
    /// Times that all groups were formed anew.
    pub formed: u64,
}

impl Groups {
    /// Blocks without benefit, spread evenly over the groups. `most_of` has accepted their number.
    pub fn new(blocks: u32, groups: u32) -> Self {
        let known = |block: u32| Known {
            benefit: Benefit::NONE,
            distance: 1,
            distance_then: 1,
            in_heap: NOT_THERE,
            place: 0,
            group: (u64::from(block) * u64::from(groups) / u64::from(blocks)) as u8,
            free: 0,
            has_room: false,
        };
        let mut new = Groups {
            most: Groups::most_of(blocks, groups).unwrap_or(blocks),
            groups: vec![Group::default(); groups as usize],
            known: (0..blocks).map(known).collect(),
            due: Vec::new(),
            formed: 0,
        };
        for block in 0..blocks {
            new.enter(block, new.known[block as usize].group as usize);
        }
        new
    }

    /// m of equation 1, where these numbers of blocks and groups are possible: the most blocks that
    /// a group may have, so that none is empty and all blocks have a place.
    pub fn most_of(blocks: u32, groups: u32) -> Option<u32> {
        let most = (blocks / (groups - 1)).checked_sub(1)?;
        (most + 3 >= 2 * groups && most > 0).then_some(most)
    }

    /// The group of a block, 0 the lowest.
    pub fn group(&self, block: u32) -> usize {
        self.known[block as usize].group as usize
    }

    /// Blocks of a group.
    pub fn blocks(&self, group: usize) -> u32 {
        self.groups[group].blocks
    }

    /// A valid page of a full sub-block became invalid.
    #[inline(always)]
    pub fn invalidated(&mut self, block: u32) {
        let known = &mut self.known[block as usize];
        if known.distance < RISEN {
            known.distance -= 1;
            if known.distance == 0 {
                known.distance = RISEN;
                self.due.push(block);
            }
        }
    }

    /// A sub-block was sealed, opened, claimed or erased.
    pub fn touch(&mut self, block: u32) {
        let known = &mut self.known[block as usize];
        if known.distance != DUE {
            known.distance = DUE;
            self.due.push(block);
            self.leave_heap(block);
        }
    }

    /// Sets the number of erased sub-blocks of a block.
    pub fn set_free(&mut self, block: u32, free: u8) {
        let before = std::mem::replace(&mut self.known[block as usize].free, free);
        match (before > 0, free > 0) {
            (false, true) => self.list(block),
            (true, false) => self.unlist(block),
            _ => {}
        }
    }

    /// Erased sub-blocks of a block.
    pub fn free(&self, block: u32) -> u8 {
        self.known[block as usize].free
    }

    fn list(&mut self, block: u32) {
        let open = &mut self.groups[self.known[block as usize].group as usize].open;
        heap::push(open, block, &mut ByRoom(&mut self.known));
    }

    fn unlist(&mut self, block: u32) {
        let Known { group, place, .. } = self.known[block as usize];
        let open = &mut self.groups[group as usize].open;
        heap::remove(open, place as usize, &mut ByRoom(&mut self.known));
    }

    /// Its benefit or its room has changed: it takes its place among those with erased sub-blocks.
    fn rank(&mut self, block: u32) {
        let Known { group, place, free, .. } = self.known[block as usize];
        if free > 0 {
            let open = &mut self.groups[group as usize].open;
            heap::settle(open, place as usize, &mut ByRoom(&mut self.known));
        }
    }

    /// The block becomes a member.
    fn enter(&mut self, block: u32, group: usize) {
        let known = &mut self.known[block as usize];
        known.group = group as u8;
        let free = known.free;
        self.groups[group].blocks += 1;
        self.enter_heap(block);
        if free > 0 {
            self.list(block);
        }
    }

    fn leave(&mut self, block: u32) {
        let Known { group, free, .. } = self.known[block as usize];
        self.groups[group as usize].blocks -= 1;
        self.leave_heap(block);
        if free > 0 {
            self.unlist(block);
        }
    }

    fn enter_heap(&mut self, block: u32) {
        let heap = &mut self.groups[self.known[block as usize].group as usize].heap;
        heap::push(heap, block, &mut ByBenefit(&mut self.known));
    }

    fn leave_heap(&mut self, block: u32) {
        let place = std::mem::replace(&mut self.known[block as usize].in_heap, NOT_THERE);
        if place != NOT_THERE {
            let heap = &mut self.groups[self.known[block as usize].group as usize].heap;
            heap::remove(heap, place as usize, &mut ByBenefit(&mut self.known));
        }
    }

    /// The member with the least benefit at present; those that are due are skipped.
    fn least(&mut self, group: usize, sight: &impl Sight) -> Option<(Benefit, u32)> {
        loop {
            let &block = self.groups[group].heap.first()?;
            let known = self.known[block as usize];
            if known.distance == known.distance_then {
                return Some((known.benefit, block));
            }
            self.find_worth(block, sight);
            heap::settle(&mut self.groups[group].heap, 0, &mut ByBenefit(&mut self.known));
        }
    }

    fn find_worth(&mut self, block: u32, sight: &impl Sight) {
        let worth = sight.worth(block, self.known[block as usize].benefit);
        let known = &mut self.known[block as usize];
        (known.benefit, known.has_room) = (worth.benefit, worth.has_room);
        known.distance_then = known.distance;
        self.rank(block);
    }

    /// Finds how far a member is from the group above; returns whether it has reached it.
    fn find_distance(&mut self, block: u32, sight: &impl Sight) -> bool {
        let above = self.group(block) + 1;
        let distance = match above < self.groups.len() {
            false => FAR,
            true => match self.least(above, sight) {
                Some((least, _)) => sight.distance(block, least).min(FAR),
                None => 0,
            },
        };
        let known = &mut self.known[block as usize];
        known.distance = distance.max(1);
        known.distance_then = known.distance;
        distance == 0
    }

    /// Examines every block that may have to change groups.
    pub fn refresh(&mut self, sight: &impl Sight) {
        while let Some(block) = self.due.pop() {
            let distance = self.known[block as usize].distance;
            // It has another one if it was examined when all groups were formed anew.
            if distance >= RISEN && !self.stays(block, sight) {
                self.leave_heap(block);
                self.look(block, sight);
            }
        }
    }

    /// Whether a block that is due is worth no less than before, and no more than the group above.
    /// Its exact worth is then not needed, and may be more than the last one found.
    fn stays(&mut self, block: u32, sight: &impl Sight) -> bool {
        let Known { benefit, distance, .. } = self.known[block as usize];
        if distance == DUE {
            match sight.still(block, benefit) {
                Some(has_room) => {
                    self.known[block as usize].has_room = has_room;
                    self.rank(block);
                }
                None => return false,
            }
        }
        if self.find_distance(block, sight) {
            return false;
        }
        self.known[block as usize].distance_then = UNKNOWN;
        if distance == DUE {
            self.enter_heap(block);
        }
        true
    }

    /// Algorithm 1: finds the worth of the block now, and its group.
    fn look(&mut self, block: u32, sight: &impl Sight) {
        self.find_worth(block, sight);
        let benefit = self.known[block as usize].benefit;
        self.leave(block);
        let group = self.group_for(benefit, sight);
        let mut moved = vec![block];
        if self.groups[group].blocks < self.most || self.evict(group, &mut moved, sight) {
            self.enter(block, group);
        } else if let Some(group) = self.group_above(group, benefit, sight) {
            self.enter(block, group);
        } else {
            return self.form(block, sight);
        }
        for block in moved {
            self.find_distance(block, sight);
        }
    }

    /// Lines 3 to 9: the highest group whose least benefit is smaller; the first if there is none.
    fn group_for(&mut self, benefit: Benefit, sight: &impl Sight) -> usize {
        let groups = (1..self.groups.len()).rev();
        let mut below = groups
            .filter(|&group| self.least(group, sight).is_some_and(|(least, _)| benefit > least));
        below.next().unwrap_or(0)
    }

    /// Lines 18 to 26: makes room in a full group; each group down to one with room moves the block
    /// with the least benefit to the one below it. Returns whether there is such a group.
    fn evict(&mut self, full: usize, moved: &mut Vec<u32>, sight: &impl Sight) -> bool {
        let Some(room) = (0..full).rev().find(|&below| self.groups[below].blocks < self.most)
        else {
            return false;
        };
        let least: Vec<_> = (room + 1..=full).map(|group| self.least(group, sight)).collect();
        if least.iter().any(Option::is_none) {
            return false;
        }
        for (group, (_, block)) in (room + 1..=full).zip(least.into_iter().flatten()) {
            self.leave(block);
            self.enter(block, group - 1);
            moved.push(block);
        }
        true
    }

    /// A group above with room to whose least benefit this one is equal.
    fn group_above(&mut self, group: usize, benefit: Benefit, sight: &impl Sight) -> Option<usize> {
        (group + 1..self.groups.len()).find(|&above| {
            self.groups[above].blocks < self.most
                && self.least(above, sight).is_some_and(|(least, _)| least == benefit)
        })
    }

    /// Forms all groups anew, of even size; `joining` is in none.
    #[cold]
    fn form(&mut self, joining: u32, sight: &impl Sight) {
        self.formed += 1;
        let blocks = self.known.len() as u32;
        for block in (0..blocks).filter(|&block| block != joining) {
            let known = self.known[block as usize];
            if known.distance != known.distance_then || known.distance == DUE {
                self.find_worth(block, sight);
            }
        }
        let mut order: Vec<u32> = (0..blocks).collect();
        order.sort_unstable_by_key(|&block| (self.known[block as usize].benefit, block));
        let count = self.groups.len();
        self.groups.fill(Group::default());
        self.known.iter_mut().for_each(|known| known.in_heap = NOT_THERE);
        for (rank, &block) in order.iter().enumerate() {
            self.known[block as usize].distance = FAR;
            self.known[block as usize].distance_then = FAR;
            self.enter(block, rank * count / blocks as usize);
        }
        for block in 0..blocks {
            self.find_distance(block, sight);
        }
    }

    /// Lines 8 to 21 of Algorithm 2: the member with the greatest benefit among those with an
    /// erased sub-block in their window, else among those with one anywhere. The paper takes any
    /// member; here they are ranked by the benefits that were found last.
    pub fn best_open(&self, group: usize, is_fit: impl Fn(u32) -> bool) -> Option<(u32, bool)> {
        let open = &self.groups[group].open;
        let is_above = |&a: &u32, &b: &u32| has_more_room(&self.known, a, b);
        let best = heap::first_fit(open, is_above, |&block| is_fit(block))?;
        Some((best, self.known[best as usize].has_room))
    }

    /// Bytes taken.
    pub fn bytes(&self) -> u64 {
        // Each block has an entry, and one in each of the lists at most.
        (self.known.len() * (size_of::<Known>() + 3 * size_of::<u32>())) as u64
    }
}

#[cfg(test)]
mod tests;
