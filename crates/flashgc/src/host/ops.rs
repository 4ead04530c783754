//! Page operations of the host, and the queues in which they wait.

use super::queues::Queues;
use crate::ids::{Lpn, PlaneId, UnitId};
use crate::plan::{HIGH, Plan, READS, Service};

/// The kind of a page operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpKind {
    /// Reads a page for the host.
    Read,
    /// Reads the rest of a page that the host writes in part; the write follows.
    ReadRest,
    /// Writes a page.
    Write,
    /// Discards the data of a page.
    Trim,
}

impl OpKind {
    /// Whether it reads a page.
    #[inline(always)]
    pub fn is_read(self) -> bool {
        matches!(self, OpKind::Read | OpKind::ReadRest)
    }
}

/// Stands for the request of a flush, which has none.
pub const FLUSH: u32 = u32::MAX;

/// A page operation of the host.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// Its page.
    pub lpn: Lpn,
    /// The request it belongs to; a flush of the write buffer has [`FLUSH`].
    pub request: u32,
    /// The plane in whose queue it waits.
    pub plane: PlaneId,
    /// The kind of operation.
    pub kind: OpKind,
    /// Whether it is in a queue of a unit, or has been.
    pub queued: bool,
    /// Whether its request is of high priority.
    pub high: bool,
    /// Whether it is done for the host, though its program is under way.
    pub loaded: bool,
    /// The next in its list.
    pub next: u32,
    /// The next operation on the same page, where order is kept by table.
    pub behind: u32,
    /// Order of acceptance.
    pub sequence: u64,
}

/// The first operation of a list, and the list.
pub type Head = Option<(u32, u8)>;

/// All page operations, in a slab that grows to the longest queue, and the queues of the units.
#[derive(Clone)]
pub struct Waiting {
    ops: Vec<Op>,
    free: Vec<u32>,
    sequence: u64,
    queues: Queues,
    /// Operations that wait at each unit.
    counts: Vec<u32>,
    service: Service,
    /// Whether writes of high priority have a list of their own.
    high_apart: bool,
}

impl Waiting {
    pub(super) fn new(plan: &Plan) -> Self {
        let geometry = &plan.geometry;
        Waiting {
            ops: Vec::new(),
            free: Vec::new(),
            sequence: 0,
            queues: Queues::new(plan),
            counts: vec![0; geometry.units as usize],
            service: plan.service.clone(),
            high_apart: plan.gc.preemption.is_some(),
        }
    }

    /// Adds an operation that waits nowhere yet.
    #[inline(always)]
    pub(super) fn add(&mut self, lpn: Lpn, request: u32, kind: OpKind, high: bool) -> u32 {
        let sequence = self.sequence;
        self.sequence += 1;
        let plane = PlaneId::NONE;
        let (queued, loaded, next, behind) = (false, false, 0, 0);
        let op = Op { lpn, request, plane, kind, queued, high, loaded, next, behind, sequence };
        if let Some(at) = self.free.pop() {
            self.ops[at as usize] = op;
            return at;
        }
        self.ops.push(op);
        (self.ops.len() - 1) as u32
    }

    /// An operation is over.
    #[inline(always)]
    pub(super) fn free(&mut self, op: u32) {
        self.free.push(op);
    }

    /// An operation.
    #[inline(always)]
    pub fn op(&self, op: u32) -> &Op {
        &self.ops[op as usize]
    }

    #[inline(always)]
    pub(super) fn op_mut(&mut self, op: u32) -> &mut Op {
        &mut self.ops[op as usize]
    }

    #[inline(always)]
    pub(super) fn ops_mut(&mut self) -> &mut [Op] {
        &mut self.ops
    }

    /// An operation that may not exist: the next of a list.
    #[inline(always)]
    pub fn get(&self, op: u32) -> Option<&Op> {
        self.ops.get(op as usize)
    }

    /// The most operations that were under way at once.
    pub fn slab_len(&self) -> usize {
        self.ops.len()
    }

    /// An operation that read the rest of its page is a write from now on.
    #[inline(always)]
    pub fn becomes_write(&mut self, op: u32) {
        self.ops[op as usize].kind = OpKind::Write;
    }

    /// An operation that has waited elsewhere enters a queue behind all others.
    pub fn comes_last(&mut self, op: u32) {
        self.ops[op as usize].sequence = self.sequence;
        self.sequence += 1;
    }

    /// The plane of an operation is known.
    #[inline(always)]
    pub fn set_plane(&mut self, op: u32, plane: PlaneId) {
        self.ops[op as usize].plane = plane;
    }

    /// Operations that wait at a unit.
    #[inline(always)]
    pub fn count(&self, unit: UnitId) -> u32 {
        self.counts[unit.index()]
    }

    /// The operations that wait at a unit, in no order.
    pub fn waiting_at(&self, unit: UnitId) -> impl Iterator<Item = &Op> {
        self.queues.waiting_at(&self.ops, unit).map(|op| self.op(op))
    }

