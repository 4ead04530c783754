//! Steps of a collection where a program joins several mapped pages: the slots of a flash page
//! (docs/mapping-unit.md), or of all pages of a word line (docs/one-shot.md).
//!
//! A step fills the next program of its plane, and starts it. Its slots come from as many pages as
//! it takes, through the controller. Each page is read once, and only its slots that move leave the
//! register; those that the step does not take wait in the controller for the next one. The last
//! slots of a collection may not fill a program: the controller keeps them until others do, or pads
//! the program before the erase where it has no power-loss protection. With copyback, flash pages
//! (or word lines) whose slots are all valid move within their plane.

use super::moves::Moves;
use super::steps::command;
use super::{Collecting, Job, Stage, reads};
use crate::device::Shape;
use crate::flash::{Command, Op, Prices};
use crate::gc::Copy;
use crate::ids::{Ppn, UnitId};
use crate::operation::Program;
use crate::owner::Owner;
use crate::plan::CLASSES_MAX;
use crate::verify::{Happened, Watch};

impl Job {
    /// Orders the pages to move: those of whole programs first, where they move `apart`.
    fn put_whole_first(&mut self, slots: u32, apart: bool, prices: &Prices) {
        if apart {
            let mut ordered = Vec::with_capacity(self.copies.len());
            for takes_whole in [true, false] {
                let pages = self.copies.chunk_by(|a, b| prices.shares_program(a.from, b.from));
                let taken = pages.filter(|page| (page.len() == slots as usize) == takes_whole);
                taken.for_each(|page| ordered.extend_from_slice(page));
                if takes_whole {
                    self.joining.whole_until = ordered.len();
                }
            }
            self.copies = ordered;
        }
        self.joining.loose = self.joining.whole_until;
        self.joining.read_until = self.joining.whole_until;
    }

    /// The slots of the next step: those of a whole program where none is begun, or the next of
    /// others that fill the one that is.
    #[inline]
    fn take_slots(&mut self, slots: usize, begun: usize, is_valid: impl Fn(Ppn) -> bool) {
        self.step.copies.clear();
        loop {
            while (begun > 0 || self.next == self.joining.whole_until)
                && self.joining.loose < self.copies.len()
                && begun + self.step.copies.len() < slots
            {
                if is_valid(self.copies[self.joining.loose].from) {
                    self.step.copies.push(self.joining.loose);
                }
                self.joining.loose += 1;
            }
            if !self.step.copies.is_empty() || self.next == self.joining.whole_until {
                return;
            }
            let page = self.next..self.next + slots;
            self.next = page.end;
            for at in page {
                if is_valid(self.copies[at].from) {
                    self.step.copies.push(at);
                }
            }
            if begun == 0 && self.step.copies.len() == slots {
                return;
            }
            // The host has rewritten some of its slots, or another page is begun: they go with
            // those of other pages.
            let left: Vec<_> = self.step.copies.drain(..).map(|at| self.copies[at]).collect();
            self.copies.extend(left);
        }
    }

    /// The page of a step that completes a program of slots: mostly the last one.
    #[inline]
    fn completing(&self, shape: &Shape) -> Option<Ppn> {
        self.step_pages().rev().map(|copy| copy.to).find(|&to| shape.ends_program(to))
    }

    /// The pages that the step programs. The slots of a program have one price, so that the one
    /// that completes it is enough: others may wait in the controller.
    #[inline]
    pub fn programmed(&self, shape: &Shape) -> impl Iterator<Item = Ppn> + Clone + '_ {
        let joins = shape.program_slots > 1;
        let (single, of_slots) =
            if joins { (0, self.completing(shape)) } else { (usize::MAX, None) };
        self.step_pages().map(|copy| copy.to).take(single).chain(of_slots)
    }

    /// Whether the step under way is of a whole program, which moves within its plane.
    fn is_whole(&self) -> bool {
        self.step.copies.first().is_some_and(|&first| first < self.joining.whole_until)
    }

    /// The slots that are read for the step under way: not those that the controller has.
    #[inline]
    fn read_for_step(&mut self, prices: &Prices, is_valid: impl Fn(Ppn) -> bool) {
        let (first, end) = match (self.step.copies.first(), self.step.copies.last()) {
            (Some(&first), Some(&last)) if last < self.joining.whole_until => (first, last + 1),
            (Some(_), Some(&last)) => {
                let of_page = self.copies[last].from;
                let is_beside = |page| prices.shares_flash_page(of_page, page);
                let rest = self.copies[last + 1..].iter();
                let end = last + 1 + rest.take_while(|copy| is_beside(copy.from)).count();
                // Slots that were put back are in the controller.
                let end = end.max(self.joining.read_until);
                self.joining.read_from = std::mem::replace(&mut self.joining.read_until, end);
                (self.joining.read_from, end)
            }
            _ => (0, 0),
        };
        self.joining.read.clear();
        for copy in self.copies.get(first..end).unwrap_or(&[]) {
            if is_valid(copy.from) {
                self.joining.read.push(copy.from);
            }
        }
        let pages = self.joining.read.chunk_by(|&a, &b| prices.shares_read(a, b));
        self.joining.read_pages = pages.count() as u32;
        self.record.reads += self.joining.read_pages;
    }

    /// The read of the step under way is given up.
    pub(super) fn give_up_read(&mut self) {
        self.record.reads -= self.joining.read_pages;
        self.joining.read_until = self.joining.read_from;
    }
}

