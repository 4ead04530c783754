//! Sub-blocks: the device in the units that a scheme erases, and the needs of such a scheme.

use super::derive::refuse_share_of_soft;
use super::gc::{SUB_BLOCKS, Scheme};
use crate::device::Shape;
use crate::gc::victim::Settings;
use crate::gc::{GcPlan, Isolation, Space};
use crate::plan::Plan;
use flashgc_config::Reader;
use flashgc_config::units::{ShareOf, Threshold};

/// The device in blocks or in sub-blocks, as the scheme erases them.
pub fn shape(root: &Reader<'_>, device: &Shape, scheme: &Scheme) -> Option<Shape> {
    let Some(isolation) = scheme.sub_blocks else { return Some(device.in_blocks()) };
    let erase = root.table("gc").table("erase");
    if device.sub_blocks == 1 {
        erase.error(
            "use",
            "gc.erase.use = \"sub-blocks\" needs a device with sub-blocks, but this device erases \
             whole blocks",
            "set for example `device.sub_blocks = 16`, or choose gc.erase.use = \"block\"",
        );
        // Sub-blocks of two pages at least, so that copies of odd and even pages find both.
        let divides = |parts: &u32| (device.pages_per_block / 2).is_multiple_of(*parts);
        if let Some(parts) = [4, 2, 8, 16].into_iter().find(divides) {
            root.remedy("device.sub_blocks", &parts.to_string());
        }
        return None;
    }
    if device.summary_pages > 0 {
        erase.error(
            "use",
            "gc.erase.use = \"sub-blocks\" cannot be combined with [device.summary]: an erased \
             sub-block would lose the block's summary",
            "remove [device.summary], or choose gc.erase.use = \"block\"",
        );
        root.remedy_without("device.summary");
        return None;
    }
    if isolation == Isolation::Hardware && device.layers == 0 {
        root.table("device").required("layers", None::<u32>, LAYERS_HELP);
        let fits = |layers: &u32| {
            device.pages_per_block.is_multiple_of(*layers)
                && layers.is_multiple_of(device.sub_blocks)
                && layers / device.sub_blocks >= 2
        };
        if let Some(layers) = (2..=device.pages_per_block.min(64)).rev().find(fits) {
            root.remedy("device.layers", &layers.to_string());
        }
        return None;
    }
    ranks_sub_blocks(root, scheme, isolation)?;
    let shape = device.in_sub_blocks(isolation == Isolation::Hardware);
    has_both_kinds(root, scheme, &shape)?;
    Some(shape)
}

const LAYERS_HELP: &str = "isolation = \"hardware\" needs the number of layers of a block, as in \
                           `device.layers = 64`";

/// The victim must be ranked by the pages that an erase of sub-blocks frees, isolation included.
fn ranks_sub_blocks(root: &Reader<'_>, scheme: &Scheme, isolation: Isolation) -> Option<()> {
    let table = root.table("gc").table("victim");
    match (&scheme.victim, isolation) {
        (Settings::recycle_benefit(_), _)
        | (Settings::invalid_sub_blocks(_), Isolation::Hardware) => Some(()),
        (Settings::invalid_sub_blocks(_), Isolation::Software) => {
            table.error(
                "use",
                "gc.victim.use = \"invalid-sub-blocks\" needs isolation = \"hardware\", got \
                 \"software\"",
                "set gc.erase.sub-blocks.isolation = \"hardware\", or choose \"recycle-benefit\"",
            );
            None
        }
        (other, _) => {
            table.error(
                "use",
                format!(
                    "gc.victim.use = \"{}\" ranks whole blocks, but this scheme erases sub-blocks",
                    other.name()
                ),
                format!(
                    "choose \"recycle-benefit\" or \"invalid-sub-blocks\", or another gc.erase.use \
                     than \"{SUB_BLOCKS}\""
                ),
            );
            None
        }
    }
}

/// Under the odd/even rule each sub-block takes pages of both kinds, and begins with an even one.
fn has_both_kinds(root: &Reader<'_>, scheme: &Scheme, shape: &Shape) -> Option<()> {
    let least = least_of(shape);
    if !scheme.copy.parity() || (least > 1 && shape.pages_per_block.is_multiple_of(2)) {
        return Some(());
    }
    root.table("gc").table("copy").error(
        "use",
        format!(
            "parity = true needs sub-blocks with an even number of pages, at least 2 of them for \
             data, got {} pages, {least} for data",
            shape.pages_per_block
        ),
        "set parity = false for the copies, or a smaller device.sub_blocks",
    );
    None
}

/// Pages of data of the smallest sub-block.
fn least_of(shape: &Shape) -> u32 {
    shape.data_pages() - shape.isolation_pages
}

/// The erased sub-blocks of each plane that only collection takes.
pub fn reserve(shape: &Shape, scheme: &Scheme) -> u32 {
    // The worst collection empties a whole block, except for its erased part, which is withheld. A
    // stream whose sub-block is full opens another one. Under the odd/even rule pages of each kind
    // need room of their own.
    let others = others_emptied(shape, scheme);
    let needed = |of: fn(u32) -> u32| {
        let least = of(least_of(shape));
        (of(shape.data_pages()) + others * least).div_ceil(least)
    };
    let job = match scheme.copy.parity() {
        true => needed(|pages| pages / 2).max(needed(|pages| pages.div_ceil(2))),
        false => needed(|pages| pages),
    };
    job + scheme.streams() - 1
}

