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

/// Writes and their bytes by placement hint.
struct ByHint(Box<[(u64, u64); 256]>);

impl Default for ByHint {
    fn default() -> Self {
        ByHint(Box::new([(0, 0); 256]))
    }
}

/// What every pass over a trace counts.
#[derive(Default)]
pub(super) struct Totals {
    pub(super) rows: u64,
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) trims: u64,
    pub(super) others: u64,
    pub(super) high: u64,
    by_hint: ByHint,
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
                self.written_bytes = self.written_bytes.saturating_add(record.size_bytes);
                let (writes, bytes) = &mut self.by_hint.0[usize::from(record.marks.hint())];
                *writes += 1;
                *bytes = bytes.saturating_add(record.size_bytes);
            }
            Op::Trim => self.trims += 1,
            Op::Other => self.others += 1,
        }
    }

    /// The hints that writes have, where one has any.
    pub(super) fn hints(&self) -> Option<Vec<HintInfo>> {
        let named = (0..=u8::MAX).zip(&*self.by_hint.0).filter(|(_, (writes, _))| *writes > 0);
        let some: Vec<HintInfo> = named
            .map(|(hint, &(writes, written_bytes))| HintInfo { hint, writes, written_bytes })
            .collect();
        some.iter().any(|of| of.hint > 0).then_some(some)
    }
}

/// A share or a mean; `None` of nothing.
pub(super) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
