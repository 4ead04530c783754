//! A collection begins: its victims are claimed, and the pages that it moves are listed.

use super::close::erase;
use super::job::Record;
use super::{Collecting, Stage};
use crate::flash::{Class, Command, Kind, Phases};
use crate::gc::{Copy, Victim};
use crate::ids::{BlockId, PlaneId, Ppn, UnitId};
use crate::operation;
use crate::owner::Owner;
use crate::verify::Watch;

impl<W: Watch> Collecting<'_, W> {
    /// Begins a collection: the victim is claimed and its domain blocked. Returns the first command
    /// where it begins at once.
    pub fn open(
        &mut self,
        unit: UnitId,
        plane: PlaneId,
        victim: BlockId,
    ) -> Option<Command<Owner>> {
        let batch_left = self.store.batch(plane, &self.cx);
        self.close_around(plane);
        self.close_open_block(unit, plane);
        let job = &mut self.jobs[unit];
        job.batch.left = batch_left;
        job.batch.blocking_since_ns = self.cx.now_ns;
        self.claim(unit, plane, victim)
    }

    /// Claims the victims, and lists the pages that move.
    pub(super) fn claim(
        &mut self,
        unit: UnitId,
        plane: PlaneId,
        victim: BlockId,
    ) -> Option<Command<Owner>> {
        let plan = self.cx.plan;
        let free_pages = self.store.ftl.frontiers.free_pages(plane);
        let mut victims = std::mem::take(&mut self.jobs[unit].victims);
        let valid = self.store.claim_victims(plane, victim, &mut victims, &mut self.cx);
        self.store.gc.busy_planes[plane.index()] = true;
        let job = &mut self.jobs[unit];
        job.plane = Some(plane);
        job.record = Record {
            selected_ns: self.cx.now_ns,
            valid_at_selection: valid,
            free_pages_at_selection: free_pages,
            ..Record::default()
        };
        job.fixed = plan.fixes_jobs();
        job.next = 0;
        job.fills.clear();
        job.wasted_open.clear();
        job.stage = Stage::Copying;
        job.step.programs = 1;
        job.joining.restart();
        job.lists.clear();
        self.list_pages(unit, plane, &victims);
        if !self.jobs[unit].fixed {
            self.listed(unit);
        }
        let job = &mut self.jobs[unit];
        let moves = if job.fixed { 0 } else { valid };
        self.store.gc.expect_from(unit, &victims, moves, plan.geometry.shape.data_pages());
        job.victims = victims;
        if plan.coalesces_jobs() {
            return Some(self.whole(unit));
        }
        self.opens(unit, plane)
    }

    /// Lists the valid pages of the victims, lowest first; where the collection is fixed, their new
    /// pages are taken now.
    #[inline(always)]
    fn list_pages(&mut self, unit: UnitId, plane: PlaneId, victims: &[Victim]) {
        let Collecting { jobs, store, cx, prices, .. } = self;
        let job = &mut jobs[unit];
        job.copies.clear();
        for &Victim { block, .. } in victims {
            if cx.plan.gc.copy.lists_by_block() {
                job.lists.push(job.copies.len());
            }
            if job.fixed {
                store.empty(plane, block, cx, |from, placed| {
                    if placed.filled.is_some() {
                        job.fills.push(job.copies.len() as u32);
                    }
                    job.copies.push(Copy { from, to: placed.ppn });
                });
            } else {
                let pages = store.list_victim(block, cx);
                job.copies.extend(pages.iter().map(|&from| Copy { from, to: Ppn::NONE }));
            }
        }
        if job.fixed && cx.plan.geometry.shape.pads() {
            while store.pad_copies(plane, cx).is_some() {}
        }
        if job.fixed && cx.plan.read_retry.is_some() && !cx.plan.gc.takes_time() {
            // Copies without a price have corrected data.
            job.copies.iter().for_each(|copy| store.ftl.renew(copy.to));
        }
        job.failed.clear();
        if job.fixed && cx.plan.timing.programs_fail {
            let (ftl, mut first) = (&store.ftl, 0);
            let mut failed = std::mem::take(&mut job.failed);
            for end in job.step_ends(cx.plan.copies_at_once()) {
                let to = job.copies[first..end].iter().map(|copy| copy.to);
                let ns = operation::failed_ns(to, prices, ftl);
                failed.extend((ns > 0).then_some((end, ns)));
                first = end;
            }
            job.failed = failed;
        }
    }

    /// All copies and the erase as one operation.
    fn whole(&mut self, unit: UnitId) -> Command<Owner> {
        let at_once = self.cx.plan.copies_at_once();
        let job = &mut self.jobs[unit];
        job.stage = Stage::Whole;
        job.record.steps = match at_once {
            1 => job.record.valid_at_selection,
            at_once => job.step_ends(at_once).count() as u32,
        };
        let copies_ns = self.jobs[unit].copies_ns(self.prices, at_once);
        let job = &self.jobs[unit];
        let erase_ns = erase(&job.victims, self.store, self.prices).total_ns();
        let whole = Phases::new().then(Kind::Collection, copies_ns + erase_ns);
        Command::new(Owner::Collection, Class::Gc, whole)
    }
}
