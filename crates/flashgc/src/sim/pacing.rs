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

use super::Sim;
use super::owner::Owner;
use super::service::Next;
use crate::collect::Job;
use crate::collect::Stage;
use crate::flash::Op;
use crate::ftl::Stream;
use crate::gc::TimeSlices;
use crate::ids::{Ppn, UnitId};
use crate::verify::Watch;

/// The state of each unit.
#[derive(Clone, Default)]
struct Slices {
    /// When the present time slice began, in ns; `None` between time slices.
    since_ns: Option<u64>,
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
pub(super) struct Pacing {
    rules: TimeSlices,
    units: Vec<Slices>,
}

impl Pacing {
    pub(super) fn new(rules: TimeSlices, units: u32) -> Self {
        Pacing { rules, units: vec![Slices::default(); units as usize] }
    }

    /// When a collection of this unit last worked below the floor, in ns.
    pub(super) fn below_until_ns(&self, unit: UnitId) -> u64 {
        self.units[unit.index()].below_until_ns
    }
}

impl<W: Watch> Sim<W> {
    /// Whether the present time slice of a unit has room for the collection's next operation.
    pub(super) fn slice_goes_on(&self, unit: UnitId) -> bool {
        let Some(pacing) = &self.pacing else { return true };
        let Some(since_ns) = pacing.units[unit.index()].since_ns else { return false };
        self.now_ns + self.next_step_ns(unit) - since_ns <= pacing.rules.length_ns
    }

    /// Time that the next operation of a collection takes if nothing makes it wait: the copies of a
    /// step, read and programmed, or the erase.
    fn next_step_ns(&self, unit: UnitId) -> u64 {
        let job = &self.jobs[unit];
        let pages: Vec<Ppn> = self.pages_of_next_step(job).collect();
        let (count, prices) = (pages.len(), &self.prices);
        if count == 0 {
            return prices.nominal(Op::Erase, 1).total_ns();
        }
        let stays = self.plan.gc.copy.stays_in_plane();
        let [read, program] = match stays {
            true => [Op::ReadRegisters, Op::ProgramRegisters],
            false => [Op::Read, Op::Program],
        };
        let read_ns = prices.reading(read, count, pages.into_iter()).total_ns();
        let Some(plane) = job.plane.filter(|_| !self.plan.gc.copy.is_global()) else {
            return read_ns;
        };
        let nominal = prices.nominal(program, count);
        if !prices.asks_for_pages() {
            return read_ns + nominal.total_ns();
        }
        let frontiers = &self.ftl.frontiers;
        let to = frontiers.upcoming(&self.plan.geometry, plane, Stream::Gc, count as u32);
        let slowest_ns = match to {
            Some(to) => to.map(|page| prices.program_ns(page)).max().unwrap_or(0),
            None => prices.slowest_program_ns(),
        };
        read_ns + nominal.total_ns() - nominal.array_ns() + slowest_ns
    }

    /// The pages of the next step: those of one list that are still valid, in order.
    fn pages_of_next_step<'a>(&'a self, job: &'a Job) -> impl Iterator<Item = Ppn> + 'a {
        let is_valid =
            move |at: &usize| self.ftl.is_valid(&self.plan.geometry, job.copies[*at].from);
        let first = (job.next..job.copies.len()).find(is_valid);
        let list = first.map_or(0..0, |first| first..job.list_end(first));
        let at_once = self.plan.gc.copy.at_once() as usize;
        list.filter(is_valid).take(at_once).map(|at| job.copies[at].from)
    }

    /// A time slice is over: the next one, a request, or neither.
    #[inline(never)]
    pub(super) fn next_between_slices(&mut self, unit: UnitId) -> Next {
        let is_below = self.is_below_floor(unit);
        let Some(pacing) = &mut self.pacing else { return Next::Nothing };
        let turns = &mut pacing.units[unit.index()];
        turns.since_ns = None;
        if is_below || turns.is_owed {
            return self.begin_slice(unit, is_below);
        }
        if let Some((op, list)) = self.entrant(unit) {
            return Next::Host(op, list);
        }
        // Requests that may not preempt wait for this collection, or for the space that it frees.
        let waits = self.host.waiting.count(unit) > 0
            || !self.starved.is_empty()
            || self.aside.waits_at(unit);
        let Some(pacing) = &mut self.pacing else { return Next::Nothing };
        let turns = &mut pacing.units[unit.index()];
        if !waits && turns.in_gap >= pacing.rules.per_gap {
            return Next::Nothing;
        }
        turns.in_gap += 1;
        self.begin_slice(unit, false)
    }

    fn begin_slice(&mut self, unit: UnitId, is_below: bool) -> Next {
        let Some(pacing) = &mut self.pacing else { return Next::Nothing };
        let turns = &mut pacing.units[unit.index()];
        turns.since_ns = Some(self.now_ns);
        turns.is_below = is_below;
        turns.is_owed = false;
        self.counters.time_slices += 1;
        Next::Step
    }

    fn is_below_floor(&self, unit: UnitId) -> bool {
        let Some(pacing) = &self.pacing else { return false };
        let planes = self.plan.geometry.planes_of(unit);
        planes.iter().any(|&plane| pacing.rules.floor.is_short(&self.ftl, plane, false))
    }

    /// An operation of the host has ended: a gap begins, and after a write the open collection is
    /// due for a time slice.
    pub(super) fn gap_begins(&mut self, unit: UnitId, op: u32) {
        let Some(pacing) = &mut self.pacing else { return };
        let is_write = self.host.waiting.op(op).kind == crate::host::OpKind::Write;
        let is_wanted = self.jobs[unit].is_open() || self.gc.unit_wants(unit);
        let turns = &mut pacing.units[unit.index()];
        turns.since_ns = None;
        turns.in_gap = 0;
        turns.is_owed |= is_write && is_wanted;
    }

    /// An operation of a collection has ended.
    pub(super) fn slice_worked(&mut self, unit: UnitId, owner: Owner, spent_ns: u64) {
        let Some(pacing) = &mut self.pacing else { return };
        let turns = &mut pacing.units[unit.index()];
        if owner == Owner::Collection && turns.is_below {
            turns.below_until_ns = self.now_ns;
            self.counters.below_floor_ns += spent_ns;
        }
    }

    /// A write found no page anywhere: collections that wait for a gap continue.
    #[cold]
    pub(super) fn hurry_all(&mut self) {
        for unit in (0..self.plan.geometry.units).map(UnitId) {
            if self.jobs[unit].stage == Stage::Copying {
                self.look_at(unit);
            }
        }
    }
}
