//! A session whose requests come from outside while it runs, by a [component](super::component).
//!
//! To the engine they are the requests of a trace that is being written. The caller has the clock:
//! it determines when each request comes and how far time may advance.

use super::engine::{Engine, engine};
use super::error::RunError;
use super::{Phase, Progress, SavedDrive, Session, Stage};
use crate::config::{Fill, OverwriteWith, Setup, WorkloadPlan};
use crate::measure::JobResults;
use crate::plan::{Arrivals, WriteCompletion};
use crate::report::Report;
use crate::sim::live;
use crate::verify::Watch;
use crate::verify::attended::{Attended, Done};
use crate::workload::layout::AddressPolicy;
use crate::workload::live::Live;

impl Session {
    /// The tenants whose requests come from outside are as they are now.
    pub(super) fn note_tenants(&mut self) {
        if !self.is_live {
            return;
        }
        let result = |(tally, latencies)| JobResults { tally, latencies };
        self.of_jobs = engine!(&mut self.engine, sim => {
            sim.watch().attended().map_or_else(Vec::new, |own| own.tenants().map(result).collect())
        });
    }
}

/// A session whose requests come from outside.
pub(super) struct LiveSession {
    pub(super) session: Session,
    pub(super) source: Live,
}

/// The error and its remedy, if a configuration cannot be live.
pub(super) fn refusal(setup: &Setup) -> Option<RunError> {
    let WorkloadPlan::Trace(plan) = &setup.workload else {
        return refused("the workload has jobs", "remove [workload.jobs]");
    };
    if setup.plan.untimed {
        return refused(
            "engine.timing = \"none\" has no clock",
            "remove it (--unset engine.timing)",
        );
    }
    if setup.foresees() {
        return refused("its placement has to know all of them before", "change gc.placement.use");
    }
    if plan.arrivals != Arrivals::Open {
        return refused(
            "workload.trace.queue_depth makes the workload a closed loop",
            "remove it (--unset workload.trace.queue_depth)",
        );
    }
    if plan.repeated.is_some() || setup.until.is_some() {
        return refused(
            "workload.until ends a run by itself",
            "remove it (--unset workload.until)",
        );
    }
    if setup.sizing.is_some() {
        return refused(
            "workload.trace.fit sizes the drive to a trace",
            "remove it (--unset workload.trace.fit)",
        );
    }
    if plan.loops > 1 {
        return refused(
            "workload.trace.loops repeats a trace",
            "remove it (--unset workload.trace.loops)",
        );
    }
    if plan.time_scale != 1.0 || plan.address != AddressPolicy::Reject {
        let keys = "workload.trace.time_scale or workload.trace.address changes the requests";
        return refused(keys, "remove it");
    }
    if setup.plan.front.write_completion == WriteCompletion::Loaded
        && setup.plan.write_buffer.is_none()
    {
        return refused(
            "device.write_completion = \"loaded\" ends a write while its data is in a register, \
             where a flush does not cover it",
            "set device.write_completion = \"programmed\", or add a write buffer, as in \
             `device.write_buffer.size = \"1 MiB\"`",
        );
    }
    let before = &setup.precondition;
    if before.fill == Fill::Trace || !before.reads.are_left() {
        return refused(
            "the drive is to be filled by a trace",
            "set precondition.fill = \"sequential\"",
        );
    }
    if before.overwrite > 0.0 && before.overwrite_with != OverwriteWith::Uniform {
        return refused(
            "the drive is to be overwritten with requests that have yet to come",
            "set precondition.overwrite_with = \"uniform\"",
        );
    }
    None
}

fn refused(why: &str, help: &str) -> Option<RunError> {
    Some(RunError::new(format!(
        "error: the drive has its requests from outside, but {why}\n  = help: {help}"
    )))
}

impl LiveSession {
    /// A session at its beginning, whose configuration [can be live](refusal).
    pub fn new(mut session: Session) -> Result<Self, RunError> {
        if let Some(why) = refusal(&session.setup) {
            return Err(why);
        }
        session.is_live = true;
        let names = session.setup.workload.tenants().iter().map(|tenant| tenant.name.clone());
        session.engine.attend(Attended::of_tenants(names));
        Ok(LiveSession { session, source: Live::default() })
    }

