//! The files that a run writes while it lasts.

use crate::errors::{ConfigError, OutputError};
use crate::request_log::Requests;
use crate::row_log::RowLog;
use crate::timeline::{TimelineFile, TimelineLog};
use flashgc::gc::JobRow;
use flashgc::plan::Plan;
use flashgc::session::{Options, Phase, Progress};
use flashgc::stats::{SERIES_ROWS_MAX, SeriesRequest, SeriesRow};
use flashgc::verify::story::Choice;
use flashgc::workload::HostOp;
use flashgc_config::units;
use pyo3::prelude::*;
use std::path::PathBuf;

/// The logs to write during a run.
#[derive(Default, FromPyObject)]
#[pyo3(from_item_all)]
pub struct Logs {
    /// A file with a row for each collection.
    gc_log: Option<PathBuf>,
    /// A file with a row for each interval.
    series: Option<PathBuf>,
    /// The interval, in the form that users write.
    series_interval: Option<String>,
    /// Takes the rows of requests, in batches of columns.
    requests: Option<Py<PyAny>>,
    /// The requests whose stories are kept.
    stories: Option<Stories>,
    /// The timeline that is recorded.
    timeline: Option<TimelineLog>,
}

/// The requests whose stories are kept: requests by number, or without any the slowest.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Stories {
    numbers: Vec<u64>,
    slowest: usize,
    kind: Option<String>,
}

impl Stories {
    fn choice(&self) -> Choice {
        if !self.numbers.is_empty() {
            return Choice::Numbers(self.numbers.iter().copied().collect());
        }
        let op = self.kind.as_deref().map(|kind| match kind {
            "read" => HostOp::Read,
            _ => HostOp::Write,
        });
        Choice::Slowest(self.slowest, op)
    }
}

/// The watchers of a run.
#[derive(Clone, Copy)]
pub struct Watched {
    /// Whether the checker watches.
    pub verify: bool,
    /// Whether latencies are split into their parts.
    pub blame: bool,
    /// Whether the run is recorded over time.
    pub over_time: bool,
}

/// The files that a run writes while it lasts.
pub struct OpenLogs {
    files: Vec<RowLog>,
    requests: Option<Requests>,
    timeline: Option<TimelineFile>,
    /// The series among them, if its interval was given.
    bounded: Option<usize>,
}

/// Rows that are written before the total number is estimated.
const ROWS_BEFORE_ESTIMATE: u64 = 50_000;

impl OpenLogs {
    /// Whether everything could be written so far.
    pub fn check(&self) -> PyResult<()> {
        self.files.iter().try_for_each(RowLog::check)?;
        self.timeline.as_ref().map_or(Ok(()), TimelineFile::check)?;
        self.requests.as_ref().map_or(Ok(()), Requests::check)
    }

    /// Refuses a series that would be far too long, as soon as that is known.
    pub fn check_length(&self, logs: &Logs, progress: &Progress) -> PyResult<()> {
        let rows = self.bounded.map_or(0, |at| self.files[at].count());
        if rows < ROWS_BEFORE_ESTIMATE || progress.phase != Phase::Run {
            let is_full = rows >= SERIES_ROWS_MAX;
            return if is_full { Err(too_many_rows(logs, progress)) } else { Ok(()) };
        }
        let total = progress.total.filter(|_| progress.done > 0);
        let expected = total.map_or(rows, |total| scaled(rows, total, progress.done));
        // An early estimate may be wrong by some factor.
        let is_sure = expected / 4 >= SERIES_ROWS_MAX || rows >= SERIES_ROWS_MAX;
        if is_sure {
            return Err(too_many_rows(logs, progress));
        }
        Ok(())
    }

    /// The files appear under their names.
    pub fn commit(self) -> PyResult<()> {
        self.timeline.map_or(Ok(()), TimelineFile::commit)?;
        self.files.into_iter().try_for_each(RowLog::commit)
    }
}

/// The final value of an amount if the run continues at its present rate.
fn scaled(amount: u64, total: u64, done: u64) -> u64 {
    let scaled = u128::from(amount) * u128::from(total) / u128::from(done.max(1));
    u64::try_from(scaled).unwrap_or(u64::MAX)
}

