//! Pre-migration: valid pages of the next victim move while the host waits for nothing, one by
//! one, before the trigger of their plane starts (PreGC; paper pre-gc, section 4.2).
//!
//! 1. Nothing is left to do for the host: the drive is idle.
//! 2. Each free unit checks its planes in turn: is one close to its trigger's start?
//! 3. The plane's victim is the block with the fewest valid pages, until a collection takes it.
//! 4. One page moves, to where the copies of the collection go. Then all of this is checked again.
//! 5. A request came, the trigger started, or the victim has little left: the rest is for the
//!    collection.
//!
//! With `when = "unit-idle"`, which is not in the paper, no request waiting for the unit is enough:
//! pages move under load, too.

use super::task::{Bound, Rest, Task, Undone, Work, array_ns, works_of};
use crate::collect::At;
use crate::context::Context;
use crate::flash::{Class, Command};
use crate::ftl::{Fact, Lost};
use crate::gc::counted;
use crate::gc::used_space::SpaceOf;
use crate::gc::{PreMigration, Space};
use crate::ids::{BlockId, PlaneId, Ppn, UnitId};
use crate::operation;
use crate::owner::Owner;
use crate::plan::Plan;
use crate::store::{Store, sight};
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

/// The places of the pages that left the victims.
#[derive(Clone)]
struct Places {
    /// The plane of the victim, for each page.
    planes: BTreeMap<Ppn, PlaneId>,
    /// The pages of each plane's victim, with places that were left since.
    pages: Vec<Vec<Ppn>>,
}

impl Places {
    fn add(&mut self, page: Ppn, plane: PlaneId) {
        self.planes.insert(page, plane);
        self.pages[plane.index()].push(page);
    }

    /// Data leaves this page. Returns the plane of its victim, if it was pre-migrated.
    fn leave(&mut self, page: Ppn) -> Option<PlaneId> {
        self.planes.remove(&page)
    }

    /// The victim of this plane is collected: its pages are like all others.
    fn clear(&mut self, plane: PlaneId) {
        for page in self.pages[plane.index()].drain(..) {
            // A page of another plane's victim may have come to a place that was left.
            if self.planes.get(&page) == Some(&plane) {
                self.planes.remove(&page);
            }
        }
    }
}

/// The state of pre-migration: pages that move before their collection.
#[derive(Clone)]
pub struct PreMigrating {
    /// The task's number, which its commands bear.
    task: u8,
    rules: PreMigration,
    /// Whether units were notified that the drive is idle.
    is_idle: bool,
    /// Number of the present period without a new request, and for each plane of the last in which
    /// it moved pages.
    rest: u64,
    last_rest: Vec<u64>,
    /// The victim of each plane that is next.
    victims: Vec<Option<Early>>,
    moved: Places,
    /// The page that each unit moves now.
    under_way: Vec<Option<Move>>,
}

