//! The limits of a queue: requests and bytes per time.

use flashgc_config::Reader;
use flashgc_model::plan::Limit;

/// The most that is admitted from the queue.
pub fn read(table: &Reader<'_>) -> Option<Limit> {
    let iops = table.u64("limit_iops", 1..=1_000_000_000);
    let rate = table.rate("limit_rate");
    if rate.is_some_and(|rate| rate.is_zero()) {
        table.error("limit_rate", "a limit must be finite", "write for example \"100 MB/s\"");
        return None;
    }
    Some(Limit { iops, ns_per_bytes: rate.map(|rate| rate.ns_per_byte()) })
}
