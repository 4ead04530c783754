//! The steadiness of a drive that is overwritten, and the progress of preconditioning.

use super::TraceFilled;
use crate::drive::Carried;
use serde::{Deserialize, Serialize};

/// Write amplification is checked this number of times per drive write.
pub(super) const WINDOWS_PER_DRIVE_WRITE: u64 = 4;
/// Number of windows that must agree.
const STEADY_WINDOWS: usize = 4;
/// Fewer windows do not show a drift.
const STEADY_WINDOWS_MIN: usize = 8;
/// The largest difference that counts as agreement, as a share of the mean.
const STEADY_WITHIN: f64 = 0.01;

/// The progress of preconditioning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Preconditioning {
    /// The scheme that was active.
    pub scheme: String,
    /// Pages written by the fill.
    pub filled_pages: u64,
    /// The fill by a trace, where there was one.
    pub trace_fill: Option<TraceFilled>,
    /// Invalid pages that ageing caused.
    pub aged_pages: u64,
    /// Pages that were mapped because the trace reads them, where this was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapped_pages: Option<u64>,
    /// Pages overwritten after it.
    pub overwritten_pages: u64,
    /// Overwritten pages in drive writes.
    pub drive_writes: f64,
    /// Programs of overwritten pages, and copies since the fill.
    pub programmed_pages: u64,
    /// Write amplification of the whole overwriting.
    pub write_amplification: Option<f64>,
    /// Write amplification of its quarters, where pages were overwritten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_amplification_quarters: Vec<f64>,
    /// The steadiness of overwriting, where it was requested.
    pub steady: Option<Steady>,
    /// The state that the run's scheme could not take over as it was.
    pub carried: Carried,
}

/// Steadiness of write amplification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// Whether it was reached.
    pub reached: bool,
    /// Write amplification of the last windows, each a quarter of a drive write.
    pub windows: Vec<f64>,
    /// In words, for people.
    pub how: String,
}

/// The measurements while a drive is overwritten until it is steady.
#[derive(Clone, Debug, Default)]
pub struct SteadyWatch {
    windows: Vec<f64>,
    written: u64,
    moved: u64,
}

impl SteadyWatch {
    /// Starts from a drive on which `moved` copies were made already.
    pub fn since(moved: u64) -> Self {
        SteadyWatch { moved, ..SteadyWatch::default() }
    }

    /// Adds a window; returns whether write amplification is steady.
    ///
    /// The last windows must agree, and the second half of all windows must agree with the quarter
    /// before it: a slow drift, as of hot and cold data that part over tens of drive writes, moves
    /// too little between neighbours to show there.
    pub(super) fn add(&mut self, written: u64, moved: u64) -> bool {
        let (pages, copies) = (written - self.written, moved - self.moved);
        (self.written, self.moved) = (written, moved);
        self.windows.push((pages + copies) as f64 / pages as f64);
        let Some(last) = self.last().filter(|_| self.windows.len() >= STEADY_WINDOWS_MIN) else {
            return false;
        };
        let recent = mean(last);
        let reach = last.iter().fold(0.0f64, |far, w| far.max((w - recent).abs()));
        let count = self.windows.len();
        let (before, since) = (&self.windows[count / 4..count / 2], &self.windows[count / 2..]);
        let drift = (mean(since) - mean(before)).abs();
        // With a window without copies the drive is not steady: collection may not have begun.
        let collects = self.windows[count / 4..].iter().all(|&w| w > 1.0);
        collects && reach <= STEADY_WITHIN * recent && drift <= STEADY_WITHIN * mean(since)
    }

    fn last(&self) -> Option<&[f64]> {
        self.windows.len().checked_sub(STEADY_WINDOWS).map(|first| &self.windows[first..])
    }

    /// The finding in words.
    pub fn report(&self, reached: bool, drive_writes: f64) -> Steady {
        let within = STEADY_WITHIN * 100.0;
        let how = if reached {
            format!(
                "after {drive_writes:.2} drive writes the last {STEADY_WINDOWS} windows of a \
                 quarter drive write lay within {within} % of their mean, and the second half of \
                 the writes within {within} % of the quarter before it"
            )
        } else {
            format!(
                "not steady after {drive_writes:.2} drive writes: the last {STEADY_WINDOWS} \
                 windows of a quarter drive write differ by more than {within} % of their mean, \
                 or the second half of the writes from the quarter before it"
            )
        };
        let windows = self.last().unwrap_or(&self.windows).to_vec();
        Steady { reached, windows, how }
    }
}

fn mean(windows: &[f64]) -> f64 {
    windows.iter().sum::<f64>() / windows.len() as f64
}

#[cfg(test)]
mod tests {
    use super::SteadyWatch;

    /// Windows of 1000 pages whose write amplification follows this curve, until it is steady.
    fn windows_until_steady(curve: impl Fn(f64) -> f64) -> usize {
        let mut watch = SteadyWatch::default();
        let mut moved = 0;
        (1..1000)
            .find(|&count| {
                moved += ((curve(count as f64) - 1.0) * 1000.0) as u64;
                watch.add(count * 1000, moved)
            })
            .map_or(1000, |count| count as usize)
    }

    #[test]
    fn copies_made_before_do_not_count() {
        let mut watch = SteadyWatch::since(1_000);
        watch.add(100, 1_050);
        assert_eq!(watch.windows, [1.5]);
    }

    #[test]
    fn a_constant_is_steady_as_soon_as_there_are_windows() {
        assert_eq!(windows_until_steady(|_| 3.0), 8);
    }

    #[test]
    fn a_slow_drift_is_not_taken_for_steadiness() {
        // It falls by a third, with a time constant of 40 windows: 0.2 % from one to the next.
        let found = windows_until_steady(|at| 3.0 + libm::exp(-at / 40.0));
        let left = libm::exp(-(found as f64) / 40.0) / 3.0;
        assert!(left < 0.01, "steady after {found} windows, {left:.3} above the end");
    }

    #[test]
    fn a_drive_that_does_not_collect_is_not_steady() {
        assert_eq!(windows_until_steady(|_| 1.0), 1000);
    }
}
