//! A session: one run from its setup to its report, in slices of some 20 ms.
//!
//! The caller has the clock, the files and the keyboard: between two slices it can show progress,
//! look at the time, or stop.
//!
//! Between preconditioning and measuring the drive can be taken out, to be saved ([`saved`]); and
//! a session can begin there, with a saved drive.

mod engine;
mod precondition;
pub mod saved;

pub use crate::config::{prepare, Inputs, Setup};
use crate::config::{TracePlan, WorkloadPlan};
use crate::ids::PlaneId;
use crate::report::{Facts, Report};
use crate::sim::{FillState, Preconditioning, SimError, SteadyWatch};
use crate::stats::SeriesRequest;
use crate::verify::JobLog;
use crate::workload::alike::Alike;
use crate::workload::layout::{Layout, LayoutScan};
pub use crate::workload::replay::TraceOpener;
use crate::workload::replay::{reader, Replay};
use crate::workload::synthetic::Synthetic;
use crate::workload::trace_fill::TraceFill;
use crate::workload::trace_reads::{MappedReads, TraceReads};
use crate::workload::{HostRequest, Source, SourceError};
use engine::{engine, Engine};
use flashgc_trace::TraceReader;
use precondition::PreSource;
use saved::TraceFacts;
pub use saved::{Origin, SavedDrive};
use std::fmt;

/// What may be asked of a session beside its setup.
#[derive(Default)]
pub struct Options {
    /// Whether the checker watches.
    pub verify: bool,
    /// Receives a row for each job.
    pub job_log: Option<JobLog>,
    /// Receives a row for each interval.
    pub series: Option<SeriesRequest>,
}

impl Options {
    fn is_watched(&self) -> bool {
        self.verify || self.job_log.is_some() || self.series.is_some()
    }
}

/// What a session does at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The trace is read once to find out where its addresses lie.
    Scan,
    /// The drive is filled.
    Fill,
    /// The drive is overwritten.
    Overwrite,
    /// The drive is preconditioned; measuring is about to begin.
    Ready,
    /// The measured part.
    Run,
    /// Over.
    Done,
}

/// How far a session is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// What it does.
    pub phase: Phase,
    /// Rows, pages or requests done.
    pub done: u64,
    /// Of so many, where that is known.
    pub total: Option<u64>,
    /// Simulated time, in ns.
    pub now_ns: u64,
}

/// Why a session ended early. The text is ready for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunError {
    /// What, where, and what to do.
    pub text: String,
    /// Whether the trace is at fault, and not the configuration or the drive.
    pub in_trace: bool,
}

impl RunError {
    fn new(text: impl Into<String>) -> Self {
        RunError { text: text.into(), in_trace: false }
    }

