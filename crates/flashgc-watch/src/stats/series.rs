//! A run over time: a row for each interval of simulated time in which something happened.
//!
//! Every event is reported in order of time, so that a row is done when time leaves its interval.
//! With an interval that was given, rows are sent at once. Otherwise they are kept, and whenever
//! there are too many the interval doubles and neighbours become one: counts add up, and the
//! extremes of two intervals are those of both, so that no maximum is ever lost.

use super::free_blocks::FreeBlocks;
use flashgc_model::ids::{BlockId, PlaneId};
use flashgc_workload::HostOp;
use serde::Serialize;

/// The first interval where none is given: 1 us.
const FIRST_INTERVAL_NS: u64 = 1_000;
/// More rows than this double the interval.
const ROWS_MAX: usize = 4096;

/// The most rows of a given interval; the rows after them are dropped.
pub const SERIES_ROWS_MAX: u64 = 1_000_000;

/// One interval of the measured part. An undefined value is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SeriesRow {
    /// The start of the interval, in ns.
    pub start_ns: u64,
    /// Reads that were done.
    pub requests_read: u64,
    /// Writes that were done.
    pub requests_write: u64,
    /// Mean latency of these reads, in ns.
    pub latency_read_mean_ns: Option<f64>,
    /// Their longest latency, in ns.
    pub latency_read_max_ns: Option<u64>,
    /// Mean latency of these writes, in ns.
    pub latency_write_mean_ns: Option<f64>,
    /// Their longest latency, in ns.
    pub latency_write_max_ns: Option<u64>,
    /// Fewest erased blocks that any plane had at any time.
    pub free_blocks_min: u32,
    /// Erased blocks of all planes at the end.
    pub free_blocks_end: u64,
    /// Pages for data that are not erased at the end, valid and invalid ones.
    pub used_pages_end: u64,
    /// Collections that ended.
    pub gc_count: u64,
    /// Copies that ended.
    pub gc_moved: u64,
    /// Array time of collections, in ns, over all units.
    pub gc_busy_ns: u64,
    /// Most requests under way at any time.
    pub outstanding_max: u64,
}

/// Receives the rows, in order of time.
pub type SeriesSink = Box<dyn FnMut(&SeriesRow) + Send>;

/// A request for a series.
pub struct SeriesRequest {
    /// The interval, in ns and not 0; `None` for one that results in a few thousand rows.
    pub interval_ns: Option<u64>,
    /// Receives the rows.
    pub sink: SeriesSink,
}

/// Values of the simulation at one instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// The instant, in ns.
    pub now_ns: u64,
    /// Copies that have ended.
    pub gc_moved: u64,
    /// Array time of collections until now, phases under way included, in ns.
    pub gc_busy_ns: u64,
    /// Units whose array works for a collection.
    pub gc_units: u64,
    /// Pages for data that are not erased, valid and invalid ones.
    pub used_pages: u64,
}

/// Latencies of one kind of request in one interval.
#[derive(Clone, Copy, Default)]
struct Latencies {
    count: u64,
    sum_ns: u128,
    max_ns: u64,
}

impl Latencies {
    fn record(&mut self, ns: u64) {
        self.count += 1;
        self.sum_ns += u128::from(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    fn add(&mut self, later: &Latencies) {
        self.count += later.count;
        self.sum_ns += later.sum_ns;
        self.max_ns = self.max_ns.max(later.max_ns);
    }

    fn mean_ns(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum_ns as f64 / self.count as f64)
    }

    fn max_ns(&self) -> Option<u64> {
        (self.count > 0).then_some(self.max_ns)
    }
}

/// An interval, exactly.
#[derive(Clone, Copy, Default)]
struct Interval {
    start_ns: u64,
    /// Whether anything that counts has happened.
    is_used: bool,
    read: Latencies,
    write: Latencies,
    free_blocks_min: u32,
    free_blocks_end: u64,
    used_pages_end: u64,
    gc_count: u64,
    gc_moved: u64,
    gc_busy_ns: u64,
    outstanding_max: u64,
}

impl Interval {
    /// Adds the interval that follows this one.
    fn add(&mut self, later: &Interval) {
        self.is_used |= later.is_used;
        self.read.add(&later.read);
        self.write.add(&later.write);
        self.free_blocks_min = self.free_blocks_min.min(later.free_blocks_min);
        self.free_blocks_end = later.free_blocks_end;
        self.used_pages_end = later.used_pages_end;
        self.gc_count += later.gc_count;
        self.gc_moved += later.gc_moved;
        self.gc_busy_ns += later.gc_busy_ns;
        self.outstanding_max = self.outstanding_max.max(later.outstanding_max);
    }

