//! What follows when a phase or a command ends.

use super::Sim;
use crate::background::Bound;
use crate::collect::{Ended as CollectionEnded, Stage};
use crate::flash::{Class, Due, Ended, Moved, Part, Phases};
use crate::host::OpKind;
use crate::ids::{BusId, UnitId};
use crate::owner::Owner;
use crate::verify::{Happened, Watch, What};

impl<W: Watch> Sim<W> {
    /// A transfer has ended.
    #[inline(always)]
    pub(super) fn transfer_ended(&mut self, bus: BusId) {
        let part = self.flash.transfer_ended(bus, self.now_ns, &mut self.events);
        self.tell_busy(What::Bus, part.unit, part.since_ns, part.class == Class::Gc);
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
            self.tell_busy(What::Array, unit, part.since_ns, part.class == Class::Gc);
        }
        self.part_ended(part);
    }

    /// A phase has ended. Where the next one of the operation runs, other work may begin beside it.
    #[inline(always)]
    fn part_ended(&mut self, part: Part<Owner>) {
        match part.due {
            Due::Operation => {
                match self.flash.goes_on(part.unit, self.now_ns, &mut self.events) {
                    Moved::Ended(ended) => return self.operation_ended(part.unit, ended),
                    Moved::NeedsPages => self.pages_are_due(part.unit),
                    Moved::Runs => {}
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
        while let Some((unit, ended)) = self.next_at_once() {
            self.operation_ended(unit, ended);
        }
    }

    #[inline(always)]
    fn next_at_once(&mut self) -> Option<(UnitId, Ended<Owner>)> {
        if self.at_once.is_empty() { None } else { self.at_once.pop_front() }
    }

    /// The program of copies begins: they bind.
    #[inline(always)]
    fn pages_are_due(&mut self, unit: UnitId) {
        if let Some(Owner::Background(task)) = self.flash.owner(unit) {
            return self.background_binds(task, unit);
        }
        collecting!(self).bind_step(unit);
        self.hear();
        let (job, prices) = (&self.jobs[unit], &self.prices);
        let fills = prices.filled_by_copies(|| job.fills_of_step());
        let to = job.step_pages().map(|copy| copy.to);
        let price = |phases: &mut Phases| prices.bind(phases, to, fills);
        self.flash.bound(unit, price, self.now_ns, &mut self.events);
    }

    #[cold]
    fn background_binds(&mut self, task: u8, unit: UnitId) {
        let Bound { page, fills } = self.background.bind(task, unit, &mut rest!(self));
        self.hear();
        let prices = &self.prices;
        let fills = prices.filled_by_copies(|| fills);
        let price = |phases: &mut Phases| prices.bind(phases, std::iter::once(page), fills);
        self.flash.bound(unit, price, self.now_ns, &mut self.events);
    }

    #[inline(always)]
    fn operation_ended(&mut self, unit: UnitId, ended: Ended<Owner>) {
        let Ended { owner, since_ns } = ended;
        self.tell_operation(unit, owner, since_ns);
        self.store.alloc.one_less(unit);
        if self.arbiter.is_preemptive() {
            self.preempting_ended(unit, owner, self.now_ns - since_ns);
            return self.look_at(unit);
        }
        match owner {
            Owner::Host(op) => {
                self.summaries_ended(unit);
                self.host_operation_ended(op);
                if !self.units[unit.index()].group.is_empty() {
                    self.group_ended(unit);
                }
            }
            Owner::Collection => self.collection_advances(unit),
            Owner::CrossUnit => self.arrival_ended(unit),
            Owner::Background(task) => self.background_ended(task, unit),
            Owner::Answer(_) | Owner::Suspending | Owner::Polling => {
                unreachable!("only preemption has these")
            }
        }
        self.look_at(unit);
    }

    /// An operation of a unit's own collection has ended.
    #[inline(always)]
    pub(super) fn collection_advances(&mut self, unit: UnitId) {
        match collecting!(self).ended(unit) {
            CollectionEnded::GoesOn => self.hear(),
            CollectionEnded::WithWrites => self.merged_writes_ended(unit),
            CollectionEnded::Erased => self.close_job(unit),
        }
    }

    /// A collection's victim is erased.
    #[inline(always)]
    fn close_job(&mut self, unit: UnitId) {
        if self.plan.gc.blocking.blocks {
            self.let_back(unit);
        }
        let elapsed_ns = self.now_ns - self.jobs[unit].selected_ns;
        self.background.collection_ended(unit, elapsed_ns, &mut context!(self));
        let command = collecting!(self).close(unit);
        self.hear();
        self.begins(unit, command);
    }

    /// A page of another unit's collection is programmed.
    pub(super) fn arrival_ended(&mut self, unit: UnitId) {
        collecting!(self).arrival_ended(unit);
        self.hear();
    }

    /// A command of a background task has ended.
    pub(super) fn background_ended(&mut self, task: u8, unit: UnitId) {
        self.background.ended(task, unit, &mut rest!(self));
        self.hear();
    }

    /// The operations that shared an array operation are done, in their order.
    pub(super) fn group_ended(&mut self, unit: UnitId) {
        let mut group = std::mem::take(&mut self.units[unit.index()].group);
        for op in group.drain(..) {
            self.host_operation_ended(op);
        }
        self.units[unit.index()].group = group;
    }

    /// The summaries that an operation of the host wrote are done.
    #[inline(always)]
    pub(super) fn summaries_ended(&mut self, unit: UnitId) {
        let filled = std::mem::take(&mut self.units[unit.index()].filled);
        context!(self).count_summaries(u64::from(filled));
    }

    #[inline(always)]
    pub(super) fn host_operation_ended(&mut self, op: u32) {
        match self.host.waiting.op(op).kind {
            OpKind::Read => self.counters.array_reads += 1,
            OpKind::Write => self.counters.array_programs += 1,
            OpKind::ReadRest => {
                self.counters.array_reads += 1;
                self.counters.rest_read += 1;
                self.host.waiting.becomes_write(op);
                return self.place(op);
            }
            OpKind::Trim => unreachable!("a trim needs no unit"),
        }
        self.page_done(op);
        self.place_flushes();
    }

    #[inline(always)]
    pub(super) fn tell_operation(&mut self, unit: UnitId, owner: Owner, from_ns: u64) {
        if W::ACTIVE {
            let name = self.operation_name(unit, owner);
            let copies = self.jobs[unit].step.len() as u32;
            let gc = owner.class() == Class::Gc;
            self.tell_busy(What::Operation(name, copies), unit, from_ns, gc);
        }
    }

    #[inline(always)]
    pub(super) fn tell_busy(&mut self, what: What, unit: UnitId, from_ns: u64, gc: bool) {
        if W::ACTIVE {
            let to_ns = self.now_ns;
            self.watch.see(to_ns, Happened::Busy { what, unit, from_ns, to_ns, gc });
        }
    }

    fn operation_name(&self, unit: UnitId, owner: Owner) -> &'static str {
        match owner {
            Owner::Host(op) | Owner::Answer(op) => match self.host.waiting.op(op).kind {
                OpKind::Read => "read",
                OpKind::ReadRest => "read-rest",
                _ if self.host.is_flush(op) => "flush",
                _ => "program",
            },
            Owner::CrossUnit => "program-copy",
            Owner::Background(_) => "move-ahead",
            Owner::Suspending => "suspend",
            Owner::Polling => "poll",
            Owner::Collection => match self.jobs[unit].stage {
                Stage::Whole => "collection",
                Stage::Erasing => "erase",
                Stage::Reading => "copy-read",
                Stage::Programming => "copy-program",
                _ if self.plan.gc.copy.is_global() => "read-out",
                _ => "copy",
            },
        }
    }
}
