//! Sessions run to their end; panics, errors and endless runs are distinguished.

use crate::history::{History, MemoryTrace};
use flashgc::config::Setup;
use flashgc::report::Report;
use flashgc::session::{Options, Phase, RunError, SavedDrive, Session, TraceOpener};
use serde_json::Value;
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};

/// The reasons why a run has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// The drive is full.
    Full(String),
    /// Too many blocks are bad before the measured part.
    ReadOnly,
    /// The run is longer than the clock of the engine.
    TooLong,
    /// The trace touches more than the drive has, in all or in one request.
    TraceTooLarge,
    /// A drive of another scheme is refused.
    NotTaken(String),
    /// An aged drive has less than the reserve of the scheme, and nothing to collect.
    TooOld,
    /// A fault that must never happen. `signature` is the same for the same fault.
    Failed {
        /// A short name of the fault.
        signature: String,
        /// All details.
        detail: String,
    },
}

impl Stop {
    /// A failure.
    pub fn failed(signature: impl Into<String>, detail: impl Into<String>) -> Self {
        Stop::Failed { signature: signature.into(), detail: detail.into() }
    }
}

thread_local! {
    static OPERATIONS: Cell<u64> = const { Cell::new(0) };
    static PANIC: RefCell<Option<(String, String)>> = const { RefCell::new(None) };
}

/// Panics are kept for the report in place of being printed.
pub fn keep_panics_quiet() {
    set_hook(Box::new(|info| {
        let place =
            info.location().map_or_else(String::new, |at| match at.file().rsplit_once("crates/") {
                Some((_, file)) => format!("{file}:{}", at.line()),
                None => caller().unwrap_or_else(|| format!("{}:{}", at.file(), at.line())),
            });
        let payload = info.payload();
        let words = payload.downcast_ref::<String>().cloned();
        let words = words.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).into()));
        PANIC.with(|last| *last.borrow_mut() = Some((place, words.unwrap_or_default())));
    }));
}

/// The function of the engine in which the standard library panicked.
fn caller() -> Option<String> {
    let trace = Backtrace::force_capture().to_string();
    let names = trace.lines().filter(|line| line.contains("flashgc"));
    let mut names = names.filter(|line| !line.contains("flashgc_histories"));
    names.next().map(|line| line.trim_start_matches(|c: char| !c.is_alphabetic()).to_string())
}

/// Runs this, and makes a panic an error.
pub fn guarded<T>(run: impl FnOnce() -> Result<T, Stop>) -> Result<T, Stop> {
    catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(|payload| {
        // A panic of another hook has its words only.
        let words = payload.downcast_ref::<String>().cloned().unwrap_or_default();
        let (place, words) =
            PANIC.with(|last| last.borrow_mut().take()).unwrap_or((String::new(), words));
        Err(Stop::failed(format!("panic at {place}"), words))
    })
}

/// Slices of 200,000 events, after which a small history counts as endless.
const SLICES_MAX: u32 = 400;

fn stop(error: &RunError) -> Stop {
    let text = error.to_string();
    if text.contains("the drive is full") {
        Stop::Full(text)
    } else if text.contains("read-only before the measured part") {
        Stop::ReadOnly
    } else if text.contains("lasts longer than") {
        Stop::TooLong
    } else if error.in_trace
        && (text.contains("the trace touches") || text.contains("the whole drive"))
    {
        Stop::TraceTooLarge
    } else if text.contains("the aged drive:") {
        Stop::TooOld
    } else if text.contains("cannot take over the drive") || text.contains("cannot be used") {
        Stop::NotTaken(text)
    } else {
        let first = text.lines().next().unwrap_or_default();
        let signature: String = first.chars().filter(|c| !c.is_ascii_digit()).collect();
        Stop::failed(signature, text)
    }
}

/// Runs a session until this phase.
pub fn until(session: &mut Session, phase: Phase) -> Result<(), Stop> {
    for _ in 0..SLICES_MAX {
        if session.advance().map_err(|error| stop(&error))?.phase == phase {
            return Ok(());
        }
    }
    Err(Stop::failed("endless", format!("no end after {SLICES_MAX} slices of events")))
}

/// Page operations of all runs of this thread since the last call.
pub fn operations() -> u64 {
    OPERATIONS.with(|sum| sum.replace(0))
}

/// The report of a session, as data.
pub fn report(session: Session) -> Result<Value, Stop> {
    ended(session).map(|report| report.to_json())
}

fn ended(mut session: Session) -> Result<Report, Stop> {
    until(&mut session, Phase::Done)?;
    let whole = session.report();
    let report = whole.to_json();
    let operations = report["page_operations"].as_u64().unwrap_or(0)
        + report["precondition"]["programmed_pages"].as_u64().unwrap_or(0);
    OPERATIONS.with(|sum| sum.set(sum.get() + operations));
    Ok(whole)
}

/// The report of a whole run.
pub fn finished(setup: &Setup, history: &History, options: Options) -> Result<Report, Stop> {
    guarded(|| ended(Session::new(setup.clone(), history.opener(), options)))
}

/// A whole run.
pub fn whole(setup: &Setup, history: &History, options: Options) -> Result<Value, Stop> {
    guarded(|| report(Session::new(setup.clone(), history.opener(), options)))
}

/// A run on a saved drive.
pub fn on_drive(
    setup: &Setup,
    trace: Option<Box<dyn TraceOpener>>,
    drive: SavedDrive,
    options: Options,
) -> Result<Value, Stop> {
    guarded(|| {
        let session = Session::with_drive(setup.clone(), trace, drive, "saved.drive", options);
        report(session.map_err(|error| stop(&error))?)
    })
}

/// The drive when measuring begins.
pub fn preconditioned(setup: &Setup, history: &History) -> Result<SavedDrive, Stop> {
    guarded(|| {
        let mut session = Session::new(setup.clone(), history.opener(), Options::default());
        until(&mut session, Phase::Ready)?;
        session.into_drive().map_err(|error| stop(&error))
    })
}

/// A trace in memory for a session.
pub fn opener(bytes: &[u8]) -> Option<Box<dyn TraceOpener>> {
    Some(Box::new(MemoryTrace(bytes.to_vec())))
}

/// The checker watches.
pub fn watched() -> Options {
    Options { verify: true, ..Options::default() }
}
