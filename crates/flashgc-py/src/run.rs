//! One run: from the text of a configuration to its report.

use crate::drive;
use crate::errors::{ConfigError, OutputError, guarded};
use crate::memory;
use crate::pulse::{Pulse, Step};
use crate::request::Request;
use crate::request_log::Requests;
use crate::row_log::RowLog;
use flashgc::gc::JobRow;
use flashgc::session::{Options, Phase, Progress, Session};
use flashgc::stats::{SERIES_ROWS_MAX, SeriesRequest, SeriesRow};
use flashgc::verify::story::Choice;
use flashgc::workload::HostOp;
use flashgc_config::{Diagnostic, units};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The results of a run.
#[pyclass(frozen, get_all, module = "flashgc._engine")]
pub struct Outcome {
    /// The report, as JSON.
    report: String,
    /// Upper ends and counts of the buckets of read latencies.
    read: Vec<(u64, u64)>,
    /// The same for writes.
    write: Vec<(u64, u64)>,
    /// The stories that were asked for, as a JSON list.
    stories: Option<String>,
}

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
}

/// The requests whose stories are kept: those of some numbers, or without any the slowest.
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

/// What is watched in a run.
#[derive(Clone, Copy)]
struct Watched {
    verify: bool,
    blame: bool,
}

/// The files that a run writes while it lasts.
struct OpenLogs {
    files: Vec<RowLog>,
    requests: Option<Requests>,
    /// The series among them, if its interval was given.
    bounded: Option<usize>,
}

/// Rows that are written before the total number is estimated.
const ROWS_BEFORE_ESTIMATE: u64 = 50_000;

impl OpenLogs {
    fn check(&self) -> PyResult<()> {
        self.files.iter().try_for_each(RowLog::check)?;
        self.requests.as_ref().map_or(Ok(()), Requests::check)
    }

