//! Writes that are done for the host when their data is in the register, and pages of summaries.

use super::Sim;
use crate::flash::Kind;
use crate::ids::UnitId;
use crate::owner::Owner;
use crate::plan::WriteCompletion;
use crate::verify::{Happened, Watch};

impl<W: Watch> Sim<W> {
    /// The next phase of an operation has begun. Where the host waits for its data to be in the
    /// register only, a write is done when its program begins.
    #[inline(always)]
    pub(super) fn may_be_loaded(&mut self, unit: UnitId) {
        if self.plan.write_completion == WriteCompletion::Loaded {
            self.is_loaded(unit);
        }
    }

    #[inline(never)]
    fn is_loaded(&mut self, unit: UnitId) {
        let Some(Owner::Host(op)) = self.flash.owner(unit) else { return };
        if self.flash.phase(unit).is_none_or(|phase| phase.kind != Kind::Program) {
            return;
        }
        if W::ACTIVE {
            let waited = self.flash.waited_for_bus(unit);
            self.tell(Happened::Loading { unit, waited });
        }
        self.instant.goes_on();
        let mut loaded = 0;
        for at in 0..=self.units[unit.index()].group.len() {
            let op = if at == 0 { op } else { self.units[unit.index()].group[at - 1] };
            loaded += u64::from(self.host.is_loaded(op, &mut context!(self)));
        }
        // A run may end before the programs do.
        self.counters.array_programs += loaded;
        if loaded > 0 {
            self.summaries_ended(unit);
        }
        self.note_served();
    }

    /// The summaries that an operation of the host wrote are done.
    #[inline(always)]
    pub(super) fn summaries_ended(&mut self, unit: UnitId) {
        let filled = std::mem::take(&mut self.units[unit.index()].filled);
        if filled > 0 {
            context!(self).count_summaries(u64::from(filled));
        }
    }
}
