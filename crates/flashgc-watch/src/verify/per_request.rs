//! Records of single requests: a row for each, the stories of some, or the timeline.

use super::Happened;
use super::blame::Parts;
use super::request_log::{RequestLog, RequestSink};
use super::requests::Requests;
use super::story::{Choice, Stories};
use super::timeline::{Timeline, TimelineRequest};
use flashgc_model::device::Geometry;

/// Records rows, stories or the timeline of requests.
pub struct PerRequest {
    requests: Requests,
    /// Receives a row for each.
    log: Option<RequestLog>,
    /// Keeps the stories of some.
    stories: Option<Stories>,
    /// Records the timeline.
    timeline: Option<Timeline>,
}

impl PerRequest {
    /// The requested records; `None` without any.
    pub fn new(
        sink: Option<RequestSink>,
        choice: Option<Choice>,
        timeline: Option<TimelineRequest>,
        geometry: &Geometry,
    ) -> Option<Self> {
        let is_requested = sink.is_some() || choice.is_some() || timeline.is_some();
        is_requested.then(|| PerRequest {
            requests: Requests::default(),
            log: sink.map(RequestLog::new),
            stories: choice.map(|choice| Stories::new(choice, geometry)),
            timeline: timeline.map(|request| Timeline::new(request, geometry)),
        })
    }

    /// Takes an event of the run; the parts of its latency come with a request that is done.
    pub(super) fn observe(&mut self, now_ns: u64, happened: Happened, parts: Option<Parts>) {
        if let Happened::Served { request, op, latency_ns, outstanding, .. } = happened {
            let row = self.requests.served(request, op, [now_ns - latency_ns, now_ns], parts);
            if let Some(log) = &mut self.log {
                log.served(row);
            }
            if let Some(stories) = &mut self.stories {
                stories.served(request, row);
            }
            if let Some(timeline) = &mut self.timeline {
                timeline.served(request, &row, outstanding);
            }
            return;
        }
        self.requests.observe(now_ns, happened);
        if let Some(stories) = &mut self.stories {
            stories.observe(now_ns, happened, &self.requests);
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.observe(now_ns, happened, &self.requests);
        }
    }

    /// The run has ended: the last rows leave.
    pub fn end(&mut self) {
        if let Some(log) = &mut self.log {
            log.hand_out();
        }
    }

    /// The timeline ends with the work under way.
    pub fn end_timeline(&mut self, now_ns: u64, under_way: &[Happened]) {
        if let Some(timeline) = &mut self.timeline {
            for &fact in under_way {
                timeline.observe(now_ns, fact, &self.requests);
            }
            timeline.end(now_ns);
        }
    }

    /// The stories, where some were requested.
    pub fn stories(&self) -> Option<&Stories> {
        self.stories.as_ref()
    }

    /// The timeline, where it was requested.
    pub fn timeline(&self) -> Option<&Timeline> {
        self.timeline.as_ref()
    }

    /// Whether each step of a collection must be reported.
    pub fn needs_steps(&self) -> bool {
        self.stories.is_some() || self.timeline.is_some()
    }
}