    /// Refuses a series that would be far too long, as soon as that is known.
    fn check_length(&self, logs: &Logs, progress: &Progress) -> PyResult<()> {
        let rows = self.bounded.map_or(0, |at| self.files[at].rows());
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

    fn commit(self) -> PyResult<()> {
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
    /// Begins the files.
    fn open(&self, Watched { verify, blame }: Watched) -> PyResult<(OpenLogs, Options)> {
        let interval_ns = self.interval_ns()?;
        if self.gc_log.is_some() && self.gc_log == self.series {
            return Err(OutputError::new_err(
                "error: the collection log and the series cannot be the same file\n  = help: give \
                 each its own name",
            ));
        }
        let mut bounded = None;
        let (mut files, mut options) =
            (Vec::new(), Options { verify, blame, ..Options::default() });
        if let Some(path) = &self.gc_log {
            let log = RowLog::create(path, "log of collections", &JobRow::default())?;
            options.job_log = Some(log.sink());
            files.push(log);
        }
        if let Some(path) = &self.series {
            let log = RowLog::create(path, "series", &SeriesRow::default())?;
            options.series = Some(SeriesRequest { interval_ns, sink: log.sink() });
            bounded = interval_ns.map(|_| files.len());
            files.push(log);
        }
        let add = self.requests.as_ref().map(|add| Python::attach(|py| add.clone_ref(py)));
        let (requests, sink) = add.map(|add| Requests::new(add, blame)).unzip();
        options.request_log = sink;
        options.stories = self.stories.as_ref().map(Stories::choice);
        Ok((OpenLogs { files, requests, bounded }, options))
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
            return Err(wrong("no series is written; name its file too"));
        }
        match units::parse_duration_ns(text) {
            Ok(0) => Err(wrong("it must be above 0")),
            Ok(ns) => Ok(Some(ns)),
            Err(why) => Err(wrong(&why.to_string())),
        }
    }
}

/// Runs a configuration.
#[pyfunction]
#[pyo3(signature = (request, verify=false, logs=None, progress=None, drive=None, blame=false))]
pub fn run(
    py: Python<'_>,
    request: Request,
    verify: bool,
    logs: Option<Logs>,
    progress: Option<Py<PyAny>>,
    drive: Option<PathBuf>,
    blame: bool,
) -> PyResult<Outcome> {
    let pulse = Pulse::new(progress);
    let (logs, drive) = (logs.unwrap_or_default(), drive.as_deref());
    let watched = Watched { verify, blame };
    py.detach(|| guarded(|| run_detached(&request, watched, &logs, drive, pulse)))
}

fn run_detached(
    request: &Request,
    watched: Watched,
    logs: &Logs,
    drive: Option<&Path>,
    mut pulse: Pulse,
) -> PyResult<Outcome> {
    let setup = request.prepare()?;
    memory::check(&setup)?;
    let (files, options) = logs.open(watched)?;
    let mut walls = Walls::default();
    let begun = Instant::now();
    let mut session = match drive {
        None => Session::new(setup, request.opener(), options),
        Some(path) => drive::session(setup, request.opener(), path, options)?,
    };
    walls.precondition = begun.elapsed();
    loop {
        let begun = Instant::now();
        let progress = session.advance().map_err(|error| Request::failure(&error))?;
        walls.add(progress.phase, begun.elapsed());
        files.check()?;
        files.check_length(logs, &progress)?;
        if progress.phase == Phase::Done {
            pulse.last(Step::from(&progress))?;
            break;
        }
        pulse.beat(|| Step::from(&progress))?;
    }
    let stories = session.stories().map(|stories| stories.to_json().to_string());
    let mut report = session.report();
    files.commit()?;
    report.set_walls(
        walls.run.as_secs_f64(),
        walls.precondition.as_secs_f64(),
        memory::peak_rss_bytes(),
    );
    let (read, write) = report.latency_distribution();
    Ok(Outcome { report: report.to_json().to_string(), read, write, stories })
}

/// Checks a configuration without a run, and returns the plan that results, as JSON.
#[pyfunction]
pub fn check(py: Python<'_>, request: Request) -> PyResult<String> {
    py.detach(|| {
        guarded(|| {
            let setup = request.prepare()?;
            Ok(json!({
                "settings": setup.resolved_json(),
                "config_hash": setup.config_hash(),
                "unused_keys": setup.unused_keys(),
                "notes": setup.notes(),
                "needs_trace": setup.needs_trace(),
                "trace_file": setup.trace_file(),
                "trace_first_row": setup.trace_first_row(),
                "awaits_fit": setup.awaits_fit(),
                "drive": flashgc::session::drive_of(&setup),
            })
            .to_string())
        })
    })
}

/// Why a configuration cannot run, on a saved drive where one is named: a JSON list with an object
/// for each mistake. Its `remedies` are assignments `key=value` and keys to unset, each
/// of which removes this mistake.
#[pyfunction]
#[pyo3(signature = (request, drive=None))]
pub fn problems(py: Python<'_>, request: Request, drive: Option<PathBuf>) -> PyResult<String> {
    py.detach(|| {
        guarded(|| {
            let told = match (request.setup(), drive) {
                (Err(errors), _) => errors.sorted().into_iter().map(problem).collect(),
                (Ok(setup), Some(path)) => drive::problem(&setup, &path)?.into_iter().collect(),
                (Ok(_), None) => Vec::new(),
            };
            Ok(Value::Array(told).to_string())
        })
    })
}

fn problem(error: &Diagnostic) -> Value {
    json!({
        "text": error.to_string(),
        "message": error.message,
        "key": error.key,
        "help": error.help,
        "remedies": error.remedies,
    })
}

/// The time that each part of a run takes.
struct Walls {
    /// The phase that the next slice belongs to.
    phase: Phase,
    run: Duration,
    precondition: Duration,
}

impl Default for Walls {
    fn default() -> Self {
        Walls { phase: Phase::Scan, run: Duration::ZERO, precondition: Duration::ZERO }
    }
}

impl Walls {
    /// Adds the duration of a slice; the next slice is in this phase.
    fn add(&mut self, next: Phase, spent: Duration) {
        match self.phase {
            Phase::Scan | Phase::Done => {}
            Phase::Fill | Phase::Overwrite | Phase::Ready => self.precondition += spent,
            Phase::Run => self.run += spent,
        }
        self.phase = next;
    }
}
