//! Preconditioning: the drive is brought to the state in which measuring begins, untimed, through
//! the same translation layer and the same collector.
//!
//! No unit and no bus is kept busy. The age clock advances by the program time over the number of
//! units for each page programmed, so that policies that use ages get sensible ones.

use super::{Sim, SimError, TraceFilled};
use crate::drive::Carried;
use crate::gc::{Batch, Role, Victim};
use crate::ids::{BlockId, Lpn, PlaneId};
use crate::stats::{Batches, Counters};
use crate::verify::{Happened, Watch};
use crate::workload::Overwrites;
use serde::{Deserialize, Serialize};

/// Write amplification is checked this number of times per drive write.
const WINDOWS_PER_DRIVE_WRITE: u64 = 4;
/// Number of windows that must agree.
const STEADY_WINDOWS: usize = 4;
/// With fewer windows a drift cannot be seen.
const STEADY_WINDOWS_MIN: usize = 8;
/// The largest difference that counts as agreement, as a share of the mean.
const STEADY_WITHIN: f64 = 0.01;

/// How far preconditioning has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Preconditioning {
    /// The scheme that was active.
    pub scheme: String,
    /// Pages written by the fill.
    pub filled_pages: u64,
    /// How a trace filled it, where one did.
    pub trace_fill: Option<TraceFilled>,
    /// Invalid pages that ageing caused.
    pub aged_pages: u64,
    /// Pages that were mapped because the trace reads them, where this was requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapped_pages: Option<u64>,
    /// Pages overwritten after it.
    pub overwritten_pages: u64,
    /// The same in drive writes.
    pub drive_writes: f64,
    /// Programs of overwritten pages, and copies since the fill.
    pub programmed_pages: u64,
    /// Write amplification of the whole overwriting.
    pub write_amplification: Option<f64>,
    /// Write amplification of its quarters, where pages were overwritten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub write_amplification_quarters: Vec<f64>,
    /// How steadiness was found, where it was requested.
    pub steady: Option<Steady>,
    /// The state that the run's scheme could not take over as it was.
    pub carried: Carried,
}

/// Steadiness of write amplification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Steady {
    /// Whether it was reached.
    pub reached: bool,
    /// Write amplification of the last windows, each a quarter of a drive write.
    pub windows: Vec<f64>,
    /// In words, for people.
    pub how: String,
}

/// The measurements while a drive is overwritten until it is steady.
#[derive(Clone, Debug, Default)]
pub struct SteadyWatch {
    windows: Vec<f64>,
    written: u64,
    moved: u64,
}

impl SteadyWatch {
    /// Starts from a drive on which `moved` copies were made already.
    pub fn since(moved: u64) -> Self {
        SteadyWatch { moved, ..SteadyWatch::default() }
    }

    /// Adds a window; returns whether write amplification is steady.
    ///
    /// The last windows must agree, and the second half of all windows must agree with the quarter
    /// before it: a slow drift, as of hot and cold data that part over tens of drive writes, moves
    /// too little between neighbours to be seen there.
    fn add(&mut self, written: u64, moved: u64) -> bool {
        let (pages, copies) = (written - self.written, moved - self.moved);
        (self.written, self.moved) = (written, moved);
        self.windows.push((pages + copies) as f64 / pages as f64);
        let Some(last) = self.last().filter(|_| self.windows.len() >= STEADY_WINDOWS_MIN) else {
            return false;
        };
        let recent = mean(last);
        let reach = last.iter().fold(0.0f64, |far, w| far.max((w - recent).abs()));
        let count = self.windows.len();
        let (before, since) = (&self.windows[count / 4..count / 2], &self.windows[count / 2..]);
        let drift = (mean(since) - mean(before)).abs();
        // With a window without copies the drive is not steady: collection may not have begun.
        let collects = self.windows[count / 4..].iter().all(|&w| w > 1.0);
        collects && reach <= STEADY_WITHIN * recent && drift <= STEADY_WITHIN * mean(since)
    }

    fn last(&self) -> Option<&[f64]> {
        self.windows.len().checked_sub(STEADY_WINDOWS).map(|first| &self.windows[first..])
    }

