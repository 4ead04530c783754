//! Keeps operations on one logical page in their order of arrival.
//!
//! Only the last accepted operation of each busy page is in the table; each other one is linked to
//! the one before it. An operation that finds its page busy waits outside the queues until its
//! turn, and then takes the place in its queue that the order of arrival gives it; or it waits in
//! the queue from the beginning, where one queue keeps the order by itself.

use super::Op;
use crate::ids::Lpn;
use rustc_hash::FxHashMap;

const NONE: u32 = u32::MAX;

/// The busy pages.
#[derive(Default)]
pub struct PageOrder {
    last: FxHashMap<u32, u32>,
}

impl PageOrder {
    /// Records an accepted operation; returns the one before it, if its page is busy.
    pub fn accept(&mut self, ops: &mut [Op], lpn: Lpn, op: u32) -> Option<u32> {
        ops[op as usize].behind = NONE;
        let before = self.last.insert(lpn.0, op);
        if let Some(before) = before {
            ops[before as usize].behind = op;
        }
        before
    }

    /// Records that an operation is done; returns the next one on its page.
    pub fn leave(&mut self, op: &Op, lpn: Lpn) -> Option<u32> {
        let behind = op.behind;
        if behind == NONE {
            self.last.remove(&lpn.0);
            return None;
        }
        Some(behind)
    }
}
