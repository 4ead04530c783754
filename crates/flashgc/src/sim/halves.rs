//! Copies in two halves, where requests may preempt a collection: the read, and the program.
//!
//! Between them the pages of the step are in the register (point A of paper preemptible-gc,
//! Fig. 2). Pages bind when their program starts, so that one which the host rewrites before is
//! not programmed at all.

use super::Sim;
use crate::collect::Stage;
use crate::flash::{Op, Phases};
use crate::ids::UnitId;
use crate::owner::Owner;
use crate::verify::Watch;

impl<W: Watch> Sim<W> {
    /// Point B has passed: the next pages are read, or the victim is erased.
    #[inline(never)]
    pub(super) fn read_step(&mut self, unit: UnitId) {
        self.take_step(unit);
        let copies = self.jobs[unit].step.len();
        self.set_read_ahead(unit, false);
        if copies == 0 {
            self.jobs[unit].stage = Stage::Erasing;
            self.begin(unit, Owner::Collection, self.prices.nominal(Op::Erase, 1));
        } else {
            self.begin_reading(unit);
            self.begin(unit, Owner::Collection, self.step_read(unit));
        }
        self.job_phase_overlaps(unit);
    }

    pub(super) fn begin_reading(&mut self, unit: UnitId) {
        let job = &mut self.jobs[unit];
        job.stage = Stage::Reading;
        job.reads += 1;
        self.tell_read_out(unit);
    }

    /// Point A has passed: the pages of the step that are still valid are programmed, and with
    /// them the writes that were merged.
    #[inline(never)]
    pub(super) fn program_step(&mut self, unit: UnitId) {
        let job = &mut self.jobs[unit];
        let Some(plane) = job.plane else { return };
        let mut step = std::mem::take(&mut job.step);
        step.retain(|&at| self.ftl.is_valid(&self.plan.geometry, job.copies[at].from));
        job.step = step;
        let (copies, merged) = (job.step.len(), job.merged.len());
        self.set_read_ahead(unit, false);
        if copies + merged == 0 {
            self.jobs[unit].stage = Stage::Copying;
            return;
        }
        self.jobs[unit].stage = Stage::Programming;
        for at in 0..copies {
            self.bind_copy(unit, self.jobs[unit].step[at], plane);
        }
        let op =
            if self.plan.gc.copy.stays_in_plane() { Op::ProgramRegisters } else { Op::Program };
        let mut phases = self.prices.merging(op, copies + merged, merged);
        let host_pages = match self.arbiter.preemptive() {
            Some(preemptive) => std::mem::take(&mut preemptive.units[unit.index()].host_pages),
            None => Vec::new(),
        };
        let job = &self.jobs[unit];
        let fills = job.host_fills + self.prices.filled_by_copies(|| job.fills_of_step());
        let pages = job.step_pages().map(|copy| copy.to).chain(host_pages);
        self.prices.bind(&mut phases, pages, fills);
        if job.host_fills > 0 {
            self.jobs[unit].extra_ns += self.prices.summary_array_ns();
        }
        self.begin(unit, Owner::Collection, phases);
        self.job_phase_overlaps(unit);
    }

    /// The read half of the step under way.
    pub(super) fn step_read(&self, unit: UnitId) -> Phases {
        let job = &self.jobs[unit];
        let op = if self.plan.gc.copy.stays_in_plane() { Op::ReadRegisters } else { Op::Read };
        self.prices.reading(op, job.step.len(), job.step_pages().map(|copy| copy.from))
    }

    /// The pages that were read in advance are discarded: a request waits, and they are read again
    /// later.
    pub(super) fn put_back(&mut self, unit: UnitId) {
        let job = &mut self.jobs[unit];
        job.next = job.step.first().copied().unwrap_or(job.next);
        job.step.clear();
        job.stage = Stage::Copying;
        self.set_read_ahead(unit, false);
    }

    /// The pages of a step are in the register, and on their way where they go elsewhere.
    pub(super) fn reading_ended(&mut self, unit: UnitId) {
        if self.plan.gc.copy.is_global() {
            return self.send_step(unit);
        }
        self.jobs[unit].stage = Stage::Buffered;
        let was_ahead = self
            .arbiter
            .preemptive()
            .is_some_and(|preemptive| preemptive.units[unit.index()].read_ahead);
        self.counters.pipelined_reads += u64::from(was_ahead);
    }

    /// A program of the collection has ended, and the writes that were merged into it are done.
    pub(super) fn programming_ended(&mut self, unit: UnitId) {
        self.copies_ended(unit);
        let job = &mut self.jobs[unit];
        job.stage = Stage::Copying;
        let host_fills = u64::from(std::mem::take(&mut job.host_fills));
        let mut merged = std::mem::take(&mut job.merged);
        self.count_summaries(host_fills);
        if !merged.is_empty() {
            self.note_left(unit);
        }
        for op in merged.drain(..) {
            self.host_operation_ended(op);
        }
        self.jobs[unit].merged = merged;
    }

    /// Whether the pages in the register were read in parallel with a transfer of the host.
    pub(super) fn set_read_ahead(&mut self, unit: UnitId, is_ahead: bool) {
        if let Some(preemptive) = self.arbiter.preemptive() {
            preemptive.units[unit.index()].read_ahead = is_ahead;
        }
    }
}
