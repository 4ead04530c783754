//! Service: a free unit does what the arbiter chooses.

use super::Sim;
use crate::arbiter::{Choice, Turn};
use crate::background::Work;
use crate::collect::Stage;
use crate::ids::{BlockId, Lpn, PlaneId, UnitId};
use crate::owner::Owner;
use crate::verify::{Happened, Watch};

/// The outcome of a question to the arbiter.
enum Tried {
    /// There is nothing to do.
    Nothing,
    /// A choice came to nothing: there is another question.
    InVain,
    /// The unit has begun something.
    Begun,
}

impl<W: Watch> Sim<W> {
    /// Starts the unit's next operation, if it has one. The only place where operations begin.
    #[inline(always)]
    pub(super) fn start_unit(&mut self, unit: UnitId) {
        if self.switches.begins_beside && !self.flash.is_free(unit) {
            return self.begin_beside_another(unit);
        }
        while self.flash.is_free(unit) {
            if self.instant.has_too_many_steps() {
                return;
            }
            if self.jobs.has_arrivals(unit) && self.program_arrival(unit) {
                self.end_at_once();
                continue;
            }
            let mut turn = Turn::new(self.background.is_some());
            loop {
                match self.try_next(unit, &mut turn) {
                    Tried::Nothing => return,
                    Tried::InVain => {}
                    Tried::Begun => break,
                }
            }
        }
        if self.flash.owner(unit) == Some(Owner::Planes) {
            self.read_in_other_planes(unit);
        }
    }

    /// Asks the arbiter once. Apart from the loops around it, so that what most calls need once is
    /// not prepared for many rounds.
    #[inline(never)]
    fn try_next(&mut self, unit: UnitId, turn: &mut Turn) -> Tried {
        debug_assert!(!self.has_news(), "a change of pages was not passed on");
        let choice = match self.arbiter.keeps_its_view() {
            true => self.arbiter.next(unit, turn, view!(self)),
            false => self.next_apart(unit, turn),
        };
        if choice == Choice::Nothing {
            return Tried::Nothing;
        }
        let has_begun = self.act(unit, choice);
        self.end_at_once();
        if has_begun { Tried::Begun } else { Tried::InVain }
    }

    /// Programs a page that the collection of another unit has sent here, if there is one still.
    pub(super) fn program_arrival(&mut self, unit: UnitId) -> bool {
        if self.arbiter.is_suspended(unit) {
            return false;
        }
        let command = collecting!(self).program_arrival(unit);
        self.pass_facts();
        self.begins(unit, command)
    }

    /// Does what the arbiter chose. Returns whether it came to anything.
    #[inline(always)]
    pub(super) fn act(&mut self, unit: UnitId, choice: Choice) -> bool {
        match choice {
            Choice::Nothing => return false,
            Choice::TryCollect => return self.collect(unit),
            Choice::TryBackground => return self.background.is_some() && self.work_ahead(unit),
            Choice::Steps if self.begins_unseen(unit) => {}
            Choice::Step | Choice::Steps => self.step(unit),
            Choice::StepFor(op) => {
                self.notify(Happened::FindsNoPage { op, unit });
                self.step(unit);
            }
            Choice::Poll => self.poll(unit),
            Choice::ProgramStep => self.program_step(unit),
            Choice::PutBack => collecting!(self).put_back(unit),
            Choice::Answer(op, list) => self.answer(unit, op, list),
            Choice::Merge(op, list) => self.merge(unit, op, list),
            Choice::Resume => self.resume(unit),
            Choice::GoOn => self.program_goes_on(unit),
            Choice::Host(op, list) => self.start_host(unit, op, list),
            Choice::Short(op, list, plane) => return self.make_room(unit, plane, op, list),
        }
        true
    }

    /// Begins the collection of a plane that needs space, if one has a victim.
    #[inline(always)]
    pub(super) fn collect(&mut self, unit: UnitId) -> bool {
        let victim = self.store.victim_for(unit, &context!(self));
        if let Some((plane, victim)) = victim {
            self.open_job(unit, plane, victim);
        }
        victim.is_some()
    }

    pub(super) fn open_job(&mut self, unit: UnitId, plane: PlaneId, victim: BlockId) {
        let command = collecting!(self).open(unit, plane, victim);
        self.pass_facts();
        // Its copies may have opened a block that has a page for one of them.
        self.look_at_starved();
        self.begins(unit, command);
    }

