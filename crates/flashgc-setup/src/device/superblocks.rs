//! `device.superblock`: the part whose planes share their blocks.

use flashgc_config::Reader;
use flashgc_model::device::{Level, Shape, Superblock};

/// Valid pages of a block are counted in 28 bits. Victims are found by the number of their valid
/// pages, and tables for fewer are small.
const PAGES_MAX: u32 = 4_194_304;

/// Reads the key. An array operation works in one superblock, so that the part is at least a unit.
pub fn read(table: &Reader<'_>, unit: Option<Level>) -> Option<Superblock> {
    let superblock = table.choice("superblock", &Superblock::WORDS).unwrap_or_default();
    let unit = unit?;
    if superblock == Superblock::Plane || superblock.level().is_none_or(|level| level <= unit) {
        return Some(superblock);
    }
    let (word, unit) = (superblock.word(), unit.word());
    table.error(
        "superblock",
        format!("superblock = {word:?} must be at least the unit, which is {unit:?}"),
        format!("set superblock = {unit:?} or a larger part, or a smaller unit"),
    );
    None
}

/// The planes of the part share their blocks: they stand for one.
pub fn join(table: &Reader<'_>, shape: &mut Shape, superblock: Superblock) -> Option<()> {
    if superblock == Superblock::Plane {
        return Some(());
    }
    let pages = u64::from(shape.pages_per_block);
    let joined = shape.lanes_of(superblock).checked_mul(pages);
    if joined.is_none_or(|joined| joined > u64::from(PAGES_MAX)) {
        let lanes = shape.lanes_of(superblock);
        let message = format!(
            "a superblock must have at most {PAGES_MAX} pages, got {lanes} blocks of \
             {pages} pages"
        );
        let help = "choose a smaller superblock, fewer pages_per_block, or a smaller device";
        table.error("superblock", message, help);
        return None;
    }
    *shape = shape.in_superblocks(superblock);
    Some(())
}
