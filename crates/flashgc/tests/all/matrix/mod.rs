//! The pairwise slot matrix: every pair of choices, of slots and of the device, meets in some run.
//!
//! Each row runs random reads, writes and trims on a drive with as little spare as the plan
//! accepts for it, under the checker, with audits of the whole drive on the way. One page of data
//! more is refused, with a reason that is pinned here; no pair of choices is refused at every size.
//! `FLASHGC_LONG=1` runs 100,000 requests in every row, and tries every size of data.

use crate::common;
mod classes;
mod covering;
mod factors;
mod fullest;
mod sub_blocks;
mod today;
mod ways_in;

use common::{TINY, checked, synthetic};
use covering::{Factor, Row, rows};
use factors::{
    AROUND, ARRIVALS, BACKGROUND, BLOCK, BLOCKING, BLOCKS, BUFFER, COMMAND, COPY, DEVICE, ERASE,
    MARKS, PACING, PLACEMENT, PREEMPTION, SLOTS, SUSPEND, TRIGGER, USED_SPACE, VICTIM, factors,
};
use flashgc::config::{Fill, WorkloadPlan};
use flashgc::session::Setup;
use flashgc::sim::{Sim, SimError};
use flashgc::workload::Source;
use flashgc::workload::synthetic::SyntheticOverwrites;
use fullest::fullest;
use std::collections::BTreeSet;
use sub_blocks::{WHOLE_BLOCKS, apart_by_erase, refused_of_sub_blocks};

/// The only pairs of choices that the plan refuses at every size of spare: a threshold of two
/// blocks, and collections that keep as many to themselves; and copies to other units where each
/// page has one plane or one unit; and flushes without a write buffer. Such a row runs with an
/// erase of one block, with dynamic allocation and planes that are units, or with a buffer.
fn without_refused(factors: &[Factor], mut row: Row) -> Row {
    let at = |name: &str| factors.iter().position(|(key, _)| *key == name).expect("a factor");
    // A bound of one block on the moves leaves one to keep, and two under the odd/even rule.
    let copy = factors[at(COPY)].1[row[at(COPY)]];
    let is_bounded = row[at(ERASE)] == 3 && !copy.contains("parity=\"true\"");
    let is_even = copy.contains("parallel") && !copy.contains("parity") && !copy.contains("global");
    let is_of_blocks = (1..WHOLE_BLOCKS).contains(&row[at(ERASE)]);
    if row[at(MARKS)] == 0 && is_of_blocks && (!is_bounded || is_even) {
        row[at(ERASE)] = 0;
    }
    let background = factors[at(BACKGROUND)].1[row[at(BACKGROUND)]];
    if background.contains("flush-buffer") && row[at(BUFFER)] == 0 {
        row[at(BUFFER)] = 2;
    }
    if copy.contains("global") {
        row[at("device.allocation")] = 1;
        // The pool must hold more than one unit.
        let device = factors[at(DEVICE)].1[row[at(DEVICE)]];
        let levels = ["\"channel\"", "\"chip\"", "\"die\"", "\"plane\""];
        let unit = levels.iter().position(|level| device.contains(level)).unwrap_or(0);
        if unit == 0 {
            row[at("device.pool")] = 0;
        } else if row[at("device.pool")] > unit {
            row[at(DEVICE)] = 0;
        }
    }
    row
}

/// A collection that blocks only its blocks has requirements of its own. Such a row is run with
/// them, and with blocking of its unit.
fn blocks_apart(factors: &[Factor], row: Row) -> Vec<Row> {
    let at = |name: &str| factors.iter().position(|(key, _)| *key == name).expect("a factor");
    if factors[at(BLOCKING)].1[row[at(BLOCKING)]] != BLOCKS {
        return apart(factors, row);
    }
    let mut blocks = row.clone();
    // One frontier of the host and one of copies; no hotness groups.
    (blocks[at(PREEMPTION)], blocks[at(PLACEMENT)]) = (1, row[at(PLACEMENT)] % 2);
    blocks[at(COPY)] = match factors[at(COPY)].1[row[at(COPY)]] {
        copy if copy.contains("global") => 5,
        copy if copy.contains("parity=\"true\"") => 0,
        copy if copy.contains("workers=\"2\"") => 4,
        _ => row[at(COPY)],
    };
    let mut unit = row;
    unit[at(BLOCKING)] = 0;
    let mut rows = vec![blocks];
    rows.extend(apart(factors, unit));
    rows
}

