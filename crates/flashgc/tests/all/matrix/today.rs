//! The pairs of what today's drives have: slots, one-shot programs, planes in step, planes that
//! read by themselves, cache operations, tenants with queues and limits, flushes, firmware and read
//! errors, each with the schemes that work on slots.

use super::common;
use super::covering::{Factor, Row, rows};
use crate::mapping_unit::{SCHEMES, SUSPENDS};

use common::{finish_with, setup};
use flashgc::session::Options;

const DRIVE: &str = r#"
[device]
channels = 2
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = 4
blocks_per_plane = 32
pages_per_block = 24
page_size = "16 KiB"
transfer_bytes = "16 KiB"
exported = 0.4

[device.timing]
read = "40 us"
program = "300 us"
erase = "1.5 ms"
transfer = "1 ns/B"

[precondition]
overwrite = 1.0
"#;

const READER: &str = "name=\"reader\",file=\"drive\",read_share=0.9,depth=2,requests=250";
const WRITER: &str = "name=\"writer\",file=\"drive\",depth=24,requests=900";

/// Values are assignments, with a bar between them; values of the writer follow its keys.
const FACTORS: &[Factor] = &[
    (
        PAGES,
        &[
            "device.mapping_unit=\"4 KiB\"",
            "device.pages_per_program=3",
            "device.mapping_unit=\"4 KiB\"|device.pages_per_program=3",
            "device.mapping_unit=\"8 KiB\"|device.pages_per_program=4",
        ],
    ),
    (PLANES, &["device.unit=\"plane\"", UNIT_DIE, IN_STEP_2, IN_STEP_4]),
    (READS, &["", ON]),
    (ALLOCATION, &["device.allocation=\"dynamic\"", WHEN_IDLE]),
    (
        CACHE,
        &[
            "",
            "device.cache_operations=\"reads\"",
            "device.cache_operations=\"programs\"",
            "device.cache_operations=\"both\"",
        ],
    ),
    (
        "types",
        &[
            "",
            "device.timing.read=[\"30 us\", \"45 us\", \"90 us\"]",
            "device.read_retry={cycles=3000,retention_days=365}",
            "device.read_retry={cycles=6000,retention_days=90,type_factors=[0.5,1,2]}",
        ],
    ),
    (
        "queue",
        &[
            "",
            "device.queue_length=8",
            "device.queue_length=8|device.queue_order=\"round-robin\"",
            "device.queue_length=5|device.queue_order=\"address\"",
        ],
    ),
    ("firmware", &["", "device.firmware.command=\"3 us\""]),
    (
        "link",
        &[
            "",
            "device.host_link.transfer=\"0.5 ns/B\"",
            "device.host_link={transfer=\"0.5 ns/B\",duplex=\"full\"}",
        ],
    ),
    (
        "buffer",
        &[
            "",
            "device.write_buffer={size=\"1 MiB\",access=\"1 us\"}",
            "device.write_buffer={size=\"1 MiB\",access=\"1 us\",power_loss_protection=false}",
            "device.write_buffer={size=\"1 MiB\",access=\"1 us\",flush=\"at-once\"}",
        ],
    ),
    (SCHEME, &SCHEMES_AND_TOKENS),
    (COPY, &["", "gc.copy.use=\"bus\""]),
    (
        "placement",
        &[
            "",
            "gc.placement.use=\"separate-gc\"",
            "gc.placement.use=\"dac\"|gc.placement.dac.classes=2",
            "gc.placement.use=\"fdp\"",
        ],
    ),
    (
        WRITERS,
        &[
            "",
            "weight=3",
            "flush_after=5",
            "fua_share=0.4",
            "limit_iops=4000",
            "limit_rate=\"8 MB/s\"",
        ],
    ),
    ("sizes", &["size=\"4 KiB\"", "size=\"16 KiB\"", "size={\"6 KiB\"=0.5,\"40 KiB\"=0.5}"]),
    (
        FAILURES,
        &[
            "",
            "device.failures={erase=0.002}",
            "device.failures={program=0.0005}",
            "device.failures={program=0.002,erase=0.01,doubling_cycles=10}",
        ],
    ),
];

