//! The writes of jobs for ever: how a drive is preconditioned.

use super::files::Files;
use super::{JobsPlan, Layout};
use crate::hints::JobHints;
use crate::{HostOp, Overwrites, SourceError};
use flashgc_model::ids::Lpn;
use flashgc_model::rng::Random;

/// Pages for preconditioning, from the places of the jobs that write, with streams of their own.
///
/// Each clone has a share of the requests in proportion to its depth and its share of writes. Where
/// no job writes, the places of all requests are overwritten. A clone whose passes have no request
/// has no share; where none has any, the whole drive is overwritten uniformly.
pub struct JobsOverwrites {
    /// Each clone's places, with the sum of the weights up to here.
    clones: Vec<(f64, HostOp, Files)>,
    hints: Vec<JobHints>,
    has_hints: bool,
    choice: Random,
    pages: u32,
    page_bytes: u64,
    /// Pages of the request under way.
    next: u64,
    end: u64,
    hint: u8,
}

impl JobsOverwrites {
    /// On a drive with this number of user pages.
    ///
    /// # Panics
    /// If the files do not fit the drive, which is checked before a run.
    pub fn new(plan: &JobsPlan, exported_pages: u32, page_bytes: u64, seed: u64) -> Self {
        let layout = Layout::new(plan, u64::from(exported_pages) * page_bytes, page_bytes);
        let layout = layout.expect("the files of the jobs were checked to fit");
        let writes = plan.jobs.iter().any(|job| job.write_share() > 0.0);
        let (mut clones, mut hints, mut sum) = (Vec::new(), Vec::new(), 0.0);
        for (number, span) in layout.spans.iter().enumerate() {
            let job = &plan.jobs[span.job];
            let share = if writes { job.write_share() } else { 1.0 };
            if share > 0.0 {
                // A trace has no depth, and is taken for a job of one.
                sum += share * f64::from(job.depth.max(1));
                let stream =
                    |what: &str| Random::named(seed, &format!("precondition-job-{number}-{what}"));
                let op = match job.write_share() > 0.0 {
                    // The write goes where its trim went.
                    true if job.trim_then_write => HostOp::Trim,
                    true => HostOp::Write,
                    false if job.read_share > 0.0 => HostOp::Read,
                    false => HostOp::Trim,
                };
                // Popular places are the same as for the job's own requests.
                let turns = Random::named(seed, &format!("job-{number}-turns"));
                clones.push((sum, op, Files::new(job, span, stream, turns)));
                hints.push(JobHints::new(&job.hints, stream("hint")));
            }
        }
        for (up_to, _, _) in &mut clones {
            *up_to /= sum;
        }
        let choice = Random::named(seed, "precondition-job");
        let has_hints = plan.jobs.iter().any(|job| !job.hints.is_none());
        let (pages, next, end, hint) = (exported_pages, 0, 0, 0);
        JobsOverwrites { clones, hints, has_hints, choice, pages, page_bytes, next, end, hint }
    }

    /// The next request of a clone, which is drawn by its share.
    fn draw(&mut self) {
        let Some(last) = self.clones.len().checked_sub(1) else {
            self.next = self.choice.below(u64::from(self.pages));
            (self.end, self.hint) = (self.next + 1, 0);
            return;
        };
        let drawn = self.choice.unit();
        let at = self.clones.partition_point(|(up_to, _, _)| *up_to <= drawn).min(last);
        self.hint = self.hints[at].draw();
        let (_, op, files) = &mut self.clones[at];
        match files.next_for_ever(*op) {
            Some((offset, bytes)) => {
                self.next = offset / self.page_bytes;
                self.end = (offset + bytes).div_ceil(self.page_bytes);
            }
            None => self.leave_out(at),
        }
    }

    /// The shares of the others grow by that of a clone without requests.
    fn leave_out(&mut self, at: usize) {
        let from = at.checked_sub(1).map_or(0.0, |before| self.clones[before].0);
        let share = self.clones.remove(at).0 - from;
        self.hints.remove(at);
        for (up_to, _, _) in &mut self.clones[at..] {
            *up_to -= share;
        }
        for (up_to, _, _) in &mut self.clones {
            *up_to /= 1.0 - share;
        }
    }
}

impl Overwrites for JobsOverwrites {
    fn next(&mut self) -> Result<Lpn, SourceError> {
        while self.next == self.end {
            self.draw();
        }
        self.next += 1;
        Ok(Lpn((self.next - 1) as u32))
    }

    fn has_hints(&self) -> bool {
        self.has_hints
    }

    fn next_hinted(&mut self) -> Result<(Lpn, u8), SourceError> {
        let lpn = self.next()?;
        Ok((lpn, self.hint))
    }
}
