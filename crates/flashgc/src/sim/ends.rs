//! The consequences of the end of a phase or a command.

use super::Sim;
use super::commands::on_bus;
use crate::collect::Ended as CollectionEnded;
use crate::flash::{Class, Due, Ended, Moved, Part, Phases};
use crate::ids::{BusId, UnitId};
use crate::operation::Program;
use crate::owner::Owner;
use crate::verify::{Happened, Watch, What};

impl<W: Watch> Sim<W> {
    /// A transfer has ended.
    #[inline(always)]
    pub(super) fn transfer_ended(&mut self, bus: BusId) {
        let part = self.flash.transfer_ended(bus, self.now_ns, &mut self.events);
        self.notify_busy(on_bus(&part), part.unit, part.since_ns, part.class == Class::Gc);
        self.part_ended(part);
    }

    /// A phase that needs no bus has ended.
    #[inline(always)]
    pub(super) fn array_ended(&mut self, unit: UnitId) {
        let part = self.flash.array_ended(unit);
        if part.kind.is_in_array() {
            if part.class == Class::Gc {
                let ns = self.now_ns - part.since_ns;
                self.jobs.worked(unit, part.owner, ns, &mut self.counters);
            }
            self.notify_busy(What::Array, unit, part.since_ns, part.class == Class::Gc);
        }
        self.part_ended(part);
    }

    /// A phase has ended. Where the next one of the operation runs, other work may begin in
    /// parallel.
    #[inline(always)]
    pub(super) fn part_ended(&mut self, part: Part<Owner>) {
        match part.due {
            Due::Operation => {
                match self.flash.goes_on(part.unit, self.now_ns, &mut self.events) {
                    Moved::Ended(ended) => {
                        self.notify_worked(part.unit);
                        return self.operation_ended(part.unit, ended);
                    }
                    Moved::NeedsPages => self.pages_are_due(part.unit),
                    Moved::Runs => self.may_be_loaded(part.unit),
                }
                if self.arbiter.is_preemptive() {
                    self.phase_begun(part.unit, part.owner);
                }
            }
            Due::Loaded => {}
            Due::Left(owner) => self.left_beside(part.unit, owner),
        }
    }

    /// Reads the commands that ended as they began.
    #[inline(always)]
    pub(super) fn end_at_once(&mut self) {
        if !self.at_once.has_no_end() {
            self.end_all_at_once();
        }
    }

    #[cold]
    #[inline(never)]
    fn end_all_at_once(&mut self) {
        while let Some((unit, ended)) = self.at_once.next_end() {
            self.operation_ended(unit, ended);
        }
    }

    #[inline(always)]
    pub(super) fn operation_ended(&mut self, unit: UnitId, ended: Ended<Owner>) {
        if self.plan.geometry.is_reader(unit) {
            return self.ended_in_plane(unit, ended);
        }
        let Ended { owner, since_ns } = ended;
        self.notify_operation(unit, owner, since_ns);
        self.store.alloc.one_less(unit);
        let times_ns = [self.now_ns - since_ns, self.now_ns];
        let rooms = (&self.host.waiting, &self.jobs, &self.store.gc);
        self.arbiter.ended((unit, owner), times_ns, rooms, &mut self.counters);
        match owner {
            Owner::Host(op) => self.served(unit, Some(op)),
            Owner::Answer(op) => self.answered(op),
            Owner::Collection => self.collection_advances(unit),
            Owner::CrossUnit => self.arrival_ended(unit),
            Owner::Background(task) => self.background_ended(task, unit),
            Owner::Suspending | Owner::Polling | Owner::Yielding => {}
            Owner::Planes => unreachable!("the last plane gives the unit back"),
        }
        if self.switches.has_seconds && self.flash.second(unit).is_some() {
            self.second_takes_over(unit, owner);
        }
        self.look_at(unit);
    }

    /// A read of one plane has ended.
    #[inline(never)]
    fn ended_in_plane(&mut self, reader: UnitId, ended: Ended<Owner>) {
        let Ended { owner, since_ns } = ended;
        let (unit, now_ns) = (self.plan.geometry.whole_unit(reader), self.now_ns);
        self.notify_operation(reader, owner, since_ns);
        self.store.alloc.one_less(unit);
        self.flash.ended_in_plane(reader, now_ns);
        let rooms = (&self.jobs, &self.store.gc);
        self.arbiter.left_plane([unit, reader], now_ns, rooms, &mut self.counters);
        if let Owner::Host(op) = owner {
            self.host_operation_ended(op);
        }
        self.served(reader, None);
        self.look_at(unit);
    }

    /// An operation of a unit's own collection has ended.
    #[inline(always)]
    pub(super) fn collection_advances(&mut self, unit: UnitId) {
        self.note_unseen_ended(unit);
        match collecting!(self).ended(unit) {
            CollectionEnded::GoesOn => self.pass_facts(),
            CollectionEnded::WithWrites => self.merged_writes_ended(unit),
            CollectionEnded::Erased => self.close_job(unit),
        }
    }

