//! Pre-migration: valid pages of the next victim move while the host waits for nothing, one by
//! one, before the trigger of their plane starts (PreGC; paper pre-gc, section 4.2).
//!
//! 1. Nothing is left to do for the host: the drive is idle.
//! 2. Each free unit checks its planes in turn: is one close to its trigger's start?
//! 3. The plane's victim is the block with the fewest valid pages, until a collection takes it.
//! 4. One page moves, to where the copies of the collection go. Then all of this is checked again.
//! 5. A request came, the trigger started, or the victim has little left: the rest is for the
//!    collection.

use super::Sim;
use crate::device::Geometry;
use crate::flash::{Op, Phases};
use crate::gc::used_space::SpaceOf;
use crate::gc::{PreMigration, Space};
use crate::ids::{BlockId, PlaneId, Ppn, UnitId};
use crate::owner::Owner;
use crate::verify::{Cause, Happened, Watch};
use std::collections::BTreeMap;

/// A block whose pages are pre-migrated.
#[derive(Clone, Copy)]
struct Early {
    block: BlockId,
    moved: u32,
}

/// A page that moves.
#[derive(Clone, Copy)]
struct Move {
    plane: PlaneId,
    from: Ppn,
    /// Where it goes; `Ppn::NONE` until its program begins.
    to: Ppn,
    /// Whether it was rewritten or trimmed before that.
    stale: bool,
    /// Whether it was, then or later.
    wasted: bool,
}

/// The state of pre-migration: pages that move before their collection.
pub(super) struct Ahead {
    rules: PreMigration,
    /// Whether units were notified that the drive is idle.
    is_idle: bool,
    /// Number of the present idle period, and for each plane of the last in which it moved pages.
    rest: u64,
    last_rest: Vec<u64>,
    /// The victim of each plane that is next.
    victims: Vec<Option<Early>>,
    /// The places of the pages that left these victims, and the plane of the victim.
    moved: BTreeMap<Ppn, PlaneId>,
    /// The page that each unit moves now.
    under_way: Vec<Option<Move>>,
}

impl Ahead {
    pub(super) fn new(rules: PreMigration, geometry: &Geometry) -> Self {
        let planes = geometry.planes as usize;
        Ahead {
            rules,
            is_idle: false,
            rest: 0,
            last_rest: vec![0; planes],
            victims: vec![None; planes],
            moved: BTreeMap::new(),
            under_way: vec![None; geometry.units as usize],
        }
    }
}

impl<W: Watch> Sim<W> {
    /// A request is here: the page that is moving finishes, and no other page follows.
    pub(super) fn ahead_ends(&mut self) {
        if let Some(ahead) = &mut self.ahead {
            ahead.is_idle = false;
        }
    }

    /// Nothing is left to start. If no host request waits, units whose planes are close to the
    /// start of their trigger have pages to move. Returns whether any unit was notified.
    pub(super) fn look_ahead(&mut self) -> bool {
        if self.host.outstanding() > 0 || self.host.is_finished() {
            return false;
        }
        let Some(ahead) = self.ahead.as_mut().filter(|ahead| !ahead.is_idle) else { return false };
        ahead.is_idle = true;
        ahead.rest += 1;
        for unit in (0..self.plan.geometry.units).map(UnitId) {
            let planes = self.plan.geometry.planes_of(unit);
            if planes.iter().any(|&plane| self.is_close(plane)) {
                self.look_at(unit);
            }
        }
        !self.ready.is_empty()
    }

    /// The next page that an idle unit pre-migrates.
    #[inline(always)]
    pub(super) fn next_ahead(&mut self, unit: UnitId) -> Option<(PlaneId, Ppn)> {
        match &self.ahead {
            Some(ahead) if ahead.is_idle => self.find_ahead(unit),
            _ => None,
        }
    }

    #[cold]
    fn find_ahead(&mut self, unit: UnitId) -> Option<(PlaneId, Ppn)> {
        if self.jobs[unit].is_open() {
            return None;
        }
        for turn in self.gc.turns_of(unit, &sight!(self)) {
            let plane = self.plan.geometry.planes_of(unit)[turn];
            if !self.is_close(plane) || !self.has_room_ahead(plane) {
                continue;
            }
            if let Some(from) = self.page_to_move(plane) {
                return Some((plane, from));
            }
        }
        None
    }

