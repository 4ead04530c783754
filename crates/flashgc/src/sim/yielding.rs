//! Programs of the host that give way to reads (`arbiter/programs.rs`), with the operations of the
//! host that they serve.

use super::Sim;
use crate::flash::{Class, Flash, Suspended};
use crate::host::OpKind;
use crate::ids::UnitId;
use crate::owner::Owner;
use crate::verify::{Happened, Watch, What};

impl<W: Watch> Sim<W> {
    /// An operation of the host that begins has the pages of its writes. They are kept apart from
    /// the map: with a write that is done when its data is loaded, the host may lose the page
    /// before the program has ended.
    #[inline(always)]
    pub(super) fn note_programmed(&mut self, unit: UnitId, op: u32) {
        if self.arbiter.suspends_programs() {
            self.keep_programmed(unit, op);
        }
    }

    #[inline(never)]
    fn keep_programmed(&mut self, unit: UnitId, op: u32) {
        let riders = &self.units[unit.index()].riders;
        let writes = riders.served(op).filter(|&op| self.host.waiting.op(op).kind == OpKind::Write);
        let writes: Vec<u32> = writes.collect();
        let pages = writes.into_iter().map(|op| binding!(self).written_page(op)).collect();
        self.units[unit.index()].riders.programs = pages;
    }

    /// A phase of an operation of the host has begun: a read that came during the one before may
    /// suspend it.
    pub(super) fn try_suspend_program(&mut self, unit: UnitId) {
        let pages = &self.units[unit.index()].riders.programs;
        if self.arbiter.may_suspend_program(unit, pages, view!(self)) {
            self.suspend_program(unit);
        }
    }

    #[inline(never)]
    pub(super) fn suspend_program(&mut self, unit: UnitId) {
        let Some(Owner::Host(op)) = self.flash.owner(unit) else { return };
        let suspended = self.flash.suspend(unit, self.now_ns, &mut self.events);
        let Suspended { since_ns, phase_since_ns, .. } = suspended;
        if self.now_ns > phase_since_ns {
            self.notify_busy(What::Array, unit, phase_since_ns, false);
        }
        self.notify_worked(unit);
        let riders = std::mem::take(&mut self.units[unit.index()].riders);
        riders.served(op).for_each(|op| self.notify(Happened::Yields { op, unit }));
        if self.now_ns > since_ns {
            self.notify_operation(unit, Owner::Host(op), since_ns);
        }
        self.counters.programs_suspended += 1;
        self.store.alloc.one_less(unit);
        let suspend_ns = self.arbiter.program_suspended(unit, suspended, &riders.programs);
        self.units[unit.index()].yielded = Some(Box::new((op, riders)));
        self.start_command(unit, Flash::switch(Owner::Yielding, Class::Host, suspend_ns));
    }
}
