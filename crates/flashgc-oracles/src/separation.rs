//! One log under any popularity of its pages, and the least write amplification of any separation.
//!
//! `alpha` is the number of pages of the log for each page that is exported.

use crate::closed_forms::bisect;

/// Shares of the writes by rank.
pub fn zipf(pages: usize, theta: f64) -> Vec<f64> {
    let weights: Vec<f64> = (1..=pages).map(|rank| (rank as f64).powf(-theta)).collect();
    let sum: f64 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

/// FIFO of one log whose pages have these shares of the writes.
pub fn fifo(shares: &[f64], alpha: f64) -> f64 {
    let pages = alpha * shares.len() as f64;
    let writes = |a: f64| -> f64 { shares.iter().map(|p| p / -(-p * pages / a).exp_m1()).sum() };
    bisect(1.0 + 1e-9, alpha / (alpha - 1.0) * 4.0, |a| writes(a) - a)
}

/// The least write amplification of classes of pages that are written equally often, each a log of
/// its own: their shares of the pages and of the writes.
pub fn separated(classes: &[(f64, f64)], alpha: f64) -> f64 {
    let spare_of = |u: f64| -u.ln() / (1.0 - u) - 1.0;
    // The gain by a page of spare space falls with it, and is equal in all classes: `gain`.
    let valid = |(f, r): (f64, f64), gain: f64| {
        let excess = |u: f64| (r / f) * u / ((1.0 - u) * (1.0 - u * (1.0 + spare_of(u)))) - gain;
        bisect(1e-300, 1.0 - 1e-9, |u| -excess(u))
    };
    let spare = |log_gain: f64| -> f64 {
        classes.iter().map(|&class| class.0 * spare_of(valid(class, log_gain.exp()))).sum()
    };
    let gain = bisect(-60.0, 60.0, |log_gain| spare(log_gain) - (alpha - 1.0)).exp();
    classes.iter().map(|&class| class.1 / (1.0 - valid(class, gain))).sum()
}

/// Ranks in groups whose ends lie at equal ratios.
pub fn grouped(shares: &[f64], groups: usize) -> Vec<(f64, f64)> {
    let pages = shares.len() as f64;
    let ends = (0..=groups).map(|at| pages.powf(at as f64 / groups as f64).round() as usize);
    let mut ends: Vec<usize> = std::iter::once(0).chain(ends).collect();
    ends.dedup();
    let of = |ends: &[usize]| {
        let part = &shares[ends[0]..ends[1]];
        (part.len() as f64 / pages, part.iter().sum::<f64>())
    };
    ends.windows(2).map(of).collect()
}
