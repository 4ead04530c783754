//! The host's operations on their way: where each one waits, and the consequences of its end.

use super::{Sim, SimError};
use crate::flash::Kind;
use crate::host::{FLUSH, Fault, Op, OpKind, Passed, Served, Tables};
use crate::ids::{Lpn, PlaneId, UnitId};
use crate::owner::Owner;
use crate::plan::{Arrivals, Plan, WriteCompletion};
use crate::store::Store;
use crate::verify::{Happened, Watch};
use crate::workload::{HostRequest, Source, Turn};

impl Tables for Store {
    #[inline(always)]
    fn prefetch(&self, lpn: Lpn) {
        Store::prefetch(self, lpn);
    }

    #[inline(always)]
    fn prefetch_old(&self, plan: &Plan, lpn: Lpn) {
        self.ftl.prefetch_old(&plan.geometry, lpn);
    }
}

impl<W: Watch> Sim<W> {
    fn fault(&self, fault: Fault) -> SimError {
        match fault {
            Fault::Source(error) => SimError::Source(error),
            Fault::TooLong => SimError::TooLong { limit_ns: self.events.time_limit_ns() / 2 },
            Fault::NeverEnds(why) => SimError::NeverEnds(why),
        }
    }

    /// Takes the next request of an open loop from the source and waits for its time.
    pub(super) fn fetch_arrival(&mut self, source: &mut dyn Source) -> Result<(), SimError> {
        let had_ended = self.host.source_ended();
        let fetched = self.host.fetch_arrival(source, &self.store, &mut context!(self));
        fetched.map_err(|fault| self.fault(fault))?;
        if !self.host.awaits_arrival() && !had_ended {
            self.note_end_of_arrivals();
        }
        Ok(())
    }

    /// The awaited request of an open loop is here.
    pub(super) fn request_arrived(&mut self, source: &mut dyn Source) -> Result<(), SimError> {
        if self.plan.arrivals == Arrivals::Jobs {
            self.host.open_loop(1);
            return Ok(());
        }
        let request = self.host.arrived();
        self.host.accept(request, &mut context!(self));
        self.host_came();
        self.place_all();
        self.measure.load.arrived(self.host.outstanding());
        self.fetch_arrival(source)
    }

    /// Issues the next request of a closed loop, or of jobs.
    #[inline]
    pub(super) fn issue(&mut self, source: &mut dyn Source) -> Result<(), SimError> {
        if self.plan.arrivals == Arrivals::Jobs {
            return self.issue_of_jobs(source);
        }
        match self.host.issue(source, &self.store, &mut context!(self)) {
            Ok(Some((id, request))) => self.come_in(id, request),
            Ok(None) => {}
            Err(fault) => return Err(self.fault(fault)),
        }
        Ok(())
    }

    /// A request of a closed loop comes in. In most runs it can be placed at once.
    #[inline(always)]
    fn come_in(&mut self, id: u32, request: HostRequest) {
        if self.switches.rests || request.pages != 1 || !self.host.enters_at_once() {
            self.host.is_here(id, request, &mut context!(self));
            return self.host_came();
        }
        if let Some(op) = self.host.only_page(id, &request, &mut context!(self)) {
            self.place(op);
        }
        self.note_served();
    }

    #[inline(never)]
    fn issue_of_jobs(&mut self, source: &mut dyn Source) -> Result<(), SimError> {
        let issued = self.host.turn_of_jobs(source, &mut context!(self));
        match issued.map_err(|fault| self.fault(fault))? {
            Some(Turn::Request(request)) => {
                self.host.accept(request, &mut context!(self));
                self.host_came();
            }
            Some(Turn::RampEnds(job)) => self.ramp_ended(job),
            _ => {}
        }
        Ok(())
    }

    /// The ramp of a job has ended: measurements of the drive count from here on, unless
    /// another ramp ends later.
    #[cold]
    #[inline(never)]
    fn ramp_ended(&mut self, job: u16) {
        self.look_into_all();
        let before = self.seen().before();
        self.measure.ramp_ended(before);
        self.notify(Happened::RampEnds { job });
    }

    /// A request is here: background tasks are notified.
    #[inline(always)]
    fn host_came(&mut self) {
        if self.background.is_some() {
            self.background.host_came(&mut context!(self));
        }
    }

    /// Places every operation that is next on its page.
    #[inline]
    pub(super) fn place_all(&mut self) {
        while let Some(op) = self.host.next_to_place(&self.store.ftl.map, &mut context!(self)) {
            self.place(op);
        }
        self.note_served();
    }

