//! The operations that wait at the units: lists of page operations, linked through their slab.
//!
//! A unit has one queue where a collection blocks it whole, and one for each of its planes where it
//! does not, so that operations on other planes can pass a blocked one. Each queue has one list, or
//! two where reads and writes are served apart; where requests may preempt a collection, writes of
//! high priority have a third.
//!
//! Where planes read by themselves each of them has a queue, planes in step included, so that a
//! read can pass another one whose plane is busy. Planes that share their blocks have one each
//! as well, in the unit of each.
//!
//! Every list is in order of arrival. An operation that comes back after younger ones (its page was
//! busy, or its plane was full) goes into a separate heap, and the older of the two heads is first:
//! a long queue is never walked.

use super::{Head, Op};
use crate::ids::{PlaneId, UnitId};
use crate::plan::{HIGH, Plan, READS, WRITES};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct List {
    head: u32,
    tail: u32,
}

/// A queue of page operations, and how many collections keep it closed.
#[derive(Clone)]
struct Queue {
    lists: [List; LISTS],
    held: u32,
}

/// All queues.
#[derive(Clone)]
pub struct Queues {
    queues: Vec<Queue>,
    /// The queues that serve each plane, and their number.
    queue_of_plane: Vec<u32>,
    of_plane: u32,
    unit_of_queue: Vec<UnitId>,
    /// First queue of each unit, and one more entry at the end.
    first_of_unit: Vec<u32>,
    /// Of each list of each queue, the operations that came back after younger ones.
    late: Vec<Late>,
    /// Operations in all of `late`.
    late_count: usize,
    /// Of each operation its queue, where each plane that reads by itself has one.
    queue_of_op: Option<Vec<u32>>,
}

/// Operations by order of arrival, the oldest on top.
pub type Late = BinaryHeap<Reverse<(u64, u32)>>;

/// Lists of a queue.
const LISTS: usize = 3;

impl Queues {
    /// Empty queues.
    pub fn new(plan: &Plan) -> Self {
        let geometry = &plan.geometry;
        let by_step = geometry.names_steps();
        let whole = plan.gc.blocking.covers_unit(geometry.shape.unit) && !by_step;
        let of_plane = if by_step { geometry.steps_of_plane() } else { 1 };
        let mut queue_of_plane = vec![0; (geometry.planes * of_plane) as usize];
        let mut steps_of_unit = vec![Vec::new(); geometry.units as usize];
        for plane in (0..geometry.planes).map(PlaneId) {
            for step in 0..of_plane {
                let unit = geometry.unit_of_lane(plane, step.min(geometry.lanes() - 1));
                steps_of_unit[unit.index()].push(plane.0 * of_plane + step);
            }
        }
        let (mut first_of_unit, mut unit_of_queue) = (vec![0], Vec::new());
        for (unit, steps) in steps_of_unit.into_iter().enumerate() {
            for (at, step) in steps.iter().enumerate() {
                if at == 0 || !whole {
                    unit_of_queue.push(UnitId(unit as u32));
                }
                queue_of_plane[*step as usize] = unit_of_queue.len() as u32 - 1;
            }
            first_of_unit.push(unit_of_queue.len() as u32);
        }
        let count = unit_of_queue.len();
        let empty = List { head: NONE, tail: NONE };
        let queues = vec![Queue { lists: [empty; LISTS], held: 0 }; count];
        let late = vec![Late::new(); LISTS * count];
        let (late_count, queue_of_op) = (0, by_step.then(Vec::new));
        Queues {
            queues,
            queue_of_plane,
            of_plane,
            unit_of_queue,
            first_of_unit,
            late,
            late_count,
            queue_of_op,
        }
    }

    /// The queue of an operation of this plane that enters one; a read of planes in step that read
    /// by themselves, or an operation of planes that share their blocks, enters that of its plane
    /// among them.
    #[inline(always)]
    pub fn queue_for(&mut self, plane: PlaneId, step: u32, op: u32) -> usize {
        match self.queue_of_op {
            None => self.queue_of_plane[plane.index()] as usize,
            Some(_) => self.note_queue(plane, step, op),
        }
    }

    #[cold]
    fn note_queue(&mut self, plane: PlaneId, step: u32, op: u32) -> usize {
        let queue = self.queue_of_plane[(plane.0 * self.of_plane + step) as usize];
        if let Some(queues) = &mut self.queue_of_op {
            let at = op as usize;
            queues.resize(queues.len().max(at + 1), 0);
            queues[at] = queue;
        }
        queue as usize
    }

    /// The queue in which an operation of this plane waits, or has waited.
    #[inline(always)]
    pub fn queue_of(&self, plane: PlaneId, op: u32) -> usize {
        let noted = self.queue_of_op.as_ref().map(|queues| queues[op as usize]);
        noted.unwrap_or(self.queue_of_plane[plane.index()]) as usize
    }

    /// The unit of a queue.
    #[inline(always)]
    pub fn unit_of(&self, queue: usize) -> UnitId {
        self.unit_of_queue[queue]
    }

    /// Adds an operation to a queue, at the place of its arrival.
    #[inline(always)]
    pub fn push(&mut self, ops: &mut [Op], queue: usize, list: u8, op: u32) {
        let sequence = ops[op as usize].sequence;
        ops[op as usize].next = NONE;
        let ends = &mut self.queues[queue].lists[list as usize];
        if ends.head == NONE {
            ends.head = op;
        } else if ops[ends.tail as usize].sequence < sequence {
            ops[ends.tail as usize].next = op;
        } else {
            return self.push_late(LISTS * queue + list as usize, sequence, op);
        }
        ends.tail = op;
    }

