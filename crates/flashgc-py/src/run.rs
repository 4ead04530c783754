//! One run: from the text of a configuration to its report.

use crate::drive;
use crate::errors::{guarded, ConfigError, OutputError, RunError, TraceError};
use crate::files::{self, reason, NewFile};
use crate::pulse::{Pulse, Step};
use flashgc::gc::JobRow;
use flashgc::session::{self, Inputs, Options, Phase, Progress, Session, Setup, TraceOpener};
use pyo3::prelude::*;
use serde_json::json;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// What a run is made of.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Request {
    name: String,
    text: String,
    scheme: Option<(String, Option<String>)>,
    device: Option<String>,
    sets: Vec<String>,
    trace_name: Option<String>,
    trace_path: Option<PathBuf>,
}

impl Request {
    /// The checked configuration, or every mistake in it.
    pub fn prepare(&self) -> PyResult<Setup> {
        let inputs = Inputs {
            name: self.name.clone(),
            text: self.text.clone(),
            scheme: self.scheme.clone(),
            device: self.device.clone(),
            sets: self.sets.clone(),
            has_trace: self.trace_path.is_some(),
        };
        session::prepare(&inputs).map_err(|errors| ConfigError::new_err(errors.to_string()))
    }

    pub fn opener(&self) -> Option<Box<dyn TraceOpener>> {
        let path = self.trace_path.clone()?;
        let name = self.trace_name.clone().unwrap_or_else(|| path.display().to_string());
        Some(Box::new(TraceFile { name, path }))
    }

    /// The exception for an error of the engine.
    pub fn failure(error: &session::RunError) -> PyErr {
        let text = &error.text;
        let text =
            if text.starts_with("error: ") { text.clone() } else { format!("error: {text}") };
        if error.in_trace {
            TraceError::new_err(text)
        } else {
            RunError::new_err(text)
        }
    }
}

/// A trace in a file.
struct TraceFile {
    name: String,
    path: PathBuf,
}

impl TraceOpener for TraceFile {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn open(&mut self) -> Result<Box<dyn Read + Send>, String> {
        let file = files::open(&self.path).map_err(|why| format!("{why}\n  --> {}", self.name))?;
        Ok(Box::new(file))
    }
}

/// What a run leaves.
#[pyclass(frozen, get_all, module = "flashgc._engine")]
pub struct Outcome {
    /// The report, as JSON.
    report: String,
    /// Upper ends and counts of the buckets of read latencies.
    read: Vec<(u64, u64)>,
    /// The same for writes.
    write: Vec<(u64, u64)>,
}

/// Runs a configuration.
#[pyfunction]
#[pyo3(signature = (request, verify=false, gc_log=None, progress=None, drive=None))]
pub fn run(
    py: Python<'_>,
    request: Request,
    verify: bool,
    gc_log: Option<PathBuf>,
    progress: Option<Py<PyAny>>,
    drive: Option<PathBuf>,
) -> PyResult<Outcome> {
    let pulse = Pulse::new(progress);
    let (gc_log, drive) = (gc_log.as_deref(), drive.as_deref());
    py.detach(|| guarded(|| run_detached(&request, verify, gc_log, drive, pulse)))
}

fn run_detached(
    request: &Request,
    verify: bool,
    gc_log: Option<&Path>,
    drive: Option<&Path>,
    mut pulse: Pulse,
) -> PyResult<Outcome> {
    let setup = request.prepare()?;
    check_memory(&setup)?;
    let log = gc_log.map(JobLog::create).transpose()?;
    let job_log = log.as_ref().map(JobLog::sink);
    let options = Options { verify, job_log };
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
        if let Some(log) = &log {
            log.check()?;
        }
        if progress.phase == Phase::Done {
            pulse.last(step(&progress))?;
            break;
        }
        pulse.beat(|| step(&progress))?;
    }
    let mut report = session.report();
    if let Some(log) = log {
        log.commit()?;
    }
    report.set_walls(walls.run.as_secs_f64(), walls.precondition.as_secs_f64(), peak_rss_bytes());
    let (read, write) = report.latency_distribution();
    Ok(Outcome { report: report.to_json().to_string(), read, write })
}