    /// The list in which an operation waits.
    #[inline(always)]
    fn list_of(&self, op: &Op) -> u8 {
        match op.kind {
            OpKind::Read | OpKind::ReadRest => self.service.read_queue,
            OpKind::Write if self.high_apart && op.high => HIGH,
            OpKind::Write | OpKind::Trim => self.service.write_queue,
        }
    }

    /// Puts an operation into the queue of this plane, at the place of its arrival: of planes in
    /// step that read by themselves, or that share their blocks, into that of this one. Returns the
    /// unit.
    #[inline(always)]
    pub fn queue_at(&mut self, op: u32, plane: PlaneId, step: u32) -> UnitId {
        let entry = &mut self.ops[op as usize];
        entry.plane = plane;
        entry.queued = true;
        let list = self.list_of(&self.ops[op as usize]);
        let queue = self.queues.queue_for(plane, step, op);
        self.put(op, queue, list)
    }

    /// Puts a read that stood aside back into its queue.
    pub fn put_back(&mut self, op: u32) {
        let plane = self.ops[op as usize].plane;
        self.put(op, self.queues.queue_of(plane, op), READS);
    }

    #[inline(always)]
    fn put(&mut self, op: u32, queue: usize, list: u8) -> UnitId {
        self.queues.push(&mut self.ops, queue, list, op);
        let unit = self.queues.unit_of(queue);
        self.counts[unit.index()] += 1;
        unit
    }

    /// Takes the first operation of a list out of its queue in a unit.
    #[inline(always)]
    pub fn take(&mut self, unit: UnitId, op: u32, list: u8) {
        let plane = self.ops[op as usize].plane;
        debug_assert!(self.queues.unit_of(self.queues.queue_of(plane, op)) == unit);
        self.queues.pop(&self.ops, plane, list, op);
        self.counts[unit.index()] -= 1;
    }

    /// The operation that has waited longest in this list of the unit's open queues.
    #[inline(always)]
    pub fn peek(&self, unit: UnitId, list: u8) -> Option<u32> {
        self.queues.peek(&self.ops, unit, list)
    }

    /// The read of this list that has waited longest among those that fit and are first in the
    /// queue of their plane, if nothing but reads waits before it.
    pub fn next_read(&self, unit: UnitId, list: u8, fits: impl Fn(&Op) -> bool) -> Option<u32> {
        // Where reads and writes wait apart, the oldest may still be served first.
        let lists = if self.service.oldest_first { 0..=HIGH } else { list..=list };
        let heads = lists.flat_map(|list| self.queues.heads_of_list(&self.ops, unit, list));
        let (mut read, mut other) = (None, u64::MAX);
        for at in heads {
            let op = self.op(at);
            if !op.kind.is_read() {
                other = other.min(op.sequence);
            } else if read.is_none_or(|(sequence, _)| op.sequence < sequence) && fits(op) {
                read = Some((op.sequence, at));
            }
        }
        read.filter(|&(sequence, _)| sequence < other).map(|(_, at)| at)
    }

    /// Whether an operation that waits is the first of its list.
    #[inline]
    pub fn is_first(&self, unit: UnitId, op: u32) -> bool {
        self.peek(unit, self.list_of(self.op(op))) == Some(op)
    }

    /// The first operation of each list, in the order of service, where requests may preempt a
    /// collection.
    #[inline]
    pub fn heads(&self, unit: UnitId) -> [Head; 3] {
        if self.count(unit) == 0 {
            return [None; 3];
        }
        match self.only_head(unit) {
            Some(head) => [Some(head), None, None],
            None => self.heads_in_order(unit),
        }
    }

    /// The operation that is first where nothing has to be compared: nearly always.
    #[inline(always)]
    pub fn only_head(&self, unit: UnitId) -> Head {
        self.queues.only_head(unit)
    }

    #[inline(never)]
    fn heads_in_order(&self, unit: UnitId) -> [Head; 3] {
        let [reads, writes, high] = self.queues.heads(&self.ops, unit);
        let sequence = |head: Head| head.map_or(u64::MAX, |(op, _)| self.op(op).sequence);
        let older = |a: Head, b: Head| if sequence(b) < sequence(a) { (b, a) } else { (a, b) };
        let (first, second) = older(writes, high);
        if self.service.oldest_first {
            let (second, third) = older(second, reads);
            let (first, second) = older(first, second);
            return [first, second, third];
        }
        match self.service.writes_first() {
            true => [first, second, reads],
            false => [reads, first, second],
        }
    }

    /// Closes the queue that serves a plane.
    pub fn close(&mut self, plane: PlaneId) {
        self.queues.close(plane);
    }

    /// Opens it again.
    pub fn release(&mut self, plane: PlaneId) {
        self.queues.release(plane);
    }

    /// Whether the queue that serves a plane is closed.
    #[inline]
    pub fn is_held(&self, plane: PlaneId) -> bool {
        self.queues.is_held(plane)
    }
}
