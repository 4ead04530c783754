//! A collection ends: its victims are erased, and the batch continues or the host is served.

use super::job::Record;
use super::steps::command;
use super::{Collecting, Stage, slots};
use crate::context::Copied;
use crate::flash::{Command, Op, Phases, Prices};
use crate::gc::{JobRow, Victim};
use crate::host::Waiting;
use crate::ids::{BlockId, PlaneId, UnitId};
use crate::owner::Owner;
use crate::plan::Plan;
use crate::store::Store;
use crate::verify::{Happened, Watch};

/// Valid pages at selection of the blocks that are claimed in addition to the victims.
fn neighbour_valid(victims: &[Victim]) -> u32 {
    victims.iter().filter(|victim| !victim.is_erased()).map(|victim| victim.valid).sum()
}

/// Whether a unit without a collection may begin one: always, or while a request waits at the unit.
/// A write that waits for space anywhere is reason enough, since this unit may be the one that can
/// free some.
#[inline(always)]
pub fn may_open(plan: &Plan, unit: UnitId, waiting: &Waiting, is_starving: bool) -> bool {
    is_due(plan, unit, waiting, is_starving) && !is_kept_out(plan, unit, waiting)
}

#[inline(always)]
fn is_due(plan: &Plan, unit: UnitId, waiting: &Waiting, is_starving: bool) -> bool {
    plan.gc.trigger.idle_units || waiting.count(unit) > 0 || is_starving
}

/// Whether the collection of another unit blocks this one for collections too.
#[inline(always)]
pub fn is_kept_out(plan: &Plan, unit: UnitId, waiting: &Waiting) -> bool {
    plan.gc.blocking.one_collection && waiting.is_held(plan.geometry.planes_of(unit)[0])
}

/// The erase of these victims: nothing where all of them are retired in place of being erased.
pub fn erase(victims: &[Victim], store: &Store, prices: &Prices) -> Phases {
    if store.is_erased(victims) { prices.nominal(Op::Erase, 1) } else { Phases::new() }
}

impl<W: Watch> Collecting<'_, W> {
    /// All pages have moved: the command that erases, or before it the one that pads the last
    /// program.
    pub(super) fn end_of_moves(&mut self, unit: UnitId) -> Command<Owner> {
        if let Some(padded) = slots::pad(self, unit) {
            return padded;
        }
        self.jobs[unit].stage = Stage::Erasing;
        self.erase_begins(unit);
        if self.cx.plan.gc.blocking.erasing.is_some() {
            self.narrow_blocking(unit);
        }
        command(erase(&self.jobs[unit].victims, self.store, self.prices))
    }

    /// The erase has ended: records the collection, and continues with the batch or unblocks the
    /// host. Returns the first command of the next collection of the batch.
    pub fn close(&mut self, unit: UnitId) -> Option<Command<Owner>> {
        let plan = self.cx.plan;
        let unit = self.erased(unit)?;
        let job = &mut self.jobs[unit];
        job.stage = Stage::Closed;
        let plane = job.plane?;
        let blocking_since_ns = job.batch.blocking_since_ns;
        let victims = std::mem::take(&mut job.victims);
        self.store.gc.busy_planes[plane.index()] = false;
        self.store.erase_victims(plane, &victims, &mut self.cx);
        self.open_erased(unit, &victims);
        self.count(unit, &victims);
        if self.cx.watch.needs_rows() {
            let row = self.row(unit, plane, &victims);
            self.cx.notify(Happened::JobClosed(row));
        }
        self.jobs[unit].victims = victims;
        if is_due(self.cx.plan, unit, self.waiting, self.is_starving)
            && self.has_part_alone(plane)
            && let Some(victim) = self.next_of_batch(unit, plane)
        {
            self.widen_blocking(plane);
            return self.claim(unit, plane, victim);
        }
        if plan.gc.preemption.is_none() {
            self.cx.counters.gc_blocking_ns += self.cx.now_ns - blocking_since_ns;
        }
        self.release(plane);
        self.reopen_block(unit, plane);
        None
    }

    fn next_of_batch(&mut self, unit: UnitId, plane: PlaneId) -> Option<BlockId> {
        let job = &mut self.jobs[unit];
        self.store.next_of_batch(plane, &mut job.batch.left, &job.victims, &self.cx)
    }

    /// Adds a collection that ended to the counters.
    fn count(&mut self, unit: UnitId, victims: &[Victim]) {
        let is_of_sub_blocks = self.cx.plan.gc.sub_blocks.is_some();
        let beside = if is_of_sub_blocks { self.moved_beside(unit, victims) } else { 0 };
        let record = &self.jobs[unit].record;
        let Record { moved: pages, steps, wasted, selected_ns, .. } = *record;
        let Record { reads, merged_programs, extra_ns, .. } = *record;
        self.cx.count_collection(victims, Copied { pages, steps, beside });
        let counters = &mut self.cx.counters;
        counters.read_steps += u64::from(reads);
        counters.merged_programs += u64::from(merged_programs);
        counters.gc_extra_ns += extra_ns;
        counters.wasted_copies += u64::from(wasted);
        counters.gc_elapsed_ns += self.cx.now_ns - selected_ns;
    }

    /// Pages that a collection has moved from the sub-blocks next to its victims.
    #[cold]
    fn moved_beside(&self, unit: UnitId, victims: &[Victim]) -> u32 {
        let is_beside = |block| victims.iter().any(|v| v.block == block && !v.is_erased());
        let geometry = &self.cx.plan.geometry;
        let moved = self.jobs[unit].copies.iter().filter(|copy| copy.to.is_some());
        moved.filter(|copy| is_beside(geometry.block_of(copy.from))).count() as u32
    }

    /// The log's row for a collection that has just ended.
    fn row(&self, unit: UnitId, plane: PlaneId, victims: &[Victim]) -> JobRow {
        let job = &self.jobs[unit];
        JobRow {
            unit: unit.0,
            plane: plane.0,
            victim: victims[0].block.0 - self.cx.plan.geometry.blocks_of(plane).start,
            blocks: victims.iter().filter(|victim| victim.is_erased()).count() as u32,
            selected_ns: job.record.selected_ns,
            end_ns: self.cx.now_ns,
            valid: job.record.valid_at_selection,
            neighbour_valid: neighbour_valid(victims),
            moved: job.record.moved,
            steps: job.record.steps,
            wasted: job.record.wasted,
            free_pages_before: job.record.free_pages_at_selection,
            free_pages_after: self.store.ftl.frontiers.free_pages(plane),
        }
    }
}
