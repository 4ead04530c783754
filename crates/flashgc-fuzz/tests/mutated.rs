//! The short form of `make fuzz`: kept inputs with a few changes go through their target. Without a
//! fuzzer's coverage it finds less in an hour, and it needs no build of its own. `PROPTEST_CASES`
//! sets the number of inputs a target; a failure prints the smallest changes that show it.

mod kept;

use flashgc_fuzz::TARGETS;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::fs;

/// Longer inputs take longer and find no more.
const LONGEST: usize = 4096;

/// Values at which readers and configurations have their limits.
const WORDS: &[&[u8]] = &[
    b"0",
    b"-1",
    b"18446744073709551615",
    b"9223372036854775808",
    b"4294967296",
    b"1e999",
    b"nan",
    b"0x",
    b"\"",
    b"=",
    b"[",
    b",",
    b"\n",
    b"\r\n",
    b"\t",
    b"\0\0\0\0",
    b"\xff\xff\xff\xff",
    b"\xc3\x28",
];

#[derive(Clone, Debug)]
enum Change {
    Flip(Index, u8),
    Set(Index, u8),
    Insert(Index, &'static [u8]),
    Remove(Index, Index),
    Repeat(Index, Index),
    Cut(Index),
    /// The end of another input of the target follows.
    Splice(Index, Index, Index),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<Index>;
    prop_oneof![
        3 => (at(), 0..8u8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        2 => (at(), any::<u8>()).prop_map(|(at, value)| Change::Set(at, value)),
        3 => (at(), select(WORDS)).prop_map(|(at, word)| Change::Insert(at, word)),
        2 => (at(), at()).prop_map(|(from, to)| Change::Remove(from, to)),
        2 => (at(), at()).prop_map(|(from, to)| Change::Repeat(from, to)),
        1 => at().prop_map(Change::Cut),
        1 => (at(), at(), at()).prop_map(|(at, other, from)| Change::Splice(at, other, from)),
    ]
}

fn range(bytes: &[u8], from: &Index, to: &Index) -> std::ops::Range<usize> {
    let (from, to) = (from.index(bytes.len() + 1), to.index(bytes.len() + 1));
    from.min(to)..from.max(to)
}

fn applied(change: &Change, bytes: &mut Vec<u8>, inputs: &[Vec<u8>]) {
    match change {
        Change::Flip(at, bit) if !bytes.is_empty() => {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        Change::Set(at, value) if !bytes.is_empty() => {
            let at = at.index(bytes.len());
            bytes[at] = *value;
        }
        Change::Flip(..) | Change::Set(..) => {}
        Change::Insert(at, word) => {
            let at = at.index(bytes.len() + 1);
            bytes.splice(at..at, word.iter().copied());
        }
        Change::Remove(from, to) => drop(bytes.drain(range(bytes, from, to))),
        Change::Repeat(from, to) => {
            let range = range(bytes, from, to);
            let copy = bytes[range.clone()].to_vec();
            bytes.splice(range.end..range.end, copy);
        }
        Change::Cut(at) => bytes.truncate(at.index(bytes.len() + 1)),
        Change::Splice(at, other, from) => {
            let other = &inputs[other.index(inputs.len())];
            bytes.truncate(at.index(bytes.len() + 1));
            bytes.extend_from_slice(&other[from.index(other.len() + 1)..]);
        }
    }
    bytes.truncate(LONGEST);
}

/// The same inputs on every machine.
fn all_come_back(name: &str, cases: u32) {
    let (_, target) = TARGETS.iter().find(|(target, _)| *target == name).unwrap();
    let inputs: Vec<_> = kept::files(name).iter().map(|file| fs::read(file).unwrap()).collect();
    let mut config = Config { failure_persistence: None, ..Config::with_cases(cases) };
    if let Some(cases) = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()) {
        config.cases = cases;
    }
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let strategy = (any::<Index>(), vec(change(), 1..6));
    let result = TestRunner::new_with_rng(config, rng).run(&strategy, |(first, changes)| {
        let mut bytes = inputs[first.index(inputs.len())].clone();
        for change in &changes {
            applied(change, &mut bytes, &inputs);
        }
        target(&bytes);
        Ok(())
    });
    if let Err(error) = result {
        panic!("{name}: {error}");
    }
}

#[test]
fn changed_inputs_of_readers_come_back() {
    all_come_back("reader", 4000);
}

#[test]
fn changed_inputs_of_the_detection_come_back() {
    all_come_back("detect", 4000);
}

#[test]
fn changed_inputs_of_fgt_come_back() {
    all_come_back("fgt", 4000);
}

#[test]
fn changed_configurations_come_back() {
    all_come_back("config", 1000);
}

#[test]
fn changed_drives_come_back() {
    all_come_back("drive", 1000);
}

#[test]
fn every_target_has_its_changed_inputs() {
    let own = include_str!("mutated.rs");
    for (name, _) in TARGETS {
        assert!(own.contains(&format!("all_come_back(\"{name}\"")), "{name}");
    }
}
