//! `device.mapping_unit`: the part of a flash page that the map maps.

use super::layers::PAGES_PER_BLOCK_MAX;
use flashgc_config::Reader;

/// The most slots of a flash page.
const SLOTS_MAX: u32 = 64;

/// Slots of a flash page: 1 where the map maps whole pages. Errors are noted.
pub fn slots(
    table: &Reader<'_>,
    page_bytes: Option<u32>,
    pages_per_block: Option<u32>,
) -> Option<u32> {
    let given = table.bytes("mapping_unit");
    let (Some(unit), Some(page)) = (given, page_bytes.map(u64::from)) else {
        return if table.has("mapping_unit") { None } else { Some(1) };
    };
    let slots = if unit > 0 && page.is_multiple_of(unit) { page / unit } else { 0 };
    if unit % 512 != 0 || !slots.is_power_of_two() || slots > u64::from(SLOTS_MAX) {
        table.error(
            "mapping_unit",
            format!(
                "mapping_unit must be page_size ({page} B) or a half, a quarter, and so on to a \
                 64th of it, in whole 512 B; got {unit} B"
            ),
            "write for example mapping_unit = \"4 KiB\" where page_size is \"16 KiB\"",
        );
        return None;
    }
    let of_block = u64::from(pages_per_block.unwrap_or(0)) * slots;
    if of_block > u64::from(PAGES_PER_BLOCK_MAX) {
        table.error(
            "mapping_unit",
            format!(
                "a block must have at most {PAGES_PER_BLOCK_MAX} slots, got {of_block} with \
                 mapping_unit = {unit} B"
            ),
            "use a larger mapping_unit or fewer pages_per_block",
        );
        return None;
    }
    Some(slots as u32)
}
