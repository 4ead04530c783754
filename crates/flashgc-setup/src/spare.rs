//! The spare space of a plane, and the share that thresholds and open blocks take.

use super::slots::trigger::used_space;
use super::space::{self, least_of};
use flashgc_config::Reader;
use flashgc_config::units::counted;
use flashgc_model::device::Shape;
use flashgc_model::gc::GcPlan;

/// Blocks of a plane that may be open at once.
fn open_blocks(gc: &GcPlan) -> u64 {
    1 + u64::from(gc.streams_beside()) + u64::from(gc.copy.parity())
}

/// Pages of a plane in which nothing can be freed: the pages of open blocks and, where collections
/// pad programs, the invalid pages that fill no program.
fn shut_pages(shape: &Shape, gc: &GcPlan) -> u64 {
    open_blocks(gc) * space::pages_shut_by_an_open_block(shape, gc) + shape.never_won()
}

/// The pages of the erased blocks that a collection reserves in a plane.
fn pages_of_reserve(shape: &Shape, gc: &GcPlan) -> u64 {
    u64::from(gc.reserve_blocks) * u64::from(shape.data_pages())
}

/// Pages of a plane that the host may find erased and cannot take.
fn reserved_pages(shape: &Shape, gc: &GcPlan) -> u64 {
    let of_blocks = pages_of_reserve(shape, gc);
    if !gc.copy.parity() {
        return of_blocks;
    }
    // The host opens no block while copies have no more than the reserve of one kind. Pages of the
    // other kind that it cannot take then are in erased blocks, with one more even page at most.
    let of_a_kind = u64::from(gc.reserve_pages);
    let more_even = of_a_kind / u64::from(least_of(shape) / 2).max(1);
    of_blocks.max(2 * of_a_kind + more_even)
}

/// Erased pages of a plane that collection must be able to reach.
fn mark_pages(shape: &Shape, gc: &GcPlan) -> u64 {
    gc.trigger.stop.pages(shape) + u64::from(gc.trigger.inclusive)
}

/// The share of a plane's spare pages that the thresholds of the scheme and its open blocks leave.
pub fn left(shape: &Shape, gc: &GcPlan) -> f64 {
    let exported = u64::from(shape.exported_pages_per_plane);
    let spare = shape.data_pages_per_plane().saturating_sub(exported);
    let taken = mark_pages(shape, gc) + shut_pages(shape, gc);
    spare.saturating_sub(taken) as f64 / spare.max(1) as f64
}

/// Blocks of a plane that collection can do without.
pub fn blocks_to_lose(shape: &Shape, gc: &GcPlan) -> u32 {
    let exported = u64::from(shape.exported_pages_per_plane);
    let taken = reserved_pages(shape, gc).max(mark_pages(shape, gc)) + shut_pages(shape, gc);
    let left = shape.data_pages_per_plane().saturating_sub(exported + taken + 1);
    (left / u64::from(shape.data_pages())) as u32
}

/// How a plane gets room for these pages: no share helps where it has not more of them.
fn more_room(shape: &Shape, needed: u64) -> String {
    let left = shape.data_pages_per_plane().saturating_sub(needed);
    let below = format!("{:.4}", left as f64 / shape.pages_per_plane() as f64);
    if below == "0.0000" {
        return "give each plane more blocks".into();
    }
    format!("set device.exported below {below}, or give each plane more blocks")
}

/// The largest threshold: in whole blocks as well, where these are above the reserve.
fn most(shape: &Shape, room: u64, reserve: u64) -> String {
    let block = space::all_of_a_block(shape);
    let pages = format!("\"{}\"", counted(room, "page"));
    match room / block {
        blocks if blocks * block > reserve => {
            format!("\"{}\" or {pages}", counted(blocks, "block"))
        }
        _ => pages,
    }
}

/// Collection must be able to reach its threshold with every user page valid, or it never ends.
pub fn check(root: &Reader<'_>, shape: &Shape, gc: &GcPlan) -> Option<()> {
    let physical = shape.data_pages_per_plane();
    let exported = u64::from(shape.exported_pages_per_plane);
    let open_blocks = open_blocks(gc);
    let open_pages = shut_pages(shape, gc);
    let reserved_pages = reserved_pages(shape, gc);
    let reserved = reserved_pages + open_pages;
    let mark = mark_pages(shape, gc);
    if exported + reserved >= physical {
        root.table("device").error(
            "exported",
            format!(
                "a plane has {}, but collection alone needs {reserved}: {}",
                counted(physical.saturating_sub(exported), "spare page"),
                space::needs(shape, gc, reserved_pages, open_blocks)
            ),
            more_room(shape, reserved.max(mark + open_pages)),
        );
        return None;
    }
    if exported + mark + open_pages >= physical {
        if gc.used_space.is_some() {
            used_space::refuse_spare(root, gc, physical - exported, open_blocks);
            return None;
        }
        let room = physical - exported - open_pages - 1;
        let reserve = pages_of_reserve(shape, gc);
        if room <= reserve {
            root.table("device").error(
                "exported",
                format!(
                    "a plane has {}, which leave no threshold above the reserve of collection ({})",
                    counted(physical - exported, "spare page"),
                    counted(reserve, "page"),
                ),
                more_room(shape, reserve + open_pages + 2),
            );
            return None;
        }
        let key = if gc.trigger.stop == gc.trigger.soft { "soft" } else { "stop" };
        root.table("gc").table("trigger").table("watermark").error(
            key,
            format!(
                "the threshold ({} per plane) exceeds the spare space of a plane: {}, minus \
                 {open_blocks} open {}{}",
                counted(mark, "page"),
                counted(physical - exported, "spare page"),
                space::word(shape, open_blocks),
                space::padding(shape)
            ),
            format!("collection could never reach it: give at most {}", most(shape, room, reserve)),
        );
        let key = format!("gc.trigger.watermark.{key}");
        root.remedy(&key, "50% of spare");
        root.remedy(&key, &counted(room, "page"));
        return None;
    }
    Some(())
}
