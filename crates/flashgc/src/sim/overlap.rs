//! Overlap: a transfer of the host in parallel with an operation of the collection, or the reverse.
//!
//! Paper preemptible-gc, section III-C: two operations of the same kind can be pipelined. At point
//! A a write of the host is loaded into the register's second half while the copy's page is
//! programmed; when that ends it is programmed at once. At point B a read of the host leaves over
//! the bus while the collection's next page is read.

use super::Sim;
use crate::collect::Stage;
use crate::flash::{self, Class, Command, Kind};
use crate::gc::Suspends;
use crate::ids::UnitId;
use crate::owner::Owner;
use crate::verify::{Happened, Watch};

impl<W: Watch> Sim<W> {
    /// A phase has begun, and with it the work that can run in parallel.
    #[inline(never)]
    pub(super) fn phase_begun(&mut self, unit: UnitId, owner: Owner) {
        match owner {
            Owner::Collection => self.job_phase_overlaps(unit),
            Owner::Host(_) if self.pipelines() => self.may_read_ahead(unit),
            _ => {}
        }
    }

    /// A phase of the collection's operation begins. With the last of a program, a write is loaded
    /// in parallel; and a request that waited for a transfer of the collection may suspend it now.
    #[inline(never)]
    pub(super) fn job_phase_overlaps(&mut self, unit: UnitId) {
        let Some(preemptive) = self.arbiter.preemptive() else { return };
        let rules = preemptive.rules;
        if rules.pipeline && self.jobs[unit].stage == Stage::Programming {
            let [_, is_last] = self.flash.is_first_or_last_phase(unit);
            if is_last && self.in_array_phase(unit) {
                self.load_write(unit);
            }
        }
        if rules.suspends.is_some() && self.host.waiting.count(unit) > 0 {
            self.try_suspend(unit);
        }
    }

    /// At point A: the write that may preempt is loaded while the copy is programmed.
    pub(super) fn load_write(&mut self, unit: UnitId) {
        let Some(preemptive) = self.arbiter.preemptive() else { return };
        let first = preemptive.units[unit.index()].suspends == 0;
        let suspends_any = preemptive.rules.suspends == Suspends::Any;
        if !first || suspends_any || self.flash.second(unit).is_some() {
            return;
        }
        let Some((op, list)) = preemptive.preempting_write(unit, &mut view!(self)) else { return };
        if self.start_page(unit, op, list).is_none() {
            return;
        }
        self.note_host_page(unit, op);
        self.tell(Happened::Loaded { op });
        self.counters.pipelined_writes += 1;
        let phases = self.prices.nominal(flash::Op::Program, 1);
        self.begin_beside(unit, Command::new(Owner::Host(op), Class::Host, phases));
    }

    /// A read of the host leaves over the bus and nothing waits: the collection's next pages are
    /// read.
    #[inline(never)]
    pub(super) fn may_read_ahead(&mut self, unit: UnitId) {
        if self.jobs[unit].stage != Stage::Copying || self.host.waiting.count(unit) > 0 {
            return;
        }
        let [is_first, is_last] = self.flash.is_first_or_last_phase(unit);
        let leaves = is_last && !is_first && !self.in_array_phase(unit);
        let is_free = self.flash.second(unit).is_none() && !self.arbiter.is_suspended(unit);
        let Some(preemptive) = self.arbiter.preemptive() else { return };
        if !leaves || !is_free || preemptive.is_unpaid(unit, &mut view!(self)) {
            return;
        }
        let mut collecting = collecting!(self);
        collecting.take_step(unit);
        if collecting.jobs[unit].step.is_empty() {
            return;
        }
        let phases = collecting.step_read(unit);
        if phases.get(0).is_none_or(|first| first.kind != Kind::Read) {
            return;
        }
        collecting.begin_reading(unit);
        collecting.jobs[unit].read_ahead = true;
        self.begin_beside(unit, Command::new(Owner::Collection, Class::Gc, phases));
    }

    pub(super) fn in_array_phase(&self, unit: UnitId) -> bool {
        self.flash.phase(unit).is_some_and(|phase| !phase.kind.is_on_bus())
    }

    /// Whether the arbiter lets requests run beside the steps of a collection, and how.
    #[inline(always)]
    pub(super) fn pipelines(&mut self) -> bool {
        self.arbiter.preemptive().is_some_and(|preemptive| preemptive.rules.pipeline)
    }
}
