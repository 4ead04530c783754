//! When an operation of the collection gives way in the middle (paper preemptible-gc, section IV).
//!
//! One operation of a unit is suspended at a time; it keeps its page buffer, and an operation in
//! between uses a second one.

use super::preemptive::{Preemptive, is_in_register};
use super::view::View;
use crate::collect::Stage;
use crate::flash::Kind;
use crate::gc::Suspends;
use crate::ids::UnitId;
use crate::owner::Owner;
use crate::plan::{Plan, READS};

/// What a unit does at once for a request that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interrupt {
    /// The request waits.
    None,
    /// The collection's operation is suspended.
    Suspend,
    /// The program of the host is suspended.
    SuspendProgram,
    /// The request is answered from the page buffer, in parallel with the operation.
    Answer,
}

impl Preemptive {
    /// A request has come to a unit. Table III: a read whose page is in the page buffer suspends
    /// nothing.
    pub(super) fn request_came(&mut self, unit: UnitId, op: u32, view: &mut View<'_>) -> Interrupt {
        let collects = view.flash.owner(unit) == Some(Owner::Collection);
        let is_held = self.rules.suspends == Suspends::Any
            && collects
            && !view.is_write(op)
            && is_in_register(unit, op, view);
        if !is_held {
            return self.may_interrupt(unit, view);
        }
        let is_free = view.flash.second(unit).is_none();
        let is_first = view.waiting.peek(unit, READS) == Some(op);
        let in_array = view.flash.phase(unit).is_some_and(|phase| !phase.kind.is_on_bus());
        // The controller has the data of a program in two passes, and needs no register.
        let can_answer = view.plan.timing.passes.is_some() || is_free && in_array;
        match view.jobs[unit].stage() {
            // It is served when the page is in the register.
            Stage::Reading => Interrupt::None,
            Stage::Programming if is_first && can_answer => Interrupt::Answer,
            _ => self.may_interrupt(unit, view),
        }
    }

    /// Whether the collection's operation is suspended: a request may preempt, and the operation
    /// may be suspended.
    pub(super) fn may_interrupt(&mut self, unit: UnitId, view: &mut View<'_>) -> Interrupt {
        let suspends = self.rules.suspends;
        let collects = view.flash.owner(unit) == Some(Owner::Collection);
        if !collects || suspends == Suspends::Nothing || view.waiting.count(unit) == 0 {
            return Interrupt::None;
        }
        let may = match view.jobs[unit].stage() {
            Stage::Erasing => true,
            Stage::Reading | Stage::Programming => suspends == Suspends::Any,
            _ => false,
        };
        if may
            && self.may_be_suspended(unit, view)
            && let Some((op, _)) = self.entrant(unit, view)
            && would_go_before(unit, op, view)
        {
            return Interrupt::Suspend;
        }
        Interrupt::None
    }

    /// Whether the operation under way can be suspended now.
    fn may_be_suspended(&self, unit: UnitId, view: &View<'_>) -> bool {
        let left_ns = view.flash.left_ns(unit, view.now_ns);
        let resumes = view.flash.phase(unit).is_some_and(|phase| phase.kind == Kind::Switch);
        !resumes && left_ns.is_some_and(|left_ns| self.would_suspend(unit, left_ns, view.plan))
    }

    /// Whether an operation in the array that has this time left can be suspended.
    pub(super) fn would_suspend(&self, unit: UnitId, left_ns: u64, plan: &Plan) -> bool {
        let Some(cost) = plan.timing.suspend else { return false };
        let is_worth_it = !self.rules.worth_it || left_ns > cost.suspend_ns + cost.resume_ns;
        let suspends = self.units[unit.index()].suspends;
        left_ns > 0 && is_worth_it && suspends < self.rules.most_suspends
    }
}

/// Whether a preempting request would be served before the operation continues: a read of a page
/// that is being read into the register waits for it.
fn would_go_before(unit: UnitId, op: u32, view: &View<'_>) -> bool {
    let reads = view.jobs[unit].stage() == Stage::Reading;
    view.is_write(op) || !reads || !is_in_register(unit, op, view)
}
