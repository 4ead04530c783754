//! Mistakes with triggers: refused, with their place and advice.

use crate::common;

use common::{TINY, inputs, refusal};
use flashgc::session::prepare;

const SCHEME: &str = "scheme = \"greedy\"";

/// The errors of the tiny configuration with these lines in `[gc]`.
fn with(lines: &str) -> String {
    refusal(&TINY.replacen(SCHEME, &format!("{SCHEME}\n{lines}"), 1), &[])
}

fn assert_says(found: &str, parts: &[&str]) {
    for part in parts {
        assert!(found.contains(part), "expected: {part}\nfound:\n{found}");
    }
}

#[test]
fn used_space_must_be_possible_and_say_enough() {
    let used = |keys: &str| {
        let keys: String =
            keys.split(", ").map(|key| format!("\ntrigger.used-space.{key}")).collect();
        with(&format!("trigger.use = \"used-space\"{keys}"))
    };
    let cases: &[(&str, &[&str])] = &[
        ("on = \"0%\"", &["must be above 0%, got 0%", "on = \"0%\"", "write for example \"70%\""]),
        ("on = \"100%\"", &["there would be no space to collect"]),
        ("on = \"99.99%\"", &["leaves none of 1024 pages free"]),
        ("on = \"99.5%\", of = \"plane\"", &["leaves none of 128 pages free"]),
        ("on = \"110%\"", &["`gc.trigger.used-space.on`", "at most the whole"]),
        ("on = \"4 blocks\"", &["`gc.trigger.used-space.on`"]),
        ("of = \"chip\"", &["`gc.trigger.used-space.of`", "plane"]),
        ("victims = 0", &["must be above 0%, got 0%", "victims = 0", "write for example \"70%\""]),
        ("batch = \"all\"", &["`gc.trigger.used-space.batch`", "list"]),
        ("soft = \"4 blocks\"", &["unknown key `soft` in [gc.trigger.used-space]"]),
    ];
    for (keys, parts) in cases {
        assert_says(&used(keys), parts);
    }
    let joined = |words: &str| with(&format!("trigger.use = [{words}]"));
    let both = joined("\"watermark\", \"used-space\"");
    assert_says(&both, &["each defines when a plane has enough", "together with \"idle\""]);
    let below = "trigger.idle.threshold = \"1 blocks\"\ntrigger.use = [\"used-space\", \"idle\"]";
    let below = with(below);
    assert_says(&below, &["below the soft threshold", "give at least \"16 pages\""]);
    let full = refusal(TINY, &["gc.trigger.use=\"used-space\"", "device.exported=0.86"]);
    assert_says(&full, &["a plane has 18 spare pages", "too few for the"]);
    let now = "victim.use = \"invalidation-rate\"\nvictim.invalidation-rate.now = 1";
    assert_says(&with(now), &["true or false"]);
}

/// Both are in whole blocks.
#[test]
fn parts_of_blocks_go_neither_with_used_space_nor_with_a_hold_of_blocks() {
    let parts = ["gc.scheme=\"gsm\"", "device.sub_blocks=4", "device.exported=0.4"];
    let used = refusal(TINY, &[&parts[..], &["gc.trigger.use=\"used-space\""]].concat());
    assert_says(
        &used,
        &["needs whole-block erase, but this scheme erases sub-blocks", "gc.erase.use = \"block\""],
    );
    let blocking = ["gc.blocking.use=\"blocks\"", "gc.preemption.use=\"between-copies\""];
    let held = refusal(TINY, &[&parts[..], &blocking].concat());
    assert_says(
        &held,
        &["needs whole-block erase, but this scheme erases sub-blocks", "gc.erase.use = \"block\""],
    );
}

/// Each advised threshold is accepted, and where none is possible the user capacity is refused: two
/// messages led from one to the other.
#[test]
fn advised_thresholds_are_accepted() {
    let (mut followed, mut without) = (0, 0);
    for exported in 55..97 {
        let exported = format!("device.exported=0.{exported}");
        let sets = ["gc.trigger.watermark.soft=\"15 blocks\"", exported.as_str()];
        let Err(refused) = prepare(&inputs(TINY, &sets)) else { panic!("{exported}") };
        let text = refused.to_string();
        let Some((_, advised)) = text.split_once("give at most ") else {
            without += u32::from(text.contains("leave no threshold above the reserve"));
            continue;
        };
        for value in advised.lines().next().unwrap_or_default().split(" or ") {
            let soft = format!("gc.trigger.watermark.soft={value}");
            if let Err(again) = prepare(&inputs(TINY, &[&soft, exported.as_str()])) {
                panic!("{exported}: {value} of\n{text}\n{again}");
            }
            followed += 1;
        }
    }
    assert!(followed > 20 && without > 0, "{followed} {without}");
}
