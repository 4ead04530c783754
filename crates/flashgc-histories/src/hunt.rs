//! The run: threads that try histories, a watch over those that never end, and the counts.

use crate::arguments::Arguments;
use flashgc_histories::choices::seed_of;
use flashgc_histories::coverage::Coverage;
use flashgc_histories::draw::{Drawn, draw};
use flashgc_histories::history::History;
use flashgc_histories::rules::{Failure, Outcome, check};
use flashgc_histories::run::{self, keep_panics_quiet};
use flashgc_histories::shrink::shrink;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The time for the shrinking of a failure.
const SHRINK: Duration = Duration::from_secs(40);

/// The histories that were tried, and their results.
#[derive(Default)]
struct Counts {
    tried: u64,
    refused: u64,
    reasons: BTreeMap<String, u64>,
    ended: BTreeMap<&'static str, u64>,
    passed: u64,
    failed: u64,
    rules: BTreeMap<&'static str, u64>,
    operations: u64,
    coverage: Coverage,
    /// Faults by rule and signature: the first seed, and how often.
    faults: BTreeMap<(String, String), (u64, u64)>,
}

/// The present history of a thread: its seed, its text, and since when.
type Slot = Mutex<Option<(u64, String, Instant)>>;

/// The shared state of the threads.
struct Hunt<'a> {
    arguments: &'a Arguments,
    begin: Instant,
    next: AtomicU64,
    counts: Mutex<Counts>,
    slots: Vec<Slot>,
}

/// Tries histories according to the arguments.
pub fn run(arguments: &Arguments) -> ExitCode {
    keep_panics_quiet();
    let threads = match arguments.one.is_some() || arguments.file.is_some() {
        true => 1,
        false => arguments.threads,
    };
    let hunt = Hunt {
        arguments,
        begin: Instant::now(),
        next: AtomicU64::new(0),
        counts: Mutex::default(),
        slots: (0..threads).map(|_| Slot::default()).collect(),
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = hunt
            .slots
            .iter()
            .map(|slot| {
                let hunt = &hunt;
                scope.spawn(move || hunt.work(slot))
            })
            .collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(100));
            hunt.look_for_endless();
        }
    });
    let Ok(counts) = hunt.counts.into_inner() else { return ExitCode::FAILURE };
    if arguments.one.is_none() && arguments.file.is_none() {
        print(arguments, &counts, hunt.begin.elapsed());
    }
    if counts.failed > 0 {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

impl Hunt<'_> {
    /// One thread: history after history.
    fn work(&self, slot: &Slot) {
        if let Some(seed) = self.arguments.one {
            return self.one(slot, seed, draw(seed));
        }
        if let Some(file) = &self.arguments.file {
            return self.of_file(slot, file);
        }
        loop {
            let at = self.next.fetch_add(1, Ordering::Relaxed);
            let over = self.begin.elapsed().as_secs() >= self.arguments.seconds;
            if over || self.arguments.count.is_some_and(|count| at >= count) {
                return;
            }
            let seed = seed_of(self.arguments.seed, at);
            enter(slot, seed, "the draw");
            let drawn = draw(seed);
            self.one(slot, seed, drawn);
            if let Ok(mut slot) = slot.lock() {
                *slot = None;
            }
        }
    }

    fn of_file(&self, slot: &Slot, file: &Path) {
        let Ok(text) = std::fs::read_to_string(file) else {
            eprintln!("{} cannot be read", file.display());
            return self.count(|counts| counts.failed += 1);
        };
        let mut history = History::parse(&text);
        let trace =
            history.get("workload.trace.file").map(|name| name.trim_matches('"').to_string());
        if let Some(name) = trace {
            let beside = file.parent().unwrap_or(Path::new(".")).join(name);
            let rows = std::fs::read_to_string(beside).unwrap_or_default();
            history.rows = Some(rows.lines().map(str::to_string).collect());
        }
        let drawn = match history.prepare() {
            Ok(setup) => Drawn::Legal(Box::new(history), Box::new(setup)),
            Err(why) => Drawn::Refused(Box::new(history), why),
        };
        self.one(slot, History::seed_in(&text).unwrap_or(0), drawn);
    }

    fn count(&self, change: impl FnOnce(&mut Counts)) {
        if let Ok(mut counts) = self.counts.lock() {
            change(&mut counts);
        }
    }

    fn one(&self, slot: &Slot, seed: u64, drawn: Drawn) {
        let talks = self.arguments.one.is_some() || self.arguments.file.is_some();
        let (history, setup) = match drawn {
            Drawn::Legal(history, setup) => (history, setup),
            Drawn::Refused(history, why) => {
                if talks {
                    println!("{}\nrefused: {why}", history.text());
                }
                return self.count(|counts| {
                    counts.tried += 1;
                    counts.refused += 1;
                    counts.coverage.add(&history, None);
                    *counts.reasons.entry(reason(&why)).or_default() += 1;
                });
            }
        };
        enter(slot, seed, &history.text());
        let outcome = check(&history, seed, &self.arguments.rules);
        let operations = run::operations();
        if talks {
            println!("{}\n{outcome:#?}", history.text());
        }
        self.count(|counts| {
            counts.tried += 1;
            counts.coverage.add(&history, Some(&setup));
            counts.operations += operations;
            match &outcome {
                Outcome::Refused(why) => {
                    counts.refused += 1;
                    *counts.reasons.entry(reason(why)).or_default() += 1;
                }
                Outcome::Ended(how) => *counts.ended.entry(how).or_default() += 1,
                Outcome::Passed(rules) => {
                    counts.passed += 1;
                    rules.iter().for_each(|rule| *counts.rules.entry(rule).or_default() += 1);
                }
                Outcome::Failed(_) => counts.failed += 1,
            }
        });
        if let Outcome::Failed(failure) = outcome {
            self.found(slot, &history, seed, &failure);
        }
    }

    /// A failure: the first of its kind is shrunk and written.
    fn found(&self, slot: &Slot, history: &History, seed: u64, failure: &Failure) {
        let key = (failure.rule.to_string(), failure.signature.clone());
        let mut is_first = false;
        self.count(|counts| {
            let fault = counts.faults.entry(key).or_insert((seed, 0));
            fault.1 += 1;
            is_first = fault.1 == 1;
        });
        if !is_first {
            return;
        }
        println!("found: {}, {} (seed {seed}); it is shrunk now", failure.rule, failure.signature);
        let (small, failure) = match self.arguments.file.is_some() {
            true => (history.clone(), failure.clone()),
            false => shrink(history, seed, failure, SHRINK),
        };
        let words = format!("{}: {}\n{}", failure.rule, failure.signature, failure.detail);
        match write(&self.arguments.found, &small, seed, failure.rule, &words) {
            Ok(path) => println!("  {words}\n  written to {path}"),
            Err(error) => println!("  {words}\n  not written: {error}\n{}", small.text()),
        }
        enter(slot, seed, &history.text());
    }

    /// A history that takes too long ends the program, since a single thread cannot be ended.
    fn look_for_endless(&self) {
        let patience = Duration::from_secs(self.arguments.patience);
        for slot in &self.slots {
            let Ok(slot) = slot.lock() else { continue };
            let Some((seed, text, since)) = &*slot else { continue };
            // A failure is shrunk meanwhile.
            if since.elapsed() < patience + SHRINK {
                continue;
            }
            println!("found: no end after {} s (seed {seed})\n{text}", since.elapsed().as_secs());
            let written =
                write(&self.arguments.found, &History::parse(text), *seed, "endless", "endless");
            println!("  {written:?}");
            #[allow(clippy::exit, reason = "its thread cannot be ended")]
            std::process::exit(1);
        }
    }
}

