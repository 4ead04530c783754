//! The consequences for a collection of the end of its operation, or of the loss of a page.

use super::{Collecting, Stage};
use crate::ids::{PlaneId, Ppn, UnitId};
use crate::verify::Watch;

/// How far a collection is when one of its operations has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It continues.
    GoesOn,
    /// Its copies were programmed together with writes of the host, which are done.
    WithWrites,
    /// The victim is erased: the collection can be [closed](Collecting::close).
    Erased,
}

impl<W: Watch> Collecting<'_, W> {
    /// An operation of a collection has ended.
    pub fn ended(&mut self, unit: UnitId) -> Ended {
        let job = &mut self.jobs[unit];
        match job.stage {
            Stage::Copying => return self.step_ended(unit),
            Stage::Unseen => self.unseen_ended(unit),
            Stage::Reading => self.reading_ended(unit),
            Stage::Programming => {
                let has_writes = self.programming_ended(unit);
                return if has_writes { Ended::WithWrites } else { Ended::GoesOn };
            }
            Stage::Whole => {
                job.record.moved = job.copies.len() as u32;
                let (moved, fills) = (u64::from(job.record.moved), job.fills.len() as u64);
                self.cx.count_copies(moved, fills);
                return Ended::Erased;
            }
            Stage::Erasing => return Ended::Erased,
            Stage::Closed | Stage::Sending | Stage::Buffered | Stage::Moved | Stage::Erased => {
                unreachable!("this job has no operation")
            }
        }
        Ended::GoesOn
    }

    /// The host rewrote or trimmed a page of a plane that is being collected.
    #[cold]
    pub fn loses(&mut self, plane: PlaneId, page: Ppn) {
        let geometry = &self.cx.plan.geometry;
        if geometry.has_superblocks() {
            // Its copy may be that of any part.
            for unit in geometry.units_of(plane) {
                if let Some(at) = self.jobs[unit].sent_to(page) {
                    self.jobs[unit].waste(at);
                }
            }
            return;
        }
        let unit = geometry.unit_of(plane);
        let job = &self.jobs[unit];
        let is_it = |&at: &usize| job.copies[at].to == page;
        let under_way = if job.fixed {
            let at_once = self.cx.plan.copies_at_once();
            let made = || job.copies_made(self.prices, at_once, self.cx.now_ns);
            (0..job.copies.len()).find(is_it).filter(|&at| at >= made())
        } else if matches!(job.stage, Stage::Copying | Stage::Programming) {
            job.step.copies.iter().copied().find(is_it)
        } else {
            None
        };
        if let Some(at) = under_way {
            self.jobs[unit].waste(at);
        }
    }
}
