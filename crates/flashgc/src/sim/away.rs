//! Copies to other units: the global form of collection (paper parallel-gc, section IV-E3).
//!
//! A step reads its pages together, each into a register of its own, and sends them out over the
//! bus. Each is then programmed in a plane of another unit: the one that host writes would take,
//! above its reserve. Where no other unit has room the page comes back to its own plane, whose
//! reserve holds the pages of any victim, so that one collection never depends on the progress of
//! another. The unit that collects stays blocked for the host, and may itself program pages from
//! other units.

use super::Sim;
use crate::collect::Stage;
use crate::flash::Op;
use crate::gc::CrossUnit;
use crate::ids::{PlaneId, UnitId};
use crate::owner::Owner;
use crate::verify::{Happened, Watch};

impl<W: Watch> Sim<W> {
    /// The plane that a page of this one goes to, in the same pool.
    pub(super) fn copy_target(&mut self, from: PlaneId) -> PlaneId {
        let own = self.plan.geometry.unit_of(from);
        let pool = self.plan.pools.of_plane(from);
        let best = self.alloc.best_plane(&self.plan, &self.ftl, pool, |plane| {
            self.plan.geometry.unit_of(plane) != own && self.takes_cross_unit(plane)
        });
        let Some(chosen) = best else { return from };
        self.alloc.has_chosen(&self.plan, chosen);
        chosen
    }

    /// Whether pages of other planes may come here. While the plane is collected its erased pages
    /// are for its own collection, which may have opened a block of the reserve.
    fn takes_cross_unit(&self, plane: PlaneId) -> bool {
        self.ftl.frontiers.copy_has_room(plane) && !self.gc.busy_planes[plane.index()]
    }

    /// The pages of a step were read: each goes to the unit that will program it.
    pub(super) fn send_step(&mut self, unit: UnitId) {
        let job = &mut self.jobs[unit];
        job.stage = Stage::Sending;
        job.away = job.step.len() as u32;
        let Some(from) = job.plane else { return };
        for at in 0..self.jobs[unit].step.len() {
            let copy = self.jobs[unit].step[at];
            let plane = self.copy_target(from);
            self.send(CrossUnit { job: unit, copy, plane });
        }
    }

    fn send(&mut self, cross_unit: CrossUnit) {
        let unit = self.plan.geometry.unit_of(cross_unit.plane);
        self.jobs.arrives(unit, cross_unit);
        self.alloc.one_more(unit);
        self.look_at(unit);
    }

    /// The next page that another unit's collection has sent here. One that finds its plane filled
    /// meanwhile goes elsewhere.
    #[cold]
    pub(super) fn next_cross_unit(&mut self, unit: UnitId) -> Option<CrossUnit> {
        while let Some(cross_unit) = self.jobs.next_arrival(unit) {
            self.alloc.one_less(unit);
            let from = self.jobs[cross_unit.job].plane.unwrap_or(cross_unit.plane);
            if cross_unit.plane == from || self.takes_cross_unit(cross_unit.plane) {
                return Some(cross_unit);
            }
            let plane = self.copy_target(from);
            self.send(CrossUnit { plane, ..cross_unit });
        }
        None
    }

    /// Programs a page of another unit's collection. It binds now, as a write of the host would.
    pub(super) fn start_cross_unit(&mut self, unit: UnitId, cross_unit: CrossUnit) {
        let CrossUnit { job, copy, plane } = cross_unit;
        self.jobs.programs(unit, cross_unit);
        self.bind_copy(job, copy, plane);
        self.ask_trigger(plane);
        let job = &self.jobs[job];
        let fills = self.prices.filled_by_copies(|| u32::from(job.fills_with(copy)));
        let to = std::iter::once(job.copies[copy].to);
        let phases = self.prices.programming(Op::Program, 1, to, fills);
        self.begin(unit, Owner::CrossUnit, phases);
    }

    /// A page from the collection of another unit is programmed; after the last page of a step that
    /// collection continues.
    pub(super) fn cross_unit_ended(&mut self, unit: UnitId) {
        let Some(cross_unit) = self.jobs.programmed(unit) else { return };
        let job = &mut self.jobs[cross_unit.job];
        job.moved += 1;
        job.away -= 1;
        job.wasted_open.retain(|&copy| copy as usize != cross_unit.copy);
        let fills = u64::from(job.fills_with(cross_unit.copy));
        let is_last = job.away == 0;
        if is_last {
            job.stage = Stage::Copying;
            job.steps += 1;
        }
        self.count_copies(1, fills);
        if is_last {
            self.look_at(cross_unit.job);
        }
    }

    /// Copies of this unit's collection whose program ends at this very instant, and how many of
    /// them filled a block.
    pub(super) fn cross_unit_ends_now(&self, unit: UnitId) -> (u64, u64) {
        let under_way = (0..self.plan.geometry.units).map(UnitId).filter_map(|at| {
            let cross_unit = self.jobs.programming(at)?;
            (cross_unit.job == unit && self.phase_ends_now(at)).then_some(cross_unit.copy)
        });
        let job = &self.jobs[unit];
        under_way.fold((0, 0), |(copies, fills), copy| {
            (copies + 1, fills + u64::from(job.fills_with(copy)))
        })
    }

    /// Whether the program of this copy, in whatever unit, ends at this very instant.
    pub(super) fn cross_unit_copy_ends_now(&self, unit: UnitId, copy: usize) -> bool {
        (0..self.plan.geometry.units).map(UnitId).any(|at| {
            let is_it = |cross_unit: CrossUnit| cross_unit.job == unit && cross_unit.copy == copy;
            self.jobs.programming(at).is_some_and(is_it) && self.phase_ends_now(at)
        })
    }

    /// An array worked for a collection, of this unit or of the one whose page it programs.
    #[inline(always)]
    pub(super) fn job_worked(&mut self, unit: UnitId, owner: Owner, ns: u64) {
        if owner == Owner::PreMigration {
            self.counters.background_busy_ns += ns;
            return;
        }
        self.counters.gc_busy_ns += ns;
        let job = match owner {
            Owner::CrossUnit => {
                self.jobs.programming(unit).map_or(unit, |cross_unit| cross_unit.job)
            }
            _ => unit,
        };
        self.jobs[job].busy_ns += ns;
    }

    /// Reports to the watcher which pages leave the plane.
    pub(super) fn tell_read_out(&mut self, unit: UnitId) {
        if !W::ACTIVE {
            return;
        }
        for at in 0..self.jobs[unit].step.len() {
            let job = &self.jobs[unit];
            let ppn = job.copies[job.step[at]].from;
            let lpn = self.ftl.map.lpn_of(ppn);
            self.tell(Happened::ReadOut { ppn, lpn });
        }
    }
}
