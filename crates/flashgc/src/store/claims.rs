//! The blocks of a collection: victims are claimed, emptied and erased. Partial programs without
//! further data are padded (docs/mapping-unit.md#without-power-loss-protection).

use super::Store;
use crate::context::Context;
use crate::ftl::{Placed, Stream};
use crate::gc::placement::Placement;
use crate::gc::{Batch, Copy, Role, Victim};
use crate::ids::{BlockId, PlaneId, Ppn};
use crate::verify::{Cause, Happened, Watch};

impl Store {
    /// The number of blocks that a batch of collections may take which begins in this plane now.
    pub fn batch<W: Watch>(&self, plane: PlaneId, cx: &Context<'_, W>) -> u32 {
        match cx.plan.gc.trigger.batch {
            Batch::One => 1,
            Batch::UntilStop => u32::MAX,
            Batch::List => self.gc.count_candidates(plane, &sight!(self, cx)).max(1),
        }
    }

    /// A collection of a batch has ended: the victim of the next one, if the batch continues. It
    /// does while blocks are `left`, and the plane still needs space or the batch has a list.
    pub fn next_of_batch<W: Watch>(
        &mut self,
        plane: PlaneId,
        left: &mut u32,
        ended: &[Victim],
        cx: &Context<'_, W>,
    ) -> Option<BlockId> {
        let rules = &cx.plan.gc;
        *left = left.saturating_sub(rules.listed_by(ended));
        let is_listed = rules.trigger.batch == Batch::List;
        let goes_on = *left > 0
            && (self.gc.triggered[plane.index()] || is_listed)
            && self.ftl.blocks.reclaimable[plane.index()] > 0;
        if goes_on { self.pick_victim(plane, cx) } else { None }
    }

    /// Removes the victims of a collection from the candidates: the given one, and those ranked
    /// next while the erase can take more. Returns their number of valid pages.
    pub fn claim_victims<W: Watch>(
        &mut self,
        plane: PlaneId,
        first: BlockId,
        victims: &mut Vec<Victim>,
        cx: &mut Context<'_, W>,
    ) -> u32 {
        let free_pages = self.ftl.frontiers.free_pages(plane);
        cx.counters.selections += 1;
        cx.counters.erased_pages_at_selection += u64::from(free_pages);
        victims.clear();
        if cx.plan.gc.sub_blocks.is_some() {
            return self.claim_sub_blocks(first, victims, cx);
        }
        let mut valid = 0;
        let mut next = Some(first);
        let cap = cx.plan.gc.move_cap_pages.unwrap_or(u32::MAX);
        let cap = cap.min(self.ftl.pages_for_copies(plane));
        while let Some(block) = next {
            let its_valid = self.claim(block, cx);
            victims.push(Victim { block, valid: its_valid, role: Role::Victim });
            valid += its_valid;
            let more = (victims.len() as u32) < cx.plan.gc.erase_blocks
                && self.ftl.blocks.reclaimable[plane.index()] > 0;
            next = if more { self.pick_victim(plane, cx) } else { None };
            // The bound on moves: the first block is always taken
            // (docs/schemes/ippbe-original.md#the-bound-on-moves).
            next = next.filter(|&block| valid + self.ftl.blocks.valid(block) <= cap);
        }
        valid
    }

    /// Removes a sealed block from the candidates. Returns its number of valid pages.
    pub(super) fn claim<W: Watch>(&mut self, block: BlockId, cx: &mut Context<'_, W>) -> u32 {
        let valid = self.ftl.claim(&cx.plan.geometry, block);
        self.pass_on_facts(cx);
        valid
    }

    /// The victim's valid pages, lowest first.
    #[inline(always)]
    pub fn list_victim<W: Watch>(&mut self, victim: BlockId, cx: &Context<'_, W>) -> &[Ppn] {
        self.scratch.clear();
        let first = cx.plan.geometry.first_page(victim);
        self.ftl.blocks.list_valid(victim, first, &mut self.scratch);
        for &from in &self.scratch {
            self.ftl.prefetch_copy(from);
        }
        if let Some(placement) = &self.gc.placement {
            let pages = self.scratch.iter().map(|&from| self.ftl.map.lpn_of(from));
            pages.for_each(|lpn| placement.prefetch(lpn));
        }
        &self.scratch
    }

    /// Reports to the watcher that a page of a victim leaves its plane.
    pub fn notify_read_out<W: Watch>(&self, page: Ppn, cx: &mut Context<'_, W>) {
        let lpn = self.ftl.map.lpn_of(page);
        cx.notify(Happened::ReadOut { ppn: page, lpn });
    }

    /// Reports to the watcher that a page of a victim is lost, if its errors cannot be corrected.
    pub fn notify_uncorrectable<W: Watch>(&self, ppn: Ppn, cx: &mut Context<'_, W>) {
        if self.ftl.is_uncorrectable(&cx.plan.geometry, ppn) {
            cx.notify(Happened::Uncorrectable { ppn, op: u32::MAX });
        }
    }

