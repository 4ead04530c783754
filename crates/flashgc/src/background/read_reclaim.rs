//! Read reclaim: blocks that are read often are collected, under load too.
//!
//! 1. The array reads a flash page for the host: one more read of its block since its erase.
//! 2. With the last read of its limit the block is due, and waits behind those of its unit that
//!    were due before.
//! 3. The unit's next collection is that of the first due block which is sealed and whose valid
//!    pages find room, at the place in the order of service that `when` names.
//! 4. It is a collection as any other: its copies go where the scheme's copies go, and it blocks
//!    and is preempted as they are. It ends with this block.
//! 5. A block that was collected before, for its space, is not due any more.

use super::task::{Rest, Task, Work};
use crate::collect::is_kept_out;
use crate::context::Context;
use crate::ftl::blocks::BlockState;
use crate::gc::{Precedence, ReadReclaim};
use crate::ids::{BlockId, PlaneId, Ppn, UnitId};
use crate::plan::Plan;
use crate::store::Store;
use crate::verify::{Happened, Watch};
use std::collections::VecDeque;

/// The reads of a block, which end with its erase.
#[derive(Clone, Copy, Default)]
struct Reads {
    /// Erases of the block when they were counted.
    erases: u32,
    count: u32,
}

/// Read reclaim of a scheme.
#[derive(Clone)]
pub struct Reclaiming {
    rules: ReadReclaim,
    /// For each block.
    reads: Vec<Reads>,
    /// For each unit the blocks that are due, the first one first, each with its erases then.
    due: Vec<VecDeque<(BlockId, u32)>>,
    /// Units whose open collection is that of a due block.
    opened: Vec<bool>,
    is_idle: bool,
}

impl Reclaiming {
    /// The task of a scheme that has it. No block has been read.
    pub fn new(plan: &Plan) -> Option<Self> {
        let geometry = &plan.geometry;
        let units = geometry.units as usize;
        Some(Reclaiming {
            rules: plan.gc.background.read_reclaim?,
            reads: vec![Reads::default(); geometry.blocks as usize],
            due: vec![VecDeque::new(); units],
            opened: vec![false; units],
            is_idle: false,
        })
    }

    /// A block that is due, with its plane, if one can be collected now. Those that were erased or
    /// retired since leave the list.
    fn first_due(
        &mut self,
        unit: UnitId,
        plan: &Plan,
        store: &Store,
    ) -> Option<(PlaneId, BlockId)> {
        let (blocks, due) = (&store.ftl.blocks, &mut self.due[unit.index()]);
        due.retain(|&(block, erases)| {
            blocks.erases(block) == erases && blocks.state(block) != BlockState::Retired
        });
        let sealed = due.iter().map(|&(block, _)| block).filter(|&block| blocks.is_sealed(block));
        sealed
            .map(|block| (plan.geometry.plane_of_block(block), block))
            .find(|&(plane, block)| store.can_reclaim(plane, block, plan))
    }
}

impl<W: Watch> Task<W> for Reclaiming {
    fn host_came(&mut self, _cx: &mut Context<'_, W>) {
        self.is_idle = false;
    }

    /// The drive is idle from now on.
    fn host_rests(&mut self, at: &mut Rest<'_, W>) -> bool {
        if self.is_idle || at.host.is_finished() {
            return false;
        }
        self.is_idle = true;
        let units = (0..at.cx.plan.geometry.units).map(UnitId);
        units.filter(|unit| !self.due[unit.index()].is_empty()).for_each(|unit| {
            at.store.gc.call_unit(unit);
        });
        false
    }

    fn page_read(&mut self, page: Ppn, at: &mut Rest<'_, W>) {
        let geometry = &at.cx.plan.geometry;
        let block = geometry.block_of(page);
        let erases = at.store.ftl.blocks.erases(block);
        let reads = &mut self.reads[block.index()];
        if reads.erases != erases {
            *reads = Reads { erases, count: 0 };
        }
        reads.count += 1;
        let unit = geometry.unit_of(geometry.plane_of(page));
        if reads.count == self.rules.limit {
            self.due[unit.index()].push_back((block, erases));
        }
        // A block that cannot be collected yet holds up no request.
        if self.rules.when == Precedence::BeforeHost && !self.due[unit.index()].is_empty() {
            let is_due = self.first_due(unit, at.cx.plan, at.store).is_some();
            at.store.gc.set_work(unit, is_due);
        }
    }

    fn next(&mut self, unit: UnitId, at: &mut Rest<'_, W>) -> Option<Work> {
        if self.due[unit.index()].is_empty() || at.jobs[unit].is_open() || at.host.is_finished() {
            return None;
        }
        let plan = at.cx.plan;
        let is_now = match self.rules.when {
            Precedence::BeforeHost => true,
            Precedence::UnitIdle => at.host.waiting.count(unit) == 0,
            Precedence::DriveIdle => self.is_idle,
        };
        if !is_now || is_kept_out(plan, unit, &at.host.waiting) {
            return None;
        }
        let chosen = self.first_due(unit, plan, at.store);
        if chosen.is_none() {
            at.store.gc.set_work(unit, false);
        }
        let (plane, block) = chosen?;
        self.opened[unit.index()] = true;
        at.cx.notify(Happened::Reclaimed { block });
        Some(Work::Collect(plane, block))
    }

    fn collection_ended(&mut self, unit: UnitId, _elapsed_ns: u64, cx: &mut Context<'_, W>) {
        let was_due = std::mem::take(&mut self.opened[unit.index()]);
        cx.counters.read_reclaims += u64::from(was_due);
    }
}
