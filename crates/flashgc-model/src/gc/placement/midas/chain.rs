//! The chain of groups: blocks by group, the sizes of the groups, and the block that is due.
//!
//! Pages enter the chain at its first groups. Those that are valid when their block is collected
//! move to the next group; the last one keeps its own. A group with a size is collected when it has
//! more sealed blocks, the oldest first; blocks of the last group are left to the victim policy.

use super::super::{Copied, GroupCounts};
use crate::device::Geometry;
use crate::ftl::BlockFacts;
use crate::gc::victim::Candidates;
use crate::ids::{BlockId, PlaneId};
use std::collections::VecDeque;
use std::slice::Iter;

/// No group: the block is erased, or another scheme has written it.
const NONE: u8 = u8::MAX;
/// Classes of pages by the number of their copies, while nothing better is known.
const BY_COPIES: u8 = 4;

/// Collections of blocks of a group.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub collections: u64,
    /// Their valid pages.
    pub valid: u64,
}

impl Tally {
    pub fn add(&mut self, valid: u32) {
        self.collections += 1;
        self.valid += u64::from(valid);
    }
}

/// A block.
#[derive(Clone, Copy)]
struct Member {
    group: u8,
    /// The class of a victim's copies: a single one, so that they open one block at most.
    next: u8,
    /// It is sealed, and has lost no page since it was opened.
    is_whole: bool,
}

/// The groups.
#[derive(Clone)]
pub struct Chain {
    blocks_per_plane: u32,
    pub data_pages: u32,
    classes: u8,
    /// The group of writes that are not hot: the first one with fixed sizes, else the second one.
    pub first: u8,
    /// The last group. Its blocks belong to the classes from this one on.
    pub last: u8,
    /// The last of these classes: the same, or others by the number of copies.
    highest: u8,
    /// The most sealed blocks of each plane, for each group but the last.
    sizes: Vec<u32>,
    members: Vec<Member>,
    left_to_victim: Vec<bool>,
    /// The sealed blocks of each group before the last, by plane, the oldest first.
    queues: Vec<VecDeque<BlockId>>,
    /// For each plane the classes that have an open block, a bit each.
    open: Vec<u32>,
    /// Erased blocks of a plane when one was opened.
    pub erased: u32,
    counted: Vec<Tally>,
}

impl Chain {
    /// A chain of fixed sizes.
    pub fn fixed(sizes: &[u32], geometry: &Geometry) -> Self {
        let last = sizes.len() as u8;
        Chain {
            first: 0,
            last,
            highest: last,
            sizes: sizes.to_vec(),
            ..Chain::new(last + 1, geometry)
        }
    }

    /// Hot pages, and one group with classes by the number of copies.
    pub fn adaptive(classes: u8, geometry: &Geometry) -> Self {
        let mut chain = Chain { first: 1, ..Chain::new(classes, geometry) };
        chain.merge(1);
        chain
    }

    fn new(classes: u8, geometry: &Geometry) -> Self {
        let shape = &geometry.shape;
        Chain::of(classes, geometry.planes, shape.blocks_per_plane, shape.data_pages())
    }

    fn of(classes: u8, planes: u32, blocks_per_plane: u32, data_pages: u32) -> Self {
        let (planes, blocks) = (planes as usize, (planes * blocks_per_plane) as usize);
        Chain {
            blocks_per_plane,
            data_pages,
            classes,
            first: 0,
            last: classes - 1,
            highest: classes - 1,
            sizes: Vec::new(),
            members: vec![Member { group: NONE, next: NONE, is_whole: false }; blocks],
            left_to_victim: vec![true; blocks],
            queues: vec![VecDeque::new(); planes * usize::from(classes)],
            open: vec![0; planes],
            erased: 0,
            counted: vec![Tally::default(); classes.into()],
        }
    }

    /// The group of a block.
    #[inline(always)]
    pub fn group(&self, block: BlockId) -> Option<u8> {
        let group = self.members[block.index()].group;
        (group != NONE).then_some(group)
    }

    /// Whether pages of the last group have classes by the number of copies.
    pub fn is_by_copies(&self) -> bool {
        self.highest > self.last
    }

    /// Whether the victim policy ranks the blocks of this group.
    fn is_left(&self, group: u8) -> bool {
        group >= self.last || self.all_are_left()
    }

    /// Whether that holds for all groups.
    fn all_are_left(&self) -> bool {
        self.last == 1 && self.first == 1 && self.sizes.is_empty()
    }

    fn queue(&mut self, block: BlockId, group: u8) -> Option<&mut VecDeque<BlockId>> {
        let plane = (block.0 / self.blocks_per_plane) as usize;
        let at = plane * usize::from(self.classes) + usize::from(group);
        (group < self.last).then(|| &mut self.queues[at])
    }