    /// Queues an operation that is next on its page, or serves it without flash.
    #[inline(always)]
    pub(super) fn place(&mut self, op: u32) {
        loop {
            if self.switches.rests && self.host.stage_takes(op, &mut context!(self)) {
                return self.place_flushes();
            }
            if self.waits_for_any(op) {
                return;
            }
            let Some(plane) = self.plane_of(op) else {
                if self.serve_without_flash(op) {
                    continue;
                }
                return;
            };
            return self.queue_at(op, plane);
        }
    }

    /// The same for an operation that was queued before.
    #[cold]
    #[inline(never)]
    pub(super) fn place_again(&mut self, op: u32) {
        self.place(op);
    }

    /// Queues the flushes of the write buffer.
    #[inline(always)]
    pub(super) fn place_flushes(&mut self) {
        while let Some(flush) = self.host.next_flush() {
            if !self.waits_for_any(flush)
                && let Some(plane) = self.plane_of(flush)
            {
                self.queue_at(flush, plane);
            }
        }
    }

    /// Whether an operation waits for a place from now on: a write of a device that chooses among
    /// idle units, or whose planes share their blocks.
    #[inline(always)]
    fn waits_for_any(&mut self, op: u32) -> bool {
        self.switches.awaits_places && self.waits_for_place(op)
    }

    #[inline(never)]
    fn waits_for_place(&mut self, op: u32) -> bool {
        if self.switches.rests {
            self.pass_facts();
        }
        binding!(self).waits_for_place(op)
    }

    /// The plane in whose queue an operation waits, where it needs flash.
    #[inline(always)]
    fn plane_of(&mut self, op: u32) -> Option<PlaneId> {
        if self.switches.rests {
            self.pass_facts();
        }
        binding!(self).plane_of(op)
    }

    /// Puts a page operation into the queue of this plane, at the place of its arrival.
    #[inline(always)]
    pub(super) fn queue_at(&mut self, op: u32, plane: PlaneId) {
        let step = if self.switches.names_steps { binding!(self).step_of(op) } else { 0 };
        let unit = self.host.waiting.queue_at(op, plane, step);
        self.store.alloc.one_more(unit);
        self.notify(Happened::Queued { op, unit });
        if self.arbiter.may_interrupt_units() {
            self.note_queued(unit, op);
        }
        self.look_at(unit);
    }

    /// Executes an operation that needs no flash. Returns whether it is a write from now on, and
    /// has to be placed again.
    pub(super) fn serve_without_flash(&mut self, op: u32) -> bool {
        let Op { lpn, kind, request, .. } = *self.host.waiting.op(op);
        if request != FLUSH {
            self.notify(Happened::Started { op, lpn });
            match kind {
                OpKind::Read => {
                    self.counters.unwritten_read += 1;
                    self.notify(Happened::ReadNothing { lpn });
                }
                OpKind::ReadRest => {
                    self.host.waiting.becomes_write(op);
                    return true;
                }
                OpKind::Trim => {
                    self.look_into_page(lpn);
                    self.store.trim(lpn, &mut context!(self));
                    self.host.end_flush_commands(&mut context!(self));
                    self.pass_facts();
                }
                OpKind::Write => unreachable!("a write needs flash"),
            }
        }
        self.page_done(op);
        false
    }

    /// An array operation has ended: what the host has in it is done, in its order, the owner
    /// first.
    #[inline(always)]
    pub(super) fn served(&mut self, unit: UnitId, owner: Option<u32>) {
        self.summaries_ended(unit);
        if let Some(op) = owner {
            self.host_operation_ended(op);
        }
        if !self.units[unit.index()].riders.ops.is_empty() {
            self.riders_ended(unit);
        }
    }

    #[inline(never)]
    fn riders_ended(&mut self, unit: UnitId) {
        let mut riders = std::mem::take(&mut self.units[unit.index()].riders);
        for op in riders.ops.drain(..) {
            self.host_operation_ended(op);
        }
        self.units[unit.index()].riders = riders;
    }

    #[inline(always)]
    pub(super) fn host_operation_ended(&mut self, op: u32) {
        match self.host.waiting.op(op).kind {
            OpKind::Read => self.counters.array_reads += 1,
            OpKind::Write => {
                let is_counted = self.host.waiting.op(op).loaded;
                let pages = if is_counted { 0 } else { self.host.pages_of(op) };
                self.counters.array_programs += u64::from(pages);
            }
            OpKind::ReadRest => {
                self.counters.array_reads += 1;
                self.counters.rest_read += 1;
                self.host.waiting.becomes_write(op);
                return self.place_again(op);
            }
            OpKind::Trim => unreachable!("a trim needs no unit"),
        }
        self.page_done(op);
        self.place_flushes();
    }

