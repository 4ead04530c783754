//! What a free unit does next: collection to its end, or with requests that preempt it.
//!
//! The order is chosen once per run. An arbiter reads the rooms through a [`View`] and answers with
//! a [`Choice`]; it starts nothing. A choice that may come to nothing (a collection without
//! a victim) is a try: the caller asks again with the same [`Turn`], which continues behind it.

mod admission;
mod facade;
mod pacing;
mod plane_reads;
mod preemptive;
mod run_to_end;
mod suspension;
mod time_slices;
mod tokens;
mod told;
mod unseen;
mod view;
mod without_job;

pub use suspension::Interrupt;
pub use view::{Choice, Turn, View};

use crate::ids::UnitId;
use crate::plan::Plan;
use preemptive::Preemptive;

/// Who decides what a free unit does next.
#[derive(Clone)]
pub enum Arbiter {
    /// A collection runs to its end.
    RunToEnd,
    /// Requests may preempt it.
    Preemptive(Box<Preemptive>),
}

impl Arbiter {
    /// The arbiter of a plan, and whether copies that no request can preempt run unseen.
    pub fn new(plan: &Plan, runs_unseen: bool) -> Self {
        match plan.gc.preemption {
            None => Arbiter::RunToEnd,
            Some(rules) => Arbiter::Preemptive(Box::new(Preemptive::new(rules, plan, runs_unseen))),
        }
    }

    /// The next step of a free unit.
    #[inline(always)]
    pub fn next(&mut self, unit: UnitId, turn: &mut Turn, view: View<'_>) -> Choice {
        match self {
            Arbiter::RunToEnd => run_to_end::next(unit, turn, &mut { view }),
            Arbiter::Preemptive(preemptive) => match preemptive.without_job(unit, turn, &view) {
                Some(choice) => choice,
                // The view is moved, so that it is made in memory only here.
                None => preemptive.next(unit, turn, &mut { view }),
            },
        }
    }

    /// The next step of a unit if the operation of the host that it is at ended now. Where requests
    /// may preempt collections it is known only while there is none.
    pub fn next_after_host(&self, unit: UnitId, view: View<'_>) -> Option<Choice> {
        let turn = &mut Turn::default();
        match self {
            Arbiter::RunToEnd => Some(run_to_end::next(unit, turn, &mut { view })),
            Arbiter::Preemptive(preemptive) => preemptive.without_job(unit, turn, &view),
        }
    }

    /// The list whose reads may begin in parallel with those of other planes of the unit, if the
    /// next step of the unit would be one of them.
    pub fn reads_beside(&mut self, unit: UnitId, view: View<'_>) -> Option<u8> {
        let view = &mut { view };
        let (op, list) = match self {
            Arbiter::RunToEnd => match run_to_end::next(unit, &mut Turn::default(), view) {
                Choice::Host(op, list) => (op, list),
                _ => return None,
            },
            Arbiter::Preemptive(preemptive) => preemptive.entrant_beside(unit, view)?,
        };
        view.waiting.op(op).kind.is_read().then_some(list)
    }

    /// The rules and state of preemption, where there is any.
    #[inline(always)]
    fn preemptive(&mut self) -> Option<&mut Preemptive> {
        match self {
            Arbiter::RunToEnd => None,
            Arbiter::Preemptive(preemptive) => Some(preemptive),
        }
    }

    /// Whether requests may preempt a collection.
    #[inline(always)]
    pub fn is_preemptive(&self) -> bool {
        matches!(self, Arbiter::Preemptive(_))
    }

    /// Whether a unit's collection has a suspended operation.
    #[inline(always)]
    pub fn is_suspended(&self, unit: UnitId) -> bool {
        match self {
            Arbiter::RunToEnd => false,
            Arbiter::Preemptive(preemptive) => preemptive.units[unit.index()].suspended.is_some(),
        }
    }
}
