//! Rows and bytes by operation.

use crate::record::{Op, Priority, Record};

/// What every pass over a trace counts.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) rows: u64,
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) trims: u64,
    pub(super) others: u64,
    pub(super) high: u64,
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
    pub(super) span_ns: Option<(u64, u64)>,
}

impl Totals {
    #[inline]
    pub(super) fn add(&mut self, record: &Record) {
        self.rows += 1;
        self.high += u64::from(record.priority == Priority::High);
        let (first, last) = self.span_ns.unwrap_or((record.at_ns, record.at_ns));
        self.span_ns = Some((first.min(record.at_ns), last.max(record.at_ns)));
        match record.op {
            Op::Read => {
                self.reads += 1;
                self.read_bytes = self.read_bytes.saturating_add(record.size_bytes);
            }
            Op::Write => {
                self.writes += 1;
                self.written_bytes = self.written_bytes.saturating_add(record.size_bytes);
            }
            Op::Trim => self.trims += 1,
            Op::Other => self.others += 1,
        }
    }
}

/// A share or a mean; `None` of nothing.
pub(super) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
