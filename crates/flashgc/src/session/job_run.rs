//! Concurrent jobs, with the latencies of each.

use crate::measure::JobResults;
use crate::stats::ByKind;
use crate::workload::jobs::{Jobs, JobsPlan};
use crate::workload::replay::Replay;
use crate::workload::{HostOp, HostRequest, Source, SourceError, Turn};

/// The jobs of a run.
pub(super) struct JobRun {
    jobs: Jobs,
    job_of_clone: Vec<u16>,
    /// By job.
    latencies: Vec<ByKind>,
}

impl JobRun {
    /// Over a drive with this number of user pages.
    pub(super) fn new(plan: &JobsPlan, exported_pages: u32, page_bytes: u64, seed: u64) -> Self {
        JobRun {
            jobs: Jobs::new(plan, exported_pages, page_bytes, seed),
            job_of_clone: plan.job_of_clones().collect(),
            latencies: plan.jobs.iter().map(|_| ByKind::default()).collect(),
        }
    }

    /// The last job replays this trace.
    pub(super) fn replay(&mut self, replay: Replay) {
        self.jobs.replay(replay);
    }

    /// Lines of a trace that were skipped.
    pub(super) fn bad_rows(&self) -> u64 {
        self.jobs.bad_rows()
    }

    /// The counts and latencies of each job.
    pub(super) fn results(&self) -> Vec<JobResults> {
        let of_job = |(tally, latencies)| JobResults { tally, latencies };
        self.jobs.tallies().into_iter().zip(self.latencies.iter().cloned()).map(of_job).collect()
    }
}

impl Source for JobRun {
    fn next(&mut self) -> Result<Option<HostRequest>, SourceError> {
        self.jobs.next()
    }

    fn turn(&mut self, now_ns: u64) -> Result<Turn, SourceError> {
        let turn = self.jobs.turn(now_ns)?;
        if let Turn::RampEnds(job) = turn {
            self.latencies[usize::from(job)] = ByKind::default();
        }
        Ok(turn)
    }

    fn stop(&mut self, now_ns: u64) {
        self.jobs.stop(now_ns);
    }

    fn done(&mut self, clone: u16, op: HostOp, bytes: u64, latency_ns: u64, now_ns: u64) {
        let job = usize::from(self.job_of_clone[usize::from(clone)]);
        self.latencies[job].record(op, latency_ns);
        self.jobs.done(clone, op, bytes, latency_ns, now_ns);
    }
}
