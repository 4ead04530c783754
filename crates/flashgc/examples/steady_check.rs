//! Blocking verdicts of balance against longer runs: `make steady-check RUNS=200 SEED=1`.
//!
//! Draws configurations until this number of runs has said "yes", and runs each of them again with
//! ten times as many requests. Prints the share whose write amplification lies within 5 % of that
//! of the longer run, the verdicts, and the worst cases. With a third argument `all`, runs that say
//! "no" are compared with longer ones too.
#![allow(clippy::print_stdout)]

use flashgc::rng::Random;
use flashgc::session::{Inputs, Options, Phase, Session, prepare};
use serde_json::Value;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The largest difference between the write amplification of a run that says "yes" and a longer
/// one.
const WITHIN: f64 = 0.05;
/// The length of the longer run, as a multiple of the shorter one.
const LONGER: u64 = 10;

const SCHEMES: [&str; 33] = [
    "bbgc",
    "cost-benefit",
    "d-choices",
    "fifo",
    "fpgc",
    "gftl",
    "greedy-msr",
    "greedy",
    "gsm-plus",
    "gsm",
    "idle-pgc",
    "idle",
    "ippbe",
    "on-demand",
    "parallel-ippbe",
    "parallel",
    "pb",
    "pbgc",
    "pgc-both",
    "pgc-merge",
    "pgc-pipeline",
    "pgc-se",
    "pgc",
    "pregc-gftl",
    "pregc",
    "random",
    "speedup-pb",
    "speedup",
    "ssdsim",
    "subblock-baseline",
    "wear-aware",
    "levelling",
    "wear-pgc",
];

/// One drawn configuration.
struct Drawn {
    text: String,
    requests: u64,
}

fn pick<'a, T>(random: &mut Random, of: &'a [T]) -> &'a T {
    &of[random.below(of.len() as u64) as usize]
}

fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.unit()
}

/// Between two bounds, with equal chances for each factor.
fn spread(random: &mut Random, low: f64, high: f64) -> f64 {
    low * libm::pow(high / low, random.unit())
}

fn address(random: &mut Random) -> String {
    match random.below(4) {
        0 | 1 => "address = \"uniform\"".into(),
        2 => format!("address = {{ zipf = {:.2} }}", between(random, 0.5, 1.3)),
        _ => {
            let f = between(random, 0.05, 0.4);
            format!("address = {{ hot_cold = {{ f = {f:.2}, r = {:.2} }} }}", 1.0 - f)
        }
    }
}

fn arrivals(random: &mut Random) -> String {
    match random.below(3) {
        0 => {
            let mean_us = spread(random, 30.0, 3000.0);
            format!("interarrival = {{ exponential = \"{mean_us:.0} us\" }}")
        }
        _ => format!("queue_depth = {}", *pick(random, &[1, 4, 32])),
    }
}

fn buffer(random: &mut Random, scheme: &str) -> &'static str {
    match scheme.contains("gftl") || random.below(8) == 0 {
        true => "[device.write_buffer]\nsize = \"128 KiB\"",
        false => "",
    }
}

fn draw(random: &mut Random) -> Drawn {
    let scheme = *pick(random, &SCHEMES);
    let channels = *pick(random, &[1, 2, 4]);
    let planes = *pick(random, &[1, 2]);
    let blocks = *pick(random, &[32, 64, 128]);
    let pages = *pick(random, &[16, 32, 64]);
    let exported = between(random, 0.55, 0.9);
    let user_pages = f64::from(channels * planes * blocks * pages) * exported;
    let seed = random.below(1 << 30);
    let buffer = buffer(random, scheme);
    let read_share = *pick(random, &[0.0, 0.0, 0.3, 0.7]);
    let size = *pick(random, &["4 KiB", "4 KiB", "16 KiB", "1 KiB"]);
    let pages_of_request = if size == "16 KiB" { 4.0 } else { 1.0 };
    let drive_writes = spread(random, 0.05, 12.0);
    let requests = drive_writes * user_pages / pages_of_request / (1.0 - read_share);
    let sequential = if random.below(4) == 0 { between(random, 0.0, 1.0) } else { 0.0 };
    let trim = if random.below(10) == 0 { 0.02 } else { 0.0 };
    let footprint = if random.below(4) == 0 { between(random, 0.3, 1.0) } else { 1.0 };
    let arrivals = arrivals(random);
    let fill = if random.below(8) == 0 { "none" } else { "sequential" };
    let overwrite = match random.below(3) {
        0 => 0.0,
        _ => spread(random, 0.2, 8.0),
    };
    let overwrite = if fill == "none" { 0.0 } else { overwrite };
    let allocation = *pick(random, &["striped", "dynamic"]);
    let address = address(random);
    let text = format!(
        r#"seed = {seed}
[device]
channels = {channels}
chips_per_channel = 1
dies_per_chip = 1
planes_per_die = {planes}
blocks_per_plane = {blocks}
pages_per_block = {pages}
sub_blocks = 4
layers = 16
page_size = "4 KiB"
exported = {exported:.3}
unit = "die"
registers = 2
allocation = "{allocation}"
[device.timing]
read = "40 us"
program = "300 us"
erase = "2 ms"
transfer = "2.5 ns/B"
[device.suspend]
suspend = "10 us"
{buffer}
[gc]
scheme = "{scheme}"
[workload.synthetic]
read_share = {read_share}
trim_share = {trim}
size = "{size}"
sequential_share = {sequential:.2}
footprint = {footprint:.2}
{address}
{arrivals}
[precondition]
fill = "{fill}"
overwrite = {overwrite:.2}
"#
    );
    Drawn { text, requests: requests.max(10.0) as u64 }
}

