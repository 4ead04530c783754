//! The calls of the simulation to an arbiter, apart from the question for the next step of a unit:
//! notifications and further questions. Where collections run to their end, most have no effect.

use super::notices::needs_collection;
use super::view::View;
use super::{Arbiter, Interrupt};
use crate::collect::{Jobs, Progress, Stage};
use crate::flash::{Flash, Suspended};
use crate::gc::Gc;
use crate::host::Waiting;
use crate::ids::{PlaneId, Ppn, UnitId};
use crate::owner::Owner;
use crate::plan::Plan;
use crate::stats::Counters;

/// Notifications.
impl Arbiter {
    /// An operation was queued.
    #[inline(always)]
    pub fn queued(&mut self, op: u32, now_ns: u64) {
        if let Some(preemptive) = self.preemptive() {
            preemptive.queued(op, now_ns);
        }
    }

    /// An operation of the host begins. In parallel with another one it waits for that one until it
    /// has the unit.
    #[inline(always)]
    pub fn host_begins(
        &mut self,
        (unit, op): (UnitId, u32),
        (flash, jobs): (&Flash<Owner>, &Jobs),
        now_ns: u64,
        counters: &mut Counters,
    ) {
        if let Some(preemptive) = self.preemptive()
            && !matches!(flash.owner(unit), Some(Owner::Host(_)))
        {
            preemptive.host_begins(unit, op, jobs[unit].is_open(), now_ns, counters);
        }
    }

    /// The host has written a page in a unit, which may pay for copies.
    #[inline(always)]
    pub fn wrote(&mut self, unit: UnitId, jobs: &Jobs) {
        if let Some(preemptive) = self.preemptive() {
            preemptive.wrote(unit, jobs[unit].is_moving());
        }
    }

    /// An operation has ended now that took the unit for `spent_ns`.
    #[inline(always)]
    pub fn ended(
        &mut self,
        (unit, owner): (UnitId, Owner),
        [spent_ns, now_ns]: [u64; 2],
        rooms: (&Waiting, &Jobs, &Gc),
        counters: &mut Counters,
    ) {
        if let Some(preemptive) = self.preemptive() {
            preemptive.ended((unit, owner), [spent_ns, now_ns], rooms, counters);
        }
        if let Some(programs) = self.programs() {
            programs.ended(unit, owner);
        }
    }

    /// An operation of the host has left its unit: the counters get the time for which a collection
    /// delayed it, without the requests before it.
    pub fn host_left(&mut self, unit: UnitId, now_ns: u64, counters: &mut Counters) {
        if let Some(preemptive) = self.preemptive() {
            preemptive.host_left(unit, now_ns, counters);
        }
    }

    /// The write that was loaded in parallel with a program of the collection had to wait for it.
    pub fn loaded_write_waited(&mut self, unit: UnitId) {
        if let Some(preemptive) = self.preemptive() {
            preemptive.loaded_write_waited(unit);
        }
    }

    /// A read of the host has begun in one plane.
    pub fn reads_in_plane(&mut self, unit: UnitId, reader: UnitId) {
        if let Some(preemptive) = self.preemptive() {
            preemptive.reads_in_plane(unit, reader);
        }
    }

    /// It has ended.
    pub fn left_plane(
        &mut self,
        of: [UnitId; 2],
        now_ns: u64,
        (jobs, gc): (&Jobs, &Gc),
        counters: &mut Counters,
    ) {
        if let Some(preemptive) = self.preemptive() {
            preemptive.left_plane(of, needs_collection(of[0], jobs, gc), now_ns, counters);
        }
    }

    /// The collection's operation was suspended. Returns how long that takes, in ns.
    pub fn suspended(&mut self, unit: UnitId, rest: Suspended) -> u64 {
        self.preemptive().map_or(0, |preemptive| preemptive.suspended(unit, rest))
    }

    /// The program of the host was suspended, which has these pages. Returns how long that takes,
    /// in ns.
    pub fn program_suspended(&mut self, unit: UnitId, rest: Suspended, pages: &[Ppn]) -> u64 {
        self.programs().map_or(0, |programs| programs.suspended(unit, rest, pages))
    }

    /// It continues, if there is one: how long that takes, in ns, and the rest of it.
    pub fn program_resumed(&mut self, unit: UnitId) -> Option<(u64, Suspended)> {
        self.programs().and_then(|programs| programs.resumed(unit))
    }

    /// The suspended operation continues, if there is one: how long that takes, in ns, and the rest
    /// of it.
    pub fn resumed(&mut self, unit: UnitId) -> Option<(u64, Suspended)> {
        self.preemptive().and_then(|preemptive| preemptive.resumed(unit))
    }

