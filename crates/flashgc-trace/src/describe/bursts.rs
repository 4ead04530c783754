//! The burstiness of arrivals: counts in windows of equal length.

use crate::record::{Op, Record};
use serde::Serialize;

/// The windows, in ns.
const WINDOWS_NS: [u64; 3] = [10_000_000, 100_000_000, 1_000_000_000];
/// The largest number of bins of a course over time.
const BINS_MAX: usize = 512;

/// Rows in windows of one length, laid end to end from the first row. The last one, which the
/// trace fills in part, is skipped, unless it is the only one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Burst {
    /// Length of a window.
    pub window_ns: u64,
    /// Windows.
    pub windows: u64,
    /// Rows in a window, on average.
    pub mean_rows: f64,
    /// Rows in the fullest window.
    pub peak_rows: u64,
    /// `peak_rows / mean_rows`.
    pub peak_to_mean: Option<f64>,
    /// Variance of the rows in a window / their mean: 1 for a Poisson process, 0 for a steady one.
    pub dispersion: Option<f64>,
    /// Share of windows without a row.
    pub empty_share: f64,
}

/// Windows of one length, while a trace is read.
struct Windows {
    window_ns: u64,
    current: u64,
    rows: u64,
    /// Sums over the windows that have ended.
    sum: f64,
    squares: f64,
    peak: u64,
    filled: u64,
}

impl Windows {
    fn new(window_ns: u64) -> Self {
        Windows { window_ns, current: 0, rows: 0, sum: 0.0, squares: 0.0, peak: 0, filled: 0 }
    }

    #[inline]
    fn add(&mut self, since_ns: u64) {
        // The usual row lies in the window of the one before; that takes no division.
        if since_ns - self.current * self.window_ns >= self.window_ns {
            self.end();
            self.current = since_ns / self.window_ns;
        }
        self.rows += 1;
    }

    fn end(&mut self) {
        self.sum += self.rows as f64;
        self.squares += self.rows as f64 * self.rows as f64;
        self.peak = self.peak.max(self.rows);
        self.filled += u64::from(self.rows > 0);
        self.rows = 0;
    }

    fn info(mut self) -> Burst {
        let windows = self.current.max(1);
        if self.current == 0 {
            self.end();
        }
        let mean = self.sum / windows as f64;
        let variance = (self.squares / windows as f64 - mean * mean).max(0.0);
        let some = mean > 0.0;
        Burst {
            window_ns: self.window_ns,
            windows,
            mean_rows: mean,
            peak_rows: self.peak,
            peak_to_mean: some.then(|| self.peak as f64 / mean),
            dispersion: some.then(|| variance / mean),
            empty_share: 1.0 - self.filled as f64 / windows as f64,
        }
    }
}

/// Rows over time, in bins of equal length from the first row on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Timeline {
    /// Length of a bin.
    pub bin_ns: u64,
    /// Reads in each.
    pub read: Vec<u64>,
    /// Writes in each.
    pub write: Vec<u64>,
    /// Bytes read in each.
    pub read_bytes: Vec<u64>,
    /// Bytes written in each.
    pub written_bytes: Vec<u64>,
}

impl Timeline {
    fn add(&mut self, since_ns: u64, record: &Record) {
        while (since_ns / self.bin_ns) as usize >= BINS_MAX {
            self.bin_ns = self.bin_ns.saturating_mul(2);
            for bins in [&mut self.read, &mut self.write] {
                halve(bins);
            }
            for bins in [&mut self.read_bytes, &mut self.written_bytes] {
                halve(bins);
            }
        }
        let at = (since_ns / self.bin_ns) as usize;
        let (rows, bytes) = match record.op {
            Op::Read => (&mut self.read, &mut self.read_bytes),
            Op::Write => (&mut self.write, &mut self.written_bytes),
            Op::Trim | Op::Other => return,
        };
        rows[at] += 1;
        bytes[at] = bytes[at].saturating_add(record.size_bytes);
    }
}

/// Two bins become one.
fn halve(bins: &mut [u64]) {
    for at in 0..BINS_MAX / 2 {
        bins[at] = bins[2 * at].saturating_add(bins[2 * at + 1]);
    }
    bins[BINS_MAX / 2..].fill(0);
}

/// Bursts and the course over time, while a trace is read.
pub(super) struct Course {
    first_ns: Option<u64>,
    last_ns: u64,
    windows: [Windows; 3],
    timeline: Timeline,
}

impl Course {
    pub(super) fn new() -> Self {
        let bins = || vec![0; BINS_MAX];
        Course {
            first_ns: None,
            last_ns: 0,
            windows: WINDOWS_NS.map(Windows::new),
            timeline: Timeline {
                bin_ns: 1000,
                read: bins(),
                write: bins(),
                read_bytes: bins(),
                written_bytes: bins(),
            },
        }
    }

    /// `at_ns` never falls.
    #[inline]
    pub(super) fn add(&mut self, at_ns: u64, record: &Record) {
        let first_ns = *self.first_ns.get_or_insert(at_ns);
        self.last_ns = at_ns - first_ns;
        for windows in &mut self.windows {
            windows.add(self.last_ns);
        }
        self.timeline.add(self.last_ns, record);
    }

    pub(super) fn info(self) -> (Vec<Burst>, Timeline) {
        let mut timeline = self.timeline;
        let bins = (self.last_ns / timeline.bin_ns) as usize + 1;
        timeline.read.truncate(bins);
        timeline.write.truncate(bins);
        timeline.read_bytes.truncate(bins);
        timeline.written_bytes.truncate(bins);
        (self.windows.into_iter().map(Windows::info).collect(), timeline)
    }
}
