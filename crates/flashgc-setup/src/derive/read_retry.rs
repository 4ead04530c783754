//! Read retries on a device whose blocks are known.

use crate::block_list::UNCORRECTABLE;
use crate::device::Device;
use flashgc_config::Reader;
use flashgc_model::device::{Geometry, ReadRetry};

/// The retries of a device. Notes an error for a page that is not there.
pub fn plan(root: &Reader<'_>, device: &Device, geometry: &Geometry) -> Option<Option<ReadRetry>> {
    let Some(rules) = &device.read_retry else { return Some(None) };
    let shape = &geometry.shape;
    let pages = shape.pages_per_block * shape.sub_blocks / shape.slots;
    let blocks = geometry.blocks / shape.sub_blocks;
    let listed = rules.uncorrectable.iter().map(|lost| (lost.block, Some(lost.page)));
    let table = root.table("device").table("read_retry");
    UNCORRECTABLE.check(&table, listed, (blocks, pages))?;
    Some(Some(rules.clone()))
}
