//! `[device.firmware]`: the time that a command takes on the processor of the device.

use super::jitter;
use super::timing::at_most_longest;
use flashgc_config::Reader;
use flashgc_model::plan::Firmware;

/// Reads the table, if there is one. Errors are noted; `Some(None)` where there is no such time.
pub fn read(device: &Reader<'_>) -> Option<Option<Firmware>> {
    if !device.has("firmware") {
        return Some(None);
    }
    let table = device.table("firmware");
    let help = "the time of a command, as in `command = \"5 us\"`";
    let command_ns = table.required("command", table.duration_ns("command"), help);
    let cores = if table.has("cores") { table.u32("cores", 1..=256) } else { Some(1) };
    let jitter = jitter::read(&table);
    table.finish();
    let command_ns = at_most_longest(&table, "command", command_ns?, help)?;
    Some(Some(Firmware { command_ns, cores: cores?, jitter: jitter? }))
}
