//! Collection: the steps of a collection on its unit.
//!
//! Where a collection cannot be interrupted and its copies need no bus, the list of its pages is
//! fixed when it begins: their new pages are taken and bound at once, and the collection may run as
//! one event. Otherwise each copy checks at its own start whether its page is still valid, and
//! binds when its program starts.
//!
//! Copies go in steps (paper parallel-gc, Algorithms 2 to 4): the valid pages of a list are
//! collected, and each step takes the next of them, as many as the scheme moves at once. All of a
//! step are read together and programmed together. Copies to other units are in [`super::away`].

use super::Sim;
use crate::collect::{Job, Stage};
use crate::flash::{self, Kind, Phases};
use crate::ftl::Parity;
use crate::gc::{Batch, Copy, CopyChoice, JobRow, Role, Victim};
use crate::ids::{BlockId, PlaneId, Ppn, UnitId};
use crate::owner::Owner;
use crate::verify::{Cause, Happened, Watch};

/// Valid pages at selection of the blocks that are claimed in addition to the victims.
fn neighbour_valid(victims: &[Victim]) -> u32 {
    victims.iter().filter(|victim| !victim.is_erased()).map(|victim| victim.valid).sum()
}

impl<W: Watch> Sim<W> {
    /// Begins a collection: the victim is claimed and its domain blocked.
    pub(super) fn open_job(&mut self, unit: UnitId, plane: PlaneId, victim: BlockId) {
        let batch_left = match self.plan.gc.trigger.batch {
            Batch::One => 1,
            Batch::UntilStop => u32::MAX,
            Batch::List => self.gc.count_candidates(plane, &sight!(self)).max(1),
        };
        self.close_around(plane);
        let job = &mut self.jobs[unit];
        job.batch_left = batch_left;
        job.blocking_since_ns = self.now_ns;
        self.claim(unit, plane, victim);
    }

    /// Whether a batch continues after an erase: the plane still needs space, or blocks of the list
    /// with which the batch began are left; and a collection would free space.
    pub(super) fn goes_on(&self, plane: PlaneId, listed: u32) -> bool {
        let wants = self.gc.wants[plane.index()] || listed > 0;
        wants && self.ftl.blocks.reclaimable[plane.index()] > 0
    }

    /// Claims the victims and starts the collection's first operation.
    fn claim(&mut self, unit: UnitId, plane: PlaneId, victim: BlockId) {
        let free_pages = self.ftl.frontiers.free_pages(plane);
        let mut victims = std::mem::take(&mut self.jobs[unit].victims);
        let valid = self.claim_victims(plane, victim, &mut victims);
        let fixed = self.plan.fixes_jobs();
        self.gc.busy_planes[plane.index()] = true;
        let job = &mut self.jobs[unit];
        job.plane = Some(plane);
        job.selected_ns = self.now_ns;
        job.valid_at_selection = valid;
        job.free_pages_at_selection = free_pages;
        job.fixed = fixed;
        (job.next, job.moved, job.steps, job.wasted, job.busy_ns) = (0, 0, 0, 0, 0);
        (job.reads, job.merged_programs, job.extra_ns) = (0, 0, 0);
        job.fills.clear();
        job.wasted_open.clear();
        job.stage = Stage::Copying;
        job.lists.clear();
        let mut copies = std::mem::take(&mut job.copies);
        self.collect_pages(unit, plane, &victims, &mut copies);
        let job = &mut self.jobs[unit];
        job.copies = copies;
        job.victims = victims;
        let job = &self.jobs[unit];
        let moves = if job.fixed { 0 } else { job.valid_at_selection };
        let data_pages = self.plan.geometry.shape.data_pages();
        self.gc.expect_from(unit, &job.victims, moves, data_pages);
        let job = &mut self.jobs[unit];
        if self.plan.coalesces_jobs() {
            job.stage = Stage::Whole;
            job.steps = match self.plan.gc.copy.at_once() {
                1 => valid,
                at_once => job.step_ends(at_once).count() as u32,
            };
            let copies_ns = self.copies_ns(unit);
            let erase_ns = self.prices.nominal(flash::Op::Erase, 1).total_ns();
            let whole = Phases::new().then(Kind::Collection, copies_ns + erase_ns);
            self.begin(unit, Owner::Collection, whole);
        } else if !self.arbiter.is_preemptive() {
            self.step_job(unit);
        }
    }

