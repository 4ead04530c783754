//! The net under a redesign: the result hash of every scheme on many devices and workloads.
//!
//! A change of structure must not move one of them. After a change that is meant to change results,
//! `FLASHGC_BLESS=1 cargo test -p flashgc-tests --test all -- net::` writes `hashes.txt` anew, and
//! the commit says why.

use crate::common::{Choices, MemoryTrace, finish_with, prepare_or_none, whole};
use flashgc::config::presets;
use flashgc::session::Options;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::PathBuf;

/// The device and the settings for a run of any scheme, on 8 planes.
pub(crate) const BASE: &str = r#"
seed = 3
[device]
channels = 2
chips_per_channel = 1
dies_per_chip = 2
planes_per_die = 2
blocks_per_plane = 40
pages_per_block = 8
sub_blocks = 4
layers = 8
page_size = "4 KiB"
registers = 2
exported = 0.5
suspend = { suspend = "20 us", resume = "7 us" }
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "5 ns/B"
command = "0 ns"
[gc.trigger.watermark]
soft = "6 blocks"
[gc.placement.hotness-groups]
groups = 3
thresholds = [2, 4, 8]
[gc.placement.dac]
classes = 3
[gc.placement.sfs]
classes = 3
[gc.placement.multilog]
classes = 3
[gc.placement.fadac]
classes = 3
"#;

/// Settings of the devices; among them settings of slots that a preset leaves to the device.
pub(crate) const DEVICES: &[(&str, &[&str])] = &[
    ("planes", &["device.unit=\"plane\""]),
    (
        "dies",
        &[
            "device.unit=\"die\"",
            "device.service=[\"gc\",\"reads\",\"writes\"]",
            "device.timing.command=\"200 ns\"",
        ],
    ),
    (
        "chips-dynamic",
        &[
            "device.unit=\"chip\"",
            "device.allocation=\"dynamic\"",
            "device.service=[\"writes\",\"gc\",\"reads\"]",
        ],
    ),
    (
        "multi-plane",
        &["device.unit=\"die\"", "device.multi_plane=2", "device.allocation=\"dynamic\""],
    ),
    ("multi-plane-striped", &["device.unit=\"die\"", "device.multi_plane=2"]),
    (
        "buffered",
        &[
            "device.unit=\"plane\"",
            "device.write_buffer.size=\"64 KiB\"",
            "device.host_link.transfer=\"1 ns/B\"",
        ],
    ),
    ("layered", &["device.unit=\"plane\"", "device.timing.layer_ratio=2.5"]),
    (
        "summaries",
        &[
            "device.unit=\"die\"",
            "device.summary={pages=1,copies=\"timed\"}",
            "device.timing.layer_ratio=2",
        ],
    ),
    (
        "no-transfer",
        &[
            "device.unit=\"chip\"",
            "device.timing.transfer=\"0 ns/B\"",
            "device.service=[\"host\",\"gc\"]",
        ],
    ),
    ("over-the-bus", &["device.unit=\"plane\"", "gc.copy.use=\"bus\""]),
    (
        "cross-unit",
        &[
            "device.unit=\"plane\"",
            "device.allocation=\"dynamic\"",
            "gc.copy.use=\"parallel\"",
            "gc.copy.parallel.path=\"global\"",
            "gc.copy.parallel.parity=false",
        ],
    ),
    (
        "channel-blocked",
        &[
            "device.unit=\"plane\"",
            "gc.blocking.use=\"channel\"",
            "gc.blocking.channel.erasing=\"chip\"",
            "gc.trigger.watermark.batch=\"until-stop\"",
            "gc.trigger.watermark.stop=\"8 blocks\"",
        ],
    ),
    (
        "background",
        &[
            "device.unit=\"plane\"",
            "device.write_buffer.size=\"32 KiB\"",
            "gc.background.use=[\"flush-buffer\",\"pre-migration\"]",
            "gc.background.pre-migration.distance=\"20 pages\"",
            "gc.placement.use=\"separate-gc\"",
        ],
    ),
    (
        "idle-units",
        &[
            "device.unit=\"die\"",
            "gc.trigger.watermark.idle_units=false",
            "gc.trigger.watermark.hard=\"2 blocks\"",
            "gc.erase.use=\"blocks\"",
        ],
    ),
];

