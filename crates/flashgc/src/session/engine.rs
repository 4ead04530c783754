//! The simulation of a session, with or without watchers, and the drive in it.

use super::Options;
use crate::drive::{restore, Carried, Drive, DriveFault};
use crate::plan::Plan;
use crate::sim::Sim;
use crate::verify::checker::{Checker, Promises};
use crate::verify::{Unwatched, Watchers};

/// The watched simulation is slower by much; most runs have no watcher.
pub(super) enum Engine {
    Plain(Box<Sim<Unwatched>>),
    Watched(Box<Sim<Watchers>>),
    /// Its drive was taken out.
    Gone,
}

/// The same for either engine.
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
        if !options.verify && options.job_log.is_none() {
            return Engine::Plain(Box::new(Sim::new(plan, Unwatched)));
        }
        let checker = options.verify.then(|| Checker::new(&plan.geometry, Promises::of(&plan)));
        let watchers = Watchers { checker, job_log: options.job_log };
        Engine::Watched(Box::new(Sim::new(plan, watchers)))
    }

    /// A drive in this state.
    pub fn with_drive(
        plan: Plan,
        drive: Drive,
        options: Options,
    ) -> Result<(Engine, Carried), DriveFault> {
        if !options.verify && options.job_log.is_none() {
            return plain(plan, drive);
        }
        let mut watchers = Watchers { checker: None, job_log: options.job_log };
        if options.verify {
            // The checker believes the state, so that it is looked at first.
            restore(&plan.geometry, plan.frontier_rules(), &plan.pools, drive.clone())?;
            watchers.checker = Some(Checker::with_drive(&plan, &drive));
        }
        watched(plan, drive, watchers)
    }

    /// Hands the drive over to another plan, with its state or with a given one.
    pub fn hand_over(&mut self, plan: Plan, given: Option<Drive>) -> Result<Carried, DriveFault> {
        let (engine, carried) = match std::mem::replace(self, Engine::Gone) {
            Engine::Plain(sim) => {
                let drive = given.unwrap_or_else(|| sim.into_drive().0);
                plain(plan, drive)?
            }
            Engine::Watched(sim) => {
                let (own, mut watchers) = sim.into_drive();
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

    /// Takes the drive out.
    pub fn into_drive(self) -> Drive {
        engine!(self, sim => sim.into_drive().0)
    }
}

fn plain(plan: Plan, drive: Drive) -> Result<(Engine, Carried), DriveFault> {
    let (sim, carried) = Sim::with_drive(plan, drive, Unwatched)?;
    Ok((Engine::Plain(Box::new(sim)), carried))
}

fn watched(plan: Plan, drive: Drive, with: Watchers) -> Result<(Engine, Carried), DriveFault> {
    let (sim, carried) = Sim::with_drive(plan, drive, with)?;
    sim.audit();
    Ok((Engine::Watched(Box::new(sim)), carried))
}
