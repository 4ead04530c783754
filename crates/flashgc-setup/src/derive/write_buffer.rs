//! The write buffer on this device under this scheme.

use super::mapping_unit;
use crate::device::Device;
use flashgc_config::Reader;
use flashgc_model::gc::GcPlan;
use flashgc_model::plan::{Drain, WriteBuffer};

/// The device's write buffer, and whether the scheme flushes it before it must. `Some(None)` where
/// there is none.
pub fn plan(root: &Reader<'_>, device: &Device, gc: &GcPlan) -> Option<Option<WriteBuffer>> {
    let flushes_when_idle = gc.background.flushes_buffer;
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
    let is_unprotected = device.write_buffer.is_some_and(|buffer| !buffer.is_protected);
    if let Some(passes) = device.timing.passes.filter(|_| is_unprotected) {
        root.table("device").table("write_buffer").error(
            "power_loss_protection",
            format!(
                "power_loss_protection = false needs programs of one pass: with two the \
                 controller keeps the data of a program until its second pass, {} programs later, \
                 and a flush would have to pad all of them",
                passes.lag
            ),
            "remove `power_loss_protection`, or give device.timing.program as one time",
        );
        return None;
    }
    if device.shape.program_slots == 1 {
        let leaves_at_once = device.write_buffer.is_some_and(|it| it.drain == Drain::AtOnce);
        if flushes_when_idle && leaves_at_once {
            root.table("device").table("write_buffer").error(
                "flush",
                "flush = \"at-once\" leaves nothing to the idle time, in which gc.background.use = \
                 \"flush-buffer\" empties the buffer",
                "remove `flush`, or set gc.background.use = \"nothing\"",
            );
            root.remedy_without("device.write_buffer.flush");
            return None;
        }
        return Some(device.write_buffer.map(|it| WriteBuffer { flushes_when_idle, ..it }));
    }
    let buffer = joining(root, device, gc)?;
    Some(Some(WriteBuffer { flushes_when_idle, ..buffer }))
}

/// The write buffer of a device whose programs join pages: they leave as soon as they fill one.
fn joining(root: &Reader<'_>, device: &Device, gc: &GcPlan) -> Option<WriteBuffer> {
    let table = root.table("device").table("write_buffer");
    if table.has("flush") && device.write_buffer.is_some_and(|it| it.drain == Drain::WhenFull) {
        table.error(
            "flush",
            "flush = \"when-full\" needs programs of one page: pages that a program joins leave \
             the buffer as soon as they fill it",
            "remove `flush`, or set flush = \"at-once\"",
        );
        root.remedy("device.write_buffer.flush", "at-once");
        return None;
    }
    let buffer =
        device.write_buffer.unwrap_or_else(|| mapping_unit::default_buffer(&device.shape, gc));
    Some(WriteBuffer { drain: Drain::AtOnce, ..buffer })
}