    fn row(&self) -> SeriesRow {
        SeriesRow {
            start_ns: self.start_ns,
            requests_read: self.read.count,
            requests_write: self.write.count,
            latency_read_mean_ns: self.read.mean_ns(),
            latency_read_max_ns: self.read.max_ns(),
            latency_write_mean_ns: self.write.mean_ns(),
            latency_write_max_ns: self.write.max_ns(),
            free_blocks_min: self.free_blocks_min,
            free_blocks_end: self.free_blocks_end,
            used_pages_end: self.used_pages_end,
            gc_count: self.gc_count,
            gc_moved: self.gc_moved,
            gc_busy_ns: self.gc_busy_ns,
            outstanding_max: self.outstanding_max,
        }
    }
}

/// Gathers the rows of a run.
pub struct Series {
    sink: SeriesSink,
    interval_ns: u64,
    /// Whether the interval may double. Its rows are then kept.
    is_free: bool,
    kept: Vec<Interval>,
    /// Rows that were sent.
    given: u64,
    now: Interval,
    free: FreeBlocks,
    blocks_per_plane: u32,
    outstanding: u64,
    /// Copies and array time that are in rows.
    reported: (u64, u64),
    /// Pages in use at the end of the interval before, where there is one.
    used_pages: Option<u64>,
    is_measuring: bool,
}

impl Series {
    /// For a drive with this number of blocks per plane.
    pub fn new(request: SeriesRequest, blocks_per_plane: u32) -> Self {
        let SeriesRequest { interval_ns, sink } = request;
        Series {
            sink,
            interval_ns: interval_ns.unwrap_or(FIRST_INTERVAL_NS).max(1),
            is_free: interval_ns.is_none(),
            blocks_per_plane,
            kept: Vec::new(),
            given: 0,
            now: Interval::default(),
            free: FreeBlocks::default(),
            outstanding: 0,
            reported: (0, 0),
            used_pages: None,
            is_measuring: false,
        }
    }

    /// The measured part begins.
    pub fn begin(&mut self) {
        self.is_measuring = true;
        self.free = FreeBlocks::default();
        self.open(0);
    }

    /// The next plane begins with this number of erased blocks.
    pub fn plane_begins(&mut self, blocks: u32) {
        self.free.add_plane(blocks);
        self.now.free_blocks_min = self.free.min();
    }

    /// A request arrived; `outstanding` requests are under way.
    pub fn arrived(&mut self, outstanding: u64) {
        self.outstanding = outstanding;
        self.now.is_used = true;
        self.now.outstanding_max = self.now.outstanding_max.max(outstanding);
    }

    /// A request is done; `outstanding` requests are left under way.
    pub fn done(&mut self, op: HostOp, latency_ns: u64, outstanding: u64) {
        self.outstanding = outstanding;
        self.now.is_used = true;
        match op {
            HostOp::Read => self.now.read.record(latency_ns),
            HostOp::Write => self.now.write.record(latency_ns),
            HostOp::Trim | HostOp::Flush => {}
        }
    }

    /// An erased block was opened.
    pub fn opened(&mut self, block: BlockId) {
        if self.is_measuring {
            self.free.lose(self.plane_of(block));
            self.now.is_used = true;
            self.now.free_blocks_min = self.now.free_blocks_min.min(self.free.min());
        }
    }

    /// Whether the measured part has begun.
    pub fn is_measuring(&self) -> bool {
        self.is_measuring
    }

    /// A block was erased.
    pub fn erased(&mut self, block: BlockId) {
        if self.is_measuring {
            self.free.gain(self.plane_of(block));
            self.now.is_used = true;
        }
    }

