//! Preemption as it happens: operations between the steps of a collection, suspended steps, and
//! pages in the register (paper preemptible-gc, sections III and IV).

use super::Sim;
use crate::arbiter::Interrupt;
use crate::collect::Stage;
use crate::flash::{Flash, Kind, Phases, Suspended};
use crate::host::OpKind;
use crate::ids::UnitId;
use crate::owner::Owner;
use crate::verify::{Happened, Watch, What};

impl<W: Watch> Sim<W> {
    /// The collector polls the queue.
    #[inline(never)]
    pub(super) fn poll(&mut self, unit: UnitId) {
        let Some(preemptive) = self.arbiter.preemptive() else { return };
        let phases = Phases::new().then(Kind::Rest, preemptive.rules.poll_ns);
        preemptive.units[unit.index()].polled = true;
        self.begin(unit, Owner::Polling, phases);
    }

    /// A read is answered with a page of the register: it needs the bus only.
    #[inline(never)]
    pub(super) fn answer(&mut self, unit: UnitId, op: u32, list: u8) {
        self.take_answer(unit, op, list);
        self.begin(unit, Owner::Answer(op), self.prices.answer());
    }

    /// Takes a read that the register answers out of its queue.
    pub(super) fn take_answer(&mut self, unit: UnitId, op: u32, list: u8) {
        self.take_from_queue(unit, op, list);
        self.host_begins(unit, op);
        let lpn = self.host.waiting.op(op).lpn;
        let ppn = self.store.ftl.map.ppn_of(lpn);
        self.tell(Happened::Started { op, lpn });
        self.tell(Happened::Read { ppn, lpn });
        self.tell(Happened::InRegister { ppn });
        self.counters.merged_reads += 1;
    }

    /// Point A has passed: the pages in the register are programmed.
    pub(super) fn program_step(&mut self, unit: UnitId) {
        let command = collecting!(self).program_step(unit);
        self.hear();
        if self.begins(unit, command) {
            self.job_phase_overlaps(unit);
        }
    }

    /// A program of the collection has ended, and the writes that were merged into it are done.
    pub(super) fn merged_writes_ended(&mut self, unit: UnitId) {
        self.note_left(unit);
        let mut merged = std::mem::take(&mut self.jobs[unit].merged);
        for op in merged.drain(..) {
            self.host_operation_ended(op);
        }
        self.jobs[unit].merged = merged;
    }

    /// An answer has left: the read is done, or the rest of its page is known.
    pub(super) fn answered(&mut self, op: u32) {
        if self.host.waiting.op(op).kind == OpKind::ReadRest {
            self.counters.rest_read += 1;
            self.host.waiting.becomes_write(op);
            return self.place(op);
        }
        self.page_done(op);
    }

    /// A write of a page in the register changes it there: one program serves both.
    #[inline(never)]
    pub(super) fn merge(&mut self, unit: UnitId, op: u32, list: u8) {
        let Some(plane) = self.jobs[unit].plane else { return };
        self.take_from_queue(unit, op, list);
        self.host_begins(unit, op);
        self.host.waiting.set_plane(op, plane);
        let lpn = self.host.waiting.op(op).lpn;
        self.host.write_starts(op, lpn, &mut context!(self));
        let cause = self.cause_of(op);
        let has_filled = self.store.write_merged(plane, lpn, cause, &mut context!(self));
        self.hear();
        self.tell(Happened::InRegister { ppn: self.store.ftl.map.ppn_of(lpn) });
        self.note_host_page(unit, op);
        let job = &mut self.jobs[unit];
        job.host_fills += u32::from(has_filled);
        job.merged.push(op);
        self.counters.merged_writes += 1;
    }

    /// An operation was queued: records when, and interrupts the unit's operation if it may.
    #[inline(never)]
    pub(super) fn note_queued(&mut self, unit: UnitId, op: u32) {
        let now_ns = self.now_ns;
        if let Some(preemptive) = self.arbiter.preemptive() {
            preemptive.queued(op, now_ns);
        }
        self.tell(Happened::Queued { op, unit });
        let Some(preemptive) = self.arbiter.preemptive() else { return };
        match preemptive.knock(unit, op, &mut view!(self)) {
            Interrupt::None => {}
            Interrupt::Suspend => self.suspend(unit),
            Interrupt::Answer => self.answer_beside(unit, op, crate::plan::READS),
        }
    }

    /// Suspends the collection's operation if a request may preempt and the operation may be
    /// suspended.
    pub(super) fn try_suspend(&mut self, unit: UnitId) {
        let Some(preemptive) = self.arbiter.preemptive() else { return };
        if preemptive.may_interrupt(unit, &mut view!(self)) == Interrupt::Suspend {
            self.suspend(unit);
        }
    }

    fn suspend(&mut self, unit: UnitId) {
        let Some(cost) = self.plan.timing.suspend else { return };
        let suspended = self.flash.suspend(unit, self.now_ns, &mut self.events);
        let Suspended { since_ns, phase_since_ns, .. } = suspended;
        if self.now_ns > phase_since_ns {
            let ns = self.now_ns - phase_since_ns;
            self.jobs.worked(unit, Owner::Collection, ns, &mut self.counters);
            self.tell_busy(What::Array, unit, phase_since_ns, true);
        }
        if self.now_ns > since_ns {
            self.tell_operation(unit, Owner::Collection, since_ns);
        }
        self.counters.gc_blocking_ns += self.now_ns - since_ns;
        self.counters.suspended += 1;
        self.jobs[unit].extra_ns += cost.suspend_ns;
        self.store.alloc.one_less(unit);
        if let Some(preemptive) = self.arbiter.preemptive() {
            let entry = &mut preemptive.units[unit.index()];
            entry.suspended = Some(suspended);
            entry.suspends += 1;
        }
        self.start_command(unit, Flash::switch(Owner::Suspending, cost.suspend_ns));
    }

