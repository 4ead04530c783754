//! What a scheme cannot ask of its copies is refused, with what to do instead.

mod common;

use common::{refusal, TINY};

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
            &["2 pages at once, and a plane has 1 data registers", "set device.registers = 2"],
        ),
        ("copy.parallel.workers = 0\n", &["workers"]),
        ("copy.parallel.path = \"away\"\n", &["\"local\"", "\"global\""]),
        (
            "copy.parallel.path = \"global\"\n",
            &["this device gives every page one plane", "device.allocation = \"dynamic\""],
        ),
        (
            "copy.parallel.path = \"global\"\ncopy.parallel.parity = true\n",
            &["may go to any page", "path = \"local\""],
        ),
        (
            "erase.use = \"blocks\"\nerase.blocks.move_cap = \"9 blocks\"\n",
            &["more than 2 blocks hold", "leave it out for no bound"],
        ),
        (
            "erase.use = \"blocks\"\nerase.blocks.move_cap = \"5%\"\n",
            &["the bound on moves is no share", "\"1 block\""],
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
    assert!(refusal.contains("there is no other unit to copy to"), "{refusal}");
}