    /// Background work of an idle unit, if there is any.
    #[cold]
    pub(super) fn work_ahead(&mut self, unit: UnitId) -> bool {
        match self.background.next(unit, &mut rest!(self)) {
            None => return false,
            Some(Work::Run(command)) => self.start_command(unit, command),
            Some(Work::Collect(plane, victim)) => {
                self.open_job(unit, plane, victim);
                // One block, whatever the batch size of the watermark is.
                self.jobs[unit].ends_batch();
            }
        }
        true
    }

    /// The open collection continues.
    pub(super) fn step(&mut self, unit: UnitId) {
        let command = collecting!(self).next_step(unit);
        self.pass_facts();
        self.start_command(unit, command);
        self.job_phase_overlaps(unit);
    }

    /// Point A has passed: the pages in the register are programmed.
    pub(super) fn program_step(&mut self, unit: UnitId) {
        let command = collecting!(self).program_step(unit);
        self.pass_facts();
        if self.begins(unit, command) {
            self.job_phase_overlaps(unit);
        }
    }

    /// A read is answered with a page of the register: it needs the bus only.
    #[inline(never)]
    pub(super) fn answer(&mut self, unit: UnitId, op: u32, list: u8) {
        if self.take_answer(unit, op, list) {
            self.begin(unit, Owner::Answer(op), self.prices.answer());
        }
    }

    /// A write of a page in the register changes it there: one program serves both.
    #[inline(never)]
    pub(super) fn merge(&mut self, unit: UnitId, op: u32, list: u8) {
        let Some(plane) = self.jobs[unit].plane() else { return };
        self.take_from_queue(unit, op, list);
        self.notify(Happened::Merged { op });
        self.host_begins(unit, op);
        let bound = binding!(self).merges(plane, op);
        self.has_bound(unit, bound);
        self.notify(Happened::InRegister { ppn: self.page_of(op) });
        let page = binding!(self).page_at_register(op);
        self.jobs[unit].merges(op, page, bound.fills > 0);
        self.counters.merged_writes += 1;
    }

    /// The next write of the unit finds no page: collect, go elsewhere, or wait. Returns whether
    /// the unit has begun something.
    #[cold]
    pub(super) fn make_room(&mut self, unit: UnitId, plane: PlaneId, op: u32, list: u8) -> bool {
        self.notify(Happened::FindsNoPage { op, unit });
        match self.jobs[unit].stage() {
            Stage::Closed => {}
            Stage::Sending => return false,
            _ => {
                self.step(unit);
                return true;
            }
        }
        if let Some(victim) = self.store.request_space(plane, &context!(self)) {
            self.open_job(unit, plane, victim);
            return true;
        }
        if self.store.ftl.host_has_room(plane) {
            // It was refused for a collection that has no victim.
            self.start_host(unit, op, list);
            return true;
        }
        let lpn = self.host.waiting.op(op).lpn;
        if self.store.alloc.may_queue_elsewhere() {
            if self.arbiter.is_preemptive() {
                self.send_elsewhere(unit, op, list);
                return false;
            }
            let other = self.store.alloc.fittest_plane(&self.plan, &self.store.ftl, lpn);
            if other != plane && self.store.ftl.host_has_room(other) {
                self.take_from_queue(unit, op, list);
                self.place_again(op);
                // The operations that waited behind it may be served now.
                self.look_at(unit);
                return false;
            }
        }
        self.starve(unit, lpn);
        false
    }

    /// A write that may not preempt goes to the best plane of its pool where it may now. That plane
    /// could refuse it again only after it gave pages to others, so that no write moves between
    /// planes forever.
    #[cold]
    pub(super) fn send_elsewhere(&mut self, unit: UnitId, op: u32, list: u8) {
        let lpn = self.host.waiting.op(op).lpn;
        let pool = self.plan.pools.of_page(&self.plan.geometry, lpn);
        let view = view!(self);
        let takes = |plane| view.takes_writes(plane);
        let other = view.alloc.best_plane(view.plan, view.ftl, pool, takes);
        let Some(other) = other else { return self.starve(unit, lpn) };
        self.store.alloc.has_chosen(&self.plan, other);
        self.take_from_queue(unit, op, list);
        self.queue_at(op, other);
        // The operations that waited behind it may be served now.
        self.look_at(unit);
    }

    /// The next write of the unit finds no page anywhere.
    pub(super) fn starve(&mut self, unit: UnitId, lpn: Lpn) {
        self.starved.push(unit);
        self.notify(Happened::Starves { unit });
        self.hurry_all();
        let waits_at = |unit| self.host.waiting.count(unit) > 0;
        self.store.request_space_in_pool(lpn, waits_at, &context!(self));
        self.pass_facts();
    }
}
