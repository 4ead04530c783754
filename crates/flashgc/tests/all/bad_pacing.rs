//! Mistakes with pacing and background tasks: refused, with their place and advice.

use crate::common;

use common::{TINY, at, refusal, run};

fn assert_says(found: &str, parts: &[&str]) {
    for part in parts {
        assert!(found.contains(part), "expected: {part}\nfound:\n{found}");
    }
}

#[test]
fn assists_are_named_once_and_joined_with_sense() {
    let cases: &[(&str, &[&str])] = &[
        ("\"pre-migrate\"", &["pre-migration", "gc.background.use"]),
        ("[\"nothing\", \"pre-migration\"]", &["remove \"nothing\" from the list"]),
        ("[\"pre-migration\", \"pre-migration\"]", &["give one or more of", "each once"]),
        ("[]", &["give one or more of \"nothing\", \"flush-buffer\", \"pre-migration\""]),
        ("[\"pre-migration\", \"sleep\"]", &["is not a list of different choices of this slot"]),
        ("[\"flush-buffer\", \"pre-migration\"]", &["this device has none"]),
    ];
    for (words, parts) in cases {
        assert_says(&refusal(TINY, &[&format!("gc.background.use={words}")]), parts);
    }
}

#[test]
fn distances_and_shares_are_possible() {
    let cases: &[(&str, &[&str])] = &[
        ("distance=\"0 pages\"", &["distance must be 1 to 128 pages (a plane has 128), got 0"]),
        ("distance=\"129 pages\"", &["got 129"]),
        (
            "distance=\"20% of soft\"",
            &["only the hard threshold can be a share of the soft threshold"],
        ),
        ("distance=3", &["gc.background.pre-migration.distance"]),
        ("t_page=\"110%\"", &["gc.background.pre-migration.t_page", "at most the whole"]),
        ("rule=\"valid\"", &["gc.background.pre-migration.rule", "valid-left"]),
        ("t_block=\"11%\"", &["unknown key `t_block`"]),
    ];
    for (key, parts) in cases {
        let key = format!("gc.background.pre-migration.{key}");
        assert_says(&refusal(TINY, &["gc.background.use=\"pre-migration\"", &key]), parts);
    }
}

#[test]
fn turns_are_possible() {
    let cases: &[(&str, &[&str])] = &[
        ("length=\"0 ns\"", &["length must be above 0 and at most 1000 s, got 0 ns"]),
        ("length=\"2000 s\"", &["above 0 and at most 1000 s"]),
        ("per_gap=0", &["gc.pacing.time-slices.per_gap"]),
        ("floor=\"1 block\"", &["must be above the reserve", "give at least \"2 blocks\""]),
        ("floor=\"99 blocks\"", &["but a plane has"]),
        ("extra_space=\"200%\"", &["gc.pacing.time-slices.extra_space"]),
        ("extra=\"16%\"", &["unknown key `extra`"]),
    ];
    for (key, parts) in cases {
        let key = format!("gc.pacing.time-slices.{key}");
        assert_says(&refusal(TINY, &["gc.pacing.use=\"time-slices\"", &key]), parts);
    }
    let blocking = refusal(TINY, &["gc.pacing.use=\"time-slices\"", "gc.blocking.use=\"channel\""]);
    assert_says(
        &blocking,
        &[
            "cannot be combined with requests that are served during a collection",
            "gc.pacing.use = \"at-once\"",
        ],
    );
    let huge = [
        "gc.pacing.use=\"time-slices\"",
        "gc.pacing.time-slices.extra_space=\"100%\"",
        "device.blocks_per_plane=1048576",
        "device.pages_per_block=400",
    ];
    assert_says(&refusal(TINY, &huge), &["exceeds 2^32 - 2 physical pages", "extra_space"]);
    let filler = [
        "gc.pacing.use=\"time-slices\"",
        "gc.pacing.time-slices.extra_space=\"50%\"",
        "precondition.scheme=\"greedy\"",
    ];
    assert_says(&refusal(TINY, &filler), &["use different numbers of blocks"]);
}

#[test]
fn parameters_of_what_is_not_in_use_are_said() {
    let sets = ["gc.pacing.time-slices.per_gap=2", "gc.background.pre-migration.t_page=0.2"];
    let unused = at(&run(TINY, &sets), "unused_keys").to_string();
    assert_says(&unused, &["gc.pacing.time-slices.per_gap", "gc.background.pre-migration.t_page"]);
}
