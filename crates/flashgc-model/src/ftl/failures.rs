//! Bad blocks: a block whose erase has failed is retired, and one with a failed program is closed,
//! emptied by a collection, and retired in place of being erased.
//!
//! The data of a failed program is still in the register: it goes to the next page of its stream,
//! in another block, where it fills a whole program and not the rest of a partial one. A failure
//! for which the erased blocks of its plane or the spare blocks of its pool do not suffice makes
//! the drive read-only before it happens; the program or erase under way then succeeds.

use super::blocks::{BlockState, Blocks};
use super::{Fact, Ftl, Parity, Stream, Taken};
use crate::device::{self, FailurePlan, Geometry, Pools};
use crate::ids::{BlockId, PlaneId, Ppn};
use std::collections::{BTreeMap, BTreeSet};

/// The bad blocks of a drive, and the failures to come.
#[derive(Clone)]
pub struct Failures {
    plan: FailurePlan,
    /// Mapped pages that are programmed together.
    slots: u32,
    outcomes: device::Failures,
    pools: Pools,
    /// Blocks that each pool can still do without.
    spare: Vec<u32>,
    has_classes: bool,
    retired: u32,
    /// Blocks with a failed program that are not retired yet.
    failing: BTreeSet<u32>,
    /// Blocks among them that were closed and are not sealed yet.
    closed: Vec<BlockId>,
    /// Failed programs, by the program that has their data.
    before: BTreeMap<u32, Vec<Ppn>>,
    /// Pages of an emptied block that have yet to be copied.
    owed: u32,
    is_read_only: bool,
}

/// Bad blocks, for a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BadBlocks {
    /// Blocks that are retired.
    pub retired: u32,
    /// Blocks with a failed program that have yet to be retired.
    pub failing: u32,
    /// Blocks that the pool with the fewest can still do without.
    pub spare: u32,
    /// Whether the drive takes no further write.
    pub is_read_only: bool,
}

impl Failures {
    /// For a drive without bad blocks, with its slots of a program and its classes.
    pub fn new(plan: &FailurePlan, seed: u64, pools: &Pools, layout: (u32, u32)) -> Self {
        let spare = |pool| pools.planes(pool).len() as u32 * plan.spare_blocks;
        Failures {
            outcomes: device::Failures::new(&plan.rules, seed),
            spare: (0..pools.count()).map(spare).collect(),
            pools: pools.clone(),
            slots: layout.0,
            has_classes: layout.1 > 0,
            retired: 0,
            failing: BTreeSet::new(),
            closed: Vec::new(),
            before: BTreeMap::new(),
            owed: 0,
            is_read_only: false,
            plan: plan.clone(),
        }
    }

    /// A block of this plane is lost. Returns whether it was the last one that could be.
    fn lose_block(&mut self, plane: PlaneId) -> bool {
        let spare = &mut self.spare[self.pools.of_plane(plane)];
        *spare = spare.saturating_sub(1);
        *spare == 0
    }
}

impl Ftl {
    /// From now on programs and erases may fail.
    pub fn may_fail(&mut self, geometry: &Geometry, failures: Option<Failures>) {
        let Some(mut failures) = failures else { return };
        failures.is_read_only = self.was_read_only;
        for block in (0..geometry.blocks).map(BlockId) {
            let is_retired = self.blocks.state(block) == BlockState::Retired;
            failures.retired += u32::from(is_retired);
            let is_failing = self.failing.contains(&block.0);
            if is_retired || is_failing {
                let is_last = failures.lose_block(geometry.plane_of_block(block));
                failures.is_read_only |= is_last;
            }
        }
        failures.failing = std::mem::take(&mut self.failing);
        if failures.plan.rules.programs_fail() {
            self.frontiers.may_fail();
        }
        self.failures = Some(Box::new(failures));
    }

    /// The bad blocks, where operations may fail.
    pub fn bad_blocks(&self) -> Option<BadBlocks> {
        let failures = self.failures.as_ref()?;
        Some(BadBlocks {
            retired: failures.retired,
            failing: failures.failing.len() as u32,
            spare: failures.spare.iter().copied().min().unwrap_or(0),
            is_read_only: failures.is_read_only,
        })
    }

    /// Whether the drive takes no further write of the host.
    #[inline]
    pub fn is_read_only(&self) -> bool {
        self.failures.as_ref().map_or(self.was_read_only, |failures| failures.is_read_only)
    }

