//! The counters of a run.

pub mod batches;
mod by_kind;
pub mod free_blocks;
pub mod histogram;
pub mod intervals;
pub mod latency;
pub mod over_time;
pub mod series;
mod since;
pub mod steady;
pub mod tail;

pub use batches::{Batches, Sums};
pub use by_kind::ByKind;
pub use histogram::{Buckets, Histogram};
pub use latency::Latency;
pub use over_time::{ErasesByPlace, OverTime, RunOverTime, Stretch};
pub use series::{SERIES_ROWS_MAX, Series, SeriesRequest, SeriesRow, SeriesSink};

/// Counters of the measured part.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// Requests done: reads, writes, trims.
    pub requests: [u64; 3],
    /// Bytes read and written by requests that are done.
    pub bytes: [u64; 2],
    /// Pages read at the interface.
    pub host_read: u64,
    /// Pages written at the interface.
    pub host_written: u64,
    /// Pages of trims.
    pub host_trimmed: u64,
    /// Reads of pages that were never written: no flash is touched.
    pub unwritten_read: u64,
    /// Reads of the rest of a page that is written in part.
    pub rest_read: u64,
    /// Array reads for the host that ended.
    pub array_reads: u64,
    /// Array programs for the host that ended.
    pub array_programs: u64,
    /// Flushes of the write buffer that ended; they are among `array_programs`.
    pub flushed: u64,
    /// Pages that the write buffer served: reads, and writes of a page that was there.
    pub buffer_hits: [u64; 2],
    /// Writes of a page that found the write buffer full.
    pub buffer_stalls: u64,
    /// Copies that ended.
    pub gc_moved: u64,
    /// Copies whose page was rewritten or trimmed before they ended.
    pub wasted_copies: u64,
    /// Pages of summaries programmed.
    pub overhead: u64,
    /// Slots programmed that hold no data.
    pub padded: u64,
    /// Blocks erased.
    pub erases: u64,
    /// Erase operations.
    pub erase_operations: u64,
    /// Collections that ended.
    pub jobs: u64,
    /// Collections among them that the idle trigger began.
    pub idle_collections: u64,
    /// Collections among them of blocks that were read often.
    pub read_reclaims: u64,
    /// Victims that were on no list of the trigger `used-space`.
    pub fallbacks: u64,
    /// Reads that waited for a block under collection, where single blocks are blocked.
    pub blocked: u64,
    /// Victim blocks of collections that ended.
    pub victim_blocks: u64,
    /// Their valid pages at selection.
    pub victim_valid: u64,
    /// Victim blocks of collections that ended, by their valid pages at selection.
    pub victims_by_valid: Vec<u64>,
    /// Copies from the neighbours of victims, of collections that ended.
    pub neighbours_moved: u64,
    /// Copies of collections that ended.
    pub moved_in_jobs: u64,
    /// Steps in which they were made: several copies in parallel are one step.
    pub copy_steps: u64,
    /// Pages freed: erased less moved.
    pub reclaimed_pages: u64,
    /// Victims chosen.
    pub selections: u64,
    /// Erased pages of the plane at each choice, added up.
    pub erased_pages_at_selection: u64,
    /// Array time of collections, in ns.
    pub gc_busy_ns: u64,
    /// The part of it for collections that had not ended, in ns.
    pub gc_busy_open_ns: u64,
    /// From choice to end of erase, in ns, over collections that ended.
    pub gc_elapsed_ns: u64,
    /// Time in which a domain was blocked for the host, in ns.
    pub gc_blocking_ns: u64,
    /// Times that the host preempted a collection.
    pub preempted: u64,
    /// Operations of collections that were suspended.
    pub suspended: u64,
    /// Host reads that were answered from a register of a collection.
    pub merged_reads: u64,
    /// Host writes that were merged into a program of a collection.
    pub merged_writes: u64,
    /// Host reads whose transfer overlapped a read of a collection.
    pub pipelined_reads: u64,
    /// Host writes that were loaded during a program of a collection.
    pub pipelined_writes: u64,
    /// Reads and programs of the host that began in parallel with another one: cache operations.
    pub cached: [u64; 2],
    /// Times that a program of the host was suspended for a read.
    pub programs_suspended: u64,
    /// Host writes that found no page when they were served, where the host preempts collections.
    pub exhausted: u64,
    /// The longest that a host operation waited because of a collection alone, in ns.
    pub gc_wait_max_ns: u64,
    /// The longest from the start of such a wait to the end of the operation, in ns.
    pub gc_response_max_ns: u64,
    /// Steps of collections that ended whose pages were read, where reads and programs are
    /// separate.
    pub read_steps: u64,
    /// Programs of collections that ended, with merged writes only.
    pub merged_programs: u64,
    /// Array time of suspending, resuming and discarded reads, over collections that ended, in ns.
    pub gc_extra_ns: u64,
    /// Pages that moved before any collection.
    pub background_moved: u64,
    /// Pages among them that the host rewrote or discarded before their victim was collected.
    pub background_wasted: u64,
    /// Times that a plane began pre-migration, at most once from one request to the next.
    pub background_calls: u64,
    /// Victims from which pages moved before their collection.
    pub background_victims: u64,
    /// Array time of moving pages before their collection, in ns.
    pub background_busy_ns: u64,
    /// Time slices of collections, where they have any.
    pub time_slices: u64,
    /// The longest that a host operation waited for a collection above its floor, in ns.
    pub stall_max_ns: u64,
    /// Time in which collections below their floor ran without a pause, in ns over all units.
    pub below_floor_ns: u64,
    /// Copies of paced collections that no write of the host had paid for.
    pub unpaid_copies: u64,
    /// Most paid copies between two pages that the host wrote in a unit.
    pub copies_between_writes_max: u64,
    /// Fewest erased pages that the drive had.
    pub free_pages_min: u64,
    /// Flash pages that were read and corrected, by their retries: for the host, and for
    /// collection.
    pub retries: [Vec<u64>; 2],
    /// Pages of victims that were retired: `reclaimed_pages` has them, and nothing was won.
    pub retired_pages: u64,
    /// Programs that failed.
    pub program_failures: u64,
    /// Erases that failed.
    pub erase_failures: u64,
}

