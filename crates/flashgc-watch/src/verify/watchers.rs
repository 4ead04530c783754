//! Several watchers of one run.

use super::attended::Attended;
use super::blame::{Blame, Part, Parts, make_up};
use super::checker::Checker;
use super::overview::{Overview, pass_to_series};
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
pub enum Watchers {
    /// Splits latencies, and records the run over time if that was requested. Collections run as
    /// they do unwatched.
    Parts(Box<Blame>, Overview),
    /// Watchers that need each operation.
    InDetail(Box<InDetail>),
}

/// Watchers that need each operation, with its name and its times.
#[derive(Default)]
pub struct InDetail {
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

impl Clone for Watchers {
    /// Callers check [`Watchers::is_copied`] first: a copy has no watcher in detail.
    fn clone(&self) -> Self {
        match self {
            Watchers::Parts(blame, overview) => Watchers::Parts(blame.clone(), overview.clone()),
            Watchers::InDetail(_) => Watchers::InDetail(Box::default()),
        }
    }
}

impl From<InDetail> for Watchers {
    fn from(in_detail: InDetail) -> Self {
        Watchers::InDetail(Box::new(in_detail))
    }
}

impl Watch for Watchers {
    fn needs_names(&self) -> bool {
        matches!(self, Watchers::InDetail(_))
    }

    fn needs_copies(&self) -> bool {
        matches!(self, Watchers::InDetail(_))
    }

    fn needs_rows(&self) -> bool {
        match self {
            Watchers::Parts(_, overview) => overview.over_time.is_some(),
            Watchers::InDetail(_) => true,
        }
    }

    #[inline(always)]
    fn observe(&mut self, now_ns: u64, happened: Happened) {
        match self {
            Watchers::Parts(blame, overview) => {
                blame.observe(now_ns, happened);
                overview.observe(now_ns, happened, |request| blame.parts_if_any(request, happened));
            }
            Watchers::InDetail(own) => own.observe(now_ns, happened),
        }
    }

    fn blame(&self) -> Option<&Blame> {
        match self {
            Watchers::Parts(blame, _) => Some(blame),
            Watchers::InDetail(own) => own.blame.as_ref().filter(|_| own.reports_blame),
        }
    }

    #[inline]
    fn looks_before(&self, to_ns: u64) -> bool {
        let series = self.in_detail().and_then(|own| own.series.as_ref());
        series.is_some_and(|series| series.ends_before(to_ns))
            || self.overview().looks_before(to_ns)
    }

    fn look(&mut self, to_ns: u64, sample: &Sample) {
        if let Some(series) = self.in_detail_mut().and_then(|own| own.series.as_mut()) {
            series.goes_on(to_ns, sample);
        }
        self.overview_mut().look(to_ns, sample);
    }

    fn over_time(&mut self) -> Option<OverTime> {
        self.overview_mut().over_time.take().map(|over_time| *over_time)
    }

    fn attended(&mut self) -> Option<&mut Attended> {
        self.overview_mut().attended.as_deref_mut()
    }
}

impl Watchers {
    /// The run over time, and the requests of others.
    pub fn overview(&self) -> &Overview {
        match self {
            Watchers::Parts(_, overview) => overview,
            Watchers::InDetail(own) => &own.overview,
        }
    }

    /// The run over time, and the requests of others.
    pub fn overview_mut(&mut self) -> &mut Overview {
        match self {
            Watchers::Parts(_, overview) => overview,
            Watchers::InDetail(own) => &mut own.overview,
        }
    }

    /// The watchers that need each operation.
    pub fn in_detail(&self) -> Option<&InDetail> {
        match self {
            Watchers::Parts(..) => None,
            Watchers::InDetail(own) => Some(own),
        }
    }

    /// The watchers that need each operation.
    pub fn in_detail_mut(&mut self) -> Option<&mut InDetail> {
        match self {
            Watchers::Parts(..) => None,
            Watchers::InDetail(own) => Some(own),
        }
    }

    /// Whether they can be copied: neither watchers in detail nor a run over time can.
    pub fn is_copied(&self) -> bool {
        self.in_detail().is_none() && self.overview().is_copied()
    }

    /// The checker of invariants, if it watches.
    pub fn checker(&self) -> Option<&Checker> {
        self.in_detail()?.checker.as_ref()
    }

    /// Rows or stories of requests, if recorded.
    pub fn per_request(&self) -> Option<&PerRequest> {
        self.in_detail()?.per_request.as_ref()
    }
}

impl InDetail {
    /// Whether a watcher must be notified when each copy ends.
    pub fn needs_steps(&self) -> bool {
        self.series.is_some() || self.per_request.as_ref().is_some_and(PerRequest::needs_steps)
    }

    /// Cold, so that its calls lie outside of the loop of a run that only splits latencies.
    #[cold]
    #[inline(never)]
    fn observe(&mut self, now_ns: u64, happened: Happened) {
        if let Some(checker) = &mut self.checker {
            checker.observe(now_ns, happened);
        }
        let mut parts = None;
        if let Some(blame) = &mut self.blame {
            blame.observe(now_ns, happened);
            parts = parts_of(blame, now_ns, happened).filter(|_| self.reports_blame);
        }
        if let (Some(log), Happened::JobClosed(row)) = (&mut self.job_log, happened) {
            log(&row);
        }
        if let Some(per_request) = &mut self.per_request {
            per_request.observe(now_ns, happened, parts);
        }
        if let Some(series) = &mut self.series {
            pass_to_series(series, happened);
        }
        self.overview.observe(now_ns, happened, |_| parts);
        if let Some(listener) = &mut self.listener {
            listener(now_ns, happened);
        }
    }
}

/// The parts of a request, where this event is its end. They must make up its latency.
fn parts_of(blame: &Blame, now_ns: u64, happened: Happened) -> Option<Parts> {
    let Happened::Served { request, op, latency_ns, .. } = happened else { return None };
    let parts = blame.parts_if_any(request, happened)?;
    assert!(
        make_up(&parts, latency_ns),
        "at {now_ns} ns a {} of {latency_ns} ns was done whose parts are {}",
        op.name(),
        signed(&parts)
    );
    Some(parts)
}

/// The parts of a latency in words: those that are not zero, one below zero as such.
#[cold]
fn signed(parts: &Parts) -> String {
    let parts = Part::ALL.iter().zip(parts).filter(|&(_, &ns)| ns > 0);
    let words = parts.map(|(part, &ns)| format!("{} {}", part.key(), ns.cast_signed()));
    words.collect::<Vec<_>>().join(", ")
}
