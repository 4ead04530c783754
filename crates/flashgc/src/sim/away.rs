//! Copies to other units: the global form of collection (paper parallel-gc, section IV-E3).
//!
//! A step reads its pages together, each into a register of its own, and sends them out over the
//! bus. Each is then programmed in a plane of another unit: the one that host writes would take,
//! above its reserve. Where no other unit has room the page comes back to its own plane, whose
//! reserve holds the pages of any victim, so that no job depends on another's progress. The unit
//! that collects stays closed to the host, and may itself program what others send.

use super::Sim;
use crate::device::Worker;
use crate::ftl::{Parity, Stream};
use crate::gc::job::Stage;
use crate::gc::Inbound;
use crate::ids::{BlockId, PlaneId, UnitId};
use crate::verify::{Cause, Happened, Watch};

impl<W: Watch> Sim<W> {
    /// The plane that a page of this one goes to, in the same pool.
    pub(super) fn copy_target(&mut self, from: PlaneId) -> PlaneId {
        let own = self.plan.geometry.unit_of(from);
        let pool = self.plan.pools.of_plane(from);
        let best = self.best_plane(pool, |_, plane| {
            self.plan.geometry.unit_of(plane) != own && self.takes_inbound(plane)
        });
        let Some(chosen) = best else { return from };
        self.has_chosen(chosen);
        chosen
    }

    /// Whether pages of other planes may come here. While a job works on the plane its erased
    /// pages are for that job: it may have opened a block of the reserve.
    fn takes_inbound(&self, plane: PlaneId) -> bool {
        self.ftl.frontiers.copy_has_room(plane) && !self.gc.busy_planes[plane.index()]
    }

    /// Moves every listed page of the victim to other units, untimed.
    #[cold]
    pub(super) fn move_away(&mut self, plane: PlaneId, victim: BlockId) {
        self.ftl.blocks.clear_valid(victim);
        for at in 0..self.scratch.len() {
            let from = self.scratch[at];
            let plane = self.copy_target(plane);
            let taken = self.take_page(plane, Stream::Gc, Parity::Any);
            let lpn = self.ftl.map.lpn_of(from);
            self.ftl.bind(&self.plan.geometry, lpn, taken.ppn);
            let (ppn, cause) = (taken.ppn, Cause::Copy { from });
            self.tell(Happened::Programmed { ppn, lpn, cause, current: true });
            self.seal_if_filled(plane, taken);
        }
    }

    /// The pages of a step were read: each goes to the unit that will program it.
    pub(super) fn send_step(&mut self, unit: UnitId) {
        let job = &mut self.gc.jobs[unit.index()];
        job.stage = Stage::Sending;
        job.away = job.step.len() as u32;
        let Some(from) = job.plane else { return };
        for at in 0..self.gc.jobs[unit.index()].step.len() {
            let copy = self.gc.jobs[unit.index()].step[at];
            let plane = self.copy_target(from);
            self.send(Inbound { job: unit, copy, plane });
        }
    }

    fn send(&mut self, inbound: Inbound) {
        let unit = self.plan.geometry.unit_of(inbound.plane);
        self.gc.inbound[unit.index()].push_back(inbound);
        self.units[unit.index()].inbound += 1;
        self.loads[unit.index()] += 1;
        self.look_at(unit);
    }

    /// The next page that another unit's job has sent here. One that finds its plane filled
    /// meanwhile goes elsewhere.
    #[cold]
    pub(super) fn next_inbound(&mut self, unit: UnitId) -> Option<Inbound> {
        while let Some(inbound) = self.gc.inbound[unit.index()].pop_front() {
            self.units[unit.index()].inbound -= 1;
            self.loads[unit.index()] -= 1;
            let from = self.gc.jobs[inbound.job.index()].plane.unwrap_or(inbound.plane);
            if inbound.plane == from || self.takes_inbound(inbound.plane) {
                return Some(inbound);
            }
            let plane = self.copy_target(from);
            self.send(Inbound { plane, ..inbound });
        }
        None
    }