    /// Whether a plane's trigger has not started, and starts soon (T_block).
    fn is_close(&self, plane: PlaneId) -> bool {
        let Some(ahead) = &self.ahead else { return false };
        let left = self.pages_to_trigger(plane);
        !self.gc.wants[plane.index()] && 0 < left && left <= ahead.rules.distance_pages
    }

    /// Pages that a plane can still give out until its trigger starts, the last one included.
    fn pages_to_trigger(&self, plane: PlaneId) -> u64 {
        let free = u64::from(self.ftl.frontiers.free_pages(plane));
        if let Some(rules) = &self.plan.gc.used_space {
            return match rules.of {
                SpaceOf::Plane => free.saturating_sub(rules.free_pages),
                // The pages of all planes count together: each plane has its part of the distance.
                SpaceOf::Device => {
                    let left = self.ftl.frontiers.free_total().saturating_sub(rules.free_pages);
                    left.div_ceil(u64::from(self.plan.geometry.planes))
                }
            };
        }
        let trigger = &self.plan.gc.trigger;
        let shape = &self.plan.geometry.shape;
        // At a threshold in blocks the trigger starts with the first page of a block that is
        // opened.
        let last = match trigger.soft {
            Space::Blocks(blocks) => {
                shape.pages_of_blocks(u64::from(blocks) + u64::from(trigger.inclusive))
            }
            Space::Pages(pages) => u64::from(pages) + u64::from(trigger.inclusive),
        };
        (free + 1).saturating_sub(last)
    }

    /// Whether a copy finds a page without touching the reserve.
    fn has_room_ahead(&self, plane: PlaneId) -> bool {
        let frontiers = &self.ftl.frontiers;
        match self.gc.placement {
            Some(_) => {
                frontiers.is_above_reserve(plane) && frontiers.has_pages_above_reserve(plane)
            }
            None => frontiers.copy_has_room(plane),
        }
    }

    /// The lowest valid page of the plane's victim, unless it has little left to move.
    fn page_to_move(&mut self, plane: PlaneId) -> Option<Ppn> {
        let known = self.ahead.as_ref()?.victims[plane.index()];
        let known = known.filter(|early| self.ftl.blocks.is_sealed(early.block));
        let early = match known {
            Some(early) => early,
            None => Early { block: self.gc.least_valid(plane, &sight!(self))?, moved: 0 },
        };
        let ahead = self.ahead.as_mut()?;
        if ahead.rules.stop.is_reached(self.ftl.blocks.valid(early.block), early.moved) {
            return None;
        }
        if known.is_none() {
            ahead.victims[plane.index()] = Some(early);
            self.counters.background_victims += 1;
        }
        let page = self.ftl.blocks.first_valid(early.block)?;
        Some(Ppn(self.plan.geometry.first_page(early.block).0 + page))
    }

    /// A page begins to move.
    #[inline(never)]
    pub(super) fn move_ahead(&mut self, unit: UnitId, plane: PlaneId, from: Ppn) {
        let Some(ahead) = &mut self.ahead else { return };
        if ahead.last_rest[plane.index()] != ahead.rest {
            ahead.last_rest[plane.index()] = ahead.rest;
            self.counters.background_calls += 1;
        }
        let (stale, wasted) = (false, false);
        ahead.under_way[unit.index()] = Some(Move { plane, from, to: Ppn::NONE, stale, wasted });
        let lpn = self.ftl.map.lpn_of(from);
        self.tell(Happened::MovesAhead { plane });
        self.tell(Happened::ReadOut { ppn: from, lpn });
        let op = if self.plan.gc.copy.stays_in_plane() { Op::Copyback } else { Op::CopyOverBus };
        let phases = self.prices.reading(op, 1, std::iter::once(from));
        self.begin_unbound(unit, Owner::PreMigration, phases);
    }