    /// A plane of a drive that is taken over has less than its scheme reserves, and nothing can be
    /// collected. Where blocks fail the drive takes no further write, and its data can be read.
    /// Returns whether it is so.
    pub fn gives_up_writes(&mut self) -> bool {
        let Some(failures) = &mut self.failures else { return self.was_read_only };
        if !std::mem::replace(&mut failures.is_read_only, true) {
            self.facts.push(Fact::ReadOnly);
        }
        self.was_read_only = true;
        true
    }

    /// Blocks with a failed program that are not retired yet, in order of number.
    pub fn failing_blocks(&self) -> Vec<u32> {
        let failing = self.failures.as_ref().map_or(&self.failing, |failures| &failures.failing);
        failing.iter().copied().collect()
    }

    /// Blocks of a plane that are retired, in order of number.
    pub fn retired_blocks(&self, geometry: &Geometry, plane: PlaneId) -> Vec<BlockId> {
        let blocks = geometry.blocks_of(plane).map(BlockId);
        blocks.filter(|&block| self.blocks.state(block) == BlockState::Retired).collect()
    }

    /// This victim; or, where it would be retired and its plane has too few erased blocks for
    /// copies that free none, the block with the fewest valid pages that will be erased.
    #[inline(always)]
    pub fn instead_of_failing(&self, geometry: &Geometry, victim: BlockId) -> Option<BlockId> {
        match &self.failures {
            Some(failures) if failures.failing.contains(&victim.0) => {
                self.other_victim(failures, geometry, victim)
            }
            _ => Some(victim),
        }
    }

    #[cold]
    fn other_victim(
        &self,
        failures: &Failures,
        geometry: &Geometry,
        victim: BlockId,
    ) -> Option<BlockId> {
        let plane = geometry.plane_of_block(victim);
        let data_pages = geometry.shape.data_pages();
        let spare = self.frontiers.free_blocks(plane).saturating_sub(failures.plan.least_blocks);
        let pages = self.frontiers.free_pages(plane).saturating_sub(failures.plan.least_pages);
        // Those that the collection has claimed before free none either.
        let claimed = failures.failing.iter().map(|&block| BlockId(block)).filter(|&block| {
            geometry.plane_of_block(block) == plane
                && self.blocks.state(block) == BlockState::Victim
        });
        let copies = claimed.chain([victim]).map(|block| self.blocks.valid(block)).sum::<u32>();
        if (spare * data_pages).min(pages) >= copies {
            return Some(victim);
        }
        let is_fit = |&block: &BlockId| {
            self.blocks.is_sealed(block)
                && !failures.failing.contains(&block.0)
                && geometry.won(block, self.blocks.valid(block)) > 0
        };
        let others = geometry.blocks_of(plane).map(BlockId).filter(is_fit);
        others.min_by_key(|&block| self.blocks.valid(block))
    }

    /// Whether any of these blocks is erased, and not only retired.
    #[inline(always)]
    pub fn erases_any(&self, blocks: impl Iterator<Item = BlockId>) -> bool {
        self.failures.as_ref().is_none_or(|failures| failures.erases_any(blocks))
    }

    /// A block that a failed program has closed: its caller [seals](Ftl::seal) it.
    #[inline]
    pub fn closed_block(&mut self) -> Option<BlockId> {
        self.failures.as_mut()?.closed.pop()
    }

    /// Pages of an emptied block that have yet to be copied.
    #[inline(always)]
    pub fn owe(&mut self, pages: usize) {
        if let Some(failures) = &mut self.failures {
            failures.owed = pages as u32;
        }
    }

    /// The pages that a collection in this plane may move, where failures have taken some.
    pub fn pages_for_copies(&self, plane: PlaneId) -> u32 {
        match &self.failures {
            Some(_) => self.frontiers.free_pages(plane),
            None => u32::MAX,
        }
    }

    /// Failed programs have taken no time until now.
    pub fn forget_failed_programs(&mut self) {
        if let Some(failures) = &mut self.failures {
            failures.before.clear();
        }
    }

    /// The additional time of an operation that programs these pages together, due to failed
    /// programs before them, in ns: all pages are programmed at once, then those again whose
    /// program failed.
    #[inline(always)]
    pub fn failed_ns(&self, pages: impl Iterator<Item = Ppn>, ns: impl Fn(Ppn) -> u64) -> u64 {
        match &self.failures {
            Some(failures) if !failures.before.is_empty() => failures.before_ns(pages, ns),
            _ => 0,
        }
    }

