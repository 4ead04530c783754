//! State S0 with space: the most frequent case of a unit with preemption, without a view in memory.

use super::preemptive::Preemptive;
use super::view::{Choice, Turn, View};
use crate::ids::UnitId;

impl Preemptive {
    /// The next step of a free unit, in the most frequent case first.
    #[inline(always)]
    pub(super) fn next_or_without_job(
        &mut self,
        unit: UnitId,
        turn: &mut Turn,
        view: View<'_>,
    ) -> Choice {
        match self.without_job(unit, turn, &view) {
            Some(choice) => choice,
            // The view is moved, so that it is made in memory only here.
            None => self.next(unit, turn, &mut { view }),
        }
    }

    /// The next step of a unit without a collection whose planes need no space, so that nothing
    /// refuses a request: the most frequent case. `None` where more has to be asked.
    #[inline(always)]
    pub(super) fn without_job(
        &self,
        unit: UnitId,
        turn: &mut Turn,
        view: &View<'_>,
    ) -> Option<Choice> {
        if view.jobs[unit].is_open() || view.gc.has_needs(unit) || turn.at % 2 == 1 {
            return None;
        }
        if view.waiting.count(unit) == 0 {
            turn.at += 2;
            let works = turn.works_ahead && turn.at == 2;
            return Some(if works { Choice::TryBackground } else { Choice::Nothing });
        }
        let (op, list) = view.waiting.heads(unit).into_iter().flatten().next()?;
        let has_plane = !view.is_write(op)
            || !view.alloc.chooses_at_start() && view.ftl.host_has_room(view.waiting.op(op).plane);
        (turn.at == 0 && has_plane).then_some(Choice::Host(op, list))
    }
}
