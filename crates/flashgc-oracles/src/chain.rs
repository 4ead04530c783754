//! The fixed point of a chain of groups, as MiDAS has them.

use crate::closed_forms::bisect;

/// The copies of a chain of groups, for pages with these shares of the writes.
pub struct Chain {
    /// Pages programmed for each page written.
    pub write_amplification: f64,
    /// The valid share of the pages of each group, when it is collected.
    pub valid: Vec<f64>,
}

/// Groups of these numbers of pages, each fifo. The writes enter the first one, and the last one
/// keeps its own copies.
pub fn chain(shares: &[f64], sizes: &[f64]) -> Chain {
    let (&last, groups) = sizes.split_last().expect("a group");
    let older = |past: f64| shares.iter().map(|p| p * (-p * past).exp()).sum::<f64>();
    let (mut rates, mut past) = (vec![1.0], 0.0);
    for (at, size) in groups.iter().enumerate() {
        past += size / rates[at];
        rates.push(older(past));
    }
    // The last group is filled at a rate that keeps it at its size.
    let into = |time: f64| -> f64 {
        shares.iter().map(|p| p * (-p * past).exp() / -(-p * time).exp_m1()).sum()
    };
    let time = bisect(1.0, last * 100.0, |time| last - time * into(time));
    let entered = rates.pop().expect("a rate");
    rates.push(into(time));
    let mut valid: Vec<f64> = rates.windows(2).map(|pair| pair[1] / pair[0]).collect();
    if let Some(before_last) = rates.len().checked_sub(2) {
        valid[before_last] = entered / rates[before_last];
    }
    valid.push(1.0 - entered / rates[rates.len() - 1]);
    Chain { write_amplification: rates.iter().sum(), valid }
}