impl Counters {
    /// Array time of all collection: collections, and the background work before them, in ns.
    pub fn collecting_ns(&self) -> u64 {
        self.gc_busy_ns + self.background_busy_ns
    }

    /// Pages that collections have won: erased less moved.
    pub fn pages_won(&self) -> u64 {
        self.reclaimed_pages.saturating_sub(self.retired_pages)
    }

    /// Counts a victim block of a collection that ended.
    #[inline]
    pub fn add_victim(&mut self, valid: u32) {
        count_at(&mut self.victims_by_valid, valid as usize);
    }

    /// Counts a flash page that was read and corrected with this number of retries.
    pub fn add_retries(&mut self, for_gc: bool, retries: u8) {
        count_at(&mut self.retries[usize::from(for_gc)], retries.into());
    }
}

/// Counts one at this place of a row that grows.
fn count_at(counts: &mut Vec<u64>, at: usize) {
    if counts.len() <= at {
        counts.resize(at + 1, 0);
    }
    counts[at] += 1;
}

/// Mean, extremes and spread of a row of whole numbers.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Smallest.
    pub min: u64,
    /// Largest.
    pub max: u64,
    /// Standard deviation of the population.
    pub stddev: f64,
}

impl Spread {
    /// Over these numbers.
    pub fn of(numbers: impl Iterator<Item = u32>) -> Spread {
        let (mut count, mut sum, mut squares) = (0u64, 0u128, 0u128);
        let (mut min, mut max) = (u64::MAX, 0);
        for number in numbers {
            let number = u64::from(number);
            count += 1;
            sum += u128::from(number);
            squares += u128::from(number * number);
            min = min.min(number);
            max = max.max(number);
        }
        if count == 0 {
            return Spread::default();
        }
        Spread { mean: sum as f64 / count as f64, min, max, stddev: stddev(count, sum, squares) }
    }
}

/// The population's standard deviation from exact sums.
pub fn stddev(count: u64, sum: u128, squares: u128) -> f64 {
    if count == 0 {
        return 0.0;
    }
    let count = u128::from(count);
    // count^2 times the variance, in whole numbers where it fits: no cancellation.
    match (count.checked_mul(squares), sum.checked_mul(sum)) {
        (Some(all), Some(square)) => libm::sqrt((all - square) as f64) / count as f64,
        _ => {
            let mean = sum as f64 / count as f64;
            libm::sqrt((squares as f64 / count as f64 - mean * mean).max(0.0))
        }
    }
}
