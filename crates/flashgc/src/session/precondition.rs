//! The slices in which a drive is filled and overwritten.

use super::engine::{Engine, engine};
use super::error::RunError;
use super::sources::RunSource;
use super::{Phase, Progress, Session, Stage};
use crate::config::{Fill, OverwriteWith, Reads, WorkloadPlan};
use crate::drive::{Drive, aged_blocks};
use crate::gc::foresight::Foreseer;
use crate::ids::Lpn;
use crate::rng::Random;
use crate::store::{FillState, SteadyWatch};
use crate::workload::fitted::FittedOverwrites;
use crate::workload::hints::PageHints;
use crate::workload::jobs::JobsOverwrites;
use crate::workload::layout::Layout;
use crate::workload::records::Trace;
use crate::workload::replay::ReplayOverwrites;
use crate::workload::sprandom::Sprandom;
use crate::workload::synthetic::SyntheticOverwrites;
use crate::workload::trace_fill::{PassOverwrites, TraceFill};
use crate::workload::trace_reads::{MappedReads, TraceReads};
use crate::workload::{Overwrites, SourceError};

/// Pages of one slice.
const FILL_PAGES: u32 = 1 << 20;
const SPRANDOM_PAGES: u64 = 1 << 18;
const OVERWRITE_PAGES: u64 = 1 << 18;
/// Requests of one slice.
const MAP_REQUESTS: u64 = 1 << 16;

const NOTHING_WRITTEN: &str = "the trace writes nothing, so the drive was overwritten uniformly";

/// The source of the overwritten pages.
pub(super) enum PreSource {
    Synthetic(Box<SyntheticOverwrites>),
    Fitted(Box<FittedOverwrites>),
    Jobs(Box<JobsOverwrites>),
    Replay(Box<ReplayOverwrites>),
    Passes(Box<PassOverwrites>),
    /// Any of this number of pages, with their hints.
    Uniform(Box<Random>, u32, Option<PageHints>),
}

impl Overwrites for PreSource {
    #[inline]
    fn next(&mut self) -> Result<Lpn, SourceError> {
        match self {
            PreSource::Synthetic(source) => source.next(),
            PreSource::Fitted(source) => source.next(),
            PreSource::Jobs(source) => source.next(),
            PreSource::Replay(source) => source.next(),
            PreSource::Passes(source) => source.next(),
            PreSource::Uniform(random, pages, _) => Ok(Lpn(random.below(u64::from(*pages)) as u32)),
        }
    }

    fn has_hints(&self) -> bool {
        match self {
            PreSource::Synthetic(source) => source.has_hints(),
            PreSource::Fitted(source) => source.has_hints(),
            PreSource::Jobs(source) => source.has_hints(),
            PreSource::Replay(source) => source.has_hints(),
            PreSource::Passes(source) => source.has_hints(),
            PreSource::Uniform(_, _, hints) => hints.is_some(),
        }
    }

    fn next_hinted(&mut self) -> Result<(Lpn, u8), SourceError> {
        match self {
            PreSource::Synthetic(source) => source.next_hinted(),
            PreSource::Fitted(source) => source.next_hinted(),
            PreSource::Jobs(source) => source.next_hinted(),
            PreSource::Replay(source) => source.next_hinted(),
            PreSource::Passes(source) => source.next_hinted(),
            PreSource::Uniform(random, pages, hints) => {
                let lpn = random.below(u64::from(*pages)) as u32;
                Ok((Lpn(lpn), hints.as_ref().map_or(0, |hints| hints.of(lpn))))
            }
        }
    }
}

/// The requests of a run, while they are drawn for a placement that uses the future.
pub(super) struct Foreseeing {
    pub foreseer: Foreseer,
    pub part: Part,
    /// Whether preconditioning follows.
    pub is_before_fill: bool,
}

/// The part of it that is drawn.
pub(super) enum Part {
    /// The fill, from this page on.
    Fill(u32),
    /// The pages of a fill that is not in order.
    Once(Box<Sprandom>),
    /// Pages to overwrite.
    Overwrite { source: PreSource, left: u64 },
    /// The requests.
    Run(RunSource),
}

impl Session {
    fn exported(&self) -> u32 {
        self.setup.plan.geometry.exported_pages
    }

