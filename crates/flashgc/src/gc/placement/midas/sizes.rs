//! The search for sizes of the groups: first one more group at a time, then each size again.

use super::model::{Drive, Forecast, Hot, Sums};

/// Times that each size is changed again.
const ROUNDS: usize = 4;
/// A larger hot group must lower the write amplification by more than this, at first.
const WORTH: f64 = 0.05;

/// Sizes, and what they would do.
#[derive(Clone, Debug)]
pub struct Found {
    pub hot: Hot,
    /// Of the groups behind the hot one.
    pub sizes: Vec<u32>,
    pub forecast: Forecast,
}

/// A search on a drive.
struct Search<'a> {
    sums: &'a Sums,
    drive: &'a Drive,
    /// Blocks that the last group keeps.
    least: u32,
}

/// The best sizes with one of these hot groups, which are in order of size. `None` where no two
/// groups behind the hot one can be told to be better than one.
pub fn search(sums: &Sums, drive: &Drive, hots: &[Hot], most_groups: usize) -> Option<Found> {
    let search = Search { sums, drive, least: drive.margin as u32 };
    let mut found = search.hot(hots)?;
    let mut longest = found.clone();
    for _ in 1..most_groups {
        let Some(longer) = search.longer(&longest) else { break };
        if longer.is_below(&found) {
            found = longer.clone();
        }
        longest = longer;
    }
    for _ in 0..ROUNDS {
        let before = found.forecast.write_amplification;
        search.change_hot(hots, &mut found);
        search.change_sizes(most_groups, &mut found);
        if found.forecast.write_amplification >= before {
            break;
        }
    }
    (found.sizes.len() > 1).then_some(found)
}

impl Found {
    fn is_below(&self, other: &Found) -> bool {
        self.forecast.write_amplification < other.forecast.write_amplification
    }
}

impl Search<'_> {
    fn forecast(&self, hot: &Hot, sizes: &[u32]) -> Option<Forecast> {
        self.sums.forecast(self.drive, hot, sizes)
    }

    /// A hot group before one other.
    fn hot(&self, hots: &[Hot]) -> Option<Found> {
        let mut found: Option<Found> = None;
        for hot in hots {
            let sizes = vec![self.drive.blocks.checked_sub(hot.blocks).filter(|&left| left > 0)?];
            let forecast = self.forecast(hot, &sizes);
            let forecast = forecast.filter(|forecast| {
                let found = found.as_ref().map(|found| found.forecast.write_amplification);
                found.is_none_or(|best| forecast.write_amplification < best - WORTH)
            });
            let Some(forecast) = forecast else { break };
            found = Some(Found { hot: *hot, sizes, forecast });
        }
        found
    }

    /// The same sizes with the best group taken from the last.
    fn longer(&self, found: &Found) -> Option<Found> {
        let mut sizes = found.sizes.clone();
        let at = sizes.len() - 1;
        let left = sizes[at];
        sizes.push(left);
        let mut best: Option<Found> = None;
        for size in 1..left.saturating_sub(self.least) {
            (sizes[at], sizes[at + 1]) = (size, left - size);
            if let Some(forecast) = self.forecast(&found.hot, &sizes) {
                let next = Found { hot: found.hot, sizes: Vec::new(), forecast };
                if best.as_ref().is_none_or(|best| next.is_below(best)) {
                    best = Some(Found { sizes: sizes.clone(), ..next });
                }
            }
        }
        best
    }

    /// Another hot group, if one is better.
    fn change_hot(&self, hots: &[Hot], found: &mut Found) {
        let mut sizes = found.sizes.clone();
        let at = sizes.len() - 1;
        let left = sizes[at] + found.hot.blocks;
        for hot in hots.iter().filter(|hot| hot.blocks < left) {
            sizes[at] = left - hot.blocks;
            let Some(forecast) = self.forecast(hot, &sizes) else { break };
            let next = Found { hot: *hot, sizes: Vec::new(), forecast };
            if next.is_below(found) {
                *found = Found { sizes: sizes.clone(), ..next };
            }
        }
    }

    /// Other sizes, one after the other, if they are better, and one group more.
    fn change_sizes(&self, most_groups: usize, found: &mut Found) {
        for at in 0..most_groups - 1 {
            let mut sizes = found.sizes.clone();
            let last = sizes.len() - 1;
            if at > last {
                break;
            }
            let left = if at == last {
                sizes.push(0);
                sizes[last]
            } else {
                sizes[last] + sizes[at]
            };
            let last = sizes.len() - 1;
            for size in 1..left.saturating_sub(self.least) {
                (sizes[at], sizes[last]) = (size, left - size);
                let Some(forecast) = self.forecast(&found.hot, &sizes) else { break };
                let next = Found { hot: found.hot, sizes: Vec::new(), forecast };
                if next.is_below(found) {
                    *found = Found { sizes: sizes.clone(), ..next };
                }
            }
        }
    }
}
