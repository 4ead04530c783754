//! Mistakes with sub-blocks and hotness groups: each error has its place and advice, and no values
//! of their keys cause a panic.

use crate::common;

use common::{TINY, finish, inputs, refusal, setup};
use flashgc::session::prepare;
use proptest::prelude::*;

fn assert_says(sets: &[&str], parts: &[&str]) {
    let found = refusal(TINY, sets);
    for part in parts {
        assert!(found.contains(part), "expected: {part}\nfound:\n{found}");
    }
}

/// TINY with blocks of 32 pages in sub-blocks of 8, each of 4 layers.
const DEVICE: &[&str] = &[
    "device.pages_per_block=32",
    "device.sub_blocks=4",
    "device.layers=16",
    "device.exported=0.4",
    "gc.trigger.watermark.soft=\"4 blocks\"",
];
const SOFTWARE: &[&str] = &["gc.erase.use=\"sub-blocks\"", "gc.victim.use=\"recycle-benefit\""];
const HARDWARE: &[&str] = &[
    "gc.erase.use=\"sub-blocks\"",
    "gc.victim.use=\"recycle-benefit\"",
    "gc.erase.sub-blocks.isolation=\"hardware\"",
];
const HOTNESS: &str = "gc.placement.use=\"hotness-groups\"";

#[test]
fn what_no_block_of_sub_blocks_can_be_is_refused() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["device.sub_blocks=0"], &["`device.sub_blocks`", "from 1 to 64"]),
        (&["device.sub_blocks=65"], &["`device.sub_blocks`", "from 1 to 64"]),
        (
            &["device.sub_blocks=3"],
            &[
                "must divide device.pages_per_block = 8, got 3",
                "a divisor of device.pages_per_block",
            ],
        ),
        (&["device.layers=0"], &["`device.layers`"]),
        (
            &["device.layers=3"],
            &[
                "be a multiple of sub_blocks = 1, got 3",
                "each layer must have the same number of pages",
            ],
        ),
        (
            &["device.sub_blocks=4", "device.layers=2"],
            &["be a multiple of sub_blocks = 4, got 2", "each sub-block the same number of layers"],
        ),
        (
            &["device.sub_blocks=4", "device.layers=4"],
            &["isolation_layers must be below 1", "give fewer layers"],
        ),
        (
            &["device.sub_blocks=2", "device.layers=8", "device.isolation_layers=4"],
            &["device.isolation_layers=4", "isolation_layers must be below 4"],
        ),
        (&["device.isolation_layers=0"], &["`device.isolation_layers`"]),
    ];
    for (sets, parts) in cases {
        assert_says(sets, parts);
    }
}

#[test]
fn an_erase_of_sub_blocks_needs_a_device_that_has_them() {
    assert_says(
        SOFTWARE,
        &[
            "this device erases whole blocks",
            "set for example `device.sub_blocks = 16`",
            "choose gc.erase.use = \"block\"",
        ],
    );
    let summary = ["device.sub_blocks=2", "device.summary.pages=1"];
    assert_says(
        &[SOFTWARE, &summary].concat(),
        &["cannot be combined with [device.summary]", "remove [device.summary]"],
    );
    assert_says(
        &[HARDWARE, &["device.sub_blocks=2"]].concat(),
        &["`device.layers`", "isolation = \"hardware\" needs the number of layers"],
    );
    let unknown = ["gc.erase.sub-blocks.isolation=\"firmware\""];
    assert_says(&[DEVICE, SOFTWARE, &unknown].concat(), &["\"software\"", "\"hardware\""]);
}

#[test]
fn a_victim_must_rank_what_is_erased() {
    for victim in ["greedy", "fifo", "random", "d-choices", "cost-benefit", "wear-aware"] {
        let victim_use = format!("gc.victim.use=\"{victim}\"");
        assert_says(
            &[DEVICE, SOFTWARE, &[&victim_use]].concat(),
            &[
                &format!("\"{victim}\" ranks whole blocks"),
                "choose \"recycle-benefit\" or \"invalid-sub-blocks\"",
                "another gc.erase.use than \"sub-blocks\"",
            ],
        );
    }
    let invalid = ["gc.victim.use=\"invalid-sub-blocks\""];
    assert_says(
        &[DEVICE, SOFTWARE, &invalid].concat(),
        &["\"invalid-sub-blocks\" needs isolation = \"hardware\"", "isolation = \"hardware\""],
    );
    setup(TINY, &[DEVICE, HARDWARE, &invalid].concat());
}

#[test]
fn odd_and_even_pages_need_sub_blocks_that_have_both() {
    let parity = "gc.copy.copyback.parity=true";
    let faults =
        ["parity = true needs sub-blocks with an even number of pages", "set parity = false"];
    // Layers of one page leave one page of data to sub-blocks of two.
    let small = ["device.sub_blocks=16", "device.layers=32", "device.exported=0.2", parity];
    assert_says(&[DEVICE, HARDWARE, &small].concat(), &faults);
    setup(TINY, &[DEVICE, HARDWARE, &small[..3]].concat());
    // The pages of every other sub-block of an odd number have the other kind first.
    let odd = ["device.pages_per_block=36", "device.layers=36", "device.sub_blocks=4", parity];
    assert_says(&[DEVICE, SOFTWARE, &odd].concat(), &faults);
    setup(TINY, &[DEVICE, SOFTWARE, &odd[..3]].concat());
    setup(TINY, &[DEVICE, SOFTWARE, &[parity]].concat());
}