    fn plane(&self, block: BlockId) -> usize {
        (block.0 / self.blocks_per_plane) as usize
    }

    /// A block of a class was opened.
    pub fn opened(&mut self, facts: BlockFacts) {
        let Some(class) = facts.class else { return };
        let plane = self.plane(facts.block);
        self.open[plane] |= 1 << class;
        let member = &mut self.members[facts.block.index()];
        *member = Member { group: class, next: NONE, is_whole: false };
        if class > self.highest {
            member.group = self.last;
        }
    }

    /// A block is full, or was given back.
    pub fn sealed(&mut self, facts: BlockFacts) {
        let block = facts.block;
        if let Some(class) = facts.class {
            let plane = self.plane(block);
            self.open[plane] &= !(1 << class);
        }
        let (last, highest) = (self.last, self.highest);
        let data_pages = self.data_pages;
        let member = &mut self.members[block.index()];
        if member.group == NONE {
            member.group = facts.class.filter(|&class| class <= highest).unwrap_or(last);
        }
        member.is_whole = facts.valid == data_pages;
        let group = member.group;
        self.left_to_victim[block.index()] = self.is_left(group);
        if let Some(queue) = self.queue(block, group) {
            queue.push_back(block);
        }
    }

    /// A collection takes a block. Returns its group.
    pub fn collected(&mut self, facts: BlockFacts) -> u8 {
        let block = facts.block;
        let group = self.group(block).unwrap_or(self.last);
        let next = self.after(group);
        let member = &mut self.members[block.index()];
        (member.next, member.is_whole) = (next, false);
        if let Some(queue) = self.queue(block, group)
            && let Some(at) = queue.iter().position(|&other| other == block)
        {
            queue.remove(at);
        }
        self.counted[usize::from(group)].add(facts.valid);
        group
    }

    /// A page of a sealed block was lost.
    #[inline]
    pub fn invalidated(&mut self, block: BlockId) {
        self.members[block.index()].is_whole = false;
    }

    /// The class after a group's.
    fn after(&self, group: u8) -> u8 {
        (group + 1).min(self.highest)
    }

    /// The class of a copy. Open blocks of groups that are no more are filled by the last group.
    #[inline]
    pub fn class_of_copy(&self, copy: &Copied) -> u8 {
        let Some(from) = copy.from else { return self.highest };
        let member = self.members[from.block.index()];
        let next = match member.next {
            NONE => self.after(self.group(from.block).unwrap_or(self.last)),
            next => next,
        };
        if next < self.highest {
            return next;
        }
        let others = self.open[self.plane(from.block)] >> next >> 1;
        if others == 0 {
            next.min(self.classes - 1)
        } else {
            next + 1 + others.trailing_zeros() as u8
        }
    }

    /// The oldest block of the first group that has more than its size.
    pub fn due(&self, plane: PlaneId, candidates: &Candidates<'_>) -> Option<BlockId> {
        let queues = &self.queues[plane.index() * usize::from(self.classes)..];
        let large =
            queues.iter().zip(&self.sizes).filter(|(queue, size)| queue.len() > **size as usize);
        large.flat_map(|(queue, _)| queue).copied().find(|&block| candidates.is_sealed(block))
    }

    /// For each block whether the victim policy ranks it.
    pub fn left_to_victim(&self) -> Option<&[bool]> {
        (!self.all_are_left()).then_some(&self.left_to_victim)
    }

    /// The chain has groups of these sizes, and one more. Blocks over the size of a group go to the
    /// last one.
    pub fn resize(&mut self, sizes: &[u32]) {
        let (before, last) = (self.last, sizes.len() as u8);
        for member in self.members.iter_mut().filter(|member| member.group != NONE) {
            if member.group >= before.min(last) {
                member.group = last;
            }
        }
        (self.last, self.highest) = (last, last);
        self.sizes = sizes.to_vec();
        for (at, queue) in self.queues.iter_mut().enumerate() {
            let size = sizes.get(at % usize::from(self.classes)).map_or(0, |&size| size as usize);
            while queue.len() > size {
                let Some(block) = queue.pop_front() else { break };
                self.members[block.index()].group = last;
            }
        }
        self.mark();
    }

    /// The groups from this one on become one, with classes by the number of copies.
    pub fn merge(&mut self, from: u8) {
        let (before, highest) = (self.last, (from + BY_COPIES - 1).min(self.classes - 1));
        for member in self.members.iter_mut().filter(|member| member.group != NONE) {
            if member.group >= from {
                member.group = (from + member.group.saturating_sub(before)).min(highest);
            }
        }
        (self.last, self.highest) = (from, highest);
        self.sizes.truncate(from.into());
        if from == 1 {
            self.sizes.clear();
        }
        for (at, queue) in self.queues.iter_mut().enumerate() {
            if at % usize::from(self.classes) >= usize::from(from) {
                queue.clear();
            }
        }
        self.mark();
    }

