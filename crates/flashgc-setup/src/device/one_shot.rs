//! `device.pages_per_program`: the pages of a word line that one program writes together.

use flashgc_config::Reader;
use flashgc_config::units::counted;

/// The most flash pages of a program.
const PAGES_MAX: u32 = 64;

/// Flash pages that are programmed together: 1 where each is programmed by itself. Errors are
/// noted.
pub fn read(table: &Reader<'_>, pages_per_block: Option<u32>) -> Option<u32> {
    if !table.has("pages_per_program") {
        return Some(1);
    }
    let pages = table.u32("pages_per_program", 1..=PAGES_MAX)?;
    let of_block = pages_per_block?;
    if !of_block.is_multiple_of(pages) {
        let message = format!(
            "pages_per_program must divide device.pages_per_block = {of_block}, got {pages}"
        );
        let help = "a block must have whole word lines: set another device.pages_per_block";
        table.error("pages_per_program", message, help);
        return None;
    }
    Some(pages)
}

/// The same, if each of the layers has whole word lines.
pub fn in_layers(table: &Reader<'_>, together: u32, pages: u32, layers: u32) -> Option<u32> {
    let of_layer = pages / layers.max(1);
    if of_layer.is_multiple_of(together) {
        return Some(together);
    }
    let of_layer = counted(of_layer, "page");
    let message =
        format!("pages_per_program must divide the {of_layer} of a layer, got {together}");
    let help = "a word line lies in one layer: set fewer device.layers, or another number";
    table.error("pages_per_program", message, help);
    None
}
