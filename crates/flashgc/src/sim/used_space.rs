//! The trigger `used-space`: when planes need space by it, and which blocks are collected.
//!
//! 1. A page is taken, or a block comes onto a list: are too many pages of the device in use?
//! 2. If so, every plane with a list needs space; or, where one block is collected for each
//!    finding, the plane whose first victim ranks before those of the others.
//! 3. The unit turns to collection. The policy chooses among the blocks on the plane's list.
//! 4. The erase: is that enough? With an empty list nothing more is done.
//!
//! A plane whose free space is down to the reserve of collection needs space in any case. Its list
//! is collected first, and with an empty list the block with the fewest valid pages: a drive whose
//! data leaves no block for a list still runs. The paper does not describe empty lists:
//! docs/schemes/on-demand.md#an-empty-list.

use super::Sim;
use crate::ftl::Lost;
use crate::ftl::blocks::BlockState;
use crate::gc::slots::Batch;
use crate::gc::used_space::{SpaceOf, VictimLists};
use crate::gc::victim::{Candidates, Loss, VictimPolicy};
use crate::ids::{BlockId, PlaneId, Ppn, UnitId};
use crate::verify::{Happened, Watch};

impl<W: Watch> Sim<W> {
    /// A block is full. It may go onto its plane's list at once.
    pub(super) fn note_sealed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.gc.victim.sealed(plane, block, valid);
        if self.gc.lists.as_ref().is_some_and(|lists| lists.takes(valid)) {
            self.listed(plane);
        }
    }

    /// A block of a drive that changed hands is full. The trigger is not checked before the whole
    /// drive is there.
    pub(super) fn note_restored(&mut self, plane: PlaneId, block: BlockId) {
        let valid = self.ftl.blocks.valid(block);
        self.gc.victim.sealed(plane, block, valid);
        if let Some(lists) = self.gc.lists.as_mut().filter(|lists| lists.takes(valid)) {
            lists.add(plane);
        }
    }

    /// A page became invalid, and the trigger or the policy records that.
    #[inline(never)]
    pub(super) fn note_loss(&mut self, lost: Lost) {
        let Lost { plane, block, valid, state, .. } = lost;
        if state == BlockState::Victim {
            return;
        }
        let is_sealed = state == BlockState::Sealed;
        let at_ns = self.age_now_ns();
        self.gc.victim.lost(plane, block, Loss { valid, is_sealed, at_ns });
        let comes = |lists: &VictimLists| lists.rules.most_valid == valid;
        if is_sealed && self.gc.lists.as_ref().is_some_and(comes) {
            self.listed(plane);
        }
    }

    /// A collection takes a block.
    pub(super) fn note_claimed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.gc.victim.claimed(plane, block, valid);
        self.tell(Happened::Claimed { block });
        self.ahead_leaves(plane, block);
        if let Some(lists) = &mut self.gc.lists {
            let was_listed = lists.claim(plane, valid);
            self.counters.fallbacks += u64::from(!was_listed);
        }
    }

    /// A collection has its victims: how many pages will it free?
    pub(super) fn note_job(&mut self, unit: UnitId) {
        let Some(lists) = &mut self.gc.lists else { return };
        let job = &self.gc.jobs[unit.index()];
        let pages = job.victims.len() as u32 * self.plan.geometry.shape.data_pages();
        // The pages of a collection that is fixed were taken already.
        let moves = if job.fixed { 0 } else { job.valid_at_selection };
        lists.expect(unit.index(), pages - moves);
    }

    /// A copy took its page: one page more to come. One whose data was rewritten meanwhile is
    /// invalid from the start.
    pub(super) fn note_copy(&mut self, unit: UnitId, to: Ppn, current: bool) {
        if let Some(lists) = &mut self.gc.lists {
            lists.expect(unit.index(), 1);
        }
        if !current {
            let block = self.plan.geometry.block_of(to);
            let (plane, at_ns) = (self.plan.geometry.plane_of_block(block), self.age_now_ns());
            let valid = self.ftl.blocks.valid(block);
            self.gc.victim.lost(plane, block, Loss { valid, is_sealed: false, at_ns });
        }
    }

    fn listed(&mut self, plane: PlaneId) {
        let Some(lists) = &mut self.gc.lists else { return };
        lists.add(plane);
        if self.gc.wants[plane.index()] {
            // It had no victim until now.
            self.look_at(self.plan.geometry.unit_of(plane));
        }
        self.ask_used_space(plane);
    }

    /// Are too many pages in use? The page that was taken, or the block that was listed or erased,
    /// belongs to this plane.
    #[inline(never)]
    pub(super) fn ask_used_space(&mut self, plane: PlaneId) {
        let Some(lists) = &mut self.gc.lists else { return };
        let free_pages = match lists.rules.of {
            SpaceOf::Device => self.ftl.frontiers.free_total(),
            SpaceOf::Plane => u64::from(self.ftl.frontiers.free_pages(plane)),
        };
        let is_on = lists.is_on(free_pages);
        if lists.rules.of == SpaceOf::Plane {
            if is_on && lists.listed(plane) > 0 {
                self.call(plane);
            }
            return;
        }
        if !is_on {
            if std::mem::take(&mut lists.all_asked) {
                self.enough_for_all();
            }
        } else if lists.one_by_one {
            self.ask_for_one();
        } else if lists.all_asked {
            if lists.listed(plane) > 0 {
                self.call(plane);
            }
        } else {
            lists.all_asked = true;
            self.ask_all();
        }
    }

    /// Every plane with a list needs space.
    fn ask_all(&mut self) {
        for plane in (0..self.plan.geometry.planes).map(PlaneId) {
            if self.gc.lists.as_ref().is_some_and(|lists| lists.listed(plane) > 0) {
                self.call(plane);
            }
        }
    }

    /// One block for one finding: the plane whose first victim ranks before those of the others
    /// needs space. Planes that are being collected, or will be, are passed over.
    fn ask_for_one(&mut self) {
        let mut best: Option<(PlaneId, BlockId)> = None;
        if self.gc.lists.as_ref().is_none_or(VictimLists::is_empty) {
            return;
        }
        for plane in (0..self.plan.geometry.planes).map(PlaneId) {
            if self.gc.wants[plane.index()] || self.gc.busy_planes[plane.index()] {
                continue;
            }
            let Some(victim) = self.pick_from_list(plane) else { continue };
            let candidates = self.candidates();
            if best.is_none_or(|(_, first)| self.gc.victim.before(victim, first, &candidates)) {
                best = Some((plane, victim));
            }
        }
        let Some((plane, _)) = best else { return };
        if let Some(lists) = &mut self.gc.lists {
            lists.ask_for_one(plane);
        }
        self.call(plane);
    }

    /// A plane needs space, and its unit is checked.
    fn call(&mut self, plane: PlaneId) {
        if self.gc.wants[plane.index()] {
            return;
        }
        self.want_space(plane);
        self.look_at(self.plan.geometry.unit_of(plane));
        if let Some(planes) = self.gc.lists.as_mut().and_then(|lists| lists.untimed.as_mut()) {
            planes.push(plane);
        }
    }

    /// Space is enough. Planes that have not begun need not begin; but where the whole list is
    /// collected, the finding holds for every plane.
    fn enough_for_all(&mut self) {
        if self.plan.gc.trigger.batch == Batch::List {
            return;
        }
        for plane in (0..self.plan.geometry.planes).map(PlaneId) {
            if !self.gc.busy_planes[plane.index()] && !self.is_down_to_reserve(plane) {
                self.wants_no_more(plane);
            }
        }
    }

    /// Whether the plane has no more erased blocks than collection needs for itself.
    fn is_down_to_reserve(&self, plane: PlaneId) -> bool {
        self.plan.gc.trigger.soft.is_short(&self.ftl, plane, false)
    }

    /// After an erase: this plane has the space that it needs, unless it is down to the reserve of
    /// collection; and is the space now enough by the trigger?
    #[cold]
    pub(super) fn used_space_won(&mut self, plane: PlaneId) {
        let unit = self.plan.geometry.unit_of(plane);
        if let Some(lists) = &mut self.gc.lists {
            lists.given(unit.index());
        }
        if !self.is_down_to_reserve(plane) {
            self.wants_no_more(plane);
        }
        self.ask_used_space(plane);
    }

    /// Every block, as a policy sees them.
    fn candidates(&self) -> Candidates<'_> {
        candidates!(self)
    }

    /// The first victim on the plane's list. With an empty list, and no more erased blocks than
    /// collection needs for itself, the block with the fewest valid pages.
    pub(super) fn pick_listed(&mut self, plane: PlaneId) -> Option<BlockId> {
        if let Some(victim) = self.pick_from_list(plane) {
            return Some(victim);
        }
        if !self.is_down_to_reserve(plane) {
            return None;
        }
        self.candidates().fewest_kept(plane)
    }

    fn pick_from_list(&mut self, plane: PlaneId) -> Option<BlockId> {
        let lists = self.gc.lists.as_ref().filter(|lists| lists.listed(plane) > 0)?;
        let most_valid = lists.rules.most_valid;
        let victim = self.ask_policy(plane, most_valid)?;
        (self.ftl.blocks.valid(victim) <= most_valid).then_some(victim)
    }

    /// Collects, untimed, in the planes that a page of another plane made due for collection.
    #[cold]
    pub(super) fn collect_asked_untimed(&mut self) {
        loop {
            let lists = self.gc.lists.as_mut().and_then(|lists| lists.untimed.as_mut());
            let Some(plane) = lists.and_then(Vec::pop) else { return };
            if self.gc.wants[plane.index()] {
                self.collect_untimed(plane);
            }
        }
    }

    /// Measuring begins. Times of pages that went invalid before are not part of a drive: the
    /// policy works with the times that are known.
    pub(super) fn books_begin(&mut self) {
        let candidates = candidates!(self);
        self.gc.victim.measuring_begins(&candidates);
        if let Some(lists) = &mut self.gc.lists {
            lists.measuring_begins();
        }
        for plane in (0..self.plan.geometry.planes).map(PlaneId) {
            self.ask_used_space(plane);
        }
    }
}
