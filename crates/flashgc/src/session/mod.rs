//! A session: one run from its setup to its report, in slices of some 20 ms.
//!
//! The caller has the clock, the files and the keyboard: between two slices it can show progress,
//! read the time, or stop.
//!
//! Between preconditioning and measuring the drive can be removed, to be saved ([`saved`]); and a
//! session can begin there, with a saved drive.

pub mod component;
mod engine;
mod error;
mod fit_scan;
mod foresight;
mod job_run;
mod live;
mod measured;
mod options;
pub mod picture;
mod precondition;
pub mod recording;
pub mod saved;
mod sources;
mod stepping;
mod until;

pub use crate::config::{Fitted, Inputs, Setup, fit, prepare};
use crate::config::{TracePlan, WorkloadPlan};
use crate::gc::foresight::Foresight;
use crate::measure::JobResults;
use crate::report::{Facts, Report};
use crate::sim::ending;
use crate::store::{FillState, Preconditioning, SteadyWatch};
use crate::verify::story::Stories;
use crate::verify::timeline::Timeline;
use crate::workload::kept::Keeper;
pub use crate::workload::kept::Kept;
use crate::workload::layout::{Layout, LayoutScan};
pub use crate::workload::records::TraceOpener;
use crate::workload::records::{Records, Trace};
use crate::workload::sprandom::Sprandom;
use crate::workload::trace_fill::TraceFill;
use crate::workload::trace_reads::{MappedReads, TraceReads};
use engine::{Engine, engine};
pub use error::RunError;
pub use fit_scan::FitScan;
use flashgc_config::units::counted;
pub use options::Options;
use precondition::{Foreseeing, PreSource};
use saved::TraceFacts;
pub use saved::{Origin, SavedDrive, drive_of};
use sources::RunSource;
use std::sync::Arc;

/// The error of a run without the trace that is its workload.
pub const NO_TRACE: &str =
    "error: the workload is a trace, but no trace was given\n  = help: give one with --trace FILE";

/// The stages of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The trace is read once to find the range of its addresses, or the requests are drawn once
    /// for a placement that uses the future.
    Scan,
    /// The drive is filled.
    Fill,
    /// The drive is overwritten.
    Overwrite,
    /// The drive is preconditioned; measuring is about to begin.
    Ready,
    /// The measured part.
    Run,
    /// The session is over.
    Done,
}

/// The progress of a session.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// The present phase.
    pub phase: Phase,
    /// Rows, pages or requests done.
    pub done: u64,
    /// Their total number, where it is known.
    pub total: Option<u64>,
    /// Simulated time, in ns.
    pub now_ns: u64,
}

/// Rows, pages and events of one slice.
const SCAN_ROWS: u64 = 50_000;
const RUN_EVENTS: u64 = 200_000;
/// A drive of at most this number of pages is compared after each slice, a larger one at the end.
const AUDIT_EACH_SLICE_PAGES: u32 = 1 << 20;

/// The first reading of a trace.
struct Scan {
    records: Records,
    layout: LayoutScan,
    keeper: Keeper,
    rows: u64,
}

enum Stage {
    Start,
    Scan(Box<Scan>),
    Foresee(Box<Foreseeing>),
    Fill { next: u32 },
    TraceFill { source: Box<TraceFill>, state: FillState },
    Sprandom { source: Box<Sprandom>, written: u64 },
    MapReads { source: Box<TraceReads>, reads: MappedReads },
    Overwrite { source: PreSource, watch: SteadyWatch, written: u64, moved_before: u64 },
    Ready,
    Run { source: RunSource },
    Done,
}

