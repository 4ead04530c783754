//! The triggers `used-space` and `garbage-share`: when planes need space by them, and which blocks
//! are collected.
//!
//! 1. A page is taken, or a block comes onto a list: are too many pages of the device in use, or is
//!    too much of them garbage?
//! 2. If so, every plane with a list needs space; or, where one block is collected for each
//!    finding, the plane whose first victim ranks before those of the others.
//! 3. The unit turns to collection. The policy chooses among the blocks on the plane's list.
//! 4. The erase: is that enough? With an empty list nothing more is done.
//!
//! A plane whose free space is down to the reserve of collection needs space in any case. Its list
//! is collected first, and with an empty list the block with the fewest valid pages: a drive whose
//! data leaves no block for a list still runs. The paper does not describe empty lists:
//! docs/schemes/on-demand.md#an-empty-list.

use super::Batch;
use super::trigger::Sight;
use super::used_space::{Counted, Measure, SpaceOf, UsedSpace, VictimLists};
use super::victim::{Loss, VictimPolicy};
use super::{Gc, Victim};
use crate::ftl::blocks::BlockState;
use crate::ftl::{Ftl, Lost, Placed};
use crate::ids::{BlockId, PlaneId, UnitId};

impl Gc {
    /// A page became invalid, and the trigger or the policy records that.
    #[inline(never)]
    pub fn note_loss(&mut self, lost: Lost, sight: &Sight<'_>) {
        let Lost { plane, block, valid, state, .. } = lost;
        if state == BlockState::Victim {
            return;
        }
        let is_sealed = state == BlockState::Sealed;
        if is_sealed {
            self.fewest.invalidated(plane, block, valid);
        }
        let at_ns = sight.age_now_ns;
        self.victim.lost(plane, block, Loss { valid, is_sealed, at_ns });
        let comes = |lists: &VictimLists| lists.rules.most_valid == valid;
        if is_sealed && self.lists.as_ref().is_some_and(comes) {
            self.listed(plane, sight);
        }
    }

    /// A block is a candidate from now on, and may go onto its plane's list at once.
    pub(super) fn may_list(&mut self, plane: PlaneId, valid: u32, sight: &Sight<'_>) {
        if self.lists.as_ref().is_some_and(|lists| lists.takes(valid)) {
            self.listed(plane, sight);
        }
    }

    /// A collection takes a block.
    pub(super) fn leaves_list(&mut self, plane: PlaneId, valid: u32) {
        if let Some(lists) = &mut self.lists {
            let was_listed = lists.claim(plane, valid);
            self.fallbacks += u64::from(!was_listed);
        }
    }

    /// A collection has its victims: how many pages will it free? Those of one that is fixed were
    /// taken already.
    pub fn expect_from(&mut self, unit: UnitId, victims: &[Victim], moves: u32, pages: u32) {
        if let Some(lists) = &mut self.lists {
            lists.expect(unit.index(), victims.len() as u32 * pages - moves);
        }
    }

    /// A copy took its page: one page more to come. One whose data was rewritten meanwhile is
    /// invalid from the start.
    pub fn note_copy(&mut self, unit: UnitId, placed: Placed, sight: &Sight<'_>) {
        if let Some(lists) = &mut self.lists {
            lists.expect(unit.index(), 1);
        }
        if !placed.current {
            let block = sight.geometry.block_of(placed.ppn);
            let plane = sight.geometry.plane_of_block(block);
            let valid = sight.ftl.blocks.valid(block);
            let loss = Loss { valid, is_sealed: false, at_ns: sight.age_now_ns };
            self.victim.lost(plane, block, loss);
        }
    }

    fn listed(&mut self, plane: PlaneId, sight: &Sight<'_>) {
        let Some(lists) = &mut self.lists else { return };
        lists.add(plane);
        if self.triggered[plane.index()] {
            // It had no victim until now.
            self.call_unit(sight.geometry.unit_of(plane));
        }
        self.check_used_space(plane, sight);
    }

    /// Are too many pages in use? The page that was taken, or the block that was listed or erased,
    /// belongs to this plane.
    #[inline(never)]
    pub fn check_used_space(&mut self, plane: PlaneId, sight: &Sight<'_>) {
        let Some(lists) = &mut self.lists else { return };
        let is_on = lists.is_on(counted(&lists.rules, plane, sight.ftl));
        if lists.rules.of == SpaceOf::Plane {
            if is_on && lists.listed(plane) > 0 {
                self.call(plane, sight);
            }
            return;
        }
        if !is_on {
            if std::mem::take(&mut lists.all_requested) {
                self.enough_for_all(sight);
            }
        } else if lists.one_by_one {
            self.request_one(sight);
        } else if lists.all_requested {
            if lists.listed(plane) > 0 {
                self.call(plane, sight);
            }
        } else {
            lists.all_requested = true;
            self.request_all(sight);
        }
    }

    /// Every plane with a list needs space.
    fn request_all(&mut self, sight: &Sight<'_>) {
        for plane in (0..sight.geometry.planes).map(PlaneId) {
            if self.lists.as_ref().is_some_and(|lists| lists.listed(plane) > 0) {
                self.call(plane, sight);
            }
        }
    }