    /// The suspended operation continues. A read whose pages the host has rewritten meanwhile is
    /// discarded (Table III).
    #[inline(never)]
    pub(super) fn resume(&mut self, unit: UnitId) {
        let Some(preemptive) = self.arbiter.preemptive() else { return };
        let Some(suspended) = preemptive.units[unit.index()].suspended.take() else { return };
        let resume_ns = self.plan.timing.suspend.map_or(0, |cost| cost.resume_ns);
        if collecting!(self).gives_up_read(unit, suspended.left_ns) {
            if let Some(preemptive) = self.arbiter.preemptive() {
                preemptive.units[unit.index()].suspends = 0;
            }
            self.tell(Happened::ReadGivenUp { unit });
            return;
        }
        self.jobs[unit].extra_ns += resume_ns;
        self.begin(unit, Owner::Collection, suspended.resumed(resume_ns));
    }

    /// An operation of the host begins: records how long it waited for the collection alone.
    #[inline]
    pub(super) fn host_begins(&mut self, unit: UnitId, op: u32) {
        if let Some(preemptive) = self.arbiter.preemptive() {
            preemptive.host_begins(unit, op, &mut view!(self));
        }
    }

    /// The host's operation has ended: if a collection delayed it, records for how long, without
    /// the requests before it.
    pub(super) fn note_left(&mut self, unit: UnitId) {
        let now_ns = self.now_ns;
        let Some(preemptive) = self.arbiter.preemptive() else { return };
        if let Some(response_ns) = preemptive.units[unit.index()].host_left(now_ns) {
            self.counters.gc_response_max_ns = self.counters.gc_response_max_ns.max(response_ns);
        }
    }

    /// An operation has ended on a unit with preemption.
    #[inline(never)]
    pub(super) fn preempting_ended(&mut self, unit: UnitId, owner: Owner, spent_ns: u64) {
        match owner {
            Owner::Host(op) | Owner::Answer(op) => self.host_ended(unit, op, owner),
            Owner::Background(task) => self.background_ended(task, unit),
            _ => self.collection_ended(unit, owner, spent_ns),
        }
    }

    fn host_ended(&mut self, unit: UnitId, op: u32, owner: Owner) {
        let is_write = self.host.waiting.op(op).kind == OpKind::Write;
        let is_wanted = self.jobs[unit].is_open() || self.store.gc.unit_wants(unit);
        if let Some(preemptive) = self.arbiter.preemptive() {
            preemptive.units[unit.index()].gc_was_last = false;
            if let Some(slices) = &mut preemptive.slices {
                slices.gap_begins(unit, is_write, is_wanted);
            }
        }
        self.note_left(unit);
        self.summaries_ended(unit);
        if let Owner::Answer(op) = owner {
            self.answered(op);
        } else {
            self.host_operation_ended(op);
            self.group_ended(unit);
        }
        self.second_takes_over(unit);
    }

    fn collection_ended(&mut self, unit: UnitId, owner: Owner, spent_ns: u64) {
        let now_ns = self.now_ns;
        self.counters.gc_blocking_ns += spent_ns;
        if let Some(preemptive) = self.arbiter.preemptive() {
            let entry = &mut preemptive.units[unit.index()];
            entry.gc_was_last = true;
            entry.job_end_ns = now_ns;
            if owner == Owner::Collection {
                (entry.suspends, entry.polled) = (0, false);
                if let Some(slices) = &mut preemptive.slices
                    && slices.worked(unit, now_ns)
                {
                    self.counters.below_floor_ns += spent_ns;
                }
            }
        }
        match owner {
            Owner::Collection => {
                self.collection_advances(unit);
                self.second_takes_over(unit);
            }
            Owner::CrossUnit => self.arrival_ended(unit),
            _ => {}
        }
    }

    /// A write of the host was bound at the register. Its page is noted now: a page from the write
    /// buffer may be trimmed before it is programmed.
    #[inline]
    pub(super) fn note_host_page(&mut self, unit: UnitId, op: u32) {
        if self.prices.asks_for_pages() {
            let page = self.page_of(op);
            self.jobs[unit].host_pages.push(page);
        }
    }

    /// The victim is erased: the reads that stood aside are back at their places in the queue.
    #[inline(never)]
    pub(super) fn let_back(&mut self, unit: UnitId) {
        while let Some(op) = self.next_aside(unit) {
            self.host.waiting.put_back(op);
            self.store.alloc.one_more(unit);
        }
    }

    fn next_aside(&mut self, unit: UnitId) -> Option<u32> {
        self.arbiter.preemptive()?.units[unit.index()].next_aside()
    }

    /// Whether the arbiter lets requests run beside the steps of a collection, and how.
    #[inline(always)]
    pub(super) fn pipelines(&mut self) -> bool {
        self.arbiter.preemptive().is_some_and(|preemptive| preemptive.rules.pipeline)
    }

    /// A write found no page anywhere: collections that wait for a gap continue.
    #[cold]
    pub(super) fn hurry_all(&mut self) {
        if self.plan.gc.time_slices.is_none() {
            return;
        }
        for unit in (0..self.plan.geometry.units).map(UnitId) {
            if self.jobs[unit].stage == Stage::Copying {
                self.look_at(unit);
            }
        }
    }
}
