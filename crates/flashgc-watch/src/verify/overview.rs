//! Records a run over time where no watcher of operations is active. It needs facts about requests,
//! blocks and collections, and none about operations, so it costs little.

use super::attended::Attended;
use super::blame::Parts;
use super::{Happened, Watch};
use crate::stats::over_time::OverTime;
use crate::stats::series::{Sample, Series};

/// Records a run over time, and the requests of others that are done, if that was requested.
#[derive(Default)]
pub struct Overview {
    /// The run over time.
    pub over_time: Option<Box<OverTime>>,
    /// The requests of others.
    pub attended: Option<Box<Attended>>,
}

impl Clone for Overview {
    /// Callers check [`Overview::is_copied`] first: a copy has no rows of the run over time.
    fn clone(&self) -> Self {
        Overview { over_time: None, attended: self.attended.clone() }
    }
}

impl Overview {
    /// Whether it can be copied: a run over time cannot.
    pub fn is_copied(&self) -> bool {
        self.over_time.is_none()
    }

    /// Whether an interval ends before this instant.
    #[inline]
    pub fn looks_before(&self, to_ns: u64) -> bool {
        self.over_time.as_ref().is_some_and(|over_time| over_time.series.ends_before(to_ns))
    }

    /// Time advances to this instant.
    pub fn look(&mut self, to_ns: u64, sample: &Sample) {
        if let Some(over_time) = &mut self.over_time {
            over_time.series.goes_on(to_ns, sample);
        }
    }

    /// Something happened. The parts of the latency of a request that is done are those of this
    /// function.
    #[inline(always)]
    pub fn observe(
        &mut self,
        now_ns: u64,
        happened: Happened,
        parts_of: impl FnOnce(u32) -> Option<Parts>,
    ) {
        if let Some(attended) = &mut self.attended {
            match happened {
                Happened::Arrived { request, job, size_bytes, .. } => {
                    attended.arrived(request, job, size_bytes, now_ns);
                }
                Happened::Served { request, job, op, latency_ns, .. } => {
                    let (own, parts) = ((request, job), parts_of(request));
                    attended.served(own, (op, latency_ns), now_ns, parts);
                }
                _ => {}
            }
        }
        let Some(over_time) = &mut self.over_time else { return };
        match happened {
            Happened::JobClosed(row) => over_time.collected(row.moved),
            Happened::Erased { block } => over_time.erased(block),
            other => pass_to_series(&mut over_time.series, other),
        }
    }
}

/// Passes the events of a series on.
#[inline(always)]
pub(super) fn pass_to_series(series: &mut Series, happened: Happened) {
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

    fn needs_names(&self) -> bool {
        false
    }

    fn needs_copies(&self) -> bool {
        false
    }

    #[inline]
    fn needs_rows(&self) -> bool {
        self.over_time.is_some()
    }

    #[inline(always)]
    fn observe(&mut self, now_ns: u64, happened: Happened) {
        self.observe(now_ns, happened, |_| None);
    }

    #[inline(always)]
    fn looks_before(&self, to_ns: u64) -> bool {
        self.looks_before(to_ns)
    }

    fn look(&mut self, to_ns: u64, sample: &Sample) {
        self.look(to_ns, sample);
    }

    fn over_time(&mut self) -> Option<OverTime> {
        self.over_time.take().map(|over_time| *over_time)
    }

    fn attended(&mut self) -> Option<&mut Attended> {
        self.attended.as_deref_mut()
    }
}