    /// The finding in words.
    pub fn report(&self, reached: bool, drive_writes: f64) -> Steady {
        let within = STEADY_WITHIN * 100.0;
        let how = if reached {
            format!(
                "after {drive_writes:.2} drive writes the last {STEADY_WINDOWS} windows of a \
                 quarter drive write lay within {within} % of their mean, and the second half of \
                 the writes within {within} % of the quarter before it"
            )
        } else {
            format!(
                "not steady after {drive_writes:.2} drive writes: the last {STEADY_WINDOWS} \
                 windows of a quarter drive write differ by more than {within} % of their mean, \
                 or the second half of the writes from the quarter before it"
            )
        };
        let windows = self.last().unwrap_or(&self.windows).to_vec();
        Steady { reached, windows, how }
    }
}

fn mean(windows: &[f64]) -> f64 {
    windows.iter().sum::<f64>() / windows.len() as f64
}

impl<W: Watch> Sim<W> {
    /// Writes the user pages `from..to` in order, untimed.
    pub fn fill(&mut self, from: u32, to: u32) -> Result<(), SimError> {
        for lpn in from..to {
            self.write_untimed(Lpn(lpn))?;
        }
        Ok(())
    }

    /// Overwrites `count` pages that the source gives, untimed.
    pub fn overwrite(&mut self, source: &mut dyn Overwrites, count: u64) -> Result<(), SimError> {
        // Addresses are drawn in advance, so that the map's entries are in the cache when needed.
        let mut ahead = [Lpn::NONE; 16];
        let mut left = count;
        self.overwriting_begins();
        while left > 0 {
            let now = left.min(ahead.len() as u64) as usize;
            for lpn in &mut ahead[..now] {
                *lpn = source.next()?;
                self.ftl.map.prefetch(*lpn);
            }
            for lpn in &ahead[..now] {
                self.prefetch_old(*lpn);
            }
            for &lpn in &ahead[..now] {
                self.write_untimed(lpn)?;
            }
            self.note_overwritten(now as u64);
            left -= now as u64;
        }
        Ok(())
    }

    /// A window of overwriting is over: is write amplification steady?
    pub fn is_steady(&self, watch: &mut SteadyWatch, written: u64) -> bool {
        watch.add(written, self.counters.gc_moved)
    }

    /// Pages of one window.
    pub fn steady_window_pages(&self) -> u64 {
        u64::from(self.plan.geometry.exported_pages).div_ceil(WINDOWS_PER_DRIVE_WRITE)
    }

    /// Copies since the drive was made or measuring began.
    pub fn pages_moved(&self) -> u64 {
        self.counters.gc_moved
    }

    #[inline(always)]
    pub(super) fn write_untimed(&mut self, lpn: Lpn) -> Result<(), SimError> {
        let mut plane = self.alloc.plane_for_write(&self.plan, &self.ftl, lpn);
        if !self.ftl.host_has_room(plane) {
            plane = self.make_room_untimed(plane)?;
        }
        self.write_page(plane, lpn, u32::MAX);
        self.tick(1);
        if self.gc.wants[plane.index()] {
            self.collect_untimed(plane);
        }
        if self.gc.keeps_books {
            self.collect_called_untimed();
        }
        Ok(())
    }

    /// Collects until the host has a page in this plane; where writes may go to other planes, in
    /// any plane of the pool.
    #[cold]
    fn make_room_untimed(&mut self, plane: PlaneId) -> Result<PlaneId, SimError> {
        let pool = self.plan.pools.of_plane(plane);
        for at in 0..self.plan.pools.planes(pool).len() {
            let plane = self.plan.pools.planes(pool)[at];
            while !self.ftl.host_has_room(plane) {
                self.gc.want_space(plane, &sight!(self));
                if !self.gc.can_collect(&self.ftl, plane) || !self.collect_one_untimed(plane) {
                    break;
                }
            }
            if self.ftl.host_has_room(plane) {
                return Ok(plane);
            }
        }
        Err(self.full_plane(plane))
    }