/// Sub-blocks that the worst collection empties in addition to one.
fn others_emptied(shape: &Shape, scheme: &Scheme) -> u32 {
    match scheme.victim {
        Settings::invalid_sub_blocks(_) => 0,
        _ => shape.sub_blocks - 1,
    }
}

/// The erased pages of each plane that host writes never take, where a number of sub-blocks does
/// not describe them: layers make sub-blocks unequal, so that a collection may fill two small ones
/// and free a large one, or several streams of copies keep an open one each. Of each kind under the
/// odd/even rule.
///
/// The worst collection finds a page for each copy if there are as many erased ones as it moves,
/// plus the most that the other streams may reserve: an open sub-block less one page each.
pub fn reserve_pages(shape: &Shape, scheme: &Scheme) -> u32 {
    let own_streams = scheme.streams();
    let is_counted = shape.isolation_pages == 0 && own_streams == 1;
    if scheme.sub_blocks.is_none() || is_counted {
        return 0;
    }
    let others = others_emptied(shape, scheme);
    if scheme.copy.parity() {
        let worst = shape.data_pages().div_ceil(2) + others * least_of(shape).div_ceil(2);
        // The sub-block that the host opens for a frontier of its own is lost to copies.
        return worst + u32::from(scheme.separate_gc) * shape.data_pages().div_ceil(2);
    }
    let worst = shape.data_pages() + others * least_of(shape);
    let beside = own_streams - 1 + u32::from(scheme.separate_gc && own_streams == 1);
    worst + beside * (shape.data_pages() - 1)
}

/// An amount of space in a plane, in pages: sub-blocks that layers isolate differ in size. A block
/// is a whole one.
pub fn space(table: &Reader<'_>, key: &str, threshold: &Threshold, shape: &Shape) -> Option<Space> {
    let all = shape.data_pages_per_plane();
    let pages = match threshold {
        Threshold::Blocks(blocks) => blocks.saturating_mul(all_of_a_block(shape)),
        Threshold::Pages(pages) => *pages,
        Threshold::Share { of: ShareOf::Soft, .. } => return refuse_share_of_soft(table, key),
        Threshold::Share { share, of: ShareOf::Physical | ShareOf::Pages } => share.of(all),
        Threshold::Share { share, of: ShareOf::Spare } => {
            share.of(all.saturating_sub(shape.exported_pages_per_plane.into()))
        }
    };
    if pages > all {
        let help = format!("give at most \"{all} pages\"");
        table.error(
            key,
            format!("the threshold is {pages} pages, but a plane has {all} pages for data"),
            help,
        );
        return None;
    }
    Some(Space::Pages(pages as u32))
}

/// The name of the erased part for users, in the singular or plural.
pub fn word(shape: &Shape, count: u64) -> &'static str {
    match (shape.sub_blocks > 1, count) {
        (false, 1) => "block",
        (false, _) => "blocks",
        (true, 1) => "sub-block",
        (true, _) => "sub-blocks",
    }
}

/// A threshold in the form that users configure: a number of blocks, or the pages of a number of
/// sub-blocks.
pub fn mark(shape: &Shape, blocks: u32, pages: u64) -> String {
    match shape.sub_blocks {
        1 if blocks == 1 => "\"1 block\"".into(),
        1 => format!("\"{blocks} blocks\""),
        _ => format!("\"{pages} pages\""),
    }
}

/// The space that collection needs in a plane in addition to its threshold, as text for the user.
pub fn needs(shape: &Shape, gc: &GcPlan, open_blocks: u64) -> String {
    let (reserve, per_block) = (gc.reserve_blocks, shape.data_pages());
    match shape.sub_blocks {
        1 => format!(
            "reserved blocks: {reserve}, open blocks: {open_blocks}, each of {per_block} pages"
        ),
        _ => format!(
            "reserved sub-blocks: {reserve}, each of {per_block} pages; open blocks: \
             {open_blocks}, each with {} pages",
            pages_shut_by_an_open_block(shape, gc)
        ),
    }
}

/// Pages of data of a whole block.
pub fn all_of_a_block(shape: &Shape) -> u64 {
    shape.pages_of_blocks(shape.sub_blocks.into())
}

/// Pages of a plane in which nothing can be freed while a sub-block is open.
///
/// With isolation by software no window may lie next to it; one around it would be the whole block.
pub fn pages_shut_by_an_open_block(shape: &Shape, gc: &GcPlan) -> u64 {
    match gc.sub_blocks {
        Some(Isolation::Software) => all_of_a_block(shape),
        _ => u64::from(shape.data_pages()),
    }
}

/// A note for the user: isolation by hardware takes from the spare space.
pub fn note(plan: &Plan) -> Option<String> {
    let shape = &plan.geometry.shape;
    let isolation = shape.isolation_pages_per_plane();
    let (all, exported) = (shape.pages_per_plane(), u64::from(shape.exported_pages_per_plane));
    let share = |pages: u64| pages as f64 * 100.0 / all as f64;
    (isolation > 0).then(|| {
        format!(
            "the layers that isolate sub-blocks take {:.1} % of the pages, so {:.1} % are spare \
             instead of {:.1} %",
            share(isolation),
            share(all - isolation - exported),
            share(all - exported)
        )
    })
}