    fn plane_of(&self, block: BlockId) -> PlaneId {
        PlaneId(block.0 / self.blocks_per_plane)
    }

    /// A collection has ended.
    pub fn job_closed(&mut self) {
        self.now.is_used = true;
        self.now.gc_count += 1;
    }

    /// Whether an instant lies beyond the interval, so that time may go there only after
    /// [`Series::goes_on`].
    #[inline]
    pub fn ends_before(&self, to_ns: u64) -> bool {
        self.is_measuring && to_ns - self.now.start_ns >= self.interval_ns
    }

    /// Time advances to an instant, and nothing happens before it.
    pub fn goes_on(&mut self, to_ns: u64, sample: &Sample) {
        let mut at_ns = sample.now_ns;
        let mut busy_ns = sample.gc_busy_ns;
        while self.ends_before(to_ns) {
            let end_ns = self.now.start_ns + self.interval_ns;
            busy_ns += (end_ns - at_ns) * sample.gc_units;
            at_ns = end_ns;
            self.add(sample, busy_ns);
            self.close();
            // Without a collection in progress, nothing changes until then.
            let next_ns = if sample.gc_units > 0 { end_ns } else { to_ns };
            self.open(next_ns - next_ns % self.interval_ns);
            at_ns = at_ns.max(self.now.start_ns);
        }
    }

    /// The present length of an interval.
    pub fn interval_ns(&self) -> u64 {
        self.interval_ns
    }

    /// The run is over.
    pub fn end(&mut self, sample: &Sample) {
        for row in self.finish(sample) {
            (self.sink)(&row);
        }
    }

    /// The run is over. Returns the rows that were kept.
    pub fn finish(&mut self, sample: &Sample) -> Vec<SeriesRow> {
        if !self.is_measuring {
            return Vec::new();
        }
        self.add(sample, sample.gc_busy_ns);
        self.close();
        self.is_measuring = false;
        self.kept.drain(..).map(|interval| interval.row()).collect()
    }

    /// Adds to the row the amounts since the rows before, and the state at its end.
    fn add(&mut self, sample: &Sample, gc_busy_ns: u64) {
        let moved = sample.gc_moved.saturating_sub(self.reported.0);
        let busy_ns = gc_busy_ns.saturating_sub(self.reported.1);
        let before = self.used_pages.replace(sample.used_pages);
        let has_changed = before.is_some_and(|pages| pages != sample.used_pages);
        self.now.is_used |= moved > 0 || busy_ns > 0 || has_changed;
        self.now.gc_moved += moved;
        self.now.gc_busy_ns += busy_ns;
        self.now.used_pages_end = sample.used_pages;
        self.reported = (self.reported.0 + moved, self.reported.1 + busy_ns);
    }

    fn open(&mut self, start_ns: u64) {
        self.now = Interval {
            start_ns,
            free_blocks_min: self.free.min(),
            outstanding_max: self.outstanding,
            ..Interval::default()
        };
    }