    /// The hints with which pages are filled, where placement has classes and writes have hints.
    fn fill_hints(&self) -> Option<PageHints> {
        self.setup.preconditioning_plan().gc.placement.as_ref()?;
        self.setup.workload.fill_hints(self.exported(), self.page_bytes())
    }

    fn filling(&self, done: u32) -> Progress {
        self.at(Phase::Fill, u64::from(done), Some(u64::from(self.exported())))
    }

    /// Preconditioning begins, where the drive was not given.
    pub(super) fn begin_fill(&mut self) -> Result<Progress, RunError> {
        if self.given.is_some() {
            return self.ready();
        }
        self.stage = match self.setup.precondition.fill {
            Fill::Sequential | Fill::ByBlock => Stage::Fill { next: 0 },
            Fill::None => Stage::Fill { next: self.exported() },
            Fill::Aged => {
                self.age()?;
                Stage::Fill { next: self.exported() }
            }
            Fill::Sprandom => Stage::Sprandom { source: Box::new(self.sprandom()?), written: 0 },
            Fill::Trace => {
                let source = Box::new(self.trace_fill()?);
                Stage::TraceFill { source, state: FillState::default() }
            }
        };
        Ok(self.filling(0))
    }

    /// The pass of `sprandom`, from its first page.
    pub(super) fn sprandom(&self) -> Result<Sprandom, RunError> {
        let plan = self.setup.precondition.sprandom.as_ref();
        let plan = plan.ok_or_else(|| RunError::new("error: the pass of sprandom is gone"))?;
        let random = Random::named(self.setup.plan.seed, "precondition-sprandom");
        Ok(Sprandom::new(plan, self.exported().into(), random))
    }

    /// Writes the next pages of a pass of `sprandom`.
    pub(super) fn fill_once(
        &mut self,
        mut source: Box<Sprandom>,
        written: u64,
    ) -> Result<Progress, RunError> {
        let hints = self.fill_hints();
        let hint = |lpn| hints.as_ref().map_or(0, |hints: &PageHints| hints.of(lpn));
        let slice = engine!(
            &mut self.engine,
            sim => sim.untimed().fill_once(&mut source, SPRANDOM_PAGES, hint)
        )?;
        let written = written + slice;
        if slice == SPRANDOM_PAGES {
            let total = self.setup.precondition.sprandom.as_ref();
            let total = total.map(|plan| plan.writes(self.exported().into()));
            self.stage = Stage::Sprandom { source, written };
            return Ok(self.at(Phase::Fill, written, total));
        }
        self.preconditioning.filled_pages = written;
        self.begin_overwrite()
    }

    /// Takes the source that reads the trace. It is returned when the trace has been read.
    pub(super) fn take_trace(&mut self) -> Result<(Trace, Layout), RunError> {
        match (self.trace.take(), self.layout.take()) {
            (Some(trace), Some(layout)) => Ok((trace, layout)),
            _ => Err(RunError::new("error: the trace is gone")),
        }
    }

    /// The requests of the trace as writes, in passes.
    fn trace_fill(&mut self) -> Result<TraceFill, RunError> {
        let (trace, layout) = self.take_trace()?;
        let shift_bytes = self.setup.precondition.shift_bytes;
        Ok(TraceFill::new(trace, layout, self.page_bytes(), shift_bytes))
    }

    fn age(&mut self) -> Result<(), RunError> {
        let plan = self.setup.preconditioning_plan();
        let ratio = self.setup.precondition.aged_ratio.unwrap_or(0.0);
        let (blocks, pages) = aged_blocks(&plan.geometry, ratio);
        self.preconditioning.aged_pages =
            u64::from(blocks) * u64::from(pages) * u64::from(plan.geometry.planes);
        let drive = Drive::aged(&plan.geometry, ratio);
        let aged = self.engine.hand_over(plan, Some(drive));
        aged.map_err(|why| RunError::new(format!("error: the aged drive: {why}")))?;
        self.pass_future();
        Ok(())
    }