    /// Lists the valid pages of the victims, lowest first; where the collection is fixed, their new
    /// pages are taken now.
    #[inline(always)]
    fn collect_pages(
        &mut self,
        unit: UnitId,
        plane: PlaneId,
        victims: &[Victim],
        copies: &mut Vec<Copy>,
    ) {
        copies.clear();
        let fixed = self.jobs[unit].fixed;
        for victim in victims {
            if self.plan.gc.copy.lists_by_block() {
                self.jobs[unit].lists.push(copies.len());
            }
            self.list_victim(victim.block);
            if fixed {
                self.move_all(plane, victim.block, Some(copies));
            } else {
                copies.extend(self.scratch.iter().map(|&from| Copy { from, to: Ppn::NONE }));
            }
        }
    }

    /// Removes the victims of a collection from the candidates: the given one, and those ranked
    /// next while the erase can take more. Returns their number of valid pages.
    pub(super) fn claim_victims(
        &mut self,
        plane: PlaneId,
        first: BlockId,
        victims: &mut Vec<Victim>,
    ) -> u32 {
        let free_pages = self.ftl.frontiers.free_pages(plane);
        self.counters.selections += 1;
        self.counters.erased_pages_at_selection += u64::from(free_pages);
        victims.clear();
        if self.plan.gc.sub_blocks.is_some() {
            return self.claim_sub_blocks(first, victims);
        }
        let mut valid = 0;
        let mut next = Some(first);
        let cap = self.plan.gc.move_cap_pages.unwrap_or(u32::MAX);
        while let Some(block) = next {
            let its_valid = self.ftl.claim(&self.plan.geometry, block);
            self.pass_on_facts();
            victims.push(Victim { block, valid: its_valid, role: Role::Victim });
            valid += its_valid;
            let more = (victims.len() as u32) < self.plan.gc.erase_blocks
                && self.ftl.blocks.reclaimable[plane.index()] > 0;
            next = if more { self.gc.pick_victim(plane, &sight!(self)) } else { None };
            // The bound on moves: the first block is always taken
            // (docs/schemes/ippbe-original.md#the-bound-on-moves).
            next = next.filter(|&block| valid + self.ftl.blocks.valid(block) <= cap);
        }
        valid
    }

    /// Lists the victim's valid pages in `scratch`.
    #[inline(always)]
    pub(super) fn list_victim(&mut self, victim: BlockId) {
        self.scratch.clear();
        let first = self.plan.geometry.first_page(victim);
        self.ftl.blocks.list_valid(victim, first, &mut self.scratch);
        for &from in &self.scratch {
            self.ftl.map.prefetch(self.ftl.map.lpn_of(from));
        }
    }

    /// Moves every listed page of a victim in one go, and notes where each went.
    #[inline(always)]
    pub(super) fn move_all(
        &mut self,
        plane: PlaneId,
        victim: BlockId,
        mut copies: Option<&mut Vec<Copy>>,
    ) {
        self.ftl.empty(victim);
        let is_global = self.plan.gc.copy.is_global();
        for at in 0..self.scratch.len() {
            let from = self.scratch[at];
            let to = if is_global { self.copy_target(plane) } else { plane };
            let placed = self.copy_page::<true>(from, to, Cause::Copy { from });
            self.seal_if_filled(placed);
            if let Some(copies) = &mut copies {
                if placed.filled.is_some() {
                    let unit = self.plan.geometry.unit_of(plane);
                    self.jobs[unit].fills.push(copies.len() as u32);
                }
                copies.push(Copy { from, to: placed.ppn });
            }
        }
    }

    #[inline(always)]
    pub(super) fn parity_of(&self, from: Ppn) -> Parity {
        if self.plan.parity() {
            Parity::Only(self.plan.geometry.block_and_page(from).1 % 2)
        } else {
            Parity::Any
        }
    }