impl<W: Watch> Task<W> for PreMigrating {
    fn name(&self) -> &'static str {
        "move-ahead"
    }

    /// The page that is moving finishes, and no other page follows.
    fn host_came(&mut self, _cx: &mut Context<'_, W>) {
        self.is_idle = false;
        if self.rules.when_unit_idle {
            self.rest += 1;
        }
    }

    /// Units whose planes are close to the start of their trigger have pages to move.
    fn host_rests(&mut self, at: &mut Rest<'_, W>) -> bool {
        if self.is_idle || at.host.is_finished() {
            return false;
        }
        self.is_idle = true;
        self.rest += 1;
        let plan = at.cx.plan;
        for unit in (0..plan.geometry.units).map(UnitId) {
            let mut planes = plan.geometry.planes_of(unit).iter();
            if planes.any(|&plane| self.is_close(plan, at.store, plane)) {
                at.store.gc.call_unit(unit);
            }
        }
        false
    }

    fn next(&mut self, unit: UnitId, at: &mut Rest<'_, W>) -> Option<Work> {
        let may_move = match self.rules.when_unit_idle {
            true => at.host.waiting.count(unit) == 0 && !at.host.is_finished(),
            false => self.is_idle,
        };
        if !may_move || at.jobs[unit].is_open() {
            return None;
        }
        let plan = at.cx.plan;
        for turn in at.store.gc.turns_of(unit, &sight!(at.store, at.cx)) {
            let plane = plan.geometry.planes_of(unit)[turn];
            if !self.is_close(plan, at.store, plane) || !has_room(at.store, plane) {
                continue;
            }
            if let Some(from) = self.page_to_move(plane, at) {
                return Some(Work::Run(self.move_page(unit, plane, from, at)));
            }
        }
        None
    }

    fn bind(&mut self, unit: UnitId, at: &mut Rest<'_, W>) -> Bound {
        let Some(going) = &mut self.under_way[unit.index()] else {
            unreachable!("a unit that moves a page has one")
        };
        let Move { plane, from, stale, .. } = *going;
        let Rest { store, cx, .. } = at;
        let placed = store.copy_page::<false, W>(from, plane, None, Cause::MoveAhead { from }, cx);
        let gc = &cx.plan.gc;
        if gc.copy.page_op().corrects() || !gc.takes_time() {
            store.ftl.renew(placed.ppn);
        }
        if stale {
            cx.counters.background_wasted += 1;
        } else {
            self.moved.add(placed.ppn, plane);
            going.to = placed.ppn;
        }
        let fills = u32::from(placed.filled.is_some());
        cx.count_summaries(u64::from(fills));
        store.seal_if_filled(placed, cx);
        store.check_trigger(plane, cx);
        Bound { page: placed.ppn, fills }
    }

    /// A page has moved.
    fn ended(&mut self, unit: UnitId, at: &mut Rest<'_, W>) {
        at.cx.counters.background_moved += 1;
        let Some(moved) = self.under_way[unit.index()].take() else { return };
        let Move { plane, from, wasted, .. } = moved;
        at.cx.counters.wasted_copies += u64::from(wasted);
        let block = at.cx.plan.geometry.block_of(from);
        if let Some(early) = self.victims[plane.index()].as_mut().filter(|e| e.block == block) {
            early.moved += 1;
        }
    }

    fn pass_facts(&mut self, fact: Fact) {
        match fact {
            // A collection moved a page that may have been pre-migrated.
            Fact::Moved { from, to } => {
                if let Some(plane) = self.moved.leave(from) {
                    self.moved.add(to, plane);
                }
            }
            // A collection takes a block: its pre-migration was of use, or not.
            Fact::Claimed { plane, block, .. } => {
                let victim = &mut self.victims[plane.index()];
                if victim.is_some_and(|early| early.block == block) {
                    *victim = None;
                    self.moved.clear(plane);
                }
            }
            _ => {}
        }
    }

    /// The host rewrote or trimmed a page, or it moved.
    fn page_lost(&mut self, lost: Lost, cx: &mut Context<'_, W>) {
        let page = lost.page;
        if self.moved.leave(page).is_some() {
            cx.counters.background_wasted += 1;
            let going = self.under_way.iter_mut().flatten();
            going.filter(|going| going.to == page).for_each(|going| going.wasted = true);
        }
        let comes = |going: &&mut Move| going.from == page && !going.to.is_some();
        if let Some(going) = self.under_way.iter_mut().flatten().find(comes) {
            (going.stale, going.wasted) = (true, true);
        }
    }

    /// Pages whose program ends at this very instant have moved, as for the copies of a collection.
    fn undone(&self, task: u8, at: &At<'_>) -> Undone {
        let mut undone = Undone::default();
        for unit in works_of(task, at) {
            undone.open += 1;
            undone.array_ns += array_ns(unit, at);
            if at.phase_ends_now(unit) {
                undone.moved += 1;
                let wasted = self.under_way[unit.index()].is_some_and(|going| going.wasted);
                undone.wasted += u64::from(wasted);
            }
        }
        undone
    }
}

/// Whether a copy finds a page in a plane without touching the reserve.
fn has_room(store: &Store, plane: PlaneId) -> bool {
    let frontiers = &store.ftl.frontiers;
    match store.gc.placement {
        Some(_) => frontiers.is_above_reserve(plane) && frontiers.has_pages_above_reserve(plane),
        None => frontiers.copy_has_room(plane),
    }
}

