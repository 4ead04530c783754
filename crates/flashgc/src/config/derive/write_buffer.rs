//! The write buffer on this device under this scheme.

use super::mapping_unit;
use crate::config::device::Device;
use crate::plan::WriteBuffer;
use flashgc_config::Reader;

/// The device's write buffer, and whether the scheme flushes it before it must. `Some(None)` where
/// there is none.
pub fn plan(
    root: &Reader<'_>,
    device: &Device,
    flushes_when_idle: bool,
) -> Option<Option<WriteBuffer>> {
    if flushes_when_idle && device.write_buffer.is_none() && device.shape.program_slots == 1 {
        root.table("gc").table("background").error(
            "use",
            "the scheme flushes the write buffer (gc.background.use), but this device has none",
            "add one, as in `device.write_buffer.size = \"1 MiB\"`, or set gc.background.use = \
             \"nothing\"",
        );
        root.remedy("device.write_buffer.size", "1 MiB");
        return None;
    }
    if device.shape.program_slots > 1 && device.write_buffer.is_some_and(|it| !it.is_protected) {
        root.table("device").table("write_buffer").error(
            "power_loss_protection",
            "power_loss_protection = false needs programs of one mapped page: with \
             `mapping_unit` or `pages_per_program` the controller keeps pages of programs that it \
             has begun, and padding of programs is not modelled",
            "remove `power_loss_protection`, or `mapping_unit` and `pages_per_program`",
        );
        return None;
    }
    let joins =
        || (device.shape.program_slots > 1).then(|| mapping_unit::default_buffer(&device.shape));
    let buffer = device.write_buffer.or_else(joins);
    Some(buffer.map(|buffer| WriteBuffer { flushes_when_idle, ..buffer }))
}
