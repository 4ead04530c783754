//! Facts: what changed in the translation layer, for all who want to know.
//!
//! Every change pushes its fact, and the caller reads the facts in one place, before the next
//! price, trigger or choice. A fact carries what held when it was pushed.

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

/// The facts that nobody has read yet. At most one page is lost in a change, after all else; it has
/// a place of its own, since most changes are only that.
pub struct Facts {
    ring: VecDeque<Fact>,
    lost: Lost,
    has_lost: bool,
    /// Whether anybody wants to know where pages go.
    pub tells_moves: bool,
}

impl Default for Facts {
    fn default() -> Self {
        let (plane, page, block) = (PlaneId::NONE, Ppn::NONE, BlockId::NONE);
        let lost = Lost { plane, page, block, valid: 0, state: BlockState::Free };
        Facts { ring: VecDeque::new(), lost, has_lost: false, tells_moves: false }
    }
}

impl Facts {
    /// Adds a fact.
    #[inline(always)]
    pub(super) fn push(&mut self, fact: Fact) {
        debug_assert!(!self.has_lost, "a lost page is the last fact of a change");
        self.ring.push_back(fact);
    }

    /// A page became invalid.
    #[inline(always)]
    pub(super) fn lose(&mut self, lost: Lost) {
        debug_assert!(!self.has_lost, "the facts of a change are read after it");
        self.lost = lost;
        self.has_lost = true;
    }

    /// The oldest fact.
    #[inline(always)]
    pub fn oldest(&mut self) -> Option<Fact> {
        if self.ring.is_empty() { None } else { self.ring.pop_front() }
    }

    /// The page that was lost.
    #[inline(always)]
    pub fn lost(&mut self) -> Option<Lost> {
        if !std::mem::take(&mut self.has_lost) {
            return None;
        }
        // Field by field: a load of the whole would wait for the stores just before.
        let Lost { plane, page, block, valid, state } = &self.lost;
        Some(Lost { plane: *plane, page: *page, block: *block, valid: *valid, state: *state })
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.ring.clear();
        self.has_lost = false;
    }
}
