//! Whole runs: page operations per second, and a hash of the result.
//!
//! `cargo bench --bench whole` runs them in full and prints a table. With `cargo test` they run on
//! small drives and the hashes must be those below: a speed-up cannot change the meaning. After a
//! change that is meant to change results, put the printed hashes here and say why in the commit.
#![allow(clippy::print_stdout)]

use flashgc::report::Report;
use flashgc::session::{Inputs, Options, Phase, Session, prepare};
use serde_json::Value;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// A run: its name, the drive in GiB and its small form in MiB, further settings, and the hash of
/// the small form.
struct Case {
    name: &'static str,
    gib: u32,
    requests: u64,
    settings: &'static [&'static str],
    small_hash: &'static str,
}

const CASES: &[Case] = &[
    Case {
        name: "greedy, 8 GiB",
        gib: 8,
        requests: 10_000_000,
        settings: &[],
        small_hash: "a92502e1139c79db5fefab711a92ec6e",
    },
    Case {
        name: "greedy, 8 GiB, ten times as long",
        gib: 8,
        requests: 100_000_000,
        settings: &[],
        small_hash: "a92502e1139c79db5fefab711a92ec6e",
    },
    Case {
        name: "greedy, 64 GiB",
        gib: 64,
        requests: 10_000_000,
        settings: &[],
        small_hash: "a92502e1139c79db5fefab711a92ec6e",
    },
    Case {
        name: "greedy, 256 GiB",
        gib: 256,
        requests: 20_000_000,
        settings: &[],
        small_hash: "a92502e1139c79db5fefab711a92ec6e",
    },
    Case {
        name: "greedy, 8 GiB, half reads, zipf 0.99",
        gib: 8,
        requests: 10_000_000,
        settings: &[
            "workload.synthetic.read_share=0.5",
            "workload.synthetic.address={ zipf = 0.99 }",
        ],
        small_hash: "0e74ac2b443a2f6a47e922a1e9bf2f47",
    },
    Case {
        name: "greedy, 8 GiB, 16 KiB requests, reads first",
        gib: 8,
        requests: 3_000_000,
        settings: &[
            "workload.synthetic.read_share=0.5",
            "workload.synthetic.size=16 KiB",
            "device.service=[\"reads\", \"gc\", \"writes\"]",
        ],
        small_hash: "96ee39d07a14cda51d50119293479acb",
    },
    Case {
        name: "d-choices, 8 GiB",
        gib: 8,
        requests: 5_000_000,
        settings: &["gc.victim.use=d-choices"],
        small_hash: "e86ef89b60c71e303205be55fba5c966",
    },
    Case {
        name: "cost-benefit, 8 GiB",
        gib: 8,
        requests: 5_000_000,
        settings: &["gc.victim.use=cost-benefit"],
        small_hash: "c1579b7a9947d1df3f5dcc8748878c53",
    },
    Case {
        name: "greedy over the bus, 8 GiB",
        gib: 8,
        requests: 5_000_000,
        settings: &["gc.copy.use=bus"],
        small_hash: "3abe0ad3da1701b5e7bc65aa126abdec",
    },
    Case {
        name: "greedy over a bus without a wait, 8 GiB",
        gib: 8,
        requests: 5_000_000,
        settings: &["gc.copy.use=bus", "device.timing.transfer=1 GB/s"],
        small_hash: "f19c43473cacd40d8406a67ede97a0fc",
    },
    // Seven of eight page operations are copies: what a copy costs.
    Case {
        name: "copies over a bus without a wait, 8 GiB",
        gib: 8,
        requests: 1_000_000,
        settings: &[
            "gc.copy.use=bus",
            "device.timing.transfer=1 GB/s",
            "device.exported=0.93",
            "gc.trigger.watermark.soft=3 blocks",
            "workload.synthetic.queue_depth=1",
        ],
        small_hash: "50e309f82f2f2a0f178d44bce0ba2bab",
    },
    Case {
        name: "greedy over closed channels, 8 GiB",
        gib: 8,
        requests: 5_000_000,
        settings: &[
            "gc.copy.use=bus",
            "gc.blocking.use=channel",
            "gc.blocking.channel.collections=one",
        ],
        small_hash: "499314994effb115c648c77b370a4b31",
    },
    Case {
        name: "parallel, 4 registers, 8 GiB",
        gib: 8,
        requests: 5_000_000,
        settings: &["gc.copy.use=parallel", "device.registers=4"],
        small_hash: "ac9a1dac2ddc995a1a298e52bcfae3e8",
    },
    Case {
        name: "two blocks in one erase, 8 GiB",
        gib: 8,
        requests: 5_000_000,
        settings: &["gc.erase.use=blocks"],
        small_hash: "2ae7a18b302d4a0f906696fff288c21c",
    },
    Case {
        name: "greedy, dynamic allocation, 8 GiB",
        gib: 8,
        requests: 5_000_000,
        settings: &["device.allocation=dynamic"],
        small_hash: "03b14ad1304eb0d159d604055c5f11e3",
    },
];

