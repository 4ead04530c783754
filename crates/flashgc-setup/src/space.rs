//! Amounts of space in a plane: their values on a device, and how users read them.

use flashgc_config::Reader;
use flashgc_config::units::{ShareOf, Threshold, counted};
use flashgc_model::device::Shape;
use flashgc_model::gc::{GcPlan, Isolation, Space};

/// An amount of space in a plane of this shape. Shares truncate, as in the reference simulators.
pub fn space(table: &Reader<'_>, key: &str, threshold: &Threshold, shape: &Shape) -> Option<Space> {
    let exported = u64::from(shape.exported_pages_per_plane);
    let spare_pages = shape.data_pages_per_plane().saturating_sub(exported);
    if shape.sub_blocks > 1 {
        return space_in_sub_blocks(table, key, threshold, shape);
    }
    let (space, all) = match threshold {
        Threshold::Blocks(blocks) => (Some(*blocks), u64::from(shape.blocks_per_plane)),
        Threshold::Pages(pages) => (Some(*pages), shape.data_pages_per_plane()),
        Threshold::Share { share, of: ShareOf::Pages } => {
            let pages = shape.data_pages_per_plane();
            (Some(share.of(pages)), pages)
        }
        Threshold::Share { of: ShareOf::Soft, .. } => return refuse_share_of_soft(table, key),
        Threshold::Share { share, of: ShareOf::Physical } => {
            (Some(share.of(u64::from(shape.blocks_per_plane))), u64::from(shape.blocks_per_plane))
        }
        Threshold::Share { share, of: ShareOf::Spare } => {
            let blocks = spare_pages / u64::from(shape.data_pages());
            (Some(share.of(blocks)), u64::from(shape.blocks_per_plane))
        }
    };
    match space {
        Some(amount) if amount <= all => Some(match threshold {
            Threshold::Pages(_) | Threshold::Share { of: ShareOf::Pages, .. } => {
                Space::Pages(amount as u32)
            }
            _ => Space::Blocks(amount as u32),
        }),
        _ => {
            let unit = match threshold {
                Threshold::Pages(_) => "page",
                _ => "block",
            };
            let given = counted(space.unwrap_or_default(), unit);
            table.error(
                key,
                format!("the threshold is {given}, but a plane has {all}"),
                format!("give at most \"{}\"", counted(all, unit)),
            );
            None
        }
    }
}

/// No threshold but the hard one may be a share of the soft one.
pub fn refuse_share_of_soft(table: &Reader<'_>, key: &str) -> Option<Space> {
    let help = "give for example \"4 blocks\", \"5%\" or \"50% of spare\"";
    table.error(key, "only the hard threshold can be a share of the soft threshold", help);
    None
}

/// An amount of space in a plane, in pages: sub-blocks that layers isolate differ in size. A block
/// is a whole one.
fn space_in_sub_blocks(
    table: &Reader<'_>,
    key: &str,
    threshold: &Threshold,
    shape: &Shape,
) -> Option<Space> {
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
        let help = format!("give at most \"{}\"", counted(all, "page"));
        table.error(
            key,
            format!(
                "the threshold is {}, but a plane has {} for data",
                counted(pages, "page"),
                counted(all, "page")
            ),
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
        1 => format!("\"{}\"", counted(blocks, "block")),
        _ => format!("\"{}\"", counted(pages, "page")),
    }
}

/// The space that collection needs in a plane in addition to its threshold, as text for the user.
pub fn needs(shape: &Shape, gc: &GcPlan, reserved: u64, open_blocks: u64) -> String {
    let (reserve, per_block) = (gc.reserve_blocks, shape.data_pages());
    let open = pages_shut_by_an_open_block(shape, gc);
    if reserved > u64::from(reserve) * u64::from(per_block) {
        return format!(
            "reserved pages, even and odd: {reserved}; open blocks: {open_blocks}, each with {}",
            counted(open, "page")
        );
    }
    match shape.sub_blocks {
        1 => format!(
            "reserved blocks: {reserve}, open blocks: {open_blocks}, each of {}{}",
            counted(per_block, "page"),
            padding(shape)
        ),
        _ => format!(
            "reserved sub-blocks: {reserve}, each of {}; open blocks: {open_blocks}, each with {}",
            counted(per_block, "page"),
            counted(open, "page")
        ),
    }
}

/// The invalid pages that no collection wins where it pads programs, as text for the user.
pub fn padding(shape: &Shape) -> String {
    let (pages, least) = (shape.never_won(), shape.never_won_of_block());
    match pages {
        0 => String::new(),
        _ => format!(
            "; and {} that no collection wins, {least} in each block, since without power-loss \
             protection it pads its last program",
            counted(pages, "page")
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

/// Pages of data of the smallest sub-block.
pub fn least_of(shape: &Shape) -> u32 {
    shape.fewest_data_pages()
}
