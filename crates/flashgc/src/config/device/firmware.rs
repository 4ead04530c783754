//! `[device.firmware]`: the time that a command takes on the processor of the device.

use crate::plan::Firmware;
use flashgc_config::Reader;

/// Reads the table, if there is one. Errors are noted; `Some(None)` where there is no such time.
pub fn read(device: &Reader<'_>) -> Option<Option<Firmware>> {
    if !device.has("firmware") {
        return Some(None);
    }
    let table = device.table("firmware");
    let help = "the time of a command, as in `command = \"5 us\"`";
    let command_ns = table.required("command", table.duration_ns("command"), help);
    let cores = if table.has("cores") { table.u32("cores", 1..=256) } else { Some(1) };
    table.finish();
    let (command_ns, cores) = (command_ns?, cores?);
    if command_ns > LONGEST_NS {
        let given_s = command_ns as f64 / 1e9;
        let message = format!("a command must take at most 1000 s, got {given_s} s");
        table.error("command", message, "write for example command = \"5 us\"");
        return None;
    }
    Some(Some(Firmware { command_ns, cores }))
}

/// 1000 s.
const LONGEST_NS: u64 = 1_000_000_000_000;
