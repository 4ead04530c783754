//! Facts: changes of the translation layer, for all rooms that use them.
//!
//! A change of a block pushes its fact, and the caller reads the facts in one place, before the
//! next price, trigger or choice. A fact carries the values at the time of the push. A page that
//! becomes invalid is returned by the change itself, since almost every write loses one.

use super::blocks::BlockState;
use crate::ids::{BlockId, PlaneId, Ppn};
use std::collections::VecDeque;

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
    /// The data of a page is somewhere else from now on.
    Moved {
        /// Its page before.
        from: Ppn,
        /// Its page now.
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
    /// The program of a page has failed: its block is closed.
    ProgramFailed {
        /// Its plane.
        plane: PlaneId,
        /// The block.
        block: BlockId,
        /// The first page of the program.
        page: Ppn,
    },
    /// A claimed block is bad, and never opened again.
    Retired {
        /// Its plane.
        plane: PlaneId,
        /// The block.
        block: BlockId,
        /// Whether its erase has failed; if not, a program had.
        failed: bool,
    },
    /// No further failure is allowed for.
    ReadOnly,
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

/// The facts that have not been read yet.
#[derive(Clone, Default)]
pub struct Facts {
    ring: VecDeque<Fact>,
    /// Whether the moves of pages are recorded as facts.
    pub passes_moves: bool,
}

impl Facts {
    /// Adds a fact.
    #[inline(always)]
    pub(super) fn push(&mut self, fact: Fact) {
        self.ring.push_back(fact);
    }

    /// Whether there is any.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// The oldest fact.
    #[inline]
    pub fn oldest(&mut self) -> Option<Fact> {
        self.ring.pop_front()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.ring.clear();
    }
}