    /// Marks the blocks that the victim policy ranks.
    fn mark(&mut self) {
        for at in 0..self.members.len() {
            self.left_to_victim[at] = self.is_left(self.members[at].group);
        }
    }

    /// Sealed blocks of hot pages, of all planes.
    pub fn hot_blocks(&self) -> u64 {
        self.queues.iter().step_by(self.classes.into()).map(|queue| queue.len() as u64).sum()
    }

    /// Blocks of the last group in which no page has changed.
    pub fn whole_blocks(&self) -> u32 {
        let of_last = |member: &&Member| member.is_whole && member.group >= self.last;
        self.members.iter().filter(of_last).count() as u32
    }

    /// Whether the last group has a block.
    pub fn has_last(&self) -> bool {
        self.members.iter().any(|member| member.group != NONE && member.group >= self.last)
    }

    /// The groups for the report.
    pub fn counts(&self) -> Vec<GroupCounts> {
        let in_group = |group: u8| self.members.iter().filter(|m| m.group == group).count() as u32;
        let group = |class: u8| {
            let Tally { collections, valid } = self.counted[usize::from(class)];
            let pages = collections * u64::from(self.data_pages);
            GroupCounts {
                most_blocks: self.sizes.get(usize::from(class)).copied(),
                blocks: in_group(class),
                collections,
                valid_share: (pages > 0).then(|| valid as f64 / pages as f64),
            }
        };
        (0..=self.highest).map(group).collect()
    }

    /// Counting begins.
    pub fn start_counting(&mut self) {
        self.counted.fill(Tally::default());
    }

    /// Appends the state to save with the drive.
    pub fn keep(&self, numbers: &mut Vec<u32>) {
        numbers.extend([self.last, self.highest].map(u32::from));
        numbers.extend([self.erased, self.sizes.len() as u32]);
        numbers.extend(&self.sizes);
        numbers.extend(&self.open);
        let of_member = |m: &Member| u32::from(m.group) | u32::from(m.is_whole) << 8;
        numbers.extend(self.members.iter().map(of_member));
        for queue in &self.queues {
            numbers.push(queue.len() as u32);
            numbers.extend(queue.iter().map(|block| block.0));
        }
    }

    /// Takes it from the front of these numbers.
    pub fn take_kept(&mut self, numbers: &mut Iter<'_, u32>) -> Option<()> {
        let classes = u32::from(self.classes);
        let (&last, &highest) = (numbers.next()?, numbers.next()?);
        if last > highest || highest >= classes || last < self.first.into() {
            return None;
        }
        (self.last, self.highest) = (last as u8, highest as u8);
        self.erased = *numbers.next()?;
        let sizes = *numbers.next().filter(|&&count| count <= last)? as usize;
        self.sizes = numbers.by_ref().take(sizes).copied().collect();
        for open in &mut self.open {
            *open = *numbers.next().filter(|&&open| open >> classes == 0)?;
        }
        for member in &mut self.members {
            let kept = *numbers.next()?;
            let group = kept as u8;
            if kept >> 9 > 0 || (group > self.highest && group != NONE) {
                return None;
            }
            *member = Member { group, next: NONE, is_whole: kept >> 8 == 1 };
        }
        for at in 0..self.queues.len() {
            let (group, plane) = (at % classes as usize, (at / classes as usize) as u32);
            let blocks = plane * self.blocks_per_plane..(plane + 1) * self.blocks_per_plane;
            let count = *numbers.next().filter(|&&count| count <= self.blocks_per_plane)?;
            self.queues[at] = numbers.by_ref().take(count as usize).map(|&b| BlockId(b)).collect();
            let is_its = |b: &BlockId| {
                blocks.contains(&b.0) && usize::from(self.members[b.index()].group) == group
            };
            if self.queues[at].len() < count as usize || !self.queues[at].iter().all(is_its) {
                return None;
            }
        }
        self.mark();
        Some(())
    }