    /// Starts the next operation of an open collection.
    pub(super) fn step_job(&mut self, unit: UnitId) {
        self.take_step(unit);
        let job = &mut self.jobs[unit];
        if job.step.is_empty() {
            job.stage = Stage::Erasing;
            if self.plan.gc.blocking.erasing.is_some() {
                self.narrow_blocking(unit);
            }
            self.begin(unit, Owner::Collection, self.prices.nominal(flash::Op::Erase, 1));
            return;
        }
        let copies = job.step.len();
        if self.plan.gc.copy.is_global() {
            self.tell_read_out(unit);
        }
        let job = &self.jobs[unit];
        let op = match self.plan.gc.copy {
            CopyChoice::Bus => flash::Op::CopyOverBus,
            copy if copy.is_global() => flash::Op::Read,
            _ => flash::Op::Copyback,
        };
        if !job.fixed {
            let from = job.step_pages().map(|copy| copy.from);
            let phases = self.prices.reading(op, copies, from);
            return self.begin_unbound(unit, Owner::Collection, phases);
        }
        let mut phases = self.prices.reading(op, copies, job.step_pages().map(|copy| copy.from));
        self.prices.bind(&mut phases, job.step_pages().map(|copy| copy.to), 0);
        self.begin(unit, Owner::Collection, phases);
    }

    /// Takes the next copies of one list into the step; pages that went invalid are passed over.
    pub(super) fn take_step(&mut self, unit: UnitId) {
        let at_once = self.plan.gc.copy.at_once() as usize;
        let job = &mut self.jobs[unit];
        job.step.clear();
        while job.next < job.copies.len() && job.step.is_empty() {
            let end = job.list_end(job.next);
            while job.next < end && job.step.len() < at_once {
                let (block, page) = self.plan.geometry.block_and_page(job.copies[job.next].from);
                if job.fixed || self.ftl.blocks.is_valid(block, page) {
                    job.step.push(job.next);
                }
                job.next += 1;
            }
        }
    }

    /// The program of a step begins: its copies bind.
    #[inline]
    pub(super) fn bind_step(&mut self, unit: UnitId) {
        let job = &self.jobs[unit];
        if let Some(plane) = job.plane {
            for at in 0..job.step.len() {
                self.bind_copy(unit, self.jobs[unit].step[at], plane);
            }
        }
        let job = &self.jobs[unit];
        let fills = self.prices.filled_by_copies(|| job.fills_of_step());
        let to = job.step_pages().map(|copy| copy.to);
        let price = |phases: &mut Phases| self.prices.bind(phases, to, fills);
        self.flash.bound(unit, price, self.now_ns, &mut self.events);
    }

    /// A copy of this unit's collection is programmed in a plane: its page is taken and bound.
    pub(super) fn bind_copy(&mut self, unit: UnitId, copy: usize, plane: PlaneId) {
        let from = self.jobs[unit].copies[copy].from;
        let placed = self.copy_page::<false>(from, plane, Cause::Copy { from });
        if self.gc.keeps_books {
            self.gc.note_copy(unit, placed, &sight!(self));
        }
        let job = &mut self.jobs[unit];
        if !placed.current {
            job.waste(copy);
        }
        job.copies[copy].to = placed.ppn;
        if placed.filled.is_some() {
            job.fills.push(copy as u32);
        }
        self.seal_if_filled(placed);
    }

    /// The host rewrote or trimmed a page of a plane that is being collected.
    #[cold]
    pub(super) fn job_loses(&mut self, plane: PlaneId, ppn: Ppn) {
        let unit = self.plan.geometry.unit_of(plane);
        let job = &self.jobs[unit];
        let Some(at) = job.copies.iter().position(|copy| copy.to == ppn) else { return };
        let under_way = if job.fixed {
            at >= self.copies_made(unit)
        } else {
            matches!(job.stage, Stage::Copying | Stage::Programming) && job.step.contains(&at)
        };
        if under_way {
            self.jobs[unit].waste(at);
        }
    }

