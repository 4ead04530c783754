//! Allocation when idle: a write waits for its pool and not for a unit, and the first unit of the
//! pool that is idle takes it.
//!
//! Life of a write:
//! 1. It waits in the list of its pool, in the order of arrival.
//! 2. A unit is idle, and so is its bus: round robin over the buses, the units of a bus and the
//!    planes of a unit. Busy units are skipped, and so are planes that are blocked or short of
//!    pages.
//! 3. The write enters the queue of that unit and starts there.

use crate::device::Pools;
use crate::ids::{BusId, Lpn, PlaneId, UnitId};
use crate::plan::{Allocation as Kind, Plan};
use std::collections::VecDeque;

/// Buses, units or planes that take turns.
#[derive(Clone, Default)]
struct Turns {
    next: usize,
}

impl Turns {
    /// The places from the one whose turn it is, around.
    fn order(&self, count: usize) -> impl Iterator<Item = usize> + use<> {
        (self.next..count).chain(0..self.next)
    }

    /// This place had its turn.
    fn has_passed(&mut self, place: usize, count: usize) {
        self.next = (place + 1) % count;
    }
}

/// A unit and the planes of the pool in it, in the order of striping.
#[derive(Clone)]
struct Part {
    unit: UnitId,
    planes: Vec<PlaneId>,
    turns: Turns,
}

/// A bus and the units of the pool at it, in the order of striping.
#[derive(Clone)]
struct Bus {
    id: BusId,
    parts: Vec<Part>,
    turns: Turns,
}

/// A pool: its buses in the order of striping, and the writes that wait for one of their units.
#[derive(Clone, Default)]
struct Pool {
    buses: Vec<Bus>,
    turns: Turns,
    waiting: VecDeque<(u64, u32)>,
}

/// The pools of a device whose writes wait for an idle unit.
#[derive(Clone, Default)]
pub struct WhenIdle {
    pools: Vec<Pool>,
    /// Writes that wait in all pools.
    count: usize,
}

impl WhenIdle {
    /// Nothing waits. Without pools where writes find their plane in another way.
    pub(super) fn new(plan: &Plan) -> Self {
        if plan.allocation != Kind::WhenIdle {
            return WhenIdle::default();
        }
        let geometry = &plan.geometry;
        let mut pools = vec![Pool::default(); plan.pools.count()];
        // Striping gives the first pages a plane each.
        for plane in (0..geometry.planes).map(|page| geometry.striped_plane(Lpn(page))) {
            let unit = geometry.unit_of(plane);
            let buses = &mut pools[plan.pools.of_plane(plane)].buses;
            let parts = &mut bus_in(buses, geometry.bus_of(unit)).parts;
            match parts.iter_mut().find(|part| part.unit == unit) {
                Some(part) => part.planes.push(plane),
                None => parts.push(Part { unit, planes: vec![plane], turns: Turns::default() }),
            }
        }
        WhenIdle { pools, count: 0 }
    }

    /// Measuring begins: the turns begin anew.
    pub(super) fn start_measuring(&mut self) {
        for pool in &mut self.pools {
            pool.turns = Turns::default();
            for bus in &mut pool.buses {
                bus.turns = Turns::default();
                bus.parts.iter_mut().for_each(|part| part.turns = Turns::default());
            }
        }
    }

    /// Whether any write waits.
    #[inline(always)]
    pub fn has_waiting(&self) -> bool {
        self.count > 0
    }

    /// A write waits for its pool, at the place of its arrival.
    pub fn waits(&mut self, pool: usize, sequence: u64, op: u32) {
        let waiting = &mut self.pools[pool].waiting;
        let at = waiting.partition_point(|&(other, _)| other < sequence);
        waiting.insert(at, (sequence, op));
        self.count += 1;
    }

    /// The first write that a unit takes, and its plane: one that is open and has a page for it.
    /// Where no plane of a pool has a page, an idle unit takes the write as well, so that it makes
    /// space.
    pub fn take(
        &mut self,
        pools: &Pools,
        is_idle: impl Fn(UnitId) -> bool,
        has_room: impl Fn(PlaneId) -> bool,
        is_open: impl Fn(PlaneId) -> bool,
    ) -> Option<(u32, PlaneId)> {
        for pool in 0..self.pools.len() {
            if self.pools[pool].waiting.is_empty() {
                continue;
            }
            let is_full = is_full(pools, pool, &has_room);
            let takes = |plane| is_full || has_room(plane) && is_open(plane);
            if let Some(plane) = self.plane_in_turn(pool, &is_idle, takes) {
                let (_, op) = self.pools[pool].waiting.pop_front()?;
                self.count -= 1;
                return Some((op, plane));
            }
        }
        None
    }

    /// Whether no plane of a pool for which writes wait has a page for them.
    pub fn has_full_pool(&self, pools: &Pools, has_room: impl Fn(PlaneId) -> bool) -> bool {
        let mut needed = (0..self.pools.len()).filter(|&pool| !self.pools[pool].waiting.is_empty());
        needed.any(|pool| is_full(pools, pool, &has_room))
    }

    /// The plane whose turn it is, of those that take a write in a unit that is idle.
    pub(super) fn plane_in_turn(
        &mut self,
        pool: usize,
        is_idle: impl Fn(UnitId) -> bool,
        takes: impl Fn(PlaneId) -> bool,
    ) -> Option<PlaneId> {
        let Pool { buses, turns, .. } = &mut self.pools[pool];
        let count = buses.len();
        for at in turns.order(count) {
            if let Some(plane) = buses[at].plane_in_turn(&is_idle, &takes) {
                turns.has_passed(at, count);
                return Some(plane);
            }
        }
        None
    }
}

/// Whether no plane of a pool has a page.
fn is_full(pools: &Pools, pool: usize, has_room: impl Fn(PlaneId) -> bool) -> bool {
    for &plane in pools.planes(pool) {
        if has_room(plane) {
            return false;
        }
    }
    true
}

impl Bus {
    fn plane_in_turn(
        &mut self,
        is_idle: impl Fn(UnitId) -> bool,
        takes: impl Fn(PlaneId) -> bool,
    ) -> Option<PlaneId> {
        let units = self.parts.len();
        for at in self.turns.order(units) {
            let Part { unit, planes, turns } = &mut self.parts[at];
            if !is_idle(*unit) {
                continue;
            }
            for place in turns.order(planes.len()) {
                if takes(planes[place]) {
                    turns.has_passed(place, planes.len());
                    self.turns.has_passed(at, units);
                    return Some(planes[place]);
                }
            }
        }
        None
    }
}

/// The bus of a list, which gets it if it does not have it.
fn bus_in(buses: &mut Vec<Bus>, id: BusId) -> &mut Bus {
    let at = buses.iter().position(|bus| bus.id == id).unwrap_or_else(|| {
        buses.push(Bus { id, parts: Vec::new(), turns: Turns::default() });
        buses.len() - 1
    });
    &mut buses[at]
}
