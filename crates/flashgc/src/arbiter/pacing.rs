//! Point B where collections are spread over time: in time slices, or by tokens.

use super::preemptive::Preemptive;
use super::view::{Choice, View};
use crate::gc::Space;
use crate::ids::{PlaneId, UnitId};

impl Preemptive {
    /// The next step between copies, if the pacing decides it; `None` where the collection may
    /// continue.
    pub(super) fn next_as_paced(&mut self, unit: UnitId, view: &mut View<'_>) -> Option<Choice> {
        if let Some(slices) = &mut self.slices {
            return (!slices.goes_on(unit, view)).then(|| self.next_between_slices(unit, view));
        }
        if !self.is_unpaid(unit, view) {
            return None;
        }
        if let Some((op, list)) = self.entrant(unit, view) {
            return Some(Choice::Host(op, list));
        }
        if !self.request_waits(unit, view) {
            return Some(Choice::Nothing);
        }
        self.tokens.as_mut()?.force(unit);
        let mut heads = view.waiting.heads(unit).into_iter().flatten();
        let refused = heads.find(|&(op, _)| view.is_write(op));
        Some(refused.map_or(Choice::Step, |(op, _)| Choice::StepFor(op)))
    }

    /// A time slice is over: the next one, a request, or neither.
    fn next_between_slices(&mut self, unit: UnitId, view: &mut View<'_>) -> Choice {
        let Some(slices) = &mut self.slices else { return Choice::Step };
        if slices.follows(unit, view) {
            return Choice::Step;
        }
        if let Some((op, list)) = self.entrant(unit, view) {
            return Choice::Host(op, list);
        }
        let waits = self.request_waits(unit, view);
        let Some(slices) = &mut self.slices else { return Choice::Step };
        if slices.fills_gap(unit, waits, view) { Choice::Step } else { Choice::Nothing }
    }

    /// Whether a request that may not preempt waits for this collection, or for the space that it
    /// frees.
    fn request_waits(&self, unit: UnitId, view: &View<'_>) -> bool {
        let has_aside = !self.units[unit.index()].aside.is_empty();
        view.waiting.count(unit) > 0 || view.is_starving || has_aside || view.awaits_pages(unit)
    }

    /// Whether the open collection may not continue before the host has paid for it.
    pub(super) fn is_unpaid(&mut self, unit: UnitId, view: &mut View<'_>) -> bool {
        self.tokens.as_mut().is_some_and(|tokens| !tokens.owes(unit, view))
    }

    /// Whether a write waits for the copies that are paid.
    pub(super) fn is_paid(&mut self, unit: UnitId, view: &mut View<'_>) -> bool {
        self.tokens.as_mut().is_some_and(|tokens| tokens.owes(unit, view))
    }

    /// The host has written a page in a unit.
    pub(super) fn wrote(&mut self, unit: UnitId, is_moving: bool) {
        if let Some(tokens) = &mut self.tokens {
            tokens.wrote(unit, is_moving);
        }
    }
}

impl View<'_> {
    /// Whether writes wait for pages that the collection of this unit frees, where they get them
    /// before they are queued.
    #[inline]
    pub(crate) fn awaits_pages(&self, unit: UnitId) -> bool {
        let has_none = |plane| {
            !self.ftl.host_has_room(plane) || self.gc.refuses_pages(&self.plan.gc, self.ftl, plane)
        };
        self.alloc.stripes.has_waiting() && self.jobs[unit].plane().is_some_and(has_none)
    }

    /// Whether a plane of the unit is short of space. A unit that has a part of a collection may
    /// have no other plane than that one.
    #[inline(always)]
    pub(super) fn is_short(&self, unit: UnitId, space: &Space) -> bool {
        let is_short = |&plane: &PlaneId| space.is_short(self.ftl, plane, false);
        match self.plan.geometry.planes_of(unit) {
            [] => self.jobs[unit].plane().as_ref().is_some_and(is_short),
            planes => planes.iter().any(is_short),
        }
    }
}