/// A collection with preemption blocks its unit alone, on a device that can suspend where it must,
/// and without commands where transfers are pipelined. A row with other choices is run twice: with
/// the requirements of the slot, and without preemption.
fn apart(factors: &[Factor], row: Row) -> Vec<Row> {
    let at = |name: &str| factors.iter().position(|(key, _)| *key == name).expect("a factor");
    let preemption = factors[at(PREEMPTION)].1[row[at(PREEMPTION)]];
    let mut fitting = row.clone();
    if !preemption.contains("never") || row[at(PACING)] > 0 {
        fitting[at(BLOCKING)] = 0;
    }
    if preemption.contains("use=\"suspend\"") && row[at(SUSPEND)] == 0 {
        fitting[at(SUSPEND)] = 1 + row[at(BLOCKING)] % 3;
    }
    if preemption.contains("pipeline") {
        fitting[at(COMMAND)] = 0;
    }
    if fitting == row {
        return vec![row];
    }
    let mut closed = row;
    (closed[at(PREEMPTION)], closed[at(PACING)]) = (0, 0);
    vec![fitting, closed]
}

/// Tokens are for the watermark trigger alone, and not for closed blocks. A row with other choices
/// is run twice: with the requirements of tokens, and without them.
fn tokens_apart(factors: &[Factor], row: Row) -> Vec<Row> {
    let at = |name: &str| factors.iter().position(|(key, _)| *key == name).expect("a factor");
    let has_tokens = factors[at(PACING)].1[row[at(PACING)]].contains("tokens");
    let is_closed = factors[at(BLOCKING)].1[row[at(BLOCKING)]] == BLOCKS;
    if !has_tokens || row[at(TRIGGER)] == 0 && !is_closed {
        return vec![row];
    }
    let mut fitting = row.clone();
    fitting[at(TRIGGER)] = 0;
    if is_closed {
        fitting[at(BLOCKING)] = 0;
    }
    let mut closed = row;
    closed[at(PACING)] = 0;
    vec![fitting, closed]
}

/// Read reclaim erases whole blocks, and no write pays for it. A row with other choices is run
/// twice: with its requirements, and without it.
fn reclaims_apart(factors: &[Factor], row: Row) -> Vec<Row> {
    let at = |name: &str| factors.iter().position(|(key, _)| *key == name).expect("a factor");
    let value = |name: &str| factors[at(name)].1[row[at(name)]];
    let in_parts = row[at(ERASE)] >= WHOLE_BLOCKS || value(PLACEMENT).contains("hotness");
    let is_paid = value(PACING).contains("tokens");
    if !value(BACKGROUND).contains("reclaim") || !in_parts && !is_paid {
        return vec![row];
    }
    let mut fitting = row.clone();
    if is_paid {
        fitting[at(PACING)] = 0;
    }
    if in_parts {
        for slot in [ERASE, VICTIM, PLACEMENT] {
            fitting[at(slot)] = 0;
        }
    }
    let mut without = row;
    without[at(BACKGROUND)] = 0;
    vec![fitting, without]
}

/// The rows of an array. Each array covers every pair; the further ones meet in other company.
fn rows_of_array(factors: &[Factor], seed: u64) -> Vec<Row> {
    rows(factors, seed).into_iter().flat_map(|row| fitted(factors, row)).collect()
}

/// The rows in place of this one, without the pairs that the plan refuses.
fn fitted(factors: &[Factor], row: Row) -> Vec<Row> {
    let rows = apart_by_erase(factors, without_refused(factors, row)).into_iter();
    rows.flat_map(|row| blocks_apart(factors, row))
        .flat_map(|row| tokens_apart(factors, row))
        .flat_map(|row| reclaims_apart(factors, row))
        .collect()
}

fn assignments(factors: &[Factor], row: &[usize]) -> Vec<String> {
    let values = factors.iter().zip(row).map(|((key, values), &at)| (*key, values[at]));
    values
        .flat_map(|(key, value)| match key {
            MARKS | USED_SPACE | ERASE | COPY | DEVICE | PREEMPTION | PLACEMENT | PACING
            | BACKGROUND => several(key, value),
            BLOCK => several(DEVICE, value),
            ARRIVALS => vec![format!("{key}.{value}")],
            _ if value.is_empty() => Vec::new(),
            _ => vec![format!("{key}={value}")],
        })
        .collect()
}

