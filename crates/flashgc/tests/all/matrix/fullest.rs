//! The configuration with as little spare as the plan accepts, and the reasons for which it refuses
//! less.

use super::common;

use common::{TINY, inputs};
use flashgc::session::{Setup, prepare};

/// The allowed reasons of the plan against one more page of data.
const REASONS: &[&str] = &[
    ", but collection alone needs",
    "exceeds the spare space",
    "leave no threshold above the reserve",
    // A share of little spare.
    "must be above the reserve",
    // The trigger used-space has no threshold that could be lower.
    "too few for the",
];

fn assert_known(sets: &[String], refusal: &str) {
    let known = REASONS.iter().any(|reason| refusal.contains(reason));
    assert!(known, "an unknown reason with\n{}\n{refusal}", sets.join("\n"));
}

/// The configuration with the most data that the plan accepts.
pub fn fullest(sets: &[String]) -> Setup {
    let text = TINY.replace("queue_depth = 8\n", "").replace("overwrite = 1.0\n", "");
    let prepared = |pages: f64, all: f64| {
        // In the middle of two whole numbers of pages, so that the share cannot truncate wrongly.
        let exported = format!("device.exported={:.9}", (pages + 0.5) / all);
        let mut sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        sets.push(&exported);
        prepare(&inputs(&text, &sets)).map_err(|errors| errors.to_string())
    };
    let of = |key: &str| -> f64 {
        let value = sets.iter().find_map(|set| set.strip_prefix(key));
        value.and_then(|value| value.parse().ok()).expect("a whole number")
    };
    let block = of("device.pages_per_block=");
    let all = of("device.blocks_per_plane=") * block;
    let accepted = |pages: u32| {
        let setup = prepared(f64::from(pages), all);
        setup.map_err(|refusal| assert_known(sets, &refusal)).ok()
    };
    let found = search(all as u32, 4 * block as u32, accepted);
    if common::is_long() {
        let found = found.as_ref().map(|(pages, _)| *pages);
        let first = (LEAST_PAGES..all as u32).rev().find(|&pages| accepted(pages).is_some());
        assert_eq!(found, first, "the search misses a size with\n{}", sets.join("\n"));
    }
    let (_, setup) = found.unwrap_or_else(|| panic!("no data is accepted: {}", sets.join("\n")));
    setup
}

const LEAST_PAGES: u32 = 8;

/// The largest size below `end` that is accepted. By bisection a drive that fits also fits with
/// fewer pages, but shares of the spare space are rounded to whole blocks, so that a few sizes are
/// refused below one that is accepted: the `window` of sizes above the found one is tried as well.
fn search<T>(end: u32, window: u32, accepted: impl Fn(u32) -> Option<T>) -> Option<(u32, T)> {
    let (mut low, mut refused) = (LEAST_PAGES, end);
    let mut best = None;
    while low < refused {
        let middle = low + (refused - low) / 2;
        match accepted(middle) {
            Some(setup) => (low, best) = (middle + 1, Some((middle, setup))),
            None => refused = middle,
        }
    }
    let above = refused + 1..end.min(refused + window);
    above.rev().find_map(|pages| Some((pages, accepted(pages)?))).or(best)
}
