//! Impossible choices for copies are refused, with advice.

use crate::common;

use common::{TINY, refusal};

fn assert_says(found: &str, parts: &[&str]) {
    for part in parts {
        assert!(found.contains(part), "expected: {part}\nfound:\n{found}");
    }
}

#[test]
fn copies_at_once_need_registers_and_somewhere_to_go() {
    let parallel = "copy.use = \"parallel\"\n";
    let with = |keys: &str| format!("[gc]\n{parallel}{keys}");
    let cases: &[(&str, &[&str])] = &[
        (
            "copy.parallel.workers = 2\n",
            &["workers must be at most 1 (device.registers), got 2", "set device.registers = 2"],
        ),
        ("copy.parallel.workers = 0\n", &["workers"]),
        ("copy.parallel.path = \"away\"\n", &["\"local\"", "\"global\""]),
        (
            "copy.parallel.path = \"global\"\n",
            &["device.allocation is \"striped\"", "device.allocation = \"dynamic\""],
        ),
        (
            "copy.parallel.path = \"global\"\ncopy.parallel.parity = true\n",
            &["parity = true needs path = \"local\"", "path = \"local\""],
        ),
        (
            "erase.use = \"blocks\"\nerase.blocks.move_cap = \"9 blocks\"\n",
            &["victim blocks: 2", "remove move_cap for no limit"],
        ),
        (
            "erase.use = \"blocks\"\nerase.blocks.move_cap = \"5%\"\n",
            &["move_cap cannot be a share", "\"1 block\""],
        ),
    ];
    for (keys, parts) in cases {
        assert_says(&refusal(&TINY.replacen("[gc]\n", &with(keys), 1), &[]), parts);
    }
}

#[test]
fn copies_to_other_units_need_another_unit() {
    let sets = [
        "gc.copy.use=\"parallel\"",
        "gc.copy.parallel.path=\"global\"",
        "device.allocation=\"dynamic\"",
        "device.channels=1",
        "device.chips_per_channel=1",
        "device.unit=\"chip\"",
    ];
    let refusal = refusal(TINY, &sets);
    assert!(refusal.contains("there is only one to allocate from"), "{refusal}");
}
