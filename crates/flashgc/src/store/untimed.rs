//! Untimed writing: the drive is brought to the state in which measuring begins, through the same
//! translation layer and the same collector.
//!
//! No unit and no bus is kept busy. The age clock advances by the program time over the number of
//! units for each page programmed, so that policies that use ages get sensible ones.

use super::steady::WINDOWS_PER_DRIVE_WRITE;
use super::{NoSpace, SteadyWatch, Store};
use crate::context::{Context, Copied};
use crate::ftl::{Placed, Writer};
use crate::gc::foresight::Foresight;
use crate::gc::placement::Placement;
use crate::gc::{Role, Victim};
use crate::ids::{BlockId, Lpn, PlaneId};
use crate::plan::Plan;
use crate::stats::{Batches, Sums};
use crate::verify::{Cause, Watch};
use crate::workload::sprandom::Sprandom;
use crate::workload::{Overwrites, SourceError};
use std::sync::Arc;

/// Pages that are drawn at once, before they are written.
const AHEAD: usize = 16;
/// Pages between asking for the accounts that one needs, and that one.
const BETWEEN: u64 = AHEAD as u64 / 2;

/// The reason for the early end of untimed writing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UntimedError {
    /// The workload failed; the text names the place.
    Source(SourceError),
    /// A write needs space that collection cannot free.
    NoSpace(NoSpace),
}

impl From<SourceError> for UntimedError {
    fn from(error: SourceError) -> Self {
        UntimedError::Source(error)
    }
}

/// Pages overwritten before the measured part.
#[derive(Clone, Copy, Debug, Default)]
pub struct Overwritten {
    pages: u64,
    /// Copies made until it began.
    moved_before: u64,
}

/// A store that is written untimed.
pub struct Untimed<'a, W> {
    /// The store.
    pub store: &'a mut Store,
    /// The surroundings of all rooms.
    pub cx: Context<'a, W>,
    /// Write amplification over the course of overwriting.
    pub batches: &'a mut Batches,
    /// Pages overwritten.
    pub overwritten: &'a mut Overwritten,
}

impl<W> Drop for Untimed<'_, W> {
    fn drop(&mut self) {
        self.store.forget_news();
    }
}