    /// A page operation is done.
    #[inline(always)]
    pub(super) fn page_done(&mut self, op: u32) {
        self.instant.goes_on();
        if let Some(served) = self.host.page_done(op, &mut context!(self)) {
            self.count_served(&served);
        }
        self.note_served();
    }

    /// The other requests that are done are counted.
    #[inline(always)]
    pub(super) fn note_served(&mut self) {
        if !self.host.served().is_empty() {
            self.count_all_served();
        }
    }

    #[cold]
    fn count_all_served(&mut self) {
        for at in 0..self.host.served().len() {
            let served = self.host.served()[at];
            self.count_served(&served);
        }
        self.host.served_is_read();
    }

    #[inline(always)]
    fn count_served(&mut self, served: &Served) {
        if self.measure.served(served, &mut self.counters)
            && self.measure.batch_ended(&self.counters)
        {
            self.check_balance();
        }
    }

    /// A stage of the host has ended something.
    pub(super) fn stage_ended(&mut self, stage: u8) {
        match self.host.stage_ended(stage, &mut context!(self)) {
            Passed::Requests => self.place_all(),
            Passed::Operations => self.operations_passed(stage),
        }
    }

    /// A stage has released operations, which may be older than the others that wait.
    fn operations_passed(&mut self, stage: u8) {
        self.instant.goes_on();
        self.note_served();
        while let Some(op) = self.host.next_released() {
            self.place(op);
        }
        self.host.stage_goes_on(stage, &mut context!(self));
        self.place_flushes();
    }

    /// The limit of a job admits a request.
    pub(super) fn limit_admits(&mut self) {
        self.host.limit_admits(&mut context!(self));
        self.place_all();
    }

    /// Ends the run where it has reached steady state.
    #[cold]
    fn check_balance(&mut self) {
        if self.host.source_ended() {
            return;
        }
        if self.plan.arrivals == Arrivals::Open {
            self.note_end_of_arrivals();
        }
        self.look_into_all();
        let is_steady = self.seen().is_in_balance();
        if self.measure.balance.was_checked(is_steady) {
            self.host.end_source(&mut context!(self));
        }
    }

    /// The source of an open loop has ended.
    fn note_end_of_arrivals(&mut self) {
        let spent = self.flash.spent_of_units(self.now_ns);
        self.measure.load.arrivals_end(self.host.outstanding(), self.now_ns, spent);
    }

    /// The next phase of an operation has begun. Where the host waits for its data to be in the
    /// register only, a write is done when its program begins; and the next operation may begin
    /// during a phase.
    #[inline(always)]
    pub(super) fn may_be_loaded(&mut self, unit: UnitId) {
        if self.switches.follows_phases {
            self.phase_follows(unit);
        }
    }

    #[inline(never)]
    fn phase_follows(&mut self, unit: UnitId) {
        if self.plan.geometry.is_reader(unit) {
            return;
        }
        if self.plan.cache.is_some() {
            self.look_at(unit);
        }
        if self.plan.front.write_completion == WriteCompletion::Loaded {
            self.is_loaded(unit);
        }
        self.try_suspend_program(unit);
    }

    fn is_loaded(&mut self, unit: UnitId) {
        let Some(Owner::Host(op)) = self.flash.owner(unit) else { return };
        if self.flash.phase(unit).is_none_or(|phase| phase.kind != Kind::Program) {
            return;
        }
        if W::OPERATIONS {
            let waited = self.flash.waited_for_bus(unit);
            self.notify(Happened::Loading { unit, waited });
        }
        self.instant.goes_on();
        let mut loaded = 0;
        for op in self.units[unit.index()].riders.served(op) {
            loaded += u64::from(self.host.is_loaded(op, &mut context!(self)));
        }
        // A run may end before the programs do.
        self.counters.array_programs += loaded;
        if loaded > 0 {
            self.summaries_ended(unit);
        }
        self.note_served();
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

    /// The summaries that an operation of the host wrote are done.
    #[inline(always)]
    pub(super) fn summaries_ended(&mut self, unit: UnitId) {
        let filled = std::mem::take(&mut self.units[unit.index()].riders.fills);
        if filled > 0 {
            context!(self).count_summaries(u64::from(filled));
        }
    }
}
