//! Planes of a die that work together: which operations share an array time, and how dynamic
//! allocation groups writes so that they can share one.
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

use super::Sim;
use crate::device::Level;
use crate::host::{Op, OpKind};
use crate::ids::{PlaneId, UnitId};
use crate::plan::{Allocation, Plan};
use crate::verify::Watch;

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
        let is_used = plan.allocation == Allocation::Dynamic && plan.geometry.shape.multi_plane > 1;
        vec![Group::default(); if is_used { plan.pools.count() } else { 0 }]
    }
}

impl<W: Watch> Sim<W> {
    /// The plane of a write that is queued now: another one in the die of the group that waits, or
    /// the least busy.
    pub(super) fn plane_in_group(&mut self, op: u32) -> PlaneId {
        let Op { lpn, sequence, .. } = *self.host.waiting.op(op);
        let pool = self.plan.pools.of_page(&self.plan.geometry, lpn);
        let mut group = std::mem::take(&mut self.groups[pool]);
        let beside = self.best_beside(pool, &group.planes, |_| true);
        let plane = match beside {
            Some(plane) => {
                self.has_chosen(plane);
                plane
            }
            None => {
                group.opener = sequence;
                group.planes.clear();
                self.least_busy_plane(lpn)
            }
        };
        group.planes.push(plane);
        self.groups[pool] = group;
        plane
    }

    /// An operation leaves its queue: a group that it began is closed.
    pub(super) fn group_is_left(&mut self, op: u32) {
        let Op { lpn, sequence, .. } = *self.host.waiting.op(op);
        let pool = self.plan.pools.of_page(&self.plan.geometry, lpn);
        let group = &mut self.groups[pool];
        if group.opener == sequence {
            group.planes.clear();
        }
    }

    /// The best plane of the pool, in the die of these planes, that is none of them and has room;
    /// none where one operation serves no more.
    fn best_beside(
        &self,
        pool: usize,
        planes: &[PlaneId],
        is_fit: impl Fn(PlaneId) -> bool,
    ) -> Option<PlaneId> {
        let &first = planes.first()?;
        if planes.len() >= self.plan.geometry.shape.multi_plane as usize {
            return None;
        }
        let die = self.plan.geometry.part_of(first, Level::Die);
        self.best_plane(pool, |ftl, plane| {
            self.plan.geometry.part_of(plane, Level::Die) == die
                && !planes.contains(&plane)
                && is_fit(plane)
                && ftl.host_has_room(plane)
        })
    }

    /// Multi-plane operation: the next operations of the list that do the same in other planes of
    /// the die join, in their order, up to the first that does not fit.
    pub(super) fn share(&mut self, unit: UnitId, first: PlaneId, writes: bool, list: u8) {
        let mut planes = vec![first];
        while planes.len() < self.plan.geometry.shape.multi_plane as usize {
            let Some(op) = self.host.waiting.peek(unit, list) else { return };
            if self.preempting.on && self.entrant(unit) != Some((op, list)) {
                return;
            }
            let joins = match writes {
                true => self.plane_of_joining_write(unit, op, list, &planes),
                false => self.plane_of_joining_read(op, &planes),
            };
            let Some(plane) = joins else { return };
            if self.start_page(unit, op, list).is_none() {
                return;
            }
            planes.push(plane);
            self.units[unit.index()].group.push(op);
        }
    }

    /// Whether a plane is another one of the die.
    fn is_beside(&self, plane: PlaneId, planes: &[PlaneId]) -> bool {
        let die = |plane| self.plan.geometry.part_of(plane, Level::Die);
        die(plane) == die(planes[0]) && !planes.contains(&plane)
    }

    fn plane_of_joining_read(&self, op: u32, planes: &[PlaneId]) -> Option<PlaneId> {
        let Op { lpn, kind, .. } = *self.host.waiting.op(op);
        let ppn = self.ftl.map.ppn_of(lpn);
        if !matches!(kind, OpKind::Read | OpKind::ReadRest) || !ppn.is_some() {
            return None;
        }
        Some(self.plan.geometry.plane_of(ppn)).filter(|&plane| self.is_beside(plane, planes))
    }

    /// Where allocation is dynamic, the plane of a write may change when it joins.
    fn plane_of_joining_write(
        &mut self,
        unit: UnitId,
        op: u32,
        list: u8,
        planes: &[PlaneId],
    ) -> Option<PlaneId> {
        if self.host.waiting.op(op).kind != OpKind::Write {
            return None;
        }
        let own = self.plane_to_start(op);
        if self.is_beside(own, planes) && self.ftl.host_has_room(own) {
            return Some(own);
        }
        if self.plan.allocation == Allocation::Striped {
            return None;
        }
        let lpn = self.host.waiting.op(op).lpn;
        let pool = self.plan.pools.of_page(&self.plan.geometry, lpn);
        let plane = self.best_beside(pool, planes, |plane| !self.host.waiting.is_held(plane))?;
        if self.preempting.on && !self.plane_takes_write(unit, plane) {
            return None;
        }
        // It waits first in the unit, and so it does in the queue of its new plane.
        self.host.waiting.take(op, list);
        self.host.waiting.queue_at(op, plane);
        Some(plane)
    }
}
