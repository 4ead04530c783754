//! The simulation of a session, with or without watchers, and the drive in it.

use super::options::Options;
use crate::drive::{Carried, Drive, DriveFault, restore};
use crate::plan::Plan;
use crate::sim::{Sim, live};
use crate::stats::{OverTime, Series};
use crate::verify::attended::Attended;
use crate::verify::blame::Blame;
use crate::verify::checker::Checker;
use crate::verify::{Blamed, Overview, PerRequest, Watchers};

/// The watched simulation is slower by much; most runs have no watcher.
pub(super) enum Engine {
    Plain(Box<Sim<Overview>>),
    Blamed(Box<Sim<Blamed>>),
    Watched(Box<Sim<Watchers>>),
    /// Its drive was removed.
    Gone,
}

/// Evaluates an expression on the simulation of any engine.
macro_rules! engine {
    ($engine:expr, $sim:ident => $body:expr) => {
        match $engine {
            Engine::Plain($sim) => $body,
            Engine::Blamed($sim) => $body,
            Engine::Watched($sim) => $body,
            Engine::Gone => unreachable!("the drive of this session was taken out"),
        }
    };
}
pub(super) use engine;

impl Engine {
    /// An erased drive.
    pub fn new(plan: Plan, options: Options) -> Engine {
        if !options.is_watched() {
            let overview = overview(&plan, &options);
            return match options.blame && plan.gc.cost.is_of_device() {
                true => Engine::Blamed(Box::new(Sim::new(plan.clone(), blamed(&plan, overview)))),
                false => Engine::Plain(Box::new(Sim::new(plan, overview))),
            };
        }
        let checker = options.verify.then(|| Checker::of(&plan));
        let watchers = Watchers { checker, ..logs(&plan, options) };
        Engine::Watched(Box::new(Sim::new(told_in_full(plan, &watchers), watchers)))
    }

    /// A drive in this state.
    pub fn with_drive(
        plan: Plan,
        drive: Drive,
        options: Options,
    ) -> Result<(Engine, Carried), DriveFault> {
        if !options.is_watched() {
            let overview = overview(&plan, &options);
            return match options.blame && plan.gc.cost.is_of_device() {
                true => {
                    let blamed = blamed(&plan, overview);
                    with_blame(plan, drive, blamed)
                }
                false => plain(plan, drive, overview),
            };
        }
        let verify = options.verify;
        let mut watchers = logs(&plan, options);
        if verify {
            // The checker trusts the state, so it is validated first.
            restore(&plan.geometry, plan.frontier_rules(), &plan.pools, drive.clone())?;
            watchers.checker = Some(Checker::with_drive(&plan, &drive));
        }
        watched(plan, drive, watchers)
    }

    /// Moves the drive to another plan, with its state or with a given one.
    pub fn hand_over(&mut self, plan: Plan, given: Option<Drive>) -> Result<Carried, DriveFault> {
        let (engine, carried) = match std::mem::replace(self, Engine::Gone) {
            Engine::Plain(sim) => {
                let (own, overview) = sim.into_drive();
                plain(plan, given.unwrap_or(own), overview)?
            }
            Engine::Blamed(sim) => {
                let (own, Blamed { overview, .. }) = sim.into_drive();
                let drive = given.unwrap_or(own);
                if plan.gc.cost.is_of_device() {
                    let blamed = blamed(&plan, overview);
                    with_blame(plan, drive, blamed)?
                } else {
                    plain(plan, drive, overview)?
                }
            }
            Engine::Watched(sim) => {
                let (own, mut watchers) = sim.into_drive();
                let has_parts = plan.gc.cost.is_of_device() || watchers.reports_blame;
                watchers.blame = watchers.blame.filter(|_| has_parts);
                watchers.checker = watchers.checker.map(|checker| match &given {
                    None => checker.go_on_with(&plan, &own),
                    Some(given) => Checker::with_drive(&plan, given),
                });
                watched(plan, given.unwrap_or(own), watchers)?
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
            Engine::Blamed(sim) => &mut sim.watch().overview,
            Engine::Watched(sim) => &mut sim.watch().overview,
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
            Engine::Blamed(sim) => {
                let copy = live::copy(sim, |blamed| blamed.overview.is_copied());
                copy.map(|sim| Engine::Blamed(Box::new(sim)))
            }
            Engine::Watched(_) | Engine::Gone => None,
        }
    }

    /// Takes the drive out.
    pub fn into_drive(self) -> Drive {
        engine!(self, sim => sim.into_drive().0)
    }
}

/// The logs of a run.
fn logs(plan: &Plan, options: Options) -> Watchers {
    let blocks_per_plane = plan.geometry.shape.blocks_per_plane;
    let overview = overview(plan, &options);
    let series = options.series.map(|request| Series::new(request, blocks_per_plane));
    let reports_blame = options.blame || options.stories.is_some();
    // The operations of collections have no length there, and their waits no owner.
    let is_checked = options.verify && plan.gc.cost.is_of_device();
    let blame = (reports_blame || is_checked).then(|| blame(plan));
    Watchers {
        checker: None,
        blame,
        reports_blame,
        job_log: options.job_log,
        per_request: PerRequest::new(
            options.request_log,
            options.stories,
            options.timeline,
            &plan.geometry,
        ),
        series,
        overview,
        listener: options.listener,
    }
}

/// A series, stories and a timeline must be notified when each copy ends, so collections do not run
/// as one event. That changes no result.
fn told_in_full(plan: Plan, watchers: &Watchers) -> Plan {
    let needs_steps = watchers.per_request.as_ref().is_some_and(PerRequest::needs_steps);
    Plan { coalesce: plan.coalesce && watchers.series.is_none() && !needs_steps, ..plan }
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

fn blame(plan: &Plan) -> Blame {
    Blame::new(plan)
}

fn blamed(plan: &Plan, overview: Overview) -> Blamed {
    Blamed { blame: blame(plan), overview }
}

fn with_blame(plan: Plan, drive: Drive, blamed: Blamed) -> Result<(Engine, Carried), DriveFault> {
    let (sim, carried) = Sim::with_drive(plan, drive, blamed)?;
    Ok((Engine::Blamed(Box::new(sim)), carried))
}

fn watched(plan: Plan, drive: Drive, with: Watchers) -> Result<(Engine, Carried), DriveFault> {
    let (sim, carried) = Sim::with_drive(told_in_full(plan, &with), drive, with)?;
    sim.audit();
    Ok((Engine::Watched(Box::new(sim)), carried))
}
