//! A drive changes hands: its state is taken out of one simulation and put into another.
//!
//! This is possible while nothing is under way, that is, before measuring begins. What the scheme
//! keeps of its own is worked out again: its policy hears of every sealed block, in the order of
//! sealing, and planes that wanted space go on wanting it where they are short by its marks.

use super::Sim;
use crate::drive::{restore, Carried, Drive, DriveFault};
use crate::ids::{BlockId, PlaneId};
use crate::plan::Plan;
use crate::verify::Watch;

impl<W: Watch> Sim<W> {
    /// A simulation of this plan on a drive in this state.
    pub fn with_drive(plan: Plan, drive: Drive, watch: W) -> Result<(Self, Carried), DriveFault> {
        let age_ns = drive.age_ns;
        let wanted: Vec<bool> = drive.planes.iter().map(|plane| plane.wants).collect();
        let (ftl, mut carried) =
            restore(&plan.geometry, plan.frontier_rules(), &plan.pools, drive)?;
        let mut sim = Sim::with_ftl(plan, ftl, watch);
        sim.age_base_ns = age_ns;
        sim.free_pages_total = 0;
        for (plane, wanted) in (0..sim.plan.geometry.planes).map(PlaneId).zip(wanted) {
            sim.free_pages_total += u64::from(sim.ftl.frontiers.free_pages(plane));
            for block in sim.ftl.sealed_in_order(&sim.plan.geometry, plane) {
                sim.note_restored(plane, block);
            }
            for block in sim.plan.geometry.blocks_of(plane).map(BlockId) {
                sim.gc.changed(&sim.ftl, &sim.plan.geometry, plane, block);
            }
            if wanted && sim.is_short(plane) {
                sim.want_space(plane);
            }
        }
        sim.refill_reserves(&mut carried)?;
        Ok((sim, carried))
    }

    /// The drive in its present state, and the watcher. Nothing may be under way.
    pub fn into_drive(self) -> (Drive, W) {
        assert!(self.outstanding == 0 && self.events.peek().is_none(), "requests are under way");
        let drive = Drive::of(&self.plan.geometry, self.ftl, &self.gc.wants, self.age_base_ns);
        (drive, self.watch)
    }

    /// Whether a plane that wanted space has reason to want it still.
    fn is_short(&self, plane: PlaneId) -> bool {
        let trigger = &self.plan.gc.trigger;
        trigger.soft.is_short(&self.ftl, plane, trigger.inclusive)
            || trigger.stop.is_short(&self.ftl, plane, trigger.inclusive)
            || !self.ftl.host_has_room(plane)
    }

    /// Collects until every plane has as many erased blocks as the scheme keeps for itself. The
    /// scheme that filled the drive may have kept fewer.
    fn refill_reserves(&mut self, carried: &mut Carried) -> Result<(), DriveFault> {
        let moved_before = self.counters.gc_moved;
        for plane in (0..self.plan.geometry.planes).map(PlaneId) {
            while self.ftl.frontiers.free_blocks(plane) < self.plan.gc.reserve_blocks {
                // An erase of sub-blocks may need more room than there is.
                let whole = self.plan.gc.sub_blocks.is_none();
                let Some(victim) = self.fewest_valid(plane).filter(|_| whole) else {
                    return Err(DriveFault(format!(
                        "plane {} has {} erased blocks, the scheme keeps {} for itself, and there \
                         is nothing to collect",
                        plane.0,
                        self.ftl.frontiers.free_blocks(plane),
                        self.plan.gc.reserve_blocks
                    )));
                };
                self.collect_block_untimed(plane, victim);
                carried.collected_blocks += 1;
            }
        }
        carried.moved_pages += self.counters.gc_moved - moved_before;
        Ok(())
    }

    /// The sealed block with the fewest valid pages, if copying them is possible and wins any.
    fn fewest_valid(&self, plane: PlaneId) -> Option<BlockId> {
        let blocks = &self.ftl.blocks;
        let all = self.plan.geometry.blocks_of(plane).map(BlockId);
        let sealed = all.filter(|&block| blocks.is_sealed(block));
        let victim = sealed.min_by_key(|&block| blocks.valid(block))?;
        let valid = blocks.valid(victim);
        // One erased block takes the pages of any victim, whatever the rules of the frontiers.
        let has_room = valid == 0 || self.ftl.frontiers.free_blocks(plane) > 0;
        let invalid = self.plan.geometry.data_pages_of(victim) - valid;
        (invalid > 0 && has_room).then_some(victim)
    }
}