/// One run.
pub struct Session {
    setup: Setup,
    trace: Option<Trace>,
    engine: Engine,
    stage: Stage,
    layout: Option<Layout>,
    /// Requests of the trace, once it was read.
    requests: Option<u64>,
    trace_reads: u64,
    trace_writes: u64,
    /// The properties of the trace that the state of the drive depends on.
    trace_facts: Option<TraceFacts>,
    /// The changes of the run, where its placement uses them.
    foresight: Option<Arc<Foresight>>,
    preconditioning: Preconditioning,
    /// The drive that was given, and its name.
    given: Option<(Origin, String)>,
    notes: Vec<String>,
    /// Requests come from outside, and not from a trace that could be read.
    is_live: bool,
    bad_rows: u64,
    of_jobs: Vec<JobResults>,
}

impl Session {
    /// A session at its beginning.
    pub fn new(setup: Setup, trace: Option<Box<dyn TraceOpener>>, options: Options) -> Self {
        let engine = Engine::new(setup.preconditioning_plan(), options);
        Session::with_engine(setup, trace, engine)
    }

    fn with_engine(setup: Setup, trace: Option<Box<dyn TraceOpener>>, engine: Engine) -> Self {
        let scheme = setup.filling_scheme().scheme.clone();
        let options = setup.workload.trace().map(|plan| plan.options.clone()).unwrap_or_default();
        Session {
            notes: setup.notes().to_vec(),
            setup,
            trace: trace.map(|opener| Trace::new(opener, options)),
            engine,
            stage: Stage::Start,
            layout: None,
            requests: None,
            trace_reads: 0,
            trace_writes: 0,
            trace_facts: None,
            foresight: None,
            preconditioning: Preconditioning { scheme, ..Preconditioning::default() },
            given: None,
            is_live: false,
            bad_rows: 0,
            of_jobs: Vec::new(),
        }
    }

    /// The trace was read before, and has these records.
    pub fn has_records(&mut self, kept: Option<Arc<Kept>>) {
        if let Some(trace) = &mut self.trace {
            trace.keep(kept);
        }
    }

    /// Does one slice of work.
    pub fn advance(&mut self) -> Result<Progress, RunError> {
        let stage = std::mem::replace(&mut self.stage, Stage::Done);
        match stage {
            Stage::Start => self.begin(),
            Stage::Scan(scan) => self.scan(scan),
            Stage::Foresee(now) => self.foresee(now),
            Stage::Fill { next } => self.fill(next),
            Stage::TraceFill { source, state } => self.fill_by_trace(source, state),
            Stage::Sprandom { source, written } => self.fill_once(source, written),
            Stage::MapReads { source, reads } => self.map_reads(source, reads),
            Stage::Overwrite { source, watch, written, moved_before } => {
                self.overwrite(source, watch, written, moved_before)
            }
            Stage::Ready => self.begin_run(),
            Stage::Run { source } => self.run(source, RUN_EVENTS, u64::MAX),
            Stage::Done => Ok(self.at(Phase::Done, 0, None)),
        }
    }

    fn at(&self, phase: Phase, done: u64, total: Option<u64>) -> Progress {
        Progress { phase, done, total, now_ns: 0 }
    }

    fn page_bytes(&self) -> u64 {
        u64::from(self.setup.plan.geometry.shape.page_bytes)
    }

    fn trace_plan(&self) -> Option<TracePlan> {
        self.setup.workload.trace().filter(|_| !self.is_live).cloned()
    }

    /// The user pages of the trace: the whole drive, or its part in a workload of jobs.
    fn trace_pages(&self) -> u32 {
        let exported = self.setup.plan.geometry.exported_pages;
        let WorkloadPlan::Jobs(jobs) = &self.setup.workload else { return exported };
        let drive_bytes = u64::from(exported) * self.page_bytes();
        let spans = crate::workload::jobs::Layout::new(&jobs.plan, drive_bytes, self.page_bytes());
        let part = spans.ok().and_then(|layout| layout.spans.last().map(|span| span.bytes));
        part.map_or(exported, |bytes| (bytes / self.page_bytes()) as u32)
    }

    fn trace(&mut self) -> Result<&mut Trace, RunError> {
        self.trace.as_mut().ok_or_else(|| RunError::new(NO_TRACE))
    }

