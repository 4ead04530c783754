//! A session: one run from its setup to its report, in slices of some 20 ms.
//!
//! The caller has the clock, the files and the keyboard: between two slices it can show progress,
//! look at the time, or stop.

pub use crate::config::{prepare, Inputs, Setup};
use crate::config::{PreconditionPlan, TracePlan, WorkloadPlan};
use crate::ids::PlaneId;
use crate::report::{Facts, Report};
use crate::rng::Random;
use crate::sim::{Preconditioning, Sim, SimError, SteadyWatch};
use crate::verify::checker::Checker;
use crate::verify::{JobLog, Unwatched, Watchers};
use crate::workload::alike::{Alike, AlikeOverwrites};
use crate::workload::layout::{Layout, LayoutScan};
pub use crate::workload::replay::TraceOpener;
use crate::workload::replay::{reader, Replay, ReplayOverwrites};
use crate::workload::synthetic::{Synthetic, SyntheticOverwrites};
use crate::workload::{HostRequest, Overwrites, Source, SourceError};
use flashgc_trace::TraceReader;
use std::fmt;

/// What may be asked of a session beside its setup.
#[derive(Default)]
pub struct Options {
    /// Whether the checker watches.
    pub verify: bool,
    /// Receives a row for each job.
    pub job_log: Option<JobLog>,
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
const FILL_PAGES: u32 = 1 << 20;
const OVERWRITE_PAGES: u64 = 1 << 18;
const RUN_EVENTS: u64 = 200_000;
/// A drive of at most so many pages is compared after each slice, a larger one at the end.
const AUDIT_EACH_SLICE_PAGES: u32 = 1 << 20;

/// The watched simulation is slower by much; most runs have no watcher.
enum Engine {
    Plain(Box<Sim<Unwatched>>),
    Watched(Box<Sim<Watchers>>),
}

macro_rules! engine {
    ($engine:expr, $sim:ident => $body:expr) => {
        match $engine {
            Engine::Plain($sim) => $body,
            Engine::Watched($sim) => $body,
        }
    };
}

enum Stage {
    Start,
    Scan { reader: Box<TraceReader>, scan: LayoutScan, rows: u64 },
    Fill { next: u32 },
    Overwrite { source: PreSource, watch: SteadyWatch, written: u64 },
    Run { source: RunSource },
    Done,
}

enum PreSource {
    Synthetic(Box<SyntheticOverwrites>),
    Alike(Box<AlikeOverwrites>),
    Replay(Box<ReplayOverwrites>),
}

impl Overwrites for PreSource {
    #[inline]
    fn next(&mut self) -> Result<crate::ids::Lpn, SourceError> {
        match self {
            PreSource::Synthetic(source) => source.next(),
            PreSource::Alike(source) => source.next(),
            PreSource::Replay(source) => source.next(),
        }
    }
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
    preconditioning: Preconditioning,
    notes: Vec<String>,
    bad_rows: u64,
}

impl Session {
    /// A session at its beginning.
    pub fn new(setup: Setup, trace: Option<Box<dyn TraceOpener>>, options: Options) -> Self {
        let plan = setup.plan.clone();
        let engine = if options.verify || options.job_log.is_some() {
            let checker = options.verify.then(|| Checker::new(&plan.geometry, !plan.parity()));
            let watchers = Watchers { checker, job_log: options.job_log };
            Engine::Watched(Box::new(Sim::new(plan, watchers)))
        } else {
            Engine::Plain(Box::new(Sim::new(plan, Unwatched)))
        };
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
            preconditioning: Preconditioning::default(),
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
            Stage::Overwrite { source, watch, written } => self.overwrite(source, watch, written),
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
            self.stage = Stage::Scan { reader, scan, rows: 0 };
            return Ok(self.at(Phase::Scan, 0, None));
        }
        self.begin_fill();
        Ok(self.at(Phase::Fill, 0, Some(u64::from(self.setup.plan.geometry.exported_pages))))
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
                    scan.see(&record.map_err(|error| RunError::in_trace(error.to_string()))?);
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
        self.begin_fill();
        Ok(self.at(Phase::Fill, 0, Some(u64::from(exported))))
    }

    fn begin_fill(&mut self) {
        let pages = self.setup.plan.geometry.exported_pages;
        let next = if self.setup.precondition.fill { 0 } else { pages };
        self.stage = Stage::Fill { next };
    }