    /// An operation of a collection has ended.
    pub(super) fn job_operation_ended(&mut self, unit: UnitId) {
        let job = &mut self.jobs[unit];
        match job.stage {
            Stage::Copying if self.plan.gc.copy.is_global() => self.send_step(unit),
            Stage::Copying => self.copies_ended(unit),
            Stage::Reading => self.reading_ended(unit),
            Stage::Programming => self.programming_ended(unit),
            Stage::Whole => {
                job.moved = job.copies.len() as u32;
                let (moved, fills) = (u64::from(job.moved), job.fills.len() as u64);
                self.count_copies(moved, fills);
                self.close_job(unit);
            }
            Stage::Erasing => self.close_job(unit),
            Stage::Closed | Stage::Sending | Stage::Buffered => {
                unreachable!("this job has no operation")
            }
        }
    }

    /// The copies of a step are programmed.
    pub(super) fn copies_ended(&mut self, unit: UnitId) {
        let job = &mut self.jobs[unit];
        let copies = job.step.len() as u32;
        let fills = u64::from(job.fills_of_step());
        job.moved += copies;
        if !job.wasted_open.is_empty() && !job.fixed {
            job.wasted_open.clear();
        }
        job.steps += u32::from(copies > 0);
        job.merged_programs += u32::from(copies == 0);
        self.count_copies(u64::from(copies), fills);
    }

    /// The erase has ended: records the collection, and continues with the batch or unblocks the
    /// host.
    fn close_job(&mut self, unit: UnitId) {
        let job = &mut self.jobs[unit];
        job.stage = Stage::Closed;
        let Some(plane) = job.plane else { return };
        job.batch_left = job.batch_left.saturating_sub(self.plan.gc.listed_by(&job.victims));
        let (blocking_since_ns, batch_left) = (job.blocking_since_ns, job.batch_left);
        let victims = std::mem::take(&mut job.victims);
        self.gc.busy_planes[plane.index()] = false;
        self.erase_victims(plane, &victims);
        self.count_job(unit, &victims);
        if self.plan.gc.blocking.blocks {
            self.let_back(unit);
        }
        self.idle_hears_of_job(unit);
        if W::ACTIVE {
            let row = self.job_row(unit, plane, &victims);
            self.tell(Happened::JobClosed(row));
        }
        self.jobs[unit].victims = victims;
        let listed = if self.plan.gc.trigger.batch == Batch::List { batch_left } else { 0 };
        if batch_left > 0
            && self.goes_on(plane, listed)
            && self.may_open_job(unit)
            && let Some(victim) = self.gc.pick_victim(plane, &sight!(self))
        {
            self.widen_blocking(plane);
            return self.claim(unit, plane, victim);
        }
        if !self.arbiter.is_preemptive() {
            self.counters.gc_blocking_ns += self.now_ns - blocking_since_ns;
        }
        self.release(plane);
    }

    /// Erases victims whose pages have all moved, in one operation.
    pub(super) fn erase_victims(&mut self, plane: PlaneId, victims: &[Victim]) {
        for victim @ &Victim { block, .. } in victims {
            if victim.role != Role::Victim {
                self.release_beside(victim);
                continue;
            }
            self.ftl.erase(&self.plan.geometry, block);
            self.pass_on_facts();
        }
        self.counters.erase_operations += 1;
        self.gc.ask_trigger_to_stop(plane, &sight!(self));
        self.look_at_called();
    }

    /// Adds a collection that ended to the counters.
    fn count_job(&mut self, unit: UnitId, victims: &[Victim]) {
        let geometry = &self.plan.geometry;
        let victim_pages = |victim: &Victim| match victim.role {
            Role::Victim => geometry.data_pages_of(victim.block),
            _ => 0,
        };
        let pages: u32 = victims.iter().map(victim_pages).sum();
        let Job { moved, steps, wasted, selected_ns, .. } = self.jobs[unit];
        let Job { reads, merged_programs, extra_ns, .. } = self.jobs[unit];
        let counters = &mut self.counters;
        counters.read_steps += u64::from(reads);
        counters.merged_programs += u64::from(merged_programs);
        counters.gc_extra_ns += extra_ns;
        counters.jobs += 1;
        if self.plan.gc.sub_blocks.is_some() {
            self.count_sub_blocks(unit, victims);
        } else {
            counters.victim_blocks += victims.len() as u64;
            for victim in victims {
                counters.victim_valid += u64::from(victim.valid);
                counters.add_victim(victim.valid);
            }
        }
        let counters = &mut self.counters;
        counters.moved_in_jobs += u64::from(moved);
        counters.copy_steps += u64::from(steps);
        counters.wasted_copies += u64::from(wasted);
        counters.reclaimed_pages += u64::from(pages - moved);
        counters.gc_elapsed_ns += self.now_ns - selected_ns;
    }

