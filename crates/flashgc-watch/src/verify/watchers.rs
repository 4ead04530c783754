//! Several watchers of one run.

use super::attended::Attended;
use super::blame::{Blame, Part, Parts, make_up};
use super::checker::Checker;
use super::overview::{Overview, tell_series};
use super::per_request::PerRequest;
use super::{Happened, Watch};
use crate::stats::over_time::OverTime;
use crate::stats::series::{Sample, Series};
use flashgc_model::gc::JobRow;

/// Receives a row for each collection.
pub type JobLog = Box<dyn FnMut(&JobRow) + Send>;

/// Receives everything that happens, with the time in ns.
pub type Listener = Box<dyn FnMut(u64, Happened) + Send>;

/// Several watchers at once, chosen when the run begins.
#[derive(Default)]
pub struct Watchers {
    /// The checker of invariants.
    pub checker: Option<Checker>,
    /// Splits the latencies.
    pub blame: Option<Blame>,
    /// Whether the report has the parts; without that, only their sums are checked.
    pub reports_blame: bool,
    /// Receives a row for each collection.
    pub job_log: Option<JobLog>,
    /// Records rows or stories of requests.
    pub per_request: Option<PerRequest>,
    /// Records rows over time.
    pub series: Option<Series>,
    /// Records the run over time.
    pub overview: Overview,
    /// Receives everything that happens.
    pub listener: Option<Listener>,
}

impl Watch for Watchers {
    fn see(&mut self, now_ns: u64, happened: Happened) {
        if let Some(checker) = &mut self.checker {
            checker.see(now_ns, happened);
        }
        if let Some(blame) = &mut self.blame {
            blame.see(now_ns, happened);
            if let Happened::Served { request, op, latency_ns, .. } = happened
                && op.has_parts()
            {
                let parts = blame.parts_of(request);
                assert!(
                    make_up(&parts, latency_ns),
                    "at {now_ns} ns a {} of {latency_ns} ns was done whose parts are {}",
                    op.name(),
                    signed(&parts)
                );
            }
        }
        if let (Some(log), Happened::JobClosed(row)) = (&mut self.job_log, happened) {
            log(&row);
        }
        if self.per_request.is_some() {
            self.tell_per_request(now_ns, happened);
        }
        if let Some(series) = &mut self.series {
            tell_series(series, happened);
        }
        let blame = self.blame.as_ref().filter(|_| self.reports_blame);
        self.overview.see(now_ns, happened, |request| blame?.parts_if_any(request, happened));
        if let Some(listener) = &mut self.listener {
            listener(now_ns, happened);
        }
    }

    fn blame(&self) -> Option<&Blame> {
        self.blame.as_ref().filter(|_| self.reports_blame)
    }

    #[inline]
    fn looks_before(&self, to_ns: u64) -> bool {
        self.series.as_ref().is_some_and(|series| series.ends_before(to_ns))
            || self.overview.looks_before(to_ns)
    }

    fn look(&mut self, to_ns: u64, sample: &Sample) {
        if let Some(series) = &mut self.series {
            series.goes_on(to_ns, sample);
        }
        self.overview.look(to_ns, sample);
    }

    fn over_time(&mut self) -> Option<OverTime> {
        self.overview.over_time.take().map(|over_time| *over_time)
    }

    fn attended(&mut self) -> Option<&mut Attended> {
        self.overview.attended.as_deref_mut()
    }
}

impl Watchers {
    /// The timeline, where there is one, gets the work under way.
    pub fn end_timeline(&mut self, now_ns: u64, under_way: &[Happened]) {
        if let Some(rows) = &mut self.per_request {
            rows.end_timeline(now_ns, under_way);
        }
    }

    fn tell_per_request(&mut self, now_ns: u64, happened: Happened) {
        let parts = match happened {
            Happened::Served { request, op, .. } if op.has_parts() => {
                self.blame().map(|blame| blame.parts_of(request))
            }
            _ => None,
        };
        if let Some(per_request) = &mut self.per_request {
            per_request.see(now_ns, happened, parts);
        }
    }
}

/// The parts of a latency in words: those that are not zero, one below zero as such.
#[cold]
fn signed(parts: &Parts) -> String {
    let parts = Part::ALL.iter().zip(parts).filter(|&(_, &ns)| ns > 0);
    let words = parts.map(|(part, &ns)| format!("{} {}", part.key(), ns.cast_signed()));
    words.collect::<Vec<_>>().join(", ")
}