    /// One block for one finding: the plane whose first victim ranks before the first victims of
    /// the other planes needs space. Planes that are being collected, or will be, are skipped.
    fn request_one(&mut self, sight: &Sight<'_>) {
        let mut best: Option<(PlaneId, BlockId)> = None;
        if self.lists.as_ref().is_none_or(VictimLists::is_empty) {
            return;
        }
        let candidates = self.candidates(sight);
        for plane in (0..sight.geometry.planes).map(PlaneId) {
            if self.triggered[plane.index()] || self.busy_planes[plane.index()] {
                continue;
            }
            let Some(victim) = self.pick_from_list(plane, sight) else { continue };
            if best.is_none_or(|(_, first)| self.victim.before(victim, first, &candidates)) {
                best = Some((plane, victim));
            }
        }
        let Some((plane, _)) = best else { return };
        if let Some(lists) = &mut self.lists {
            lists.request_one(plane);
        }
        self.call(plane, sight);
    }

    /// A plane needs space, and its unit is checked.
    fn call(&mut self, plane: PlaneId, sight: &Sight<'_>) {
        if self.triggered[plane.index()] {
            return;
        }
        self.request_space(plane, sight.geometry);
        self.call_unit(sight.geometry.unit_of(plane));
        if let Some(planes) = self.lists.as_mut().and_then(|lists| lists.untimed.as_mut()) {
            planes.push(plane);
        }
    }

    /// Space is enough. Planes that have not begun need not begin; but where the whole list is
    /// collected, the finding holds for every plane.
    fn enough_for_all(&mut self, sight: &Sight<'_>) {
        if sight.rules.trigger.batch == Batch::List {
            return;
        }
        for plane in (0..sight.geometry.planes).map(PlaneId) {
            if !self.busy_planes[plane.index()] && !is_down_to_reserve(plane, sight) {
                self.has_space_again(plane, sight);
            }
        }
    }

    /// After an erase: this plane has the space that it needs, unless it is down to the reserve of
    /// collection; and is the space now enough by the trigger?
    #[cold]
    pub(super) fn used_space_won(&mut self, plane: PlaneId, sight: &Sight<'_>) {
        let unit = sight.geometry.unit_of(plane);
        if let Some(lists) = &mut self.lists {
            lists.given(unit.index());
        }
        if !is_down_to_reserve(plane, sight) {
            self.has_space_again(plane, sight);
        }
        self.check_used_space(plane, sight);
    }

    /// The first victim on the plane's list. With an empty list, and no more erased blocks than
    /// collection needs for itself, the block with the fewest valid pages.
    pub(super) fn pick_listed(&mut self, plane: PlaneId, sight: &Sight<'_>) -> Option<BlockId> {
        if let Some(victim) = self.pick_from_list(plane, sight) {
            return Some(victim);
        }
        if !is_down_to_reserve(plane, sight) {
            return None;
        }
        let candidates = self.candidates(sight);
        self.fewest.pick(plane, &candidates, &mut self.random)
    }

    fn pick_from_list(&mut self, plane: PlaneId, sight: &Sight<'_>) -> Option<BlockId> {
        let lists = self.lists.as_ref().filter(|lists| lists.listed(plane) > 0)?;
        let most_valid = lists.rules.most_valid;
        let victim = self.choose_by_policy(plane, most_valid, sight)?;
        (sight.ftl.blocks.valid(victim) <= most_valid).then_some(victim)
    }

    /// While the drive is preconditioned: a plane that the page of another made due.
    #[cold]
    pub fn next_untimed(&mut self) -> Option<PlaneId> {
        self.lists.as_mut()?.untimed.as_mut()?.pop()
    }

    /// Measuring begins. Times of pages that went invalid before are not part of a drive: the
    /// policy works with the times that are known.
    pub(super) fn books_begin(&mut self, sight: &Sight<'_>) {
        let candidates = self.candidates(sight);
        self.victim.measuring_begins(&candidates);
        if let Some(lists) = &mut self.lists {
            lists.measuring_begins();
        }
        for plane in (0..sight.geometry.planes).map(PlaneId) {
            self.check_used_space(plane, sight);
        }
    }
}

/// The pages that the trigger counts for this plane.
pub fn counted(rules: &UsedSpace, plane: PlaneId, ftl: &Ftl) -> Counted {
    let (frontiers, reclaimable) = (&ftl.frontiers, &ftl.blocks.reclaimable);
    let (free, of_garbage) = match rules.of {
        SpaceOf::Device => (frontiers.free_total(), &reclaimable[..]),
        SpaceOf::Plane => {
            let at = plane.index();
            (u64::from(frontiers.free_pages(plane)), &reclaimable[at..=at])
        }
    };
    let garbage = match rules.measure {
        Measure::Used { .. } => 0,
        Measure::Garbage { .. } => of_garbage.iter().map(|&pages| u64::from(pages)).sum(),
    };
    Counted { free, garbage }
}

/// Whether the plane has no more erased blocks, or pages, than collection needs for itself.
fn is_down_to_reserve(plane: PlaneId, sight: &Sight<'_>) -> bool {
    let frontiers = &sight.ftl.frontiers;
    sight.rules.trigger.soft.is_short(sight.ftl, plane, false)
        || !frontiers.has_pages_above_reserve(plane)
}