/// A time that is at least this long, in a readable unit.
fn rounded_up(ns: u64) -> String {
    let units = [(1_000, "us"), (1_000_000, "ms"), (1_000_000_000, "s")];
    let fits = units.iter().find(|(unit_ns, _)| ns.div_ceil(*unit_ns) < 1000);
    let (unit_ns, name) = fits.unwrap_or(&units[2]);
    format!("{} {name}", ns.div_ceil(*unit_ns).max(1))
}

fn too_many_rows(logs: &Logs, progress: &Progress) -> PyErr {
    let text = logs.series_interval.as_deref().unwrap_or_default();
    let total = progress.total.filter(|_| progress.done > 0).unwrap_or(progress.done);
    let whole_ns = scaled(progress.now_ns, total, progress.done);
    let least = rounded_up(whole_ns.div_ceil(SERIES_ROWS_MAX));
    ConfigError::new_err(format!(
        "error: the series interval `{text}` gives more than {SERIES_ROWS_MAX} rows, the maximum\n \
          = help: give at least `{least}`, or no interval for a few thousand rows"
    ))
}

impl Logs {
    /// Refuses logs that need a clock.
    pub fn check_untimed(&self, watched: Watched) -> PyResult<()> {
        let rows = [
            (watched.blame, "latencies cannot be split"),
            (watched.over_time, "nothing can be shown over time"),
            (self.gc_log.is_some(), "a log of collections has times"),
            (self.series.is_some(), "a series has intervals of time"),
            (self.requests.is_some(), "a log of requests has latencies"),
            (self.stories.is_some(), "no request has a story"),
            (self.timeline.is_some(), "a timeline shows times"),
        ];
        let Some((_, what)) = rows.into_iter().find(|(is_requested, _)| *is_requested) else {
            return Ok(());
        };
        Err(ConfigError::new_err(format!(
            "error: the run has no clock (engine.timing = \"none\"): {what}\n  = help: remove \
             engine.timing = \"none\""
        )))
    }

    /// Begins the files.
    pub fn open(
        &self,
        Watched { verify, blame, over_time }: Watched,
        plan: &Plan,
    ) -> PyResult<(OpenLogs, Options)> {
        let interval_ns = self.interval_ns()?;
        if self.gc_log.is_some() && self.gc_log == self.series {
            return Err(OutputError::new_err(
                "error: the collection log and the series cannot be the same file\n  = help: give \
                 each its own name",
            ));
        }
        let mut bounded = None;
        let (mut files, mut options) =
            (Vec::new(), Options { verify, blame, over_time, ..Options::default() });
        if let Some(path) = &self.gc_log {
            let log = RowLog::with_head(path, "log of collections", &JobRow::default())?;
            options.job_log = Some(log.sink());
            files.push(log);
        }
        if let Some(path) = &self.series {
            let log = RowLog::with_head(path, "series", &SeriesRow::default())?;
            options.series = Some(SeriesRequest { interval_ns, sink: log.sink() });
            bounded = interval_ns.map(|_| files.len());
            files.push(log);
        }
        let add = self.requests.as_ref().map(|add| Python::attach(|py| add.clone_ref(py)));
        let (requests, sink) = add.map(|add| Requests::new(add, blame)).unzip();
        options.request_log = sink;
        options.stories = self.stories.as_ref().map(Stories::choice);
        let timeline = match &self.timeline {
            None => None,
            Some(log) => {
                let (file, request) = log.open(plan)?;
                options.timeline = Some(request);
                Some(file)
            }
        };
        Ok((OpenLogs { files, requests, timeline, bounded }, options))
    }

    fn interval_ns(&self) -> PyResult<Option<u64>> {
        let Some(text) = &self.series_interval else { return Ok(None) };
        let wrong = |why: &str| {
            ConfigError::new_err(format!(
                "error: the series interval `{text}`: {why}\n  = help: give a duration, such as \
                 `10 ms`, or none for a few thousand rows"
            ))
        };
        if self.series.is_none() {
            return Err(ConfigError::new_err(format!(
                "error: the series interval `{text}` has no effect without a series\n  = help: \
                 name a file for it, such as `series.csv`"
            )));
        }
        match units::parse_duration_ns(text) {
            Ok(0) => Err(wrong("it must be above 0")),
            Ok(ns) => Ok(Some(ns)),
            Err(why) => Err(wrong(&why.to_string())),
        }
    }
}
