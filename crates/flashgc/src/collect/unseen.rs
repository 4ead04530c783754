//! Copies that nobody sees: while no request can preempt a collection, its steps need no events.
//!
//! 1. The arbiter finds that no request may preempt, and that none can before one comes or the
//!    victim is erased. The copies that are left run as one command of their unit.
//! 2. Somebody looks: a request is queued that might preempt, a page is trimmed, the run ends. The
//!    steps that ended by now are made, each at its own time, and the one under way becomes the
//!    command of the unit, as if it had been so from the beginning.
//! 3. Nobody has looked until the last copy ends: all steps are made then.
//!
//! Which steps have ended follows from the time, since all take equally long. Only pages of the
//! collection's own plane change, and nobody else takes pages there (`Plan::runs_unseen`).

use super::steps::command;
use super::{Collecting, Job, Jobs, Stage};
use crate::flash::{Command, Kind, Phases};
use crate::ids::UnitId;
use crate::owner::Owner;
use crate::verify::Watch;

/// Copies that run unseen.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unseen {
    since_ns: u64,
    read_ns: u64,
    program_ns: u64,
    /// Whether requests waited that may not preempt.
    is_wanted: bool,
}

/// How far unseen copies are.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Steps that ended.
    pub steps: u64,
    /// Whether the present step is being programmed.
    pub programs: bool,
    /// When its operation under way began, in ns.
    pub since_ns: u64,
    /// How long all operations before it took, in ns.
    pub before_ns: u64,
    /// Time that the operation has left, in ns.
    pub left_ns: u64,
    /// Whether requests wait that may not preempt.
    pub is_wanted: bool,
}

impl Progress {
    /// Copies whose page was taken.
    fn bound(self) -> u64 {
        self.steps + u64::from(self.programs)
    }

    /// Whether an operation has ended.
    pub fn has_ended(self) -> bool {
        self.bound() > 0
    }
}

impl Unseen {
    /// What has ended by now. `is_behind` tells whether events of this instant come later than
    /// those of the unit.
    fn by(self, now_ns: u64, is_behind: bool) -> Progress {
        let Unseen { since_ns, read_ns, program_ns, is_wanted } = self;
        // What ends before this time since the beginning has ended.
        let end_ns = now_ns - since_ns + u64::from(is_behind);
        let steps = end_ns.saturating_sub(1) / (read_ns + program_ns);
        let begin_ns = steps * (read_ns + program_ns);
        let programs = begin_ns + read_ns < end_ns;
        let before_ns = begin_ns + if programs { read_ns } else { 0 };
        let length_ns = if programs { program_ns } else { read_ns };
        let since_ns = since_ns + before_ns;
        let left_ns = since_ns + length_ns - now_ns;
        Progress { steps, programs, since_ns, before_ns, left_ns, is_wanted }
    }
}

impl Job {
    /// Whether its copies run unseen.
    #[inline(always)]
    pub fn is_unseen(&self) -> bool {
        self.stage == Stage::Unseen
    }

    /// What its unseen copies have done by now (see [`Unseen::by`]).
    pub fn unseen_by(&self, now_ns: u64, is_behind: bool) -> Progress {
        self.unseen.by(now_ns, is_behind)
    }
}

impl Jobs {
    /// Pages that unseen copies have taken by now. Units before `behind` come first in an instant.
    pub fn taken_unseen(&self, now_ns: u64, behind: usize) -> u64 {
        let jobs = self.jobs.iter().enumerate().filter(|(_, job)| job.is_unseen());
        jobs.map(|(at, job)| job.unseen_by(now_ns, at < behind).bound()).sum()
    }
}

impl<W: Watch> Collecting<'_, W> {
    /// The copies that are left begin, unseen. `None` where there is none, or where pages of the
    /// victim were lost.
    #[inline(never)]
    pub fn run_unseen(&mut self, unit: UnitId) -> Option<Command<Owner>> {
        let plan = self.cx.plan;
        let job = &mut self.jobs[unit];
        let left = &job.copies[job.next..];
        if left.is_empty() || !left.iter().all(|copy| self.store.is_valid(plan, copy.from)) {
            return None;
        }
        let mode = plan.gc.copy;
        let ns = |op| self.prices.nominal(op, 1).total_ns();
        let (read_ns, program_ns) = (ns(mode.read_op()), ns(mode.program_op()));
        let all_ns = left.len() as u64 * (read_ns + program_ns);
        let is_wanted = self.waiting.count(unit) > 0;
        job.unseen = Unseen { since_ns: self.cx.now_ns, read_ns, program_ns, is_wanted };
        job.stage = Stage::Unseen;
        Some(command(Phases::new().then(Kind::Collection, all_ns)))
    }

    /// Somebody looks: the steps that have ended are made. Returns the operation under way.
    #[inline(never)]
    pub fn catch_up(&mut self, unit: UnitId, progress: Progress) -> Phases {
        self.make_steps(unit, progress.steps);
        let mode = self.cx.plan.gc.copy;
        self.take_step(unit);
        let job = &mut self.jobs[unit];
        job.read_ahead = false;
        job.reads += 1;
        if !progress.programs {
            job.stage = Stage::Reading;
            return self.prices.nominal(mode.read_op(), 1);
        }
        job.stage = Stage::Programming;
        self.bind_at(unit, progress.since_ns);
        self.prices.nominal(mode.program_op(), 1)
    }

    /// The last copy has ended, and nobody has looked.
    #[inline(never)]
    pub(super) fn unseen_ended(&mut self, unit: UnitId) {
        let job = &self.jobs[unit];
        self.make_steps(unit, (job.copies.len() - job.next) as u64);
        let job = &mut self.jobs[unit];
        job.read_ahead = false;
        job.stage = Stage::Copying;
    }

    fn make_steps(&mut self, unit: UnitId, steps: u64) {
        let Unseen { since_ns, read_ns, program_ns, .. } = self.jobs[unit].unseen;
        for step in 0..steps {
            self.take_step(unit);
            self.bind_at(unit, since_ns + step * (read_ns + program_ns) + read_ns);
            self.copies_ended(unit);
        }
        self.jobs[unit].reads += steps as u32;
    }

    /// The copies of the step bind at this time.
    #[inline(always)]
    fn bind_at(&mut self, unit: UnitId, at_ns: u64) {
        let now_ns = std::mem::replace(&mut self.cx.now_ns, at_ns);
        self.bind_step(unit);
        self.cx.now_ns = now_ns;
    }
}
