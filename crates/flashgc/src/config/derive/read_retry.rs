//! Read retries on a device whose blocks are known.

use crate::config::device::Device;
use crate::device::{Geometry, LostPage, ReadRetry};
use flashgc_config::Reader;

/// The retries of a device. Notes an error for a page that is not there.
pub fn plan(root: &Reader<'_>, device: &Device, geometry: &Geometry) -> Option<Option<ReadRetry>> {
    let Some(rules) = &device.read_retry else { return Some(None) };
    let shape = &geometry.shape;
    let pages = shape.pages_per_block * shape.sub_blocks / shape.slots;
    let blocks = geometry.blocks / shape.sub_blocks;
    let is_missing = |lost: &&LostPage| lost.block >= blocks || lost.page >= pages;
    if let Some(lost) = rules.uncorrectable.iter().find(is_missing) {
        let LostPage { block, page, .. } = lost;
        root.table("device").table("read_retry").error(
            "uncorrectable",
            format!(
                "uncorrectable names block {block}, page {page}, but the device has {blocks} \
                 blocks of {pages} pages"
            ),
            "numbers begin at 0",
        );
        return None;
    }
    Some(Some(rules.clone()))
}