    /// Collects, untimed, in the planes that a page of another plane made due for collection.
    #[cold]
    fn collect_called_untimed(&mut self) {
        while let Some(plane) = self.gc.next_untimed() {
            if self.gc.wants[plane.index()] {
                self.collect_untimed(plane);
            }
        }
    }

    /// Collects until the plane has enough, or no page can be freed.
    pub(super) fn collect_untimed(&mut self, plane: PlaneId) {
        let mut listed = match self.plan.gc.trigger.batch {
            Batch::List => self.gc.count_candidates(plane, &sight!(self)),
            Batch::One | Batch::UntilStop => 0,
        };
        while self.goes_on(plane, listed) && self.collect_one_untimed(plane) {
            listed = listed.saturating_sub(self.plan.gc.listed_by(&self.victims));
        }
    }

    /// One collection, untimed. Returns whether there was a victim.
    fn collect_one_untimed(&mut self, plane: PlaneId) -> bool {
        let Some(victim) = self.gc.pick_victim(plane, &sight!(self)) else { return false };
        let mut victims = std::mem::take(&mut self.victims);
        self.claim_victims(plane, victim, &mut victims);
        self.empty_untimed(plane, &victims);
        self.victims = victims;
        true
    }

    /// Moves the valid pages of claimed blocks, and erases these blocks.
    #[inline(always)]
    fn empty_untimed(&mut self, plane: PlaneId, victims: &[Victim]) {
        for &Victim { block, .. } in victims {
            self.list_victim(block);
            self.move_all(plane, block, None);
            self.count_copies(self.scratch.len() as u64, 0);
            self.tick(self.scratch.len() as u64);
        }
        self.erase_victims(plane, victims);
    }

    /// Collects this one sealed block, untimed.
    #[cold]
    pub(super) fn collect_block_untimed(&mut self, plane: PlaneId, block: BlockId) {
        let valid = self.ftl.claim(&self.plan.geometry, block);
        self.pass_on_facts();
        self.empty_untimed(plane, &[Victim { block, valid, role: Role::Victim }]);
    }

    /// The age clock, in units of one page programmed.
    #[inline(always)]
    fn tick(&mut self, pages: u64) {
        self.age_base_ns += pages * self.age_step_ns;
    }

    /// The measured part begins: counters at zero, streams of random numbers from their start.
    pub(super) fn start_counting(&mut self) {
        self.counters = Counters::default();
        self.ftl.frontiers.start_measuring();
        self.batches = Batches::default();
        self.free_pages_begin = self.ftl.frontiers.free_total();
        self.ftl.blocks.start_measuring();
        self.gc.fallbacks = 0;
        for unit in &mut self.units {
            unit.listed = false;
        }
        self.alloc.start_measuring();
        self.ready.clear();
        self.gc.start_measuring(self.plan.seed, &sight!(self));
        self.look_at_called();
        self.tell(Happened::MeasuringStarts);
        self.tell_free_blocks();
    }
}

#[cfg(test)]
mod tests {
    use super::SteadyWatch;

    /// Windows of 1000 pages whose write amplification follows this curve, until it is steady.
    fn windows_until_steady(curve: impl Fn(f64) -> f64) -> usize {
        let mut watch = SteadyWatch::default();
        let mut moved = 0;
        (1..1000)
            .find(|&count| {
                moved += ((curve(count as f64) - 1.0) * 1000.0) as u64;
                watch.add(count * 1000, moved)
            })
            .map_or(1000, |count| count as usize)
    }

    #[test]
    fn a_constant_is_steady_as_soon_as_there_are_windows() {
        assert_eq!(windows_until_steady(|_| 3.0), 8);
    }

    #[test]
    fn a_slow_drift_is_not_taken_for_steadiness() {
        // It falls by a third, with a time constant of 40 windows: 0.2 % from one to the next.
        let found = windows_until_steady(|at| 3.0 + libm::exp(-at / 40.0));
        let left = libm::exp(-(found as f64) / 40.0) / 3.0;
        assert!(left < 0.01, "steady after {found} windows, {left:.3} above the end");
    }

    #[test]
    fn a_drive_that_does_not_collect_is_not_steady() {
        assert_eq!(windows_until_steady(|_| 1.0), 1000);
    }
}
