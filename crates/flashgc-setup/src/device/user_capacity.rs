//! `device.user_capacity`: the blocks that give the host a capacity, as data sheets state it.

use super::exported::Exported;
use flashgc_config::Reader;
use flashgc_config::units::counted;
use flashgc_model::device::Shape;

const KEY: &str = "user_capacity";

/// The most blocks that a plane may have.
const BLOCKS_MAX: u32 = 1 << 20;

/// The blocks of a plane, or the capacity in bytes that decides their number.
#[derive(Clone, Copy, Debug)]
pub enum Blocks {
    PerPlane(u32),
    For { user_bytes: u64 },
}

impl Blocks {
    /// Their number, or one block until [`size`] knows it.
    pub fn number(self) -> u32 {
        match self {
            Blocks::PerPlane(blocks) => blocks,
            Blocks::For { .. } => 1,
        }
    }
}

/// Reads either key. Errors are noted.
pub fn read(table: &Reader<'_>) -> Option<Blocks> {
    const BLOCKS: &str = "blocks_per_plane";
    const HELP: &str = "set it, or user_capacity = \"960 GB\", or start from a preset, as in \
                        `preset = \"slc-msr\"`";
    if !table.has(KEY) {
        let given = table.u32(BLOCKS, 1..=BLOCKS_MAX);
        return table.required(BLOCKS, given, HELP).map(Blocks::PerPlane);
    }
    let user_bytes = table.bytes(KEY);
    if table.has(BLOCKS) {
        table.allow(BLOCKS);
        table.error(
            KEY,
            "user_capacity and blocks_per_plane cannot be combined: each sets the size",
            "keep one of them",
        );
        return None;
    }
    user_bytes.map(|user_bytes| Blocks::For { user_bytes })
}

/// The size: each plane gets the fewest blocks whose user share holds its part of the capacity, and
/// the host the capacity itself, in whole pages of each plane.
pub fn size(
    table: &Reader<'_>,
    shape: &mut Shape,
    blocks: Blocks,
    exported: &Exported,
) -> Option<()> {
    let Blocks::For { user_bytes } = blocks else {
        shape.exported_pages_per_plane = exported.pages(table, shape)?;
        return Some(());
    };
    let each_bytes = shape.planes().checked_mul(u64::from(shape.page_bytes))?;
    let pages = user_bytes / each_bytes;
    let blocks = u32::try_from(pages).ok().filter(|&pages| pages > 0).and_then(|pages| {
        let blocks = fewest(|blocks| {
            let sized = Shape { blocks_per_plane: blocks, ..shape.clone() };
            exported.pages_of(&sized).is_some_and(|of_plane| of_plane >= u64::from(pages))
        })?;
        Some((blocks, pages))
    });
    let Some((blocks_per_plane, pages)) = blocks else {
        let most = u64::from(BLOCKS_MAX) * u64::from(shape.pages_per_block);
        let most = most.min(u64::from(u32::MAX) - 2);
        let message = format!(
            "a capacity of {} is {} in each of {}, which must be 1 to some {most}",
            counted(user_bytes, "byte"),
            counted(pages, "page"),
            counted(shape.planes(), "plane")
        );
        table.error(KEY, message, "give a capacity as in \"960 GB\", or change the planes");
        return None;
    };
    shape.blocks_per_plane = blocks_per_plane;
    shape.exported_pages_per_plane = pages;
    Some(())
}

/// The smallest number of blocks that is enough, where one is.
pub fn fewest(is_enough: impl Fn(u32) -> bool) -> Option<u32> {
    if !is_enough(BLOCKS_MAX) {
        return None;
    }
    let (mut too_few, mut blocks) = (0, BLOCKS_MAX);
    while blocks - too_few > 1 {
        let middle = too_few + (blocks - too_few) / 2;
        if is_enough(middle) {
            blocks = middle;
        } else {
            too_few = middle;
        }
    }
    Some(blocks)
}
