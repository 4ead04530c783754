//! Reads a trace once, to count the pages that it touches.

use super::error::RunError;
use super::{SCAN_ROWS, TraceOpener};
use crate::config::{Setup, WorkloadPlan};
use crate::workload::kept::{Keeper, Kept};
use crate::workload::layout::{AddressPolicy, LayoutScan};
use crate::workload::records::reader;
use flashgc_trace::TraceReader;
use std::sync::Arc;

/// The reading of a trace for [`crate::session::fit`], in slices of some 20 ms.
pub struct FitScan {
    reader: TraceReader,
    scan: LayoutScan,
    keeper: Keeper,
    rows: u64,
}

impl FitScan {
    /// Begins to read the trace of a configuration.
    pub fn new(setup: &Setup, opener: &mut dyn TraceOpener) -> Result<FitScan, RunError> {
        let WorkloadPlan::Trace(plan) = &setup.workload else {
            return Err(RunError::new("error: only a trace can size a drive"));
        };
        let page_bytes = u64::from(setup.plan.geometry.shape.page_bytes);
        let scan = LayoutScan::new(AddressPolicy::Compact, page_bytes);
        let reader = reader(opener, &plan.options)?;
        Ok(FitScan { reader, scan, keeper: Keeper::new(&plan.options), rows: 0 })
    }

    /// Reads some rows. Returns the pages that the trace touches once all are read.
    pub fn advance(&mut self) -> Result<Option<u64>, RunError> {
        for _ in 0..SCAN_ROWS {
            let Some(record) = self.reader.next() else {
                return Ok(Some(self.scan.touched_pages()));
            };
            let record = record.map_err(|error| RunError::in_trace(error.to_string()))?;
            self.scan.observe(&record);
            self.keeper.observe(&record);
            self.rows += 1;
        }
        Ok(None)
    }

    /// The records for [`super::Session::has_records`], once all are read.
    pub fn into_kept(self) -> Option<Arc<Kept>> {
        self.keeper.finish(self.reader.bad_rows())
    }

    /// Rows read so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }
}
