//! Mistakes in configurations: each error has its place, its line, and advice; all mistakes of a
//! configuration are reported at once; and no text at all causes a panic.

use crate::common;

use common::{Choices, MemoryTrace, TINY, finish, inputs, refusal, setup};
use flashgc::session::{Options, Phase, Session, prepare};
use proptest::prelude::*;

/// The errors of the tiny configuration with one piece of text replaced.
fn with(from: &str, to: &str) -> String {
    assert!(TINY.contains(from), "{from}");
    refusal(&TINY.replacen(from, to, 1), &[])
}

fn assert_says(found: &str, parts: &[&str]) {
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

#[test]
fn what_no_device_can_be_is_refused() {
    let cases: &[(&str, &str, &[&str])] = &[
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
        ("read = \"25 us\"", "read = \"0 us\"", &["must be at least 1 ns, got 0 ns"]),
        ("read = \"25 us\"", "read = \"1000 h\"", &["`device.timing.read`"]),
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
    for (from, to, parts) in cases {
        assert_says(&with(from, to), parts);
    }
}

#[test]
fn marks_and_spare_must_fit_each_other() {
    let soft = "soft = \"3 blocks\"";
    let cases: &[(&str, &str, &[&str])] = &[
        ("exported = 0.6", "exported = 0.9", &["13 spare pages, but collection", "exported = 0.9"]),
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
    ];
    for (from, to, parts) in cases {
        assert_says(&with(from, to), parts);
    }
}

#[test]
fn a_workload_must_be_possible_and_said_once() {
    let depth = "queue_depth = 8";
    let read = "read_share = 0.3";
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
            depth,
            "interarrival = { bursty = { mean = \"1 ms\", below = \"1.5 ms\", share = 0.1 } }",
            &["a share of 0.1 short gaps", "exponential gaps have 0.7769"],
        ),
        (
            "[workload.synthetic]",
            "[workload.trace]\naddress = \"wrap\"\n[workload.synthetic]",
            &["both a synthetic"],
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

const TRACED: &str = r#"
[device]
channels = 1
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 16
pages_per_block = 8
page_size = "4 KiB"
exported = 0.6
unit = "die"
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "0 ns/B"
[gc.trigger.watermark]
soft = "3 blocks"
[workload.trace]
"#;

/// Replays bytes as a trace; returns the error.
fn trace_error(bytes: &[u8], sets: &[&str]) -> String {
    let trace = MemoryTrace { name: "t.csv".into(), bytes: bytes.to_vec() };
    match finish(setup(TRACED, sets), Some(trace), true) {
        Ok(_) => panic!("{} bytes were accepted", bytes.len()),
        Err(error) => error,
    }
}

const ROWS: &str = "128166372003061629,web,0,Write,0,4096,1331\n\
                    128166372003061639,web,0,Read,4096,8192,1331\n";

#[test]
fn a_trace_with_nothing_in_it_is_an_error() {
    assert_says(&trace_error(b"", &[]), &["the trace is empty", "t.csv"]);
    let later = trace_error(ROWS.as_bytes(), &["workload.trace.start=\"60 min\""]);
    assert_says(&later, &["the filter leaves none of the 2 rows", "t.csv"]);
}

#[test]
fn a_malformed_line_stops_the_run_with_its_number_or_is_counted() {
    let rows = format!("{ROWS}128166372003061649,web,0,Wriet,0,4096,1331\n");
    assert_says(&trace_error(rows.as_bytes(), &[]), &["--> t.csv:3:26", "Wriet", "^"]);
    let skip = setup(TRACED, &["workload.trace.on_bad_line=\"skip\""]);
    let report = finish(skip, Some(MemoryTrace::text("t.csv", &rows)), true).expect("it goes on");
    assert_eq!(common::whole(&report, "bad_rows"), 1);
    let notes = common::at(&report, "notes").to_string();
    assert!(notes.contains("skipped lines of the trace: 1"), "{notes}");
}

#[test]
fn time_that_runs_backwards_is_an_error_with_its_line() {
    let rows = format!("{ROWS}128166372003061000,web,0,Write,0,4096,1331\n");
    assert_says(&trace_error(rows.as_bytes(), &[]), &["--> t.csv:3", "the time goes back", "sort"]);
}

#[test]
fn an_address_beyond_the_device_is_an_error_unless_wrapped_or_compacted() {
    let rows = format!("{ROWS}128166372003061649,web,0,Write,99999744,4096,1331\n");
    let found = trace_error(rows.as_bytes(), &[]);
    assert_says(&found, &["the drive has 622592 bytes", "--> t.csv:3", "address = \"wrap\""]);
    for address in ["wrap", "compact"] {
        let sets = format!("workload.trace.address=\"{address}\"");
        let trace = MemoryTrace::text("t.csv", &rows);
        let report = finish(setup(TRACED, &[&sets]), Some(trace), true).expect("it is placed");
        assert_eq!(common::whole(&report, "requests.write"), 2, "{address}");
    }
}

#[test]
fn a_trace_that_touches_more_than_the_drive_cannot_be_compacted() {
    let rows: String = (0..200)
        .map(|at| format!("{},web,0,Write,{},4096,1\n", 128166372003061629u64 + at, at * 8192))
        .collect();
    let found = trace_error(rows.as_bytes(), &["workload.trace.address=\"compact\""]);
    assert_says(&found, &["touches 200 pages", "the drive has 152", "use a larger drive"]);
}

/// A zstd frame of one raw block.
fn zstd(content: &[u8]) -> Vec<u8> {
    // Magic number, a single segment with two bytes of size (less 256), one last raw block.
    let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x60];
    frame.extend(((content.len() - 256) as u16).to_le_bytes());
    frame.extend(&((content.len() as u32) << 3 | 1).to_le_bytes()[..3]);
    frame.extend(content);
    frame
}

#[test]
fn a_truncated_archive_is_an_error_of_its_own() {
    let rows = format!("{ROWS}{}", "128166372003061700,web,0,Read,0,512,9\n".repeat(20));
    let frame = zstd(rows.as_bytes());
    let whole = MemoryTrace { name: "t.zst".into(), bytes: frame.clone() };
    let report = finish(setup(TRACED, &[]), Some(whole), true).expect("the frame is whole");
    assert_eq!(common::whole(&report, "requests.read"), 21);
    for cut in [10, 40, frame.len() / 2, frame.len() - 1] {
        let found = trace_error(&frame[..cut], &[]);
        assert!(found.contains("zstd"), "cut at {cut}: {found}");
    }
    assert_says(&trace_error(&frame[..frame.len() / 2], &[]), &["ends too early", "is truncated"]);
    let gzip =
        [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1, 0xff, 0, 0, 0xff], &[b'1'; 9][..]].concat();
    assert_says(&trace_error(&gzip, &[]), &["gzip"]);
}

#[test]
fn noise_is_no_trace() {
    let noise: Vec<u8> = (0..2000u32).map(|at| (at * 37 % 251) as u8).collect();
    assert_says(&trace_error(&noise, &[]), &["t.csv"]);
    assert_says(&trace_error(b"PK\x03\x04....", &[]), &["compressed with zip", "unzip"]);
}

#[test]
fn a_trace_that_is_missing_is_said() {
    let found = finish(setup(TRACED, &[]), None, false).expect_err("there is none");
    assert_says(&found, &["the workload is a trace, but no trace was given", "--trace FILE"]);
}

/// Arrivals so far apart that the clock would overflow: an error, whatever the seed.
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

/// Values that people and fuzzers give.
#[rustfmt::skip]
const VALUES: &[&str] = &[
    "0",
    "1",
    "2",
    "3",
    "17",
    "-1",
    "1e9",
    "1e308",
    "inf",
    "nan",
    "18446744073709551615",
    "9223372036854775807",
    "0.0",
    "0.5",
    "0.999999999",
    "true",
    "false",
    "\"\"",
    "\"0 ns\"",
    "\"1 ns\"",
    "\"1 s\"",
    "\"100000 s\"",
    "\"0 B\"",
    "\"512 B\"",
    "\"4 KiB\"",
    "\"3 KiB\"",
    "\"1 MiB\"",
    "\"0 ns/B\"",
    "\"1 GB/s\"",
    "\"1 B/s\"",
    "\"0%\"",
    "\"5%\"",
    "\"50% of spare\"",
    "\"100%\"",
    "\"1 blocks\"",
    "\"2 blocks\"",
    "\"9 pages\"",
    "\"4294967295 pages\"",
    "[]",
    "{}",
    "\"plane\"",
    "\"channel\"",
    "\"dynamic\"",
    "\"bus\"",
    "\"separate-gc\"",
    "\"fifo\"", "\"blocks\"",
    "\"random\"",
    "\"list\"",
    "\"until-stop\"",
    "\"none\"",
    "\"steady\"",
    "\"<=\"",
    "{ zipf = 1.0 }",
    "{ zipf = 10.0 }",
    "{ hot_cold = { f = 0.0, r = 1.0 } }",
    "{ exponential = \"1 us\" }",
    "{ bursty = { mean = \"1 ms\", below = \"10 us\", share = 0.001 } }",
    "{ hyperexponential = { fast_share = 0.5, fast = \"0 ns\", slow = \"1 ms\", stay = 0.9 } }",
    "{ groups = [{ places = 0.0, requests = 0.5 }, { places = 1e-9, requests = 0.5 }] }",
    "{ groups = [{ places = 0.5, requests = 0.0 }] }",
    "[{ share = 1.0 }]",
    "[{ share = 1e-9, footprint = \"64 KiB\" }, { share = 0.999999999, trim_share = 0.5 }]",
    "[{ share = 1, read_interarrival = { fixed = \"0 ns\" }, \
      write_interarrival = { fixed = \"0 ns\" } }]",
    "[{ share = 0.5, read_interarrival = { fixed = \"0 ns\" }, \
      write_interarrival = { fixed = \"1 ns\" } }, { share = 0.5 }]",
    "{ fixed = \"0 ns\" }",
    "{ \"512 B\" = 1, \"1 MiB\" = 1 }",
    "[\"writes\", \"gc\", \"reads\"]",
    "[\"plane\", \"die\", \"chip\", \"channel\"]",
];

const KEYS: &[&str] = &[
    "seed",
    "device.channels",
    "device.chips_per_channel",
    "device.dies_per_chip",
    "device.planes_per_die",
    "device.blocks_per_plane",
    "device.pages_per_block",
    "device.page_size",
    "device.exported",
    "device.exported.reserved_blocks",
    "device.host_link",
    "device.host_link.transfer",
    "device.summary",
    "device.summary.pages",
    "device.summary.transfer",
    "device.summary.copies",
    "device.unit",
    "device.allocation",
    "device.pool",
    "device.order",
    "device.service",
    "device.transfer_bytes",
    "device.timing.read",
    "device.timing.program",
    "device.timing.erase",
    "device.timing.transfer",
    "device.timing.command",
    "gc.trigger.watermark.soft",
    "gc.trigger.watermark.hard",
    "gc.trigger.watermark.stop",
    "gc.trigger.watermark.compare",
    "gc.trigger.watermark.batch",
    "gc.trigger.watermark.idle_units",
    "gc.trigger.use",
    "gc.trigger.used-space.on",
    "gc.trigger.used-space.victims",
    "gc.trigger.used-space.batch",
    "gc.victim.invalidation-rate.now",
    "gc.victim.greedy.ties",
    "gc.victim.use",
    "gc.erase.use",
    "gc.erase.blocks.k",
    "gc.victim.d-choices.d",
    "gc.copy.use",
    "gc.copy.copyback.parity",
    "gc.placement.use",
    "gc.blocking.use",
    "workload.synthetic.requests",
    "workload.synthetic.read_share",
    "workload.synthetic.trim_share",
    "workload.synthetic.size",
    "workload.synthetic.align",
    "workload.synthetic.address",
    "workload.synthetic.read_size",
    "workload.synthetic.write_address",
    "workload.synthetic.footprint",
    "workload.synthetic.sequential_share",
    "workload.synthetic.read_sequential_share",
    "workload.synthetic.high_share",
    "workload.synthetic.write_high_share",
    "workload.synthetic.phases",
    "workload.synthetic.rate",
    "workload.synthetic.read_interarrival",
    "workload.synthetic.write_interarrival",
    "workload.synthetic.queue_depth",
    "workload.synthetic.interarrival",
    "precondition.fill",
    "precondition.aged_ratio",
    "precondition.scheme",
    "precondition.overwrite",
    "precondition.until",
    "precondition.at_most",
    "engine.coalesce",
];

/// Prepares, and runs accepted small configurations, under the checker and within a budget.
fn try_to_run(text: &str, sets: &[&str]) {
    let Ok(setup) = prepare(&inputs(text, sets)) else { return };
    let flashgc::config::WorkloadPlan::Synthetic(workload) = &setup.workload else { return };
    let small = setup.plan.geometry.pages <= 20_000
        && workload.plan.requests.requests().is_some_and(|requests| requests <= 5_000)
        && setup.precondition.overwrite <= 3.0
        && setup.plan.geometry.shape.page_bytes <= 8192;
    if !small {
        return;
    }
    let mut session = Session::new(setup, None, Options { verify: true, ..Options::default() });
    for _ in 0..2_000 {
        match session.advance() {
            Ok(progress) if progress.phase == Phase::Done => {
                session.report();
                return;
            }
            Ok(_) => {}
            Err(_) => return,
        }
    }
    panic!("the run does not end with {sets:?}\n{text}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 3000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_values_of_the_known_keys_run_or_are_refused(
        drawn in prop::collection::vec((0..KEYS.len(), 0..VALUES.len()), 1..6),
    ) {
        let sets: Vec<String> =
            drawn.iter().map(|&(key, value)| format!("{}={}", KEYS[key], VALUES[value])).collect();
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        try_to_run(TINY, &sets);
    }

    #[test]
    fn a_text_changed_anywhere_runs_or_is_refused(seed in any::<u64>(), edits in 1..4usize) {
        let mut choices = Choices::new(seed);
        let mut text: Vec<char> = TINY.chars().collect();
        for _ in 0..edits {
            let at = choices.below(text.len());
            match choices.below(3) {
                0 => text[at] = char::from(32 + choices.below(95) as u8),
                1 => drop(text.remove(at)),
                _ => text.insert(at, ['9', '"', '=', '\n', '[', '\0', 'é', '.'][choices.below(8)]),
            }
        }
        try_to_run(&text.into_iter().collect::<String>(), &[]);
    }
}
