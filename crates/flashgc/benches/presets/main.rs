//! Every preset of a scheme on drives of several sizes, under three workloads: the time of a page
//! operation, and its ratio to that of a bare event kernel and to the last record. Victims that no
//! preset has are rows of their own, as `greedy/fifo`.
//!
//! `make bench` prints the table: `SIZES=8,64,256` (GiB), `SCHEMES=greedy,fpgc,greedy/fifo`,
//! `WORKLOADS=uniform,zipf,trace`, and `RECORD=name` writes `benches/runs/name-presets.md`. With
//! `cargo test` all of it runs on a drive of some MiB.
#![allow(clippy::print_stdout)]

mod clock;
mod kernel;
mod record;

use flashgc::config::presets::{scheme_names, schemes_json};
use flashgc::gc::victim;
use flashgc::rng::Random;
use flashgc::session::{Inputs, Options, Phase, Session, Setup, TraceOpener, prepare};
use record::{Record, Row};
use serde_json::Value;
use std::fmt::Write;
use std::io::{Cursor, Read};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

const WORKLOADS: [&str; 3] = ["uniform", "zipf", "trace"];

/// The presets, and the victims that none of them has; those of a scheme in Python have no file.
fn all_schemes() -> Vec<String> {
    let presets = schemes_json()["schemes"].to_string();
    let names = victim::Settings::CHOICES.iter().map(|row| row.choice.name);
    let others =
        names.filter(|name| *name != "given" && !presets.contains(&format!("\"use\":\"{name}\"")));
    let presets = scheme_names().into_iter().map(str::to_string);
    presets.chain(others.map(|name| format!("greedy/{name}"))).collect()
}

/// 4 KiB requests in a closed loop on a drive that has begun to collect.
fn configuration(scheme: &str, blocks_per_plane: u32, workload: &str) -> String {
    let (scheme, victim) = scheme.split_once('/').unwrap_or((scheme, ""));
    let victim = match victim {
        "" => String::new(),
        name => format!("victim.use = \"{name}\""),
    };
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
exported = 0.75
unit = "die"
sub_blocks = 16
layers = 64
registers = 2
suspend = {{ suspend = "20 us", resume = "7 us" }}
[device.timing]
read = "25 us"
program = "200 us"
erase = "1.5 ms"
transfer = "25 ns/B"
[gc]
scheme = "{scheme}"
{victim}
{workload}
[precondition]
overwrite = 0.75
"#
    )
}

/// The settings of a workload.
fn workload(name: &str, requests: u64) -> String {
    match name {
        "trace" => "[workload.trace]\nformat = \"msr\"\nqueue_depth = 64".to_string(),
        "zipf" => format!(
            "[workload.synthetic]\nrequests = {requests}\nqueue_depth = 64\nread_share = 0.7\n\
             address = {{ zipf = 0.99 }}"
        ),
        _ => format!("[workload.synthetic]\nrequests = {requests}\nqueue_depth = 64"),
    }
}

/// A trace as text: half reads, of 4 to 64 KiB, of which some continue the one before, and four of
/// five go to a fifth of the drive.
fn trace(rows: u64, capacity_bytes: u64) -> Arc<[u8]> {
    let (mut text, mut random) = (String::new(), Random::named(1, "trace"));
    let pages = capacity_bytes / 4096;
    let mut first = 0;
    for row in 0..rows {
        let length = 1 << random.below(5);
        if random.below(4) > 0 {
            let part = if random.below(5) > 0 { pages / 5 } else { pages };
            first = random.below(part);
        }
        first = first.min(pages - length);
        let kind = if random.below(2) == 0 { "Read" } else { "Write" };
        let (ticks, at, bytes) = (row * 1_000, first * 4096, length * 4096);
        let written = writeln!(text, "{ticks},bench,0,{kind},{at},{bytes},0");
        debug_assert!(written.is_ok(), "a string takes all");
        first += length;
    }
    text.into_bytes().into()
}

struct Text(Arc<[u8]>);

impl TraceOpener for Text {
    fn name(&self) -> String {
        "bench.csv".into()
    }

    fn open(&mut self) -> Result<Box<dyn Read + Send>, String> {
        Ok(Box::new(Cursor::new(Arc::clone(&self.0))))
    }
}

/// The setup of a preset on this drive. Where the drive does not suit it, the help of the error
/// message is followed.
fn setup(scheme: &str, blocks_per_plane: u32, name: &str, requests: u64) -> Result<Setup, String> {
    let mut inputs = Inputs {
        name: "bench.toml".into(),
        text: configuration(scheme, blocks_per_plane, &workload(name, requests)),
        has_trace: name == "trace",
        ..Inputs::default()
    };
    loop {
        let errors = match prepare(&inputs) {
            Ok(setup) => return Ok(setup),
            Err(errors) => errors,
        };
        let text = errors.to_string();
        let remedy = errors.sorted().into_iter().find_map(|error| error.remedies.first().cloned());
        match remedy {
            Some(set) if set.contains('=') && !inputs.sets.contains(&set) => inputs.sets.push(set),
            Some(unset) if !unset.contains('=') && !inputs.unsets.contains(&unset) => {
                inputs.unsets.push(unset);
            }
            _ => return Err(format!("{scheme}: {text}")),
        }
    }
}