    /// The log's row for a collection that has just ended.
    fn job_row(&self, unit: UnitId, plane: PlaneId, victims: &[Victim]) -> JobRow {
        let job = &self.jobs[unit];
        JobRow {
            unit: unit.0,
            plane: plane.0,
            victim: victims[0].block.0 - self.plan.geometry.blocks_of(plane).start,
            blocks: victims.iter().filter(|victim| victim.is_erased()).count() as u32,
            selected_ns: job.selected_ns,
            end_ns: self.now_ns,
            valid: job.valid_at_selection,
            neighbour_valid: neighbour_valid(victims),
            moved: job.moved,
            steps: job.steps,
            wasted: job.wasted,
            free_pages_before: job.free_pages_at_selection,
            free_pages_after: self.ftl.frontiers.free_pages(plane),
        }
    }

    /// Whether the unit's own work blocks the host, so that no queue need be closed.
    fn holds_by_working(&self) -> bool {
        let fixed = self.plan.coalesces_jobs();
        let is_unit = self.plan.gc.blocking.level == self.plan.geometry.shape.unit;
        self.arbiter.is_preemptive() || fixed && is_unit
    }

    fn close_around(&mut self, plane: PlaneId) {
        if self.holds_by_working() {
            return;
        }
        let part = self.plan.geometry.part_of(plane, self.plan.gc.blocking.level);
        for &closed in self.jobs.domain(part) {
            self.host.waiting.close(closed);
        }
    }

    fn release(&mut self, plane: PlaneId) {
        if self.holds_by_working() {
            return;
        }
        let part = self.plan.geometry.part_of(plane, self.plan.gc.blocking.level);
        for at in 0..self.jobs.domain(part).len() {
            let open = self.jobs.domain(part)[at];
            if !self.stays_closed(plane, open) {
                continue;
            }
            self.host.waiting.release(open);
            self.look_at(self.plan.geometry.unit_of(open));
        }
    }

    pub(super) fn job_operation_name(&self, unit: UnitId) -> &'static str {
        match self.jobs[unit].stage {
            Stage::Whole => "collection",
            Stage::Erasing => "erase",
            Stage::Reading => "copy-read",
            Stage::Programming => "copy-program",
            _ if self.plan.gc.copy.is_global() => "read-out",
            _ => "copy",
        }
    }

    /// Array time of all copies of a collection whose pages are fixed, in ns.
    fn copies_ns(&self, unit: UnitId) -> u64 {
        let job = &self.jobs[unit];
        if !self.prices.asks_for_pages() {
            return u64::from(job.steps) * self.step_ns(&[]);
        }
        let mut first = 0;
        let mut sum_ns = 0;
        for end in job.step_ends(self.plan.gc.copy.at_once()) {
            sum_ns += self.step_ns(&job.copies[first..end]);
            first = end;
        }
        sum_ns
    }

    /// Array time of copies that move together, in ns.
    fn step_ns(&self, copies: &[Copy]) -> u64 {
        self.prices.copies_ns(copies.iter().map(|copy| (copy.from, copy.to)))
    }

    /// How many copies a collection whose pages are fixed has made by now.
    pub(super) fn copies_made(&self, unit: UnitId) -> usize {
        let job = &self.jobs[unit];
        let mut left_ns = self.now_ns - job.selected_ns;
        let mut made = 0;
        for end in job.step_ends(self.plan.gc.copy.at_once()) {
            let ns = self.step_ns(&job.copies[made..end]);
            if left_ns < ns {
                break;
            }
            left_ns -= ns;
            made = end;
        }
        made
    }
}