/// Pages that a plane can still give out until its trigger starts, the last one included.
fn pages_to_trigger(plan: &Plan, store: &Store, plane: PlaneId) -> u64 {
    let frontiers = &store.ftl.frontiers;
    let free = u64::from(frontiers.free_pages(plane));
    if let Some(rules) = &plan.gc.used_space {
        // The pages of all planes count together: each plane has its part of the distance.
        let left = rules.measure.pages_left(counted(rules, plane, &store.ftl));
        return match rules.of {
            SpaceOf::Plane => left,
            SpaceOf::Device => left.div_ceil(u64::from(plan.geometry.planes)),
        };
    }
    let trigger = &plan.gc.trigger;
    // At a threshold in blocks the trigger starts with the first page of a block that is opened.
    let last = match trigger.soft {
        Space::Blocks(blocks) => {
            let blocks = u64::from(blocks) + u64::from(trigger.inclusive);
            plan.geometry.shape.pages_of_blocks(blocks)
        }
        Space::Pages(pages) => u64::from(pages) + u64::from(trigger.inclusive),
    };
    (free + 1).saturating_sub(last)
}

impl PreMigrating {
    /// The task of a scheme that has it. No page has moved.
    pub fn new(plan: &Plan, task: u8) -> Option<Self> {
        let rules = plan.gc.background.pre_migration?;
        let planes = plan.geometry.planes as usize;
        Some(PreMigrating {
            task,
            rules,
            is_idle: false,
            rest: 0,
            last_rest: vec![0; planes],
            victims: vec![None; planes],
            moved: Places { planes: BTreeMap::new(), pages: vec![Vec::new(); planes] },
            under_way: vec![None; plan.geometry.units as usize],
        })
    }

    /// Whether a plane's trigger has not started, and starts soon (T_block).
    fn is_close(&self, plan: &Plan, store: &Store, plane: PlaneId) -> bool {
        let left = pages_to_trigger(plan, store, plane);
        !store.gc.triggered[plane.index()] && 0 < left && left <= self.rules.distance_pages
    }

    /// The lowest valid page of the plane's victim, unless it has little left to move.
    fn page_to_move<W: Watch>(&mut self, plane: PlaneId, at: &mut Rest<'_, W>) -> Option<Ppn> {
        let plan = at.cx.plan;
        let (ftl, gc) = (&at.store.ftl, &mut at.store.gc);
        let sight = sight!(at.store, at.cx);
        let known = self.victims[plane.index()].filter(|early| ftl.blocks.is_sealed(early.block));
        let early = match known {
            Some(early) => early,
            None => Early { block: gc.least_valid(plane, &sight)?, moved: 0 },
        };
        if self.rules.stop.is_reached(ftl.blocks.valid(early.block), early.moved) {
            return None;
        }
        if known.is_none() {
            self.victims[plane.index()] = Some(early);
            at.cx.counters.background_victims += 1;
        }
        let page = ftl.blocks.first_valid(early.block)?;
        Some(Ppn(plan.geometry.first_page(early.block).0 + page))
    }

    /// A page begins to move.
    fn move_page<W: Watch>(
        &mut self,
        unit: UnitId,
        plane: PlaneId,
        from: Ppn,
        at: &mut Rest<'_, W>,
    ) -> Command<Owner> {
        if self.last_rest[plane.index()] != self.rest {
            self.last_rest[plane.index()] = self.rest;
            at.cx.counters.background_calls += 1;
        }
        let (stale, wasted) = (false, false);
        self.under_way[unit.index()] = Some(Move { plane, from, to: Ppn::NONE, stale, wasted });
        let lpn = at.store.ftl.map.lpn_of(from);
        at.cx.notify(Happened::WorksAhead { plane });
        at.cx.notify(Happened::ReadOut { ppn: from, lpn });
        let op = at.cx.plan.gc.copy.page_op();
        let tables = (&at.store.ftl, &at.cx.plan.geometry);
        let phases = operation::reading((op, 1), std::iter::once(from), at.prices, tables);
        if at.cx.plan.read_retry.is_some() && op.corrects() {
            let retries = at.store.ftl.retries(&at.cx.plan.geometry, from);
            at.cx.counters.add_retries(true, retries);
            at.store.notify_uncorrectable(from, &mut at.cx);
        }
        Command::binding(Owner::Background(self.task), Class::Gc, phases)
    }
}