    pub(super) fn fill(&mut self, next: u32) -> Result<Progress, RunError> {
        let pages = self.exported();
        let to = pages.min(next.saturating_add(FILL_PAGES));
        let how = self.setup.precondition.fill;
        let hints = self.fill_hints();
        match (how == Fill::ByBlock, &hints) {
            (true, None) => {
                engine!(&mut self.engine, sim => sim.untimed().fill_by_block(next, to, |_| 0))?;
            }
            (false, None) => {
                engine!(&mut self.engine, sim => sim.untimed().fill(next, to))?;
            }
            (true, Some(hints)) => {
                let hint = |lpn| hints.of(lpn);
                engine!(&mut self.engine, sim => sim.untimed().fill_by_block(next, to, hint))?;
            }
            (false, Some(hints)) => {
                let hint = |lpn| hints.of(lpn);
                engine!(&mut self.engine, sim => sim.untimed().fill_hinted(next, to, hint))?;
            }
        }
        if to < pages {
            self.stage = Stage::Fill { next: to };
            return Ok(self.filling(to));
        }
        if how.is_in_order() {
            self.preconditioning.filled_pages = u64::from(pages);
        }
        self.begin_to_map()
    }

    /// The pages that the trace reads are mapped, where this was requested.
    fn begin_to_map(&mut self) -> Result<Progress, RunError> {
        let how = self.setup.precondition.reads;
        if how.are_left() {
            return self.begin_overwrite();
        }
        if self.trace_reads == 0 {
            self.preconditioning.mapped_pages = Some(0);
            return self.begin_overwrite();
        }
        let (trace, layout) = self.take_trace()?;
        let source = TraceReads::new(trace, layout, self.page_bytes())?;
        let reads = MappedReads::new(self.exported(), how == Reads::AllMapped);
        self.stage = Stage::MapReads { source: Box::new(source), reads };
        Ok(self.at(Phase::Fill, 0, None))
    }

    pub(super) fn map_reads(
        &mut self,
        mut source: Box<TraceReads>,
        mut reads: MappedReads,
    ) -> Result<Progress, RunError> {
        let ended = engine!(
            &mut self.engine,
            sim => sim.untimed().map_reads(&mut source, &mut reads, MAP_REQUESTS)
        )?;
        if !ended {
            let progress = self.at(Phase::Fill, reads.pages, None);
            self.stage = Stage::MapReads { source, reads };
            return Ok(progress);
        }
        let (trace, layout) = source.into_parts();
        (self.trace, self.layout) = (Some(trace), Some(layout));
        self.preconditioning.mapped_pages = Some(reads.pages);
        self.begin_overwrite()
    }

    pub(super) fn fill_by_trace(
        &mut self,
        mut source: Box<TraceFill>,
        mut state: FillState,
    ) -> Result<Progress, RunError> {
        let full = engine!(
            &mut self.engine,
            sim => sim.untimed().fill_by_trace(&mut source, &mut state, OVERWRITE_PAGES)
        )?;
        if !full {
            let progress = self.filling(state.written);
            self.stage = Stage::TraceFill { source, state };
            return Ok(progress);
        }
        let (trace, layout) = source.into_parts();
        (self.trace, self.layout) = (Some(trace), layout);
        self.preconditioning.filled_pages = state.filled.pages();
        self.preconditioning.trace_fill = Some(state.filled);
        self.begin_overwrite()
    }

    pub(super) fn overwrite_pages(&self) -> u64 {
        (self.setup.precondition.overwrite * f64::from(self.exported())) as u64
    }

    fn begin_overwrite(&mut self) -> Result<Progress, RunError> {
        if self.overwrite_pages() == 0 {
            return self.ready();
        }
        let source = self.pre_source()?;
        if self.finds_no_writes() {
            self.notes.push(NOTHING_WRITTEN.into());
        }
        let moved_before = engine!(&mut self.engine, sim => sim.untimed().pages_moved());
        let watch = SteadyWatch::since(moved_before);
        self.stage = Stage::Overwrite { source, watch, written: 0, moved_before };
        Ok(self.at(Phase::Overwrite, 0, Some(self.overwrite_pages())))
    }

    /// Whether a trace that is to overwrite the drive has no writes.
    fn finds_no_writes(&self) -> bool {
        self.setup.precondition.overwrite_with == OverwriteWith::Workload
            && matches!(self.setup.workload, WorkloadPlan::Trace(_))
            && self.trace_writes == 0
    }

