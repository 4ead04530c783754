//! `[device.failures]`: programs and erases that fail.

use crate::block_list::{FAILING, Listed};
use flashgc_config::Reader;
use flashgc_model::device::{FailureAt, FailureRules};

/// Reads the table, if there is one. Errors are noted; `Some(None)` where nothing fails.
pub fn read(device: &Reader<'_>) -> Option<Option<FailureRules>> {
    if !device.has("failures") {
        return Some(None);
    }
    let table = device.table("failures");
    let share = |key| {
        if table.has(key) { table.part(key, 0.0..=1.0) } else { Some(0.0) }
    };
    let (program, erase) = (share("program"), share("erase"));
    let is_doubling = table.has("doubling_cycles");
    let doubling = table.u32("doubling_cycles", 1..=1_000_000);
    let at = FAILING.read(&table);
    table.finish();
    if is_doubling && doubling.is_none() {
        return None;
    }
    let failing = |Listed { block, part, erases }| FailureAt {
        block,
        erases: erases.unwrap_or(0),
        program: part,
    };
    let at = at?.into_iter().map(failing).collect();
    let rules = FailureRules { program: program?, erase: erase?, doubling_cycles: doubling, at };
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