    fn close(&mut self) {
        if !self.now.is_used {
            return;
        }
        self.now.free_blocks_end = self.free.total();
        if !self.is_free {
            self.given += 1;
            self.is_measuring &= self.given < SERIES_ROWS_MAX;
            return (self.sink)(&self.now.row());
        }
        keep(&mut self.kept, self.now);
        while self.kept.len() > ROWS_MAX {
            self.interval_ns = self.interval_ns.saturating_mul(2);
            let finer = std::mem::take(&mut self.kept);
            for mut interval in finer {
                interval.start_ns -= interval.start_ns % self.interval_ns;
                keep(&mut self.kept, interval);
            }
        }
    }
}

/// Adds an interval to those before it. After a doubling it may be the second half of the last.
fn keep(kept: &mut Vec<Interval>, interval: Interval) {
    match kept.last_mut() {
        Some(last) if last.start_ns == interval.start_ns => last.add(&interval),
        _ => kept.push(interval),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};

    fn series(interval_ns: Option<u64>) -> (Series, Receiver<SeriesRow>) {
        let (send, rows) = channel();
        let sink: SeriesSink = Box::new(move |row| send.send(*row).expect("the test listens"));
        let mut series = Series::new(SeriesRequest { interval_ns, sink }, 4);
        series.begin();
        series.plane_begins(3);
        series.plane_begins(2);
        (series, rows)
    }

    fn at(series: &mut Series, from_ns: u64, to_ns: u64, gc_busy_ns: u64, gc_units: u64) {
        if series.ends_before(to_ns) {
            let sample = Sample { now_ns: from_ns, gc_busy_ns, gc_units, ..Sample::default() };
            series.goes_on(to_ns, &sample);
        }
    }

    #[test]
    fn levels_go_on_from_one_interval_to_the_next() {
        let (mut series, rows) = series(Some(100));
        series.arrived(1);
        series.arrived(2);
        at(&mut series, 0, 250, 0, 0);
        series.done(HostOp::Write, 250, 1);
        series.opened(BlockId(1));
        series.opened(BlockId(4));
        at(&mut series, 250, 299, 0, 0);
        series.erased(BlockId(4));
        at(&mut series, 299, 300, 0, 0);
        series.done(HostOp::Read, 300, 0);
        series.end(&Sample { now_ns: 300, gc_moved: 7, ..Sample::default() });
        let found: Vec<_> = rows.try_iter().collect();
        let brief = |row: &SeriesRow| {
            let free = (row.free_blocks_min, row.free_blocks_end);
            (row.start_ns, row.outstanding_max, free, row.gc_moved)
        };
        let expected = [(0, 2, (2, 5), 0), (200, 2, (1, 4), 0), (300, 1, (2, 4), 7)];
        assert_eq!(found.iter().map(brief).collect::<Vec<_>>(), expected);
        assert_eq!((found[1].requests_write, found[1].latency_write_max_ns), (1, Some(250)));
        assert_eq!((found[1].requests_read, found[1].latency_read_mean_ns), (0, None));
    }

    #[test]
    fn pages_that_are_taken_make_a_row_and_nothing_makes_none() {
        let (mut series, rows) = series(Some(100));
        for (now_ns, used_pages) in [(0, 5), (100, 5), (200, 7), (300, 7)] {
            series.goes_on(now_ns + 100, &Sample { now_ns, used_pages, ..Sample::default() });
        }
        series.end(&Sample { now_ns: 400, used_pages: 7, ..Sample::default() });
        let found: Vec<_> = rows.try_iter().map(|row| (row.start_ns, row.used_pages_end)).collect();
        assert_eq!(found, [(200, 7)]);
    }

    #[test]
    fn work_that_lasts_is_shared_out_among_its_intervals() {
        let (mut series, rows) = series(Some(100));
        // Two units have worked since 30; one of them ends at 250, the other at 320.
        at(&mut series, 30, 250, 0, 2);
        at(&mut series, 250, 320, 440, 1);
        series.end(&Sample { now_ns: 320, gc_busy_ns: 510, ..Sample::default() });
        let found: Vec<_> = rows.try_iter().map(|row| (row.start_ns, row.gc_busy_ns)).collect();
        assert_eq!(found, [(0, 140), (100, 200), (200, 150), (300, 20)]);
    }

    #[test]
    fn neighbours_become_one_and_no_maximum_is_lost() {
        let (mut series, rows) = series(None);
        let mut now_ns = 0;
        for at_row in 0..20_000_u64 {
            at(&mut series, now_ns, at_row * 1_500, 0, 0);
            now_ns = at_row * 1_500;
            series.done(HostOp::Read, if at_row == 7_777 { 99 } else { at_row % 10 }, 0);
        }
        series.end(&Sample { now_ns, ..Sample::default() });
        let found: Vec<_> = rows.try_iter().collect();
        // 30 ms in rows of 8 us.
        assert_eq!(found.len(), 3750);
        assert!(found.iter().all(|row| row.start_ns.is_multiple_of(8_000)));
        assert_eq!(found.iter().map(|row| row.requests_read).sum::<u64>(), 20_000);
        let longest = found.iter().max_by_key(|row| row.latency_read_max_ns);
        let expected = 7_777 * 1_500 / 8_000 * 8_000;
        assert_eq!(
            longest.map(|row| (row.start_ns, row.latency_read_max_ns)),
            Some((expected, Some(99)))
        );
    }
}
