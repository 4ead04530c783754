//! Facts: what changed in the translation layer, for all who want to know.
//!
//! Every change pushes its fact, and the caller reads the facts in one place, before the next
//! price, trigger or choice. A fact carries what held when it was pushed.

use super::blocks::BlockState;
use crate::ids::{BlockId, PlaneId, Ppn};

/// A change of the translation layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A frontier continues in this block, which was erased.
    Opened {
        /// Its plane.
        plane: PlaneId,
        /// The block.
        block: BlockId,
    },
    /// A block is full, or was released by a collection that did not erase it: a candidate.
    Sealed {
        /// Its plane.
        plane: PlaneId,
        /// The block.
        block: BlockId,
        /// Its valid pages.
        valid: u32,
    },
    /// A page became invalid.
    Lost(Lost),
    /// The data of a page is somewhere else from now on.
    Moved {
        /// Where it was.
        from: Ppn,
        /// Where it is.
        to: Ppn,
    },
    /// A collection took a sealed block.
    Claimed {
        /// Its plane.
        plane: PlaneId,
        /// The block.
        block: BlockId,
        /// Its valid pages.
        valid: u32,
    },
    /// A collection keeps this erased block from being opened.
    Withheld {
        /// Its plane.
        plane: PlaneId,
        /// The block.
        block: BlockId,
    },
    /// A block may be opened again: it was erased, or only released as it was.
    Free {
        /// Its plane.
        plane: PlaneId,
        /// The block.
        block: BlockId,
        /// Whether it was erased.
        erased: bool,
    },
}

/// A page that became invalid, and its block then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// The plane.
    pub plane: PlaneId,
    /// The page.
    pub page: Ppn,
    /// Its block.
    pub block: BlockId,
    /// Valid pages that the block has left.
    pub valid: u32,
    /// The state of the block.
    pub state: BlockState,
}

/// The facts that nobody has read yet.
#[derive(Default)]
pub struct Facts {
    ring: Vec<Fact>,
    /// Whether anybody wants to know where pages go.
    pub tells_moves: bool,
}

impl Facts {
    /// Adds a fact.
    #[inline(always)]
    pub(super) fn push(&mut self, fact: Fact) {
        self.ring.push(fact);
    }

    /// Whether everything has been read.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// The fact at this place, if there are so many.
    #[inline(always)]
    pub fn get(&self, at: usize) -> Option<Fact> {
        self.ring.get(at).copied()
    }

    /// All of them have been read.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.ring.clear();
    }
}
