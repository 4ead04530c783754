//! Settings that exclude superblocks (docs/superblocks.md).

use super::refused::{Refused, refuse, refused};
use crate::device::Device;
use flashgc_config::Reader;
use flashgc_model::device::Shape;
use flashgc_model::gc::GcPlan;
use flashgc_model::gc::Suspends::Nothing;
use flashgc_model::gc::copy::{CopyChoice, Stripe};
use flashgc_model::plan::{Allocation, WriteCompletion};

/// The path of copies: over the bus, each goes to the unit that has the next page.
pub fn copy(copy: CopyChoice, shape: &Shape) -> CopyChoice {
    match copy {
        CopyChoice::Bus(_) if shape.lanes > 1 => CopyChoice::Stripe(Stripe),
        other => other,
    }
}

/// Checks the device and the scheme. Notes an error for the first key that does not work.
pub fn check(root: &Reader<'_>, device: &Device, gc: &GcPlan) -> Option<()> {
    if device.shape.lanes == 1 {
        return Some(());
    }
    let by = format!("device.superblock = {:?}", device.shape.superblock.word());
    let rows = of_device(device).into_iter().chain(of_scheme(gc)).chain(of_both(device, gc));
    refuse(root, rows, &by, "remove device.superblock")
}

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
            ("device.multi_plane", None),
            "pages of a superblock are programmed and read one by one; only erases are of all \
             planes of a unit",
        ),
        refused(
            device.allocation != allocation,
            ("device.allocation", Some(word)),
            "the next page of the open superblock names the unit of a write, so that nothing is \
             left to choose",
        ),
        refused(
            device.write_buffer.is_some_and(|buffer| !joins || !buffer.is_protected),
            ("device.write_buffer", None),
            if joins {
                "the last copies of a collection would be padded in another unit than theirs"
            } else {
                "a page of the buffer may be trimmed after its write got a page of the superblock"
            },
        ),
        refused(
            device.front.write_completion == WriteCompletion::Loaded,
            ("device.write_completion", Some("\"programmed\"")),
            "the second write of a unit begins before its place in the superblock is known",
        ),
        refused(
            device.cache.is_some(),
            ("device.cache_operations", Some("\"none\"")),
            "the operations of a unit follow one another",
        ),
        refused(
            shape.independent_plane_reads,
            ("device.independent_plane_reads", Some("false")),
            "the operations of a unit follow one another",
        ),
        refused(
            shape.summary_pages > 0,
            ("device.summary", None),
            "a summary has no place among the blocks of a superblock",
        ),
        refused(
            device.read_retry.is_some(),
            ("device.read_retry", None),
            "the errors of a page depend on its place in a block of one plane",
        ),
    ]
}

fn of_scheme(gc: &GcPlan) -> Vec<Refused> {
    vec![
        refused(
            !matches!(gc.copy, CopyChoice::Stripe(_) | CopyChoice::Instant(_)),
            ("gc.copy.use", Some("\"bus\"")),
            "the next page of the open superblock lies in another plane, so that copies go \
             through the controller",
        ),
        refused(
            gc.sub_blocks.is_some() || gc.erase_blocks > 1,
            ("gc.erase.use", Some("\"block\"")),
            "a superblock is erased as a whole",
        ),
        refused(
            gc.blocking.blocks || gc.blocking.erasing.is_some(),
            ("gc.blocking.use", Some("\"unit\"")),
            "the collection of a superblock closes all its planes to the host until it is erased",
        ),
        refused(
            gc.blocking.one_collection,
            ("gc.blocking.channel.collections", Some("\"any\"")),
            "the collection of a superblock works on several channels at once",
        ),
        refused(
            gc.time_slices.is_some(),
            ("gc.pacing.use", Some("\"tokens\"")),
            "a copy works in two units, so that no unit has the time slice of a collection",
        ),
        refused(
            gc.preemption.is_some() && !gc.separate_gc,
            ("gc.placement.use", Some("\"separate-gc\"")),
            "copies would take pages behind those of writes that wait, in blocks that are \
             programmed in order",
        ),
        refused(
            gc.preemption.is_some_and(|it| it.merge || it.pipeline || it.suspends != Nothing),
            ("gc.preemption.use", Some("\"between-copies\"")),
            "a page that was read is programmed in another unit, so that no request is served \
             from its register, nor is one while an operation is suspended",
        ),
        refused(
            gc.background.uses_units()
                || gc.background.flushes_buffer
                || gc.background.read_reclaim.is_some(),
            ("gc.background.use", Some("\"nothing\"")),
            "background work is that of single units",
        ),
        refused(
            gc.used_space.is_some() || gc.idle.is_some(),
            ("gc.trigger.use", Some("\"watermark\"")),
            "only the trigger \"watermark\" knows superblocks",
        ),
        refused(
            !gc.trigger.idle_units,
            ("gc.trigger.watermark.idle_units", Some("true")),
            "a collection works in several units, and requests may wait in only some of them",
        ),
    ]
}

fn of_both(device: &Device, gc: &GcPlan) -> Option<Refused> {
    let suspends = device.timing.host_programs().is_some();
    Some(refused(
        suspends && gc.preemption.is_some(),
        ("device.suspend.host_programs", Some("false")),
        "a read could pass the program of a copy that has its page and waits for the unit",
    ))
}
