//! Several traces as one, in order of time.

use crate::error::TraceError;
use crate::reader::TraceReader;
use crate::record::Record;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// More traces than this would take gigabytes of buffers.
pub const MERGE_TRACES_MAX: usize = 1024;

/// The options of a merge of traces.
#[derive(Clone, Copy, Debug, Default)]
pub struct MergeOptions {
    /// Every device of every trace gets a number of its own, in order of first appearance.
    /// Otherwise devices of one number are one device.
    pub renumber: bool,
    /// Each trace begins at time 0. Otherwise times are as they are in the traces.
    pub align: bool,
}

/// Records of several traces in order of time; of equal times, in order of the traces.
pub struct Merge {
    traces: Vec<Trace>,
    /// Time of the next record of a trace, and which trace.
    next: BinaryHeap<Reverse<(u64, usize)>>,
    options: MergeOptions,
    devices: u64,
    rows: u64,
    failed: bool,
}

struct Trace {
    reader: TraceReader,
    /// Not in the heap yet, or the record whose time is in the heap.
    head: Option<Record>,
    first_ns: Option<u64>,
    devices: BTreeMap<u64, u64>,
}

/// Merges traces. Each must be in order of time: open it with [`crate::Disorder::Refuse`], or with
/// a window that sorts it.
pub fn merge(readers: Vec<TraceReader>, options: MergeOptions) -> Result<Merge, TraceError> {
    if readers.len() > MERGE_TRACES_MAX {
        let message = format!("{} traces are too many to merge at once", readers.len());
        return Err(TraceError::new("(merge)", message)
            .help(format!("merge at most {MERGE_TRACES_MAX} at a time, then merge the results")));
    }
    let trace = |reader| Trace { reader, head: None, first_ns: None, devices: BTreeMap::new() };
    let mut merge = Merge {
        traces: readers.into_iter().map(trace).collect(),
        next: BinaryHeap::new(),
        options,
        devices: 0,
        rows: 0,
        failed: false,
    };
    for index in 0..merge.traces.len() {
        merge.advance(index)?;
    }
    Ok(merge)
}

impl Merge {
    /// Number of lines so far that could not be parsed, in all traces.
    pub fn bad_rows(&self) -> u64 {
        self.traces.iter().map(|trace| trace.reader.bad_rows()).sum()
    }

    /// Takes the next record of a trace into the heap.
    fn advance(&mut self, index: usize) -> Result<(), TraceError> {
        let trace = &mut self.traces[index];
        let Some(record) = trace.reader.next() else { return Ok(()) };
        let mut record = record?;
        if self.options.align {
            let first_ns = *trace.first_ns.get_or_insert(record.at_ns);
            record.at_ns = record.at_ns.saturating_sub(first_ns);
        }
        trace.head = Some(record);
        self.next.push(Reverse((record.at_ns, index)));
        Ok(())
    }

    fn take(&mut self) -> Result<Option<Record>, TraceError> {
        let Some(Reverse((_, index))) = self.next.pop() else { return Ok(None) };
        let trace = &mut self.traces[index];
        let Some(mut record) = trace.head.take() else { return Ok(None) };
        if self.options.renumber {
            let devices = &mut self.devices;
            record.device = *trace.devices.entry(record.device).or_insert_with(|| {
                *devices += 1;
                *devices - 1
            });
        }
        self.rows += 1;
        record.line = self.rows;
        self.advance(index)?;
        Ok(Some(record))
    }
}

impl Iterator for Merge {
    type Item = Result<Record, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let record = self.take().transpose();
        self.failed = matches!(record, Some(Err(_)));
        record
    }
}
