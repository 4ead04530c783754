//! Copies that run unseen: while no request can preempt a collection, its steps need no events.
//!
//! 1. The arbiter finds that no request may preempt, and that none can before one comes or a block
//!    is erased, opened or filled. The copies until then run as one command of their unit.
//! 2. Its state matters: a request is queued that might preempt, a page is trimmed, the run ends.
//!    The steps that ended by now are made, each at its own time, and the one under way becomes the
//!    command of the unit, as if it had been so from the beginning.
//! 3. If it matters to none until the last copy ends, all steps are made then.
//!
//! Which steps have ended follows from the time, since all take equally long. Only pages of the
//! collection's own plane change, and no other operation takes pages there (`Plan::runs_unseen`).

use super::steps::command;
use super::timetable::Unseen;
use super::{Collecting, Jobs, Progress, Stage};
use crate::flash::{Command, Kind, Phases};
use crate::gc::Victim;
use crate::ids::UnitId;
use crate::owner::Owner;
use crate::verify::Watch;

impl Jobs {
    /// Pages that unseen copies have taken by now. Units before `behind` come first in an instant.
    pub fn taken_unseen(&self, now_ns: u64, behind: usize) -> u64 {
        let jobs = self.jobs.iter().enumerate().filter(|(_, job)| job.is_unseen());
        jobs.map(|(at, job)| job.unseen_by(now_ns, at < behind).bound()).sum()
    }
}

impl<W: Watch> Collecting<'_, W> {
    /// The copies begin that are left and do not fill the open block, unseen. `None` where there is
    /// none, or where pages of the victim were lost.
    #[inline(never)]
    pub fn run_unseen(&mut self, unit: UnitId) -> Option<Command<Owner>> {
        let plan = self.cx.plan;
        let job = &mut self.jobs[unit];
        let valid = |victim: &Victim| self.store.ftl.blocks.valid(victim.block) as usize;
        let left = job.copies.len() - job.next;
        // With a block that is opened or filled, writes may find a page or none from then on: those
        // copies are seen.
        let open = job.plane.map_or(0, |plane| self.store.ftl.frontiers.open_to_copies(plane));
        let steps = left.min((open as usize).saturating_sub(1));
        if steps == 0 || left != job.victims.iter().map(valid).sum::<usize>() {
            return None;
        }
        let mode = plan.gc.copy;
        let ns = |op| self.prices.nominal(op, 1).total_ns();
        let (read_ns, program_ns) = (ns(mode.read_op()), ns(mode.program_op()));
        if read_ns == 0 || program_ns == 0 {
            return None;
        }
        let all_ns = steps as u64 * (read_ns + program_ns);
        let is_wanted = self.waiting.count(unit) > 0;
        job.unseen = Unseen::new(self.cx.now_ns, read_ns, program_ns, is_wanted);
        job.unseen_until = job.next + steps;
        job.stage = Stage::Unseen;
        Some(command(Phases::new().then(Kind::Collection, all_ns)))
    }

    /// The steps that have ended are made. Returns the operation under way.
    #[inline(never)]
    pub fn catch_up(&mut self, unit: UnitId, progress: Progress) -> Phases {
        self.make_steps(unit, progress.steps);
        let mode = self.cx.plan.gc.copy;
        self.take_step(unit);
        let job = &mut self.jobs[unit];
        job.step.read_ahead = false;
        job.record.reads += 1;
        if !progress.programs {
            job.stage = Stage::Reading;
            return self.prices.nominal(mode.read_op(), 1);
        }
        job.stage = Stage::Programming;
        self.bind_at(unit, progress.since_ns);
        self.prices.nominal(mode.program_op(), 1)
    }

    /// The last copy has ended: all are made.
    #[inline(never)]
    pub(super) fn unseen_ended(&mut self, unit: UnitId) {
        let job = &self.jobs[unit];
        self.make_steps(unit, (job.unseen_until - job.next) as u64);
        let job = &mut self.jobs[unit];
        job.step.read_ahead = false;
        job.stage = Stage::Copying;
    }

    fn make_steps(&mut self, unit: UnitId, steps: u64) {
        let job = &mut self.jobs[unit];
        let (Some(plane), true) = (job.plane, steps > 0) else { return };
        let (first, fills) = (job.next, job.fills.len());
        job.next += steps as usize;
        job.step.copies.clear();
        job.step.copies.push(job.next - 1);
        job.record.moved += steps as u32;
        job.record.steps += steps as u32;
        job.record.reads += steps as u32;
        let (first_ns, step_ns) = (job.unseen.first_ns(), job.unseen.step_ns());
        let now_ns = self.cx.now_ns;
        // Their entries of the map have left the cache since the victim was chosen.
        let pages = self.jobs[unit].copies[first..first + steps as usize].iter();
        pages.for_each(|copy| self.store.ftl.prefetch_copy(copy.from));
        let (store, copies) = (&mut self.store, &mut self.jobs[unit].copies[first..]);
        let run = store.copy_run_of_victim(&mut copies[..steps as usize], plane, &self.cx);
        for step in run..steps as usize {
            self.cx.now_ns = first_ns + step as u64 * step_ns;
            self.bind_copy(unit, first + step, plane);
        }
        self.cx.now_ns = now_ns;
        let fills = self.jobs[unit].fills.len() - fills;
        self.cx.count_copies(steps, fills as u64);
    }

    /// The copies of the step bind at this time.
    #[inline(always)]
    fn bind_at(&mut self, unit: UnitId, at_ns: u64) {
        let now_ns = std::mem::replace(&mut self.cx.now_ns, at_ns);
        self.bind_step(unit);
        self.cx.now_ns = now_ns;
    }
}