    /// The block is retired, in place of being erased or since its erase has failed. Returns
    /// whether it is.
    #[cold]
    pub(super) fn retires(&mut self, geometry: &Geometry, block: BlockId) -> bool {
        let plane = geometry.plane_of_block(block);
        let erases = self.blocks.erases(block);
        let allows = self.allows_failed_erase(geometry, plane, block);
        let Some(failures) = &mut self.failures else { return false };
        failures.forget_programs(geometry, block);
        let failed = !failures.failing.remove(&block.0);
        if failed {
            if failures.is_read_only || !failures.outcomes.erase_fails(block.0, erases) {
                return false;
            }
            if !allows {
                failures.is_read_only = true;
                self.facts.push(Fact::ReadOnly);
                return false;
            }
        }
        failures.retired += 1;
        self.blocks.retire(block);
        self.facts.push(Fact::Retired { plane, block, failed });
        if failed && failures.lose_block(plane) {
            failures.is_read_only = true;
            self.facts.push(Fact::ReadOnly);
        }
        true
    }

    /// Whether collection can continue after a failed erase of this block.
    fn allows_failed_erase(&self, geometry: &Geometry, plane: PlaneId, own: BlockId) -> bool {
        let Some(failures) = &self.failures else { return false };
        let others = geometry.blocks_of(plane).map(BlockId).filter(|&block| block != own);
        let is_emptied = |&block: &BlockId| {
            self.blocks.state(block) == BlockState::Victim
                && self.blocks.valid(block) == 0
                && !failures.failing.contains(&block.0)
        };
        let free = self.frontiers.free_blocks(plane) + others.filter(is_emptied).count() as u32;
        failures.spare[failures.pools.of_plane(plane)] > 0
            && free >= failures.plan.least_blocks
            && self.frontiers.free_pages(plane) >= failures.plan.least_pages
    }

    /// The page that was taken, or the one after it whose program does not fail.
    pub(super) fn after_failures(
        &mut self,
        geometry: &Geometry,
        plane: PlaneId,
        stream: Stream,
        mut taken: Taken,
    ) -> Taken {
        let mut failed = Vec::new();
        while self.program_fails(geometry, taken.ppn) {
            let block = geometry.block_of(taken.ppn);
            let Some(next) = self.next_block(geometry, plane, stream, taken) else {
                if let Some(failures) = &mut self.failures {
                    failures.is_read_only = true;
                }
                self.facts.push(Fact::ReadOnly);
                break;
            };
            self.facts.push(Fact::ProgramFailed { plane, block, page: taken.ppn });
            failed.push(taken.ppn);
            taken = next;
            let Some(failures) = &mut self.failures else { break };
            failures.failing.insert(block.0);
            failures.closed.push(block);
            if failures.lose_block(plane) {
                failures.is_read_only = true;
                self.facts.push(Fact::ReadOnly);
            }
        }
        if let Some(failures) = &mut self.failures
            && !failed.is_empty()
        {
            failures.before.insert(taken.ppn.0 / geometry.shape.program_slots, failed);
        }
        self.clear(geometry, plane, stream);
        taken
    }

    fn program_fails(&self, geometry: &Geometry, page: Ppn) -> bool {
        let failures = self.failures.as_ref();
        failures.is_some_and(|failures| failures.program_fails(geometry, &self.blocks, page))
    }

    /// The next pages of a stream are handed out at once, up to a program that fails.
    fn clear(&mut self, geometry: &Geometry, plane: PlaneId, stream: Stream) {
        let Ftl { failures, frontiers, blocks, .. } = self;
        let Some(failures) = failures else { return };
        frontiers.clear(plane, stream, |mut left| {
            left.find(|&page| failures.program_fails(geometry, blocks, Ppn(page)))
        });
    }

