//! Allocation: the plane of a page, by the load of the units and the space of the planes.
//!
//! It only answers queries: for writes of the host when they are queued, or when they start, and
//! for copies to other units.

mod groups;
mod stripes;
mod when_idle;

use crate::ftl::Ftl;
use crate::ids::{Lpn, PlaneId, UnitId};
use crate::plan::{Allocation as Kind, Plan};
use groups::Group;
use stripes::Stripes;
use when_idle::WhenIdle;

/// The state of allocation.
#[derive(Clone)]
pub struct Allocation {
    /// Operations that wait at the unit of each plane or are under way.
    loads: Vec<u32>,
    /// The planes of each unit, one unit after the other; empty where loads choose no plane.
    planes_of_units: Vec<PlaneId>,
    planes_per_unit: usize,
    /// In each pool, the place of the plane that is checked first next time.
    next_in_pool: Vec<u32>,
    /// Writes that wait to be programmed together, by pool; empty where planes work alone.
    groups: Vec<Group>,
    /// Whether a write finds its plane when it starts.
    chooses_at_start: bool,
    /// Whether it finds its plane when it is queued, and may find another one.
    moves_queued: bool,
    /// Writes that wait for any unit of their pool.
    pub when_idle: WhenIdle,
    /// Writes where planes share their blocks.
    pub stripes: Stripes,
}

impl Allocation {
    /// Idle units.
    pub fn new(plan: &Plan) -> Self {
        // The planes of one unit have one load, by which none of them is better.
        let has_several_units = |pool| {
            let planes = plan.pools.planes(pool);
            planes.iter().any(|&p| plan.geometry.unit_of(p) != plan.geometry.unit_of(planes[0]))
        };
        let by_load = (plan.allocation != Kind::Striped || plan.gc.copy.is_global())
            && (0..plan.pools.count()).any(has_several_units);
        let planes_per_unit =
            if by_load { plan.geometry.planes / plan.geometry.units } else { 0 } as usize;
        let units = (0..if by_load { plan.geometry.units } else { 0 }).map(UnitId);
        Allocation {
            loads: vec![0; plan.geometry.planes as usize],
            planes_of_units: units
                .flat_map(|unit| plan.geometry.planes_of(unit))
                .copied()
                .collect(),
            planes_per_unit,
            next_in_pool: vec![0; plan.pools.count()],
            groups: Group::of_pools(plan),
            chooses_at_start: plan.chooses_at_start(),
            moves_queued: plan.allocation != Kind::Striped && !plan.chooses_at_start(),
            when_idle: WhenIdle::new(plan),
            stripes: Stripes::new(plan),
        }
    }

    /// Whether a write finds its plane when it starts.
    #[inline(always)]
    pub fn chooses_at_start(&self) -> bool {
        self.chooses_at_start
    }

    /// Whether a write that was queued may wait at another unit as well.
    pub fn may_queue_elsewhere(&self) -> bool {
        self.moves_queued
    }

    /// Whether writes wait for a place in a queue.
    #[inline(always)]
    pub fn has_waiting(&self) -> bool {
        self.when_idle.has_waiting() || self.stripes.has_waiting()
    }

    /// The unit has one operation more, waiting or under way.
    #[inline(always)]
    pub fn one_more(&mut self, unit: UnitId) {
        if self.planes_per_unit > 0 {
            self.loads_of(unit, |load| *load += 1);
        }
    }

    /// The unit has one operation less.
    #[inline(always)]
    pub fn one_less(&mut self, unit: UnitId) {
        if self.planes_per_unit > 0 {
            self.loads_of(unit, |load| *load -= 1);
        }
    }

    #[inline(always)]
    fn loads_of(&mut self, unit: UnitId, change: impl Fn(&mut u32)) {
        let first = unit.index() * self.planes_per_unit;
        for plane in &self.planes_of_units[first..first + self.planes_per_unit] {
            change(&mut self.loads[plane.index()]);
        }
    }

    /// Measuring begins.
    pub fn start_measuring(&mut self) {
        self.next_in_pool.fill(0);
        self.when_idle.start_measuring();
    }

    /// The plane of a write while nothing is timed: by the number of the page, or the next in round
    /// robin. By the most erased pages, a plane that has just been collected gets all writes until
    /// its next collection, as on a drive that is idle between two writes.
    #[inline(always)]
    pub fn plane_for_write(&mut self, plan: &Plan, ftl: &Ftl, lpn: Lpn) -> PlaneId {
        match plan.allocation {
            Kind::Striped => plan.geometry.striped_plane(lpn),
            Kind::Dynamic if plan.untimed_by_erased => self.least_busy_plane(plan, ftl, lpn),
            Kind::Dynamic | Kind::WhenIdle => self.plane_by_turn(plan, ftl, lpn),
        }
    }