#[test]
fn marks_with_sub_blocks_count_pages() {
    let cases: &[(&str, &[&str])] = &[
        ("\"600 pages\"", &["but a plane has", "at most \"512 pages\""]),
        ("\"17 blocks\"", &["but a plane has"]),
        (
            "\"1 block\"",
            &[
                "the soft threshold (32 pages) must be above the reserve (32 pages)",
                "collection reserves 4 erased sub-blocks of each plane",
                "at least \"33 pages\"",
            ],
        ),
        ("\"20% of soft\"", &["only the hard threshold can be a share of the soft threshold"]),
        (
            "\"15 blocks\"",
            &["exceeds the spare space", "give at most \"8 blocks\" or \"275 pages\""],
        ),
    ];
    for (mark, parts) in cases {
        let soft = format!("gc.trigger.watermark.soft={mark}");
        assert_says(&[DEVICE, SOFTWARE, &[&soft]].concat(), parts);
    }
    let hard = ["gc.trigger.watermark.hard=\"31 pages\""];
    assert_says(
        &[DEVICE, SOFTWARE, &hard].concat(),
        &["the hard threshold (31 pages) is below the reserve (32 pages)", "at least \"32 pages\""],
    );
    let full = ["device.exported=0.95"];
    assert_says(
        &[DEVICE, SOFTWARE, &full].concat(),
        &[
            "a plane has 26 spare pages, but collection alone needs 64",
            "reserved sub-blocks: 4, each of 8 pages; open blocks: 1, each with 32 pages",
        ],
    );
    // Layers without data leave 13 of 16 pages.
    let most = ["device.exported=0.82", "device.layers=16", "device.pages_per_block=16"];
    assert_says(&[DEVICE, HARDWARE, &most].concat(), &["collection alone needs"]);
}

#[test]
fn hotness_groups_need_sub_blocks_and_blocks_enough() {
    let hot = |keys: &[&str]| -> Vec<String> {
        let keys = keys.iter().map(|key| format!("gc.placement.hotness-groups.{key}"));
        keys.chain([HOTNESS.to_string()]).collect()
    };
    let cases: &[(&[&str], &[&str])] = &[
        (&["groups=1"], &["`gc.placement.hotness-groups.groups`", "from 2 to 8"]),
        (&["groups=9"], &["from 2 to 8"]),
        (
            &[],
            &["a plane of 16 blocks is too small for groups = 7", "more blocks, or set groups = 3"],
        ),
        (&["groups=4"], &["a plane of 16 blocks is too small for groups = 4"]),
        (&["groups=2", "hash_functions=0"], &["hash_functions"]),
        (&["groups=2", "hash_functions=17"], &["from 1 to 16"]),
        (
            &["groups=2", "counters=1000"],
            &["counters must be a power of two, got 1000", "give for example 1024"],
        ),
        (&["groups=2", "counters=8"], &["counters"]),
        (&["groups=2", "decay=0"], &["decay"]),
        (&["groups=2", "thresholds=[2]"], &["thresholds must be 2 rising numbers from 1 to 255"]),
        (
            &["groups=2", "thresholds=[4, 4]"],
            &["give one number per group (2), each greater than the one before"],
        ),
        (&["groups=2", "thresholds=[0, 4]"], &["thresholds must be"]),
        (&["groups=2", "thresholds=[4, 256]"], &["thresholds must be"]),
        (&["groups=2", "thresholds=4"], &["thresholds"]),
        (&["groups=2", "hot_to=\"bottom\""], &["\"group\"", "\"top\""]),
        (&["groups=2", "copies=\"hot\""], &["\"by-hotness\"", "\"cold\""]),
        (&["groups=2", "cold=\"first\""], &["\"random\"", "\"next\""]),
    ];
    for (keys, parts) in cases {
        let keys = hot(keys);
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        assert_says(&[DEVICE, SOFTWARE, &keys].concat(), parts);
    }
    let two = [HOTNESS, "gc.placement.hotness-groups.groups=2"];
    assert_says(
        &[DEVICE, &two].concat(),
        &[
            "hotness-groups needs sub-block erase, but this scheme erases whole blocks",
            "set gc.erase.use = \"sub-blocks\"",
        ],
    );
    let faults = ["hotness-groups cannot be combined with parity = true or path = \"global\""];
    for copy in [
        &["gc.copy.copyback.parity=true"][..],
        &["gc.copy.use=\"parallel\""],
        &["gc.copy.use=\"parallel\"", "gc.copy.parallel.path=\"global\""],
    ] {
        assert_says(&[DEVICE, SOFTWARE, &two, copy].concat(), &faults);
    }
    setup(TINY, &[DEVICE, SOFTWARE, &two].concat());
}

