//! An instant must end: a guard against units that are checked again and again for nothing.
//!
//! Each check of a unit either begins an operation, which takes time, or ends an operation of the
//! host, or finds that there is nothing to do. So between two events, or two operations that end,
//! the number of checks is bounded by units and waiting operations. Where it is far above this
//! bound the engine is at fault, and reports it instead of keeping the caller waiting forever.
//!
//! Where operations that end at one instant end together, nothing starts before the last of them.

use super::{Sim, SimError};
use crate::ids::UnitId;
use crate::plan::Completions;
use crate::verify::Watch;
use std::collections::BTreeSet;

/// Fewer steps are never too many.
const STEPS: u64 = 1 << 20;
/// Steps for each unit and each operation under way.
const STEPS_OF_EACH: u64 = 64;
/// Steps in which the units are found that are checked again and again. One unit may be checked so
/// by itself: it gets the steps of one.
const STEPS_TO_NAME_UNITS: u32 = 4096;

/// The steps since time last advanced, or since an operation or request of
/// the host ended or came.
#[derive(Clone)]
pub(super) struct Instant {
    steps: u64,
    /// With more steps than this the engine is at fault.
    most: u64,
}

impl Default for Instant {
    fn default() -> Self {
        Instant { steps: 0, most: STEPS }
    }
}

impl Instant {
    /// Time advanced, or a request did.
    #[inline(always)]
    pub(super) fn goes_on(&mut self) {
        self.steps = 0;
    }

    /// Counts a step. Returns whether there were too many, which is a fault of the engine.
    #[inline(always)]
    pub(super) fn has_too_many_steps(&mut self) -> bool {
        self.steps += 1;
        self.steps > self.most
    }
}

/// Whether more operations end at this instant, before anything starts.
#[inline(always)]
pub(super) fn awaits_ends<W: Watch>(sim: &mut Sim<W>) -> bool {
    sim.switches.orders_instants && is_followed_by_an_end(sim)
}

#[inline(never)]
fn is_followed_by_an_end<W: Watch>(sim: &mut Sim<W>) -> bool {
    if sim.plan.front.completions != Completions::Together {
        return false;
    }
    let next = sim.events.peek();
    next.is_some_and(|next| next.at_ns == sim.now_ns && sim.events.is_end(next))
}

/// All units that are free have begun: data gets the buses that rest, and then requests outside the
/// device the places inside. Returns whether there is an operation to start now.
#[inline(never)]
pub(super) fn goes_on_late<W: Watch>(sim: &mut Sim<W>) -> bool {
    if sim.flash.has_open_buses() {
        sim.flash.serve_data(sim.now_ns, &mut sim.events);
        return true;
    }
    sim.host.opens_entrance()
}

/// There were many steps in this instant: perhaps since there is much to do.
#[cold]
#[inline(never)]
pub(super) fn look_for_an_end<W: Watch>(sim: &mut Sim<W>) -> Result<(), SimError> {
    let due = (sim.units.len() + sim.host.waiting.slab_len()) as u64 * STEPS_OF_EACH;
    if sim.instant.most < due {
        sim.instant.most = due;
        return Ok(());
    }
    let mut units = BTreeSet::new();
    sim.instant.most = STEPS_OF_EACH;
    for _ in 0..STEPS_TO_NAME_UNITS {
        sim.place_all();
        let Some(unit) = sim.ready.pop() else { break };
        units.insert(unit.0);
        sim.units[unit.index()].listed = false;
        sim.instant.steps = 0;
        sim.start_unit(unit);
    }
    let units = units.into_iter().map(UnitId).collect();
    Err(SimError::Endless { at_ns: sim.now_ns, units, waiting: sim.host.outstanding() })
}
