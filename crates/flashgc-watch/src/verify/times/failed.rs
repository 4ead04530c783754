//! Programs that failed, and blocks that are retired without an erase.

use super::{Lane, Times};
use crate::verify::Happened;
use flashgc_model::device::Geometry;
use flashgc_model::drive::Drive;
use flashgc_model::ids::{BlockId, Ppn};

impl Times {
    /// The blocks with a failed program of the drive that it begins with.
    pub(in crate::verify) fn starts_with_failing(&mut self, drive: &Drive) {
        self.failing.extend(drive.failing.iter().copied().map(BlockId));
    }

    /// Follows failures.
    pub(super) fn observe_failures(&mut self, happened: Happened, at: &Geometry) {
        match happened {
            Happened::ProgramFailed(ppn) => {
                self.homeless.push(ppn);
                self.failing.insert(at.block_of(ppn));
            }
            Happened::Claimed { block, .. } => self.lane_of(block, at).victims.push(block),
            Happened::Erased { block } | Happened::Retired(block, _) => {
                self.failing.remove(&block);
                self.lane_of(block, at).victims.retain(|&victim| victim != block);
            }
            Happened::Programmed { ppn, .. } | Happened::Padded { ppn, .. } => self.takes_home(ppn),
            _ => {}
        }
    }

    /// Pages that are programmed together and may have been tried before, in ns.
    pub(super) fn tries_ns(
        &self,
        pages: impl Iterator<Item = Ppn>,
        own_ns: impl Fn(Ppn) -> u64 + Copy,
    ) -> u64 {
        // Pages whose program has failed are programmed again, without the others.
        let pages: Vec<Vec<Ppn>> = pages.map(|page| self.tried(page)).collect();
        let tries = pages.iter().map(Vec::len).max().unwrap_or(0);
        let slowest = |at: usize| pages.iter().filter_map(move |tried| tried.get(at).copied());
        (0..tries).map(|at| slowest(at).map(own_ns).max().unwrap_or(0)).sum()
    }

    /// The pages in which the data of a page was programmed, and the last of them has it.
    fn tried(&self, page: Ppn) -> Vec<Ppn> {
        let failed = self.failed.get(&(page.0 / self.program_slots));
        failed.into_iter().flatten().copied().chain([page]).collect()
    }

    /// A page is taken: failed programs before it had its data, and are tried before its own.
    fn takes_home(&mut self, page: Ppn) {
        let program = page.0 / self.program_slots;
        let begins = page.0.is_multiple_of(self.program_slots);
        if begins {
            self.failed.remove(&program);
        }
        let failed = std::mem::take(&mut self.homeless);
        if !failed.is_empty() {
            assert!(begins, "page {} has the data of a failed program, and begins none", page.0);
            self.most_programs = self.most_programs.max(1 + failed.len() as u64);
            self.failed.insert(program, failed);
        }
    }

    fn lane_of(&mut self, block: BlockId, at: &Geometry) -> &mut Lane {
        &mut self.lanes[at.unit_of(at.plane_of_block(block)).index()]
    }

    /// The time of an erase, in ns: none if all victims are retired without one.
    pub(super) fn erase_ns(&self, lane: &Lane) -> u64 {
        let is_erased = |victim| !self.failing.contains(victim);
        let any = lane.victims.is_empty() || lane.victims.iter().any(is_erased);
        if any { self.collection.erase_ns } else { 0 }
    }
}
