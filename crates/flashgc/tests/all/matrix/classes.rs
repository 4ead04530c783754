//! The pairs of the matrix with placements that have classes: every choice of the other slots, of
//! the device and of the workload meets FDP by hint with every kind of hints, and placements whose
//! copies may go to each of six classes. As everywhere in the matrix the drive has as little spare
//! as the plan accepts, so that the reserve is what keeps such a run from running dry.

use super::covering::Factor;
use super::factors::{BLOCKING, BLOCKS, COPY, ERASE, MARKS, PACING, PLACEMENT, factors};
use super::{Row, WHOLE_BLOCKS, fitted, outcome, rows};

/// In place of the placements of the matrix.
const BY_HINT: &[&str] = &[
    "use=\"fdp\" fdp.by=\"hint\" fdp.handles=\"2\"",
    "use=\"fdp\" fdp.by=\"hint\" fdp.handles=\"2\" fdp.isolation=\"persistent\"",
    "use=\"fdp\" fdp.by=\"hint\" fdp.handles=\"1\"",
    "use=\"fdp\" fdp.by=\"hint\" fdp.handles=\"2\" fdp.copies=\"last-handle\"",
    "use=\"fdp\" fdp.by=\"hint\" fdp.handles=\"2\" fdp.open=\"all\"",
];
const PERSISTENT: usize = 1;
/// Time slices with a floor of 6 blocks.
const FLOOR: usize = 3;

const HINTS: &str = "workload.synthetic.hints";
/// None; of two handles; and one that names no handle.
const KINDS: &[&str] = &["", "{regions=[0.3,0.7]}", "{regions=[0.3,0.3,0.4]}"];

const OF_SIX: &[&str] = &[
    "use=\"dac\" dac.classes=\"6\"",
    "use=\"sfs\" sfs.classes=\"6\"",
    "use=\"multilog\" multilog.classes=\"6\"",
    "use=\"fadac\" fadac.classes=\"6\"",
    "use=\"sepbit\" sepbit.classes=\"6\"",
];
/// In place of the thresholds of the matrix: the first one is one block above the reserve where
/// one block is erased, the second one where three are.
const ABOVE_SIX: &[&str] = &[
    "soft=\"7 blocks\"",
    "soft=\"9 blocks\"",
    "soft=\"9 blocks\" hard=\"none\"",
    "soft=\"9 blocks\" stop=\"10 blocks\"",
    "soft=\"70% of spare\"",
];

/// Planes that have room for these thresholds.
const PLANES: &str = "device.blocks_per_plane";
const LARGER: &[&str] = &["24", "28", "36"];

/// The factors of the matrix with other values of some, and hints.
fn replaced(others: &[Factor]) -> Vec<Factor> {
    let own = |(key, values)| {
        let other = others.iter().find(|other| other.0 == key);
        (key, other.map_or(values, |other| other.1))
    };
    factors().into_iter().map(own).chain([(HINTS, KINDS)]).collect()
}

fn by_hint() -> Vec<Factor> {
    replaced(&[(PLACEMENT, BY_HINT)])
}

fn of_six() -> Vec<Factor> {
    replaced(&[(PLACEMENT, OF_SIX), (MARKS, ABOVE_SIX), (PLANES, LARGER)])
}

fn at(factors: &[Factor], name: &str) -> usize {
    factors.iter().position(|(key, _)| *key == name).expect("a factor")
}

/// Copies stay in their plane without the odd/even rule, and a collection that closes only blocks
/// knows one open block. Six classes keep more than the floor of the time slices, and more than the
/// lowest threshold where several blocks are erased. Persistent isolation keeps more than the
/// lowest threshold, and more pages than the default floor of time slices has. Where an erase of
/// several blocks meets one of these, the row is run without either.
fn apart_by_reserve(factors: &[Factor], mut row: Row) -> Vec<Row> {
    let at = |name: &str| at(factors, name);
    row[at(COPY)] = [0, 0, 2, 4, 4, 5, 2, 5][row[at(COPY)]];
    if factors[at(BLOCKING)].1[row[at(BLOCKING)]] == BLOCKS {
        row[at(BLOCKING)] = 0;
    }
    let erases_several = (1..WHOLE_BLOCKS).contains(&row[at(ERASE)]);
    if factors[at(PLACEMENT)].1 != BY_HINT {
        row[at(PACING)] -= usize::from(row[at(PACING)] == FLOOR);
        if erases_several && row[at(MARKS)] == 0 {
            let mut one_block = row.clone();
            (one_block[at(ERASE)], row[at(MARKS)]) = (0, 1);
            return vec![row, one_block];
        }
    } else if row[at(PLACEMENT)] == PERSISTENT {
        let mut initial = row.clone();
        initial[at(PLACEMENT)] = 0;
        row[at(MARKS)] += usize::from(row[at(MARKS)] == 0);
        row[at(PACING)] = [0, FLOOR, FLOOR, FLOOR, 4, 5][row[at(PACING)]];
        if erases_several {
            row[at(ERASE)] = 0;
            return vec![row, initial];
        }
    }
    vec![row]
}

fn rows_of(factors: &[Factor]) -> Vec<Row> {
    let rows = rows(factors, 1).into_iter().flat_map(|row| apart_by_reserve(factors, row));
    rows.flat_map(|row| fitted(factors, row)).collect()
}

/// The values of other factors that some value of this one does not meet.
fn missing(factors: &[Factor], own: usize) -> Vec<(&'static str, usize)> {
    let rows = rows_of(factors);
    let mut missing = Vec::new();
    for (other, (key, values)) in factors.iter().enumerate().filter(|(at, _)| *at != own) {
        let meets = |mine: usize, theirs: usize| {
            rows.iter().any(|row| row[own] == mine && row[other] == theirs)
        };
        let is_missing = |theirs: &usize| (0..factors[own].1.len()).any(|it| !meets(it, *theirs));
        missing.extend((0..values.len()).filter(is_missing).map(|theirs| (*key, theirs)));
    }
    missing.sort_unstable();
    missing
}

#[test]
fn every_choice_meets_every_placement_with_classes() {
    let refused = [1, 3, 6, 7].map(|copy| (COPY, copy)).into_iter().chain([(BLOCKING, 5)]);
    let refused: Vec<_> = refused.collect();
    let and = |more: &[(&'static str, usize)]| {
        let mut all = [more, &refused].concat();
        all.sort_unstable();
        all
    };
    let (by_hint, of_six) = (by_hint(), of_six());
    assert_eq!(missing(&by_hint, at(&by_hint, HINTS)), and(&[]));
    let of_persistent = [(MARKS, 0), (ERASE, 1), (ERASE, 2), (ERASE, 3), (PACING, 1), (PACING, 2)];
    assert_eq!(missing(&by_hint, at(&by_hint, PLACEMENT)), and(&of_persistent));
    assert_eq!(missing(&of_six, at(&of_six, PLACEMENT)), and(&[(PACING, FLOOR)]));
}

fn every_row_runs(factors: &[Factor]) {
    let rows = rows_of(factors);
    let failed = rows.iter().filter_map(|row| outcome(factors, row, &[]).err());
    let failed: Vec<String> = failed.collect();
    let count = failed.len();
    assert!(failed.is_empty(), "{count} of {} rows failed\n\n{}", rows.len(), failed.join("\n\n"));
}

#[test]
fn every_pair_runs_by_hint_under_the_checker() {
    every_row_runs(&by_hint());
}

#[test]
fn six_classes_of_copies_run_at_the_least_spare() {
    every_row_runs(&of_six());
}