/// The workloads; `trace` replays [`bursts`].
pub(crate) const WORKLOADS: &[(&str, &[&str])] = &[
    (
        "closed",
        &[
            "workload.synthetic.requests=900",
            "workload.synthetic.queue_depth=12",
            "workload.synthetic.read_share=0.3",
            "precondition.overwrite=0.5",
        ],
    ),
    (
        "open",
        &[
            "workload.synthetic.requests=700",
            "workload.synthetic.interarrival.exponential=\"150 us\"",
            "workload.synthetic.read_share=0.4",
            "workload.synthetic.address={zipf=1.1}",
            "precondition.overwrite=0.7",
        ],
    ),
    (
        "bursty-parts",
        &[
            "workload.synthetic.requests=500",
            "workload.synthetic.interarrival.bursty={mean=\"400 us\",below=\"40 us\",share=0.8}",
            "workload.synthetic.size={\"2 KiB\"=0.5,\"10 KiB\"=0.5}",
            "workload.synthetic.trim_share=0.1",
            "workload.synthetic.read_share=0.3",
            "workload.synthetic.address={hot_cold={f=0.02,r=0.8}}",
            "precondition.overwrite=0.5",
        ],
    ),
    (
        "idle-writes",
        &[
            "workload.synthetic.requests=500",
            "workload.synthetic.interarrival.fixed=\"900 us\"",
            "workload.synthetic.size=\"8 KiB\"",
            "precondition.overwrite=0.6",
        ],
    ),
    (
        "deep-mixed",
        &[
            "workload.synthetic.requests=400",
            "workload.synthetic.queue_depth=48",
            "workload.synthetic.read_share=0.5",
            "workload.synthetic.size={\"4 KiB\"=0.6,\"16 KiB\"=0.4}",
            "workload.synthetic.address={hot_cold={f=0.01,r=0.9}}",
            "workload.synthetic.trim_share=0.05",
            "precondition.overwrite=0.5",
        ],
    ),
    (
        "trace",
        &["workload.trace.format=\"csv:time:us, op, offset, size\"", "precondition.overwrite=0.8"],
    ),
];

/// A trace: bursts of reads and writes of many sizes, between gaps, with a rewritten hot range.
fn bursts() -> MemoryTrace {
    let mut choices = Choices::new(5);
    let mut text = String::new();
    let mut at_us = 0;
    for burst in 0..60 {
        for _ in 0..choices.below(18) {
            let op = ["R", "W", "W"][choices.below(3)];
            let range = if choices.below(4) == 0 { 1280 } else { 60 };
            let offset = choices.below(range) * 4096 + 512 * choices.below(8);
            let size = [512, 4096, 8192, 20_480][choices.below(4)];
            writeln!(text, "{at_us},{op},{offset},{size}").expect("text takes it");
            at_us += choices.below(120);
        }
        at_us += choices.below(if burst % 5 == 0 { 30_000 } else { 2_500 });
    }
    MemoryTrace::text("bursts", &text)
}

/// The first figures of the hash of one run, or why there is none.
fn hash_of(
    scheme: &str,
    device: &[&str],
    (workload, sets): (&str, &[&str]),
    blame: bool,
) -> String {
    let scheme = format!("gc.scheme=\"{scheme}\"");
    let all = [&[scheme.as_str()], device, sets].concat();
    let Some(setup) = prepare_or_none(BASE, &all) else { return "refused".into() };
    let trace = (workload == "trace").then(bursts);
    match finish_with(setup, trace, Options { blame, ..Options::default() }) {
        Ok(report) => {
            if blame {
                adds_up(&report);
            }
            report["result_hash"].as_str().map_or("none".into(), |hash| hash[..8].into())
        }
        Err(error) => {
            // A drive that ran full; where and when is part of the behaviour.
            let sum = error
                .bytes()
                .fold(7_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(u32::from(byte)));
            format!("!{sum:07x}")
        }
    }
}

