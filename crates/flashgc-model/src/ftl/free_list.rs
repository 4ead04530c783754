//! The erased blocks of every plane, in the order in which they came.
//!
//! A list is linked through two tables, so that a block can also be taken from its middle: where
//! sub-blocks are erased, some are withheld for a while, and some are chosen for their neighbours.

use crate::ids::{BlockId, PlaneId};
use crate::memory::{bytes_of, table};

const NONE: u32 = u32::MAX;

/// The first and the last of a list, and their number.
#[derive(Clone, Copy)]
struct Ends {
    first: u32,
    last: u32,
    count: u32,
}

/// The lists of all planes.
#[derive(Clone)]
pub struct FreeLists {
    planes: Vec<Ends>,
    /// The neighbours in the list of each block that is in one.
    before: Vec<u32>,
    behind: Vec<u32>,
}

impl FreeLists {
    /// Empty lists.
    pub fn new(planes: usize, blocks: usize) -> Self {
        FreeLists {
            planes: vec![Ends { first: NONE, last: NONE, count: 0 }; planes],
            before: table(NONE, blocks),
            behind: table(NONE, blocks),
        }
    }

    /// Blocks in a plane's list.
    #[inline(always)]
    pub fn count(&self, plane: PlaneId) -> u32 {
        self.planes[plane.index()].count
    }

    /// Appends a block.
    pub fn push_back(&mut self, plane: PlaneId, block: BlockId) {
        let ends = &mut self.planes[plane.index()];
        self.before[block.index()] = ends.last;
        self.behind[block.index()] = NONE;
        match ends.last {
            NONE => ends.first = block.0,
            last => self.behind[last as usize] = block.0,
        }
        ends.last = block.0;
        ends.count += 1;
    }

    /// Puts a block in front of all others.
    pub fn push_front(&mut self, plane: PlaneId, block: BlockId) {
        let ends = &mut self.planes[plane.index()];
        self.before[block.index()] = NONE;
        self.behind[block.index()] = ends.first;
        match ends.first {
            NONE => ends.last = block.0,
            first => self.before[first as usize] = block.0,
        }
        ends.first = block.0;
        ends.count += 1;
    }

    /// Takes the first block.
    pub fn pop_front(&mut self, plane: PlaneId) -> Option<BlockId> {
        let first = self.first(plane)?;
        self.remove(plane, first);
        Some(first)
    }

    /// Takes this block, which is in the list.
    pub fn remove(&mut self, plane: PlaneId, block: BlockId) {
        let (before, behind) = (self.before[block.index()], self.behind[block.index()]);
        let ends = &mut self.planes[plane.index()];
        match before {
            NONE => ends.first = behind,
            before => self.behind[before as usize] = behind,
        }
        match behind {
            NONE => ends.last = before,
            behind => self.before[behind as usize] = before,
        }
        ends.count -= 1;
    }

    /// The first block.
    pub fn first(&self, plane: PlaneId) -> Option<BlockId> {
        Some(BlockId(self.planes[plane.index()].first)).filter(|block| block.is_some())
    }

    /// The blocks of a plane, the first first.
    pub fn walk(&self, plane: PlaneId) -> impl Iterator<Item = BlockId> + '_ {
        std::iter::successors(self.first(plane), |block| {
            Some(BlockId(self.behind[block.index()])).filter(|block| block.is_some())
        })
    }

    /// Bytes taken.
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.before) + bytes_of(&self.behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn a_list_is_a_queue_from_whose_middle_blocks_can_be_taken() {
        let plane = PlaneId(1);
        let mut lists = FreeLists::new(2, 40);
        let mut expected = VecDeque::new();
        let mut random = crate::rng::Random::named(1, "lists");
        for _ in 0..4000 {
            let block = BlockId(random.below(40) as u32);
            let found = expected.iter().position(|&listed| listed == block);
            match (found, random.below(3)) {
                (Some(at), 0) => {
                    expected.remove(at);
                    lists.remove(plane, block);
                }
                (Some(_), _) => assert_eq!(lists.pop_front(plane), expected.pop_front()),
                (None, 0) => {
                    expected.push_front(block);
                    lists.push_front(plane, block);
                }
                (None, _) => {
                    expected.push_back(block);
                    lists.push_back(plane, block);
                }
            }
            assert_eq!(lists.count(plane) as usize, expected.len());
            assert!(lists.walk(plane).eq(expected.iter().copied()));
        }
        assert_eq!(lists.count(PlaneId(0)), 0);
    }
}
