//! What a free unit does next: collection to its end, or with requests that preempt it.
//!
//! The order is chosen once per run. An arbiter reads the rooms through a [`View`] and answers with
//! a [`Choice`]; it starts nothing. A choice that may come to nothing (a collection without
//! a victim) is a try: the caller asks again with the same [`Turn`], which continues behind it.

mod admission;
mod facade;
mod notices;
mod pacing;
mod plane_reads;
mod preemptive;
mod programs;
mod run_to_end;
mod suspension;
mod time_slices;
mod tokens;
mod unseen;
mod view;
mod without_job;

pub use suspension::Interrupt;
pub use view::{Choice, Turn, View};

use crate::ids::{Ppn, UnitId};
use crate::plan::Plan;
use preemptive::Preemptive;
use programs::Programs;

/// Who decides what a free unit does next.
#[derive(Clone)]
pub enum Arbiter {
    /// A collection runs to its end.
    RunToEnd,
    /// The same, where it may have its bus to itself.
    AloneAtBus,
    /// Requests may preempt it.
    Preemptive(Box<Preemptive>),
    /// One of the two, on a device that suspends programs of the host for reads.
    Programs(Box<Programs>),
}

impl Arbiter {
    /// The arbiter of a plan, and whether copies that no request can preempt run unseen.
    pub fn new(plan: &Plan, runs_unseen: bool) -> Self {
        let rules = plan.gc.preemption;
        let preemptive = rules.map(|it| Box::new(Preemptive::new(it, plan, runs_unseen)));
        match (plan.suspends_programs(), preemptive) {
            (true, preemptive) => Arbiter::Programs(Box::new(Programs::new(preemptive, plan))),
            (false, Some(preemptive)) => Arbiter::Preemptive(preemptive),
            (false, None) if runs_unseen => Arbiter::AloneAtBus,
            (false, None) => Arbiter::RunToEnd,
        }
    }

    /// The next step of a free unit.
    #[inline(always)]
    pub fn next(&mut self, unit: UnitId, turn: &mut Turn, view: View<'_>) -> Choice {
        match self {
            Arbiter::RunToEnd => run_to_end::next(unit, turn, &mut { view }),
            Arbiter::AloneAtBus => unseen::next_alone(unit, turn, &mut { view }),
            Arbiter::Preemptive(preemptive) => preemptive.next_or_without_job(unit, turn, view),
            Arbiter::Programs(programs) => programs.next(unit, turn, view),
        }
    }

    /// The next step of a unit if the operation of the host that it is at ended now. Where requests
    /// may preempt collections it is known only while there is none, or a program is suspended.
    pub fn next_after_host(&mut self, unit: UnitId, view: View<'_>) -> Option<Choice> {
        let (turn, view) = (&mut Turn::new(false), &mut { view });
        if let Some(choice) = self.next_while_suspended(unit, view) {
            return Some(choice);
        }
        match self.preemptive() {
            None => Some(run_to_end::next(unit, turn, view)),
            Some(preemptive) => preemptive.without_job(unit, turn, view),
        }
    }

    /// The next step of a unit in which a program of the host is suspended.
    fn next_while_suspended(&mut self, unit: UnitId, view: &mut View<'_>) -> Option<Choice> {
        let programs = self.programs().filter(|programs| programs.is_suspended(unit))?;
        Some(programs.next_while_suspended(unit, view))
    }

    /// The list whose reads may begin in parallel with those of other planes of the unit, if the
    /// next step of the unit would be one of them.
    pub fn reads_beside(&mut self, unit: UnitId, view: View<'_>) -> Option<u8> {
        let view = &mut { view };
        let (op, list) = match (self.next_while_suspended(unit, view), self.preemptive()) {
            (None, Some(preemptive)) => preemptive.entrant_beside(unit, view)?,
            (choice, _) => {
                let turn = &mut Turn::new(false);
                match choice.unwrap_or_else(|| run_to_end::next(unit, turn, view)) {
                    Choice::Host(op, list) => (op, list),
                    _ => return None,
                }
            }
        };
        view.waiting.op(op).kind.is_read().then_some(list)
    }

    /// The rules and state of preemption, where there is any.
    #[inline(always)]
    fn preemptive(&mut self) -> Option<&mut Preemptive> {
        match self {
            Arbiter::RunToEnd | Arbiter::AloneAtBus => None,
            Arbiter::Preemptive(preemptive) => Some(preemptive),
            Arbiter::Programs(programs) => programs.preemptive.as_deref_mut(),
        }
    }

    /// The state of programs of the host, where reads suspend them.
    #[inline(always)]
    fn programs(&mut self) -> Option<&mut Programs> {
        match self {
            Arbiter::RunToEnd | Arbiter::AloneAtBus | Arbiter::Preemptive(_) => None,
            Arbiter::Programs(programs) => Some(programs),
        }
    }

    /// Whether most of its questions need no view in memory.
    #[inline(always)]
    pub fn keeps_its_view(&self) -> bool {
        !matches!(self, Arbiter::Programs(_))
    }

    /// Whether requests may preempt a collection.
    #[inline(always)]
    pub fn is_preemptive(&self) -> bool {
        match self {
            Arbiter::RunToEnd | Arbiter::AloneAtBus => false,
            Arbiter::Preemptive(_) => true,
            Arbiter::Programs(programs) => programs.preemptive.is_some(),
        }
    }

    /// Whether a request that comes may interrupt what its unit does.
    #[inline(always)]
    pub fn may_interrupt_units(&self) -> bool {
        !matches!(self, Arbiter::RunToEnd | Arbiter::AloneAtBus)
    }

    /// Whether reads suspend programs of the host.
    #[inline(always)]
    pub fn suspends_programs(&self) -> bool {
        matches!(self, Arbiter::Programs(_))
    }

    /// Whether an operation of a unit is suspended: one of its collection, or a program of the
    /// host.
    #[inline(always)]
    pub fn is_suspended(&self, unit: UnitId) -> bool {
        let is_of_job = |it: &Preemptive| it.units[unit.index()].suspended.is_some();
        match self {
            Arbiter::RunToEnd | Arbiter::AloneAtBus => false,
            Arbiter::Preemptive(preemptive) => is_of_job(preemptive),
            Arbiter::Programs(programs) => {
                programs.is_suspended(unit) || programs.preemptive.as_deref().is_some_and(is_of_job)
            }
        }
    }

    /// Whether a page can be read only after the program of the host that is suspended in a unit.
    #[inline]
    pub fn awaits_suspended(&self, unit: UnitId, page: Ppn, plan: &Plan) -> bool {
        match self {
            Arbiter::Programs(programs) => programs.keeps_out(unit, page, plan),
            _ => false,
        }
    }
}