pub fn step(progress: &Progress) -> Step {
    let phase = match progress.phase {
        Phase::Scan => "scan",
        Phase::Fill => "fill",
        Phase::Overwrite => "overwrite",
        Phase::Ready | Phase::Run => "run",
        Phase::Done => "done",
    };
    Step { phase, done: progress.done, total: progress.total, now_ns: progress.now_ns }
}

/// Checks a configuration without running it, and gives what it comes to, as JSON.
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
            })
            .to_string())
        })
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
    /// A slice took so long; what comes next is in this phase.
    fn add(&mut self, next: Phase, spent: Duration) {
        match self.phase {
            Phase::Scan | Phase::Done => {}
            Phase::Fill | Phase::Overwrite | Phase::Ready => self.precondition += spent,
            Phase::Run => self.run += spent,
        }
        self.phase = next;
    }
}

/// The most memory that the process ever had, where the system tells it.
fn peak_rss_bytes() -> Option<u64> {
    kib_of("/proc/self/status", "VmHWM:")
}

/// Refuses a drive whose tables would not fit this machine, before the system kills the process.
pub fn check_memory(setup: &Setup) -> PyResult<()> {
    let needed = setup.table_bytes_expected();
    match available_bytes() {
        Some(available) if needed > available => Err(ConfigError::new_err(format!(
            "error: the tables of this drive take {:.1} GiB, and the machine has {:.1} GiB left\n  \
             = help: make the drive smaller: fewer blocks, or larger pages",
            needed as f64 / GIB,
            available as f64 / GIB
        ))),
        _ => Ok(()),
    }
}

const GIB: f64 = (1u64 << 30) as f64;

/// The memory that can be had, where the system tells it.
fn available_bytes() -> Option<u64> {
    kib_of("/proc/meminfo", "MemAvailable:")
}

fn kib_of(file: &str, name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// The log of jobs: a csv file with a row for each.
#[derive(Clone)]
struct JobLog(Arc<Mutex<JobFile>>);

struct JobFile {
    file: Option<NewFile>,
    failed: Option<io::Error>,
}

type JobSink = Box<dyn FnMut(&JobRow) + Send>;

impl JobLog {
    fn create(path: &Path) -> PyResult<JobLog> {
        let file = NewFile::create(path).map_err(not_written)?;
        let mut file = JobFile { file: Some(file), failed: None };
        // The names of the columns stand there even where nothing was collected.
        file.line(cells(&JobRow::default()).into_iter().map(|(name, _)| name));
        Ok(JobLog(Arc::new(Mutex::new(file))))
    }

    fn sink(&self) -> JobSink {
        let log = Arc::clone(&self.0);
        Box::new(move |row| {
            if let Ok(mut log) = log.lock() {
                log.push(row);
            }
        })
    }

    fn check(&self) -> PyResult<()> {
        match self.0.lock() {
            Ok(log) => match &log.failed {
                Some(error) => Err(not_written(reason(error))),
                None => Ok(()),
            },
            Err(_) => Ok(()),
        }
    }

    fn commit(self) -> PyResult<()> {
        self.check()?;
        let file = self.0.lock().ok().and_then(|mut log| log.file.take());
        file.map_or(Ok(()), |file| file.commit().map_err(not_written))
    }
}

fn not_written(why: String) -> PyErr {
    OutputError::new_err(format!("error: the log of collections cannot be written: {why}"))
}

impl JobFile {
    fn push(&mut self, row: &JobRow) {
        self.line(cells(row).into_iter().map(|(_, value)| value));
    }

    fn line(&mut self, cells: impl Iterator<Item = String>) {
        let text = cells.collect::<Vec<_>>().join(",");
        if let (Some(file), None) = (&mut self.file, &self.failed) {
            self.failed = writeln!(file, "{text}").err();
        }
    }
}

/// The names and values of a row in the order of its type, which a JSON text keeps: they are all
/// numbers, so that every comma parts two of them.
fn cells(row: &JobRow) -> Vec<(String, String)> {
    let text = serde_json::to_string(row).unwrap_or_default();
    let pairs = text.trim_matches(['{', '}']).split(',').filter_map(|pair| pair.split_once(':'));
    pairs.map(|(name, value)| (name.trim_matches('"').into(), value.into())).collect()
}
