//! What ended as it began, and is read after the start of the next operation.

use crate::flash::Ended;
use crate::ids::UnitId;
use crate::owner::Owner;
use std::collections::VecDeque;

/// Operations without a length.
#[derive(Clone, Default)]
pub(super) struct AtOnce {
    /// Commands that ended as they began.
    ended: VecDeque<(UnitId, Ended<Owner>)>,
    /// Answers that left as they came.
    left: VecDeque<(UnitId, u32)>,
    /// Whether there may be any.
    has_any: bool,
}

impl AtOnce {
    /// A command has ended as it began.
    pub(super) fn ends(&mut self, unit: UnitId, ended: Ended<Owner>) {
        self.ended.push_back((unit, ended));
        self.has_any = true;
    }

    /// An answer has left as it came.
    pub(super) fn leaves(&mut self, unit: UnitId, op: u32) {
        self.left.push_back((unit, op));
        self.has_any = true;
    }

    /// Whether there may be any since the last call of [`AtOnce::takes`].
    #[inline(always)]
    pub(super) fn has_any(&self) -> bool {
        self.has_any
    }

    /// All that there are will be read.
    #[inline(always)]
    pub(super) fn takes(&mut self) {
        self.has_any = false;
    }

    /// Whether no command has ended so.
    #[inline(always)]
    pub(super) fn has_no_end(&self) -> bool {
        self.ended.is_empty()
    }

    /// The next command.
    #[inline(always)]
    pub(super) fn next_end(&mut self) -> Option<(UnitId, Ended<Owner>)> {
        self.ended.pop_front()
    }

    /// The next answer.
    pub(super) fn next_left(&mut self) -> Option<(UnitId, u32)> {
        self.left.pop_front()
    }
}
