//! What is recorded of single requests: a row for each, or the stories of some.

use super::Happened;
use super::blame::Parts;
use super::request_log::{RequestLog, RequestSink};
use super::requests::Requests;
use super::story::{Choice, Stories};
use crate::device::Geometry;

/// Records rows or stories of requests.
pub struct PerRequest {
    requests: Requests,
    /// Receives a row for each.
    log: Option<RequestLog>,
    /// Keeps the stories of some.
    stories: Option<Stories>,
}

impl PerRequest {
    /// What was asked for, if anything was.
    pub fn new(
        sink: Option<RequestSink>,
        choice: Option<Choice>,
        geometry: &Geometry,
    ) -> Option<Self> {
        let is_asked_for = sink.is_some() || choice.is_some();
        is_asked_for.then(|| PerRequest {
            requests: Requests::default(),
            log: sink.map(RequestLog::new),
            stories: choice.map(|choice| Stories::new(choice, geometry)),
        })
    }

    /// Something happened; a request that is done comes with the parts of its latency.
    pub(super) fn see(&mut self, now_ns: u64, happened: Happened, parts: Option<Parts>) {
        if let Happened::Served { request, op, latency_ns, .. } = happened {
            let row = self.requests.served(request, op, [now_ns - latency_ns, now_ns], parts);
            if let Some(log) = &mut self.log {
                log.served(row);
            }
            if let Some(stories) = &mut self.stories {
                stories.served(request, row);
            }
            return;
        }
        self.requests.see(now_ns, happened);
        if let Some(stories) = &mut self.stories {
            stories.see(now_ns, happened, &self.requests);
        }
    }

    /// The run has ended: the last rows leave.
    pub fn end(&mut self) {
        if let Some(log) = &mut self.log {
            log.hand_out();
        }
    }

    /// The stories, where some were asked for.
    pub fn stories(&self) -> Option<&Stories> {
        self.stories.as_ref()
    }
}