/// A fault of the engine is for other tests to find; here it counts as refused.
fn run(drawn: &Drawn, times: u64) -> Result<Value, String> {
    catch_unwind(AssertUnwindSafe(|| run_or_break(drawn, times)))
        .unwrap_or_else(|_| Err(format!("the engine broke:\n{}", drawn.text)))
}

fn run_or_break(drawn: &Drawn, times: u64) -> Result<Value, String> {
    let requests = drawn.requests * times;
    let inputs = Inputs {
        name: "drawn.toml".into(),
        text: drawn.text.clone(),
        sets: vec![format!("workload.synthetic.requests={requests}")],
        ..Inputs::default()
    };
    let setup = prepare(&inputs).map_err(|errors| errors.to_string())?;
    let mut session = Session::new(setup, None, Options::default());
    while session.advance().map_err(|error| error.to_string())?.phase != Phase::Done {}
    Ok(session.report().to_json())
}

/// A run and its longer form.
struct Pair {
    scheme: String,
    verdict: String,
    short: f64,
    long: f64,
    drawn: Drawn,
}

impl Pair {
    /// The difference between the short run and the long one.
    fn off(&self) -> f64 {
        self.short / self.long - 1.0
    }

    fn is_near(&self) -> bool {
        self.off().abs() <= WITHIN
    }
}

#[derive(Default)]
struct Found {
    verdicts: BTreeMap<String, u64>,
    refused: u64,
    pairs: Vec<Pair>,
}

impl Found {
    fn count(&self, verdict: &str) -> u64 {
        self.verdicts.get(verdict).copied().unwrap_or(0)
    }

    fn notify(&self) {
        println!("verdicts: {:?}; refused configurations: {}", self.verdicts, self.refused);
        let yes: Vec<&Pair> = self.pairs.iter().filter(|pair| pair.verdict == "yes").collect();
        let near = yes.iter().filter(|pair| pair.is_near()).count();
        let share = near as f64 / yes.len().max(1) as f64 * 100.0;
        println!("of {} runs that say yes {near} ({share:.1} %) lie within 5 %", yes.len());
        let no: Vec<&Pair> = self.pairs.iter().filter(|pair| pair.verdict == "no").collect();
        if !no.is_empty() {
            let missed = no.iter().filter(|pair| pair.is_near()).count();
            let all = near + missed;
            println!("of {all} runs that lie within 5 % {near} say yes, {missed} say no");
        }
        let mut worst = yes;
        worst.sort_by(|a, b| b.off().abs().total_cmp(&a.off().abs()));
        println!("the worst that say yes:");
        for pair in worst.iter().take(10) {
            println!(
                "{:+.3} {}: {:.3} and {:.3}, {} requests",
                pair.off(),
                pair.scheme,
                pair.short,
                pair.long,
                pair.drawn.requests
            );
            if !pair.is_near() {
                println!("{}", pair.drawn.text);
            }
        }
    }
}

/// Draws one configuration and runs it, and its longer form if required.
fn try_one(random: &mut Random, all: bool, found: &mut Found) -> Result<(), String> {
    let drawn = draw(random);
    let Ok(short) = run(&drawn, 1) else {
        found.refused += 1;
        return Ok(());
    };
    let verdict = short["steady"]["verdict"].as_str().unwrap_or_default().to_string();
    *found.verdicts.entry(verdict.clone()).or_default() += 1;
    if verdict != "yes" && !all {
        return Ok(());
    }
    let Ok(long) = run(&drawn, LONGER) else {
        found.refused += 1;
        return Ok(());
    };
    let amplification = |report: &Value| report["write_amplification"].as_f64();
    if let (Some(short_run), Some(long_run)) = (amplification(&short), amplification(&long)) {
        let scheme = short["scheme"].as_str().unwrap_or_default().to_string();
        found.pairs.push(Pair { scheme, verdict, short: short_run, long: long_run, drawn });
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let needed: u64 = arguments.next().unwrap_or("200".into()).parse()?;
    let seed: u64 = arguments.next().unwrap_or("1".into()).parse()?;
    let all = arguments.next().is_some_and(|word| word == "all");
    let mut random = Random::named(seed, "steady-check");
    let mut found = Found::default();
    while found.count("yes") < needed {
        try_one(&mut random, all, &mut found)?;
    }
    found.notify();
    Ok(())
}
