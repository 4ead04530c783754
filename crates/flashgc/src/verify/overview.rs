//! Records a run over time while nothing else is watched. It needs facts about requests, blocks
//! and collections, and none about operations, so it costs little.

use super::blame::Blame;
use super::{Happened, Watch};
use crate::stats::over_time::OverTime;
use crate::stats::series::{Sample, Series};

/// Records a run over time, if that was requested.
#[derive(Default)]
pub struct Overview(pub Option<Box<OverTime>>);

impl Overview {
    /// Whether an interval ends before this instant.
    #[inline]
    pub fn looks_before(&self, to_ns: u64) -> bool {
        self.0.as_ref().is_some_and(|over_time| over_time.series.ends_before(to_ns))
    }

    /// Time advances to this instant.
    pub fn look(&mut self, to_ns: u64, sample: &Sample) {
        if let Some(over_time) = &mut self.0 {
            over_time.series.goes_on(to_ns, sample);
        }
    }

    /// Something happened.
    #[inline(always)]
    pub fn see(&mut self, happened: Happened) {
        let Some(over_time) = &mut self.0 else { return };
        match happened {
            Happened::JobClosed(row) => {
                over_time.collected(row.moved);
                over_time.erased(row.plane, row.victim, row.blocks);
            }
            other => tell_series(&mut over_time.series, other),
        }
    }
}

/// Passes on what a series needs.
#[inline(always)]
pub(super) fn tell_series(series: &mut Series, happened: Happened) {
    match happened {
        Happened::MeasuringStarts => series.begin(),
        Happened::FreeBlocks { blocks, .. } => series.plane_begins(blocks),
        Happened::Arrived { outstanding, .. } => series.arrived(outstanding),
        Happened::Served { op, latency_ns, outstanding, .. } => {
            series.done(op, latency_ns, outstanding);
        }
        Happened::Opened { block } => series.opened(block),
        Happened::Erased { block } => series.erased(block),
        Happened::JobClosed(_) => series.job_closed(),
        _ => {}
    }
}

impl Watch for Overview {
    const OPERATIONS: bool = false;
    const NAMES: bool = false;
    const COPIES: bool = false;

    #[inline]
    fn needs_rows(&self) -> bool {
        self.0.is_some()
    }

    #[inline(always)]
    fn see(&mut self, _now_ns: u64, happened: Happened) {
        self.see(happened);
    }

    #[inline(always)]
    fn looks_before(&self, to_ns: u64) -> bool {
        self.looks_before(to_ns)
    }

    fn look(&mut self, to_ns: u64, sample: &Sample) {
        self.look(to_ns, sample);
    }

    fn over_time(&mut self) -> Option<OverTime> {
        self.0.take().map(|over_time| *over_time)
    }
}

/// Splits latencies into their parts, and records the run over time if that was requested.
pub struct Blamed {
    /// Splits the latencies.
    pub blame: Blame,
    /// Records the run.
    pub overview: Overview,
}

impl Watch for Blamed {
    const NAMES: bool = Blame::NAMES;
    const COPIES: bool = Blame::COPIES;

    fn blame(&self) -> Option<&Blame> {
        Some(&self.blame)
    }

    #[inline(always)]
    fn see(&mut self, now_ns: u64, happened: Happened) {
        self.blame.see(now_ns, happened);
        self.overview.see(happened);
    }

    #[inline(always)]
    fn looks_before(&self, to_ns: u64) -> bool {
        self.overview.looks_before(to_ns)
    }

    fn look(&mut self, to_ns: u64, sample: &Sample) {
        self.overview.look(to_ns, sample);
    }

    fn over_time(&mut self) -> Option<OverTime> {
        self.overview.0.take().map(|over_time| *over_time)
    }
}
