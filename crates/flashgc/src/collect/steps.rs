//! The steps of a collection on its unit.

use super::moves::Moves;
use super::{Collecting, Ended, reads};
use crate::flash::{Class, Command, Phases};
use crate::ids::{PlaneId, UnitId};
use crate::owner::Owner;
use crate::verify::{Cause, Watch};

/// The machine of whole pages.
pub(super) struct Pages;

impl<W: Watch> Moves<W> for Pages {}

/// A command of a unit's own collection.
pub(super) fn command(phases: Phases) -> Command<Owner> {
    Command::new(Owner::Collection, Class::Gc, phases)
}

impl<W: Watch> Collecting<'_, W> {
    /// The next command of an open collection.
    #[inline(always)]
    pub fn next_step(&mut self, unit: UnitId) -> Command<Owner> {
        match self.cx.plan.gc.preemption {
            None => self.step(unit),
            Some(_) => self.read_step(unit),
        }
    }

    /// The next command of a collection that runs to its end.
    #[inline(always)]
    pub(super) fn step(&mut self, unit: UnitId) -> Command<Owner> {
        self.take_step(unit);
        if self.jobs[unit].step.copies.is_empty() {
            return self.end_of_moves(unit);
        }
        self.step_command(unit)
    }

    /// The command of a step of pages.
    #[inline(always)]
    pub(super) fn step_of_pages(&mut self, unit: UnitId) -> Command<Owner> {
        let mode = self.cx.plan.gc.copy;
        reads::begin(self, unit, mode.step_op());
        let mut phases = reads::price(self, unit, mode.step_op());
        let job = &self.jobs[unit];
        if !job.fixed {
            let binds_at = phases.program_at();
            return Command { binds_at, ..command(phases) };
        }
        reads::program(self, unit, &mut phases);
        command(phases)
    }

    /// Takes the next copies of one list into the step; pages that went invalid are passed over.
    #[inline(always)]
    pub(super) fn take_pages(&mut self, unit: UnitId) {
        let plan = self.cx.plan;
        let at_once = plan.gc.copy.at_once() as usize;
        let job = &mut self.jobs[unit];
        job.step.copies.clear();
        if at_once == 1 {
            // One copy is of one list.
            let is_fit = |&at: &usize| job.fixed || self.store.is_valid(plan, job.copies[at].from);
            let next = (job.next..job.copies.len()).find(is_fit);
            job.next = next.map_or(job.copies.len(), |at| at + 1);
            job.step.copies.extend(next);
            // The copy changes this entry of the map, when its program begins.
            next.into_iter().for_each(|at| self.store.ftl.prefetch_copy(job.copies[at].from));
            return;
        }
        while job.next < job.copies.len() && job.step.copies.is_empty() {
            let end = job.list_end(job.next);
            while job.next < end && job.step.copies.len() < at_once {
                let from = job.copies[job.next].from;
                if job.fixed || self.store.is_valid(plan, from) {
                    self.store.ftl.prefetch_copy(from);
                    job.step.copies.push(job.next);
                }
                job.next += 1;
            }
        }
    }

    /// The program of a step begins: its copies bind.
    #[inline]
    pub fn bind_step(&mut self, unit: UnitId) {
        let job = &self.jobs[unit];
        if let Some(plane) = job.plane {
            for at in 0..job.step.copies.len() {
                self.bind_copy(unit, self.jobs[unit].step.copies[at], plane);
            }
        }
    }

    /// A copy of this unit's collection is programmed in a plane: its page is taken and bound.
    #[inline(always)]
    pub(super) fn bind_copy(&mut self, unit: UnitId, copy: usize, plane: PlaneId) {
        let Collecting { store, cx, .. } = self;
        let (from, requested) = self.jobs[unit].to_copy(copy);
        let placed = store.copy_page::<false, W>(from, plane, requested, Cause::Copy { from }, cx);
        if self.jobs[unit].step.corrects || !cx.plan.gc.takes_time() {
            store.ftl.renew(placed.ppn);
        }
        if store.gc.keeps_books {
            store.note_copy(unit, placed, cx);
        }
        let job = &mut self.jobs[unit];
        if !placed.current {
            job.waste(copy);
        }
        job.copies[copy].to = placed.ppn;
        if placed.filled.is_some() {
            job.fills.push(copy as u32);
        }
        store.seal_if_filled(placed, cx);
    }

    /// A step of pages has ended.
    #[inline(always)]
    pub(super) fn pages_ended(&mut self, unit: UnitId) -> Ended {
        self.copies_ended(unit);
        if !self.has_only_retired(unit) {
            return Ended::GoesOn;
        }
        self.narrow_blocking(unit);
        Ended::Erased
    }

    /// Whether a collection whose pages are fixed has moved them all and erases nothing, since all
    /// its victims are retired. It ends with its last copy, as it does where it is one event: an
    /// erase of no length would end after other units were checked.
    fn has_only_retired(&self, unit: UnitId) -> bool {
        let job = &self.jobs[unit];
        job.fixed && job.next == job.copies.len() && !self.store.is_erased(&job.victims)
    }

    /// The copies of a step are programmed.
    pub(super) fn copies_ended(&mut self, unit: UnitId) {
        let job = &mut self.jobs[unit];
        let copies = job.step.copies.len() as u32;
        let fills = u64::from(job.fills_of_step());
        job.record.moved += copies;
        if !job.wasted_open.is_empty() && !job.fixed {
            job.wasted_open.clear();
        }
        let pads = std::mem::take(&mut job.step.pads);
        job.record.steps += if copies > 0 { job.step.programs } else { 0 } + u32::from(pads);
        job.record.merged_programs += u32::from(copies == 0 && !pads);
        self.cx.count_copies(u64::from(copies), fills);
    }
}