    /// Programs a page of another unit's job. It binds now, as a write of the host would.
    pub(super) fn start_inbound(&mut self, unit: UnitId, inbound: Inbound) {
        let Inbound { job, copy, plane } = inbound;
        self.gc.programming[unit.index()] = Some(inbound);
        self.bind_copy(job, copy, plane);
        self.ask_trigger(plane);
        let mut phases = self.recipes.program[0];
        if let Some(layers) = &self.recipes.layers {
            let to = self.gc.jobs[job.index()].copies[copy].to;
            phases.set_array(0, layers.program_ns(to));
        }
        let fills = self.gc.jobs[job.index()].fills_with(copy);
        if fills && self.plan.timing.times_summaries_of_copies() {
            self.plan.timing.add_summaries(&mut phases, 1);
        }
        self.begin(unit, Worker::Inbound, phases);
    }

    /// A page of another unit's job is programmed; with the last of a step that job goes on.
    pub(super) fn inbound_ended(&mut self, unit: UnitId) {
        let Some(inbound) = self.gc.programming[unit.index()].take() else { return };
        let job = &mut self.gc.jobs[inbound.job.index()];
        job.moved += 1;
        job.away -= 1;
        job.wasted_open.retain(|&copy| copy as usize != inbound.copy);
        let fills = u64::from(job.fills_with(inbound.copy));
        self.counters.gc_moved += 1;
        self.counters.overhead += fills * u64::from(self.plan.geometry.shape.summary_pages);
        if job.away == 0 {
            job.stage = Stage::Copying;
            job.steps += 1;
            self.look_at(inbound.job);
        }
    }

    /// Copies of this unit's job whose program ends at this very instant, and how many of them
    /// filled a block.
    pub(super) fn inbound_ends_now(&self, unit: usize) -> (u64, u64) {
        let under_way = (0..self.units.len()).filter_map(|at| {
            let inbound = self.gc.programming[at].as_ref()?;
            (inbound.job.index() == unit && self.phase_ends_now(at)).then_some(inbound.copy)
        });
        let job = &self.gc.jobs[unit];
        under_way.fold((0, 0), |(copies, fills), copy| {
            (copies + 1, fills + u64::from(job.fills_with(copy)))
        })
    }

    /// Whether the program of this copy, in whatever unit, ends at this very instant.
    pub(super) fn inbound_copy_ends_now(&self, unit: usize, copy: usize) -> bool {
        (0..self.units.len()).any(|at| {
            let is_it = |inbound: &Inbound| inbound.job.index() == unit && inbound.copy == copy;
            self.gc.programming[at].as_ref().is_some_and(is_it) && self.phase_ends_now(at)
        })
    }

    /// An array worked for a job, of this unit or of the one whose page it programs.
    #[inline(always)]
    pub(super) fn job_worked(&mut self, unit: UnitId, ns: u64) {
        if self.units[unit.index()].worker == Worker::Ahead {
            self.counters.assist_busy_ns += ns;
            return;
        }
        self.counters.gc_busy_ns += ns;
        let job = match self.units[unit.index()].worker {
            Worker::Inbound => {
                self.gc.programming[unit.index()].as_ref().map_or(unit, |inbound| inbound.job)
            }
            _ => unit,
        };
        self.gc.jobs[job.index()].busy_ns += ns;
    }

    /// Tells the watcher which pages leave the plane.
    pub(super) fn tell_read_out(&mut self, unit: UnitId) {
        if !W::ACTIVE {
            return;
        }
        for at in 0..self.gc.jobs[unit.index()].step.len() {
            let job = &self.gc.jobs[unit.index()];
            let ppn = job.copies[job.step[at]].from;
            let lpn = self.ftl.map.lpn_of(ppn);
            self.tell(Happened::ReadOut { ppn, lpn });
        }
    }
}
