//! What cannot work where the map maps slots of a flash page (docs/mapping-unit.md).

use crate::config::device::Device;
use crate::device::Shape;
use crate::gc::GcPlan;
use crate::gc::copy::CopyChoice;
use crate::plan::{Allocation, WriteBuffer, WriteCompletion};
use flashgc_config::Reader;

/// Pages of flash for each plane that the buffer holds if the device names no size: one that is
/// programmed, and one that fills.
const PAGES_OF_A_PLANE: u64 = 2;

/// A write buffer of a device that names none: it joins slots and takes no time of its own.
pub fn default_buffer(shape: &Shape) -> WriteBuffer {
    let slots = shape.planes() * PAGES_OF_A_PLANE * u64::from(shape.slots);
    let pages = slots.min(u32::MAX.into()) as u32;
    WriteBuffer { pages, access_ns: 0, flushes_when_idle: false }
}

/// Checks the device and the scheme.
pub fn check(root: &Reader<'_>, device: &Device, gc: &GcPlan) -> Option<()> {
    if device.shape.slots == 1 {
        return Some(());
    }
    check_device(root, device)?;
    check_scheme(root, gc)
}

fn check_device(root: &Reader<'_>, device: &Device) -> Option<()> {
    let table = root.table("device");
    if device.allocation == Allocation::Striped {
        let message = "joins writes of any address in one page, but device.allocation = \
                       \"striped\" names the plane by the address";
        let help = "set device.allocation = \"dynamic\" or \"when-idle\"";
        table.error("allocation", format!("{BELOW} {message}"), help);
        root.remedy("device.allocation", "dynamic");
        return None;
    }
    // For each key: whether it is in the way, and why.
    let rows = [
        (
            device.pool.is_some(),
            "pool",
            "joins writes of any address in one page, and needs one pool for the whole device",
        ),
        (
            device.shape.multi_plane > 1,
            "multi_plane",
            "cannot be combined with operations on several planes",
        ),
        (device.shape.summary_pages > 0, "summary", "cannot be combined with summaries"),
        (
            device.write_completion == WriteCompletion::Loaded,
            "write_completion",
            "buffers every write, so write_completion = \"loaded\" has no meaning",
        ),
    ];
    if let Some((_, key, why)) = rows.into_iter().find(|(is_refused, ..)| *is_refused) {
        table.error(key, format!("{BELOW} {why}"), format!("remove device.{key}"));
        root.remedy_without(&format!("device.{key}"));
        return None;
    }
    let least = 2 * device.shape.slots;
    match device.write_buffer {
        Some(buffer) if buffer.pages < least => {
            let message = format!(
                "{BELOW} needs a write buffer of at least two flash pages ({least} slots), got \
                 {} slots",
                buffer.pages
            );
            let bytes = u64::from(least) * u64::from(device.shape.page_bytes);
            let help = format!("write size = \"{bytes} B\" or more, or remove the table");
            table.table("write_buffer").error("size", message, help);
            None
        }
        _ => Some(()),
    }
}

const BELOW: &str = "a mapping_unit below page_size";

fn check_scheme(root: &Reader<'_>, gc: &GcPlan) -> Option<()> {
    let is_parallel = matches!(gc.copy, CopyChoice::Parallel(_));
    let background = gc.background.uses_units() || gc.background.flushes_buffer;
    // For each slot: whether its answer moves single flash pages, and the answer that does not.
    let rows = [
        (is_parallel || gc.copy.parity(), "copy", "bus"),
        (gc.sub_blocks.is_some(), "erase", "block"),
        (gc.placement.is_some(), "placement", "one-frontier"),
        (gc.blocking.blocks, "blocking", "plane"),
        (gc.time_slices.is_some(), "pacing", "at-once"),
        (background, "background", "nothing"),
    ];
    let Some((_, slot, other)) = rows.into_iter().find(|(is_refused, ..)| *is_refused) else {
        return check_preemption(root, gc);
    };
    let name = gc.slots.get(slot).map_or("", String::as_str);
    root.table("gc").table(slot).error(
        "use",
        format!(
            "{BELOW} cannot be combined with gc.{slot}.use = {name:?}, which moves flash pages"
        ),
        format!("set gc.{slot}.use = {other:?}, or remove device.mapping_unit"),
    );
    root.remedy_without("device.mapping_unit");
    None
}

/// The slots that a collection has read wait in the controller, so that no request finds them in
/// the register.
fn check_preemption(root: &Reader<'_>, gc: &GcPlan) -> Option<()> {
    let rules = gc.preemption.filter(|rules| rules.merge || rules.pipeline);
    let Some(rules) = rules else { return Some(()) };
    let key = if rules.merge { "merge" } else { "pipeline" };
    let name = gc.slots.get("preemption").map_or("", String::as_str);
    root.table("gc").table("preemption").table(name).error(
        key,
        format!(
            "{BELOW} keeps the slots that a collection has read in the controller, but {key} = \
             true serves requests from the register"
        ),
        format!("set gc.preemption.{name}.{key} = false"),
    );
    root.remedy(&format!("gc.preemption.{name}.{key}"), "false");
    None
}
