//! What waits at the units: lists of page operations, linked through their slab.
//!
//! A unit has one queue where the hold of a collection covers it whole, and one for each of its
//! planes where it does not, so that operations on other planes can pass a held one. Each queue
//! has one list, or two where reads and writes are served apart; where requests may enter a job,
//! writes of high priority have a third.

use super::host::Op;
use crate::ids::{PlaneId, UnitId};
use crate::plan::Plan;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct List {
    head: u32,
    tail: u32,
}

/// A queue of page operations, and how many jobs hold it closed.
#[derive(Clone)]
struct Queue {
    lists: [List; 3],
    held: u32,
}

/// All queues.
pub struct Queues {
    queues: Vec<Queue>,
    queue_of_plane: Vec<u32>,
    /// First queue of each unit, and one more entry at the end.
    first_of_unit: Vec<u32>,
}

impl Queues {
    /// Empty queues.
    pub fn new(plan: &Plan) -> Self {
        let geometry = &plan.geometry;
        let whole = plan.gc.hold.covers_unit(geometry.shape.unit);
        let mut queue_of_plane = vec![0; geometry.planes as usize];
        let mut first_of_unit = vec![0];
        let mut count = 0;
        for unit in 0..geometry.units {
            for plane in geometry.planes_of(UnitId(unit)) {
                queue_of_plane[plane.index()] = count;
                count += u32::from(!whole);
            }
            count += u32::from(whole);
            first_of_unit.push(count);
        }
        let empty = List { head: NONE, tail: NONE };
        let queues = vec![Queue { lists: [empty; 3], held: 0 }; count as usize];
        Queues { queues, queue_of_plane, first_of_unit }
    }

    /// Adds an operation behind the others of its plane's queue.
    #[inline(always)]
    pub fn push(&mut self, ops: &mut [Op], plane: PlaneId, list: u8, op: u32) {
        let queue = self.queue_of_plane[plane.index()] as usize;
        let list = &mut self.queues[queue].lists[list as usize];
        ops[op as usize].next = NONE;
        if list.head == NONE {
            list.head = op;
        } else {
            ops[list.tail as usize].next = op;
        }
        list.tail = op;
    }

    /// Adds an operation before the others of its plane's queue.
    pub fn push_front(&mut self, ops: &mut [Op], plane: PlaneId, list: u8, op: u32) {
        let queue = self.queue_of_plane[plane.index()] as usize;
        let list = &mut self.queues[queue].lists[list as usize];
        ops[op as usize].next = list.head;
        if list.head == NONE {
            list.tail = op;
        }
        list.head = op;
    }

    /// The operation that has waited longest in this list of the unit's open queues.
    #[inline(always)]
    pub fn peek(&self, ops: &[Op], unit: UnitId, list: u8) -> Option<u32> {
        let range = self.range(unit);
        if range.len() == 1 {
            let queue = &self.queues[range.start];
            let head = queue.lists[list as usize].head;
            return (head != NONE && queue.held == 0).then_some(head);
        }
        self.queues[range]
            .iter()
            .filter(|queue| queue.held == 0)
            .map(|queue| queue.lists[list as usize].head)
            .filter(|&head| head != NONE)
            .min_by_key(|&head| ops[head as usize].sequence)
    }

    /// Takes the first operation out of the list of this plane's queue.
    #[inline(always)]
    pub fn pop(&mut self, ops: &[Op], plane: PlaneId, list: u8, op: u32) {
        let queue = self.queue_of_plane[plane.index()] as usize;
        let list = &mut self.queues[queue].lists[list as usize];
        debug_assert_eq!(list.head, op);
        list.head = ops[op as usize].next;
    }

    /// Closes the queue that serves a plane.
    pub fn hold(&mut self, plane: PlaneId) {
        self.queues[self.queue_of_plane[plane.index()] as usize].held += 1;
    }

    /// Opens it again.
    pub fn release(&mut self, plane: PlaneId) {
        self.queues[self.queue_of_plane[plane.index()] as usize].held -= 1;
    }

    #[inline(always)]
    fn range(&self, unit: UnitId) -> std::ops::Range<usize> {
        let at = unit.index();
        self.first_of_unit[at] as usize..self.first_of_unit[at + 1] as usize
    }
}
