//! The erases of a collection, and the copies that it makes for them.

use super::{Checker, Content, ERASED, OLD};
use crate::verify::Happened;
use flashgc_model::drive::Drive;
use flashgc_model::gc::{Isolation, JobRow};
use flashgc_model::ids::{BlockId, PlaneId, Ppn};
use flashgc_model::plan::Plan;

/// A block that the present collection has erased.
#[derive(Clone, Copy)]
pub(super) struct Emptied {
    block: BlockId,
    /// Copies that left it since its erase before.
    copies: u32,
    /// Pages that were programmed.
    programmed: u32,
}

impl Checker {
    /// The host waits for nothing, or for nothing in the unit of this plane.
    pub(super) fn rests(&self, now_ns: u64, plane: PlaneId) {
        let unit = self.geometry.unit_of(plane);
        let waits = match &self.queued {
            Some(queued) => queued.values().filter(|&&other| other == unit).count() as u64,
            None => self.outstanding,
        };
        assert_eq!(
            waits, 0,
            "at {now_ns} ns background work began in plane {}, and the host waited",
            plane.0
        );
    }

    /// Follows requests that wait: flushes, and operations in the queues of units.
    pub(super) fn observe_waits(&mut self, now_ns: u64, happened: Happened) {
        self.observe_flush(now_ns, happened);
        self.observe_queues(happened);
    }

    /// Follows the queues of units, where background work may begin in one of them while others
    /// have requests.
    fn observe_queues(&mut self, happened: Happened) {
        let Some(queued) = &mut self.queued else { return };
        match happened {
            Happened::Queued { op, unit } => {
                queued.insert(op, unit);
            }
            Happened::Taken { op } => {
                queued.remove(&op);
            }
            _ => {}
        }
    }

    /// The bad blocks of the drive that it begins with.
    pub(super) fn starts_with_bad_blocks(&mut self, plan: &Plan, drive: &Drive) {
        let blocks = drive.order.chunks(plan.geometry.shape.blocks_per_plane as usize);
        for (plane, blocks) in drive.planes.iter().zip(blocks) {
            for block in blocks.iter().rev().take(plane.retired as usize).copied().map(BlockId) {
                self.program_failed(self.geometry.first_page(block));
            }
        }
        if let Some(times) = &mut self.times {
            times.starts_with_failing(drive);
        }
        self.bad_blocks.iter_mut().for_each(|bad| bad.starts_with(plan, drive));
    }

    /// Follows bad blocks.
    pub(super) fn observe_bad_blocks(&mut self, now_ns: u64, happened: Happened) {
        let bad_blocks = self.bad_blocks.iter_mut();
        bad_blocks.for_each(|bad| bad.observe(now_ns, happened, &self.geometry));
        match happened {
            Happened::ProgramFailed(page) => self.program_failed(page),
            Happened::Retired(block, _) => {
                let plane = self.geometry.plane_of_block(block);
                self.closed.iter_mut().for_each(|closed| closed.erased(plane, block));
                self.retired(now_ns, block);
            }
            _ => {}
        }
    }

    /// A program has failed: no page of its block is programmed from here on.
    pub(super) fn program_failed(&mut self, page: Ppn) {
        let (block, at) = self.geometry.block_and_page(page);
        let pages = self.geometry.data_pages_of(block);
        self.content[page.index()..][..(pages - at) as usize]
            .fill(Content { lpn: OLD, version: 0 });
        self.programmed[block.index()] = pages;
        self.next_of_lane[block.index() * self.geometry.lanes() as usize] = pages;
    }

    /// A block is retired: its pages have moved, and it stays as it is.
    pub(super) fn retired(&mut self, now_ns: u64, block: BlockId) {
        self.holds_no_data(now_ns, block);
        self.keeps_copies(now_ns, block);
        let copies = std::mem::take(&mut self.copied[block.index()]);
        let programmed = self.programmed[block.index()];
        if self.is_measuring {
            self.emptied.push(Emptied { block, copies, programmed });
        }
    }

    fn holds_no_data(&self, now_ns: u64, block: BlockId) {
        let first = self.geometry.first_page(block).0;
        for ppn in first..first + self.geometry.shape.pages_per_block {
            let lpn = self.content[ppn as usize].lpn as usize;
            let lost = self.home.get(lpn).is_some_and(|home| home.0 == ppn);
            assert!(!lost, "at {now_ns} ns an erase lost the data of logical page {lpn}");
        }
    }

    pub(super) fn erase(&mut self, now_ns: u64, block: BlockId) {
        self.erases += 1;
        self.holds_no_data(now_ns, block);
        let first = self.geometry.first_page(block).index();
        self.content[first..][..self.geometry.shape.pages_per_block as usize]
            .fill(Content { lpn: ERASED, version: 0 });
        self.keeps_copies(now_ns, block);
        self.is_isolated(now_ns, block);
        let programmed = std::mem::take(&mut self.programmed[block.index()]);
        let lanes = self.geometry.lanes() as usize;
        self.next_of_lane[block.index() * lanes..][..lanes].fill(0);
        assert!(
            programmed > 0 || self.promises.isolation.is_some(),
            "at {now_ns} ns block {} was erased though it was erased already",
            block.0
        );
        let copies = std::mem::take(&mut self.copied[block.index()]);
        if self.is_measuring {
            self.emptied.push(Emptied { block, copies, programmed });
        }
    }

