//! `device.multi_plane`: planes of a die that one array operation serves.

use super::layers::PAGES_PER_BLOCK_MAX;
use flashgc_config::Reader;
use flashgc_model::device::{Level, Shape};

/// One array operation may serve several planes of a die if the unit is at least a die.
pub fn read(table: &Reader<'_>, unit: Option<Level>, planes_per_die: Option<u32>) -> Option<u32> {
    if !table.has("multi_plane") {
        return Some(1);
    }
    let planes = table.u32("multi_plane", 1..=64)?;
    if planes > 1 && unit == Some(Level::Plane) {
        table.error(
            "multi_plane",
            format!("multi_plane = {planes} needs units of several planes, but unit = \"plane\""),
            "set unit = \"die\", or remove `multi_plane`",
        );
        return None;
    }
    if planes_per_die.is_some_and(|most| planes > most) {
        let most = planes_per_die.unwrap_or(1);
        let message =
            format!("multi_plane must be at most {most} (device.planes_per_die), got {planes}");
        table.error("multi_plane", message, format!("give at most {most}"));
        return None;
    }
    Some(planes)
}

/// Where programs join pages, the planes of a multi-plane operation work in step: they stand for
/// one.
pub fn put_in_step(table: &Reader<'_>, shape: &mut Shape) -> Option<()> {
    let planes = shape.multi_plane;
    if shape.program_slots == 1 || planes == 1 {
        return Some(());
    }
    let of_die = shape.planes_per_die;
    if !of_die.is_multiple_of(planes) {
        let message = format!(
            "multi_plane must divide device.planes_per_die = {of_die} where programs join pages, \
             got {planes}"
        );
        let help = "the planes of a die work in step in groups of equal size: give a divisor";
        table.error("multi_plane", message, help);
        return None;
    }
    let pages = u64::from(shape.pages_per_block) * u64::from(planes);
    if pages > u64::from(PAGES_PER_BLOCK_MAX) {
        let message = format!(
            "the blocks of {planes} planes in step must have at most {PAGES_PER_BLOCK_MAX} mapped \
             pages together, got {pages}"
        );
        let help = "use a larger mapping_unit, fewer pages_per_block, or a smaller multi_plane";
        table.error("multi_plane", message, help);
        return None;
    }
    *shape = shape.in_step(planes);
    Some(())
}
