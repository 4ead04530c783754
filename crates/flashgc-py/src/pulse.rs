//! The regular tasks of long work: answer Ctrl-C, and report progress.

use flashgc::session::{Phase, Progress};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use std::io::{self, Read, Seek};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

const SIGNALS_EVERY: Duration = Duration::from_millis(50);
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// The progress of a run, as the callback receives it.
pub struct Step {
    /// The name of the phase.
    pub phase: &'static str,
    /// The amount that is done.
    pub done: u64,
    /// The total, where that is known.
    pub total: Option<u64>,
    /// The simulated time.
    pub now_ns: u64,
}

impl From<&Progress> for Step {
    fn from(progress: &Progress) -> Step {
        let phase = match progress.phase {
            Phase::Scan => "scan",
            Phase::Fill => "fill",
            Phase::Overwrite => "overwrite",
            Phase::Ready | Phase::Run => "run",
            Phase::Done => "done",
        };
        Step { phase, done: progress.done, total: progress.total, now_ns: progress.now_ns }
    }
}

/// Keeps the time since the last check of signals and report of progress.
pub struct Pulse {
    callback: Option<Py<PyAny>>,
    signals_at: Instant,
    progress_at: Option<Instant>,
}

impl Pulse {
    /// The callback takes `(phase, done, total, now_ns)`; an exception that it raises ends the
    /// work.
    pub fn new(callback: Option<Py<PyAny>>) -> Self {
        Pulse { callback, signals_at: Instant::now(), progress_at: None }
    }

    /// To be called often, without the GIL.
    pub fn beat(&mut self, step: impl FnOnce() -> Step) -> PyResult<()> {
        let now = Instant::now();
        if now - self.signals_at < SIGNALS_EVERY && self.progress_at.is_some() {
            return Ok(());
        }
        self.signals_at = now;
        let due = self.progress_at.is_none_or(|at| now - at >= PROGRESS_EVERY);
        if due {
            self.progress_at = Some(now);
        }
        Python::attach(|py| {
            py.check_signals()?;
            self.notify(py, due.then(step))
        })
    }

    /// Calls the callback, whatever the time.
    pub fn last(&mut self, step: Step) -> PyResult<()> {
        Python::attach(|py| self.notify(py, Some(step)))
    }

    fn notify(&self, py: Python<'_>, step: Option<Step>) -> PyResult<()> {
        if let (Some(callback), Some(step)) = (&self.callback, step) {
            callback.call1(py, (step.phase, step.done, step.total, step.now_ns))?;
        }
        Ok(())
    }
}

/// The place for the exception that ended a reader.
pub type Raised = Arc<Mutex<Option<PyErr>>>;

/// A reader that checks for signals on the way.
pub struct SignalReader<R> {
    inner: R,
    checked_at: Instant,
    raised: Raised,
}

impl<R: Read> SignalReader<R> {
    /// Reads from `inner`; an exception is left in `raised`.
    pub fn new(inner: R, raised: Raised) -> Self {
        SignalReader { inner, checked_at: Instant::now(), raised }
    }
}

impl<R: Read> Read for SignalReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.checked_at.elapsed() >= SIGNALS_EVERY {
            self.checked_at = Instant::now();
            if let Err(error) = Python::attach(|py| py.check_signals()) {
                if let Ok(mut raised) = self.raised.lock() {
                    *raised = Some(error);
                }
                return Err(io::Error::other("interrupted"));
            }
        }
        self.inner.read(buffer)
    }
}

impl<R: Seek> Seek for SignalReader<R> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}

/// The exception that a [`SignalReader`] left, or else the given error.
pub fn raised_or(raised: &Raised, error: PyErr) -> PyErr {
    match raised.lock() {
        Ok(mut raised) => raised.take().unwrap_or(error),
        Err(_) => PyKeyboardInterrupt::new_err(()),
    }
}
