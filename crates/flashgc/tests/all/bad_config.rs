//! Mistakes in configurations: each error has its place, its line, and advice; all mistakes of a
//! configuration are reported at once.

use crate::common;

use common::{TINY, finish, inputs, refusal};
use flashgc::session::prepare;

const READS: &str = "read_share = 0.3";

/// The errors of the tiny configuration with one piece of text replaced.
fn with(from: &str, to: &str) -> String {
    assert!(TINY.contains(from), "{from}");
    refusal(&TINY.replacen(from, to, 1), &[])
}

pub fn assert_says(found: &str, parts: &[&str]) {
    for part in parts {
        assert!(found.contains(part), "expected: {part}\nfound:\n{found}");
    }
}

#[test]
fn every_mistake_comes_at_once_with_line_column_and_the_nearest_key() {
    let text = TINY
        .replace("channels = 2\nchips", "chanels = 2\nchips")
        .replace("read = \"25 us\"", "read = \"25 uss\"")
        .replace("unit = \"die\"", "unit = \"dye\"")
        .replace("soft = \"3 blocks\"", "sofft = \"3 blocks\"")
        .replace("read_share = 0.3", "read_share = 1.3")
        .replace("fill = \"sequential\"", "fill = \"sequentially\"");
    let found = refusal(&text, &[]);
    assert_says(
        &found,
        &[
            "unknown key `chanels` in [device]\n --> run.toml:5:1",
            "help: did you mean `channels`?",
            "\"25 uss\"\n  --> run.toml:16:8",
            "`device.unit`",
            "--> run.toml:13:8",
            "unknown key `sofft` in [gc.trigger.watermark]",
            "help: did you mean `soft`?",
            "`workload.synthetic.read_share`",
            "`precondition.fill`",
        ],
    );
    let errors = found.matches("error: ").count();
    assert!(errors >= 6, "{errors} errors:\n{found}");
    let lines: Vec<u32> = found
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("--> run.toml:"))
        .filter_map(|place| place.split(':').next()?.parse().ok())
        .collect();
    assert!(lines.is_sorted(), "in the order of the file: {lines:?}");
}

#[test]
fn the_line_is_shown_with_a_caret_under_the_value() {
    let expected = "\
 --> run.toml:11:13
   |
11 | page_size = \"0 B\"
   |             ^^^^^
   = help: write for example `page_size = \"4 KiB\"`";
    let found = with("page_size = \"4 KiB\"", "page_size = \"0 B\"");
    assert_says(
        &found,
        &["error: page_size must be a multiple of 512 B from 512 B to 1 MiB, got 0 B\n", expected],
    );
}

/// A piece of the tiny configuration, its replacement, and parts of the error.
type Case = (&'static str, &'static str, &'static [&'static str]);

fn all_say(cases: &[Case]) {
    for (from, to, parts) in cases {
        assert_says(&with(from, to), parts);
    }
}

#[test]
fn what_no_device_can_be_is_refused() {
    let cases: &[Case] = &[
        ("blocks_per_plane = 16", "blocks_per_plane = 0", &["`device.blocks_per_plane`"]),
        ("channels = 2\nchips", "channels = -1\nchips", &["`device.channels`"]),
        ("page_size = \"4 KiB\"", "page_size = \"4000 B\"", &["multiple of 512 B"]),
        ("exported = 0.6", "exported = 1.0", &["must be above 0 and below 1"]),
        ("exported = 0.6", "exported = 0.0", &["must be above 0 and below 1"]),
        ("exported = 0.6", "over_provisioning = 0", &["must be above 0"]),
        ("exported = 0.6", "over_provisioning = \"120%\"", &["`device.over_provisioning`"]),
        ("exported = 0.6", "exported = 0.6\nover_provisioning = \"7%\"", &["cannot be combined"]),
        ("exported = 0.6", "exported = { reserved_blocks = \"0%\" }", &["got 0"]),
        ("exported = 0.6", "exported = { reserved_blocks = \"16 blocks\" }", &["below 16"]),
        (
            "exported = 0.6",
            "exported = { reserved_blocks = \"9 pages\" }",
            &["must be a number of blocks", "\"307 blocks\""],
        ),
        ("exported = 0.6", "exported = { blocks = 3 }", &["`reserved_blocks`"]),
        ("exported = 0.6", "exported = { reserved_blocks = 3 }", &["device.exported.reserved"]),
        ("exported = 0.6", "", &["`device.exported`", "share of the physical pages"]),
        (
            "blocks_per_plane = 16",
            "blocks_per_plane = 16\nuser_capacity = \"1 MiB\"",
            &["user_capacity and blocks_per_plane cannot be combined", "keep one"],
        ),
        ("blocks_per_plane = 16", "user_capacity = \"1 KiB\"", &["0 pages in each of"]),
        ("blocks_per_plane = 16", "user_capacity = \"1000 TB\"", &["must be 1 to"]),
        ("blocks_per_plane = 16", "", &["`device.blocks_per_plane`", "user_capacity"]),
        ("read = \"25 us\"", "read = \"0 us\"", &["must be at least 1 ns, got 0 ns"]),
        ("read = \"25 us\"", "read = \"1000 d\"", &["`device.timing.read`"]),
        ("read = \"25 us\"", "read = 25", &["`device.timing.read`"]),
        (
            "blocks_per_plane = 16",
            "blocks_per_plane = 1_000_000_000",
            &["`device.blocks_per_plane`"],
        ),
        (
            "blocks_per_plane = 16\npages_per_block = 8",
            "blocks_per_plane = 1_000_000\npages_per_block = 4096",
            &["fewer than 2^32 - 1", "16 TiB"],
        ),
    ];
    all_say(cases);
}

