//! `[device.failures]`: programs and erases that fail.

use crate::device::{FailureAt, FailureRules};
use flashgc_config::Reader;

/// Reads the table, if there is one. Errors are noted; `Some(None)` where nothing fails.
pub fn read(device: &Reader<'_>) -> Option<Option<FailureRules>> {
    if !device.has("failures") {
        return Some(None);
    }
    let table = device.table("failures");
    let share = |key| {
        if table.has(key) { table.f64(key, 0.0..=1.0) } else { Some(0.0) }
    };
    let (program, erase) = (share("program"), share("erase"));
    let is_doubling = table.has("doubling_cycles");
    let doubling = table.u32("doubling_cycles", 1..=1_000_000);
    let at = if table.has("at") { given(&table) } else { Some(Vec::new()) };
    table.finish();
    if is_doubling && doubling.is_none() {
        return None;
    }
    let rules =
        FailureRules { program: program?, erase: erase?, doubling_cycles: doubling, at: at? };
    if rules.program == 0.0 && rules.erase == 0.0 && rules.at.is_empty() {
        device.error(
            "failures",
            "device.failures names nothing that fails",
            "set program or erase to a share, as in `erase = 1e-5`, or remove the table",
        );
        return None;
    }
    Some(Some(rules))
}

/// The operations that fail in any case.
fn given(table: &Reader<'_>) -> Option<Vec<FailureAt>> {
    let mut given = Vec::new();
    for at in table.tables("at")? {
        let help = "a block and its erases before, as in `at = [{ block = 5, erases = 2 }]`";
        let block = at.required("block", at.u32("block", 0..=u32::MAX), help);
        let erases = if at.has("erases") { at.u32("erases", 0..=u32::MAX) } else { Some(0) };
        let has_program = at.has("program");
        let program = at.u32("program", 0..=u32::MAX);
        at.finish();
        if has_program && program.is_none() {
            return None;
        }
        given.push(FailureAt { block: block?, erases: erases?, program });
    }
    Some(given)
}
