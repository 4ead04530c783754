//! Which writes may preempt: the states S2 and S3, and the pages that an open collection needs.

use super::preemptive::Preemptive;
use super::view::View;
use crate::gc::{Role, Victim};
use crate::ids::{PlaneId, UnitId};
use crate::plan::HIGH;
use std::iter::once;

impl View<'_> {
    /// Whether a plane of the unit is above the hard threshold and has a page for the host.
    pub(crate) fn plane_takes_write(&self, unit: UnitId, plane: PlaneId) -> bool {
        self.ftl.host_has_room(plane)
            && self.leaves_room(unit, plane)
            && !self.refuses_writes(unit, plane)
            && !self.closes_open_block(unit, plane)
    }

    /// Whether the collection of this plane has closed the block that the host fills.
    pub(super) fn closes_open_block(&self, unit: UnitId, plane: PlaneId) -> bool {
        self.plan.gc.closes_open_block() && self.jobs[unit].collects(plane)
    }

    /// Whether a write may preempt in a plane now.
    pub(crate) fn takes_writes(&self, plane: PlaneId) -> bool {
        let unit = self.plan.geometry.unit_of(plane);
        self.plane_takes_write(unit, plane) && !self.is_shut_as_queued(unit)
    }

    /// State S3 where writes find their plane when they are queued.
    fn is_shut_as_queued(&self, unit: UnitId) -> bool {
        let high = self.waiting.peek(unit, HIGH);
        let is_refused = |op| self.refuses_writes(unit, self.waiting.op(op).plane);
        self.jobs[unit].is_open() && high.is_some_and(is_refused)
    }

    /// State S2: the plane is below its hard threshold, and a collection can free pages there.
    #[inline(always)]
    pub(super) fn refuses_writes(&self, unit: UnitId, plane: PlaneId) -> bool {
        let trigger = &self.plan.gc.trigger;
        trigger.hard.is_some_and(|hard| hard.is_short(self.ftl, plane, trigger.inclusive))
            // Where planes share their blocks the write has its page, and later ones get none.
            && !self.plan.geometry.has_superblocks()
            && (self.jobs[unit].collects(plane) || self.gc.can_collect(self.ftl, plane))
    }

    /// Whether the open collection has enough erased pages for the copies that are left when the
    /// host takes one. It may have opened the block of the reserve.
    #[inline(always)]
    pub(super) fn leaves_room(&self, unit: UnitId, plane: PlaneId) -> bool {
        let gc = &self.plan.gc;
        if !self.jobs[unit].collects(plane) {
            return true;
        }
        if gc.separate_gc && gc.reserve_pages == 0 && !self.plan.parity() {
            return true;
        }
        self.leaves_room_beside(unit, plane)
    }

    /// The same where host and copies may share blocks.
    #[inline(never)]
    fn leaves_room_beside(&self, unit: UnitId, plane: PlaneId) -> bool {
        let (job, gc) = (&self.jobs[unit], &self.plan.gc);
        let by_pages = gc.reserve_pages > 0;
        let frontiers = &self.ftl.frontiers;
        // Under the odd/even rule the host could take the pages that copies leave in their block.
        let is_apart = !self.plan.parity() || frontiers.host_has_own_room(plane);
        if gc.separate_gc && is_apart && !by_pages {
            return true;
        }
        let left = job.copies_left();
        let geometry = &self.plan.geometry;
        let data_pages = u64::from(geometry.shape.data_pages());
        // A collection that found fewer victims than its maximum frees less than the next may need.
        let reserve = u64::from(gc.reserve_blocks) * data_pages;
        let free = u64::from(frontiers.free_pages(plane) - self.open_to_the_host_alone(plane));
        let is_plain = !self.plan.parity() && !by_pages && job.victims().len() == 1;
        if is_plain && free > left + reserve {
            return true;
        }
        let pages_of = |is_of: &dyn Fn(&Victim) -> bool| {
            let victims = job.victims().iter().filter(|victim| is_of(victim));
            victims.map(|victim| u64::from(geometry.data_pages_of(victim.block))).sum::<u64>()
        };
        // Blocks that were erased before count as erased, and must not be opened until the
        // collection has ended.
        let withheld =
            pages_of(&|victim| matches!(victim.role, Role::Between | Role::FreeNeighbour));
        // A block with a failed program is retired in place of being erased.
        let is_erased = |victim: &Victim| self.ftl.erases_any(once(victim.block));
        let won = pages_of(&|victim| victim.role == Role::Victim && is_erased(victim));
        let missing = reserve.saturating_sub(won);
        if !self.plan.parity() {
            // The host takes the pages of a program together.
            let more = u64::from(geometry.shape.program_slots) - 1;
            return free > left + more + missing.max(withheld + self.kept_beside(data_pages));
        }
        if by_pages {
            return false;
        }
        // All of them may be of one kind, and the open block may have none of it.
        let whole = u64::from(frontiers.free_blocks(plane).saturating_sub(1)) * data_pages;
        left + missing == 0 || whole > 2 * left + missing
    }

    /// Erased pages in open blocks that copies never go to; at most these many, where the class
    /// that takes the copies of a victim may be any.
    fn open_to_the_host_alone(&self, plane: PlaneId) -> u32 {
        let (gc, frontiers) = (&self.plan.gc, &self.ftl.frontiers);
        let Some(copies) = gc.which_take_copies() else {
            return frontiers.most_open(plane, gc.classes().saturating_sub(1) as usize);
        };
        frontiers.open_in(plane, 0..copies.start)
            + frontiers.open_in(plane, copies.end..gc.classes())
    }

    /// Erased pages that other streams than that of a copy may keep to themselves at most.
    fn kept_beside(&self, data_pages: u64) -> u64 {
        let gc = &self.plan.gc;
        if gc.reserve_pages == 0 {
            return 0;
        }
        u64::from(gc.streams_beside()) * (data_pages - 1)
    }
}