/// 4 KiB uniform random writes at steady state.
fn configuration(blocks_per_plane: u32, requests: u64) -> String {
    format!(
        r#"
seed = 1
[device]
channels = 4
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = {blocks_per_plane}
pages_per_block = 64
page_size = "4 KiB"
exported = 0.85
unit = "die"
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "25 ns/B"
[gc]
scheme = "greedy"
[workload.synthetic]
requests = {requests}
queue_depth = 64
[precondition]
overwrite = 2.0
"#
    )
}

struct Run {
    report: Report,
    precondition: Duration,
    measured: Duration,
}

fn run(case: &Case, blocks_per_plane: u32, requests: u64) -> Result<Run, String> {
    let inputs = Inputs {
        name: case.name.into(),
        text: configuration(blocks_per_plane, requests),
        sets: case.settings.iter().map(|s| s.to_string()).collect(),
        ..Inputs::default()
    };
    let setup = prepare(&inputs).map_err(|errors| errors.to_string())?;
    let mut session = Session::new(setup, None, Options::default());
    let (mut precondition, mut measured) = (Duration::ZERO, Duration::ZERO);
    loop {
        let start = Instant::now();
        let progress = session.advance().map_err(|error| error.to_string())?;
        let spent = start.elapsed();
        match progress.phase {
            Phase::Run => measured += spent,
            Phase::Done => {
                measured += spent;
                break;
            }
            _ => precondition += spent,
        }
    }
    let mut report = session.report();
    report.set_walls(measured.as_secs_f64(), precondition.as_secs_f64(), peak_rss_bytes());
    Ok(Run { report, precondition, measured })
}

fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}

fn number(report: &Value, path: &[&str]) -> f64 {
    path.iter().fold(report, |value, key| &value[key]).as_f64().unwrap_or(f64::NAN)
}

fn in_full(only: Option<&str>) -> Result<(), String> {
    println!(
        "{:<46} {:>9} {:>8} {:>10} {:>9} {:>9}  result hash",
        "whole runs, one core", "Mops/s", "ns/op", "prec. M/s", "B/page", "RSS B/pg"
    );
    let mut largest_gib = 0;
    for case in CASES.iter().filter(|case| only.is_none_or(|only| case.name.contains(only))) {
        let done = run(case, case.gib * 256, case.requests)?;
        let report = done.report.to_json();
        let operations = number(&report, &["page_operations"]);
        let pages = number(&report, &["capacity", "physical_pages"]);
        let programs = number(&report, &["precondition", "programmed_pages"])
            + number(&report, &["precondition", "filled_pages"]);
        // The peak belongs to the process: it is meaningful only for the largest drive so far.
        let resident = if case.gib > largest_gib {
            largest_gib = case.gib;
            format!("{:.2}", number(&report, &["peak_rss_bytes"]) / pages)
        } else {
            "-".into()
        };
        println!(
            "{:<46} {:>9.2} {:>8.1} {:>10.1} {:>9.2} {resident:>9}  {}",
            case.name,
            operations / done.measured.as_secs_f64() / 1e6,
            done.measured.as_secs_f64() * 1e9 / operations,
            programs / done.precondition.as_secs_f64() / 1e6,
            number(&report, &["table_bytes"]) / pages,
            done.report.result_hash(),
        );
    }
    Ok(())
}

fn small() -> Result<(), String> {
    let mut wrong = 0;
    for case in CASES {
        let done = run(case, 64, 20_000)?;
        let hash = done.report.result_hash();
        if hash != case.small_hash {
            println!("{}: hash {hash}, expected {:?}", case.name, case.small_hash);
            wrong += 1;
        }
    }
    println!("{} passed, {wrong} failed", CASES.len() - wrong);
    if wrong > 0 { Err("results have changed".into()) } else { Ok(()) }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo bench` passes the flag for measuring; anything else runs the small form.
    let is_test =
        !arguments.iter().any(|a| a == "--bench") || arguments.iter().any(|a| a == "--test");
    let only = arguments.iter().find(|a| !a.starts_with("--")).map(String::as_str);
    match if is_test { small() } else { in_full(only) } {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}