#[test]
fn parts_that_do_not_fit_the_device_are_refused() {
    let cases: &[Case] = &[
        ("unit = \"die\"", "unit = \"die\"\norder = [\"die\"]", &["once each, got"]),
        (
            "unit = \"die\"",
            "unit = \"plane\"\nmulti_plane = 2",
            &["needs units of several planes", "set unit = \"die\""],
        ),
        ("unit = \"die\"", "unit = \"die\"\nmulti_plane = 3", &["give at most 2"]),
        ("unit = \"die\"", "unit = \"die\"\npool = \"plane\"", &["`device.pool`", "\"die\""]),
        ("unit = \"die\"", "unit = \"die\"\nhost_link = {}", &["`device.host_link.transfer`"]),
        (
            "unit = \"die\"",
            "unit = \"die\"\nhost_link = { transfer = \"2 ms/B\" }",
            &["1 ms per byte"],
        ),
        (
            "unit = \"die\"",
            "unit = \"die\"\nhost_link = { transfer = \"1 ns/B\", duplex = \"both\" }",
            &["`device.host_link.duplex`", "\"half\"", "\"full\""],
        ),
        (
            "unit = \"die\"",
            "unit = \"die\"\nhost_link = { duplex = \"full\" }",
            &["`device.host_link.transfer`", "0.4656 ns/B"],
        ),
        ("unit = \"die\"", "unit = \"die\"\nsummary = {}", &["`device.summary.pages`"]),
        ("unit = \"die\"", "unit = \"die\"\nsummary = 1", &["`device.summary`"]),
        (
            "unit = \"die\"",
            "unit = \"die\"\nsummary = { pages = 8 }",
            &["fewer than the 8 pages", "give less than 8"],
        ),
        (
            "unit = \"die\"",
            "unit = \"die\"\nsummary = { pages = 7 }",
            &["a plane has 0 spare pages"],
        ),
        (
            "unit = \"die\"",
            "unit = \"die\"\nsummary = { pages = 1, copies = \"none\" }",
            &["`device.summary.copies`"],
        ),
        ("unit = \"die\"", "unit = \"die\"\nservice = [\"gc\"]", &["once each, got"]),
    ];
    all_say(cases);
}

#[test]
fn marks_and_spare_must_fit_each_other() {
    let soft = "soft = \"3 blocks\"";
    let cases: &[(&str, &str, &[&str])] = &[
        ("exported = 0.6", "exported = 0.9", &["13 spare pages, but collection", "exported = 0.9"]),
        ("exported = 0.6", "exported = 0.995", &["a plane has 1 spare page, but collection"]),
        (soft, "soft = \"1 page\"", &["threshold (1 page) must be above the reserve (8 pages)"]),
        (soft, "soft = \"7 blocks\"", &["exceeds the spare space", "give at most \"5 blocks\""]),
        (soft, "soft = \"17 blocks\"", &["but a plane has", "a plane has 16"]),
        (soft, "soft = \"1 blocks\"", &["threshold (8 pages) must be above"]),
        (soft, "soft = \"0%\"", &["must be above the reserve"]),
        (
            soft,
            "soft = \"3 blocks\"\nhard = \"0 blocks\"",
            &["the hard threshold", "below the reserve"],
        ),
        (soft, "soft = \"3 blocks\"\nhard = \"4 blocks\"", &["above the soft threshold"]),
        (soft, "soft = \"3 blocks\"\nstop = \"2 blocks\"", &["the stop threshold (16 pages)"]),
        (soft, "soft = \"3 blocks\"\nstop = \"7 blocks\"", &["exceeds the spare space", "stop = "]),
        (soft, "soft = \"3 bloks\"", &["`gc.trigger.watermark.soft`"]),
        (soft, "soft = \"3 blocks\"\ncompare = \">\"", &["`gc.trigger.watermark.compare`"]),
        (
            soft,
            "soft = \"3 blocks\"\nidle_units = 0",
            &["`gc.trigger.watermark.idle_units`", "true or false"],
        ),
        (soft, "soft = \"3 blocks\"\nbatch = \"two\"", &["`gc.trigger.watermark.batch`"]),
    ];
    for (from, to, parts) in cases {
        assert_says(&with(from, to), parts);
    }
}

