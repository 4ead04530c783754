//! `device.independent_plane_reads`: each plane of a unit reads by itself.

use flashgc_config::Reader;
use flashgc_model::device::Level;
use flashgc_model::plan::CacheOperations;

const KEY: &str = "independent_plane_reads";

/// Planes may read by themselves if the unit has several, and no second read begins in the register
/// of one.
pub fn read(
    table: &Reader<'_>,
    unit: Option<Level>,
    planes_per_die: Option<u32>,
    cache: CacheOperations,
) -> Option<bool> {
    if !table.bool(KEY).unwrap_or(false) {
        return Some(false);
    }
    let (message, help) = if unit == Some(Level::Plane) {
        (
            "independent_plane_reads = true needs units of several planes, but unit = \"plane\", \
             with which all operations of planes are independent",
            "set unit = \"die\", or remove `independent_plane_reads`",
        )
    } else if planes_per_die == Some(1) {
        (
            "independent_plane_reads = true needs dies of several planes, but \
             device.planes_per_die is 1",
            "raise `planes_per_die`, or remove `independent_plane_reads`",
        )
    } else if cache.reads {
        (
            "independent_plane_reads = true cannot be combined with cache reads, of which a unit \
             has one at a time",
            "set cache_operations = \"programs\" or \"none\", or remove \
             `independent_plane_reads`",
        )
    } else {
        return Some(true);
    };
    table.error(KEY, message, help);
    None
}