    /// Preconditions the drive, slice by slice. [`Phase::Ready`] comes once, and then
    /// [`Phase::Run`]: requests may come.
    pub fn prepare(&mut self) -> Result<Progress, RunError> {
        let session = &mut self.session;
        if !matches!(session.stage, Stage::Ready) {
            let progress = session.advance()?;
            if matches!(session.stage, Stage::Ready) {
                session.change_scheme()?;
            }
            return Ok(progress);
        }
        let circumstances = session.circumstances();
        engine!(&mut session.engine, sim => sim.judge_by(circumstances));
        engine!(&mut session.engine, sim => live::outlive_writes(sim));
        engine!(&mut session.engine, sim => live::start(sim, &mut self.source))?;
        session.stage = Stage::Done;
        Ok(session.at(Phase::Run, 0, None))
    }

    /// The drive at [`Phase::Ready`], without the scheme's own state.
    pub fn drive(&self) -> SavedDrive {
        let state = engine!(&self.session.engine, sim => live::drive(sim));
        SavedDrive { origin: self.session.origin(), state }
    }

    /// Whether the drive takes no further write: the caller refuses them.
    pub fn is_read_only(&self) -> bool {
        engine!(&self.session.engine, sim => sim.ftl().is_read_only())
    }

    /// The physical page of each logical one at present; `u32::MAX` where nothing is written.
    pub fn map(&self) -> Vec<u32> {
        engine!(&self.session.engine, sim => sim.ftl().map.entries().collect())
    }

    /// Serves the requests up to and with this time, as far as that takes.
    pub fn serve(&mut self, until_ns: u64) -> Result<(), RunError> {
        let source = &mut self.source;
        Ok(engine!(&mut self.session.engine, sim => live::serve(sim, source, until_ns))?)
    }

    /// Serves the requests up to and with this time, until one is done.
    pub fn serve_one(&mut self, until_ns: u64) -> Result<(), RunError> {
        let source = &mut self.source;
        Ok(engine!(&mut self.session.engine, sim => live::serve_one(sim, source, until_ns))?)
    }

    /// Lets the drive rest until this time.
    pub fn rest(&mut self, until_ns: u64) -> Result<(), RunError> {
        let source = &mut self.source;
        Ok(engine!(&mut self.session.engine, sim => live::rest(sim, source, until_ns))?)
    }

    /// Takes the requests that are done, each with its tag.
    pub fn take_done(&mut self, mut each: impl FnMut(u64, Done)) {
        let source = &mut self.source;
        engine!(&mut self.session.engine, sim => {
            let Some(attended) = sim.watch().attended() else { return };
            attended.done().drain(..).for_each(|done| each(source.tag_of(done.number), done));
        });
    }

    /// Whether requests are under way.
    pub fn is_busy(&self) -> bool {
        engine!(&self.session.engine, sim => live::is_busy(sim))
    }

    /// The time of the last event, in ns since the drive was ready.
    pub fn now_ns(&self) -> u64 {
        engine!(&self.session.engine, sim => live::now_ns(sim))
    }

    /// The latest instant that can be simulated, in ns.
    pub fn limit_ns(&self) -> u64 {
        engine!(&self.session.engine, sim => live::limit_ns(sim))
    }

    /// The time of the next event, if there is one.
    pub fn next_ns(&self) -> Option<u64> {
        engine!(&self.session.engine, sim => live::next_ns(sim))
    }

    /// The report on everything so far.
    pub fn so_far(&mut self) -> Report {
        self.session.so_far()
    }

    /// Erased blocks that are not open: of the plane with the fewest, and of all planes.
    pub fn free_blocks(&self) -> (u32, u64) {
        engine!(&self.session.engine, sim => sim.seen().free_blocks())
    }

    /// No further request comes: those that have come are served.
    pub fn end(&mut self) -> Result<(), RunError> {
        let source = &mut self.source;
        engine!(&mut self.session.engine, sim => live::end(sim, source))?;
        Ok(())
    }

    /// The report, after the end.
    pub fn into_report(self, notes: &[String]) -> Report {
        let mut session = self.session;
        session.audit();
        session.end_rows();
        session.note_tenants();
        session.notes.extend_from_slice(notes);
        session.report()
    }
}