fn enter(slot: &Slot, seed: u64, text: &str) {
    if let Ok(mut slot) = slot.lock() {
        *slot = Some((seed, text.to_string(), Instant::now()));
    }
}

/// The reason of a refusal without its numbers and names.
fn reason(why: &str) -> String {
    let first = why.lines().next().unwrap_or_default().chars();
    first.filter(|c| !c.is_ascii_digit()).take(90).collect()
}

/// Writes a failure as a file that `flashgc run` takes; returns its path.
fn write(
    folder: &Path,
    history: &History,
    seed: u64,
    rule: &str,
    words: &str,
) -> std::io::Result<String> {
    std::fs::create_dir_all(folder)?;
    let name = format!("{rule}-{seed}");
    let path = folder.join(format!("{name}.toml"));
    let mut history = history.clone();
    if let Some(trace) = history.trace_text() {
        std::fs::write(folder.join(format!("{name}.csv")), trace)?;
        history.set("workload.trace.file", format!("\"{name}.csv\""));
    }
    let words: String = words.lines().take(12).map(|line| format!("# {line}\n")).collect();
    let text = format!(
        "{words}# seed {seed}: make histories ONE={seed}; this file: flashgc run {name}.toml\n{}",
        history.text()
    );
    std::fs::write(&path, text)?;
    Ok(path.display().to_string())
}

fn print(arguments: &Arguments, counts: &Counts, elapsed: Duration) {
    let seconds = elapsed.as_secs_f64();
    println!("words drawn by the accepted histories / by all:");
    counts.coverage.lines().iter().for_each(|line| println!("  {line}"));
    let missing = counts.coverage.missing();
    if !missing.is_empty() {
        println!("never accepted: {}", missing.join(", "));
    }
    println!("refused by the plan, by reason:");
    let mut reasons: Vec<_> = counts.reasons.iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    reasons.iter().take(12).for_each(|(why, count)| println!("  {count}: {why}"));
    let rules = counts.rules.iter().map(|(name, count)| format!("{name} {count}"));
    println!("rules that held: {}", rules.collect::<Vec<_>>().join(", "));
    for (how, count) in &counts.ended {
        println!("ended early, as they may: {how} {count}");
    }
    for ((rule, signature), (seed, count)) in &counts.faults {
        println!("FAILED {count} times: {rule}, {signature} (seed {seed})");
    }
    println!(
        "seed {}: {} histories in {seconds:.1} s ({:.0} a second), {} refused by the plan, {} \
         ended early, {} passed, {} failed; {:.1} million page operations in all runs",
        arguments.seed,
        counts.tried,
        counts.tried as f64 / seconds,
        counts.refused,
        counts.ended.values().sum::<u64>(),
        counts.passed,
        counts.failed,
        counts.operations as f64 / 1e6
    );
}
