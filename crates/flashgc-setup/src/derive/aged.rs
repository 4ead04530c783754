//! An aged drive.

use crate::precondition::PreconditionPlan;
use crate::space::word;
use flashgc_config::Reader;
use flashgc_config::units::counted;
use flashgc_model::device::Shape;
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
    let mut collectors = [Some(&plan.gc), filler].into_iter().flatten();
    let erased = Erased::of(&plan.geometry.shape, aged, written);
    let Some(missed) = collectors.find_map(|gc| erased.missed_by(&plan.geometry.shape, gc)) else {
        return;
    };
    table.error(
        "aged_ratio",
        format!(
            "aged_ratio = {ratio} fills {aged} of the {blocks} blocks of each plane, with \
             {written} invalid pages each, but {missed}"
        ),
        "give a smaller ratio, or more blocks per plane (device.blocks_per_plane)",
    );
}

/// The erased space of a plane of an aged drive.
struct Erased {
    blocks: u32,
    pages: u64,
    /// Pages of each aged block.
    of_aged: u64,
}

impl Erased {
    fn of(shape: &Shape, aged: u32, written: u32) -> Self {
        let blocks = shape.blocks_per_plane - aged;
        let of_aged = u64::from(shape.data_pages() - written);
        let pages = u64::from(blocks) * u64::from(shape.data_pages()) + u64::from(aged) * of_aged;
        Erased { blocks, pages, of_aged }
    }

    /// What a collector requires of it and does not find.
    fn missed_by(&self, shape: &Shape, gc: &GcPlan) -> Option<String> {
        let reserve = gc.reserve_blocks;
        if self.blocks < reserve {
            let what = word(shape, reserve.into());
            return Some(format!("collection reserves {reserve} erased {what}"));
        }
        // Aged blocks are collected once they are full, and each stream may have one of its own.
        let streams = 1 + u64::from(gc.streams_beside());
        let needed = u64::from(gc.reserve_pages) + streams * self.of_aged;
        (gc.reserve_pages > 0 && self.pages < needed).then(|| {
            format!(
                "collection and {} need {}, and {} left",
                counted(streams, "open block"),
                counted(needed, "erased page"),
                match self.pages {
                    1 => "1 is".into(),
                    pages => format!("{pages} are"),
                }
            )
        })
    }
}
