//! A session whose requests come from outside while it runs, one by one: those of a served drive.
//!
//! To the engine they are the requests of a trace that is being written. The caller has the clock:
//! it says when each request comes and how far time may advance.

use super::engine::{Engine, engine};
use super::error::RunError;
use super::{Phase, Progress, SavedDrive, Session, Stage};
use crate::config::{Fill, OverwriteWith, Setup, WorkloadPlan};
use crate::plan::{Arrivals, WriteCompletion};
use crate::report::{Facts, Report};
use crate::sim::live;
use crate::workload::HostRequest;
use crate::workload::layout::AddressPolicy;
use crate::workload::live::Live;

/// A session whose requests come from outside.
pub struct LiveSession {
    session: Session,
    source: Live,
}

/// Why a configuration cannot be served, if it cannot: the error, and what to do.
pub fn refusal(setup: &Setup) -> Option<RunError> {
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
    if setup.plan.write_completion == WriteCompletion::Loaded && setup.plan.write_buffer.is_none() {
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
        "error: a served drive has the requests of its clients, but {why}\n  = help: {help}"
    )))
}

impl LiveSession {
    /// A session at its beginning, whose configuration [can be served](refusal).
    pub fn new(mut session: Session) -> Result<Self, RunError> {
        if let Some(why) = refusal(&session.setup) {
            return Err(why);
        }
        session.is_live = true;
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
        engine!(&mut session.engine, sim => sim.start(&mut self.source))?;
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

    /// A request comes at its time, which is later than [`now_ns`](Self::now_ns).
    pub fn comes(&mut self, request: HostRequest) -> Result<(), RunError> {
        self.source.push(request);
        engine!(&mut self.session.engine, sim => live::take(sim, &mut self.source))?;
        Ok(())
    }

    /// Lets time advance until every request that has come is done.
    pub fn run_until_served(&mut self) -> Result<(), RunError> {
        engine!(&mut self.session.engine, sim => live::run_until_served(sim, &mut self.source))?;
        Ok(())
    }

    /// Lets time advance up to this instant, by at most `budget` events. Returns whether nothing is
    /// left to happen until then.
    pub fn run_to(&mut self, to_ns: u64, budget: u64) -> Result<bool, RunError> {
        let source = &mut self.source;
        Ok(engine!(&mut self.session.engine, sim => live::run_to(sim, source, to_ns, budget))?)
    }

    /// The time of the last event, in ns since the drive was ready.
    pub fn now_ns(&self) -> u64 {
        engine!(&self.session.engine, sim => live::now_ns(sim))
    }

    /// The time of the next event, if there is one.
    pub fn next_ns(&self) -> Option<u64> {
        engine!(&self.session.engine, sim => live::next_ns(sim))
    }

    /// The report on everything so far, apart from the hash over the whole course. The log of
    /// requests, if there is one, hands out its rows first.
    pub fn so_far(&mut self) -> Report {
        let session = &mut self.session;
        session.end_rows();
        let results = engine!(&session.engine, sim => sim.seen().results());
        let (blame, _) = session.blame(&results);
        let facts = Facts {
            preconditioning: session.preconditioning.clone(),
            drive: session.given.as_ref().map(|(origin, name)| origin.for_report(name)),
            notes: Vec::new(),
            nothing_moved: None,
            bad_rows: 0,
            of_jobs: Vec::new(),
            blame_of_jobs: Vec::new(),
            blame,
            result_hash: String::new(),
            over_time: None,
        };
        Report::new(&session.setup, &results, facts)
    }

    /// Erased blocks that are not open: of the plane with the fewest, and of all planes.
    pub fn free_blocks(&self) -> (u32, u64) {
        engine!(&self.session.engine, sim => sim.seen().free_blocks())
    }

    /// No further request comes but this one: those under way are served, and then the report is
    /// made. A run knows its last request when it comes, and so does this session.
    pub fn end(mut self, last: Option<HostRequest>, notes: &[String]) -> Result<Report, RunError> {
        last.into_iter().for_each(|last| self.source.push(last));
        let session = &mut self.session;
        engine!(&mut session.engine, sim => live::end(sim, &mut self.source))?;
        session.audit();
        session.end_rows();
        session.notes.extend_from_slice(notes);
        Ok(self.session.report())
    }
}