    /// Moves every valid page of a claimed block in one go, and reports where each went. Returns
    /// their number.
    #[inline(always)]
    pub fn empty<W: Watch>(
        &mut self,
        plane: PlaneId,
        victim: BlockId,
        cx: &mut Context<'_, W>,
        mut went: impl FnMut(Ppn, Placed),
    ) -> u64 {
        self.list_victim(victim, cx);
        self.ftl.empty(victim);
        let is_global = cx.plan.gc.copy.is_global();
        let go_together = !is_global && self.copies_run();
        let mut at = 0;
        while at < self.scratch.len() {
            if go_together {
                at += self.copy_run(at, plane, cx, &mut went);
            }
            let Some(&from) = self.scratch.get(at) else { break };
            let to = if is_global { self.copy_target(cx.plan, plane) } else { plane };
            self.ftl.owe(self.scratch.len() - at - 1);
            let placed = self.copy_page::<true, W>(from, to, None, Cause::Copy { from }, cx);
            self.seal_if_filled(placed, cx);
            went(from, placed);
            at += 1;
        }
        self.ftl.owe(0);
        self.scratch.len() as u64
    }

    /// Whether consecutive copies come to adjacent pages.
    #[inline(always)]
    fn copies_run(&self) -> bool {
        self.gc.placement.is_none() && self.ftl.copies_run()
    }

    /// Moves valid pages of victims to adjacent pages, as far as the open block has them, without
    /// its last one. Returns their number. A watcher is not notified of each copy.
    pub fn copy_run_of_victim<W: Watch>(
        &mut self,
        copies: &mut [Copy],
        plane: PlaneId,
        cx: &Context<'_, W>,
    ) -> usize {
        debug_assert!(!cx.watch.needs_copies(), "a watcher sees each copy");
        if !self.copies_run() {
            return 0;
        }
        let geometry = &cx.plan.geometry;
        let from = copies.iter().map(|copy| &copy.from);
        let (first, pages) = self.ftl.copy_run(geometry, from, plane);
        for (copy, to) in copies[..pages].iter_mut().zip(first.0..) {
            let (block, page) = geometry.block_and_page(copy.from);
            self.ftl.blocks.remove_valid(block, page);
            copy.to = Ppn(to);
        }
        pages
    }

    /// Moves pages of an emptied block, from index `at` of the list, to adjacent pages, up to the
    /// last one of the open block. Returns their number.
    #[inline(always)]
    fn copy_run<W: Watch>(
        &mut self,
        at: usize,
        plane: PlaneId,
        cx: &mut Context<'_, W>,
        went: &mut impl FnMut(Ppn, Placed),
    ) -> usize {
        let left = self.scratch[at..].iter();
        let (first, pages) = self.ftl.copy_run(&cx.plan.geometry, left, plane);
        for (&from, to) in self.scratch[at..at + pages].iter().zip(first.0..) {
            let placed = Placed::of_copy(Ppn(to));
            if W::OPERATIONS {
                let (lpn, cause) = (self.ftl.map.lpn_of(placed.ppn), Cause::Copy { from });
                cx.notify(Happened::Programmed { ppn: placed.ppn, lpn, cause, current: true });
            }
            went(from, placed);
        }
        pages
    }

    /// Erases victims whose pages have all moved, in one operation.
    pub fn erase_victims<W: Watch>(
        &mut self,
        plane: PlaneId,
        victims: &[Victim],
        cx: &mut Context<'_, W>,
    ) {
        let erases = self.is_erased(victims);
        for victim @ &Victim { block, .. } in victims {
            if victim.role != Role::Victim {
                self.release_beside(victim, cx);
                continue;
            }
            self.ftl.erase(&cx.plan.geometry, block);
            self.pass_on_facts(cx);
        }
        if erases {
            cx.counters.erase_operations += cx.plan.geometry.erases_of_block();
        }
        self.gc.check_trigger_to_stop(plane, &sight!(self, cx));
    }

    /// Fills a program that copies have begun in a plane with slots that hold no data. Returns the
    /// last one, if there was such a program. Each class may have one.
    pub fn pad_copies<W: Watch>(&mut self, plane: PlaneId, cx: &mut Context<'_, W>) -> Option<Ppn> {
        let stream = self.gc.placement.is_none().then_some(Stream::Gc);
        self.pad(plane, stream, true, cx)
    }

    /// Pads the programs of writes of this stream.
    pub fn pad_writes<W: Watch>(
        &mut self,
        plane: PlaneId,
        stream: Stream,
        cx: &mut Context<'_, W>,
    ) {
        self.pad(plane, Some(stream), false, cx);
    }

    /// Fills every program that is begun.
    pub fn pad_all<W: Watch>(&mut self, cx: &mut Context<'_, W>) {
        for plane in (0..cx.plan.geometry.planes).map(PlaneId) {
            while self.pad(plane, None, false, cx).is_some() {}
        }
    }

    #[inline(never)]
    fn pad<W: Watch>(
        &mut self,
        plane: PlaneId,
        stream: Option<Stream>,
        collects: bool,
        cx: &mut Context<'_, W>,
    ) -> Option<Ppn> {
        let (plan, mut last) = (cx.plan, None);
        let ends = |ppn: Option<Ppn>| ppn.is_some_and(|ppn| plan.geometry.shape.ends_program(ppn));
        while !ends(last)
            && let Some(taken) = self.ftl.frontiers.take_begun(&plan.geometry, plane, stream)
        {
            cx.counters.padded += 1;
            cx.notify(Happened::Padded { ppn: taken.ppn, collects });
            if taken.filled.is_some() {
                self.seal(taken.filled, cx);
            }
            last = Some(taken.ppn);
        }
        if last.is_some() {
            self.check_trigger(plane, cx);
        }
        last
    }
}
