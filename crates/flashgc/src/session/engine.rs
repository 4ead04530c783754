//! The simulation of a session, with or without watchers, and the drive in it.

use super::options::Options;
use crate::drive::{Carried, Drive, DriveFault, restore};
use crate::plan::Plan;
use crate::sim::{Sim, live};
use crate::stats::{OverTime, Series};
use crate::verify::attended::Attended;
use crate::verify::blame::Blame;
use crate::verify::checker::Checker;
use crate::verify::{InDetail, Overview, PerRequest, Watchers};

/// The watched simulation is slower; most runs have no watcher.
pub(super) enum Engine {
    Plain(Box<Sim<Overview>>),
    Watched(Box<Sim<Watchers>>),
    /// Its drive was removed.
    Gone,
}

/// Evaluates an expression on the simulation of any engine.
macro_rules! engine {
    ($engine:expr, $sim:ident => $body:expr) => {
        match $engine {
            Engine::Plain($sim) => $body,
            Engine::Watched($sim) => $body,
            Engine::Gone => unreachable!("the drive of this session was taken out"),
        }
    };
}
pub(super) use engine;

impl Engine {
    /// An erased drive.
    pub fn new(plan: Plan, options: Options) -> Engine {
        if !is_watched(&plan, &options) {
            let overview = overview(&plan, &options);
            return Engine::Plain(Box::new(Sim::new(plan, overview)));
        }
        let checker = options.verify.then(|| Checker::of(&plan));
        let watchers = watchers(&plan, options, checker);
        Engine::Watched(Box::new(Sim::new(reported_in_full(plan, &watchers), watchers)))
    }

    /// A drive in this state.
    pub fn with_drive(
        plan: Plan,
        drive: Drive,
        options: Options,
    ) -> Result<(Engine, Carried), DriveFault> {
        if !is_watched(&plan, &options) {
            let overview = overview(&plan, &options);
            return plain(plan, drive, overview);
        }
        let mut checker = None;
        if options.verify {
            // The checker trusts the state, so it is validated first.
            restore(&plan.geometry, plan.frontier_rules(), &plan.pools, drive.clone())?;
            checker = Some(Checker::with_drive(&plan, &drive));
        }
        let watchers = watchers(&plan, options, checker);
        watched(plan, drive, watchers)
    }

    /// Moves the drive to another plan, with its state or with a given one.
    pub fn hand_over(&mut self, plan: Plan, given: Option<Drive>) -> Result<Carried, DriveFault> {
        let (engine, carried) = match std::mem::replace(self, Engine::Gone) {
            Engine::Plain(sim) => {
                let (own, overview) = sim.into_drive();
                plain(plan, given.unwrap_or(own), overview)?
            }
            Engine::Watched(sim) => {
                let (own, watchers) = sim.into_drive();
                let watchers = moved(watchers, &plan, &own, given.as_ref());
                let drive = given.unwrap_or(own);
                match watchers {
                    Watchers::Parts(_, overview) if !plan.gc.cost.is_of_device() => {
                        plain(plan, drive, overview)?
                    }
                    watchers => watched(plan, drive, watchers)?,
                }
            }
            Engine::Gone => unreachable!("the drive of this session was taken out"),
        };
        *self = engine;
        Ok(carried)
    }

    /// Records the requests that are done from now on.
    pub fn attend(&mut self, attended: Attended) {
        let overview = match self {
            Engine::Plain(sim) => sim.watch(),
            Engine::Watched(sim) => sim.watch().overview_mut(),
            Engine::Gone => unreachable!("the drive of this session was taken out"),
        };
        overview.attended = Some(Box::new(attended));
    }

    /// A copy of the drive in its state, with everything under way; `None` if a watcher cannot be
    /// copied.
    pub fn copy(&self) -> Option<Engine> {
        match self {
            Engine::Plain(sim) => {
                live::copy(sim, Overview::is_copied).map(|sim| Engine::Plain(Box::new(sim)))
            }
            Engine::Watched(sim) => {
                live::copy(sim, Watchers::is_copied).map(|sim| Engine::Watched(Box::new(sim)))
            }
            Engine::Gone => None,
        }
    }

    /// Takes the drive out.
    pub fn into_drive(self) -> Drive {
        engine!(self, sim => sim.into_drive().0)
    }
}

/// Whether a run needs more than its overview. Where collections take another cost than that of
/// the device, operations have no length, and waits have no cause to name.
fn is_watched(plan: &Plan, options: &Options) -> bool {
    options.is_in_detail() || (options.blame && plan.gc.cost.is_of_device())
}

/// The watchers of a run.
fn watchers(plan: &Plan, options: Options, checker: Option<Checker>) -> Watchers {
    let overview = overview(plan, &options);
    if !options.is_in_detail() {
        return Watchers::Parts(Box::new(Blame::new(plan)), overview);
    }
    let reports_blame = options.blame || options.stories.is_some();
    // The operations of collections have no length there, and their waits no owner.
    let is_checked = options.verify && plan.gc.cost.is_of_device();
    let blocks_per_plane = plan.geometry.shape.blocks_per_plane;
    let Options { request_log, stories, timeline, .. } = options;
    Watchers::from(InDetail {
        checker,
        blame: (reports_blame || is_checked).then(|| Blame::new(plan)),
        reports_blame,
        job_log: options.job_log,
        per_request: PerRequest::new(request_log, stories, timeline, &plan.geometry),
        series: options.series.map(|request| Series::new(request, blocks_per_plane)),
        overview,
        listener: options.listener,
    })
}

/// The watchers of a drive that moves to this plan, with its own state or a given one.
fn moved(watchers: Watchers, plan: &Plan, own: &Drive, given: Option<&Drive>) -> Watchers {
    match watchers {
        Watchers::Parts(_, overview) => Watchers::Parts(Box::new(Blame::new(plan)), overview),
        Watchers::InDetail(mut watchers) => {
            let has_parts = plan.gc.cost.is_of_device() || watchers.reports_blame;
            watchers.blame = watchers.blame.filter(|_| has_parts);
            watchers.checker = watchers.checker.map(|checker| match given {
                None => checker.go_on_with(plan, own),
                Some(given) => Checker::with_drive(plan, given),
            });
            Watchers::InDetail(watchers)
        }
    }
}

/// A series, stories and a timeline must be notified when each copy ends, so collections do not run
/// as one event. That changes no result.
fn reported_in_full(plan: Plan, watchers: &Watchers) -> Plan {
    let needs_steps = watchers.in_detail().is_some_and(InDetail::needs_steps);
    Plan { coalesce: plan.coalesce && !needs_steps, ..plan }
}

/// Records the run over time, if that was requested.
fn overview(plan: &Plan, options: &Options) -> Overview {
    let geometry = &plan.geometry;
    let new = || Box::new(OverTime::new(geometry.planes, geometry.shape.blocks_per_plane));
    Overview { over_time: options.over_time.then(new), attended: None }
}

fn plain(plan: Plan, drive: Drive, overview: Overview) -> Result<(Engine, Carried), DriveFault> {
    let (sim, carried) = Sim::with_drive(plan, drive, overview)?;
    Ok((Engine::Plain(Box::new(sim)), carried))
}

fn watched(plan: Plan, drive: Drive, with: Watchers) -> Result<(Engine, Carried), DriveFault> {
    let (sim, carried) = Sim::with_drive(reported_in_full(plan, &with), drive, with)?;
    sim.audit();
    Ok((Engine::Watched(Box::new(sim)), carried))
}