    /// The program of a move begins: its page binds.
    #[inline(never)]
    pub(super) fn bind_ahead(&mut self, unit: UnitId) {
        let under_way = self.ahead.as_ref().and_then(|ahead| ahead.under_way[unit.index()]);
        let Some(Move { plane, from, stale, .. }) = under_way else {
            unreachable!("a unit that moves a page has one")
        };
        let placed = self.copy_page::<false>(from, plane, Cause::MoveAhead { from });
        let ppn = placed.ppn;
        if stale {
            self.counters.background_wasted += 1;
        } else if let Some(ahead) = &mut self.ahead {
            ahead.moved.insert(ppn, plane);
            let wasted = false;
            ahead.under_way[unit.index()] = Some(Move { plane, from, to: ppn, stale, wasted });
        }
        let fills = u32::from(placed.filled.is_some());
        self.count_summaries(u64::from(fills));
        self.seal_if_filled(placed);
        self.ask_trigger(plane);
        let timed = self.prices.filled_by_copies(|| fills);
        let price = |phases: &mut Phases| self.prices.bind(phases, std::iter::once(ppn), timed);
        self.flash.bound(unit, price, self.now_ns, &mut self.events);
    }

    /// A page has moved.
    pub(super) fn pre_migrated(&mut self, unit: UnitId) {
        self.counters.background_moved += 1;
        let Some(ahead) = &mut self.ahead else { return };
        let Some(moved) = ahead.under_way[unit.index()].take() else { return };
        let Move { plane, from, wasted, .. } = moved;
        self.counters.wasted_copies += u64::from(wasted);
        let block = self.plan.geometry.block_of(from);
        if let Some(early) = ahead.victims[plane.index()].as_mut().filter(|e| e.block == block) {
            early.moved += 1;
        }
    }

    /// The host rewrote or trimmed a page, or it moved.
    #[inline(never)]
    pub(super) fn ahead_loses(&mut self, ppn: Ppn) {
        let Some(ahead) = &mut self.ahead else { return };
        if ahead.moved.remove(&ppn).is_some() {
            self.counters.background_wasted += 1;
            let going = ahead.under_way.iter_mut().flatten();
            going.filter(|going| going.to == ppn).for_each(|going| going.wasted = true);
        }
        let comes = |going: &&mut Move| going.from == ppn && !going.to.is_some();
        if let Some(going) = ahead.under_way.iter_mut().flatten().find(comes) {
            (going.stale, going.wasted) = (true, true);
        }
    }

    /// A collection moved a page that may have been pre-migrated.
    #[inline(always)]
    pub(super) fn ahead_moves(&mut self, from: Ppn, to: Ppn) {
        if let Some(ahead) = &mut self.ahead
            && let Some(plane) = ahead.moved.remove(&from)
        {
            ahead.moved.insert(to, plane);
        }
    }

    /// A collection takes a block: its pre-migration was of use, or not.
    #[inline(always)]
    pub(super) fn ahead_leaves(&mut self, plane: PlaneId, block: BlockId) {
        let Some(ahead) = &mut self.ahead else { return };
        let victim = &mut ahead.victims[plane.index()];
        if victim.is_some_and(|early| early.block == block) {
            *victim = None;
            ahead.moved.retain(|_, from| *from != plane);
        }
    }

    /// Counts pages whose program ends at this very instant, as for the copies of a collection.
    pub(super) fn clip_ahead(&mut self) {
        for at in 0..self.plan.geometry.units as usize {
            let unit = UnitId(at as u32);
            let moves = self.flash.owner(unit) == Some(Owner::PreMigration);
            if !moves || !self.phase_ends_now(unit) {
                continue;
            }
            self.counters.background_moved += 1;
            let going = self.ahead.as_ref().and_then(|ahead| ahead.under_way[at]);
            self.counters.wasted_copies += u64::from(going.is_some_and(|going| going.wasted));
        }
    }

    /// Pages that are under way.
    pub(super) fn moving_ahead(&self) -> u64 {
        let moves = |&unit: &u32| self.flash.owner(UnitId(unit)) == Some(Owner::PreMigration);
        (0..self.plan.geometry.units).filter(moves).count() as u64
    }
}