    fn fill(&mut self, next: u32) -> Result<Progress, RunError> {
        let pages = self.setup.plan.geometry.exported_pages;
        let to = pages.min(next.saturating_add(FILL_PAGES));
        engine!(&mut self.engine, sim => sim.fill(next, to))?;
        if to < pages {
            self.stage = Stage::Fill { next: to };
            return Ok(self.at(Phase::Fill, u64::from(to), Some(u64::from(pages))));
        }
        if self.setup.precondition.fill {
            self.preconditioning.filled_pages = u64::from(pages);
        }
        self.begin_overwrite()
    }

    fn overwrite_pages(&self) -> u64 {
        let PreconditionPlan { overwrite, .. } = self.setup.precondition;
        (overwrite * f64::from(self.setup.plan.geometry.exported_pages)) as u64
    }

    fn begin_overwrite(&mut self) -> Result<Progress, RunError> {
        if self.overwrite_pages() == 0 {
            return self.begin_run();
        }
        let exported = self.setup.plan.geometry.exported_pages;
        let (seed, page_bytes) = (self.setup.plan.seed, self.page_bytes());
        let source = match &self.setup.workload {
            WorkloadPlan::Synthetic(workload) => PreSource::Synthetic(Box::new(
                SyntheticOverwrites::new(&workload.plan, exported, page_bytes, seed),
            )),
            WorkloadPlan::Alike(plan) => {
                PreSource::Alike(Box::new(AlikeOverwrites::new(plan, page_bytes, seed)))
            }
            WorkloadPlan::Trace(plan) => {
                let (Some(opener), Some(layout)) = (self.trace.take(), self.layout.take()) else {
                    return Err(RunError::new("error: the trace is gone"));
                };
                let uniform = (self.trace_writes == 0)
                    .then(|| (Random::named(seed, "precondition"), exported));
                if uniform.is_some() {
                    self.notes.push(
                        "the trace writes nothing: the drive was overwritten uniformly".into(),
                    );
                }
                let options = plan.options.clone();
                let source = ReplayOverwrites::new(opener, options, layout, page_bytes, uniform);
                PreSource::Replay(Box::new(source))
            }
        };
        self.stage = Stage::Overwrite { source, watch: SteadyWatch::default(), written: 0 };
        Ok(self.at(Phase::Overwrite, 0, Some(self.overwrite_pages())))
    }

    fn overwrite(
        &mut self,
        mut source: PreSource,
        mut watch: SteadyWatch,
        written: u64,
    ) -> Result<Progress, RunError> {
        let total = self.overwrite_pages();
        let until_steady = self.setup.precondition.until_steady;
        let window = engine!(&self.engine, sim => sim.steady_window_pages());
        let mut slice = OVERWRITE_PAGES.min(total - written);
        if until_steady {
            slice = slice.min(window - written % window);
        }
        engine!(&mut self.engine, sim => sim.overwrite(&mut source, slice))?;
        let written = written + slice;
        let steady = until_steady
            && written.is_multiple_of(window)
            && engine!(&self.engine, sim => sim.is_steady(&mut watch, written));
        if written < total && !steady {
            self.stage = Stage::Overwrite { source, watch, written };
            return Ok(self.at(Phase::Overwrite, written, Some(total)));
        }
        self.end_overwrite(source, &watch, written, steady);
        self.begin_run()
    }

    fn end_overwrite(
        &mut self,
        source: PreSource,
        watch: &SteadyWatch,
        written: u64,
        steady: bool,
    ) {
        let moved = engine!(&self.engine, sim => sim.pages_moved());
        let drive_writes = written as f64 / f64::from(self.setup.plan.geometry.exported_pages);
        let done = &mut self.preconditioning;
        done.overwritten_pages = written;
        done.drive_writes = drive_writes;
        done.programmed_pages = written + moved;
        done.write_amplification = Some((written + moved) as f64 / written as f64);
        if self.setup.precondition.until_steady {
            done.steady = Some(watch.report(steady, drive_writes));
        }
        if let PreSource::Replay(source) = source {
            let (opener, layout) = source.into_parts();
            self.trace = Some(opener);
            self.layout = layout;
        }
    }

    fn begin_run(&mut self) -> Result<Progress, RunError> {
        self.audit();
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
        }
        if self.bad_rows > 0 {
            self.notes.push(format!("{} lines of the trace were passed over", self.bad_rows));
        }
        let facts = Facts {
            preconditioning: self.preconditioning,
            notes: self.notes,
            bad_rows: self.bad_rows,
        };
        Report::new(&self.setup, &results, facts)
    }
}
