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

use super::task::{Rest, Task, Work};
use crate::collect::is_kept_out;
use crate::context::Context;
use crate::event::Slot;
use crate::gc::{Idle, MeanCollection, Wait};
use crate::ids::{BlockId, PlaneId, UnitId};
use crate::plan::Plan;
use crate::store::sight;
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
#[derive(Clone)]
pub struct IdleCollection {
    plan: Idle,
    state: State,
    mean: MeanCollection,
    /// Units whose open collection began since the drive was idle.
    opened: Vec<bool>,
}

impl IdleCollection {
    /// The task of a scheme that has the idle trigger.
    pub fn new(plan: &Plan) -> Option<Self> {
        let opened = vec![false; plan.geometry.units as usize];
        let (state, mean) = (State::Busy, MeanCollection::default());
        Some(IdleCollection { plan: plan.gc.idle.clone()?, state, mean, opened })
    }

    fn wait_ns(&self) -> u64 {
        match self.plan.wait {
            Wait::MeanCollection => self.mean.ns(),
            Wait::Ns(ns) => ns,
        }
    }
}

impl<W: Watch> Task<W> for IdleCollection {
    fn host_came(&mut self, cx: &mut Context<'_, W>) {
        if self.state == State::Waiting {
            cx.events.clear(Slot::Idle);
        }
        self.state = State::Busy;
    }

    /// The timer begins.
    fn host_rests(&mut self, at: &mut Rest<'_, W>) -> bool {
        if !at.host.is_finished() && self.state == State::Busy {
            self.state = State::Waiting;
            at.cx.events.post(Slot::Idle, at.cx.now_ns + self.wait_ns());
        }
        false
    }

    /// The drive is idle.
    fn timer_ended(&mut self, at: &mut Rest<'_, W>) {
        self.state = State::Idle;
        for unit in (0..at.cx.plan.geometry.units).map(UnitId) {
            at.store.gc.call_unit(unit);
        }
    }

    fn next(&mut self, unit: UnitId, at: &mut Rest<'_, W>) -> Option<Work> {
        let is_kept_out = || is_kept_out(at.cx.plan, unit, &at.host.waiting);
        if self.state != State::Idle || at.jobs[unit].is_open() || is_kept_out() {
            return None;
        }
        let (plane, victim) = self.victim(unit, at)?;
        self.opened[unit.index()] = true;
        Some(Work::Collect(plane, victim))
    }

    /// Its time goes into the mean.
    fn collection_ended(&mut self, unit: UnitId, elapsed_ns: u64, cx: &mut Context<'_, W>) {
        self.mean.add(elapsed_ns);
        let was_idle = std::mem::take(&mut self.opened[unit.index()]);
        cx.counters.idle_collections += u64::from(was_idle);
    }
}

impl IdleCollection {
    /// The block that an idle unit collects, each plane in its turn: one that frees a page, in a
    /// plane below the proactive threshold.
    fn victim<W: Watch>(&self, unit: UnitId, at: &mut Rest<'_, W>) -> Option<(PlaneId, BlockId)> {
        let plan = at.cx.plan;
        let inclusive = plan.gc.trigger.inclusive;
        for turn in at.store.gc.turns_of(unit, &sight!(at.store, at.cx)) {
            let plane = plan.geometry.planes_of(unit)[turn];
            let wins = at.store.ftl.blocks.reclaimable[plane.index()] > 0;
            if !wins || !self.plan.threshold.is_short(&at.store.ftl, plane, inclusive) {
                continue;
            }
            // A policy may choose a block without an invalid page; to collect it before there is a
            // need frees no page.
            let victim = at.store.pick_victim(plane, &at.cx).filter(|&block| {
                let valid = at.store.ftl.blocks.valid(block);
                plan.gc.sub_blocks.is_some() || plan.geometry.won(block, valid) > 0
            });
            if let Some(victim) = victim {
                at.store.gc.had_turn(unit, turn, &sight!(at.store, at.cx));
                return Some((plane, victim));
            }
        }
        None
    }
}
