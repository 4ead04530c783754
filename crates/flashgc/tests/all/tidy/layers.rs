//! The files of the simulation are layers: none calls a method, or a function that takes the whole
//! simulation, of a later one.

use super::size::{functions, own_type};
use super::{files, none, read, root};
use std::collections::{BTreeMap, BTreeSet};

/// The files in order, the loop and its drivers last.
const LAYERS: &[&str] = &[
    "error",
    "at_once",
    "ready",
    "sight",
    "commands",
    "ending",
    "yielding",
    "unseen",
    "interrupts",
    "requests",
    "start",
    "starts",
    "overlap",
    "ends",
    "service",
    "instant",
    "untimed",
    "mod",
    "live",
    "compiled",
];

/// A function of a file: of the type, or free and called by the name of its file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Function {
    Method(String),
    Free(String, String),
}

/// The functions of a file, each with its text.
fn functions_of(file: &str, text: &str, of_type: &str) -> Vec<(Function, String)> {
    let code = text.split("#[cfg(test)]").next().expect("a part");
    let lines: Vec<&str> = code.lines().collect();
    let mut found = Vec::new();
    for (first, name, count) in functions(code) {
        let body = lines[first - 1..first - 1 + count].join("\n");
        if !lines[first - 1].starts_with(' ') {
            found.push((Function::Free(file.into(), name.into()), body));
            continue;
        }
        let is_around = |line: &&&str| line.starts_with(|c: char| c.is_alphabetic());
        let around = lines[..first].iter().rev().find(is_around);
        let is_own = around.is_some_and(|line| own_type(line) == Some(of_type));
        if is_own {
            found.push((Function::Method(name.into()), body));
        }
    }
    found
}

fn word_before(text: &str) -> &str {
    let start = text.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| at + 1);
    &text[start..]
}

/// The calls of a function: `self.x(`, `sim.x(`, `Self::x(` and `file::x(`.
fn calls(body: &str) -> BTreeSet<Function> {
    let mut found = BTreeSet::new();
    for line in body.lines() {
        let code = line.split("//").next().unwrap_or("");
        for (at, _) in code.match_indices(['(', '<']) {
            let before = code[..at].trim_end_matches("::");
            let name = word_before(before);
            let Some(rest) = before.strip_suffix(name).filter(|_| !name.is_empty()) else {
                continue;
            };
            if let Some(object) = rest.strip_suffix('.') {
                if ["self", "sim"].contains(&word_before(object)) && !object.ends_with('.') {
                    found.insert(Function::Method(name.into()));
                }
            } else if let Some(path) = rest.strip_suffix("::") {
                let owner = word_before(path);
                match owner {
                    "Self" | "Sim" => found.insert(Function::Method(name.into())),
                    _ => found.insert(Function::Free(owner.into(), name.into())),
                };
            }
        }
    }
    found
}

/// The calls that run from a file to a later one.
fn back(texts: &[(&str, String)], of_type: &str) -> (usize, Vec<String>) {
    let all: Vec<(usize, Function, String)> = texts
        .iter()
        .enumerate()
        .flat_map(|(at, (file, text))| {
            functions_of(file, text, of_type).into_iter().map(move |(name, body)| (at, name, body))
        })
        .collect();
    let place: BTreeMap<&Function, usize> = all.iter().map(|(at, name, _)| (name, *at)).collect();
    let (mut count, mut complaints) = (0, Vec::new());
    for (at, name, body) in &all {
        for called in calls(body) {
            let Some(&to) = place.get(&called).filter(|to| *to != at) else { continue };
            count += 1;
            if to > *at {
                complaints.push(format!(
                    "{}: {name:?} calls {called:?} of {}",
                    texts[*at].0, texts[to].0
                ));
            }
        }
    }
    (count, complaints)
}

#[test]
fn no_file_of_the_simulation_calls_a_later_one() {
    let folder = root().join("crates/flashgc/src/sim");
    let texts: Vec<(&str, String)> =
        LAYERS.iter().map(|file| (*file, read(&folder.join(format!("{file}.rs"))))).collect();
    assert_eq!(files(&folder, "rs").len(), LAYERS.len(), "a file is missing in the order");
    let (count, complaints) = back(&texts, "Sim");
    assert!(count > 120, "{count} calls between files were found");
    none(&complaints);
}

/// The order that ARCHITECTURE.md names is this one.
#[test]
fn architecture_has_the_order_of_the_files() {
    let text = read(&root().join("ARCHITECTURE.md")).replace('\n', " ");
    let named = text.split("The files of *sim* are layers as well: ").nth(1).expect("a sentence");
    let named: Vec<&str> =
        named.split(", and the loop").next().expect("its end").split(", ").collect();
    let named: Vec<&str> = named.iter().map(|name| name.trim_matches('`')).collect();
    let due: Vec<&str> = LAYERS.iter().filter(|file| named.contains(file)).copied().collect();
    assert_eq!(named, due);
    assert!(named.len() > 5, "{named:?}");
}

#[test]
fn a_call_of_a_later_file_is_found() {
    let low = "impl<W: Watch> Sim<W> {\n    fn low(&mut self) {\n        self.high();\n    }\n}\n";
    let high = "impl<W: Watch> Sim<W> {\n    fn high(&mut self) {\n        self.low();\n    }\n}\n\
        pub fn free<W>(sim: &mut Sim<W>) {\n    sim.low();\n}\n";
    let texts = |low: &str| vec![("low", low.to_string()), ("high", high.to_string())];
    let found = |low: &str| back(&texts(low), "Sim").1.len();
    assert_eq!(found(low), 1);
    assert_eq!(found(&low.replace("self.high()", "high::free(self)")), 1);
    assert_eq!(found(&low.replace("self.high()", "self.low()")), 0);
    // Calls of another object, of another type, and in a comment.
    assert_eq!(found(&low.replace("self.high()", "self.host.high()")), 0);
    assert_eq!(found(&low.replace("Sim<W> {", "Host {")), 0);
    assert_eq!(found(&low.replace("self.high()", "// self.high()")), 0);
}
