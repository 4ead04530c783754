//! Copies that run unseen: while nothing can come between the steps of a collection, they need no
//! events.
//!
//! 1. The arbiter finds that nothing can come between them before a block is erased, opened or
//!    filled: no request may preempt, or the collection has its bus to itself. The copies until
//!    then run as one command of their unit.
//! 2. Its state matters: a request is queued that might preempt, another unit begins a command at
//!    the bus, a page is trimmed or rewritten elsewhere, the run ends. The steps that ended by now
//!    are made, each at its own time, and the one under way becomes the command of the unit, as if
//!    it had been so from the beginning.
//! 3. If it matters to none until the last copy ends, all steps are made then.
//!
//! Which steps have ended follows from the time, since all take equally long. Only pages of the
//! collection's own plane change, and no other operation takes pages there (`Plan::runs_unseen`).

use super::steps::command;
use super::timetable::{Timetable, Unseen, Work};
use super::{Collecting, Jobs, Progress, Stage, reads};
use crate::flash::{BOUND, Command, Kind, Phases, UnderWay};
use crate::gc::Victim;
use crate::ids::UnitId;
use crate::owner::Owner;
use crate::verify::Watch;

impl Jobs {
    /// Pages that unseen copies have taken by now, at this place of the instant.
    pub fn taken_unseen(&self, now_ns: u64, place: usize) -> u64 {
        self.unseen.iter().map(|&unit| self.unseen_by(unit, now_ns, place).bound()).sum()
    }

    /// What the unseen copies of a unit have done by now (see [`Unseen::by`]).
    pub fn unseen_by(&self, unit: UnitId, now_ns: u64, place: usize) -> Progress {
        self[unit].unseen.by(&self.copy_times, now_ns, place)
    }

    /// Whether the phase under way is the last one of the unseen copies of a unit, whose end is an
    /// event.
    pub fn is_last_unseen(&self, unit: UnitId, progress: Progress) -> bool {
        let job = &self[unit];
        progress.programs && job.next + progress.steps as usize + 1 == job.unseen_until
    }

    /// One of the units whose copies run unseen, by its place in their list.
    #[inline(always)]
    pub fn unseen(&self, at: usize) -> Option<UnitId> {
        self.unseen.get(at).copied()
    }

    /// When the first unseen copy of a unit takes its page, the time of one copy, and whether its
    /// program is a command of its own.
    #[inline(always)]
    fn times_of_steps(&self, unit: UnitId) -> (u64, u64, bool) {
        let times = &self.copy_times;
        (self[unit].unseen.first_ns(times), times.step_ns(), times.is_split())
    }

    fn is_seen_again(&mut self, unit: UnitId) {
        self.unseen.retain(|&other| other != unit);
    }
}

