//! Settings that exclude superblocks (docs/superblocks.md).

use crate::config::device::Device;
use crate::device::Shape;
use crate::gc::GcPlan;
use crate::gc::copy::{CopyChoice, Stripe};
use crate::plan::{Allocation, WriteCompletion};
use flashgc_config::Reader;

/// The path of copies: over the bus, each goes to the unit that has the next page.
pub fn copy(copy: CopyChoice, shape: &Shape) -> CopyChoice {
    match copy {
        CopyChoice::Bus(_) if shape.lanes > 1 => CopyChoice::Stripe(Stripe),
        other => other,
    }
}

/// A key that cannot be combined with superblocks.
struct Refused {
    is_used: bool,
    /// The table, the key, and the value to set; none where the key is to be removed.
    at: (&'static [&'static str], &'static str, Option<&'static str>),
    why: &'static str,
}

fn refused(
    is_used: bool,
    at: (&'static [&'static str], &'static str, Option<&'static str>),
    why: &'static str,
) -> Refused {
    Refused { is_used, at, why }
}

/// Checks the device and the scheme. Notes an error for the first key that does not work.
pub fn check(root: &Reader<'_>, device: &Device, gc: &GcPlan) -> Option<()> {
    if device.shape.lanes == 1 {
        return Some(());
    }
    let rows = of_device(device).into_iter().chain(of_scheme(gc));
    let Some(found) = rows.into_iter().find(|row| row.is_used) else { return Some(()) };
    let (path, key, value) = found.at;
    let table = path[1..].iter().fold(root.table(path[0]), |table, name| table.table(name));
    let full = format!("{}.{key}", path.join("."));
    let word = device.shape.superblock.word();
    let help = match value {
        Some(value) => format!("set {full} = {value}, or remove device.superblock"),
        None => format!("remove {full}, or device.superblock"),
    };
    table.error(key, format!("device.superblock = {word:?}: {}", found.why), help);
    match value {
        Some(value) => root.remedy(&full, value.trim_matches('"')),
        None => root.remedy_without(&full),
    }
    None
}

const DEVICE: &[&str] = &["device"];

fn of_device(device: &Device) -> Vec<Refused> {
    let shape = &device.shape;
    // Writes of any address are joined, and go to any superblock.
    let joins = shape.program_slots > 1;
    let (allocation, word) = match joins {
        true => (Allocation::Dynamic, "\"dynamic\""),
        false => (Allocation::Striped, "\"striped\""),
    };
    vec![
        refused(
            shape.multi_plane > 1,
            (DEVICE, "multi_plane", None),
            "pages of a superblock are programmed and read one by one; only erases are of all \
             planes of a unit",
        ),
        refused(
            device.allocation != allocation,
            (DEVICE, "allocation", Some(word)),
            "the next page of the open superblock names the unit of a write, so that nothing is \
             left to choose",
        ),
        refused(
            device.write_buffer.is_some_and(|buffer| !joins || !buffer.is_protected),
            (DEVICE, "write_buffer", None),
            if joins {
                "the last copies of a collection would be padded in another unit than theirs"
            } else {
                "a page of the buffer may be trimmed after its write got a page of the superblock"
            },
        ),
        refused(
            device.front.write_completion == WriteCompletion::Loaded,
            (DEVICE, "write_completion", Some("\"programmed\"")),
            "the second write of a unit begins before its place in the superblock is known",
        ),
        refused(
            device.cache.is_some(),
            (DEVICE, "cache_operations", Some("\"none\"")),
            "the operations of a unit follow one another",
        ),
        refused(
            shape.independent_plane_reads,
            (DEVICE, "independent_plane_reads", Some("false")),
            "the operations of a unit follow one another",
        ),
        refused(
            shape.summary_pages > 0,
            (DEVICE, "summary", None),
            "a summary has no place among the blocks of a superblock",
        ),
        refused(
            device.read_retry.is_some(),
            (DEVICE, "read_retry", None),
            "the errors of a page depend on its place in a block of one plane",
        ),
    ]
}

fn of_scheme(gc: &GcPlan) -> Vec<Refused> {
    let slot = |slot, value| -> (&'static [&'static str], &'static str, Option<&'static str>) {
        (slot, "use", Some(value))
    };
    vec![
        refused(
            !matches!(gc.copy, CopyChoice::Stripe(_) | CopyChoice::Instant(_)),
            slot(&["gc", "copy"], "\"bus\""),
            "the next page of the open superblock lies in another plane, so that copies go \
             through the controller",
        ),
        refused(
            gc.sub_blocks.is_some() || gc.erase_blocks > 1,
            slot(&["gc", "erase"], "\"block\""),
            "a superblock is erased as a whole",
        ),
        refused(
            gc.blocking.blocks || gc.blocking.erasing.is_some(),
            slot(&["gc", "blocking"], "\"unit\""),
            "the collection of a superblock closes all its planes to the host until it is erased",
        ),
        refused(
            gc.is_paced(),
            slot(&["gc", "pacing"], "\"at-once\""),
            "the collection of a superblock runs to its end in all its units",
        ),
        refused(
            gc.preemption.is_some(),
            slot(&["gc", "preemption"], "\"never\""),
            "the collection of a superblock runs to its end in all its units",
        ),
        refused(
            gc.background.uses_units() || gc.background.flushes_buffer,
            slot(&["gc", "background"], "\"nothing\""),
            "background work is that of single units",
        ),
        refused(
            gc.used_space.is_some() || gc.idle.is_some(),
            slot(&["gc", "trigger"], "\"watermark\""),
            "only the trigger \"watermark\" knows superblocks",
        ),
        refused(
            !gc.trigger.idle_units,
            (&["gc", "trigger", "watermark"], "idle_units", Some("true")),
            "a collection works in several units, and requests may wait in only some of them",
        ),
    ]
}