    /// A collection's victim is erased.
    #[inline(always)]
    pub(super) fn close_job(&mut self, unit: UnitId) {
        self.let_back(unit);
        let elapsed_ns = self.now_ns - self.jobs[unit].selected_ns();
        self.background.collection_ended(unit, elapsed_ns, &mut context!(self));
        self.count_taken_unseen();
        let command = collecting!(self).close(unit);
        self.pass_facts();
        self.let_back(unit);
        self.begins(unit, command);
    }

    /// The victim is erased, or the batch has ended: the reads that stood aside are back at their
    /// places in the queue, without those of a block that stays closed.
    pub(super) fn let_back(&mut self, unit: UnitId) {
        let (map, waiting) = (&self.store.ftl.map, &self.host.waiting);
        let job = &self.jobs[unit];
        let stays = |op| job.closes_of_open_block(map.ppn_of(waiting.op(op).lpn));
        for op in self.arbiter.take_aside(unit, stays) {
            self.host.waiting.put_back(op);
            self.store.alloc.one_more(unit);
        }
    }

    /// A page of another unit's collection is programmed.
    pub(super) fn arrival_ended(&mut self, unit: UnitId) {
        collecting!(self).arrival_ended(unit);
        self.pass_facts();
    }

    /// A command of a background task has ended.
    pub(super) fn background_ended(&mut self, task: u8, unit: UnitId) {
        self.background.ended(task, unit, &mut rest!(self));
        self.pass_facts();
    }

    /// An operation of the host has left its unit.
    fn note_left(&mut self, unit: UnitId) {
        self.arbiter.host_left(unit, self.now_ns, &mut self.counters);
    }

    /// A program of the collection has ended, and the writes that were merged into it are done.
    fn merged_writes_ended(&mut self, unit: UnitId) {
        self.note_left(unit);
        self.units[unit.index()].riders = self.jobs[unit].take_riders();
        self.served(unit, None);
    }

    /// An operation has ended: what began in parallel with it is the unit's operation from now on.
    /// The collection continues with the pages that were read; the write that was loaded is
    /// programmed next; and an answer that is still on its way has the unit until it has left.
    #[inline(never)]
    fn second_takes_over(&mut self, unit: UnitId, ended: Owner) {
        match (self.flash.second(unit), ended) {
            (Some(Owner::Host(op)), Owner::Host(_) | Owner::Answer(_)) => {
                self.cached_takes_over(unit, op);
            }
            (Some(owner), Owner::Host(_) | Owner::Answer(_) | Owner::Collection) => {
                self.takes_over(unit, owner);
            }
            _ => {}
        }
    }

    fn takes_over(&mut self, unit: UnitId, owner: Owner) {
        let state = &mut self.units[unit.index()];
        state.riders = std::mem::take(&mut state.beside);
        let pages = std::mem::take(&mut state.riders.pages);
        let is_loaded = matches!(owner, Owner::Host(_));
        if is_loaded {
            self.arbiter.loaded_write_waited(unit);
        }
        let (prices, fills) = (&self.prices, self.units[unit.index()].riders.fills);
        let program = Program { pages: pages.iter().copied(), fills };
        let bind = |phases: &mut Phases| {
            if is_loaded {
                program.price(prices, &self.store.ftl, phases);
            }
        };
        self.store.alloc.one_more(unit);
        let moved = self.flash.take_over(unit, bind, self.now_ns, &mut self.events);
        if let Some(moved) = &moved {
            self.notify_beginning(unit, owner, moved);
        }
        match moved {
            Some(Moved::Ended(Ended { owner: Owner::Collection, .. })) => {
                // The pages are in the register already, and took no time of the unit.
                self.store.alloc.one_less(unit);
                self.notify_operation(unit, Owner::Collection, self.now_ns);
                self.collection_advances(unit);
            }
            Some(moved) => {
                self.has_begun(unit, moved);
                self.may_be_loaded(unit);
            }
            None => {}
        }
    }

    /// The answer that was on its way in parallel with the collection's operation has left.
    #[inline(never)]
    pub(super) fn left_beside(&mut self, unit: UnitId, owner: Owner) {
        let Owner::Answer(op) = owner else { return };
        self.note_left(unit);
        if W::OPERATIONS {
            let waited = self.flash.waited_for_bus(unit);
            self.notify(Happened::LeftBeside { unit, waited });
        }
        self.notify_busy(What::Operation("read", 0), unit, self.now_ns, false);
        self.answered(op);
        self.try_suspend(unit);
    }

    /// The answers of no length have left.
    #[cold]
    pub(super) fn leave_at_once(&mut self) {
        while let Some((unit, op)) = self.at_once.next_left() {
            self.note_left(unit);
            self.answered(op);
        }
    }
}
