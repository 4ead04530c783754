//! Settings that exclude programs of several mapped pages: slots of a flash page
//! (docs/mapping-unit.md), or the pages of a word line (docs/one-shot.md).

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

/// Checks the device and the scheme.
pub fn check(root: &Reader<'_>, device: &Device, gc: &GcPlan) -> Option<()> {
    if device.shape.program_slots == 1 {
        return Some(());
    }
    let joins = Joins::of(&device.shape);
    check_device(root, device, gc, joins)?;
    check_scheme(root, gc, joins)
}

/// The keys that make programs join pages.
#[derive(Clone, Copy)]
struct Joins {
    words: &'static str,
    keys: &'static [&'static str],
}

impl Joins {
    fn of(shape: &Shape) -> Self {
        let of_plane = shape.pages_per_program / shape.planes_in_step;
        let (words, keys): (_, &[_]) = match (shape.slots, of_plane) {
            (_, 1) => ("a mapping_unit below page_size", &["device.mapping_unit"]),
            (1, _) => ("a pages_per_program above 1", &["device.pages_per_program"]),
            _ => (
                "a mapping_unit below page_size with pages_per_program",
                &["device.mapping_unit", "device.pages_per_program"],
            ),
        };
        Joins { words, keys }
    }

    /// Adds the removal of these keys to the mistake noted last.
    fn remedy(self, root: &Reader<'_>) {
        self.keys.iter().for_each(|key| root.remedy_without(key));
    }
}

fn check_device(root: &Reader<'_>, device: &Device, gc: &GcPlan, joins: Joins) -> Option<()> {
    let words = joins.words;
    let table = root.table("device");
    if device.allocation == Allocation::Striped {
        let message = "joins writes of any address in one program, but device.allocation = \
                       \"striped\" names the plane by the address";
        let help = "set device.allocation = \"dynamic\" or \"when-idle\"";
        table.error("allocation", format!("{words} {message}"), help);
        root.remedy("device.allocation", "dynamic");
        return None;
    }
    // For each key: whether it is in the way, and why.
    let rows = [
        (
            device.pool.is_some(),
            "pool",
            "joins writes of any address in one program, and needs one pool for the whole device",
        ),
        (device.shape.summary_pages > 0, "summary", "cannot be combined with summaries"),
        (
            device.front.write_completion == WriteCompletion::Loaded,
            "write_completion",
            "buffers every write, so write_completion = \"loaded\" has no meaning",
        ),
    ];
    if let Some((_, key, why)) = rows.into_iter().find(|(is_refused, ..)| *is_refused) {
        table.error(key, format!("{words} {why}"), format!("remove device.{key}"));
        root.remedy_without(&format!("device.{key}"));
        return None;
    }
    // At most one partial program per class waits, and one program is under way.
    let programs = gc.classes().max(1) + 1;
    let least = programs * device.shape.program_slots;
    match device.write_buffer {
        Some(buffer) if buffer.pages < least => {
            let message = format!(
                "{words} needs a write buffer of at least {} {} ({least} mapped pages){}, got {}",
                if programs == 2 { "two".into() } else { programs.to_string() },
                if device.shape.pages_per_program > 1 { "programs" } else { "flash pages" },
                if programs == 2 { "" } else { ", one for each class and one more" },
                buffer.pages
            );
            let bytes = u64::from(least) * u64::from(device.shape.page_bytes);
            let help = format!("write size = \"{bytes} B\" or more, or remove the table");
            table.table("write_buffer").error("size", message, help);
            root.remedy("device.write_buffer.size", &format!("{bytes} B"));
            None
        }
        _ => Some(()),
    }
}

fn check_scheme(root: &Reader<'_>, gc: &GcPlan, joins: Joins) -> Option<()> {
    let is_parallel = matches!(gc.copy, CopyChoice::Parallel(_));
    let background = gc.background.uses_units() || gc.background.flushes_buffer;
    // For each slot: whether its answer moves single flash pages, and the answer that does not.
    let rows = [
        (is_parallel || gc.copy.parity(), "copy", "bus"),
        (gc.sub_blocks.is_some(), "erase", "block"),
        (gc.blocking.blocks, "blocking", "plane"),
        (gc.time_slices.is_some(), "pacing", "at-once"),
        (background, "background", "nothing"),
    ];
    let Some((_, slot, other)) = rows.into_iter().find(|(is_refused, ..)| *is_refused) else {
        return check_preemption(root, gc, joins);
    };
    let name = gc.slots.get(slot).map_or("", String::as_str);
    root.table("gc").table(slot).error(
        "use",
        format!(
            "{} cannot be combined with gc.{slot}.use = {name:?}, which moves flash pages",
            joins.words
        ),
        format!("set gc.{slot}.use = {other:?}, or remove {}", joins.keys.join(" and ")),
    );
    joins.remedy(root);
    None
}

/// The pages that a collection has read wait in the controller, so that no request finds them in
/// the register.
fn check_preemption(root: &Reader<'_>, gc: &GcPlan, joins: Joins) -> Option<()> {
    let rules = gc.preemption.filter(|rules| rules.merge || rules.pipeline);
    let Some(rules) = rules else { return Some(()) };
    let key = if rules.merge { "merge" } else { "pipeline" };
    let name = gc.slots.get("preemption").map_or("", String::as_str);
    root.table("gc").table("preemption").table(name).error(
        key,
        format!(
            "{} keeps what a collection has read in the controller, but {key} = true serves \
             requests from the register",
            joins.words
        ),
        format!("set gc.preemption.{name}.{key} = false"),
    );
    root.remedy(&format!("gc.preemption.{name}.{key}"), "false");
    None
}
