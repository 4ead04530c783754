//! Settings that exclude programs of several mapped pages: slots of a flash page
//! (docs/mapping-unit.md), or the pages of a word line (docs/one-shot.md).

use super::refused::{Refused, refuse, refused};
use crate::device::Device;
use flashgc_config::Reader;
use flashgc_model::device::Shape;
use flashgc_model::gc::GcPlan;
use flashgc_model::gc::copy::CopyChoice;
use flashgc_model::plan::{Allocation, Drain, WriteBuffer, WriteCompletion};

/// Programs of each plane that the buffer holds if the device names no size: one that is under way,
/// and one that fills.
const PROGRAMS_OF_A_PLANE: u64 = 2;

/// A write buffer of a device that names none: it joins pages and takes no time of its own. It
/// holds a program more for each class but one.
pub fn default_buffer(shape: &Shape, gc: &GcPlan) -> WriteBuffer {
    let planes = shape.planes() * u64::from(shape.lanes);
    let programs = planes * PROGRAMS_OF_A_PLANE + u64::from(gc.classes().saturating_sub(1));
    let slots = programs * u64::from(shape.program_slots);
    let pages = slots.min(u32::MAX.into()) as u32;
    let drain = Drain::AtOnce;
    WriteBuffer { pages, access_ns: 0, is_protected: true, drain, flushes_when_idle: false }
}

/// Checks the device and the scheme. Notes an error for the first key that does not work.
pub fn check(root: &Reader<'_>, device: &Device, gc: &GcPlan) -> Option<()> {
    let shape = &device.shape;
    if shape.program_slots == 1 {
        return Some(());
    }
    let unit = (shape.slots > 1).then_some("device.mapping_unit");
    let of_plane = shape.pages_per_program / shape.planes_in_step;
    let pages = (of_plane > 1).then_some("device.pages_per_program");
    let keys: Vec<&str> = unit.into_iter().chain(pages).collect();
    let words = match (unit, pages) {
        (_, None) => "a mapping_unit below page_size",
        (None, _) => "a pages_per_program above 1",
        _ => "a mapping_unit below page_size with pages_per_program",
    };
    let rows = of_device(device).into_iter().chain(of_scheme(gc)).chain(of_preemption(gc));
    refuse(root, rows, words, &format!("remove {}", keys.join(" and ")))?;
    check_buffer(root, device, gc, words)
}

fn of_device(device: &Device) -> Vec<Refused> {
    vec![
        refused(
            device.allocation == Allocation::Striped,
            ("device.allocation", Some("\"dynamic\"")),
            "a program joins writes of any address, whose planes \"striped\" would name",
        ),
        refused(
            device.pool.is_some(),
            ("device.pool", None),
            "a program joins writes of any address, so that the whole device is one pool",
        ),
        refused(
            device.shape.summary_pages > 0,
            ("device.summary", None),
            "a summary of a block would be a part of a program",
        ),
        refused(
            device.front.write_completion == WriteCompletion::Loaded,
            ("device.write_completion", Some("\"programmed\"")),
            "every write is buffered, so that \"loaded\" has no meaning",
        ),
    ]
}

/// Choices that move single flash pages.
fn of_scheme(gc: &GcPlan) -> Vec<Refused> {
    let is_parallel = matches!(gc.copy, CopyChoice::Parallel(_));
    let background = gc.background.uses_units() || gc.background.flushes_buffer;
    let moves = |is_used, at| refused(is_used, at, "this choice moves single flash pages");
    vec![
        moves(is_parallel || gc.copy.parity(), ("gc.copy.use", Some("\"bus\""))),
        moves(gc.sub_blocks.is_some(), ("gc.erase.use", Some("\"block\""))),
        moves(gc.blocking.blocks, ("gc.blocking.use", Some("\"plane\""))),
        moves(gc.time_slices.is_some(), ("gc.pacing.use", Some("\"at-once\""))),
        moves(background, ("gc.background.use", Some("\"nothing\""))),
    ]
}

fn of_preemption(gc: &GcPlan) -> Vec<Refused> {
    let Some(rules) = gc.preemption else { return Vec::new() };
    let name = gc.slots.get("preemption").map_or("", String::as_str);
    const MERGED: &str = "what a collection has read waits in the controller, so that no request \
                          is served from the register";
    const PIPELINED: &str = "what a collection has read waits in the controller, so that no \
                             transfer of a request overlaps an operation with the register";
    let serves =
        |choice, is_used, key, why| refused(choice == name && is_used, (key, Some("false")), why);
    vec![
        serves("between-copies", rules.merge, "gc.preemption.between-copies.merge", MERGED),
        serves(
            "between-copies",
            rules.pipeline,
            "gc.preemption.between-copies.pipeline",
            PIPELINED,
        ),
        serves("suspend", rules.merge, "gc.preemption.suspend.merge", MERGED),
        serves("suspend", rules.pipeline, "gc.preemption.suspend.pipeline", PIPELINED),
    ]
}

/// At most one partial program per class waits, and one program is under way.
fn check_buffer(root: &Reader<'_>, device: &Device, gc: &GcPlan, words: &str) -> Option<()> {
    let programs = gc.classes().max(1) + 1;
    let least = programs * device.shape.program_slots;
    let Some(buffer) = device.write_buffer.filter(|buffer| buffer.pages < least) else {
        return Some(());
    };
    let message = format!(
        "{words} needs a write buffer of at least {} {} ({least} mapped pages){}, got {}",
        if programs == 2 { "two".into() } else { programs.to_string() },
        if device.shape.pages_per_program > 1 { "programs" } else { "flash pages" },
        if programs == 2 { "" } else { ", one for each class and one more" },
        buffer.pages
    );
    let bytes = u64::from(least) * u64::from(device.shape.page_bytes);
    let help = format!("write size = \"{bytes} B\" or more, or remove the table");
    root.table("device").table("write_buffer").error("size", message, help);
    root.remedy("device.write_buffer.size", &format!("{bytes} B"));
    None
}
