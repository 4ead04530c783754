//! Copies that run unseen (`collect/unseen.rs`): when they begin and end.

use super::Sim;
use crate::arbiter::{Choice, Turn};
use crate::event::Slot;
use crate::host::OpKind;
use crate::ids::UnitId;
use crate::verify::Watch;

impl<W: Watch> Sim<W> {
    /// The next step of a free unit, by an arbiter that needs its view in memory.
    #[inline(never)]
    pub(super) fn next_apart(&mut self, unit: UnitId, turn: &mut Turn) -> Choice {
        self.arbiter.next(unit, turn, view!(self))
    }

    /// The copies that are left begin, unseen. Returns whether there are any that may.
    #[inline(never)]
    pub(super) fn begins_unseen(&mut self, unit: UnitId) -> bool {
        let bus = self.plan.geometry.bus_of(unit);
        let places = [self.events.place(Slot::Unit(unit)), self.events.place(Slot::Bus(bus))];
        let command = collecting!(self).run_unseen(unit, places);
        self.begins(unit, command)
    }

    /// A request was queued at a unit whose copies run unseen. Returns whether it leaves them
    /// unseen: another one waits before it, and may not preempt either.
    pub(super) fn waits_unseen(&mut self, unit: UnitId, op: u32) -> bool {
        let is_write = self.host.waiting.op(op).kind == OpKind::Write;
        if !is_write || self.host.waiting.is_first(unit, op) {
            return false;
        }
        let progress = self.jobs.unseen_by(unit, self.now_ns, self.events.last_place());
        self.arbiter.refused_unseen(unit, progress.left_ns, self.now_ns, &self.plan);
        true
    }

    /// An interval of the watcher ends before this event: it gets the present state. Returns
    /// whether it did: else copies ran unseen, whose steps may end before.
    #[cold]
    #[inline(never)]
    pub(super) fn watch_looks(&mut self, at_ns: u64) -> bool {
        if self.look_into_all() {
            return false;
        }
        let sample = self.seen().sample();
        self.watch.look(at_ns, &sample);
        true
    }

    /// Operations that end at one instant end together, and nothing starts before the last of them:
    /// if a phase of unseen copies ends at the instant of the next event, it is seen. Returns
    /// whether one does.
    #[inline(never)]
    pub(super) fn ends_unseen(&mut self, at_ns: u64) -> bool {
        let (mut ends_one, mut at) = (false, 0);
        while let Some(unit) = self.jobs.unseen(at) {
            let progress = self.jobs.unseen_by(unit, at_ns, 0);
            let ends = progress.left_ns == 0 && !self.jobs.is_last_unseen(unit, progress);
            match ends {
                true => self.catch_up_to(unit, progress),
                false => at += 1,
            }
            ends_one |= ends;
        }
        ends_one
    }

    /// The last of the copies that ran unseen has ended, if they did. Where requests may preempt,
    /// their time was counted as that of an array phase.
    #[inline(always)]
    pub(super) fn note_unseen_ended(&mut self, unit: UnitId) {
        if self.plan.gc.preemption.is_none() && self.jobs[unit].is_unseen() {
            self.last_unseen_ended(unit);
        }
    }

    #[inline(never)]
    fn last_unseen_ended(&mut self, unit: UnitId) {
        let work = collecting!(self).work_unseen(unit);
        self.count_unseen(unit, work);
    }

    /// A block is about to be erased, so that free space is least now: pages that were taken unseen
    /// are taken.
    pub(super) fn count_taken_unseen(&mut self) {
        if self.switches.runs_unseen {
            let taken = self.jobs.taken_unseen(self.now_ns, self.events.last_place());
            self.store.ftl.frontiers.note_taken(taken);
        }
    }
}