    fn begin(&mut self) -> Result<Progress, RunError> {
        if let Some(plan) = self.trace_plan() {
            let drive_bytes = u64::from(self.trace_pages()) * self.page_bytes();
            let records = self.trace()?.records(drive_bytes)?;
            assert!(!self.setup.awaits_fit(), "the caller sizes the drive to its trace first");
            let layout = LayoutScan::new(plan.address, self.page_bytes());
            self.trace_facts = self.depends_on_workload().then(TraceFacts::default);
            let keeper = Keeper::new(&plan.options);
            self.stage = Stage::Scan(Box::new(Scan { records, layout, keeper, rows: 0 }));
            return Ok(self.at(Phase::Scan, 0, None));
        }
        self.begin_to_foresee()
    }

    fn scan(&mut self, mut scan: Box<Scan>) -> Result<Progress, RunError> {
        let Scan { records, layout, keeper, .. } = &mut *scan;
        let is_new = matches!(records, Records::Read(_));
        for _ in 0..SCAN_ROWS {
            let record = records.next_record().map_err(|error| RunError::in_trace(error.0))?;
            let Some(record) = record else {
                let Scan { records, layout, keeper, .. } = *scan;
                if is_new {
                    self.trace()?.keep(keeper.finish(records.bad_rows()));
                }
                return self.end_scan(layout);
            };
            layout.observe(&record);
            if is_new {
                keeper.observe(&record);
            }
            if let Some(facts) = &mut self.trace_facts {
                facts.observe(&record);
            }
        }
        scan.rows += SCAN_ROWS;
        let rows = scan.rows;
        self.stage = Stage::Scan(scan);
        Ok(self.at(Phase::Scan, rows, None))
    }

    fn end_scan(&mut self, scan: LayoutScan) -> Result<Progress, RunError> {
        let Some(plan) = self.trace_plan() else { return self.advance() };
        let name = self.trace()?.name();
        if scan.requests == 0 {
            return Err(RunError::in_trace(format!(
                "error: {name}: the trace has no request that can be replayed\n  = help: check it \
                 with `flashgc trace info`, and check the filters of [workload.trace]"
            )));
        }
        let is_alone = matches!(self.setup.workload, WorkloadPlan::Trace(_));
        let requests = scan.requests.saturating_mul(u64::from(plan.loops));
        self.requests = is_alone.then_some(requests);
        (self.trace_reads, self.trace_writes) = (scan.reads, scan.writes);
        let exported = self.trace_pages();
        let layout = scan
            .finish(plan.address, exported)
            .map_err(|why| RunError::in_trace(format!("error: {name}: {why}")))?;
        if layout.wraps() {
            self.notes.push(format!(
                "the trace covers {}, but the drive has {exported} for it: addresses were wrapped",
                counted(layout.span_pages(), "page")
            ));
        }
        self.layout = Some(layout);
        self.begin_to_foresee()
    }

    /// Measuring begins.
    fn begin_run(&mut self) -> Result<Progress, RunError> {
        self.change_scheme()?;
        self.foresee_or_start()
    }

    fn start_run(&mut self) -> Result<Progress, RunError> {
        let mut source = self.source()?;
        let circumstances = self.circumstances();
        if engine!(&self.engine, sim => sim.ftl().is_read_only()) {
            return Err(RunError::new(
                "error: the drive is read-only before the measured part: too many of its blocks \
                 are bad\n  = help: lower the shares of device.failures, set a smaller \
                 device.exported, or precondition less",
            ));
        }
        engine!(&mut self.engine, sim => sim.judge_by(circumstances));
        engine!(&mut self.engine, sim => sim.start(&mut source))?;
        self.stage = Stage::Run { source };
        Ok(self.at(Phase::Run, 0, self.measured(0, 0).1))
    }