impl<W: Watch> Untimed<'_, W> {
    /// Writes the user pages `from..to` in order.
    pub fn fill(&mut self, from: u32, to: u32) -> Result<(), UntimedError> {
        self.fill_hinted(from, to, |_| 0)
    }

    /// Fills a range of pages, each with a hint.
    pub fn fill_hinted(
        &mut self,
        from: u32,
        to: u32,
        hint: impl Fn(u32) -> u8,
    ) -> Result<(), UntimedError> {
        for lpn in from..to {
            self.write(Lpn(lpn), hint(lpn))?;
        }
        Ok(())
    }

    /// Writes the user pages `from..to` in order, so that each block has consecutive pages of its
    /// pool: a pool continues in its next plane when a page has filled a block.
    pub fn fill_by_block(
        &mut self,
        from: u32,
        to: u32,
        hint: impl Fn(u32) -> u8,
    ) -> Result<(), UntimedError> {
        let plan = self.cx.plan;
        for lpn in (from..to).map(Lpn) {
            let plane = self.store.alloc.plane_in_turn(plan, lpn);
            if let Some(filled) = self.write_in(plane, lpn, hint(lpn.0))? {
                self.store.alloc.has_chosen(plan, filled);
            }
        }
        Ok(())
    }

    /// Writes at most `most` pages of a pass, each with its hint; returns their number, which is
    /// smaller at the end of the pass.
    pub fn fill_once(
        &mut self,
        source: &mut Sprandom,
        most: u64,
        hint: impl Fn(u32) -> u8,
    ) -> Result<u64, UntimedError> {
        for written in 0..most {
            let Some(page) = source.next() else { return Ok(written) };
            self.write(Lpn(page as u32), hint(page as u32))?;
        }
        Ok(most)
    }

    /// Overwrites `count` pages that the source gives.
    pub fn overwrite(
        &mut self,
        source: &mut dyn Overwrites,
        count: u64,
    ) -> Result<(), UntimedError> {
        self.overwrite_drawn::<false>(source, count)
    }

    /// Overwrites pages, each with its hint.
    pub fn overwrite_hinted(
        &mut self,
        source: &mut dyn Overwrites,
        count: u64,
    ) -> Result<(), UntimedError> {
        self.overwrite_drawn::<true>(source, count)
    }

    #[inline(always)]
    fn overwrite_drawn<const HINTS: bool>(
        &mut self,
        source: &mut dyn Overwrites,
        count: u64,
    ) -> Result<(), UntimedError> {
        // Addresses are drawn in advance, so that the map's entries are in the cache when they are
        // needed, and then the accounts of the pages that are left.
        let mut ahead = [Lpn::NONE; 2 * AHEAD];
        let mut hints = [0; 2 * AHEAD];
        let (mut drawn, mut written) = (0, 0);
        self.overwriting_begins();
        while written < count {
            while drawn < count.min(written + 2 * AHEAD as u64) {
                let at = drawn as usize % (2 * AHEAD);
                let lpn = if HINTS {
                    let (lpn, hint) = source.next_hinted()?;
                    hints[at] = hint;
                    lpn
                } else {
                    source.next()?
                };
                self.store.prefetch(lpn);
                ahead[at] = lpn;
                drawn += 1;
            }
            let now = (count - written).min(AHEAD as u64);
            for at in written..written + now {
                let drawn_at = |at: u64| ahead[at as usize % (2 * AHEAD)];
                if at + BETWEEN < drawn {
                    let later = drawn_at(at + BETWEEN);
                    self.store.ftl.prefetch_old(&self.cx.plan.geometry, later);
                }
                let hint = if HINTS { hints[at as usize % (2 * AHEAD)] } else { 0 };
                self.write(drawn_at(at), hint)?;
            }
            written += now;
            self.note_overwritten(now);
        }
        Ok(())
    }

    /// A window of overwriting is over: is write amplification steady?
    pub fn is_steady(&self, watch: &mut SteadyWatch, written: u64) -> bool {
        watch.add(written, self.cx.counters.gc_moved)
    }

    /// Pages of one window.
    pub fn steady_window_pages(&self) -> u64 {
        u64::from(self.cx.plan.geometry.exported_pages).div_ceil(WINDOWS_PER_DRIVE_WRITE)
    }

    /// Copies since the drive was made or measuring began.
    pub fn pages_moved(&self) -> u64 {
        self.cx.counters.gc_moved
    }

    /// Passes the future changes of the run to the placement.
    pub fn foresee(&mut self, foresight: &Arc<Foresight>) {
        if let Some(placement) = &mut self.store.gc.placement {
            placement.foresee(foresight);
        }
    }

    fn overwriting_begins(&mut self) {
        if self.overwritten.pages == 0 {
            self.overwritten.moved_before = self.cx.counters.gc_moved;
        }
    }

    #[inline(always)]
    fn note_overwritten(&mut self, pages: u64) {
        self.overwritten.pages += pages;
        if self.overwritten.pages >= self.batches.next_at() {
            let written = self.overwritten.pages;
            let copies = self.cx.counters.gc_moved - self.overwritten.moved_before;
            self.batches.end(Sums { written, programmed: written + copies });
        }
    }

    #[inline(always)]
    pub(super) fn write(&mut self, lpn: Lpn, hint: u8) -> Result<(), UntimedError> {
        let Untimed { store, cx, .. } = self;
        let plane = store.plane_of_untimed(cx.plan, lpn);
        self.write_in(plane, lpn, hint).map(|_| ())
    }

    /// Writes to this plane, or to another of its pool if it has no page. Returns the plane whose
    /// block the page has filled.
    #[inline(always)]
    fn write_in(
        &mut self,
        plane: PlaneId,
        lpn: Lpn,
        hint: u8,
    ) -> Result<Option<PlaneId>, UntimedError> {
        let (plane, filled) = self.place_in(plane, lpn, hint)?;
        if self.store.gc.triggered[plane.index()] {
            self.collect(plane);
        }
        if self.store.gc.keeps_books {
            self.collect_called();
        }
        Ok(filled.then_some(plane))
    }

    /// Writes a page, before any collection that follows. Returns the plane, and whether the page
    /// has filled its block.
    #[inline(always)]
    pub(super) fn place_in(
        &mut self,
        mut plane: PlaneId,
        lpn: Lpn,
        hint: u8,
    ) -> Result<(PlaneId, bool), UntimedError> {
        if !self.store.ftl.host_has_room(plane) {
            plane = self.make_room(plane)?;
        }
        let Untimed { store, cx, .. } = self;
        let (cause, writer) = (Cause::Host { op: u32::MAX }, || Writer::with_hint(hint));
        let filled = store.write_page(plane, lpn, cause, writer, cx);
        store.tick(1);
        Ok((plane, filled))
    }

    /// Collects until the host has a page in this plane; where writes may go to other planes, in
    /// any plane of the pool.
    #[cold]
    fn make_room(&mut self, plane: PlaneId) -> Result<PlaneId, UntimedError> {
        let plan = self.cx.plan;
        let pool = plan.pools.of_plane(plane);
        for &plane in plan.pools.planes(pool) {
            while !self.store.ftl.host_has_room(plane) {
                let Some(victim) = self.store.request_space(plane, &self.cx) else { break };
                self.collect_victim(plane, victim);
            }
            if self.store.ftl.host_has_room(plane) {
                return Ok(plane);
            }
        }
        Err(UntimedError::NoSpace(self.store.no_space(plane)))
    }

    /// Collects in the planes that a page of another plane made due for collection.
    #[cold]
    fn collect_called(&mut self) {
        while let Some(plane) = self.store.gc.next_untimed() {
            if self.store.gc.triggered[plane.index()] {
                self.collect(plane);
            }
        }
    }

    /// Collects until the plane has enough, or no page can be freed.
    fn collect(&mut self, plane: PlaneId) {
        while self.collect_batch(plane, |_, _| {}) {}
    }

    /// One batch, where the plane needs space; `ended` receives the number of erased pages before
    /// each collection. Returns whether anything was collected.
    #[inline(always)]
    pub(super) fn collect_batch(
        &mut self,
        plane: PlaneId,
        mut ended: impl FnMut(&mut Self, u32),
    ) -> bool {
        if !self.store.gc.can_collect(&self.store.ftl, plane) {
            return false;
        }
        let mut left = self.store.batch(plane, &self.cx);
        let mut next = self.store.pick_victim(plane, &self.cx);
        let has_collected = next.is_some();
        while let Some(victim) = next {
            let free_pages_before = self.store.ftl.frontiers.free_pages(plane);
            self.collect_victim(plane, victim);
            ended(self, free_pages_before);
            next = self.next_of_batch(plane, &mut left);
        }
        has_collected
    }

    fn next_of_batch(&mut self, plane: PlaneId, left: &mut u32) -> Option<BlockId> {
        let ended = std::mem::take(&mut self.store.victims);
        let next = self.store.next_of_batch(plane, left, &ended, &self.cx);
        self.store.victims = ended;
        next
    }

    pub(super) fn collect_victim(&mut self, plane: PlaneId, victim: BlockId) {
        let Untimed { store, cx, .. } = self;
        let mut victims = std::mem::take(&mut store.victims);
        store.claim_victims(plane, victim, &mut victims, cx);
        store.empty_untimed(plane, &victims, cx);
        store.victims = victims;
    }
}

