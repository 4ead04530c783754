//! The slices in which the requests of a run are drawn before the drive is written, for a placement
//! that uses the future.
//!
//! Sources are made twice, and give the same requests each time. The pages that preconditioning
//! writes belong to the future where the run's own scheme preconditions the drive.

use super::engine::{Engine, engine};
use super::error::RunError;
use super::precondition::{Foreseeing, Part};
use super::sources::RunSource;
use super::{Phase, Progress, Session, Stage};
use crate::config::Fill;
use crate::gc::foresight::{Foreseer, MOST_CHANGES, TooMany};
use crate::ids::Lpn;
use crate::workload::{HostOp, HostRequest, Overwrites, Source};

/// Pages or requests of one slice.
const SLICE: u32 = 1 << 18;

impl From<TooMany> for RunError {
    fn from(_: TooMany) -> Self {
        RunError::new(format!(
            "error: the oracle keeps the next change of each page that is written, 4 bytes for \
             each and at most {MOST_CHANGES} (4 GiB), and the run writes more\n  = help: shorten \
             the workload or preconditioning, or choose another gc.placement.use"
        ))
    }
}

impl Foreseeing {
    fn add(&mut self, request: &HostRequest) -> Result<(), TooMany> {
        let &HostRequest { op, first, pages, head_partial, tail_partial, .. } = request;
        for at in 0..pages {
            let is_partial = (at == 0 && head_partial) || (at + 1 == pages && tail_partial);
            let lpn = Lpn(first.0 + at);
            match op {
                HostOp::Write => self.foreseer.written(lpn)?,
                HostOp::Trim if !is_partial => self.foreseer.trimmed(lpn)?,
                HostOp::Trim | HostOp::Read | HostOp::Flush => {}
            }
        }
        Ok(())
    }
}

impl Session {
    /// Before the drive is filled: the future begins here where the run's own scheme fills it.
    pub(super) fn begin_to_foresee(&mut self) -> Result<Progress, RunError> {
        if self.given.is_some() || !self.setup.foresees_precondition() {
            return self.begin_fill();
        }
        let fill = self.setup.precondition.fill;
        if fill == Fill::Sprandom {
            let source = Box::new(self.sprandom()?);
            return self.foresee_from(Part::Once(source));
        }
        let from = if fill.is_in_order() { 0 } else { self.setup.plan.geometry.exported_pages };
        self.foresee_from(Part::Fill(from))
    }

    /// Before measuring: the future begins here where another scheme has filled the drive.
    pub(super) fn foresee_or_start(&mut self) -> Result<Progress, RunError> {
        let is_known = self.given.is_none() && self.setup.foresees_precondition();
        if is_known || !self.setup.foresees() {
            return self.start_run();
        }
        let source = self.source()?;
        self.foresee_from(Part::Run(source))
    }

    fn foresee_from(&mut self, part: Part) -> Result<Progress, RunError> {
        let pages = self.setup.plan.geometry.exported_pages;
        let foreseer = engine!(&self.engine, sim => {
            Foreseer::new(pages, |lpn| sim.ftl().map.ppn_of(lpn).is_some())
        });
        let is_before_fill = !matches!(part, Part::Run(_));
        self.stage = Stage::Foresee(Box::new(Foreseeing { foreseer, part, is_before_fill }));
        Ok(self.at(Phase::Scan, 0, None))
    }

    pub(super) fn foresee(&mut self, mut now: Box<Foreseeing>) -> Result<Progress, RunError> {
        let (mut drawn, mut has_ended) = (0, false);
        while drawn < SLICE && !has_ended {
            drawn += 1;
            match &mut now.part {
                Part::Fill(next) if *next < self.setup.plan.geometry.exported_pages => {
                    now.foreseer.written(Lpn(*next))?;
                    *next += 1;
                }
                Part::Once(source) => match source.next() {
                    Some(page) => now.foreseer.written(Lpn(page as u32))?,
                    None => now.part = Part::Fill(u32::MAX),
                },
                Part::Fill(_) => {
                    now.part = match self.overwrite_pages() {
                        0 => Part::Run(self.source()?),
                        left => Part::Overwrite { source: self.pre_source()?, left },
                    };
                }
                Part::Overwrite { source, left } if *left > 0 => {
                    *left -= 1;
                    let lpn = source.next()?;
                    now.foreseer.written(lpn)?;
                }
                Part::Overwrite { .. } => {
                    let over = std::mem::replace(&mut now.part, Part::Fill(u32::MAX));
                    if let Part::Overwrite { source, .. } = over {
                        self.give_back(source);
                    }
                    now.part = Part::Run(self.source()?);
                }
                Part::Run(source) => match source.next()? {
                    Some(request) => now.add(&request)?,
                    None => has_ended = true,
                },
            }
        }
        let changes = now.foreseer.changes();
        if !has_ended {
            self.stage = Stage::Foresee(now);
            return Ok(self.at(Phase::Scan, changes, None));
        }
        let Foreseeing { foreseer, part, is_before_fill } = *now;
        if let Part::Run(source) = part {
            self.give_back_run(source);
        }
        self.foresight = Some(foreseer.finish());
        self.pass_future();
        match is_before_fill {
            true => self.begin_fill(),
            false => self.start_run(),
        }
    }

    /// Passes the future changes to the placement of the drive, where they are known.
    pub(super) fn pass_future(&mut self) {
        if let Some(foresight) = &self.foresight {
            engine!(&mut self.engine, sim => sim.untimed().foresee(foresight));
        }
    }

    /// Takes the trace and its layout back from a source that has ended.
    fn give_back_run(&mut self, source: RunSource) {
        match source {
            RunSource::Replay(source) => self.layout = Some(source.into_layout()),
            RunSource::Repeated(source) => {
                let (trace, layout) = source.into_parts();
                (self.trace, self.layout) = (Some(trace), layout);
            }
            RunSource::Synthetic(_) | RunSource::Fitted(_) | RunSource::Jobs(_) => {}
        }
    }
}