impl Preemptive {
    /// Whether a write finds its plane above the hard threshold, and a page there in an open block
    /// that no batch has closed, and no copy is paid that goes before it.
    #[inline(always)]
    pub(super) fn write_may_preempt(&mut self, unit: UnitId, op: u32, view: &mut View<'_>) -> bool {
        let plane = view.plane_to_start(op);
        if view.closes_open_block(unit, plane) {
            self.units[unit.index()].refused_ns = view.now_ns;
            return false;
        }
        // Where planes share their blocks it has got its page with its place in the queue.
        let has_room = view.plan.geometry.has_superblocks()
            || view.ftl.host_has_room(plane) && view.leaves_room(unit, plane);
        if has_room && !view.refuses_writes(unit, plane) {
            return !self.is_paid(unit, view);
        }
        let entry = &mut self.units[unit.index()];
        entry.refused_ns = view.now_ns;
        let sequence = Some(view.waiting.op(op).sequence);
        if !has_room && entry.exhausted != sequence {
            entry.exhausted = sequence;
            view.counters.exhausted += 1;
        }
        false
    }

    /// State S3: a write of high priority waits for the collection to end.
    #[inline(always)]
    pub(super) fn is_shut(&self, unit: UnitId, view: &mut View<'_>) -> bool {
        if !view.jobs[unit].is_open() {
            return false;
        }
        let Some(op) = view.waiting.peek(unit, HIGH) else { return false };
        let plane = view.plane_to_start(op);
        view.refuses_writes(unit, plane)
    }

    /// The end of S3: no collection is open, and the write of high priority goes before the next.
    pub(super) fn urgent_write(&self, unit: UnitId, view: &mut View<'_>) -> Option<u32> {
        let op = view.waiting.peek(unit, HIGH)?;
        let plane = view.plane_to_start(op);
        (view.refuses_writes(unit, plane) && view.ftl.host_has_room(plane)).then_some(op)
    }
}
