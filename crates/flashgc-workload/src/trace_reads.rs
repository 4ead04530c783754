//! A trace from its beginning to its end, once and untimed: which pages does it read?
//!
//! SSDSim walks its trace before the run (`pre_process_page`) and maps every page that is read, so
//! that no read meets a page without data.

use super::layout::Layout;
use super::records::Trace;
use super::replay::Replay;
use super::{HostOp, HostRequest, Source, SourceError};

/// The requests of a trace in their order.
pub struct TraceReads {
    trace: Trace,
    replay: Replay,
}

impl TraceReads {
    /// From the beginning of the trace.
    pub fn new(mut trace: Trace, layout: Layout, page_bytes: u64) -> Result<Self, SourceError> {
        let replay = Replay::new(&mut trace, layout, page_bytes, 1.0)?;
        Ok(TraceReads { trace, replay })
    }

    /// The next request, or `None` at the end of the trace.
    pub fn next_request(&mut self) -> Result<Option<HostRequest>, SourceError> {
        self.replay.next()
    }

    /// Returns the trace and its layout.
    pub fn into_parts(self) -> (Trace, Layout) {
        (self.trace, self.replay.into_layout())
    }
}

/// The pages that a trace reads and that hold data before the run.
#[derive(Clone, Debug, Default)]
pub struct MappedReads {
    /// Pages that were mapped.
    pub pages: u64,
    /// Pages that the trace has written or trimmed by now, a bit each; empty where it makes no
    /// difference.
    changed: Vec<u64>,
}

impl MappedReads {
    /// None of the drive's pages yet. Pages that the trace itself has written or trimmed before it
    /// reads them need no data, unless `all` are to have some.
    pub fn new(exported_pages: u32, all: bool) -> Self {
        let words = if all { 0 } else { (exported_pages as usize).div_ceil(64) };
        MappedReads { pages: 0, changed: vec![0; words] }
    }

    /// The pages of a request that must hold data before the run, as far as the trace shows until
    /// now. They may be mapped already.
    pub fn pages_required(&mut self, request: &HostRequest) -> impl Iterator<Item = u32> + '_ {
        let HostRequest { op, head_partial, tail_partial, .. } = *request;
        let (mut first, mut end) = (request.first.0, request.first.0 + request.pages);
        if op == HostOp::Trim {
            // Pages that are trimmed only in part keep their data.
            first += u32::from(head_partial);
            end = end.saturating_sub(u32::from(tail_partial)).max(first);
        }
        let is_read = op == HostOp::Read;
        if !is_read && !self.changed.is_empty() {
            (first..end).for_each(|lpn| self.changed[lpn as usize / 64] |= 1 << (lpn % 64));
        }
        let changed = &self.changed;
        let is_changed = |lpn: u32| {
            changed.get(lpn as usize / 64).is_some_and(|word| word >> (lpn % 64) & 1 == 1)
        };
        (first..end).filter(move |&lpn| is_read && !is_changed(lpn))
    }
}