    /// The suspended read does not continue, since the host has rewritten its pages.
    pub fn gave_up_read(&mut self, unit: UnitId) {
        if let Some(preemptive) = self.preemptive() {
            preemptive.gave_up_read(unit);
        }
    }

    /// The collector polls the queue. Returns how long that takes, in ns.
    pub fn polls(&mut self, unit: UnitId) -> u64 {
        self.preemptive().map_or(0, |preemptive| preemptive.polls(unit))
    }

    /// A request was queued behind one that may not preempt, while copies ran unseen.
    pub fn refused_unseen(&mut self, unit: UnitId, left_ns: u64, now_ns: u64, plan: &Plan) {
        if let Some(preemptive) = self.preemptive() {
            preemptive.refused_unseen(unit, left_ns, now_ns, plan);
        }
    }

    /// Copies that ran unseen are this far.
    pub fn caught_up(&mut self, unit: UnitId, progress: Progress, counters: &mut Counters) {
        if let Some(preemptive) = self.preemptive() {
            preemptive.caught_up(unit, progress, counters);
        }
    }

    /// Takes the reads out that stood aside and may go now, the last first.
    pub fn take_aside(&mut self, unit: UnitId, stays: impl Fn(u32) -> bool) -> Vec<u32> {
        self.preemptive().map_or_else(Vec::new, |preemptive| preemptive.take_aside(unit, stays))
    }
}

/// Questions.
impl Arbiter {
    /// A request has come to a unit: what the operation under way does. A program of the host has
    /// these pages.
    #[inline(always)]
    pub fn request_came(
        &mut self,
        unit: UnitId,
        op: u32,
        pages: &[Ppn],
        view: View<'_>,
    ) -> Interrupt {
        if view.flash.owner(unit) != Some(Owner::Collection) {
            let suspends = self.may_suspend_program(unit, pages, view);
            return if suspends { Interrupt::SuspendProgram } else { Interrupt::None };
        }
        match self.preemptive() {
            Some(it) if it.rules.suspends.is_some() => it.request_came(unit, op, &mut { view }),
            _ => Interrupt::None,
        }
    }

    /// Whether a read that waits suspends the program of the host under way, which has these pages.
    #[inline(always)]
    pub fn may_suspend_program(&mut self, unit: UnitId, pages: &[Ppn], view: View<'_>) -> bool {
        self.programs().is_some_and(|it| it.may_suspend(unit, pages, &mut { view }))
    }

    /// Whether a request that waits suspends the collection's operation under way.
    #[inline(always)]
    pub fn may_interrupt(&mut self, unit: UnitId, view: View<'_>) -> bool {
        self.preemptive().is_some_and(|preemptive| {
            preemptive.may_interrupt(unit, &mut { view }) == Interrupt::Suspend
        })
    }

    /// Whether requests may run in parallel with the steps of a collection, and whether its
    /// operations may be suspended.
    #[inline(always)]
    pub fn overlaps(&mut self) -> [bool; 2] {
        self.preemptive().map_or([false; 2], |it| [it.rules.pipeline, it.rules.suspends.is_some()])
    }

    /// The write that is loaded while the collection's pages are programmed.
    #[inline(always)]
    pub fn write_to_load(&mut self, unit: UnitId, view: View<'_>) -> Option<(u32, u8)> {
        match self.preemptive() {
            Some(it) if it.may_load(unit) && view.flash.second(unit).is_none() => {
                it.preempting_write(unit, &mut { view })
            }
            _ => None,
        }
    }

    /// Whether the collection's next pages are read while a read of the host leaves.
    #[inline(always)]
    pub fn reads_ahead(&mut self, unit: UnitId, view: View<'_>) -> bool {
        let rests = view.jobs[unit].stage() == Stage::Copying
            && view.waiting.count(unit) == 0
            && !self.is_suspended(unit);
        match self.preemptive() {
            Some(preemptive) if rests => preemptive.reads_ahead(unit, &mut { view }),
            _ => false,
        }
    }

    /// Whether the next operation of this list may join one that starts.
    pub fn lets_join(&mut self, unit: UnitId, next: (u32, u8), view: View<'_>) -> bool {
        self.preemptive().is_none_or(|it| it.entrant(unit, &mut { view }) == Some(next))
    }

    /// Whether a write may join one that starts in another plane.
    pub fn lets_write(&self, unit: UnitId, plane: PlaneId, view: &View<'_>) -> bool {
        !self.is_preemptive() || view.plane_takes_write(unit, plane)
    }
}
