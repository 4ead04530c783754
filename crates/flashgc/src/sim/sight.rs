//! Copies that run unseen (`collect/unseen.rs`) come into sight: their state matters now.

use super::Sim;
use crate::collect::{Progress, Work};
use crate::ids::{Lpn, Ppn, UnitId};
use crate::owner::Owner;
use crate::verify::Watch;

impl<W: Watch> Sim<W> {
    /// The state of a unit's collection matters.
    #[inline]
    pub(super) fn look_into(&mut self, unit: UnitId) {
        if self.jobs[unit].is_unseen() {
            self.catch_up(unit);
        }
    }

    #[inline(never)]
    fn catch_up(&mut self, unit: UnitId) {
        let progress = self.jobs.unseen_by(unit, self.now_ns, self.events.last_place());
        self.catch_up_to(unit, progress);
    }

    #[inline(never)]
    pub(super) fn catch_up_to(&mut self, unit: UnitId, progress: Progress) {
        self.count_unseen(unit, progress.before);
        let command = collecting!(self).catch_up(unit, progress);
        self.flash.becomes(unit, command, &mut self.events);
        self.arbiter.caught_up(unit, progress, &mut self.counters);
    }

    /// The array and the bus of a unit worked for copies that ran unseen.
    pub(super) fn count_unseen(&mut self, unit: UnitId, work: Work) {
        self.jobs.worked(unit, Owner::Collection, work.array_ns, &mut self.counters);
        self.flash.has_sent(unit, work.bus_ns);
    }

    /// The state of the whole drive matters. Returns whether any copies ran unseen.
    #[inline(never)]
    pub(super) fn look_into_all(&mut self) -> bool {
        let is_any = self.jobs.unseen(0).is_some();
        while let Some(unit) = self.jobs.unseen(0) {
            self.catch_up(unit);
        }
        is_any
    }

    /// A page is about to be trimmed or rewritten, which may be one that a collection moves.
    #[inline(always)]
    pub(super) fn look_into_page(&mut self, lpn: Lpn) {
        if self.jobs.unseen(0).is_some() {
            self.look_into_moves_of(self.store.ftl.map.ppn_of(lpn));
        }
    }

    #[inline(never)]
    fn look_into_moves_of(&mut self, page: Ppn) {
        if !page.is_some() {
            return;
        }
        let geometry = &self.plan.geometry;
        let unit = geometry.unit_of_page(page);
        let job = &self.jobs[unit];
        let moves = || job.victims().iter().any(|it| it.block == geometry.block_of(page));
        if job.is_unseen() && moves() {
            self.catch_up(unit);
        }
    }

    /// A unit begins a command, which may use its bus: the collection of another unit may have the
    /// bus to itself.
    #[inline(always)]
    pub(super) fn look_into_bus(&mut self, unit: UnitId) {
        if self.switches.shares_bus_unseen && self.jobs.unseen(0).is_some() {
            self.look_into_others(unit);
        }
    }

    #[inline(never)]
    fn look_into_others(&mut self, unit: UnitId) {
        let bus = self.plan.geometry.bus_of(unit);
        let mut at = 0;
        while let Some(other) = self.jobs.unseen(at) {
            match other != unit && self.plan.geometry.bus_of(other) == bus {
                true => self.catch_up(other),
                false => at += 1,
            }
        }
    }
}
