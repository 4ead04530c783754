//! A drive changes hands: its state is taken out of one simulation and put into another.
//!
//! This is possible while nothing is under way, that is, before measuring begins. The scheme's own
//! state is rebuilt: its policy is notified of every sealed block, in the order of sealing, and
//! planes that needed space still need it where they are short by its thresholds. State that cannot
//! be rebuilt is kept with the drive, for a scheme with the same state.

use super::Sim;
use crate::drive::{Carried, Drive, DriveFault, restore};
use crate::gc::placement::kept::kept_by;
use crate::ids::{BlockId, PlaneId};
use crate::plan::Plan;
use crate::verify::Watch;

impl<W: Watch> Sim<W> {
    /// A simulation of this plan on a drive in this state.
    pub fn with_drive(
        plan: Plan,
        mut drive: Drive,
        watch: W,
    ) -> Result<(Self, Carried), DriveFault> {
        let kept = drive
            .kept
            .take()
            .filter(|kept| kept_by(&plan.gc, plan.window_costs()).as_ref() == Some(&kept.by));
        let age_ns = drive.age_ns;
        let wanted: Vec<bool> = drive.planes.iter().map(|plane| plane.wants).collect();
        let (ftl, mut carried) =
            restore(&plan.geometry, plan.frontier_rules(), &plan.pools, drive)?;
        let mut sim = Sim::with_ftl(plan, ftl, watch);
        sim.age_base_ns = age_ns;
        for (plane, wanted) in (0..sim.plan.geometry.planes).map(PlaneId).zip(wanted) {
            for block in sim.ftl.sealed_in_order(&sim.plan.geometry, plane) {
                let valid = sim.ftl.blocks.valid(block);
                sim.gc.restored(plane, block, valid);
            }
            for block in sim.plan.geometry.blocks_of(plane).map(BlockId) {
                sim.gc.changed(&sim.ftl, &sim.plan.geometry, plane, block);
            }
            if wanted && sim.is_short(plane) {
                sim.gc.want_space(plane, &sight!(sim));
            }
        }
        if let (Some(placement), Some(kept)) = (&mut sim.gc.placement, kept) {
            placement.take_kept(&kept, &sim.plan.geometry, &mut sim.ftl.frontiers)?;
        }
        sim.refill_reserves(&mut carried)?;
        Ok((sim, carried))
    }

    /// The drive in its present state, and the watcher. Nothing may be under way.
    pub fn into_drive(self) -> (Drive, W) {
        assert!(self.host.outstanding() == 0 && self.events.is_empty(), "requests are under way");
        let kept = self.gc.placement.as_ref().and_then(|placement| {
            placement.keep(&self.plan.gc, self.plan.window_costs(), &self.ftl.frontiers)
        });
        let drive = Drive::of(&self.plan.geometry, self.ftl, &self.gc.wants, self.age_base_ns);
        let drive = Drive { kept, ..drive };
        (drive, self.watch)
    }

    /// Whether a plane that needed space still needs it.
    fn is_short(&self, plane: PlaneId) -> bool {
        let trigger = &self.plan.gc.trigger;
        trigger.soft.is_short(&self.ftl, plane, trigger.inclusive)
            || trigger.stop.is_short(&self.ftl, plane, trigger.inclusive)
            || !self.ftl.host_has_room(plane)
    }

    /// Collects until every plane has as much erased space as the scheme keeps for itself. The
    /// scheme that filled the drive may have kept less.
    ///
    /// Where the reserve is counted in pages, the number of erased blocks is not a measure of it:
    /// copies of several streams may have opened more of them than they fill.
    fn refill_reserves(&mut self, carried: &mut Carried) -> Result<(), DriveFault> {
        let moved_before = self.counters.gc_moved;
        let (kept, what) = match self.plan.gc.reserve_pages {
            0 => (self.plan.gc.reserve_blocks, "blocks"),
            pages => (pages, "pages"),
        };
        for plane in (0..self.plan.geometry.planes).map(PlaneId) {
            let erased = |sim: &Self| match sim.plan.gc.reserve_pages {
                0 => sim.ftl.frontiers.free_blocks(plane),
                _ => sim.ftl.frontiers.free_pages(plane),
            };
            while erased(self) < kept {
                // An erase of sub-blocks may need more room than there is.
                let whole = self.plan.gc.sub_blocks.is_none();
                let Some(victim) = self.fewest_valid(plane).filter(|_| whole) else {
                    return Err(DriveFault(format!(
                        "plane {} has too few erased {what} ({} of the {kept} that the scheme \
                         reserves), and nothing can be collected",
                        plane.0,
                        erased(self)
                    )));
                };
                self.collect_block_untimed(plane, victim);
                carried.collected_blocks += 1;
            }
        }
        carried.moved_pages += self.counters.gc_moved - moved_before;
        Ok(())
    }

    /// The sealed block with the fewest valid pages, if copying them is possible and frees any.
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
