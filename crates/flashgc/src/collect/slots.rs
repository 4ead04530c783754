//! Steps of a collection where a program joins several mapped pages: the slots of a flash page
//! (docs/mapping-unit.md), or of all pages of a word line (docs/one-shot.md).
//!
//! A step fills the next program of its plane, and starts it. Its slots come from as many pages as
//! it takes, through the controller. Each page is read once, and only its wanted slots leave the
//! register; those that the step does not take wait in the controller for the next one. The last
//! slots of a collection may not fill a program: the controller keeps them until others do, or pads
//! the program before the erase where it has no power-loss protection. With copyback, flash pages
//! (or word lines) whose slots are all valid move within their plane.

use super::steps::command;
use super::{Collecting, Job, Stage, reads};
use crate::flash::{Command, Op, Prices};
use crate::ids::{Ppn, UnitId};
use crate::owner::Owner;
use crate::verify::{Happened, Watch};

impl Job {
    /// Orders the pages to move: those of whole programs first, where they move `apart`.
    pub(super) fn put_whole_first(&mut self, slots: u32, apart: bool, prices: &Prices) {
        if apart {
            let mut ordered = Vec::with_capacity(self.copies.len());
            for takes_whole in [true, false] {
                let pages = self.copies.chunk_by(|a, b| prices.shares_program(a.from, b.from));
                let taken = pages.filter(|page| (page.len() == slots as usize) == takes_whole);
                taken.for_each(|page| ordered.extend_from_slice(page));
                if takes_whole {
                    self.whole_until = ordered.len();
                }
            }
            self.copies = ordered;
        }
        self.loose = self.whole_until;
        self.read_until = self.whole_until;
    }

    /// The slots of the next step: those of a whole program where none is begun, or the next of
    /// others that fill the one that is.
    fn take_slots(&mut self, slots: usize, begun: usize, is_valid: impl Fn(Ppn) -> bool) {
        self.step.clear();
        loop {
            while (begun > 0 || self.next == self.whole_until)
                && self.loose < self.copies.len()
                && begun + self.step.len() < slots
            {
                if is_valid(self.copies[self.loose].from) {
                    self.step.push(self.loose);
                }
                self.loose += 1;
            }
            if !self.step.is_empty() || self.next == self.whole_until {
                return;
            }
            let page = self.next..self.next + slots;
            self.next = page.end;
            self.step.extend(page.filter(|&at| is_valid(self.copies[at].from)));
            if begun == 0 && self.step.len() == slots {
                return;
            }
            // The host has rewritten some of its slots, or another page is begun: they go with
            // those of other pages.
            let left: Vec<_> = self.step.drain(..).map(|at| self.copies[at]).collect();
            self.copies.extend(left);
        }
    }

    /// Whether the step under way is of a whole program, which moves within its plane.
    fn is_whole(&self) -> bool {
        self.step.first().is_some_and(|&first| first < self.whole_until)
    }

    /// The slots that are read for the step under way: not those that the controller has.
    fn read_for_step(&mut self, prices: &Prices, is_valid: impl Fn(Ppn) -> bool) {
        let (first, end) = match (self.step.first(), self.step.last()) {
            (Some(&first), Some(&last)) if last < self.whole_until => (first, last + 1),
            (Some(_), Some(&last)) => {
                let of_page = self.copies[last].from;
                let is_beside = |page| prices.shares_flash_page(of_page, page);
                let rest = self.copies[last + 1..].iter();
                let end = last + 1 + rest.take_while(|copy| is_beside(copy.from)).count();
                self.read_from = std::mem::replace(&mut self.read_until, end);
                (self.read_from, end)
            }
            _ => (0, 0),
        };
        let read = self.copies.get(first..end).unwrap_or(&[]).iter();
        self.read.clear();
        self.read.extend(read.map(|copy| copy.from).filter(|&page| is_valid(page)));
        let pages = self.read.chunk_by(|&a, &b| prices.shares_read(a, b));
        self.read_pages = pages.count() as u32;
        self.reads += self.read_pages;
    }

    /// The read of the step under way is given up.
    pub(super) fn give_up_read(&mut self) {
        self.reads -= self.read_pages;
        self.read_until = self.read_from;
    }
}

/// Takes the slots of the next step.
pub(super) fn take<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) {
    let begun = begun(at, unit) as usize;
    let plan = at.cx.plan;
    let is_valid = |page| at.store.is_valid(plan, page);
    let slots = plan.geometry.shape.program_slots as usize;
    at.jobs[unit].take_slots(slots, begun, is_valid);
    // A victim has thousands of slots. Those of the next step are asked for now.
    let job = &at.jobs[unit];
    let next = if job.next < job.whole_until { job.next } else { job.loose };
    let pages = job.copies[next..].iter().take(slots);
    pages.for_each(|copy| at.store.ftl.prefetch_copy(copy.from));
}

/// The slots of the next program of the collected plane that are taken.
fn begun<W: Watch>(at: &Collecting<'_, W>, unit: UnitId) -> u32 {
    let begun = |plane| at.store.begun_by_copies(plane, at.cx.plan);
    at.jobs[unit].plane.map_or(0, begun)
}

/// The command of a step of slots. Those that fill no program are read only, and bind now.
pub(super) fn step<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) -> Command<Owner> {
    let plan = at.cx.plan;
    let fills =
        begun(at, unit) + at.jobs[unit].step.len() as u32 == plan.geometry.shape.program_slots;
    let job = &mut at.jobs[unit];
    job.read_for_step(at.prices, |page| at.store.is_valid(plan, page));
    job.programs = fills;
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
pub(super) fn begin_reading<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) {
    let plan = at.cx.plan;
    let job = &mut at.jobs[unit];
    job.read_for_step(at.prices, |page| at.store.is_valid(plan, page));
    reads::begin(at, unit, Op::Read);
    let job = &mut at.jobs[unit];
    if W::ACTIVE {
        job.read.iter().for_each(|&slot| at.store.tell_read_out(slot, &mut at.cx));
    }
}

/// The slots of the step that are still valid are programmed, if they complete a program; else the
/// controller keeps them.
pub(super) fn program<W: Watch>(
    at: &mut Collecting<'_, W>,
    unit: UnitId,
) -> Option<Command<Owner>> {
    let copies = at.jobs[unit].step.len() as u32;
    let fills = begun(at, unit) + copies >= at.cx.plan.geometry.shape.program_slots;
    at.bind_step(unit);
    let job = &mut at.jobs[unit];
    job.programs = fills;
    if !fills {
        job.stage = Stage::Copying;
        at.cx.tell(Happened::Kept { unit, copies });
        at.copies_ended(unit);
        return None;
    }
    job.stage = Stage::Programming;
    let mut phases = at.prices.joined_program();
    at.prices.bind(&mut phases, job.step_pages().map(|copy| copy.to).take(1), 0);
    Some(command(phases))
}

/// The program of the last copies, before the victim is erased: where the controller must not keep
/// them, slots without data complete it. `None` where it keeps none.
pub(super) fn pad<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) -> Option<Command<Owner>> {
    let plane = at.jobs[unit].plane.filter(|_| at.cx.plan.geometry.shape.pads())?;
    let last = at.store.pad_copies(plane, &mut at.cx)?;
    let job = &mut at.jobs[unit];
    (job.stage, job.pads) = (Stage::Programming, true);
    let mut phases = at.prices.joined_program();
    at.prices.bind(&mut phases, std::iter::once(last), 0);
    Some(command(phases))
}