    /// The pages to overwrite, from the first one.
    pub(super) fn pre_source(&mut self) -> Result<PreSource, RunError> {
        let exported = self.exported();
        let (seed, page_bytes) = (self.setup.plan.seed, self.page_bytes());
        let uniform = PreSource::Uniform(
            Box::new(Random::named(seed, "precondition")),
            exported,
            self.fill_hints(),
        );
        let overwrite_with = self.setup.precondition.overwrite_with;
        if overwrite_with == OverwriteWith::Uniform || self.finds_no_writes() {
            return Ok(uniform);
        }
        Ok(match &self.setup.workload {
            WorkloadPlan::Synthetic(workload) => PreSource::Synthetic(Box::new(
                SyntheticOverwrites::new(&workload.plan, exported, page_bytes, seed),
            )),
            WorkloadPlan::Fitted(plan) => {
                PreSource::Fitted(Box::new(FittedOverwrites::new(plan, page_bytes, seed)))
            }
            WorkloadPlan::Jobs(jobs) => {
                let source = JobsOverwrites::new(&jobs.plan, exported, page_bytes, seed);
                PreSource::Jobs(Box::new(source))
            }
            WorkloadPlan::Trace(_) if overwrite_with == OverwriteWith::Passes => {
                let source = PassOverwrites::new(self.trace_fill()?, exported);
                PreSource::Passes(Box::new(source))
            }
            WorkloadPlan::Trace(_) => {
                let (trace, layout) = self.take_trace()?;
                let source = ReplayOverwrites::new(trace, layout, page_bytes);
                PreSource::Replay(Box::new(source))
            }
        })
    }

    /// Takes the trace and its layout back from a source that has ended.
    pub(super) fn give_back(&mut self, source: PreSource) {
        let parts = match source {
            PreSource::Replay(source) => Some(source.into_parts()),
            PreSource::Passes(source) => Some(source.into_parts()),
            _ => None,
        };
        if let Some((trace, layout)) = parts {
            (self.trace, self.layout) = (Some(trace), layout);
        }
    }

    pub(super) fn overwrite(
        &mut self,
        mut source: PreSource,
        mut watch: SteadyWatch,
        written: u64,
        moved_before: u64,
    ) -> Result<Progress, RunError> {
        let total = self.overwrite_pages();
        let until_steady = self.setup.precondition.until_steady;
        let window = engine!(&mut self.engine, sim => sim.untimed().steady_window_pages());
        let mut slice = OVERWRITE_PAGES.min(total - written);
        if until_steady {
            slice = slice.min(window - written % window);
        }
        // Hints count for placement alone.
        let has_classes = self.setup.preconditioning_plan().gc.placement.is_some();
        if has_classes && source.has_hints() {
            engine!(&mut self.engine, sim => sim.untimed().overwrite_hinted(&mut source, slice))?;
        } else {
            engine!(&mut self.engine, sim => sim.untimed().overwrite(&mut source, slice))?;
        }
        let written = written + slice;
        let steady = until_steady
            && written.is_multiple_of(window)
            && engine!(&mut self.engine, sim => sim.untimed().is_steady(&mut watch, written));
        if written < total && !steady {
            self.stage = Stage::Overwrite { source, watch, written, moved_before };
            return Ok(self.at(Phase::Overwrite, written, Some(total)));
        }
        let moved = engine!(&mut self.engine, sim => sim.untimed().pages_moved()) - moved_before;
        let drive_writes = written as f64 / f64::from(self.exported());
        let quarters = engine!(&self.engine, sim => sim.measure().quarters_overwritten());
        let done = &mut self.preconditioning;
        done.write_amplification_quarters = quarters;
        done.overwritten_pages = written;
        done.drive_writes = drive_writes;
        done.programmed_pages = written + moved;
        done.write_amplification = Some((written + moved) as f64 / written as f64);
        if until_steady {
            done.steady = Some(watch.report(steady, drive_writes));
        }
        self.give_back(source);
        self.ready()
    }

    /// The drive is in the state in which measuring begins.
    fn ready(&mut self) -> Result<Progress, RunError> {
        self.audit();
        self.stage = Stage::Ready;
        Ok(self.at(Phase::Ready, 0, self.measured(0, 0).1))
    }
}
