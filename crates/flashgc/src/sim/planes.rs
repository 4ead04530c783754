//! Planes of a die that work together: which operations share an array time.

use super::Sim;
use crate::device::Level;
use crate::host::{Op, OpKind};
use crate::ids::{PlaneId, UnitId};
use crate::plan::Allocation;
use crate::verify::Watch;

impl<W: Watch> Sim<W> {
    /// Multi-plane operation: the next operations of the list that do the same in other planes of
    /// the die join, in their order, up to the first that does not fit.
    pub(super) fn share(&mut self, unit: UnitId, first: PlaneId, writes: bool, list: u8) {
        let mut planes = vec![first];
        while planes.len() < self.plan.geometry.shape.multi_plane as usize {
            let Some(op) = self.host.waiting.peek(unit, list) else { return };
            if let Some(preemptive) = self.arbiter.preemptive()
                && preemptive.entrant(unit, &mut view!(self)) != Some((op, list))
            {
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
        let ppn = self.store.ftl.map.ppn_of(lpn);
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
        let own = view!(self).plane_to_start(op);
        if self.is_beside(own, planes) && self.store.ftl.host_has_room(own) {
            return Some(own);
        }
        if self.plan.allocation == Allocation::Striped {
            return None;
        }
        let lpn = self.host.waiting.op(op).lpn;
        let pool = self.plan.pools.of_page(&self.plan.geometry, lpn);
        let plane =
            self.store.alloc.best_beside(&self.plan, &self.store.ftl, pool, planes, |plane| {
                !self.host.waiting.is_held(plane)
            })?;
        if self.arbiter.is_preemptive() && !view!(self).plane_takes_write(unit, plane) {
            return None;
        }
        // It waits first in the unit, and so it does in the queue of its new plane.
        self.host.waiting.take(op, list);
        self.host.waiting.queue_at(op, plane);
        Some(plane)
    }
}