const PAGES: &str = "pages";
const ALLOCATION: &str = "allocation";
const PLANES: &str = "planes";
const READS: &str = "plane reads";
const ON: &str = "device.independent_plane_reads=true";
const CACHE: &str = "cache";
const SCHEME: &str = "scheme";
const COPY: &str = "copy";
const WRITERS: &str = "writers";
const FAILURES: &str = "failures";
const UNIT_DIE: &str = "device.unit=\"die\"";
const IN_STEP_2: &str = "device.unit=\"die\"|device.multi_plane=2";
const IN_STEP_4: &str = "device.unit=\"die\"|device.multi_plane=4";
const WHEN_IDLE: &str = "device.allocation=\"when-idle\"";

const SCHEMES_AND_TOKENS: [&str; 16] = with_tokens();

/// The schemes that work on slots.
const fn with_tokens() -> [&'static str; 16] {
    let mut all = ["fpgc"; 16];
    let mut at = 0;
    while at < SCHEMES.len() {
        all[at] = SCHEMES[at];
        at += 1;
    }
    (all[14], all[15]) = ("tokens", "tokens-fpgc");
    all
}

fn at(name: &str) -> usize {
    FACTORS.iter().position(|(key, _)| *key == name).expect("a factor")
}

/// Planes that are units read by themselves anyway, and with cache reads they do not. Cache
/// programs need to know the plane of a write, and `ideal` copies in no time. Such a row runs
/// without the choice that the plan refuses.
fn without_refused(mut row: Row) -> Row {
    if row[at(CACHE)] >= 2 && row[at(ALLOCATION)] == 1 {
        row[at(ALLOCATION)] = 0;
    }
    if row[at(PLANES)] == 0 || row[at(CACHE)] % 2 == 1 {
        row[at(READS)] = 0;
    }
    if SCHEMES_AND_TOKENS[row[at(SCHEME)]] == "ideal" {
        row[at(COPY)] = 0;
    }
    if [2, 3].contains(&row[at(PLANES)]) {
        // Planes in step have blocks of several planes.
        row[at(FAILURES)] = 0;
    }
    row
}

/// The sets of a row.
fn sets(row: &[usize]) -> Vec<String> {
    let (mut sets, mut writer) = (Vec::new(), String::from(WRITER));
    for ((key, values), &at) in FACTORS.iter().zip(row) {
        match *key {
            _ if values[at].is_empty() => {}
            SCHEME => sets.push(format!("gc.scheme=\"{}\"", values[at])),
            WRITERS | "sizes" => writer.push_str(&format!(",{}", values[at])),
            _ => sets.extend(values[at].split('|').map(String::from)),
        }
    }
    let scheme = SCHEMES_AND_TOKENS[row[at(SCHEME)]];
    if ["pgc-se", "fpgc", "tokens-fpgc"].contains(&scheme) {
        sets.extend(SUSPENDS.map(String::from));
    }
    sets.push("gc.trigger.watermark.soft=\"4 blocks\"".into());
    sets.push(format!("workload.jobs.job=[{{{READER}}},{{{writer}}}]"));
    sets
}

fn run_row(row: &[usize]) -> Result<(), String> {
    let sets = sets(row);
    let run = || {
        let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        let options = Options { verify: true, blame: true, ..Options::default() };
        finish_with(setup(DRIVE, &sets), None, options).expect("the run goes on")
    };
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
    let report = outcome.map_err(|_| format!("a panic, shown above, with\n{}", sets.join("\n")))?;
    let done = [&report["requests"]["read"], &report["requests"]["write"]];
    let done: u64 = done.into_iter().filter_map(serde_json::Value::as_u64).sum();
    let is_read_only = report["failures"]["read_only"] == true;
    if done == 1150 || is_read_only {
        Ok(())
    } else {
        Err(format!("{done} requests with\n{}", sets.join("\n")))
    }
}

#[test]
fn every_pair_of_todays_choices_runs_under_the_checker() {
    let rows: Vec<Row> = rows(FACTORS, 1).into_iter().map(without_refused).collect();
    let failed: Vec<String> = rows.iter().filter_map(|row| run_row(row).err()).collect();
    let count = failed.len();
    assert!(failed.is_empty(), "{count} of {} rows failed\n\n{}", rows.len(), failed.join("\n\n"));
}