    #[cold]
    fn push_late(&mut self, at: usize, sequence: u64, op: u32) {
        self.late[at].push(Reverse((sequence, op)));
        self.late_count += 1;
    }

    /// The operation that has waited longest in each list, and the list.
    pub fn heads(&self, ops: &[Op], unit: UnitId) -> [Head; LISTS] {
        let head = |list| self.peek(ops, unit, list).map(|op| (op, list));
        [head(READS), head(WRITES), head(HIGH)]
    }

    /// The same where operations wait in one list only, and none of high priority: nearly always.
    /// There is nothing to compare then.
    #[inline(always)]
    pub fn only_head(&self, unit: UnitId) -> Head {
        let range = self.range(unit);
        if self.late_count > 0 || range.len() > 1 {
            return None;
        }
        let queue = &self.queues[range.start];
        let head = |list: u8| queue.lists[list as usize].head;
        let (reads, writes, high) = (head(READS), head(WRITES), head(HIGH));
        if queue.held > 0 || high != NONE {
            return None;
        }
        match (reads, writes) {
            (NONE, NONE) => None,
            (NONE, writes) => Some((writes, WRITES)),
            (reads, NONE) => Some((reads, READS)),
            _ => None,
        }
    }

    /// The operation that has waited longest in this list of the unit's open queues.
    #[inline(always)]
    pub fn peek(&self, ops: &[Op], unit: UnitId, list: u8) -> Option<u32> {
        let range = self.range(unit);
        if self.late_count > 0 {
            return self.peek_late(ops, range, list);
        }
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

    /// The same where some operations came back after younger ones.
    fn peek_late(&self, ops: &[Op], range: std::ops::Range<usize>, list: u8) -> Option<u32> {
        let open = range.filter(|&queue| self.queues[queue].held == 0);
        let heads = open.flat_map(|queue| {
            let head = self.queues[queue].lists[list as usize].head;
            let late = self.late[LISTS * queue + list as usize].peek();
            [(head != NONE).then_some(head), late.map(|&Reverse((_, op))| op)]
        });
        heads.flatten().min_by_key(|&head| ops[head as usize].sequence)
    }

    /// Takes the first operation out of the list of this plane's queue.
    #[inline(always)]
    pub fn pop(&mut self, ops: &[Op], plane: PlaneId, list: u8, op: u32) {
        let queue = self.queue_of(plane, op);
        let ends = &mut self.queues[queue].lists[list as usize];
        if ends.head == op {
            ends.head = ops[op as usize].next;
        } else {
            self.pop_late(LISTS * queue + list as usize, op);
        }
    }

    #[cold]
    fn pop_late(&mut self, at: usize, op: u32) {
        let first = self.late[at].pop();
        debug_assert!(first.is_some_and(|Reverse((_, first))| first == op));
        self.late_count -= 1;
    }

    /// Of each open queue of a unit, the operation that has waited longest in this list.
    pub fn heads_of_list<'a>(
        &'a self,
        ops: &'a [Op],
        unit: UnitId,
        list: u8,
    ) -> impl Iterator<Item = u32> + 'a {
        let open = self.range(unit).filter(|&queue| self.queues[queue].held == 0);
        open.filter_map(move |queue| self.peek_late(ops, queue..queue + 1, list))
    }

    /// The operations that wait at a unit, in no order.
    pub fn waiting_at<'a>(&'a self, ops: &'a [Op], unit: UnitId) -> impl Iterator<Item = u32> + 'a {
        let lists = self.range(unit).flat_map(|queue| (0..LISTS).map(move |list| (queue, list)));
        lists.flat_map(move |(queue, list)| {
            let some = |op: u32| (op != NONE).then_some(op);
            let first = some(self.queues[queue].lists[list].head);
            let listed = std::iter::successors(first, move |&op| some(ops[op as usize].next));
            listed.chain(self.late[LISTS * queue + list].iter().map(|&Reverse((_, op))| op))
        })
    }

    /// The queues that serve a plane.
    fn serving(&self, plane: PlaneId) -> std::ops::Range<usize> {
        let (first, count) = (plane.index() * self.of_plane as usize, self.of_plane as usize);
        first..first + count
    }

    /// Closes the queues that serve a plane.
    pub fn close(&mut self, plane: PlaneId) {
        for at in self.serving(plane) {
            self.queues[self.queue_of_plane[at] as usize].held += 1;
        }
    }

    /// Whether the queues that serve a plane are closed.
    #[inline]
    pub fn is_held(&self, plane: PlaneId) -> bool {
        self.queues[self.queue_of_plane[self.serving(plane).start] as usize].held > 0
    }

    /// Opens them again.
    pub fn release(&mut self, plane: PlaneId) {
        for at in self.serving(plane) {
            self.queues[self.queue_of_plane[at] as usize].held -= 1;
        }
    }

    #[inline(always)]
    fn range(&self, unit: UnitId) -> std::ops::Range<usize> {
        let at = unit.index();
        self.first_of_unit[at] as usize..self.first_of_unit[at + 1] as usize
    }
}
