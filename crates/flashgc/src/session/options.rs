//! Options of a session in addition to its setup.

use crate::stats::SeriesRequest;
use crate::verify::story::Choice;
use crate::verify::timeline::TimelineRequest;
use crate::verify::{JobLog, Listener, RequestSink};

/// Options of a session in addition to its setup.
#[derive(Default)]
pub struct Options {
    /// Whether the checker watches.
    pub verify: bool,
    /// Whether latencies are split into their parts.
    pub blame: bool,
    /// Whether the report has the run over time.
    pub over_time: bool,
    /// Receives a row for each collection.
    pub job_log: Option<JobLog>,
    /// Receives a row for each request, in batches.
    pub request_log: Option<RequestSink>,
    /// The requests whose stories are kept.
    pub stories: Option<Choice>,
    /// The request for the timeline, with its receiver.
    pub timeline: Option<TimelineRequest>,
    /// Receives a row for each interval.
    pub series: Option<SeriesRequest>,
    /// Receives everything that happens, such as each page that is programmed, read and erased.
    pub listener: Option<Listener>,
}

impl Options {
    /// Whether a watcher needs each operation.
    pub(super) fn is_in_detail(&self) -> bool {
        self.verify
            || self.job_log.is_some()
            || self.request_log.is_some()
            || self.stories.is_some()
            || self.timeline.is_some()
            || self.series.is_some()
            || self.listener.is_some()
    }
}
