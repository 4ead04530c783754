//! The distribution of the writes over the written pages.

use super::spread::{Spread, SpreadInfo};
use serde::Serialize;

/// Shares of the pages at which the curve is given, below a whole percent.
const FINE: [f64; 4] = [0.0, 0.001, 0.002, 0.005];

/// The distribution of the writes over the written pages.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hotness {
    /// Pages that these values come from; fewer than were written where pages are sampled.
    pub pages: u64,
    /// Writes of a page.
    pub writes_per_page: SpreadInfo,
    /// Share of the writes that go to the hottest 1 % of the pages written.
    pub top_1_percent: Option<f64>,
    /// To the hottest 5 %.
    pub top_5_percent: Option<f64>,
    /// To the hottest 10 %.
    pub top_10_percent: Option<f64>,
    /// To the hottest 20 %.
    pub top_20_percent: Option<f64>,
    /// Share of the pages, hottest first, with the share of the writes that go to them.
    pub curve: Vec<(f64, f64)>,
}

/// From the writes of each page.
pub(super) fn hotness(mut writes: Vec<u32>) -> Hotness {
    writes.sort_unstable_by(|a, b| b.cmp(a));
    let mut spread = Spread::default();
    let mut sums = Vec::with_capacity(writes.len() + 1);
    let mut sum = 0_u64;
    sums.push(sum);
    for &count in &writes {
        spread.add(u64::from(count));
        sum += u64::from(count);
        sums.push(sum);
    }
    let top = |share: f64| {
        let pages = (share * writes.len() as f64).ceil() as usize;
        sums[pages.min(writes.len())] as f64 / sum as f64
    };
    let some = sum > 0;
    let shares = FINE.into_iter().chain((1..=100).map(|percent| f64::from(percent) / 100.0));
    let curve = if some { shares.map(|share| (share, top(share))).collect() } else { Vec::new() };
    Hotness {
        pages: writes.len() as u64,
        writes_per_page: spread.info(),
        top_1_percent: some.then(|| top(0.01)),
        top_5_percent: some.then(|| top(0.05)),
        top_10_percent: some.then(|| top(0.10)),
        top_20_percent: some.then(|| top(0.20)),
        curve,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hottest_pages_come_first() {
        let mut writes = vec![1; 90];
        writes.extend([41; 10]);
        let found = hotness(writes);
        assert_eq!(found.pages, 100);
        assert_eq!(found.top_1_percent, Some(41.0 / 500.0));
        assert_eq!(found.top_10_percent, Some(410.0 / 500.0));
        assert_eq!(found.curve.first(), Some(&(0.0, 0.0)));
        assert_eq!(found.curve.last(), Some(&(1.0, 1.0)));
    }

    #[test]
    fn nothing_is_hot_where_nothing_is_written() {
        let found = hotness(Vec::new());
        assert_eq!((found.pages, found.top_1_percent, found.curve.len()), (0, None, 0));
    }
}