#[test]
fn names_that_nobody_knows_get_the_nearest() {
    let scheme = "scheme = \"greedy\"";
    let cases: &[(&str, &str, &[&str])] = &[
        (scheme, "scheme = \"gredy\"", &["no scheme \"gredy\"", "did you mean \"greedy\"?"]),
        (scheme, "scheme = \"xyzzy\"", &["no scheme \"xyzzy\"", "d-choices"]),
        ("unit = \"die\"", "preset = \"slc-mrs\"", &["no device \"slc-mrs\"", "\"slc-msr\""]),
        (scheme, "victim.use = \"gready\"", &["`gc.victim.use`", "greedy"]),
        (scheme, "copy.use = \"bus\"\ncopy.bus.parity = true", &["`parity`"]),
        (scheme, "blocking.use = \"board\"", &["`gc.blocking.use`", "channel"]),
        (scheme, "victm.use = \"fifo\"", &["unknown key `victm`", "`victim`"]),
        // Next to a distribution that the table has.
        (
            READS,
            "read_share = 0.3\naddress = { zipf = 1.0, hotcold = 0.2 }",
            &["unknown key `hotcold`", "did you mean `hot_cold`?"],
        ),
    ];
    for (from, to, parts) in cases {
        assert_says(&with(from, to), parts);
    }
}

#[test]
fn a_text_about_a_configuration_is_a_table() {
    for about in ["3", "\"mine\"", "[]"] {
        let found = refusal(&format!("about = {about}\n{TINY}"), &[]);
        assert_eq!(found.matches("error: ").count(), 1, "{found}");
        assert_says(&found, &["`about` is not a table", "write a table `[about]`"]);
    }
    assert!(prepare(&inputs(&format!("{TINY}\n[about]\ntitle = \"mine\"\n"), &[])).is_ok());
}

/// What a preset would give is not missed in addition.
#[test]
fn a_name_that_is_no_text_is_one_error() {
    for set in ["gc.scheme=5", "device.preset=5", "device.preset=[\"slc-msr\"]"] {
        let found = refusal(TINY, &[set]);
        assert_eq!(found.matches("error: ").count(), 1, "{found}");
        assert_says(&found, &["is not a string: ", "write text in quotes"]);
    }
}

/// A name in place of a table, or below a key that has no such meaning, has one error, and not one
/// for each key that is missing then.
#[test]
fn a_name_in_place_of_a_table_is_one_error() {
    let device = "write device.preset = \"oltp\"";
    let scheme = "write gc.scheme = \"fifo\"";
    let cases = [
        ("device = \"oltp\"", "`device` is a table, and got the name \"oltp\"", device),
        ("device.base = \"oltp\"", "unknown key `base` in [device]", device),
        ("gc = \"fifo\"", "`gc` is a table, and got the name \"fifo\"", scheme),
        ("gc.preset = \"fifo\"", "unknown key `preset` in [gc]", scheme),
    ];
    for (text, message, help) in cases {
        let found = refusal(text, &[]);
        assert_says(&found, &[message, help, "run.toml:1:"]);
        assert_eq!(found.matches("error: ").count(), 1, "{found}");
    }
    // Such a key in addition to the right one is a mistake like any other.
    let both = TINY.replacen("[device]", "[device]\nbase = \"oltp\"\npreset = \"slc-msr\"", 1);
    assert_says(&refusal(&both, &[]), &["unknown key `base` in [device]", "valid keys: "]);
    let found = refusal("device = \"oltp\"", &["device.channels=4"]);
    assert_says(&found, &["got the name \"oltp\"", device]);
}