    fn in_trace(text: impl Into<String>) -> Self {
        RunError { text: text.into(), in_trace: true }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for RunError {}

impl From<SourceError> for RunError {
    fn from(error: SourceError) -> Self {
        RunError::in_trace(error.0)
    }
}

impl From<SimError> for RunError {
    fn from(error: SimError) -> Self {
        RunError::new(match error {
            SimError::Source(error) => return error.into(),
            SimError::Full { plane: PlaneId(plane), free_pages, reclaimable, waiting } => format!(
                "error: the drive is full: {waiting} requests wait, and plane {plane} has \
                 {free_pages} erased pages and {reclaimable} invalid ones to collect\n  = help: \
                 export less (`device.exported`), or trim"
            ),
            SimError::TooLong { limit_ns } => format!(
                "error: the run lasts longer than {} days of simulated time\n  = help: look for a \
                 wrong time stamp, scale its times down (`workload.trace.time_scale`), or cut it \
                 (`workload.trace.length`)",
                limit_ns / 86_400_000_000_000
            ),
        })
    }
}

/// Rows, pages and events of one slice.
const SCAN_ROWS: u64 = 50_000;
const RUN_EVENTS: u64 = 200_000;
/// A drive of at most so many pages is compared after each slice, a larger one at the end.
const AUDIT_EACH_SLICE_PAGES: u32 = 1 << 20;

enum Stage {
    Start,
    Scan { reader: Box<TraceReader>, scan: LayoutScan, rows: u64 },
    Fill { next: u32 },
    TraceFill { source: Box<TraceFill>, state: FillState },
    MapReads { source: Box<TraceReads>, reads: MappedReads },
    Overwrite { source: PreSource, watch: SteadyWatch, written: u64, moved_before: u64 },
    Ready,
    Run { source: RunSource },
    Done,
}

enum RunSource {
    Synthetic(Box<Synthetic>),
    Alike(Box<Alike>),
    Replay(Box<Replay>),
}

impl Source for RunSource {
    #[inline]
    fn next(&mut self) -> Result<Option<HostRequest>, SourceError> {
        match self {
            RunSource::Synthetic(source) => source.next(),
            RunSource::Alike(source) => source.next(),
            RunSource::Replay(source) => source.next(),
        }
    }
}

/// One run.
pub struct Session {
    setup: Setup,
    trace: Option<Box<dyn TraceOpener>>,
    engine: Engine,
    stage: Stage,
    layout: Option<Layout>,
    requests: Option<u64>,
    trace_writes: u64,
    /// What of the trace the state of the drive depends on.
    trace_facts: Option<TraceFacts>,
    preconditioning: Preconditioning,
    /// The drive that was given, and its name.
    given: Option<(Origin, String)>,
    notes: Vec<String>,
    bad_rows: u64,
}

impl Session {
    /// A session at its beginning.
    pub fn new(setup: Setup, trace: Option<Box<dyn TraceOpener>>, options: Options) -> Self {
        let engine = Engine::new(setup.preconditioning_plan(), options);
        Session::with_engine(setup, trace, engine)
    }

    fn with_engine(setup: Setup, trace: Option<Box<dyn TraceOpener>>, engine: Engine) -> Self {
        let scheme = setup.filler.as_ref().unwrap_or(&setup.plan.gc).scheme.clone();
        let requests = match &setup.workload {
            WorkloadPlan::Synthetic(workload) => Some(workload.plan.requests),
            WorkloadPlan::Alike(plan) => Some(plan.requests),
            WorkloadPlan::Trace(_) => None,
        };
        Session {
            notes: setup.notes().to_vec(),
            setup,
            trace,
            engine,
            stage: Stage::Start,
            layout: None,
            requests,
            trace_writes: 0,
            trace_facts: None,
            preconditioning: Preconditioning { scheme, ..Preconditioning::default() },
            given: None,
            bad_rows: 0,
        }
    }

    /// Does one slice of work.
    pub fn advance(&mut self) -> Result<Progress, RunError> {
        let stage = std::mem::replace(&mut self.stage, Stage::Done);
        match stage {
            Stage::Start => self.begin(),
            Stage::Scan { reader, scan, rows } => self.scan(reader, scan, rows),
            Stage::Fill { next } => self.fill(next),
            Stage::TraceFill { source, state } => self.fill_by_trace(source, state),
            Stage::MapReads { source, reads } => self.map_reads(source, reads),
            Stage::Overwrite { source, watch, written, moved_before } => {
                self.overwrite(source, watch, written, moved_before)
            }
            Stage::Ready => self.begin_run(),
            Stage::Run { source } => self.run(source),
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
        match &self.setup.workload {
            WorkloadPlan::Trace(plan) => Some((**plan).clone()),
            WorkloadPlan::Synthetic(_) | WorkloadPlan::Alike(_) => None,
        }
    }

    fn open_trace(&mut self, plan: &TracePlan) -> Result<TraceReader, RunError> {
        let Some(opener) = &mut self.trace else {
            return Err(RunError::new(
                "error: the workload is a trace, and none was given\n  = help: give one with \
                 --trace FILE",
            ));
        };
        Ok(reader(&mut **opener, &plan.options)?)
    }

    fn begin(&mut self) -> Result<Progress, RunError> {
        if let Some(plan) = self.trace_plan() {
            let reader = Box::new(self.open_trace(&plan)?);
            let scan = LayoutScan::new(plan.address, self.page_bytes());
            self.trace_facts = self.depends_on_workload().then(TraceFacts::default);
            self.stage = Stage::Scan { reader, scan, rows: 0 };
            return Ok(self.at(Phase::Scan, 0, None));
        }
        self.begin_fill()
    }

    fn scan(
        &mut self,
        mut reader: Box<TraceReader>,
        mut scan: LayoutScan,
        rows: u64,
    ) -> Result<Progress, RunError> {
        for _ in 0..SCAN_ROWS {
            match reader.next() {
                Some(record) => {
                    let record = record.map_err(|error| RunError::in_trace(error.to_string()))?;
                    scan.see(&record);
                    if let Some(facts) = &mut self.trace_facts {
                        facts.see(&record);
                    }
                }
                None => return self.end_scan(&reader, scan),
            }
        }
        let rows = rows + SCAN_ROWS;
        self.stage = Stage::Scan { reader, scan, rows };
        Ok(self.at(Phase::Scan, rows, None))
    }

    fn end_scan(&mut self, reader: &TraceReader, scan: LayoutScan) -> Result<Progress, RunError> {
        let Some(plan) = self.trace_plan() else { return self.advance() };
        let name = reader.source();
        if scan.requests == 0 {
            return Err(RunError::in_trace(format!(
                "error: {name}: the trace has no request that can be replayed\n  = help: look at \
                 it with `flashgc trace info`, and at the filters of [workload.trace]"
            )));
        }
        self.requests = Some(scan.requests);
        self.trace_writes = scan.writes;
        let exported = self.setup.plan.geometry.exported_pages;
        let layout = scan
            .finish(plan.address, exported)
            .map_err(|why| RunError::in_trace(format!("error: {name}: {why}")))?;
        if layout.wraps() {
            self.notes.push(format!(
                "the trace spans {} pages and the drive has {exported}: addresses were wrapped",
                layout.span_pages()
            ));
        }
        self.layout = Some(layout);
        self.begin_fill()
    }

    /// Measuring begins: another scheme may take the drive over.
    fn begin_run(&mut self) -> Result<Progress, RunError> {
        if self.setup.filler.is_some() && self.given.is_none() {
            let carried = self.engine.hand_over(self.setup.plan.clone(), None);
            self.preconditioning.carried = carried.map_err(|why| {
                RunError::new(format!(
                    "error: the scheme cannot take the drive over: {why}\n  = help: leave \
                     `precondition.scheme` out, or export less (`device.exported`)"
                ))
            })?;
        }
        let exported = self.setup.plan.geometry.exported_pages;
        let page_bytes = self.page_bytes();
        let mut source = match self.trace_plan() {
            None => {
                let seed = self.setup.plan.seed;
                match &self.setup.workload {
                    WorkloadPlan::Synthetic(workload) => RunSource::Synthetic(Box::new(
                        Synthetic::new(&workload.plan, exported, page_bytes, seed),
                    )),
                    WorkloadPlan::Alike(plan) => {
                        RunSource::Alike(Box::new(Alike::new(plan, page_bytes, seed)))
                    }
                    WorkloadPlan::Trace(_) => {
                        return Err(RunError::new("error: there is no workload"));
                    }
                }
            }
            Some(plan) => {
                let reader = self.open_trace(&plan)?;
                let Some(layout) = self.layout.take() else {
                    return Err(RunError::new("error: the trace's layout is gone"));
                };
                RunSource::Replay(Box::new(Replay::new(
                    reader,
                    layout,
                    page_bytes,
                    plan.time_scale,
                )))
            }
        };
        engine!(&mut self.engine, sim => sim.start(&mut source))?;
        self.stage = Stage::Run { source };
        Ok(self.at(Phase::Run, 0, self.requests))
    }

    fn run(&mut self, mut source: RunSource) -> Result<Progress, RunError> {
        let progress = engine!(&mut self.engine, sim => sim.run(&mut source, RUN_EVENTS))?;
        let phase = if progress.finished { Phase::Done } else { Phase::Run };
        if progress.finished {
            if let RunSource::Replay(replay) = &source {
                self.bad_rows = replay.bad_rows();
            }
            self.audit();
        } else {
            if self.setup.plan.geometry.pages <= AUDIT_EACH_SLICE_PAGES {
                self.audit();
            }
            self.stage = Stage::Run { source };
        }
        Ok(Progress {
            phase,
            done: progress.requests,
            total: self.requests,
            now_ns: progress.now_ns,
        })
    }

    /// The checker, where there is one, compares the whole drive.
    fn audit(&mut self) {
        if let Engine::Watched(sim) = &mut self.engine {
            sim.audit();
        }
    }

    /// The report. Called after [`Phase::Done`].
    pub fn report(mut self) -> Report {
        let results = engine!(&mut self.engine, sim => sim.results());
        if let Engine::Watched(sim) = &mut self.engine {
            sim.audit_counters(&results);
            sim.end_series(&results);
        }
        if self.bad_rows > 0 {
            self.notes.push(format!("{} lines of the trace were passed over", self.bad_rows));
        }
        let facts = Facts {
            preconditioning: self.preconditioning,
            drive: self.given.map(|(origin, name)| origin.for_report(&name)),
            notes: self.notes,
            bad_rows: self.bad_rows,
        };
        Report::new(&self.setup, &results, facts)
    }
}