    /// Where the controller has no protection no copy is only there when its victim is erased:
    /// every program of the plane is full.
    fn keeps_copies(&self, now_ns: u64, erased: BlockId) {
        let slots = self.geometry.shape.program_slots;
        if !self.promises.drains || !self.is_measuring || slots == 1 {
            return;
        }
        let plane = self.geometry.plane_of_block(erased);
        for block in self.geometry.blocks_of(plane) {
            assert!(
                self.programmed[block as usize].is_multiple_of(slots),
                "at {now_ns} ns block {} was erased, and copies were only in the controller",
                erased.0
            );
        }
    }

    /// A collection makes one copy for each page that left its blocks, in as few steps as its lists
    /// allow.
    pub(super) fn job_closed(&mut self, row: &JobRow) {
        assert!(row.moved <= row.valid, "a job moved more pages than its victims held");
        assert!(row.wasted <= row.moved);
        let beside = self.beside_emptied();
        let lists = self.emptied.iter().map(|emptied| emptied.copies).chain(beside);
        let lists: Vec<u32> = lists.collect();
        let copied: u32 = lists.iter().sum();
        assert_eq!(row.moved, copied, "copies of a job");
        let steps = |copies: u32| copies.div_ceil(self.promises.at_once);
        let expected = match self.promises.by_block {
            true => lists.iter().map(|&copies| steps(copies)).sum(),
            false => steps(copied),
        };
        if let slots @ 2.. = self.geometry.shape.program_slots {
            // A step fills a program, which may be begun before, and the last one of each class may
            // not. Where requests preempt, writes may fill the program that copies have begun.
            let begun = self.geometry.shape.padded_programs * (slots - 1);
            let alone = copied.saturating_sub(begun).div_ceil(slots);
            let programs = if self.promises.preempts { 0 } else { alone }..=copied;
            assert!(programs.contains(&row.steps), "programs of a job: {} {programs:?}", row.steps);
        } else if self.promises.preempts {
            assert!((expected..=copied).contains(&row.steps), "steps of a job");
        } else {
            assert_eq!(row.steps, expected, "steps of a job");
        }
        assert_eq!(row.blocks as usize, self.emptied.len(), "blocks of a job");
        self.emptied.clear();
    }

    /// Under isolation by software an erase disturbs the sub-blocks next to it: they hold no data,
    /// and neither do the erased ones.
    fn is_isolated(&self, now_ns: u64, block: BlockId) {
        if self.promises.isolation != Some(Isolation::Software) {
            return;
        }
        let siblings = self.geometry.siblings_of(block);
        let beside = [block.0.wrapping_sub(1), block.0 + 1].into_iter();
        for beside in beside.filter(|beside| siblings.contains(beside)) {
            let first = self.geometry.first_page(BlockId(beside)).0;
            let disturbed = (first..first + self.geometry.shape.pages_per_block).find(|&ppn| {
                let lpn = self.content[ppn as usize].lpn as usize;
                self.home.get(lpn).is_some_and(|home| home.0 == ppn)
            });
            assert_eq!(
                disturbed, None,
                "at {now_ns} ns the erase of sub-block {} disturbed the data beside it",
                block.0
            );
        }
    }

    /// Copies that left the sub-blocks next to those that the present collection has erased. The
    /// sub-blocks that one erase frees lie in one block, and are one run where software isolates.
    fn beside_emptied(&mut self) -> Vec<u32> {
        let (Some(isolation), Some(first), Some(last)) =
            (self.promises.isolation, self.emptied.first(), self.emptied.last())
        else {
            return Vec::new();
        };
        let siblings = self.geometry.siblings_of(first.block);
        assert!(siblings.contains(&last.block.0), "one erase freed parts of two blocks");
        assert!(first.programmed > 0 && last.programmed > 0, "an end was erased already");
        if isolation == Isolation::Hardware {
            return Vec::new();
        }
        let run = first.block.0..=last.block.0;
        assert!(run.clone().eq(self.emptied.iter().map(|emptied| emptied.block.0)), "not a run");
        let beside = [run.start().wrapping_sub(1), run.end() + 1].into_iter();
        let beside = beside.filter(|beside| siblings.contains(beside));
        beside.map(|beside| std::mem::take(&mut self.copied[beside as usize])).collect()
    }

    /// A slot is taken for no data.
    pub(super) fn padded(&mut self, now_ns: u64, ppn: Ppn) {
        self.takes(now_ns, ppn);
        self.padded += 1;
        self.content[ppn.index()] = Content { lpn: OLD, version: 0 };
    }
}
