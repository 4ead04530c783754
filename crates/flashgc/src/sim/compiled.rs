//! The entrances to a simulation, which are compiled with this crate.
//!
//! A generic function is compiled again by each crate that calls it. Those of [`Compiled`] are not
//! generic: tests, histories and examples link the loop that this crate has compiled.

use super::{Progress, Sim, SimError};
use crate::drive::{Carried, Drive, DriveFault};
use crate::plan::Plan;
use crate::verify::{Overview, Watch, Watchers};
use crate::workload::Source;

/// A watcher whose simulation is compiled here.
pub trait Compiled: Watch + Sized {
    /// [`Sim::new`].
    fn new(plan: Plan, watch: Self) -> Sim<Self>;

    /// [`Sim::with_drive`].
    fn with_drive(
        plan: Plan,
        drive: Drive,
        watch: Self,
    ) -> Result<(Sim<Self>, Carried), DriveFault>;

    /// [`Sim::run`].
    fn run(sim: &mut Sim<Self>, source: &mut dyn Source, budget: u64)
    -> Result<Progress, SimError>;
}

impl<W: Compiled> Sim<W> {
    /// A new drive, erased.
    pub fn new(plan: Plan, watch: W) -> Self {
        W::new(plan, watch)
    }

    /// A simulation of this plan on a drive in this state.
    pub fn with_drive(plan: Plan, drive: Drive, watch: W) -> Result<(Self, Carried), DriveFault> {
        W::with_drive(plan, drive, watch)
    }

    /// Runs at most `budget` events and requests that are issued, and returns how far the run is:
    /// requests that take no time advance no event.
    pub fn run(&mut self, source: &mut dyn Source, budget: u64) -> Result<Progress, SimError> {
        W::run(self, source, budget)
    }
}

macro_rules! compiled {
    ($($watch:ty),*) => {$(
        impl Compiled for $watch {
            #[inline(never)]
            fn new(plan: Plan, watch: Self) -> Sim<Self> {
                Sim::with_erased(plan, watch)
            }

            #[inline(never)]
            fn with_drive(
                plan: Plan,
                drive: Drive,
                watch: Self,
            ) -> Result<(Sim<Self>, Carried), DriveFault> {
                Sim::with_state(plan, drive, watch)
            }

            #[inline(never)]
            fn run(
                sim: &mut Sim<Self>,
                source: &mut dyn Source,
                budget: u64,
            ) -> Result<Progress, SimError> {
                sim.run_events(source, budget)
            }
        }
    )*};
}

compiled!(Overview, Watchers);
