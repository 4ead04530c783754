//! Sub-blocks: the device as a scheme sees it that erases them, and what such a scheme needs.

use super::derive::refuse_share_of_soft;
use super::gc::{Scheme, SUB_BLOCKS};
use crate::device::Shape;
use crate::gc::victim::Settings;
use crate::gc::{GcPlan, Isolation, Space};
use crate::plan::Plan;
use flashgc_config::units::{ShareOf, Threshold};
use flashgc_config::Reader;

/// The device in blocks or in sub-blocks, as the scheme erases them.
pub fn shape(root: &Reader<'_>, device: &Shape, scheme: &Scheme) -> Option<Shape> {
    let Some(isolation) = scheme.sub_blocks else { return Some(device.in_blocks()) };
    let erase = root.table("gc").table("erase");
    if device.sub_blocks == 1 {
        erase.error(
            "use",
            "this device erases whole blocks",
            "give it sub-blocks, as in `device.sub_blocks = 16`, or choose \"block\"",
        );
        return None;
    }
    if device.summary_pages > 0 {
        erase.error(
            "use",
            "the blocks of this device end with a summary, which an erased sub-block would lose",
            "leave [device.summary] out, or choose \"block\"",
        );
        return None;
    }
    if isolation == Isolation::Hardware && device.layers == 0 {
        root.table("device").required("layers", None::<u32>, LAYERS_HELP);
        return None;
    }
    ranks_sub_blocks(root, scheme, isolation)?;
    let shape = device.in_sub_blocks(isolation == Isolation::Hardware);
    has_both_kinds(root, scheme, &shape)?;
    Some(shape)
}

const LAYERS_HELP: &str = "isolation by hardware leaves layers without data: say how many a block \
                           has, as in `device.layers = 64`";

/// The victim must be ranked by what an erase of sub-blocks wins, isolation included.
fn ranks_sub_blocks(root: &Reader<'_>, scheme: &Scheme, isolation: Isolation) -> Option<()> {
    let table = root.table("gc").table("victim");
    match (&scheme.victim, isolation) {
        (Settings::recycle_benefit(_), _)
        | (Settings::invalid_sub_blocks(_), Isolation::Hardware) => Some(()),
        (Settings::invalid_sub_blocks(_), Isolation::Software) => {
            table.error(
                "use",
                "invalid sub-blocks are erased wherever they lie, and this needs layers between \
                 them",
                "set gc.erase.sub-blocks.isolation = \"hardware\", or choose \"recycle-benefit\"",
            );
            None
        }
        (other, _) => {
            table.error(
                "use",
                format!("\"{}\" ranks whole blocks", other.name()),
                format!(
                    "choose \"recycle-benefit\" or \"invalid-sub-blocks\", or gc.erase.use other \
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
            "copies keep to odd or even pages, and sub-blocks of {} pages, {least} of them for \
             data, do not all have both in the same places",
            shape.pages_per_block
        ),
        "set `parity = false` for the copies, or give the device fewer sub-blocks",
    );
    None
}

/// Pages of data of the smallest sub-block.
fn least_of(shape: &Shape) -> u32 {
    shape.data_pages() - shape.isolation_pages
}

/// The erased sub-blocks of each plane that only collection takes.
pub fn reserve(shape: &Shape, scheme: &Scheme) -> u32 {
    // The worst job empties a whole block, less what of it is withheld because it is erased. A
    // stream whose sub-block is full opens another one. Under the odd/even rule pages of each kind
    // need room of their own.
    let others = match scheme.victim {
        Settings::invalid_sub_blocks(_) => 0,
        _ => shape.sub_blocks - 1,
    };
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
        let help = format!("a plane has {all} pages for data");
        table.error(key, "the mark is more than a plane has", help);
        return None;
    }
    Some(Space::Pages(pages as u32))
}

/// What the scheme erases, for people.
pub fn word(shape: &Shape) -> &'static str {
    if shape.sub_blocks > 1 {
        "sub-blocks"
    } else {
        "blocks"
    }
}

/// A mark that people can give: so many blocks, or the pages of so many sub-blocks.
pub fn mark(shape: &Shape, blocks: u32, pages: u64) -> String {
    match shape.sub_blocks {
        1 => format!("\"{blocks} blocks\""),
        _ => format!("\"{pages} pages\""),
    }
}

/// What collection needs of a plane beside its mark, for people.
pub fn needs(shape: &Shape, gc: &GcPlan, open_blocks: u64) -> String {
    let (reserve, per_block) = (gc.reserve_blocks, shape.data_pages());
    match shape.sub_blocks {
        1 => format!("{reserve} reserved and {open_blocks} open blocks of {per_block} pages"),
        _ => format!(
            "{reserve} reserved sub-blocks of {per_block} pages, and {} pages of a block for each \
             of {open_blocks} open ones",
            pages_shut_by_an_open_block(shape, gc)
        ),
    }
}

/// Pages of data of a whole block.
pub fn all_of_a_block(shape: &Shape) -> u64 {
    shape.pages_of_blocks(shape.sub_blocks.into())
}

/// Pages of a plane in which nothing can be won while a sub-block is open.
///
/// With isolation by software no window may lie beside it; one around it would be the whole block.
pub fn pages_shut_by_an_open_block(shape: &Shape, gc: &GcPlan) -> u64 {
    match gc.sub_blocks {
        Some(Isolation::Software) => all_of_a_block(shape),
        _ => u64::from(shape.data_pages()),
    }
}

/// What people should know: isolation by hardware takes from the spare space.
pub fn note(plan: &Plan) -> Option<String> {
    let shape = &plan.geometry.shape;
    let isolation = shape.isolation_pages_per_plane();
    let (all, exported) = (shape.pages_per_plane(), u64::from(shape.exported_pages_per_plane));
    let share = |pages: u64| pages as f64 * 100.0 / all as f64;
    (isolation > 0).then(|| {
        format!(
            "layers that isolate sub-blocks take {:.1} % of the pages: {:.1} % are spare, in place \
             of {:.1} %",
            share(isolation),
            share(all - isolation - exported),
            share(all - exported)
        )
    })
}