fn number(report: &Value, path: &[&str]) -> f64 {
    path.iter().fold(report, |value, key| &value[key]).as_f64().unwrap_or(f64::NAN)
}

/// Runs a preset: ns for a page operation, ns for a page of preconditioning, bytes for a page.
fn run(setup: Setup, trace: Option<Arc<[u8]>>) -> Result<[f64; 3], String> {
    let opener = trace.map(|text| Box::new(Text(text)) as Box<dyn TraceOpener>);
    let mut session = Session::new(setup, opener, Options::default());
    let (mut before, mut measured) = (Duration::ZERO, Duration::ZERO);
    let mut phase = Phase::Scan;
    while phase != Phase::Done {
        let begun = clock::now();
        let next = session.advance().map_err(|error| error.to_string())?.phase;
        match phase {
            Phase::Scan => {}
            Phase::Run => measured += clock::now() - begun,
            _ => before += clock::now() - begun,
        }
        phase = next;
    }
    let report = session.report().to_json();
    let programs = number(&report, &["precondition", "programmed_pages"])
        + number(&report, &["precondition", "filled_pages"]);
    let per = |time: Duration, count: f64| time.as_nanos() as f64 / count;
    Ok([
        per(measured, number(&report, &["page_operations"])),
        per(before, programs),
        number(&report, &["table_bytes"]) / number(&report, &["capacity", "physical_pages"]),
    ])
}

/// The sizes, schemes and workloads to run.
struct Requested {
    /// Size in MiB, which is also the number of blocks in a plane of each quarter.
    sizes_mib: Vec<u64>,
    schemes: Vec<String>,
    workloads: Vec<String>,
    requests: u64,
    record: Option<String>,
}

impl Requested {
    /// From the arguments: `cargo bench` passes the flag for measuring; anything else is the short
    /// form.
    fn new(arguments: &[String]) -> Result<Self, String> {
        let is_short = !arguments.iter().any(|argument| argument == "--bench");
        let of = |name: &str| {
            let prefix = format!("--{name}=");
            arguments.iter().find_map(|argument| argument.strip_prefix(&prefix))
        };
        let list = |name: &str, all: &[&str]| -> Vec<String> {
            let given = of(name).filter(|given| !given.is_empty());
            given.map_or_else(
                || all.iter().map(|word| word.to_string()).collect(),
                |given| given.split(',').map(str::to_string).collect(),
            )
        };
        let all = all_schemes();
        let gib = |word: &String| word.parse::<u64>().map(|gib| gib * 1024);
        let sizes_mib =
            list("sizes", &["8", "64", "256"]).iter().map(gib).collect::<Result<_, _>>();
        Ok(Requested {
            sizes_mib: if is_short {
                vec![384]
            } else {
                sizes_mib.map_err(|_| "--sizes has GiB, as 8,64".to_string())?
            },
            schemes: list("schemes", &all.iter().map(String::as_str).collect::<Vec<_>>()),
            workloads: list("workloads", &WORKLOADS),
            requests: if is_short { 500 } else { 2_000_000 },
            record: of("record").filter(|name| !name.is_empty()).map(str::to_string),
        })
    }
}

fn bench(requested: &Requested) -> Result<(), String> {
    let last = Record::last()?;
    let mut record = Record::default();
    println!("{}", record::heading(last.as_ref()));
    for &mib in &requested.sizes_mib {
        let pages = (mib * 256) as usize;
        let kernel_ns = kernel::ns_per_operation(pages, (2 * requested.requests).max(20_000));
        let capacity_bytes = mib * 3 / 4 * (1 << 20);
        let rows = trace(requested.requests / 8, capacity_bytes);
        record.add(Row::kernel(mib, kernel_ns), last.as_ref());
        for scheme in &requested.schemes {
            for name in &requested.workloads {
                let setup = setup(scheme, (mib / 4) as u32, name, requested.requests)?;
                let own = (name == "trace").then(|| Arc::clone(&rows));
                let [ns, precondition_ns, bytes] = run(setup, own)?;
                let (scheme, workload) = (scheme.clone(), name.clone());
                let to_kernel = ns / kernel_ns;
                let row = Row { mib, scheme, workload, ns, to_kernel, precondition_ns, bytes };
                record.add(row, last.as_ref());
            }
        }
    }
    record.check()?;
    requested.record.as_ref().map_or(Ok(()), |name| record.write(name, last.as_ref()))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match Requested::new(&arguments).and_then(|requested| bench(&requested)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}
