//! The planes that need space, and the victim of each.
//!
//! The collector's memory of every change: the facts of the translation layer come in, and units
//! that should be checked go out ([`Gc::next_called`]).

use super::placement::{ClassPages, Placement};
use super::victim::{Candidates, Policy, VictimPolicy};
use super::{Gc, GcPlan, WORK};
use crate::device::Geometry;
use crate::ftl::blocks::BlockState;
use crate::ftl::{Fact, Ftl, Lost};
use crate::ids::{BlockId, PlaneId, UnitId};

/// The state of the drive that the collector reads.
#[derive(Clone, Copy)]
pub struct Sight<'a> {
    /// Planes and blocks.
    pub geometry: &'a Geometry,
    /// The scheme.
    pub rules: &'a GcPlan,
    /// The translation layer.
    pub ftl: &'a Ftl,
    /// The present, on the clock that also ran while the drive was preconditioned, in ns.
    pub age_now_ns: u64,
}

impl Gc {
    /// The blocks as policies see them.
    #[inline(always)]
    pub fn candidates<'a>(&self, sight: &Sight<'a>) -> Candidates<'a> {
        Candidates {
            geometry: sight.geometry,
            blocks: &sight.ftl.blocks,
            age_now_ns: sight.age_now_ns,
            stamps: &sight.ftl.stamps,
            costs: self.costs,
            most_valid: sight.geometry.shape.most_collected(),
            only: None,
        }
    }

    /// Whether there is a unit that should be checked.
    #[inline(always)]
    pub fn has_called(&self) -> bool {
        !self.called.is_empty()
    }

    /// A unit that should be checked: its plane needs space, or can give some now.
    #[inline]
    pub fn next_called(&mut self) -> Option<UnitId> {
        self.called.pop_front()
    }

    /// While nothing is timed, no unit is checked.
    pub fn call_nobody(&mut self) {
        self.called.clear();
    }

    /// A unit should be checked.
    #[inline(always)]
    pub fn call_unit(&mut self, unit: UnitId) {
        self.called.push_back(unit);
    }

    /// The units of a plane should be checked.
    pub fn call_units(&mut self, plane: PlaneId, geometry: &Geometry) {
        self.call_unit(geometry.unit_of(plane));
        if geometry.has_superblocks() {
            geometry.units_of(plane).into_iter().for_each(|unit| self.call_unit(unit));
        }
    }

    /// A page became invalid: updates the index of victims and the placement. With
    /// [`Gc::keeps_books`], the caller updates the lists and the times as well.
    #[inline(always)]
    pub fn page_was_lost(&mut self, lost: Lost, geometry: &Geometry, ftl: &Ftl) {
        let Lost { plane, block, valid, state, .. } = lost;
        if state == BlockState::Sealed {
            self.victim.invalidated(plane, block, valid);
            if let Some(placement) = &mut self.placement {
                placement.invalidated(plane, block);
            }
            let least = geometry.shape.padded_to;
            if ftl.blocks.reclaimable[plane.index()] == least && self.triggered[plane.index()] {
                // The plane needed space, and until now a collection would have freed none.
                self.call_unit(geometry.unit_of(plane));
            }
        }
    }

    /// A block was opened, sealed, claimed, withheld, erased or released.
    pub fn block_has_changed(&mut self, fact: Fact, sight: &Sight<'_>) {
        let (plane, block) = match fact {
            Fact::Moved { .. } | Fact::ProgramFailed { .. } | Fact::ReadOnly => return,
            Fact::Opened { plane, block } => {
                self.victim.opened(plane, block);
                (plane, block)
            }
            Fact::Sealed { plane, block, valid } => {
                self.victim.sealed(plane, block, valid);
                self.fewest.sealed(plane, block, valid);
                self.may_list(plane, valid, sight);
                self.may_begin_elsewhere(plane, block, sight);
                (plane, block)
            }
            Fact::Claimed { plane, block, valid } => {
                self.victim.claimed(plane, block, valid);
                self.fewest.claimed(plane, block, valid);
                self.reallocated += u64::from(valid > 0);
                self.leaves_list(plane, valid);
                (plane, block)
            }
            Fact::Withheld { plane, block } => (plane, block),
            Fact::Free { plane, block, .. } | Fact::Retired { plane, block, .. } => {
                self.victim.erased(plane, block);
                (plane, block)
            }
        };
        self.notify_placement(fact, block, sight);
        self.changed(sight.ftl, sight.geometry, plane, block);
    }

    /// A block was sealed in a plane that needed space, and until now a collection would have freed
    /// none. Where planes share their blocks, the unit that begins one may have nothing to do with
    /// this block; elsewhere it is the one whose operation fills it, and is checked when that ends.
    #[inline(always)]
    fn may_begin_elsewhere(&mut self, plane: PlaneId, block: BlockId, sight: &Sight<'_>) {
        if sight.geometry.has_superblocks() && self.triggered[plane.index()] {
            let all = sight.ftl.blocks.reclaimable[plane.index()];
            if all > 0 && all == won_of(block, sight) {
                self.call_unit(sight.geometry.unit_of(plane));
            }
        }
    }

    /// Notifies a placement that keeps blocks.
    fn notify_placement(&mut self, fact: Fact, block: BlockId, sight: &Sight<'_>) {
        let Some(placement) = &mut self.placement else { return };
        let Some(facts) = sight.ftl.facts_of(block) else { return };
        match fact {
            Fact::Opened { .. } => placement.opened(facts),
            Fact::Sealed { .. } => placement.sealed(facts),
            Fact::Claimed { .. } => {
                placement.collected(facts, sight.ftl.clock(sight.geometry));
            }
            _ => {}
        }
    }

    /// A block of a drive that changed hands is full. The trigger is not checked before the whole
    /// drive is there.
    pub fn restored(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.victim.sealed(plane, block, valid);
        self.fewest.sealed(plane, block, valid);
        if let Some(lists) = self.lists.as_mut().filter(|lists| lists.takes(valid)) {
            lists.add(plane);
        }
    }

    /// After a page was taken: records the plane if its free space is below the soft threshold.
    /// With [`Gc::keeps_books`], the caller checks the trigger `used-space` as well.
    #[inline(always)]
    pub fn check_trigger(&mut self, plane: PlaneId, plan: &GcPlan, geometry: &Geometry, ftl: &Ftl) {
        if !self.triggered[plane.index()]
            && plan.trigger.soft.is_short(ftl, plane, plan.trigger.inclusive)
        {
            self.request_space(plane, geometry);
        }
    }

    /// A plane needs space from now on.
    #[inline]
    pub fn request_space(&mut self, plane: PlaneId, geometry: &Geometry) {
        if !self.triggered[plane.index()] {
            self.triggered[plane.index()] = true;
            self.units[geometry.unit_of(plane).index()].needs += 1;
        }
    }

    /// A plane has enough.
    pub fn has_space_again(&mut self, plane: PlaneId, sight: &Sight<'_>) {
        if std::mem::take(&mut self.triggered[plane.index()]) {
            self.units[sight.geometry.unit_of(plane).index()].needs -= 1;
        }
    }

    /// After an erase: does the plane still need space?
    pub fn check_trigger_to_stop(&mut self, plane: PlaneId, sight: &Sight<'_>) {
        if self.lists.is_some() {
            return self.used_space_won(plane, sight);
        }
        let trigger = &sight.rules.trigger;
        if self.triggered[plane.index()]
            && !trigger.stop.is_short(sight.ftl, plane, trigger.inclusive)
        {
            self.has_space_again(plane, sight);
        }
    }

    /// Whether a plane of the unit needs space.
    #[inline(always)]
    pub fn unit_is_triggered(&self, unit: UnitId) -> bool {
        self.units[unit.index()].needs & !WORK > 0
    }

    /// A background task has work for the unit that goes before the host, or has none any more.
    pub fn set_work(&mut self, unit: UnitId, has_work: bool) {
        let needs = &mut self.units[unit.index()].needs;
        *needs = *needs & !WORK | if has_work { WORK } else { 0 };
    }

    /// Whether the unit has a collection to begin.
    #[inline(always)]
    pub fn has_needs(&self, unit: UnitId) -> bool {
        self.units[unit.index()].needs > 0
    }

    /// Whether a plane of the unit is so short that collection goes before everything.
    pub fn is_urgent(&self, unit: UnitId, sight: &Sight<'_>) -> bool {
        let trigger = &sight.rules.trigger;
        let Some(hard) = trigger.hard else { return false };
        let planes = sight.geometry.planes_of(unit);
        planes.iter().any(|&plane| hard.is_short(sight.ftl, plane, trigger.inclusive))
    }

    /// A victim in one of the unit's planes that need space, each plane in its turn.
    pub fn victim_for(&mut self, unit: UnitId, sight: &Sight<'_>) -> Option<(PlaneId, BlockId)> {
        for turn in self.turns_of(unit, sight) {
            let plane = sight.geometry.planes_of(unit)[turn];
            if !self.can_collect(sight.ftl, plane) {
                continue;
            }
            if let Some(victim) = self.pick_victim(plane, sight) {
                self.had_turn(unit, turn, sight);
                return Some((plane, victim));
            }
        }
        None
    }

    /// The planes of a unit in their turn, by their place among them.
    pub fn turns_of(&self, unit: UnitId, sight: &Sight<'_>) -> impl Iterator<Item = usize> + use<> {
        let count = sight.geometry.planes_of(unit).len();
        let first = self.units[unit.index()].next_plane as usize;
        (0..count).map(move |at| (first + at) % count)
    }

    /// The plane at this place is collected: the next in turn is the one after it.
    pub fn had_turn(&mut self, unit: UnitId, turn: usize, sight: &Sight<'_>) {
        let count = sight.geometry.planes_of(unit).len();
        self.units[unit.index()].next_plane = ((turn + 1) % count) as u32;
    }

    /// The next victim of a plane.
    pub fn pick_victim(&mut self, plane: PlaneId, sight: &Sight<'_>) -> Option<BlockId> {
        if self.lists.is_some() {
            return self.pick_listed(plane, sight);
        }
        self.choose_by_policy(plane, u32::MAX, sight)
    }

    /// A block with at most `most_valid` valid pages: the one that placement collects by itself, or
    /// else the first by the victim policy.
    pub(super) fn choose_by_policy(
        &mut self,
        plane: PlaneId,
        most_valid: u32,
        sight: &Sight<'_>,
    ) -> Option<BlockId> {
        let all = self.candidates(sight);
        let most_valid = most_valid.min(all.most_valid);
        let all = Candidates { most_valid, ..all };
        let Gc { victim, placement, random, .. } = self;
        let placement = placement.as_deref();
        let only = placement.and_then(Placement::left_to_victim);
        let among = Candidates { only, ..all };
        let victim = match placement.and_then(|placement| placement.due(plane, &all)) {
            Some(due) => due,
            None => match victim.pick(plane, &among, random) {
                // Without a block among these whose collection frees a page, any can be collected.
                picked if only.is_some() && !leads_on(picked, plane, &among, sight) => {
                    victim.pick(plane, &all, random)?
                }
                picked => picked?,
            },
        };
        let is_fit =
            sight.ftl.blocks.is_sealed(victim) && sight.geometry.plane_of_block(victim) == plane;
        assert!(is_fit, "the victim policy named block {} of another plane or not full", victim.0);
        Some(victim)
    }

    /// The sealed block with the fewest valid pages, at least one of which is invalid.
    pub fn least_valid(&mut self, plane: PlaneId, sight: &Sight<'_>) -> Option<BlockId> {
        if sight.ftl.blocks.reclaimable[plane.index()] == 0 {
            return None;
        }
        let candidates = self.candidates(sight);
        match &mut self.victim {
            Policy::greedy(greedy) => greedy.pick(plane, &candidates, &mut self.random),
            _ => candidates.fewest_kept(plane),
        }
    }

    /// Number of blocks of a plane that could be collected now.
    pub fn count_candidates(&self, plane: PlaneId, sight: &Sight<'_>) -> u32 {
        if let Some(lists) = &self.lists {
            return lists.listed(plane);
        }
        let blocks = &sight.ftl.blocks;
        let sealed = |b: &BlockId| blocks.is_sealed(*b) && wins(*b, sight);
        sight.geometry.blocks_of(plane).map(BlockId).filter(sealed).count() as u32
    }

    /// Measuring begins: turns and random numbers from their start.
    pub fn start_measuring(&mut self, seed: u64, sight: &Sight<'_>) {
        self.random = crate::rng::Random::named(seed, "victim");
        if let Some(placement) = &mut self.placement {
            placement.start_counting(seed);
        }
        self.by_class.fill(ClassPages::default());
        (self.class_fallbacks, self.reallocated) = (0, 0);
        for unit in &mut self.units {
            unit.next_plane = 0;
        }
        // Planes that could free nothing when they needed space, and now may.
        for plane in (0..sight.geometry.planes).map(PlaneId) {
            if self.can_collect(sight.ftl, plane) {
                self.call_unit(sight.geometry.unit_of(plane));
            }
        }
        if self.keeps_books {
            self.books_begin(sight);
        }
    }
}

/// Whether collection continues with a block that was picked among these: the picked block or
/// another one among these frees a page.
#[inline]
fn leads_on(
    picked: Option<BlockId>,
    plane: PlaneId,
    among: &Candidates<'_>,
    sight: &Sight<'_>,
) -> bool {
    picked.is_some_and(|picked| {
        wins(picked, sight) || among.sealed(plane).any(|block| wins(block, sight))
    })
}

/// Whether the collection of a sealed block frees a page.
#[inline]
fn wins(block: BlockId, sight: &Sight<'_>) -> bool {
    won_of(block, sight) > 0
}

/// The number of pages that the collection of a sealed block frees.
#[inline]
fn won_of(block: BlockId, sight: &Sight<'_>) -> u32 {
    sight.geometry.won(block, sight.ftl.blocks.valid(block))
}