/// The machine of slots.
pub(super) struct Slots;

impl<W: Watch> Moves<W> for Slots {
    /// The fine pass needs the data once more, and slots of a page may go to several classes: only
    /// without either do whole programs move apart.
    fn listed(at: &mut Collecting<'_, W>, unit: UnitId) {
        let plan = at.cx.plan;
        let apart = plan.gc.copy.stays_in_plane()
            && plan.gc.placement.is_none()
            && plan.gc.preemption.is_none()
            && plan.timing.passes.is_none();
        let slots = plan.geometry.shape.program_slots;
        at.jobs[unit].put_whole_first(slots, apart, at.prices);
    }

    fn take(at: &mut Collecting<'_, W>, unit: UnitId) {
        take(at, unit);
    }

    fn step(at: &mut Collecting<'_, W>, unit: UnitId) -> Command<Owner> {
        step(at, unit)
    }

    fn begin_reading(at: &mut Collecting<'_, W>, unit: UnitId) {
        begin_reading(at, unit);
    }

    fn program(at: &mut Collecting<'_, W>, unit: UnitId) -> Option<Command<Owner>> {
        program(at, unit)
    }
}

/// Takes the slots of the next step.
fn take<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) {
    let plan = at.cx.plan;
    let slots = plan.geometry.shape.program_slots as usize;
    if plan.gc.placement.is_some() {
        take_by_class(at, unit);
    } else {
        let begun = begun(at, unit, None) as usize;
        let is_valid = |page| at.store.is_valid(plan, page);
        at.jobs[unit].take_slots(slots, begun, is_valid);
    }
    // A victim has thousands of slots. Those of the next step are asked for now.
    let job = &at.jobs[unit];
    let next = if job.next < job.joining.whole_until { job.next } else { job.joining.loose };
    let pages = job.copies[next..].iter().take(slots);
    pages.for_each(|copy| at.store.ftl.prefetch_copy(copy.from));
}

/// The same where copies have classes: slots up to the one that completes the program of its class.
/// A class is asked once, though its slot may be put back.
fn take_by_class<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) {
    let Some(plane) = at.jobs[unit].plane else { return };
    let (plan, mut taken) = (at.cx.plan, [0; CLASSES_MAX]);
    at.jobs[unit].step.copies.clear();
    while let Some(&Copy { from, .. }) = at.jobs[unit].copies.get(at.jobs[unit].joining.loose) {
        let copy = at.jobs[unit].joining.loose;
        at.jobs[unit].joining.loose += 1;
        let is_valid = at.store.is_valid(plan, from);
        if copy == at.jobs[unit].joining.requested.len() {
            let classify =
                |at: &mut Collecting<'_, W>| at.store.class_of_copy(from, plane, &mut at.cx);
            let class = if is_valid { classify(at) } else { 0 };
            at.jobs[unit].joining.requested.push(class);
        }
        if !is_valid {
            continue;
        }
        let class = at.jobs[unit].joining.requested[copy];
        at.jobs[unit].step.copies.push(copy);
        taken[usize::from(class)] += 1;
        let begun = begun(at, unit, Some(class));
        if begun + taken[usize::from(class)] == plan.geometry.shape.program_slots {
            return;
        }
    }
}

/// The slots of the next program of copies in the collected plane that are taken; of a class, where
/// they have any.
#[inline]
fn begun<W: Watch>(at: &Collecting<'_, W>, unit: UnitId, class: Option<u8>) -> u32 {
    let begun = |plane| at.store.begun_by_copies(plane, class, at.cx.plan);
    at.jobs[unit].plane.map_or(0, begun)
}

