//! The order of the rooms, the walls between them, and what the engine may not touch.

use super::{EngineFile, engine, none, read, short};
use std::collections::{BTreeMap, BTreeSet};

/// The rooms of the engine in order: each may use those before it, and no room after it. The
/// compiler keeps those of a crate from using a later crate.
const ROOMS: &[&str] = &[
    "ids",
    "memory",
    "rng",
    "event",
    "device",
    "flash",
    "ftl",
    "drive",
    "gc",
    "plan",
    "allocation",
    "workload",
    "config",
    "stats",
    "verify",
    "context",
    "owner",
    "host",
    "store",
    "operation",
    "collect",
    "arbiter",
    "background",
    "measure",
    "sim",
    "report",
    "session",
];

/// The rooms that a room of a running drive may use: records, the plan, policies and read-only
/// views, and no other running room. Pages change through the store alone; only the simulation
/// carries anything else from one room to the other.
const WALLS: &[(&str, &[&str])] = &[
    ("flash", &["ids", "event", "device", "flash"]),
    ("ftl", &["ids", "memory", "rng", "device", "ftl"]),
    ("allocation", &["ids", "device", "ftl", "plan", "allocation"]),
    ("host", &["ids", "event", "context", "ftl", "plan", "verify", "workload", "host"]),
    (
        "store",
        &[
            "ids",
            "context",
            "allocation",
            "drive",
            "ftl",
            "gc",
            "plan",
            "stats",
            "verify",
            "workload",
            "store",
        ],
    ),
    (
        "collect",
        &[
            "ids",
            "context",
            "owner",
            "device",
            "flash",
            "gc",
            "host",
            "plan",
            "stats",
            "store",
            "operation",
            "verify",
            "collect",
        ],
    ),
    (
        "arbiter",
        &[
            "ids",
            "owner",
            "allocation",
            "flash",
            "ftl",
            "gc",
            "host",
            "operation",
            "collect",
            "plan",
            "stats",
            "arbiter",
        ],
    ),
    (
        "background",
        &[
            "ids",
            "context",
            "owner",
            "event",
            "flash",
            "ftl",
            "gc",
            "host",
            "store",
            "operation",
            "collect",
            "plan",
            "verify",
            "background",
        ],
    ),
];

#[test]
fn no_room_of_a_running_drive_uses_another() {
    let mut complaints = Vec::new();
    for (room, may_use) in WALLS {
        let own = |file: &EngineFile| file.room() == *room;
        assert!(engine().iter().any(own), "{room} has no files");
        for EngineFile { path, .. } in engine().into_iter().filter(own) {
            for (at, used) in used(&read(&path)) {
                if !may_use.contains(&&*used) {
                    complaints.push(format!("{}:{at}: uses `{used}`", short(&path)));
                }
            }
        }
    }
    none(&complaints);
}

/// The phases of a program, and the additional time of its pages, are put together in
/// `operation/mod.rs` and nowhere else.
#[test]
fn the_price_of_pages_is_put_together_in_one_place() {
    let mut found = BTreeSet::new();
    for EngineFile { path, module, .. } in engine() {
        let calls = [".add_pages(", ".program_again(", "ftl.failed_ns(", ".joined_program()"];
        for call in calls.into_iter().chain(["prices.merging(", ".nominal(Op::Program,"]) {
            let is_price = path.ends_with("flash/price.rs");
            if !is_price && read(&path).contains(call) {
                found.insert(module.join("/"));
            }
        }
    }
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["operation"]);
}

#[test]
fn rooms_use_only_the_rooms_before_them() {
    let order: BTreeMap<&str, usize> = ROOMS.iter().enumerate().map(|(at, &r)| (r, at)).collect();
    let mut complaints = Vec::new();
    for file in engine().iter().filter(|file| !file.module.is_empty()) {
        let Some(&own) = order.get(file.room()) else {
            let (path, room) = (short(&file.path), file.room());
            complaints.push(format!("{path}: `{room}` has no place in the order"));
            continue;
        };
        // What a room that is a crate calls `crate` is its own.
        for (at, used) in used(&read(&file.path)).into_iter().filter(|_| file.root == 0) {
            if order.get(&*used).is_none_or(|&place| place > own) {
                complaints.push(format!("{}:{at}: uses `{used}`", short(&file.path)));
            }
        }
    }
    none(&complaints);
}

