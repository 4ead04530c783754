//! Where an operation of the host waits: its plane, and its queue among those of the plane.

use super::Binding;
use crate::host::{Op, OpKind};
use crate::ids::{Lpn, PlaneId};
use crate::plan::Allocation;
use crate::verify::{Happened, Watch};

impl<W: Watch> Binding<'_, W> {
    /// Whether an operation waits for its plane from now on: a write of a device that chooses among
    /// idle units, or whose planes share their blocks.
    #[inline(never)]
    pub fn waits_for_place(&mut self, op: u32) -> bool {
        let Op { lpn, kind, sequence, .. } = *self.host.waiting.op(op);
        let plan = self.cx.plan;
        if kind != OpKind::Write {
            return false;
        }
        if plan.geometry.has_superblocks() {
            self.store.alloc.waits_for_page(plan, lpn, sequence, op);
        } else {
            let pool = plan.pools.of_page(&plan.geometry, lpn);
            self.store.alloc.when_idle.waits(pool, sequence, op);
            self.cx.notify(Happened::AwaitsIdle { op });
        }
        true
    }

    /// The plane in whose queue an operation waits, where it needs flash.
    #[inline(always)]
    pub fn plane_of(&mut self, op: u32) -> Option<PlaneId> {
        let Op { lpn, kind, queued, plane, .. } = *self.host.waiting.op(op);
        if !queued && plane != PlaneId::NONE {
            // It waits behind another operation on its page.
            return Some(plane);
        }
        let plane = match self.cx.plan.allocation {
            Allocation::Striped => self.cx.plan.geometry.striped_plane(lpn),
            Allocation::Dynamic | Allocation::WhenIdle => self.dynamic_plane(op)?,
        };
        (!self.host.keeps_order() || !self.touches_nothing(lpn, kind)).then_some(plane)
    }

    /// Whether an operation needs no flash: trims, and reads of pages that were never written.
    #[inline]
    fn touches_nothing(&self, lpn: Lpn, kind: OpKind) -> bool {
        match kind {
            OpKind::Write => false,
            OpKind::Trim => true,
            OpKind::Read | OpKind::ReadRest => !self.store.ftl.map.ppn_of(lpn).is_some(),
        }
    }

    /// Where dynamic allocation queues an operation: reads where the data is.
    #[inline]
    fn dynamic_plane(&mut self, op: u32) -> Option<PlaneId> {
        let Op { lpn, kind, sequence, .. } = *self.host.waiting.op(op);
        let (plan, ftl) = (self.cx.plan, &self.store.ftl);
        if kind == OpKind::Write {
            // Where the plane is chosen later, any plane of the pool names the queue.
            return Some(match self.store.alloc.chooses_at_start() {
                true => plan.geometry.striped_plane(lpn),
                false => self.store.alloc.plane_as_queued(plan, ftl, lpn, sequence),
            });
        }
        let ppn = ftl.map.ppn_of(lpn);
        ppn.is_some().then(|| plan.geometry.plane_of(ppn))
    }

    /// Where planes in step read by themselves, or planes share their blocks, the place among them
    /// of the page of an operation.
    #[inline(never)]
    pub fn step_of(&self, op: u32) -> u32 {
        let (geometry, page) = (&self.cx.plan.geometry, self.page_of(op));
        let is_write = self.host.waiting.op(op).kind == OpKind::Write;
        if geometry.has_superblocks() {
            let page = if is_write { self.store.alloc.stripes.page_of(op) } else { page };
            return if page.is_some() { geometry.lane_of(page) } else { 0 };
        }
        if is_write || !page.is_some() {
            return 0;
        }
        (geometry.reader_of(page).0 - geometry.units) % geometry.shape.planes_in_step
    }
}