    /// Closes the block of a page that was taken, whose program fails, and takes the next page of
    /// the stream in another one. `None`, and nothing changes, if the plane has too little space.
    fn next_block(
        &mut self,
        geometry: &Geometry,
        plane: PlaneId,
        stream: Stream,
        taken: Taken,
    ) -> Option<Taken> {
        if !self.allows_failed_program(geometry, plane, stream, taken.ppn) {
            return None;
        }
        self.frontiers.close(geometry, plane, stream);
        let (block, is_erased) = self.frontiers.continue_whole(geometry, plane, stream)?;
        let class = if let Stream::Class(class) = stream { Some(class) } else { None };
        match class {
            _ if is_erased => self.opened(plane, block, class),
            Some(class) => self.stamps.continued(block, class),
            None => {}
        }
        self.frontiers.take(geometry, plane, stream, Parity::Any)
    }

    /// Whether a plane has the space for the data of a failed program, and for its collections
    /// after that.
    fn allows_failed_program(
        &self,
        geometry: &Geometry,
        plane: PlaneId,
        stream: Stream,
        page: Ppn,
    ) -> bool {
        let Some(failures) = &self.failures else { return false };
        let victims = geometry.blocks_of(plane).map(BlockId);
        let victims = victims.filter(|&block| self.blocks.state(block) == BlockState::Victim);
        let (mut owed, mut is_collected, mut coming) = (failures.owed, failures.owed > 0, 0);
        for block in victims {
            owed += self.blocks.valid(block);
            is_collected = true;
            coming += u32::from(!failures.failing.contains(&block.0));
        }
        let (frontiers, data_pages) = (&self.frontiers, geometry.shape.data_pages());
        let (_, at) = geometry.block_and_page(page);
        let lost = data_pages - at - 1;
        let free_pages = frontiers.free_pages(plane).saturating_sub(lost);
        let has_block = frontiers.free_blocks(plane) > 0
            || frontiers.has_whole_started(plane, geometry.shape.program_slots);
        let spare = failures.spare[failures.pools.of_plane(plane)] > 0;
        // The space that its collection will free need not be there now.
        let least = failures.plan.least_blocks.saturating_sub(coming);
        let after = frontiers.free_blocks(plane).saturating_sub(1);
        let Some(blocks) = after.checked_sub(least) else { return false };
        let slots = geometry.shape.program_slots;
        let is_enough = match (is_collected, failures.has_classes) {
            // The copies may need a block of each class, and the last one has a page of its own.
            (true, true) => blocks * data_pages >= owed && free_pages > owed,
            (true, false) => {
                let open = match frontiers.shares_frontier(stream) {
                    true => data_pages - slots,
                    false => frontiers.open_to_copies(plane),
                };
                blocks * data_pages + open >= owed
            }
            (false, _) => free_pages > failures.plan.least_pages,
        };
        spare && has_block && is_enough
    }
}

impl Failures {
    /// Whether a program begins with this page of an open block, and fails.
    fn program_fails(&self, geometry: &Geometry, blocks: &Blocks, page: Ppn) -> bool {
        let slots = geometry.shape.program_slots;
        if self.is_read_only || !page.0.is_multiple_of(slots) {
            return false;
        }
        let (block, at) = geometry.block_and_page(page);
        self.outcomes.program_fails(block.0, at / slots, blocks.erases(block))
    }

    /// Removes the list of failed programs in front of this block's programs, which is no longer
    /// needed.
    fn forget_programs(&mut self, geometry: &Geometry, block: BlockId) {
        let (slots, pages) = (geometry.shape.program_slots, geometry.shape.pages_per_block);
        let first = geometry.first_page(block).0;
        let programs = first / slots..(first + pages) / slots;
        while let Some((&program, _)) = self.before.range(programs.clone()).next() {
            self.before.remove(&program);
        }
    }

    #[cold]
    #[inline(never)]
    fn erases_any(&self, mut blocks: impl Iterator<Item = BlockId>) -> bool {
        blocks.any(|block| !self.failing.contains(&block.0))
    }

    #[cold]
    #[inline(never)]
    fn before_ns(&self, pages: impl Iterator<Item = Ppn>, ns: impl Fn(Ppn) -> u64) -> u64 {
        let slots = self.slots;
        let mut rounds: Vec<u64> = Vec::new();
        let mut last_ns = 0;
        for page in pages {
            let failed = self.before.get(&(page.0 / slots)).map_or(&[][..], Vec::as_slice);
            last_ns = last_ns.max(ns(page));
            for (round, page) in failed.iter().copied().chain([page]).enumerate() {
                if rounds.len() == round {
                    rounds.push(0);
                }
                rounds[round] = rounds[round].max(ns(page));
            }
        }
        rounds.iter().sum::<u64>() - last_ns
    }
}