/// The needs of other slots are not checked against the default choice.
#[test]
fn a_word_that_no_slot_has_is_one_error() {
    let speedup = ["gc.scheme=\"speedup\"", "device.sub_blocks=4"];
    for wrong in ["gc.erase.use=\"sub-block\"", "gc.pacing.use=\"time-slice\""] {
        let found = refusal(TINY, &[&speedup[..], &[wrong]].concat());
        assert_eq!(found.matches("error: ").count(), 1, "{found}");
        assert_says(&found, &["is not one of the valid values", "did you mean"]);
    }
}

#[test]
fn a_workload_must_be_possible_and_said_once() {
    let depth = "queue_depth = 8";
    let read = READS;
    let cases: &[(&str, &str, &[&str])] = &[
        (depth, "queue_depth = 8\ninterarrival = { fixed = \"1 us\" }", &["in exactly one way"]),
        (depth, "", &["in exactly one way", "closed loop"]),
        (depth, "interarrival = { }", &["exactly one distribution"]),
        (depth, "queue_depth = 0", &["`workload.synthetic.queue_depth`"]),
        (read, "read_share = 0.6\ntrim_share = 0.6", &["read_share + trim_share"]),
        (read, "size = { \"4 KiB\" = 0.0 }", &["the mixture of sizes is empty"]),
        (read, "size = { \"4 KiB\" = -1.0 }", &["size"]),
        (read, "size = { \"4 quid\" = 0.5 }", &["\"4 quid\" is not a size"]),
        (read, "size = \"100 B\"", &["1 GiB, got 100 B"]),
        (read, "size = \"512 MiB\"", &["do not fit"]),
        (read, "footprint = 0.000001", &["do not fit the footprint of 0 bytes"]),
        (read, "align = \"100 B\"", &["align must be a multiple of 512 B"]),
        (read, "address = \"unifrom\"", &["unknown address distribution \"unifrom\""]),
        (read, "address = { hot_cold = { f = 0.2 } }", &["requests that go there"]),
        (read, "address = { zipf = -1 }", &["zipf"]),
        (
            read,
            "address = { pareto = 0.2, zipf = 1.0 }",
            &["`zipf` and `pareto` are two distributions of `address`", "keep one"],
        ),
        (
            depth,
            "interarrival = { bursty = { mean = \"1 ms\", below = \"1.5 ms\", share = 0.1 } }",
            &["a share of 0.1 short gaps", "exponential gaps have 0.7769"],
        ),
        (
            "[workload.synthetic]",
            "[workload.trace]\naddress = \"wrap\"\n[workload.synthetic]",
            &["`workload.trace.address` needs a trace"],
        ),
        ("requests = 3_000", "", &["`workload.synthetic.requests`"]),
        ("overwrite = 1.0", "overwrite = 1.0\nuntil = \"steady\"", &["cannot be combined"]),
        ("fill = \"sequential\"", "fill = \"none\"", &["needs a filled drive"]),
    ];
    for (from, to, parts) in cases {
        assert_says(&with(from, to), parts);
    }
}

#[test]
fn broken_toml_is_shown_where_it_breaks() {
    assert_says(&with("seed = 1", "seed = "), &["error: ", "--> run.toml:2:"]);
    assert_says(&with("seed = 1", "seed = 1\nseed = 2"), &["error: ", "--> run.toml:3:"]);
    assert_says(&refusal("", &[]), &["no workload is configured"]);
    assert_says(&refusal(TINY, &["device.chanels=3"]), &["--> --set:1:", "`channels`"]);
    assert_says(&refusal(TINY, &["device.channels"]), &["error: ", "--set"]);
}

/// Gaps between arrivals at which the clock would overflow: an error, whatever the seed.
#[test]
fn a_run_of_centuries_is_refused_and_does_not_overflow() {
    let text = TINY.replace("queue_depth = 8\n", "");
    let gaps = [
        "fixed=\"18446744073709551615 ns\"",
        "exponential=\"18446744073709551615 ns\"",
        "exponential=\"100000000000 s\"",
        "bursty={mean=\"18446744073709551615 ns\",below=\"1 s\",share=0.9}",
    ];
    for gap in gaps {
        for seed in 0..40 {
            let gap = format!("workload.synthetic.interarrival={{{gap}}}");
            let sets = [gap.as_str(), &format!("seed={seed}"), "precondition.overwrite=0.0"];
            match prepare(&inputs(&text, &sets)) {
                Ok(setup) => {
                    let error = finish(setup, None, false).expect_err("it lasts too long");
                    assert_says(&error, &["days of simulated time"]);
                }
                Err(errors) => assert_says(&errors.to_string(), &["interarrival"]),
            }
        }
    }
}
