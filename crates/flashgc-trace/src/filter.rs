//! The selection of records of a trace.

use crate::record::Record;

/// Selects records. The default keeps all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only these devices.
    pub devices: Option<Vec<u64>>,
    /// Only from this time on, counted from the first record of the trace.
    pub start_ns: Option<u64>,
    /// Only for this long, from `start_ns` on; the end itself is out.
    pub length_ns: Option<u64>,
    /// Only from this row of the trace on; 0 is the first one. Rows count in the order in which
    /// they are given out, before any other condition.
    pub first_row: Option<u64>,
    /// The largest number of records.
    pub rows: Option<u64>,
}

/// The fate of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Keep,
    Drop,
    /// It is out, and so is everything behind it.
    Stop,
}

/// A filter while a trace is read.
pub(crate) struct Sieve {
    filter: Filter,
    takes_all: bool,
    first_ns: Option<u64>,
    /// Rows judged so far.
    seen: u64,
    kept: u64,
    /// Times never go back, so that the end of the span ends the reading.
    ordered: bool,
}

impl Sieve {
    pub(crate) fn new(mut filter: Filter, ordered: bool) -> Self {
        let takes_all = filter == Filter::default();
        if let Some(devices) = &mut filter.devices {
            devices.sort_unstable();
        }
        Sieve { filter, takes_all, first_ns: None, seen: 0, kept: 0, ordered }
    }

    /// `passed` rows were passed over unread.
    #[inline]
    pub(crate) fn judge(&mut self, record: &Record, passed: u64) -> Fate {
        if self.takes_all {
            return Fate::Keep;
        }
        self.judge_by_filter(record, passed)
    }

    fn judge_by_filter(&mut self, record: &Record, passed: u64) -> Fate {
        self.seen += 1;
        let first_ns = *self.first_ns.get_or_insert(record.at_ns);
        let start_ns = self.filter.start_ns.unwrap_or(0);
        let since_ns = record.at_ns.saturating_sub(first_ns);
        if since_ns < start_ns {
            return Fate::Drop;
        }
        if self.filter.first_row.is_some_and(|first_row| self.seen + passed <= first_row) {
            return Fate::Drop;
        }
        if self.filter.length_ns.is_some_and(|length_ns| since_ns - start_ns >= length_ns) {
            return if self.ordered { Fate::Stop } else { Fate::Drop };
        }
        if let Some(devices) = &self.filter.devices
            && devices.binary_search(&record.device).is_err()
        {
            return Fate::Drop;
        }
        if self.filter.rows.is_some_and(|rows| self.kept >= rows) {
            return Fate::Stop;
        }
        self.kept += 1;
        Fate::Keep
    }

    /// True if no further record can be kept, so that no further line need be read.
    pub(crate) fn is_full(&self) -> bool {
        self.filter.rows.is_some_and(|rows| self.kept >= rows)
    }
}
