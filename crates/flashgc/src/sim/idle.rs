//! The idle trigger: collection while the host has no requests.
//!
//! 1. The last outstanding request is done, and a timer begins.
//! 2. A request comes before the timer ends: nothing happens.
//! 3. The timer ends: the drive is idle. Each unit that has nothing else to do and a plane below
//!    the proactive threshold collects one block, if that frees a page, and then the next.
//! 4. A request comes: no further collection begins. Open collections continue under the rules of
//!    the slots for blocking and preemption.
//!
//! In a closed loop a request follows another without a gap, so that no drive is ever idle.

use super::Sim;
use crate::event::Slot;
use crate::gc::{Idle, MeanCollection, Wait};
use crate::ids::{BlockId, PlaneId, UnitId};
use crate::verify::Watch;

/// Whether the host has requests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Requests are outstanding, or were a moment ago.
    Busy,
    /// Nothing is outstanding, and the timer runs.
    Waiting,
    /// The drive is idle.
    Idle,
}

/// The idle trigger of a scheme.
pub(super) struct IdleTrigger {
    plan: Idle,
    state: State,
    mean: MeanCollection,
    /// Units whose open collection began since the drive was idle.
    opened: Vec<bool>,
}

impl IdleTrigger {
    pub(super) fn new(plan: Idle, units: u32) -> Self {
        let opened = vec![false; units as usize];
        IdleTrigger { plan, state: State::Busy, mean: MeanCollection::default(), opened }
    }

    fn wait_ns(&self) -> u64 {
        match self.plan.wait {
            Wait::MeanCollection => self.mean.ns(),
            Wait::Ns(ns) => ns,
        }
    }
}

impl<W: Watch> Sim<W> {
    /// A request is here.
    #[inline(never)]
    pub(super) fn idle_ends(&mut self) {
        let Some(idle) = &mut self.idle else { return };
        if idle.state == State::Waiting {
            self.events.clear(Slot::Idle);
        }
        idle.state = State::Busy;
    }

    /// Nothing is left to start: where nothing is outstanding either, the timer begins.
    #[inline(always)]
    pub(super) fn wait_for_idle(&mut self) {
        if self.idle.is_some() && self.host.outstanding() == 0 && !self.host.is_finished() {
            self.begin_to_wait();
        }
    }

    #[cold]
    fn begin_to_wait(&mut self) {
        let Some(idle) = self.idle.as_mut().filter(|idle| idle.state == State::Busy) else {
            return;
        };
        idle.state = State::Waiting;
        self.events.post(Slot::Idle, self.now_ns + idle.wait_ns());
    }

    /// The timer has ended: the drive is idle.
    pub(super) fn idle_begins(&mut self) {
        if let Some(idle) = &mut self.idle {
            idle.state = State::Idle;
        }
        for unit in (0..self.plan.geometry.units).map(UnitId) {
            self.look_at(unit);
        }
    }

    /// The block that an idle unit collects while the drive is idle, each plane in its turn: one
    /// that frees a page, in a plane below the proactive threshold.
    #[inline(always)]
    pub(super) fn idle_victim(&mut self, unit: UnitId) -> Option<(PlaneId, BlockId)> {
        match &self.idle {
            Some(idle) if idle.state == State::Idle => self.find_idle_victim(unit),
            _ => None,
        }
    }

    #[cold]
    fn find_idle_victim(&mut self, unit: UnitId) -> Option<(PlaneId, BlockId)> {
        if self.jobs[unit].is_open() {
            return None;
        }
        let mark = self.idle.as_ref()?.plan.threshold;
        let inclusive = self.plan.gc.trigger.inclusive;
        for turn in self.gc.turns_of(unit, &sight!(self)) {
            let plane = self.plan.geometry.planes_of(unit)[turn];
            let wins = self.ftl.blocks.reclaimable[plane.index()] > 0;
            if !wins || !mark.is_short(&self.ftl, plane, inclusive) {
                continue;
            }
            // A policy may choose a block without an invalid page; to collect it before there is a
            // need frees no page.
            let victim = self.gc.pick_victim(plane, &sight!(self)).filter(|&block| {
                self.plan.gc.sub_blocks.is_some()
                    || self.ftl.blocks.valid(block) < self.plan.geometry.data_pages_of(block)
            });
            if let Some(victim) = victim {
                self.gc.had_turn(unit, turn, &sight!(self));
                return Some((plane, victim));
            }
        }
        None
    }

    /// Begins a collection of the idle drive: one block, whatever the batch size of the watermark
    /// is.
    #[inline(never)]
    pub(super) fn open_idle_job(&mut self, unit: UnitId, plane: PlaneId, victim: BlockId) {
        self.open_job(unit, plane, victim);
        self.jobs[unit].batch_left = 1;
        if let Some(idle) = &mut self.idle {
            idle.opened[unit.index()] = true;
        }
    }

    /// A collection has ended: its time goes into the mean.
    #[inline(always)]
    pub(super) fn idle_hears_of_job(&mut self, unit: UnitId) {
        let Some(idle) = &mut self.idle else { return };
        idle.mean.add(self.now_ns - self.jobs[unit].selected_ns);
        let was_idle = std::mem::take(&mut idle.opened[unit.index()]);
        self.counters.idle_collections += u64::from(was_idle);
    }
}
