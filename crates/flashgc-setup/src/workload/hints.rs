//! `hints`: the placement hints of synthetic writes, and of jobs.

use flashgc_config::Reader;
use flashgc_workload::address::AddressChoice;
use flashgc_workload::hints::{HINTS_MAX, HintPlan, JobHintPlan, Select};
use flashgc_workload::ranked::Ranks;

const KEY: &str = "hints";
const HELP: &str = "write { regions = [0.25, 0.75] } (parts of the drive), \
                    { hotness = [0.1, 0.9] } (shares of the places, the most written first), or \
                    \"groups\" (those of the addresses)";
/// Sums of shares that were written with few digits.
const TOLERANCE: f64 = 1e-9;

/// The hints of a synthetic workload or of a phase. `None` without any, and after an error.
pub fn read(table: &Reader<'_>) -> Option<HintPlan> {
    if !table.has(KEY) {
        return None;
    }
    if !table.is_table(KEY) {
        let word = table.string(KEY)?;
        if word == "groups" {
            return Some(HintPlan::Groups);
        }
        table.error(KEY, format!("unknown placement hints \"{word}\""), HELP);
        return None;
    }
    let choice = table.table(KEY);
    let found = match (choice.has("regions"), choice.has("hotness")) {
        (true, false) => {
            checked(&choice, "regions", choice.parts("regions")).map(HintPlan::Regions)
        }
        (false, true) => {
            checked(&choice, "hotness", choice.parts("hotness")).map(HintPlan::Hotness)
        }
        (both, _) => {
            let message = match both {
                true => "the hints have both `regions` and `hotness`",
                false => "the hints have neither `regions` nor `hotness`",
            };
            table.error(KEY, message, HELP);
            None
        }
    };
    choice.finish();
    found
}

/// The shares under this key, if they can be hints.
fn checked(choice: &Reader<'_>, key: &str, shares: Option<Vec<f64>>) -> Option<Vec<f64>> {
    let shares = shares?;
    let sum: f64 = shares.iter().sum();
    let are_right = (1..=HINTS_MAX).contains(&shares.len())
        && shares.iter().all(|&share| share > 0.0)
        && sum <= 1.0 + TOLERANCE;
    if !are_right {
        choice.error(
            key,
            format!(
                "{key} has {} shares with the sum {sum}; 1 to {HINTS_MAX} numbers above 0 are \
                 allowed, with a sum of at most 1",
                shares.len()
            ),
            format!("give each hint its share, the first of them hint 0: {key} = [0.25, 0.75]"),
        );
    }
    are_right.then_some(shares)
}

/// Checks that the addresses of the writes have the parts that the hints name.
pub fn check(table: &Reader<'_>, hints: Option<&HintPlan>, address: &AddressChoice) {
    let has_groups = matches!(
        address,
        AddressChoice::HotCold { .. } | AddressChoice::Groups(_) | AddressChoice::Scattered { .. }
    );
    match hints {
        Some(HintPlan::Groups) if !has_groups => table.error(
            KEY,
            "`hints = \"groups\"` needs addresses that have groups",
            "set address = { hot_cold = { f = 0.2, r = 0.8 } } or { groups = [...] }, or give \
             hints = { regions = [...] }",
        ),
        Some(HintPlan::Hotness(_)) if *address == AddressChoice::Uniform => table.error(
            KEY,
            "hints by hotness need addresses that are not uniform: all places are equally hot",
            "set for example address = { zipf = 0.99 }, or give hints = { regions = [...] }",
        ),
        Some(HintPlan::Hotness(_)) if !keeps_its_ranks(address) => table.error(
            KEY,
            "hints by hotness need a rank for each place that stays the same, but these addresses \
             have ranks = \"hashed\" or `shuffle`",
            "remove `ranks` and `shuffle` of the addresses, or give hints = { regions = [...] }",
        ),
        _ => {}
    }
}

/// Whether each place has one rank, for ever.
fn keeps_its_ranks(address: &AddressChoice) -> bool {
    match address {
        AddressChoice::Zipf(zipf) => zipf.ranks != Ranks::Hashed && zipf.shuffle.is_none(),
        _ => true,
    }
}

/// The hints of a job: one number, or several and the choice among them. `None` after an error.
pub fn of_job(table: &Reader<'_>) -> Option<JobHintPlan> {
    let given = table.has(KEY);
    let hints = if given { table.numbers(KEY)? } else { Vec::new() };
    let words = &[("round-robin", Select::RoundRobin), ("random", Select::Random)];
    let select = table.choice("hint_select", words).unwrap_or_default();
    let are_right = hints.len() <= HINTS_MAX && hints.iter().all(|&hint| hint < HINTS_MAX as u64);
    if given && (hints.is_empty() || !are_right) {
        table.error(
            KEY,
            format!("`hints` must be 1 to {HINTS_MAX} numbers from 0 to 255"),
            "write for example hints = [1], or hints = [1, 2] for two in turn",
        );
        return None;
    }
    if !given && table.has("hint_select") {
        table.error(
            "hint_select",
            "`hint_select` needs `hints`",
            "add for example hints = [1, 2], or remove `hint_select`",
        );
        return None;
    }
    Some(JobHintPlan { hints: hints.into_iter().map(|hint| hint as u8).collect(), select })
}