impl Store {
    /// The plane of an untimed write. Those of a program are written one after the other.
    #[inline(always)]
    fn plane_of_untimed(&mut self, plan: &Plan, lpn: Lpn) -> PlaneId {
        let slots = plan.geometry.shape.program_slots;
        if slots == 1 {
            return self.alloc.plane_for_write(plan, &self.ftl, lpn);
        }
        let begun = self.slots_left.filter(|&(_, left)| left > 0);
        let chosen = || (self.alloc.plane_by_turn(plan, &self.ftl, lpn), slots);
        let (plane, left) = begun.unwrap_or_else(chosen);
        self.slots_left = Some((plane, left - 1));
        plane
    }

    /// Moves the valid pages of claimed blocks, and erases these blocks.
    #[inline(always)]
    fn empty_untimed<W: Watch>(
        &mut self,
        plane: PlaneId,
        victims: &[Victim],
        cx: &mut Context<'_, W>,
    ) {
        let (mut pages, mut beside) = (0, 0);
        for victim in victims {
            let mut filled = 0;
            let went = |_, placed: Placed| filled += u64::from(placed.filled.is_some());
            let moved = self.empty(plane, victim.block, cx, went);
            cx.count_copies(moved, filled);
            self.tick(moved);
            pages += moved as u32;
            beside += if victim.is_erased() { 0 } else { moved as u32 };
        }
        if cx.plan.geometry.shape.pads() {
            while self.pad_copies(plane, cx).is_some() {}
        }
        self.erase_victims(plane, victims, cx);
        cx.count_collection(victims, Copied { pages, steps: pages, beside });
    }

    /// Collects this one sealed block.
    #[cold]
    pub(super) fn collect_block<W: Watch>(
        &mut self,
        plane: PlaneId,
        block: BlockId,
        cx: &mut Context<'_, W>,
    ) {
        let valid = self.claim(block, cx);
        self.empty_untimed(plane, &[Victim { block, valid, role: Role::Victim }], cx);
    }

    /// The age clock advances by the time of this many pages.
    #[inline(always)]
    fn tick(&mut self, pages: u64) {
        self.age_base_ns += pages * self.age_step_ns;
    }
}
