//! An aged drive.

use crate::precondition::PreconditionPlan;
use crate::space::word;
use flashgc_config::Reader;
use flashgc_model::drive::aged_blocks;
use flashgc_model::gc::GcPlan;
use flashgc_model::plan::Plan;

/// An aged drive must have the erased blocks that collection keeps for itself.
pub fn check(
    table: &Reader<'_>,
    precondition: &PreconditionPlan,
    plan: &Plan,
    filler: Option<&GcPlan>,
) {
    let Some(ratio) = precondition.aged_ratio else { return };
    if !plan.geometry.shape.kinds.is_one() {
        let message = "fill = \"aged\" needs blocks of equal size, but some blocks of this drive \
                       hold fewer pages";
        table.error(
            "aged_ratio",
            message,
            "set precondition.fill = \"sequential\"; or, where layers isolate sub-blocks, \
             gc.erase.sub-blocks.isolation = \"software\"",
        );
        return;
    }
    let blocks = plan.geometry.shape.blocks_per_plane;
    let (aged, written) = aged_blocks(&plan.geometry, ratio);
    let reserve = plan.gc.reserve_blocks.max(filler.map_or(0, |gc| gc.reserve_blocks));
    if blocks - aged < reserve {
        table.error(
            "aged_ratio",
            format!(
                "aged_ratio = {ratio} fills {aged} of the {blocks} blocks of each plane, with \
                 {written} invalid pages each, but collection reserves {reserve} erased {}",
                word(&plan.geometry.shape, reserve.into())
            ),
            "give a smaller ratio, or more blocks per plane (device.blocks_per_plane)",
        );
    }
}
