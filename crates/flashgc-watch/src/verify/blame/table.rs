//! The parts of all requests of one kind: their sums, by bucket of the histogram of latencies.

use super::parts::{PARTS, Part, Parts};
use crate::stats::{Buckets, Histogram, Latency};
use serde_json::{Map, Value, json};

/// The percentiles that are split, with their keys, in parts of 10,000.
const PERCENTILES: [(&str, u64); 4] =
    [("p50", 5_000), ("p99", 9_900), ("p99_9", 9_990), ("p99_99", 9_999)];

/// The parts that most requests have. Aligned, so that they lie in one line of the cache.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Row([u64; COMMON]);

/// Number of these parts: all but the last one.
const COMMON: usize = PARTS - 1;

/// Sums of parts.
#[derive(Clone)]
pub(super) struct Table {
    rows: Buckets<Row>,
    /// The waits for the write buffer, which most devices do not have.
    buffer: Buckets<u64>,
    /// The part of service that retries of reads take, where there are any.
    retries: Option<Box<Buckets<u64>>>,
    /// The request that was done last, with its place. It is added when the next one is done, since
    /// its row takes that long to come from memory.
    last: Option<(usize, Parts)>,
}

impl Default for Table {
    fn default() -> Self {
        let rows = Buckets::new(Row::default());
        Table { rows, buffer: Buckets::new(0), retries: None, last: None }
    }
}

impl Table {
    /// A request is done.
    #[inline(always)]
    pub(super) fn add(&mut self, parts: &Parts, retries_ns: u64, latency_ns: u64) {
        self.add_last();
        let place = Histogram::place_of(latency_ns);
        if retries_ns > 0 {
            self.add_retries(place, retries_ns);
        }
        self.rows.prefetch(place);
        self.last = Some((place, *parts));
    }

    #[cold]
    #[inline(never)]
    fn add_retries(&mut self, place: usize, ns: u64) {
        *self.retries.get_or_insert_with(|| Box::new(Buckets::new(0))).at(place) += ns;
    }

    #[inline(always)]
    fn add_last(&mut self) {
        let Some((place, parts)) = &self.last else { return };
        for (sum, part) in self.rows.at(*place).0.iter_mut().zip(parts) {
            *sum += part;
        }
        let buffer_ns = parts[Part::Buffer as usize];
        if buffer_ns > 0 {
            *self.buffer.at(*place) += buffer_ns;
        }
    }

    fn sums(&self) -> [u128; PARTS] {
        let mut sums = [0; PARTS];
        for (_, row) in self.rows.used() {
            for (sum, &part) in sums.iter_mut().zip(&row.0) {
                *sum += u128::from(part);
            }
        }
        let buffer = self.buffer.used().map(|(_, &ns)| u128::from(ns));
        sums[Part::Buffer as usize] = buffer.sum();
        sums
    }

    /// The sums of a bucket.
    fn row(&self, place: usize) -> Parts {
        let mut parts = [self.buffer.get(place); PARTS];
        parts[..COMMON].copy_from_slice(&self.rows.get(place).0);
        parts
    }

    /// The report, with the request that was done last.
    pub(super) fn report(&self, latency: &Latency) -> Value {
        let mut table = self.clone();
        table.add_last();
        table.report_of_all(latency)
    }

    /// The report: the mean parts of all requests; and the parts of each percentile, in proportion
    /// to the parts of the requests that share its bucket.
    fn report_of_all(&self, latency: &Latency) -> Value {
        let mut keys = Map::new();
        let count = latency.count();
        let mut mean = split(&self.sums(), count, |ns| json!(ns as f64 / count as f64));
        if let Some(retries) = &self.retries {
            let ns: u128 = retries.used().map(|(_, &ns)| u128::from(ns)).sum();
            mean["retries_ns"] = json!(ns as f64 / count as f64);
        }
        keys.insert("mean".into(), if count > 0 { mean } else { Value::Null });
        for (key, per_myriad) in PERCENTILES {
            let row = (count > 0).then(|| self.percentile(latency, per_myriad));
            keys.insert(key.into(), row.unwrap_or(Value::Null));
        }
        Value::Object(keys)
    }

    fn percentile(&self, latency: &Latency, per_myriad: u64) -> Value {
        let ns = latency.percentile(per_myriad);
        let place = Histogram::place_of(ns);
        let row = self.row(place);
        let parts = apportioned(ns, &row);
        let mut keys = split(&parts.map(u128::from), latency.count_near(ns), |ns| json!(ns as u64));
        if let Some(retries) = &self.retries {
            let [of_row, service_ns] = [row, parts].map(|parts| parts[Part::Service as usize]);
            let of_service = u128::from(retries.get(place)) * u128::from(service_ns);
            keys["retries_ns"] = json!((of_service / u128::from(of_row.max(1))) as u64);
        }
        keys
    }
}

/// The keys of a split: the sum of the parts of collection, and a table of them.
fn split(parts: &[u128; PARTS], requests: u64, shown: impl Fn(u128) -> Value) -> Value {
    let (mut row, mut collection) = (Map::new(), Map::new());
    let mut collection_ns = 0;
    row.insert("latency_ns".into(), shown(parts.iter().sum()));
    row.insert("requests".into(), json!(requests));
    for (part, &ns) in Part::ALL.into_iter().zip(parts) {
        if part.is_collection() {
            collection_ns += ns;
            collection.insert(part.key().into(), shown(ns));
        } else {
            row.insert(part.key().into(), shown(ns));
        }
    }
    row.insert("collection_ns".into(), shown(collection_ns));
    row.insert("collection".into(), Value::Object(collection));
    Value::Object(row)
}

/// An amount, divided in proportion to these weights: whole numbers whose sum is the amount.
fn apportioned(amount: u64, weights: &Parts) -> Parts {
    let all: u128 = weights.iter().copied().map(u128::from).sum();
    if all == 0 {
        let mut parts = [0; PARTS];
        parts[Part::Service as usize] = amount;
        return parts;
    }
    // Each part ends where the sum of the weights up to it does, rounded down.
    let (mut parts, mut sum, mut end) = ([0; PARTS], 0, 0);
    for (part, &weight) in parts.iter_mut().zip(weights) {
        sum += u128::from(weight);
        let next = (u128::from(amount) * sum / all) as u64;
        (*part, end) = (next - end, next);
    }
    parts
}
