//! The memory that the tables of a collector will take, before they are there.

use super::windows::Costs;
use super::{Gc, GcPlan};
use crate::device::{Geometry, Shape};

/// The blocks of each plane of the smaller of two drives.
const BLOCKS: u64 = 64;

/// The bytes of the tables of victims and placement, from those of two drives with fewer blocks: a
/// drive may be too large for the memory of the machine.
pub fn table_bytes(plan: &GcPlan, geometry: &Geometry, costs: Costs) -> u64 {
    let shape = &geometry.shape;
    let own = u64::from(shape.blocks_per_plane);
    let bytes = |blocks: u64| {
        let exported = u64::from(shape.exported_pages_per_plane) * blocks / own;
        let small = Geometry::new(Shape {
            blocks_per_plane: blocks as u32,
            exported_pages_per_plane: exported as u32,
            ..shape.clone()
        });
        Gc::new(plan, &small, costs, 0).table_bytes()
    };
    if own <= 2 * BLOCKS {
        return bytes(own);
    }
    let (few, more) = (bytes(BLOCKS), bytes(2 * BLOCKS));
    more + more.saturating_sub(few) * (own - 2 * BLOCKS) / BLOCKS
}
