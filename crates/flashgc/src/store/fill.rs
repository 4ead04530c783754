//! Filling a drive by the requests of a trace, untimed.

use super::untimed::{Untimed, UntimedError};
use crate::ids::Lpn;
use crate::verify::Watch;
use crate::workload::trace_fill::{FillRequest, Pass, TraceFill};
use crate::workload::trace_reads::{MappedReads, TraceReads};
use serde::{Deserialize, Serialize};

/// The extent to which a trace has filled the drive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceFilled {
    /// Pages written because the trace reads them.
    pub read_pages: u64,
    /// Pages written because the trace writes them.
    pub write_pages: u64,
    /// Pages written by shifted requests.
    pub shifted_pages: u64,
}

impl TraceFilled {
    /// All pages written.
    pub fn pages(&self) -> u64 {
        self.read_pages + self.write_pages + self.shifted_pages
    }
}

/// The state of a fill by a trace between two slices.
#[derive(Clone, Copy, Debug, Default)]
pub struct FillState {
    /// Results of the fill until now.
    pub filled: TraceFilled,
    /// User pages that hold data.
    pub written: u32,
    /// No page below this one is without data.
    lowest: u32,
}

impl<W: Watch> Untimed<'_, W> {
    /// Writes requests of the trace until about `budget` pages were written; returns whether every
    /// user page has been written.
    ///
    /// A shifted request goes to its shifted pages, modulo the user pages, as far as they were
    /// never written; where all of them were, it goes to the lowest page that never was. So each
    /// writes at least one new page, and the fill ends.
    pub fn fill_by_trace(
        &mut self,
        source: &mut TraceFill,
        state: &mut FillState,
        budget: u64,
    ) -> Result<bool, UntimedError> {
        let exported = self.cx.plan.geometry.exported_pages;
        let before = state.filled.pages();
        while state.filled.pages() - before < budget {
            let FillRequest { pass, first, pages, hint } = source.next_request()?;
            let Pass::Shifted(by) = pass else {
                for lpn in first..first + pages {
                    state.written += u32::from(self.is_unwritten(lpn));
                    self.write(Lpn(lpn), hint)?;
                }
                match pass {
                    Pass::Reads => state.filled.read_pages += u64::from(pages),
                    _ => state.filled.write_pages += u64::from(pages),
                }
                continue;
            };
            if state.written == exported {
                return Ok(true);
            }
            let shifted = ((u64::from(first) + by) % u64::from(exported)) as u32;
            if self.fill_gaps(state, shifted, pages, hint)? == 0 {
                while !self.is_unwritten(state.lowest) {
                    state.lowest += 1;
                }
                self.fill_gaps(state, state.lowest, pages, hint)?;
            }
        }
        Ok(false)
    }

    /// Maps the pages that the next `requests` requests of the trace read and find without data, a
    /// page each; returns whether the trace has ended.
    pub fn map_reads(
        &mut self,
        source: &mut TraceReads,
        reads: &mut MappedReads,
        requests: u64,
    ) -> Result<bool, UntimedError> {
        for _ in 0..requests {
            let Some(request) = source.next_request()? else { return Ok(true) };
            let mut mapped = 0;
            for lpn in reads.pages_required(&request) {
                if self.is_unwritten(lpn) {
                    self.write(Lpn(lpn), 0)?;
                    mapped += 1;
                }
            }
            reads.pages += mapped;
        }
        Ok(false)
    }

    fn is_unwritten(&self, lpn: u32) -> bool {
        !self.store.ftl.map.ppn_of(Lpn(lpn)).is_some()
    }

    /// Writes the pages among these that were never written, around the end of the drive.
    fn fill_gaps(
        &mut self,
        state: &mut FillState,
        first: u32,
        pages: u32,
        hint: u8,
    ) -> Result<u32, UntimedError> {
        let exported = self.cx.plan.geometry.exported_pages;
        let mut lpn = first;
        let mut count = 0;
        for _ in 0..pages.min(exported) {
            if self.is_unwritten(lpn) {
                self.write(Lpn(lpn), hint)?;
                count += 1;
            }
            lpn = if lpn + 1 < exported { lpn + 1 } else { 0 };
        }
        state.written += count;
        state.filled.shifted_pages += u64::from(count);
        Ok(count)
    }
}
