//! The sources of the measured part's requests.

use super::job_run::JobRun;
use crate::measure::JobResults;
use crate::workload::fitted::Fitted;
use crate::workload::repeat::Repeated;
use crate::workload::replay::Replay;
use crate::workload::synthetic::Synthetic;
use crate::workload::{HostOp, HostRequest, Source, SourceError, Turn};

/// The requests of the measured part.
pub(super) enum RunSource {
    Synthetic(Box<Synthetic>),
    Fitted(Box<Fitted>),
    Jobs(Box<JobRun>),
    Replay(Box<Replay>),
    Repeated(Box<Repeated>),
}

impl RunSource {
    /// Lines of a trace that were skipped.
    pub fn bad_rows(&self) -> u64 {
        match self {
            RunSource::Synthetic(_) | RunSource::Fitted(_) => 0,
            RunSource::Jobs(jobs) => jobs.bad_rows(),
            RunSource::Replay(replay) => replay.bad_rows(),
            RunSource::Repeated(repeated) => repeated.bad_rows(),
        }
    }

    /// The counts and latencies of each job, where there are any.
    pub fn of_jobs(&self) -> Vec<JobResults> {
        match self {
            RunSource::Jobs(jobs) => jobs.results(),
            _ => Vec::new(),
        }
    }
}

impl Source for RunSource {
    #[inline]
    fn next(&mut self) -> Result<Option<HostRequest>, SourceError> {
        match self {
            RunSource::Synthetic(source) => source.next(),
            RunSource::Fitted(source) => source.next(),
            RunSource::Jobs(source) => source.next(),
            RunSource::Replay(source) => source.next(),
            RunSource::Repeated(source) => source.next(),
        }
    }

    fn draw(&mut self, room: &mut [HostRequest]) -> (usize, Option<Result<(), SourceError>>) {
        match self {
            RunSource::Synthetic(source) => source.draw(room),
            RunSource::Fitted(source) => source.draw(room),
            RunSource::Jobs(source) => source.draw(room),
            RunSource::Replay(source) => source.draw(room),
            RunSource::Repeated(source) => source.draw(room),
        }
    }

    fn turn(&mut self, now_ns: u64) -> Result<Turn, SourceError> {
        match self {
            RunSource::Jobs(source) => source.turn(now_ns),
            _ => Err(SourceError("the workload has no jobs".into())),
        }
    }

    fn stop(&mut self, now_ns: u64) {
        if let RunSource::Jobs(source) = self {
            source.stop(now_ns);
        }
    }

    fn done(&mut self, job: u16, op: HostOp, bytes: u64, latency_ns: u64, now_ns: u64) {
        if let RunSource::Jobs(source) = self {
            source.done(job, op, bytes, latency_ns, now_ns);
        }
    }
}
