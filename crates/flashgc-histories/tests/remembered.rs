//! Histories that once failed now pass; and the tool finds failures, shrinks them, and covers the
//! configuration.

use flashgc_histories::coverage::Coverage;
use flashgc_histories::draw::{Drawn, draw};
use flashgc_histories::history::History;
use flashgc_histories::rules::{CANARY, Outcome, RULES, check};
use flashgc_histories::shrink::shrink;
use std::path::Path;
use std::time::Duration;

fn rules() -> Vec<&'static str> {
    RULES.iter().map(|(name, _)| *name).filter(|name| *name != CANARY).collect()
}

/// A file of `remembered/`, with its trace where it has one.
fn read(path: &Path) -> (History, u64) {
    let text = std::fs::read_to_string(path).expect("a history");
    let mut history = History::parse(&text);
    let trace = history.get("workload.trace.file").map(|name| name.trim_matches('"').to_string());
    if let Some(name) = trace {
        let rows = std::fs::read_to_string(path.with_file_name(name)).expect("its trace");
        history.rows = Some(rows.lines().map(str::to_string).collect());
    }
    (history, History::seed_in(&text).expect("a line with the seed"))
}

#[test]
fn every_remembered_history_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("remembered");
    let entries = std::fs::read_dir(folder).expect("the folder");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "toml"));
    files.sort();
    assert!(!files.is_empty());
    let failed: Vec<String> = files
        .iter()
        .filter_map(|file| {
            let (history, seed) = read(file);
            match check(&history, seed, &rules()) {
                Outcome::Failed(failure) => Some(format!("{}: {failure:#?}", file.display())),
                Outcome::Refused(_) | Outcome::Ended(_) | Outcome::Passed(_) => None,
            }
        })
        .collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// A rule that is wrong on purpose fails, and its shrunk history fails in the same way.
#[test]
fn a_wrong_rule_is_found_and_shrunk() {
    let drawn = (0..50).find_map(|seed| match draw(seed) {
        Drawn::Legal(history, _) => match check(&history, seed, &[CANARY]) {
            Outcome::Failed(failure) => Some((seed, history, failure)),
            _ => None,
        },
        Drawn::Refused(..) => None,
    });
    let (seed, history, failure) = drawn.expect("a drive that collects");
    assert_eq!(failure.rule, CANARY);
    let (small, again) = shrink(&history, seed, &failure, Duration::from_secs(60));
    assert_eq!((again.rule, &again.signature), (CANARY, &failure.signature));
    assert!(small.keys.len() < history.keys.len(), "{}", small.text());
    let read = History::parse(&small.text());
    let outcome = check(&History { rows: small.rows.clone(), ..read }, seed, &[CANARY]);
    assert!(matches!(outcome, Outcome::Failed(_)), "{}", small.text());
}

#[test]
fn the_same_seed_draws_the_same_history() {
    let history = |seed| match draw(seed) {
        Drawn::Legal(history, _) | Drawn::Refused(history, _) => history,
    };
    for seed in 0..20 {
        assert_eq!(history(seed), history(seed));
    }
    assert_ne!(history(1), history(2));
}

/// Every choice of every slot and every scheme is drawn, and accepted on some device.
#[test]
fn every_choice_is_drawn_and_accepted() {
    let mut coverage = Coverage::default();
    for seed in 0..6_000 {
        match draw(seed) {
            Drawn::Legal(history, setup) => coverage.add(&history, Some(&setup)),
            Drawn::Refused(history, _) => coverage.add(&history, None),
        }
    }
    let mut missing = coverage.missing();
    // A scheme that only preconditions must agree with the run's own in much, and seldom does.
    missing.retain(|word| !word.starts_with("precondition.scheme"));
    assert_eq!(missing, Vec::<String>::new());
}
