//! Groups of writes for the planes of a die that work together.
//!
//! Life of a *group*:
//! 1. A write finds no group in its pool that waits. It goes to the least busy plane, as always,
//!    and with it a group begins in the die of that plane.
//! 2. The writes after it go to other planes of this die, one each, until the group has as many as
//!    one program serves.
//! 3. The first write of the group leaves its queue, since the die is free: the group is closed,
//!    and for later writes the least busy plane is chosen again. So no write waits for others.
//! 4. The program takes the group, and the other operations at the head of the queue: a write whose
//!    plane is among those already goes to another one of the die that has room.

use super::Allocation;
use crate::device::Level;
use crate::ftl::Ftl;
use crate::ids::{Lpn, PlaneId};
use crate::plan::{Allocation as Kind, Plan};

/// Writes of one pool that wait to be programmed together.
#[derive(Clone, Default)]
pub(super) struct Group {
    /// The first of them, by order of arrival.
    opener: u64,
    /// Their planes; none where no group waits.
    planes: Vec<PlaneId>,
}

impl Group {
    /// A group for each pool; none where allocation is not dynamic, or planes work alone.
    pub(super) fn of_pools(plan: &Plan) -> Vec<Group> {
        let is_used = plan.allocation == Kind::Dynamic && plan.geometry.shape.multi_plane > 1;
        vec![Group::default(); if is_used { plan.pools.count() } else { 0 }]
    }
}

impl Allocation {
    /// The plane of a write that is queued now, the `sequence`th operation of the host: another one
    /// in the die of the group that waits, or the least busy.
    pub fn plane_as_queued(&mut self, plan: &Plan, ftl: &Ftl, lpn: Lpn, sequence: u64) -> PlaneId {
        if self.groups.is_empty() {
            return self.least_busy_plane(plan, ftl, lpn);
        }
        let pool = plan.pools.of_page(&plan.geometry, lpn);
        let mut group = std::mem::take(&mut self.groups[pool]);
        let beside = self.best_beside(plan, ftl, pool, &group.planes, |_| true);
        let plane = match beside {
            Some(plane) => {
                self.has_chosen(plan, plane);
                plane
            }
            None => {
                group.opener = sequence;
                group.planes.clear();
                self.least_busy_plane(plan, ftl, lpn)
            }
        };
        group.planes.push(plane);
        self.groups[pool] = group;
        plane
    }

    /// An operation leaves its queue, with its page and its place in the order of arrival: a group
    /// that it began is closed.
    #[inline(always)]
    pub fn leaves_queue(&mut self, plan: &Plan, left: impl FnOnce() -> (Lpn, u64)) {
        if self.groups.is_empty() {
            return;
        }
        let (lpn, sequence) = left();
        let pool = plan.pools.of_page(&plan.geometry, lpn);
        let group = &mut self.groups[pool];
        if group.opener == sequence {
            group.planes.clear();
        }
    }

    /// The best plane of the pool, in the die of these planes, that is none of them and has room;
    /// none where one operation serves no more.
    pub fn best_beside(
        &self,
        plan: &Plan,
        ftl: &Ftl,
        pool: usize,
        planes: &[PlaneId],
        is_fit: impl Fn(PlaneId) -> bool,
    ) -> Option<PlaneId> {
        let &first = planes.first()?;
        if plan.allocation == Kind::Striped {
            return None;
        }
        if planes.len() >= plan.geometry.shape.multi_plane as usize {
            return None;
        }
        let die = plan.geometry.part_of(first, Level::Die);
        self.best_plane(plan, ftl, pool, |plane| {
            plan.geometry.part_of(plane, Level::Die) == die
                && !planes.contains(&plane)
                && is_fit(plane)
                && ftl.host_has_room(plane)
        })
    }
}
