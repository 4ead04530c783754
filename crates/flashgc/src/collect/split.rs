//! Split copies, where requests may preempt a collection: the read, and the program.
//!
//! Between them the pages of the step are in the register (point A of paper preemptible-gc,
//! Fig. 2). Pages bind when their program starts, so that one which the host rewrites before is
//! not programmed at all.

use super::steps::command;
use super::{Collecting, Stage, reads};
use crate::flash::{Command, Op, Phases};
use crate::ids::UnitId;
use crate::operation::Program;
use crate::owner::Owner;
use crate::verify::Watch;

impl<W: Watch> Collecting<'_, W> {
    /// Point B has passed: the next pages are read, or the victim is erased.
    #[inline(never)]
    pub(super) fn read_step(&mut self, unit: UnitId) -> Command<Owner> {
        self.take_step(unit);
        self.jobs[unit].step.read_ahead = false;
        if self.jobs[unit].step.copies.is_empty() {
            return self.end_of_moves(unit);
        }
        self.jobs[unit].stage = Stage::Reading;
        self.begin_reading(unit);
        command(self.step_read(unit))
    }

    /// The next pages are read in parallel with a transfer of the host, if there are any.
    pub fn read_ahead(&mut self, unit: UnitId) -> Option<Command<Owner>> {
        self.take_step(unit);
        if self.jobs[unit].step.copies.is_empty() {
            return None;
        }
        let phases = self.step_read(unit);
        self.jobs[unit].stage = Stage::Reading;
        self.begin_reading(unit);
        self.jobs[unit].step.read_ahead = true;
        Some(command(phases))
    }

    /// The pages of the step leave the array.
    #[inline(always)]
    pub(super) fn begin_reading_pages(&mut self, unit: UnitId) {
        self.jobs[unit].record.reads += 1;
        reads::begin(self, unit, self.cx.plan.gc.copy.read_op());
        self.notify_read_out(unit);
    }

    /// The read half of the step under way.
    pub fn step_read(&self, unit: UnitId) -> Phases {
        let is_joined = self.cx.plan.geometry.shape.program_slots > 1;
        reads::price(self, unit, if is_joined { Op::Read } else { self.cx.plan.gc.copy.read_op() })
    }

    /// Point A has passed: the pages of the step that are still valid are programmed, and with
    /// them the writes that were merged. Without any of either nothing begins.
    #[inline(never)]
    pub fn program_step(&mut self, unit: UnitId) -> Option<Command<Owner>> {
        let plan = self.cx.plan;
        let job = &mut self.jobs[unit];
        let copies = &job.copies;
        job.step.copies.retain(|&at| self.store.is_valid(plan, copies[at].from));
        job.step.read_ahead = false;
        if job.step.copies.is_empty() && !job.has_merged() {
            job.stage = Stage::Copying;
            return None;
        }
        self.program_of_step(unit)
    }

    /// The program of the pages of a step, and of the writes that were merged.
    #[inline(always)]
    pub(super) fn program_pages(&mut self, unit: UnitId) -> Option<Command<Owner>> {
        let plan = self.cx.plan;
        let job = &mut self.jobs[unit];
        let (copies, merged) = (job.step.copies.len(), job.step.riders.ops.len());
        job.stage = Stage::Programming;
        self.bind_step(unit);
        // A program that takes writes of the host in takes the time of the device: it is theirs as
        // well.
        let prices = if merged > 0 { self.host_prices } else { self.prices };
        let job = &self.jobs[unit];
        let riders = &job.step.riders;
        let fills = riders.fills + self.prices.filled_by_copies(|| job.fills_of_step());
        let pages = job.step_pages().map(|copy| copy.to).chain(riders.pages.iter().copied());
        let (op, program) = (plan.gc.copy.program_op(), Program { pages, fills });
        let of = (op, copies + merged);
        let phases = program.merging(of, merged, prices, &self.store.ftl);
        let job = &mut self.jobs[unit];
        if job.step.riders.fills > 0 {
            job.record.extra_ns += prices.summary_array_ns();
        }
        job.step.riders.pages.clear();
        Some(command(phases))
    }

    /// The pages that were read in advance are discarded: a request waits, and they are read again
    /// later.
    pub fn put_back(&mut self, unit: UnitId) {
        let job = &mut self.jobs[unit];
        job.next = job.step.copies.first().copied().unwrap_or(job.next);
        job.step.copies.clear();
        job.stage = Stage::Copying;
        job.step.read_ahead = false;
    }

    /// The read under way has `left_ns` to go, and no page of its step is valid any more: it is
    /// given up. Returns whether it was.
    pub fn gives_up_read(&mut self, unit: UnitId, left_ns: u64) -> bool {
        let plan = self.cx.plan;
        let job = &self.jobs[unit];
        let is_valid = |page| self.store.is_valid(plan, page);
        if job.stage != Stage::Reading || job.step_pages().any(|copy| is_valid(copy.from)) {
            return false;
        }
        let read_ns = self.step_read(unit).array_ns();
        let job = &mut self.jobs[unit];
        job.stage = Stage::Copying;
        job.step.copies.clear();
        job.give_up_read();
        job.record.extra_ns += read_ns - left_ns;
        job.step.read_ahead = false;
        true
    }

    /// The pages of a step are in the register.
    #[inline(always)]
    pub(super) fn pages_are_buffered(&mut self, unit: UnitId) {
        let job = &mut self.jobs[unit];
        job.stage = Stage::Buffered;
        self.cx.counters.pipelined_reads += u64::from(job.step.read_ahead);
    }

    /// A program of the collection has ended. Returns whether writes were merged into it.
    pub(super) fn programming_ended(&mut self, unit: UnitId) -> bool {
        self.copies_ended(unit);
        let job = &mut self.jobs[unit];
        job.stage = Stage::Copying;
        job.has_merged()
    }
}