/// The assignments of a value that sets several keys, each in quotes; numbers, truths and lists
/// lose theirs.
fn several(key: &str, value: &str) -> Vec<String> {
    let given = value.split("\" ").filter_map(|set| set.trim_end_matches('"').split_once("=\""));
    given
        .map(|(name, value)| {
            let is_plain = value.parse::<u32>().is_ok() || value.starts_with('[');
            match is_plain || ["true", "false"].contains(&value) {
                true => format!("{key}.{name}={value}"),
                false => format!("{key}.{name}=\"{value}\""),
            }
        })
        .collect()
}

fn requests() -> u64 {
    if common::is_long() { 100_000 } else { 1_200 }
}

/// Runs the row under the checker, which panics on an error.
fn run_row(setup: &Setup) -> Result<(), SimError> {
    let WorkloadPlan::Synthetic(workload) = &setup.workload else { return Ok(()) };
    let exported = setup.plan.geometry.exported_pages;
    let page_bytes = u64::from(setup.plan.geometry.shape.page_bytes);
    let mut sim = Sim::new(setup.plan.clone(), checked(setup));
    if setup.precondition.fill.is_in_order() {
        let hints = workload.plan.fill_hints(exported, page_bytes);
        let hint = |lpn| hints.as_ref().map_or(0, |hints| hints.of(lpn));
        match setup.precondition.fill {
            Fill::ByBlock => sim.untimed().fill_by_block(0, exported, hint)?,
            _ => sim.untimed().fill_hinted(0, exported, hint)?,
        }
        let mut source = SyntheticOverwrites::new(&workload.plan, exported, page_bytes, 1);
        match hints {
            Some(_) => sim.untimed().overwrite_hinted(&mut source, 2 * u64::from(exported))?,
            None => sim.untimed().overwrite(&mut source, 2 * u64::from(exported))?,
        }
        sim.audit();
    }
    let mut source: Box<dyn Source> = Box::new(synthetic(setup));
    sim.start(&mut *source)?;
    let mut slices = 0u32;
    let requests = workload.plan.requests.requests().expect("requests are counted");
    loop {
        // A prime, so that audits fall on every kind of event.
        let progress = sim.run(&mut *source, 997)?;
        if slices.is_multiple_of(8) || requests < 10_000 {
            sim.audit();
        }
        if progress.finished {
            break;
        }
        slices += 1;
        let spent = u64::from(slices) * 997;
        assert!(spent < requests * 20_000, "it never ends: {progress:?}");
    }
    let results = sim.seen().results();
    sim.audit();
    sim.audit_counters(&results);
    let done: u64 = results.counters.requests.iter().sum();
    assert_eq!(done, requests, "requests were lost");
    Ok(())
}

/// Runs a row and returns its outcome, without ending the test at the first failure.
fn outcome(factors: &[Factor], row: &[usize], instead: &[&str]) -> Result<(), String> {
    let mut sets = assignments(factors, row);
    let key = |set: &str| set.split('=').next().map(String::from);
    sets.retain(|set| instead.iter().all(|other| key(set) != key(other)));
    sets.extend(instead.iter().map(|set| set.to_string()));
    sets.push(format!("workload.synthetic.requests={}", requests()));
    sets.push("device.registers=4".into());
    let setup = fullest(&sets);
    let row = || {
        let shape = &setup.plan.geometry.shape;
        let (data, all) = (shape.exported_pages_per_plane, shape.pages_per_plane());
        format!("{data} of {all} pages in each plane\n{}", sets.join("\n"))
    };
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run_row(&setup))) {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(format!("{error:?} with {}", row())),
        Err(_) => Err(format!("a panic, shown above, with {}", row())),
    }
}

