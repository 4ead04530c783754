//! What open collections have done by now, for results that include the work under way.

use super::{Job, Jobs, Stage};
use crate::flash::{Class, Flash, Prices};
use crate::gc::CrossUnit;
use crate::ids::UnitId;
use crate::owner::Owner;
use crate::plan::Plan;

/// The moment at which work under way is counted.
#[derive(Clone, Copy)]
pub struct At<'a> {
    /// The plan.
    pub plan: &'a Plan,
    /// The moment, in ns.
    pub now_ns: u64,
    /// What units work on.
    pub flash: &'a Flash<Owner>,
    /// What operations cost.
    pub prices: &'a Prices,
}

/// Work of collections that have not ended, as far as it has been done.
#[derive(Clone, Copy, Debug, Default)]
pub struct Partial {
    /// Copies that ended and are not counted yet.
    pub copies: u64,
    /// Blocks that they filled.
    pub fills: u64,
    /// Copies that were for nothing, and ended.
    pub wasted: u64,
    /// Array time of operations that have not ended, in ns.
    pub array_ns: u64,
    /// Array time of all open collections, that of ended operations included, in ns.
    pub open_ns: u64,
    /// Time for which open collections have blocked the host, in ns.
    pub blocking_ns: u64,
}

impl At<'_> {
    /// All units.
    pub fn units(&self) -> impl Iterator<Item = UnitId> + use<> {
        (0..self.plan.geometry.units).map(UnitId)
    }

    /// Whether the last phase of a collection's operation ends at this very moment.
    pub fn phase_ends_now(&self, unit: UnitId) -> bool {
        // Polling the queue, or a suspension, ends no operation.
        let owner = self.flash.owner(unit);
        let works =
            matches!(owner, Some(Owner::Collection | Owner::CrossUnit | Owner::Background(_)));
        works && self.flash.ends_at(unit, self.now_ns)
    }

    fn copies_made(&self, job: &Job) -> usize {
        job.copies_made(self.prices, self.plan.copies_at_once(), self.now_ns)
    }
}

impl Jobs {
    /// The work of all open collections.
    pub fn partial(&self, at: &At<'_>) -> Partial {
        let mut partial = Partial::default();
        let preempts = at.plan.gc.preemption.is_some();
        for unit in at.units() {
            let Some(owner) = at.flash.owner(unit) else { continue };
            if owner.class() == Class::Host || matches!(owner, Owner::Background(_)) {
                continue;
            }
            if preempts {
                partial.blocking_ns += at.now_ns - at.flash.since_ns(unit);
            }
            if let Some(since_ns) = at.flash.collects_since_ns(unit) {
                let ns = at.now_ns - since_ns;
                partial.array_ns += ns;
                partial.open_ns += if self[self.works_for(unit, owner)].is_open() { ns } else { 0 };
            }
        }
        for unit in at.units().filter(|&unit| self[unit].is_open()) {
            self.add_partial(unit, at, &mut partial);
            if !preempts && self[unit].is_its_own() {
                partial.blocking_ns += at.now_ns - self[unit].batch.blocking_since_ns;
            }
        }
        partial
    }

    fn add_partial(&self, unit: UnitId, at: &At<'_>, partial: &mut Partial) {
        let job = &self[unit];
        if job.stage == Stage::Whole {
            let made = at.copies_made(job);
            partial.copies += made as u64;
            partial.fills += job.fills.iter().filter(|&&at| (at as usize) < made).count() as u64;
        }
        // A copy that ends at this very instant has ended, whether or not its event is due behind
        // the one that ended the run.
        let is_local = !at.plan.gc.copy.is_sent();
        let programs = matches!(job.stage, Stage::Copying | Stage::Programming);
        if programs && is_local && at.phase_ends_now(unit) {
            partial.copies += job.step.copies.len() as u64;
            partial.fills += u64::from(job.fills_of_step());
        }
        for copy in self.arrivals_that_end_now(unit, at) {
            partial.copies += 1;
            partial.fills += u64::from(job.fills_with(copy));
        }
        partial.open_ns += job.record.busy_ns;
        // A copy that has not ended does not count yet, and so it does not count as wasted.
        let is_open = |&&copy: &&u32| self.is_copy_open(unit, copy as usize, at);
        let open = job.wasted_open.iter().filter(is_open).count();
        partial.wasted += u64::from(job.record.wasted) - open as u64;
    }

    /// Whether a copy whose page was lost has not ended.
    fn is_copy_open(&self, unit: UnitId, copy: usize, at: &At<'_>) -> bool {
        let job = &self[unit];
        match job.stage {
            Stage::Whole => copy >= at.copies_made(job),
            Stage::Copying | Stage::Programming | Stage::Erasing if job.fixed => {
                copy >= at.copies_made(job)
            }
            Stage::Copying | Stage::Programming => !at.phase_ends_now(unit),
            Stage::Sending => !self.arrivals_that_end_now(unit, at).any(|ends| ends == copy),
            _ => false,
        }
    }

    /// Copies of this unit's collection whose program in another unit ends at this very moment.
    fn arrivals_that_end_now(&self, unit: UnitId, at: &At<'_>) -> impl Iterator<Item = usize> {
        at.units().filter_map(move |other| {
            let CrossUnit { job, copy, .. } = self.programming(other)?;
            (job == unit && at.phase_ends_now(other)).then_some(copy)
        })
    }
}