/// The parts of each percentile add up to it. (Those of each request do, as the engine asserts.)
fn adds_up(report: &Value) {
    for kind in
        ["read", "write"].iter().filter(|kind| whole(report, &format!("requests.{kind}")) > 0)
    {
        for name in ["p50", "p99", "p99_9", "p99_99"] {
            let part = |part: &str| whole(report, &format!("blame.{kind}.{name}.{part}_ns"));
            let sum: u64 =
                ["service", "host", "collection", "space", "buffer"].map(part).iter().sum();
            assert_eq!(sum, whole(report, &format!("latency_ns.{kind}.{name}")), "{kind} {name}");
        }
    }
}

fn file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../flashgc/tests/all/net/hashes.txt")
}

/// One line for each scheme and device: its hashes in the order of the workloads.
fn lines_of(scheme: &str, blame: bool) -> Vec<String> {
    let line = |(device, sets): &(&str, &[&str])| {
        let hashes = WORKLOADS.iter().map(|&workload| hash_of(scheme, sets, workload, blame));
        format!("{scheme} {device} {}", hashes.collect::<Vec<_>>().join(" "))
    };
    DEVICES.iter().map(line).collect()
}

/// All lines. The two halves of the schemes run in parallel.
fn lines(blame: bool) -> Vec<String> {
    let schemes = presets::scheme_names();
    let half = schemes.len() / 2;
    let all =
        |schemes: &[&str]| schemes.iter().flat_map(|scheme| lines_of(scheme, blame)).collect();
    let (first, rest) = schemes.split_at(half);
    std::thread::scope(|scope| {
        let beside = scope.spawn(|| all(rest));
        let first: Vec<String> = all(first);
        [first, beside.join().expect("a half ends")].concat()
    })
}

#[test]
fn every_hash_of_the_net_stands() {
    let found = lines(false);
    if std::env::var_os("FLASHGC_BLESS").is_some() {
        std::fs::write(file(), found.join("\n") + "\n").expect("the file is written");
        return;
    }
    holds(&found);
}

/// Blame changes nothing, and the parts of more than a million requests add up.
#[test]
fn every_hash_of_the_net_stands_with_blame() {
    holds(&lines(true));
}

fn holds(found: &[String]) {
    let known = std::fs::read_to_string(file()).expect("the file is there");
    let moved: Vec<String> = known
        .lines()
        .zip(found)
        .filter(|(known, found)| known != found)
        .map(|(known, found)| format!("was {known}\nnow {found}"))
        .collect();
    assert!(moved.is_empty(), "{} lines moved\n{}", moved.len(), moved.join("\n"));
    assert_eq!(known.lines().count(), found.len(), "schemes and devices");
}

/// A net with holes holds nothing: most pairs run, on every device and under every scheme, and no
/// two schemes or devices are the same everywhere.
#[test]
fn the_net_has_few_holes() {
    let known = std::fs::read_to_string(file()).expect("the file is there");
    let words: Vec<Vec<&str>> = known.lines().map(|line| line.split(' ').collect()).collect();
    let ran = |words: &[&str]| words[2..].iter().filter(|hash| hash.len() == 8).count();
    let runs: usize = words.iter().map(|words| ran(words)).sum();
    let all = words.len() * WORKLOADS.len();
    assert!(runs * 10 >= all * 8, "{runs} of {all} ran to their end");
    for (place, least) in [(0, DEVICES.len() / 2), (1, presets::scheme_names().len() / 2)] {
        let mut names: Vec<&str> = words.iter().map(|words| words[place]).collect();
        names.sort_unstable();
        names.dedup();
        for name in names {
            let lines = words.iter().filter(|words| words[place] == name);
            let with_runs = lines.filter(|words| ran(words) > 0).count();
            assert!(with_runs >= least, "{name}: {with_runs} lines with a run");
        }
    }
}