#[test]
fn the_rows_cover_every_pair() {
    let factors = factors();
    let rows: Vec<Row> = rows_to_run(&factors);
    let mut missing = Vec::new();
    for a in 0..factors.len() {
        for b in a + 1..factors.len() {
            for (x, y) in
                (0..factors[a].1.len()).flat_map(|x| (0..factors[b].1.len()).map(move |y| (x, y)))
            {
                if !rows.iter().any(|row| row[a] == x && row[b] == y) {
                    missing.push([factors[a].1[x], factors[b].1[y]]);
                }
            }
        }
    }
    let with = |name: &str, word: &'static str| {
        values(name).iter().filter(move |value| value.contains(word)).copied()
    };
    let preempted = || with(PREEMPTION, "use").skip(1).collect();
    let refused = [
        pairs(vec!["soft=\"2 blocks\""], SEVERAL_BLOCKS.to_vec()),
        pairs(with(COPY, "global").collect(), vec!["\"striped\""]),
        pairs(values(BLOCKING)[1..5].to_vec(), preempted()),
        pairs(values(BLOCKING)[1..5].to_vec(), values(PACING)[1..].to_vec()),
        pairs(
            vec![BLOCKS],
            with(PREEMPTION, "use").take(1).chain(with(PREEMPTION, "use").skip(2)).collect(),
        ),
        pairs([1, 3, 6, 7].map(|at| values(COPY)[at]).to_vec(), vec![BLOCKS]),
        pairs(with(PREEMPTION, "use=\"suspend\"").collect(), vec![""]),
        pairs(with(PACING, "tokens").collect(), values(TRIGGER)[1..].to_vec()),
        pairs(with(PACING, "tokens").collect(), vec![BLOCKS]),
        pairs(with(PREEMPTION, "pipeline").collect(), vec!["\"200 ns\""]),
        pairs(with(BACKGROUND, "flush").collect(), vec![""]),
        pairs(with(BACKGROUND, "reclaim").collect(), with(PACING, "tokens").collect()),
        pairs(with(BACKGROUND, "reclaim").collect(), values(ERASE)[WHOLE_BLOCKS..].to_vec()),
        pairs(with(BACKGROUND, "reclaim").collect(), with(PLACEMENT, "hotness").collect()),
        refused_of_sub_blocks(),
    ];
    let mut refused = refused.concat();
    for pairs in [&mut missing, &mut refused] {
        pairs.iter_mut().for_each(|pair| pair.sort_unstable());
        pairs.sort_unstable();
    }
    assert_eq!(missing, refused);
}

fn values(name: &str) -> &'static [&'static str] {
    SLOTS.iter().chain(AROUND).find(|(key, _)| *key == name).expect("a factor").1
}

fn pairs(firsts: Vec<&'static str>, seconds: Vec<&'static str>) -> Vec<[&'static str; 2]> {
    let pair = |first: &'static str| seconds.iter().map(move |&second| [first, second]);
    firsts.into_iter().flat_map(pair).collect()
}

const SEVERAL_BLOCKS: [&str; 2] =
    ["use=\"blocks\" blocks.k=\"2\"", "use=\"blocks\" blocks.k=\"3\""];

/// An erase of k blocks may need k erased blocks for their valid pages, so the threshold lies above
/// them.
#[test]
fn a_mark_of_two_blocks_is_refused_where_collection_keeps_as_many() {
    for erase in SEVERAL_BLOCKS {
        for exported in ["device.exported=0.6", "device.exported=0.1"] {
            let mut sets = several(ERASE, erase);
            sets.push("gc.trigger.watermark.soft=\"2 blocks\"".into());
            sets.push(exported.into());
            let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
            let refusal = common::refusal(TINY, &sets);
            assert!(refusal.contains("must be above the reserve"), "{refusal}");
        }
    }
}

/// The arrays of the long form, each of which has nearly every pair.
const ARRAYS: std::ops::RangeInclusive<u64> = 1..=4;

/// The rows of all arrays; in the short form those with a pair that no row before has.
fn rows_to_run(factors: &[Factor]) -> Vec<Row> {
    let mut seen = BTreeSet::new();
    let mut has_new_pair = |row: &Row| {
        let values = || row.iter().copied().enumerate();
        let before = seen.len();
        seen.extend(values().flat_map(|a| values().map(move |b| (a, b))).filter(|(a, b)| a < b));
        seen.len() > before
    };
    let rows = ARRAYS.flat_map(|array| rows_of_array(factors, array));
    rows.filter(|row| common::is_long() || has_new_pair(row)).collect()
}

/// Every second row from this one on.
fn every_pair_of_choices_runs_under_the_checker(first: usize) {
    let factors = factors();
    let rows = rows_to_run(&factors);
    let outcomes = rows.iter().skip(first).step_by(2).map(|row| outcome(&factors, row, &[]));
    let failed: Vec<String> = outcomes.filter_map(Result::err).collect();
    let count = failed.len();
    assert!(failed.is_empty(), "{count} of {} rows failed\n\n{}", rows.len(), failed.join("\n\n"));
}

/// Two tests, so that they run in parallel.
#[test]
fn every_pair_of_choices_runs_under_the_checker_1() {
    every_pair_of_choices_runs_under_the_checker(0);
}

#[test]
fn every_pair_of_choices_runs_under_the_checker_2() {
    every_pair_of_choices_runs_under_the_checker(1);
}
