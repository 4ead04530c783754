//! Program and erase failures on a device with a scheme.

use super::refused::{refuse, refused};
use crate::block_list::FAILING;
use crate::device::Device;
use crate::spare;
use flashgc_config::Reader;
use flashgc_model::device::{FailurePlan, FailureRules, Geometry, Shape, Timing};
use flashgc_model::gc::GcPlan;

/// Erased blocks of each plane that are kept in addition to the reserve of the scheme: a collection
/// that loses its victim needs one more.
pub fn reserve_blocks(device: &Device) -> u32 {
    u32::from(device.failures.is_some())
}

/// The pages that a scheme reserves, with an additional block where operations fail.
pub fn reserve_pages(device: &Device, shape: &Shape, pages: u32) -> u32 {
    if pages == 0 { 0 } else { pages + reserve_blocks(device) * shape.data_pages() }
}

/// The times of a device, and whether programs are made again.
pub fn timing(device: &Device) -> Timing {
    let programs_fail = device.failures.as_ref().is_some_and(FailureRules::programs_fail);
    Timing { programs_fail, ..device.timing }
}

/// Notes an error where blocks cannot be retired by themselves.
pub fn check(root: &Reader<'_>, device: &Device, shape: &Shape, gc: &GcPlan) -> Option<()> {
    let Some(rules) = &device.failures else { return Some(()) };
    let rows = vec![
        refused(
            shape.sub_blocks > 1,
            ("gc.erase.use", Some("\"block\"")),
            "a part of a block cannot be retired by itself",
        ),
        refused(
            device.shape.lanes > 1 || device.shape.planes_in_step > 1,
            ("device.superblock", None),
            "the blocks of a superblock are not replaced one by one",
        ),
        refused(
            rules.programs_fail() && device.timing.passes.is_some(),
            ("device.timing.program", None),
            "a program in two passes cannot move to another block between them",
        )
        .remedied_by(("device.failures.program", None)),
        refused(
            rules.programs_fail() && gc.copy.parity(),
            ("gc.copy.use", None),
            "the page that follows a failed program may be of the wrong parity",
        )
        .remedied_by(("device.failures.program", None)),
    ];
    refuse(root, rows, "device.failures", "remove device.failures")
}

/// The failures of a device whose scheme is known. Notes an error for a block that is not there.
pub fn plan(
    root: &Reader<'_>,
    device: &Device,
    geometry: &Geometry,
    gc: &GcPlan,
) -> Option<Option<FailurePlan>> {
    let Some(rules) = &device.failures else { return Some(None) };
    let shape = &geometry.shape;
    let programs = shape.pages_per_block / shape.program_slots;
    let listed = rules.at.iter().map(|at| (at.block, at.program));
    let table = root.table("device").table("failures");
    FAILING.check(&table, listed, (geometry.blocks, programs))?;
    Some(Some(FailurePlan {
        rules: rules.clone(),
        spare_blocks: spare::blocks_to_lose(shape, gc),
        least_blocks: gc.reserve_blocks - reserve_blocks(device),
        least_pages: gc.reserve_pages.saturating_sub(reserve_pages(device, shape, 1) - 1),
    }))
}