impl<W: Watch> Collecting<'_, W> {
    /// The copies begin that are left and do not fill the open block, unseen. `None` where there is
    /// none, or where pages of the victim were lost.
    #[inline(never)]
    pub fn run_unseen(&mut self, unit: UnitId, places: [usize; 2]) -> Option<Command<Owner>> {
        let job = &self.jobs[unit];
        let valid = |victim: &Victim| self.store.ftl.blocks.valid(victim.block) as usize;
        let left = job.copies.len() - job.next;
        // With a block that is opened or filled, writes may find a page or none from then on: those
        // copies are seen.
        let open = job.plane.map_or(0, |plane| self.store.ftl.frontiers.open_to_copies(plane));
        let steps = left.min((open as usize).saturating_sub(1));
        if steps == 0 || left != job.victims.iter().map(valid).sum::<usize>() {
            return None;
        }
        if self.jobs.copy_times.is_empty() {
            self.jobs.copy_times = self.times_of_copy()?;
        }
        let all_ns = steps as u64 * self.jobs.copy_times.step_ns();
        let is_needed = self.waiting.count(unit) > 0;
        let job = &mut self.jobs[unit];
        job.unseen = Unseen::new(self.cx.now_ns, places, is_needed);
        job.unseen_until = job.next + steps;
        job.stage = Stage::Unseen;
        self.jobs.unseen.push(unit);
        // Where the bus works too, the work of both is counted apart.
        let kind = if self.jobs.copy_times.is_split() { Kind::Collection } else { Kind::Rest };
        Some(command(Phases::new().then(kind, all_ns)))
    }

    /// The times of one copy, which are those of all. `None` where a read or a program takes none.
    #[cold]
    #[inline(never)]
    fn times_of_copy(&self) -> Option<Timetable> {
        let mode = self.cx.plan.gc.copy;
        let is_split = self.cx.plan.gc.preemption.is_some();
        let first = if is_split { mode.read_op() } else { mode.step_op() };
        let mut copy = self.prices.nominal(first, 1);
        if is_split {
            copy.append(&self.prices.nominal(mode.program_op(), 1), 0);
        }
        Timetable::new(&copy, is_split)
    }

    /// The steps that have ended are made. Returns the command under way.
    #[inline(never)]
    pub fn catch_up(&mut self, unit: UnitId, progress: Progress) -> UnderWay {
        self.jobs.is_seen_again(unit);
        let is_split = self.jobs.copy_times.is_split();
        self.make_steps(unit, progress.steps);
        self.take_step(unit);
        let (phases, at) = match is_split {
            true => (self.half_under_way(unit, progress), 0),
            false => (self.step_under_way(unit), progress.at),
        };
        let Progress { programs, since_ns, phase_since_ns, .. } = progress;
        if programs {
            self.bind_at(unit, phase_since_ns);
        }
        let binds_at = if is_split || programs { BOUND } else { phases.program_at() };
        UnderWay { phases, binds_at, at, since_ns, phase_since_ns }
    }

    /// A step is under way, as one command.
    fn step_under_way(&mut self, unit: UnitId) -> Phases {
        let op = self.cx.plan.gc.copy.step_op();
        self.jobs[unit].stage = Stage::Copying;
        reads::begin(self, unit, op);
        reads::price(self, unit, op)
    }

    /// The read of a step is under way, or its program.
    fn half_under_way(&mut self, unit: UnitId, progress: Progress) -> Phases {
        let mode = self.cx.plan.gc.copy;
        let job = &mut self.jobs[unit];
        job.step.read_ahead = false;
        job.record.reads += 1;
        let (stage, op) = match progress.programs {
            true => (Stage::Programming, mode.program_op()),
            false => (Stage::Reading, mode.read_op()),
        };
        job.stage = stage;
        self.prices.nominal(op, 1)
    }

    /// What the copies did until the last one, which has ended.
    pub fn work_unseen(&self, unit: UnitId) -> Work {
        let job = &self.jobs[unit];
        self.jobs.copy_times.work_of((job.unseen_until - job.next) as u64, 0)
    }

    /// The last copy has ended: all are made.
    #[inline(never)]
    pub(super) fn unseen_ended(&mut self, unit: UnitId) {
        self.jobs.is_seen_again(unit);
        let job = &self.jobs[unit];
        self.make_steps(unit, (job.unseen_until - job.next) as u64);
        let job = &mut self.jobs[unit];
        job.step.read_ahead = false;
        job.stage = Stage::Copying;
    }

    fn make_steps(&mut self, unit: UnitId, steps: u64) {
        let (first_ns, step_ns, is_split) = self.jobs.times_of_steps(unit);
        let job = &mut self.jobs[unit];
        let (Some(plane), true) = (job.plane, steps > 0) else { return };
        let (first, fills) = (job.next, job.fills.len());
        job.next += steps as usize;
        job.step.copies.clear();
        job.step.copies.push(job.next - 1);
        job.record.moved += steps as u32;
        job.record.steps += steps as u32;
        job.record.reads += if is_split { steps as u32 } else { 0 };
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