    /// Another scheme may continue on the drive.
    fn change_scheme(&mut self) -> Result<(), RunError> {
        if self.setup.filler.is_some() && self.given.is_none() {
            let carried = self.engine.hand_over(self.setup.plan.clone(), None);
            self.preconditioning.carried = carried.map_err(|why| {
                RunError::new(format!(
                    "error: the scheme cannot take over the drive: {why}\n  = help: remove \
                     `precondition.scheme`, or set a smaller user capacity (`device.exported`)"
                ))
            })?;
        }
        Ok(())
    }

    /// Runs this number of events, up to and with this instant.
    fn run(
        &mut self,
        mut source: RunSource,
        events: u64,
        until_ns: u64,
    ) -> Result<Progress, RunError> {
        let progress = engine!(&mut self.engine, sim => {
            until::run(sim, &mut source, events, until_ns)
        })?;
        let phase = if progress.finished { Phase::Done } else { Phase::Run };
        if progress.finished {
            self.bad_rows = source.bad_rows();
            self.of_jobs = source.of_jobs();
            self.audit();
            self.end_rows();
        } else {
            if self.setup.plan.geometry.pages <= AUDIT_EACH_SLICE_PAGES {
                self.audit();
            }
            self.stage = Stage::Run { source };
        }
        let written_bytes = engine!(&self.engine, sim => sim.written_bytes());
        let (done, total) = self.measured(progress.requests, written_bytes);
        Ok(Progress { phase, done, total, now_ns: progress.now_ns })
    }

    /// The checker, where there is one, compares the whole drive.
    fn audit(&mut self) {
        if let Engine::Watched(sim) = &mut self.engine {
            sim.audit();
        }
    }

    /// Flushes the log of requests and the timeline.
    fn end_rows(&mut self) {
        if let Engine::Watched(sim) = &mut self.engine {
            ending::rows(sim);
        }
    }

    /// The requested stories. Complete after [`Phase::Done`].
    pub fn stories(&mut self) -> Option<&Stories> {
        match &mut self.engine {
            Engine::Watched(sim) => sim.watch().per_request()?.stories(),
            _ => None,
        }
    }

    /// The timeline, where it was requested. Complete after [`Phase::Done`].
    pub fn timeline(&mut self) -> Option<&Timeline> {
        match &mut self.engine {
            Engine::Watched(sim) => sim.watch().per_request()?.timeline(),
            _ => None,
        }
    }

    /// The report. Called after [`Phase::Done`].
    pub fn report(mut self) -> Report {
        let results = engine!(&self.engine, sim => sim.seen().results());
        if let Engine::Watched(sim) = &mut self.engine {
            sim.audit_counters(&results);
            ending::series(sim, &results);
        }
        let over_time = engine!(&mut self.engine, sim => ending::over_time(sim, &results));
        let note = self.timeline().and_then(Timeline::note);
        self.notes.extend(note);
        if self.bad_rows > 0 {
            self.notes.push(format!("skipped lines of the trace: {}", self.bad_rows));
        }
        let result_hash = engine!(&self.engine, sim => sim.seen().result_hash(&results));
        let after_ramp = engine!(&self.engine, sim => sim.seen().results_after_ramp());
        self.note_until(&results);
        self.note_read_only(&results);
        let results = after_ramp.unwrap_or(results);
        self.note_rates();
        let nothing_moved = self.nothing_moved(&results);
        if let Some(why) = &nothing_moved {
            self.notes.insert(0, why.clone());
        }
        let (blame, blame_of_jobs) = self.blame(&results);
        let facts = Facts {
            blame,
            result_hash,
            preconditioning: self.preconditioning,
            drive: self.given.map(|(origin, name)| origin.for_report(&name)),
            notes: self.notes,
            nothing_moved,
            bad_rows: self.bad_rows,
            blame_of_jobs,
            of_jobs: self.of_jobs,
            over_time,
        };
        Report::new(&self.setup, &results, facts)
    }
}
