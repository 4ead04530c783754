//! Time slices: an open collection continues for a short time, and then the host has the unit
//! (GFTL; paper pre-gc, section 5.1 and Fig. 8; the rules: docs/schemes/gftl.md#the-time-slices).
//!
//! 1. A time slice continues while the collection's next operation ends within its length.
//! 2. Below the floor the next time slice follows at once.
//! 3. Each write that ends while a collection is open is followed by a time slice, before any other
//!    request.
//! 4. In the gap between requests, when none waits at the unit, there is one more time slice
//!    (`per_gap`).
//! 5. A request that cannot be served before the collection has ended does not wait for a gap.

use super::view::View;
use crate::flash::Op;
use crate::ftl::Stream;
use crate::gc::TimeSlices as Rules;
use crate::gc::given::{Made, NextStep, Pacer};
use crate::ids::{Ppn, UnitId};
use crate::operation;
use crate::plan::Plan;

/// The state of each unit.
#[derive(Clone, Default)]
struct Slices {
    /// When the present time slice began, in ns; `None` between time slices.
    since_ns: Option<u64>,
    /// What its operations would have taken, where those of collections take no time, in ns.
    unspent_ns: u64,
    /// Whether it began below the floor.
    is_below: bool,
    /// When an operation of such a time slice last ended, in ns.
    below_until_ns: u64,
    /// Whether a time slice is due because of a write.
    is_owed: bool,
    /// Time slices in this gap.
    in_gap: u32,
}

/// The time slices of all units.
#[derive(Clone)]
pub struct TimeSlices {
    rules: Rules,
    /// Decides in place of the length.
    pacer: Option<Made<dyn Pacer>>,
    units: Vec<Slices>,
}

impl TimeSlices {
    pub(super) fn new(rules: Rules, plan: &Plan) -> Self {
        let pacer = plan.gc.pacer.as_ref().map(|given| given.make(&plan.geometry));
        TimeSlices { rules, pacer, units: vec![Slices::default(); plan.geometry.units as usize] }
    }

    /// When a collection of this unit last worked below the floor, in ns.
    pub(super) fn below_until_ns(&self, unit: UnitId) -> u64 {
        self.units[unit.index()].below_until_ns
    }

    /// Whether the present time slice of a unit has room for the collection's next operation.
    pub(super) fn goes_on(&mut self, unit: UnitId, view: &View<'_>) -> bool {
        let Some(since_ns) = self.units[unit.index()].since_ns else { return false };
        let (now_ns, step_ns) = (view.now_ns, next_step_ns(unit, view));
        let slice_ns = now_ns - since_ns + self.units[unit.index()].unspent_ns;
        let goes_on = match &mut self.pacer {
            None => slice_ns + step_ns <= self.rules.length_ns,
            Some(pacer) => {
                let planes = view.plan.geometry.planes_of(unit).iter();
                let free = planes.map(|&plane| view.ftl.frontiers.free_pages(plane));
                let waiting = view.waiting.count(unit);
                let free_pages = free.min().unwrap_or(0);
                pacer.continues(NextStep { unit, now_ns, slice_ns, step_ns, waiting, free_pages })
            }
        };
        if goes_on && !view.plan.gc.takes_time() {
            self.units[unit.index()].unspent_ns += step_ns;
        }
        goes_on
    }

    /// A time slice is over: whether another one follows at once.
    pub(super) fn follows(&mut self, unit: UnitId, view: &mut View<'_>) -> bool {
        let is_below = view.is_short(unit, &self.rules.floor);
        let slices = &mut self.units[unit.index()];
        slices.since_ns = None;
        let follows = is_below || slices.is_owed;
        if follows {
            self.begin(unit, is_below, view);
        }
        follows
    }

    /// No request may have the unit now: whether a time slice fills the gap. Where requests wait
    /// for the collection there is no gap to fill.
    pub(super) fn fills_gap(&mut self, unit: UnitId, waits: bool, view: &mut View<'_>) -> bool {
        let slices = &mut self.units[unit.index()];
        if !waits && slices.in_gap >= self.rules.per_gap {
            return false;
        }
        slices.in_gap += 1;
        self.begin(unit, false, view);
        true
    }

    fn begin(&mut self, unit: UnitId, is_below: bool, view: &mut View<'_>) {
        // Its first operation always fits.
        let takes_time = view.plan.gc.takes_time();
        let unspent_ns = if takes_time { 0 } else { next_step_ns(unit, view) };
        let slices = &mut self.units[unit.index()];
        slices.unspent_ns = unspent_ns;
        slices.since_ns = Some(view.now_ns);
        slices.is_below = is_below;
        slices.is_owed = false;
        view.counters.time_slices += 1;
    }

    /// An operation of the host has ended: a gap begins, and after a write the open collection is
    /// due for a time slice.
    pub fn gap_begins(&mut self, unit: UnitId, is_write: bool, is_needed: bool) {
        let slices = &mut self.units[unit.index()];
        slices.since_ns = None;
        slices.in_gap = 0;
        slices.is_owed |= is_write && is_needed;
    }

    /// An operation of the collection has ended. Returns whether it was below the floor.
    pub fn worked(&mut self, unit: UnitId, now_ns: u64) -> bool {
        let slices = &mut self.units[unit.index()];
        if slices.is_below {
            slices.below_until_ns = now_ns;
        }
        slices.is_below
    }
}

/// Time that the next operation of a collection takes if nothing makes it wait: the copies of a
/// step, read and programmed, or the erase.
fn next_step_ns(unit: UnitId, view: &View<'_>) -> u64 {
    let (job, prices, gc) = (&view.jobs[unit], view.prices, &view.plan.gc);
    let is_valid = |page: Ppn| view.ftl.is_valid(&view.plan.geometry, page);
    let pages = || job.next_pages(gc.copy.at_once(), is_valid);
    let count = pages().count();
    if count == 0 {
        return prices.nominal(Op::Erase, 1).total_ns();
    }
    let (read, tables) = ((gc.copy.read_op(), count), (view.ftl, &view.plan.geometry));
    let read_ns = operation::reading(read, pages(), prices, tables).total_ns();
    let Some(plane) = job.plane().filter(|_| !gc.copy.is_global()) else { return read_ns };
    let nominal = prices.nominal(gc.copy.program_op(), count);
    if !prices.needs_pages() {
        return read_ns + nominal.total_ns();
    }
    let frontiers = &view.ftl.frontiers;
    let to = frontiers.upcoming(&view.plan.geometry, plane, Stream::Gc, count as u32);
    let mut slowest_ns = if to.is_none() { prices.slowest_program_ns() } else { 0 };
    for page in to.into_iter().flatten() {
        slowest_ns = slowest_ns.max(prices.program_ns(page));
    }
    read_ns + nominal.total_ns() - nominal.array_ns() + slowest_ns
}
