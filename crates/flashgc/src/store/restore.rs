//! A drive changes hands: its state is taken out of one simulation and put into another.
//!
//! This is possible while nothing is under way, that is, before measuring begins. The scheme's own
//! state is rebuilt: its policy is notified of every sealed block, in the order of sealing, and
//! planes that needed space still need it where they are short by its thresholds. State that cannot
//! be rebuilt is kept with the drive, for a scheme with the same state.

use super::Store;
use crate::context::Context;
use crate::drive::{Carried, Drive, DriveFault, restore};
use crate::gc::placement::{kept_by, take_kept};
use crate::ids::{BlockId, PlaneId};
use crate::plan::Plan;
use crate::verify::Watch;

/// The store of a plan on a drive in this state. Its reserves may have to be
/// [refilled](Store::refill_reserves).
pub fn restored(plan: &Plan, mut drive: Drive) -> Result<(Store, Carried), DriveFault> {
    let own = kept_by(&plan.gc, plan.window_costs());
    let kept = drive.kept.take().filter(|kept| own.as_ref() == Some(&kept.by));
    let age_ns = drive.age_ns;
    let needed: Vec<bool> = drive.planes.iter().map(|plane| plane.triggered).collect();
    let geometry = &plan.geometry;
    let (ftl, carried) = restore(geometry, plan.frontier_rules(), &plan.pools, drive)?;
    let mut store = Store::new(plan, ftl);
    store.age_base_ns = age_ns;
    for (plane, needed) in (0..geometry.planes).map(PlaneId).zip(needed) {
        let sealed = store.ftl.sealed_in_order(geometry, plane);
        store.ftl.stamps.assume(geometry, &sealed);
        for block in sealed {
            let valid = store.ftl.blocks.valid(block);
            store.gc.restored(plane, block, valid);
        }
        for block in geometry.blocks_of(plane).map(BlockId) {
            store.gc.changed(&store.ftl, geometry, plane, block);
        }
        if needed && store.is_short(plan, plane) {
            store.gc.request_space(plane, geometry);
        }
    }
    if let Some(kept) = kept {
        let placement = store.gc.placement.as_deref_mut();
        take_kept(&plan.gc, &kept, geometry, placement, &mut store.ftl)?;
    }
    Ok((store, carried))
}

impl Store {
    /// Whether a plane that needed space still needs it.
    fn is_short(&self, plan: &Plan, plane: PlaneId) -> bool {
        let trigger = &plan.gc.trigger;
        trigger.soft.is_short(&self.ftl, plane, trigger.inclusive)
            || trigger.stop.is_short(&self.ftl, plane, trigger.inclusive)
            || !self.ftl.host_has_room(plane)
    }

    /// Collects until every plane has the erased space that the scheme reserves and, on a drive
    /// with failing blocks, the space that failures require. The scheme that filled the drive may
    /// have reserved less.
    ///
    /// Where the reserve is counted in pages, the number of erased blocks is not a measure of it:
    /// copies of several streams may have opened more of them than they fill.
    pub fn refill_reserves<W: Watch>(
        &mut self,
        carried: &mut Carried,
        cx: &mut Context<'_, W>,
    ) -> Result<(), DriveFault> {
        let plan = cx.plan;
        let moved_before = cx.counters.gc_moved;
        let all = (plan.gc.reserve_blocks, plan.gc.reserve_pages);
        let failures = plan.failures.as_ref();
        let least = failures.map(|failures| (failures.least_blocks, failures.least_pages));
        let (kept, what) = match least.unwrap_or(all) {
            (blocks, 0) => (blocks, "blocks"),
            (_, pages) => (pages, "pages"),
        };
        for plane in (0..plan.geometry.planes).map(PlaneId) {
            let erased = |store: &Self| match plan.gc.reserve_pages {
                0 => store.ftl.frontiers.free_blocks(plane),
                _ => store.ftl.frontiers.free_pages(plane),
            };
            while erased(self) < kept {
                // An erase of sub-blocks may need more room than there is.
                let whole = plan.gc.sub_blocks.is_none();
                let Some(victim) = self.fewest_valid(plan, plane).filter(|_| whole) else {
                    // Without writes there is no need for space, and the data can be read.
                    if self.ftl.gives_up_writes() {
                        self.pass_on_facts(cx);
                        break;
                    }
                    return Err(DriveFault(format!(
                        "plane {} has too few erased {what} ({} of the {kept} that the scheme \
                         reserves), and nothing can be collected",
                        plane.0,
                        erased(self)
                    )));
                };
                self.collect_block(plane, victim, cx);
                carried.collected_blocks += 1;
            }
        }
        carried.moved_pages += cx.counters.gc_moved - moved_before;
        Ok(())
    }

    /// The sealed block with the fewest valid pages, if copying them is possible and frees any.
    fn fewest_valid(&self, plan: &Plan, plane: PlaneId) -> Option<BlockId> {
        let blocks = &self.ftl.blocks;
        let all = plan.geometry.blocks_of(plane).map(BlockId);
        let sealed = all.filter(|&block| blocks.is_sealed(block));
        let victim = sealed.min_by_key(|&block| blocks.valid(block))?;
        let won = plan.geometry.won(victim, blocks.valid(victim));
        // No class is chosen in advance here, and copies without a block of theirs go to others.
        let taken = plan.geometry.data_pages_of(victim) - won;
        let any_class = plan.gc.classes() > 0 && self.ftl.frontiers.free_pages(plane) >= taken;
        (won > 0 && (any_class || self.can_move(plan, plane, victim))).then_some(victim)
    }

    /// Whether the erased blocks of a plane, which may be fewer than its scheme reserves, take the
    /// pages of a block.
    #[cold]
    pub(super) fn can_move(&self, plan: &Plan, plane: PlaneId, block: BlockId) -> bool {
        let valid = self.ftl.blocks.valid(block);
        // One erased block takes the pages of any victim, whatever the rules of the frontiers; but
        // pages of several classes may need one each.
        let needed = plan.gc.classes_of_copies().min(valid);
        let frontiers = &self.ftl.frontiers;
        frontiers.free_blocks(plane) >= needed
            || frontiers.left_for_copies(&plan.geometry, plane) >= valid
    }
}
