//! One run: from the text of a configuration to its report.

use crate::drive;
use crate::errors::guarded;
use crate::logs::{Logs, Watched};
use crate::memory;
use crate::over_time::OverTime;
use crate::pulse::{Pulse, Step};
use crate::request::Request;
use flashgc::report::Report;
use flashgc::session::{Phase, Session, Setup};
use flashgc_config::Diagnostic;
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
    /// The latencies of writes, likewise.
    write: Vec<(u64, u64)>,
    /// The requested stories, as a JSON list.
    stories: Option<String>,
    /// The run over time, where it was recorded.
    over_time: Option<OverTime>,
}

impl Outcome {
    /// The results in a report.
    pub fn of(report: &Report, stories: Option<String>) -> Self {
        let (read, write) = report.latency_distribution();
        let over_time = report.over_time().map(OverTime::from);
        Outcome { report: report.to_text(), read, write, stories, over_time }
    }
}

/// Runs a configuration.
#[pyfunction]
#[pyo3(signature = (
    request, verify=false, logs=None, progress=None, drive=None, blame=false, over_time=false
))]
#[allow(clippy::too_many_arguments)]
pub fn run(
    py: Python<'_>,
    request: Request,
    verify: bool,
    logs: Option<Logs>,
    progress: Option<Py<PyAny>>,
    drive: Option<PathBuf>,
    blame: bool,
    over_time: bool,
) -> PyResult<Outcome> {
    let pulse = Pulse::new(progress);
    let (logs, drive) = (logs.unwrap_or_default(), drive.as_deref());
    let watched = Watched { verify, blame, over_time };
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
    if setup.plan.untimed {
        logs.check_untimed(watched)?;
    }
    let (files, options) = logs.open(watched, &setup.plan)?;
    let mut walls = Walls::default();
    let begun = Instant::now();
    let mut session = match drive {
        None => Session::new(setup, request.opener(), options),
        Some(path) => drive::session(setup, request.opener(), path, options)?,
    };
    session.has_records(request.records());
    walls.precondition = begun.elapsed();
    loop {
        let begun = Instant::now();
        let progress = session.advance();
        request.check_policies()?;
        let progress = progress.map_err(|error| request.failure(&error))?;
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
    walls.note(&mut report);
    Ok(Outcome::of(&report, stories))
}

/// Checks a configuration without a run, and returns the plan that results, as JSON.
#[pyfunction]
pub fn check(py: Python<'_>, request: Request) -> PyResult<String> {
    py.detach(|| {
        guarded(|| {
            let setup = request.prepare()?;
            Ok(json!({
                "device": setup.device_name,
                "settings": setup.resolved_json(),
                "config_hash": setup.config_hash(),
                "unused_keys": setup.unused_keys(),
                "notes": setup.notes(),
                "needs_trace": setup.needs_trace(),
                "trace_file": setup.trace_file(),
                "trace_first_row": setup.trace_first_row(),
                "awaits_fit": setup.awaits_fit(),
                "drive": flashgc::session::drive_of(&setup),
                "capacity": capacity(&setup),
            })
            .to_string())
        })
    })
}

/// The sizes of a drive, in bytes where nothing else is said.
fn capacity(setup: &Setup) -> Value {
    let geometry = &setup.plan.geometry;
    let page_bytes = u64::from(geometry.shape.page_bytes);
    json!({
        "physical_bytes": u64::from(geometry.pages) * page_bytes,
        "user_bytes": u64::from(geometry.exported_pages) * page_bytes,
        "page_bytes": page_bytes,
        "block_bytes": u64::from(geometry.shape.pages_per_block) * page_bytes,
        "blocks": geometry.blocks,
        "units": geometry.units,
        "table_bytes": setup.table_bytes_expected(),
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
            let reported = match (request.setup(), drive) {
                (Err(errors), _) => errors.sorted().into_iter().map(problem).collect(),
                (Ok(setup), Some(path)) => drive::problem(&setup, &path)?.into_iter().collect(),
                (Ok(_), None) => Vec::new(),
            };
            Ok(Value::Array(reported).to_string())
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
        "is_form": error.is_form,
    })
}

/// The time that each part of a run takes.
pub struct Walls {
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
    pub fn add(&mut self, next: Phase, spent: Duration) {
        match self.phase {
            Phase::Scan | Phase::Done => {}
            Phase::Fill | Phase::Overwrite | Phase::Ready => self.precondition += spent,
            Phase::Run => self.run += spent,
        }
        self.phase = next;
    }

    /// Writes them into the report.
    pub fn note(&self, report: &mut Report) {
        report.set_walls(
            self.run.as_secs_f64(),
            self.precondition.as_secs_f64(),
            memory::peak_rss_bytes(),
        );
    }
}
