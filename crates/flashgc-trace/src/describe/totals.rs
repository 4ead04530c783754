//! Rows and bytes by operation.

use crate::record::{Op, Record};
use serde::Serialize;

/// The writes of a placement hint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HintInfo {
    /// The hint.
    pub hint: u8,
    /// Its writes.
    pub writes: u64,
    /// Bytes that they write.
    pub written_bytes: u64,
}

/// Counts writes and their bytes by placement hint.
#[derive(Clone)]
pub struct HintCounts(Box<[(u64, u64); 256]>);

impl Default for HintCounts {
    fn default() -> Self {
        HintCounts(Box::new([(0, 0); 256]))
    }
}

impl HintCounts {
    /// A write with this hint.
    #[inline]
    pub fn add(&mut self, hint: u8, size_bytes: u64) {
        let (writes, bytes) = &mut self.0[usize::from(hint)];
        *writes += 1;
        *bytes = bytes.saturating_add(size_bytes);
    }

    /// The hints that writes have, where one has any but 0.
    pub fn info(&self) -> Option<Vec<HintInfo>> {
        let of = |(hint, &(writes, written_bytes))| HintInfo { hint, writes, written_bytes };
        let some = (0..=u8::MAX).zip(&*self.0).filter(|(_, (writes, _))| *writes > 0);
        let some: Vec<HintInfo> = some.map(of).collect();
        some.iter().any(|of| of.hint > 0).then_some(some)
    }
}

/// The counts of every pass over a trace.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) rows: u64,
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) trims: u64,
    pub(super) others: u64,
    pub(super) high: u64,
    pub(super) flushes: u64,
    pub(super) fua: u64,
    pub(super) by_hint: HintCounts,
    pub(super) read_bytes: u64,
    pub(super) written_bytes: u64,
    pub(super) span_ns: Option<(u64, u64)>,
}

impl Totals {
    #[inline]
    pub(super) fn add(&mut self, record: &Record) {
        self.rows += 1;
        self.high += u64::from(record.marks.is_high());
        let (first, last) = self.span_ns.unwrap_or((record.at_ns, record.at_ns));
        self.span_ns = Some((first.min(record.at_ns), last.max(record.at_ns)));
        match record.op {
            Op::Read => {
                self.reads += 1;
                self.read_bytes = self.read_bytes.saturating_add(record.size_bytes);
            }
            Op::Write => {
                self.writes += 1;
                self.fua += u64::from(record.marks.is_fua());
                self.written_bytes = self.written_bytes.saturating_add(record.size_bytes);
                self.by_hint.add(record.marks.hint(), record.size_bytes);
            }
            Op::Trim => self.trims += 1,
            Op::Other if record.is_flush() => self.flushes += 1,
            Op::Other => self.others += 1,
        }
    }
}

/// A share or a mean; `None` of nothing.
pub(super) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