/// Whether the slots of the step complete a program: of one of their classes, where they have any.
fn fills<W: Watch>(at: &Collecting<'_, W>, unit: UnitId) -> bool {
    let (job, slots) = (&at.jobs[unit], at.cx.plan.geometry.shape.program_slots);
    if at.cx.plan.gc.placement.is_none() {
        return begun(at, unit, None) + job.step.copies.len() as u32 >= slots;
    }
    let mut taken = [0; CLASSES_MAX];
    job.step.copies.iter().for_each(|&copy| taken[usize::from(job.joining.requested[copy])] += 1);
    let taken = (0..).zip(taken).filter(|&(_, own)| own > 0);
    taken.into_iter().any(|(class, own)| begun(at, unit, Some(class)) + own >= slots)
}

/// The slots of a step bind. Where copies have classes, those behind the one that completes a
/// program are put back, into the controller: writes of the host may have taken slots meanwhile.
fn bind<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) {
    let Some(plane) = at.jobs[unit].plane.filter(|_| at.cx.plan.gc.placement.is_some()) else {
        return at.bind_step(unit);
    };
    for place in 0..at.jobs[unit].step.copies.len() {
        let copy = at.jobs[unit].step.copies[place];
        at.bind_copy(unit, copy, plane);
        let job = &mut at.jobs[unit];
        if at.cx.plan.geometry.shape.ends_program(job.copies[copy].to) {
            if let Some(&next) = job.step.copies.get(place + 1) {
                job.joining.loose = next;
                job.step.copies.truncate(place + 1);
            }
            return;
        }
    }
}

/// The command of a step of slots. Those that fill no program are read only, and bind now.
fn step<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) -> Command<Owner> {
    let (plan, fills) = (at.cx.plan, fills(at, unit));
    let job = &mut at.jobs[unit];
    job.read_for_step(at.prices, |page| at.store.is_valid(plan, page));
    job.step.programs = u32::from(fills);
    let op = match (fills, job.is_whole()) {
        (true, true) => Op::Copyback,
        (true, false) => Op::CopyOverBus,
        (false, _) => Op::Read,
    };
    reads::begin(at, unit, op);
    let phases = reads::price(at, unit, op);
    if !fills {
        at.bind_step(unit);
    }
    Command { binds_at: phases.program_at(), ..command(phases) }
}

/// The slots of a step leave the array, where requests may preempt the collection.
fn begin_reading<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) {
    let plan = at.cx.plan;
    let job = &mut at.jobs[unit];
    job.read_for_step(at.prices, |page| at.store.is_valid(plan, page));
    reads::begin(at, unit, Op::Read);
    let job = &mut at.jobs[unit];
    if W::OPERATIONS {
        job.joining.read.iter().for_each(|&slot| at.store.notify_read_out(slot, &mut at.cx));
    }
}

/// The slots of the step that are still valid are programmed, if they complete a program; else the
/// controller keeps them.
fn program<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) -> Option<Command<Owner>> {
    let copies = at.jobs[unit].step.copies.len() as u32;
    let fills = fills(at, unit);
    bind(at, unit);
    let job = &mut at.jobs[unit];
    job.step.programs = u32::from(fills);
    if !fills {
        job.stage = Stage::Copying;
        at.cx.notify(Happened::Kept { unit, copies });
        at.copies_ended(unit);
        return None;
    }
    job.stage = Stage::Programming;
    let last = at.jobs[unit].completing(&at.cx.plan.geometry.shape);
    at.jobs[unit].step.joined = last;
    let program = Program { pages: last.into_iter(), fills: 0 };
    Some(command(program.joined(at.prices, &at.store.ftl)))
}

/// The program of the last copies, before the victim is erased: where the controller must not keep
/// them, slots without data complete it. `None` where it keeps none.
pub(super) fn pad<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) -> Option<Command<Owner>> {
    let plane = at.jobs[unit].plane.filter(|_| at.cx.plan.geometry.shape.pads())?;
    let last = at.store.pad_copies(plane, &mut at.cx)?;
    let job = &mut at.jobs[unit];
    (job.stage, job.step.pads, job.step.joined) = (Stage::Programming, true, Some(last));
    let program = Program { pages: std::iter::once(last), fills: 0 };
    Some(command(program.joined(at.prices, &at.store.ftl)))
}