/// The rooms that a file of this text names, each with its line.
fn used(text: &str) -> Vec<(usize, String)> {
    let of_line = |(at, line): (usize, &str)| {
        let is_end = |c: char| !c.is_alphanumeric() && c != '_';
        let name = |rest: &str| rest.split(is_end).next().unwrap_or("").to_string();
        line.split("crate::").skip(1).map(|rest| (at + 1, name(rest))).collect::<Vec<_>>()
    };
    text.lines().enumerate().flat_map(of_line).collect()
}

/// The rooms in which no method calls itself, by whatever way.
const WITHOUT_RECURSION: &[&str] = &[
    "sim",
    "flash",
    "ftl",
    "host",
    "allocation",
    "store",
    "collect",
    "arbiter",
    "background",
    "measure",
];

/// The methods of a room, and those that each calls on its own object.
fn calls_of(room: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut calls: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in engine().into_iter().filter(|file| file.room() == room) {
        let text = read(&file.path);
        let code = text.split("#[cfg(test)]").next().expect("a part");
        let mut method = String::new();
        for line in code.lines() {
            let declared = line.strip_prefix("    ").and_then(|line| line.split_once("fn "));
            if let Some((before, rest)) = declared
                && !before.starts_with([' ', '/'])
            {
                let end = |c: char| !c.is_alphanumeric() && c != '_';
                method = rest.split(end).next().expect("a name").to_string();
                calls.entry(method.clone()).or_default();
            }
            for rest in line.split("self.").skip(1) {
                let name: String =
                    rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                let follows = &rest[name.len()..];
                if follows.starts_with('(') || follows.starts_with("::<") {
                    calls.entry(method.clone()).or_default().insert(name);
                }
            }
        }
    }
    calls
}

/// The methods that are left when those that call none of the others are taken away, again and
/// again: they are part of a circle, or lead into one.
fn in_circles(mut calls: BTreeMap<String, BTreeSet<String>>) -> Vec<String> {
    loop {
        let names: BTreeSet<String> = calls.keys().cloned().collect();
        let leaves = |called: &BTreeSet<String>| called.is_disjoint(&names);
        let before = calls.len();
        calls.retain(|_, called| !leaves(called));
        if calls.len() == before {
            return calls.into_keys().collect();
        }
    }
}

#[test]
fn no_method_of_a_room_calls_itself() {
    for room in WITHOUT_RECURSION {
        let calls = calls_of(room);
        assert!(calls.len() > 5, "{room}: {} methods were found", calls.len());
        none(&in_circles(calls));
    }
}

#[test]
fn a_circle_of_calls_is_found() {
    let calls = |pairs: &[(&str, &[&str])]| {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect();
        pairs.iter().map(|(name, called)| ((*name).to_string(), set(called))).collect()
    };
    assert!(in_circles(calls(&[("a", &["b", "c"]), ("b", &["c"]), ("c", &["len"])])).is_empty());
    assert_eq!(in_circles(calls(&[("a", &["b"]), ("b", &["a"]), ("c", &[])])), ["a", "b"]);
    assert_eq!(in_circles(calls(&[("a", &["a"])])), ["a"]);
}

/// Forbidden in the engine, since the same input must give the same bytes everywhere.
const FORBIDDEN: &[&str] = &[
    "std::time",
    "std::env",
    "std::fs",
    "std::net",
    "std::thread",
    "std::process",
    "thread_rng",
    "from_os_rng",
    "RandomState",
    "std::collections::HashMap",
    "std::collections::HashSet",
    // Their last digit depends on the machine; libm's does not.
    ".ln()",
    ".exp()",
    ".powf(",
];

#[test]
fn the_engine_has_no_clock_no_files_and_no_threads() {
    let mut complaints = Vec::new();
    for EngineFile { path, .. } in engine() {
        for (at, line) in read(&path).lines().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            for word in FORBIDDEN.iter().filter(|word| code.contains(*word)) {
                complaints.push(format!("{}:{}: {word}", short(&path), at + 1));
            }
            // `std::{env, fs}` and the like.
            if let Some(list) = code.trim().strip_prefix("use std::{") {
                let words = list.split(|c: char| !c.is_alphanumeric() && c != '_');
                let bad = ["time", "env", "fs", "net", "thread", "process"];
                for word in words.filter(|word| bad.contains(word)) {
                    complaints.push(format!("{}:{}: std::{word}", short(&path), at + 1));
                }
            }
        }
    }
    none(&complaints);
}
