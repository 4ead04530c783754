//! The state of placement that is saved with a drive: which pages are hot, the block groups, and
//! the class of each open sub-block.

use super::{HotnessGroups, Placement};
use crate::device::Geometry;
use crate::drive::{DriveFault, Kept};
use crate::ftl::frontier::Frontiers;
use crate::gc::GcPlan;
use crate::gc::windows::Costs;
use crate::ids::PlaneId;

/// The settings that the saved numbers depend on; `None` where the scheme saves none.
pub fn kept_by(gc: &GcPlan, costs: Costs) -> Option<String> {
    let settings: &HotnessGroups = gc.hotness_groups.as_ref()?;
    let ranked = if settings.by_invalid_sub_blocks { "invalid sub-blocks" } else { "benefit" };
    Some(format!("{settings:?}; blocks by {ranked}, {costs:?}"))
}

impl Placement {
    /// The state to save with a drive that is taken out of a simulation of this scheme.
    pub fn keep(&self, gc: &GcPlan, costs: Costs, frontiers: &Frontiers) -> Option<Kept> {
        let planes = (0..self.planes.len() as u32).map(PlaneId);
        let mut numbers: Vec<u32> = planes.map(|plane| frontiers.open_classes(plane)).collect();
        self.hotness.keep(&mut numbers);
        numbers.extend(&self.drawn);
        self.planes.iter().for_each(|groups| groups.keep(&mut numbers));
        kept_by(gc, costs).map(|by| Kept { by, numbers })
    }

    /// Continues from the saved state. The groups have the numbers of erased sub-blocks of the
    /// drive, and its open ones wait for their classes.
    pub fn take_kept(
        &mut self,
        kept: &Kept,
        geometry: &Geometry,
        frontiers: &mut Frontiers,
    ) -> Result<(), DriveFault> {
        let mut numbers = kept.numbers.iter();
        let mut take = || {
            for plane in (0..self.planes.len() as u32).map(PlaneId) {
                frontiers.give_to_classes(geometry, plane, *numbers.next()?)?;
            }
            self.hotness.take_kept(&mut numbers)?;
            for drawn in &mut self.drawn {
                *drawn = *numbers.next().filter(|&&block| block < self.blocks)?;
            }
            for groups in &mut self.planes {
                groups.take_kept(&mut numbers)?;
            }
            numbers.next().is_none().then_some(())
        };
        take().ok_or_else(|| DriveFault("its hotness counters are not valid".into()))
    }
}