/// A drive of blocks does not become one of sub-blocks, and back.
#[test]
fn a_drive_is_preconditioned_by_a_scheme_with_the_same_erase() {
    let filled_by = |scheme: &str| format!("precondition.scheme=\"{scheme}\"");
    for (sets, fillers) in [
        (SOFTWARE, &["greedy", "subblock-baseline", "pb"][..]),
        (HARDWARE, &["greedy", "gsm"]),
        (&[], &["gsm", "pb"]),
    ] {
        for filler in fillers {
            assert_says(
                &[DEVICE, sets, &[&filled_by(filler)]].concat(),
                &[
                    &format!("\"{filler}\" and \"greedy\" erase different parts"),
                    "name a scheme with the same `gc.erase`",
                ],
            );
        }
    }
    assert_says(
        &[DEVICE, SOFTWARE, &[&filled_by("speedup")]].concat(),
        &["the scheme \"speedup\" cannot run on this device: a plane of 16 blocks"],
    );
    for (sets, filler) in [(SOFTWARE, "gsm"), (HARDWARE, "pb"), (&[], "subblock-baseline")] {
        setup(TINY, &[DEVICE, sets, &[&filled_by(filler)]].concat());
    }
}

const KEYS: &[(&str, &[&str])] = &[
    ("device.pages_per_block", &["7", "8", "16", "24", "30"]),
    ("device.blocks_per_plane", &["4", "9", "16", "40"]),
    ("device.sub_blocks", &["1", "2", "3", "4", "8", "15", "16", "64"]),
    ("device.layers", &["2", "4", "8", "12", "16", "24", "30"]),
    ("device.isolation_layers", &["1", "2", "3"]),
    ("device.exported", &["0.05", "0.2", "0.4", "0.55", "{ reserved_blocks = \"50%\" }"]),
    ("device.allocation", &["\"striped\"", "\"dynamic\""]),
    ("device.registers", &["1", "4"]),
    ("gc.erase.use", &["\"block\"", "\"sub-blocks\""]),
    ("gc.erase.sub-blocks.isolation", &["\"software\"", "\"hardware\""]),
    ("gc.victim.use", &["\"greedy\"", "\"recycle-benefit\"", "\"invalid-sub-blocks\""]),
    ("gc.victim.recycle-benefit.index", &["\"kept\"", "\"scan\""]),
    ("gc.copy.use", &["\"copyback\"", "\"bus\"", "\"parallel\""]),
    ("gc.copy.copyback.parity", &["true", "false"]),
    ("gc.placement.use", &["\"one-frontier\"", "\"separate-gc\"", "\"hotness-groups\""]),
    ("gc.placement.hotness-groups.groups", &["2", "3", "7", "8"]),
    ("gc.placement.hotness-groups.thresholds", &["[1, 2]", "[2, 9, 200]"]),
    ("gc.placement.hotness-groups.counters", &["16", "1024"]),
    ("gc.placement.hotness-groups.decay", &["1", "100"]),
    ("gc.placement.hotness-groups.conservative", &["true", "false"]),
    ("gc.placement.hotness-groups.hot_to", &["\"group\"", "\"top\""]),
    ("gc.placement.hotness-groups.copies", &["\"by-hotness\"", "\"cold\""]),
    ("gc.placement.hotness-groups.cold", &["\"random\"", "\"next\""]),
    ("gc.trigger.watermark.soft", &["\"2 blocks\"", "\"40 pages\"", "\"20%\""]),
    ("gc.trigger.watermark.hard", &["\"1 block\"", "\"20% of soft\"", "\"none\""]),
    ("gc.trigger.watermark.stop", &["\"4 blocks\"", "\"30%\""]),
    ("gc.preemption.use", &["\"never\"", "\"between-copies\""]),
    ("workload.synthetic.address", &["\"uniform\"", "{ zipf = 1.2 }"]),
    ("workload.synthetic.trim_share", &["0.2"]),
    ("precondition.fill", &["\"sequential\"", "\"none\"", "\"aged\""]),
    ("precondition.scheme", &["\"gsm\"", "\"pb\"", "\"greedy\"", "\"speedup\""]),
];

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_values_of_their_keys_run_or_are_refused(
        is_hard in any::<bool>(),
        drawn in prop::collection::vec((0..KEYS.len(), 0..8usize), 0..9),
    ) {
        let drawn = drawn.iter().map(|&(key, value)| {
            let (key, values) = KEYS[key];
            format!("{key}={}", values[value % values.len()])
        });
        let drawn: Vec<String> = drawn.collect();
        let base = [DEVICE, if is_hard { HARDWARE } else { SOFTWARE }].concat();
        let less = ["workload.synthetic.requests=600", "device.channels=1"];
        let drawn: Vec<&str> = drawn.iter().map(String::as_str).collect();
        let sets = [&base[..], &less, &drawn].concat();
        if let Ok(setup) = prepare(&inputs(TINY, &sets)) {
            let outcome = finish(setup, None, true);
            prop_assert!(outcome.is_ok(), "{outcome:?} with {sets:?}");
        }
    }
}