    /// The next plane in round robin that has a page. Where a program joins pages, writes have no
    /// other.
    pub fn plane_by_turn(&mut self, plan: &Plan, ftl: &Ftl, lpn: Lpn) -> PlaneId {
        match plan.allocation {
            Kind::WhenIdle => self.next_plane(plan, ftl, lpn),
            Kind::Striped | Kind::Dynamic => self.next_of_pool(plan, ftl, lpn),
        }
    }

    fn next_of_pool(&mut self, plan: &Plan, ftl: &Ftl, lpn: Lpn) -> PlaneId {
        let pool = plan.pools.of_page(&plan.geometry, lpn);
        let planes = plan.pools.planes(pool);
        let (before, rest) = planes.split_at(self.next_in_pool[pool] as usize);
        let mut in_turn = rest.iter().chain(before);
        let chosen = in_turn.find(|&&plane| ftl.host_has_room(plane)).unwrap_or(&planes[0]);
        self.has_chosen(plan, *chosen);
        *chosen
    }

    #[inline(never)]
    fn next_plane(&mut self, plan: &Plan, ftl: &Ftl, lpn: Lpn) -> PlaneId {
        let pool = plan.pools.of_page(&plan.geometry, lpn);
        let found = self.when_idle.plane_in_turn(pool, |_| true, |p| ftl.host_has_room(p));
        found.unwrap_or_else(|| self.fittest_plane(plan, ftl, lpn))
    }

    /// Dynamic allocation: the [`fittest_plane`](Self::fittest_plane). The next in turn is then the
    /// one after it.
    pub fn least_busy_plane(&mut self, plan: &Plan, ftl: &Ftl, lpn: Lpn) -> PlaneId {
        let chosen = self.fittest_plane(plan, ftl, lpn);
        self.has_chosen(plan, chosen);
        chosen
    }

    /// In the page's pool: the least busy plane above its reserve, then the one with the most
    /// erased pages, then the next in turn. When every plane is at its reserve, the best of them.
    #[inline(always)]
    pub fn fittest_plane(&self, plan: &Plan, ftl: &Ftl, lpn: Lpn) -> PlaneId {
        let pool = plan.pools.of_page(&plan.geometry, lpn);
        if plan.pools.count() == 1 {
            let first = self.first_in_rank(ftl);
            if ftl.host_has_room(first) {
                return first;
            }
        }
        let chosen = self.best_plane(plan, ftl, pool, |plane| ftl.host_has_room(plane));
        let chosen = chosen.or_else(|| self.best_plane(plan, ftl, pool, |_| true));
        chosen.unwrap_or(plan.pools.planes(pool)[0])
    }

    /// The plane whose turn it is in the page's pool.
    pub fn plane_in_turn(&self, plan: &Plan, lpn: Lpn) -> PlaneId {
        let pool = plan.pools.of_page(&plan.geometry, lpn);
        plan.pools.planes(pool)[self.next_in_pool[pool] as usize]
    }

    /// The plane after this one is the next in turn of its pool.
    #[inline(always)]
    pub fn has_chosen(&mut self, plan: &Plan, plane: PlaneId) {
        let pool = plan.pools.of_plane(plane);
        self.next_in_pool[pool] = plan.pools.place_after(plane);
    }

    /// The best of the pool's planes that are fit. Fitness costs more than rank, so it is checked
    /// last.
    #[inline(always)]
    pub fn best_plane(
        &self,
        plan: &Plan,
        ftl: &Ftl,
        pool: usize,
        is_fit: impl Fn(PlaneId) -> bool,
    ) -> Option<PlaneId> {
        let (before, rest) = plan.pools.planes(pool).split_at(self.next_in_pool[pool] as usize);
        let mut best = None;
        let mut best_rank = u64::MAX;
        for &plane in rest.iter().chain(before) {
            let (load, free) = (self.loads[plane.index()], ftl.frontiers.free_pages(plane));
            let rank = u64::from(load) << 32 | u64::from(!free);
            if rank < best_rank && is_fit(plane) {
                (best, best_rank) = (Some(plane), rank);
            }
        }
        best
    }

    /// The best of all planes by rank, fit or not. Three passes over two tables need no branch for
    /// each plane, so that a drive of many planes costs little more than one of a few.
    #[inline(never)]
    fn first_in_rank(&self, ftl: &Ftl) -> PlaneId {
        let next = self.next_in_pool[0] as usize;
        let loads = &self.loads[..];
        let free = &ftl.frontiers.free_pages_of_planes()[..loads.len()];
        // Signed numbers and a mask, for which the oldest processors have instructions as well.
        let least = loads.iter().map(|&load| load as i32).fold(i32::MAX, i32::min);
        let mask = |load: u32| u32::from(load as i32 == least).wrapping_neg();
        let of_least = |(&load, &free): (&u32, &u32)| (free & mask(load)) as i32;
        let most = loads.iter().zip(free).map(of_least).fold(0, i32::max);
        let is_best = |&at: &usize| loads[at] as i32 == least && free[at] as i32 == most;
        let best = (next..loads.len()).find(is_best).or_else(|| (0..next).find(is_best));
        PlaneId(best.unwrap_or(0) as u32)
    }
}