    /// Bytes of its tables.
    pub fn bytes(&self) -> u64 {
        (self.members.len() * (size_of::<Member>() + 1)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::Lpn;

    /// One plane of 20 blocks of 8 pages.
    fn chain(classes: u8) -> Chain {
        Chain::of(classes, 1, 20, 8)
    }

    fn facts(block: u32, class: u8) -> BlockFacts {
        let block = BlockId(block);
        BlockFacts { block, class: Some(class), opened: 0, sealed: Some(0), valid: 8 }
    }

    fn fill(chain: &mut Chain, class: u8, blocks: &[u32]) {
        for &block in blocks {
            chain.opened(facts(block, class));
            chain.sealed(facts(block, class));
        }
    }

    fn copy(chain: &Chain, block: u32) -> u8 {
        let from = Some(facts(block, 0));
        chain.class_of_copy(&Copied { lpn: Lpn(0), clock: 0, from, is_current: true })
    }

    fn groups(chain: &Chain, blocks: &[u32]) -> Vec<u8> {
        blocks.iter().map(|&block| chain.members[block as usize].group).collect()
    }

    /// Four classes by copies; then four groups, the hot one included; then two of them as one.
    #[test]
    fn blocks_change_their_groups_with_the_sizes() {
        let mut chain = Chain { first: 1, ..chain(6) };
        chain.merge(1);
        assert!(chain.left_to_victim().is_none(), "the victim policy has all blocks");
        for class in 0..5 {
            fill(&mut chain, class, &[u32::from(class) * 2, u32::from(class) * 2 + 1]);
        }
        let next: Vec<u8> = [0, 2, 4, 6, 8].map(|block| copy(&chain, block)).to_vec();
        assert_eq!(next, [1, 2, 3, 4, 4]);
        // Blocks of another scheme are the oldest.
        assert_eq!(copy(&chain, 19), 2);
        // The hot group keeps one of its blocks, and all others are the last one.
        chain.resize(&[1, 3, 2]);
        assert_eq!(groups(&chain, &[0, 1, 2, 4, 6, 8]), [3, 0, 3, 3, 3, 3]);
        assert_eq!(
            chain.left_to_victim().map(|left| left[..3].to_vec()),
            Some(vec![true, false, true])
        );
        fill(&mut chain, 1, &[10, 11, 12]);
        fill(&mut chain, 2, &[13, 14]);
        let next: Vec<u8> = [1, 10, 13, 2].map(|block| copy(&chain, block)).to_vec();
        assert_eq!(next, [1, 2, 3, 3]);
        // From group 2 on.
        chain.merge(2);
        assert_eq!(groups(&chain, &[1, 10, 13, 2]), [0, 1, 2, 2]);
        let next: Vec<u8> = [1, 10, 13].map(|block| copy(&chain, block)).to_vec();
        assert_eq!(next, [1, 2, 3]);
        fill(&mut chain, 4, &[15]);
        assert_eq!((copy(&chain, 15), chain.is_by_copies()), (5, true));
        // Fewer groups: the excess blocks of group 1 are moved, the oldest first.
        chain.resize(&[1, 1]);
        assert_eq!(groups(&chain, &[1, 10, 11, 12, 13, 15]), [0, 2, 2, 1, 2, 2]);
    }

    /// A victim's copies stay together although the groups change before the last of them.
    #[test]
    fn copies_of_a_victim_go_to_one_class() {
        let mut chain = chain(4);
        chain.resize(&[2, 2, 2]);
        fill(&mut chain, 1, &[0, 1, 2]);
        assert_eq!(chain.collected(facts(0, 1)), 1);
        assert_eq!([copy(&chain, 0), copy(&chain, 1)], [2, 2]);
        chain.resize(&[2]);
        assert_eq!([copy(&chain, 0), copy(&chain, 1)], [2, 1]);
    }

    /// The last group fills the open block of a group that is no more.
    #[test]
    fn open_blocks_of_former_groups_are_filled() {
        let mut chain = chain(5);
        chain.resize(&[2, 2, 2, 2]);
        fill(&mut chain, 4, &[0]);
        chain.opened(facts(1, 3));
        chain.resize(&[2]);
        assert_eq!(copy(&chain, 0), 3);
        chain.sealed(facts(1, 3));
        assert_eq!((copy(&chain, 0), groups(&chain, &[0, 1])), (1, vec![1, 1]));
    }

    #[test]
    fn what_is_kept_is_taken_back() {
        let mut chain = chain(5);
        chain.resize(&[2, 1]);
        fill(&mut chain, 0, &[3, 4, 5]);
        fill(&mut chain, 2, &[6, 7]);
        chain.opened(facts(8, 1));
        let (mut numbers, mut other) = (Vec::new(), self::chain(5));
        chain.keep(&mut numbers);
        other.take_kept(&mut numbers.iter()).expect("it is a chain");
        let mut again = Vec::new();
        other.keep(&mut again);
        assert_eq!(numbers, again);
        // A block in the queue of another group.
        *numbers.last_mut().expect("a number") = 0;
        let at = numbers.iter().rposition(|&number| number == 4).expect("block 4 is in a queue");
        numbers[at] = 6;
        assert_eq!(self::chain(5).take_kept(&mut numbers.iter()), None);
    }
}
