//! The store: the translation layer together with the collector's tables.
//!
//! The translation layer, the collector's memory and the choice of planes are kept in step here.
//! Pages are written, copied, trimmed and erased through this room alone, timed or untimed, and
//! each change of the translation layer is passed on in one place ([`Store::pass_on_facts`]). The
//! store starts no operation. Units that should be checked, and pages whose loss matters to a
//! collection or to background work, wait in it until they are read.

/// The drive as the collector's policies see it now.
macro_rules! sight {
    ($store:expr, $cx:expr) => {
        crate::gc::Sight {
            geometry: &$cx.plan.geometry,
            rules: &$cx.plan.gc,
            ftl: &$store.ftl,
            age_now_ns: $store.age_base_ns + $cx.now_ns,
        }
    };
}

pub(crate) use sight;

mod claims;
mod classes;
mod facts;
mod fill;
mod logical_time;
mod pages;
mod restore;
mod steady;
mod sub_blocks;
mod untimed;

pub use fill::{FillState, TraceFilled};
pub use restore::restored;
pub use steady::{Preconditioning, Steady, SteadyWatch};
pub use untimed::{Overwritten, Untimed, UntimedError};

use crate::allocation::Allocation;
use crate::context::Context;
use crate::drive::Drive;
use crate::ftl::{Fact, Failures, Ftl, Lost, PageErrors, Placed, Stream};
use crate::gc::{Gc, Victim, placement};
use crate::ids::{BlockId, Lpn, PlaneId, Ppn, UnitId};
use crate::plan::{Allocation as Allocated, Plan};
use crate::verify::{Cause, Happened, Watch};

/// No plane of the drive has a page for a write, and collection can free none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoSpace {
    /// A plane in which a write waits.
    pub plane: PlaneId,
    /// Its erased pages.
    pub free_pages: u32,
    /// Invalid pages in its sealed blocks.
    pub reclaimable: u32,
}

/// The pages of a drive, and the collector's memory of them.
#[derive(Clone)]
pub struct Store {
    /// The translation layer.
    pub ftl: Ftl,
    /// The collector's memory.
    pub gc: Gc,
    /// The choice of planes for pages.
    pub alloc: Allocation,
    /// The age clock at the start of the measured part, in ns.
    pub age_base_ns: u64,
    /// The advance of the age clock for a page programmed before measuring, in ns.
    age_step_ns: u64,
    /// Pages lost and moved whose facts collections or background work have not received yet.
    lost: Vec<Lost>,
    moved: Vec<Fact>,
    /// The plane of the program that untimed writing fills, and the slots that it has left.
    slots_left: Option<(PlaneId, u32)>,
    /// Space for the list of a victim's pages.
    scratch: Vec<Ppn>,
    /// Space for the victims of an untimed collection.
    victims: Vec<Victim>,
    /// Space for the sub-blocks that one erase frees.
    erased_with: Vec<BlockId>,
}

impl Store {
    /// The store of an erased drive.
    pub fn erased(plan: &Plan) -> Self {
        Store::new(plan, Ftl::new(&plan.geometry, plan.frontier_rules()))
    }

    /// The store of a drive whose translation layer is in this state.
    pub fn new(plan: &Plan, mut ftl: Ftl) -> Self {
        let geometry = &plan.geometry;
        if plan.gc.keeps_stamps() {
            ftl.stamps.keep(geometry);
        }
        let layout = (geometry.shape.program_slots, plan.gc.classes());
        let failures = plan.failures.as_ref();
        let failures = failures.map(|it| Failures::new(it, plan.seed, &plan.pools, layout));
        ftl.may_fail(geometry, failures);
        Store {
            ftl,
            gc: Gc::new(&plan.gc, geometry, plan.window_costs(), plan.seed),
            alloc: Allocation::new(plan),
            age_base_ns: 0,
            age_step_ns: (plan.timing.program_ns / u64::from(geometry.units)).max(1),
            lost: Vec::new(),
            moved: Vec::new(),
            slots_left: None,
            scratch: Vec::new(),
            victims: Vec::new(),
            erased_with: Vec::new(),
        }
    }

    /// The drive in its present state.
    pub fn into_drive(self, plan: &Plan) -> Drive {
        let (costs, placement) = (plan.window_costs(), self.gc.placement.as_deref());
        let kept = placement::keep(&plan.gc, costs, &plan.geometry, placement, &self.ftl);
        let drive = Drive::of(&plan.geometry, self.ftl, &self.gc.triggered, self.age_base_ns);
        Drive { kept, ..drive }
    }

    /// A copy of the drive while the run continues, without the scheme's own state.
    pub fn seen_drive(&self, plan: &Plan) -> Drive {
        Drive::seen(&plan.geometry, &self.ftl, &self.gc.triggered, self.age_base_ns)
    }

    /// Whether there is a unit that should be checked.
    #[inline(always)]
    pub fn has_called(&self) -> bool {
        self.gc.has_called()
    }

    /// A unit that should be checked: its plane needs space, or can give some now.
    #[inline]
    pub fn next_called(&mut self) -> Option<UnitId> {
        self.gc.next_called()
    }

    /// The pages that were lost and that may concern a collection or background work, the last one
    /// first.
    pub fn next_lost(&mut self) -> Option<Lost> {
        self.lost.pop()
    }

    /// Untimed work has no receivers of facts: drops them.
    pub fn forget_news(&mut self) {
        self.gc.call_nobody();
        self.lost.clear();
        self.moved.clear();
    }

    /// Whether there are facts that collections or background work have not received yet.
    #[inline(always)]
    pub fn has_news(&self) -> bool {
        !self.lost.is_empty() || self.has_moved()
    }

    /// Whether some of them are other facts than lost pages.
    #[inline(always)]
    pub fn has_moved(&self) -> bool {
        !self.moved.is_empty()
    }

    /// The other facts, the oldest first.
    pub fn moved(&mut self) -> std::vec::Drain<'_, Fact> {
        self.moved.drain(..)
    }

    /// Whether a page holds valid data.
    #[inline(always)]
    pub fn is_valid(&self, plan: &Plan, page: Ppn) -> bool {
        self.ftl.is_valid(&plan.geometry, page)
    }

    /// The slots of the next program that copies fill in a plane, as far as they are taken; of a
    /// class, where they have any.
    #[inline]
    pub fn begun_by_copies(&self, plane: PlaneId, class: Option<u8>, plan: &Plan) -> u32 {
        let stream = class.map_or(Stream::Gc, Stream::Class);
        self.ftl.frontiers.begun(&plan.geometry, plane, stream)
    }

    /// The space of a plane that has no page for a write.
    pub fn no_space(&self, plane: PlaneId) -> NoSpace {
        NoSpace {
            plane,
            free_pages: self.ftl.frontiers.free_pages(plane),
            reclaimable: self.ftl.blocks.reclaimable[plane.index()],
        }
    }

    /// Whether any of these victims is erased, and not only retired.
    #[inline]
    pub fn is_erased(&self, victims: &[Victim]) -> bool {
        self.ftl.erases_any(victims.iter().map(|victim| victim.block))
    }

    /// The next victim of a plane.
    #[inline(always)]
    pub fn pick_victim<W: Watch>(
        &mut self,
        plane: PlaneId,
        cx: &Context<'_, W>,
    ) -> Option<BlockId> {
        let victim = self.gc.pick_victim(plane, &sight!(self, cx))?;
        self.with_room(plane, victim, cx.plan)
    }

    /// This victim, or another one that its plane can collect. A drive that is taken over when it
    /// is read-only may have less than the reserve.
    #[inline(always)]
    fn with_room(&self, plane: PlaneId, victim: BlockId, plan: &Plan) -> Option<BlockId> {
        if self.ftl.was_read_only && !self.can_move(plan, plane, victim) {
            return None;
        }
        self.ftl.instead_of_failing(&plan.geometry, victim)
    }

    /// Whether a sealed block can be collected although its plane need not be short of space: all
    /// its valid pages find room, and no program of it fails at present.
    pub fn can_reclaim(&self, plane: PlaneId, block: BlockId, plan: &Plan) -> bool {
        self.ftl.instead_of_failing(&plan.geometry, block) == Some(block)
            && self.can_move(plan, plane, block)
    }

    /// A victim in one of the unit's planes that need space, each plane in its turn. None where its
    /// collection has to wait for writes.
    #[inline(always)]
    pub fn victim_for<W: Watch>(
        &mut self,
        unit: UnitId,
        cx: &Context<'_, W>,
    ) -> Option<(PlaneId, BlockId)> {
        let victim = self
            .gc
            .victim_for(unit, &sight!(self, cx))
            .and_then(|(plane, victim)| Some((plane, self.with_room(plane, victim, cx.plan)?)));
        if cx.plan.geometry.has_superblocks() && !cx.plan.gc.separate_gc {
            return self.unless_writes_are_awaited(unit, victim, cx.plan);
        }
        victim
    }

    /// A collection in this plane waits for writes that have their pages: those of its copies come
    /// behind them in the same block, which is programmed in order. Until then no other write gets
    /// a page there.
    #[cold]
    fn unless_writes_are_awaited(
        &mut self,
        unit: UnitId,
        victim: Option<(PlaneId, BlockId)>,
        plan: &Plan,
    ) -> Option<(PlaneId, BlockId)> {
        let Some((plane, _)) = victim else {
            self.alloc.stripes.none_is_awaited_in(plan.geometry.planes_of(unit));
            return None;
        };
        let awaits = self.ftl.reserved_pages(&plan.geometry, plane) > 0;
        self.alloc.stripes.are_awaited(plane, awaits);
        victim.filter(|_| !awaits)
    }

    /// A copy took its page in a plane: the trigger or the policy records that.
    pub fn note_copy<W: Watch>(&mut self, unit: UnitId, placed: Placed, cx: &Context<'_, W>) {
        self.gc.note_copy(unit, placed, &sight!(self, cx));
    }

    /// A write waits for space in a plane. Returns the victim whose collection would free some.
    pub fn request_space<W: Watch>(
        &mut self,
        plane: PlaneId,
        cx: &Context<'_, W>,
    ) -> Option<BlockId> {
        self.gc.request_space(plane, &cx.plan.geometry);
        if !self.gc.can_collect(&self.ftl, plane) {
            return None;
        }
        self.pick_victim(plane, cx)
    }

    /// No plane of the page's pool accepts a page of the host: each that can free a page needs
    /// space, and its unit is checked. A plane that needs space already may have a page, and refuse
    /// it, or have no victim: its unit is checked if no request waits there, since one that waits
    /// has had it checked. Where the number of the page names its plane, no other plane helps.
    pub fn request_space_in_pool<W: Watch>(
        &mut self,
        lpn: Lpn,
        waits_at: impl Fn(UnitId) -> bool,
        cx: &Context<'_, W>,
    ) {
        let plan = cx.plan;
        if plan.allocation == Allocated::Striped {
            return;
        }
        let pool = plan.pools.of_page(&plan.geometry, lpn);
        for &plane in plan.pools.planes(pool) {
            let unit = plan.geometry.unit_of(plane);
            let needs = match self.gc.triggered[plane.index()] {
                true => !waits_at(unit),
                false => !self.ftl.host_has_room(plane),
            };
            if needs && self.ftl.blocks.reclaimable[plane.index()] > 0 {
                self.gc.request_space(plane, &cx.plan.geometry);
                self.gc.call_unit(unit);
            }
        }
    }

    /// Hands out the next page of a plane to a write that is queued now; to a flush, all that the
    /// next program has left. Returns the first one.
    pub fn reserve_pages<W: Watch>(
        &mut self,
        plane: PlaneId,
        stream: Stream,
        cx: &mut Context<'_, W>,
    ) -> Ppn {
        let geometry = &cx.plan.geometry;
        let first = self.ftl.reserve(geometry, plane, stream);
        for _ in 1..geometry.shape.left_of_program(first) {
            self.ftl.reserve(geometry, plane, stream);
        }
        self.pass_on_facts(cx);
        first
    }

    /// The write of this page starts in the page that was handed out to it.
    pub fn write_reserved<W: Watch>(
        &mut self,
        ppn: Ppn,
        lpn: Lpn,
        cause: Cause,
        cx: &mut Context<'_, W>,
    ) {
        let placed = self.ftl.write_reserved(&cx.plan.geometry, ppn, lpn);
        self.lose(placed.left, cx);
        self.notify_placed(lpn, placed, cx.plan);
        cx.notify(Happened::Programmed { ppn, lpn, cause, current: true });
        self.seal_if_filled(placed, cx);
        self.reserved_starts(ppn, cx);
    }

    /// A flush starts without data for this page of its program.
    pub fn pad_reserved<W: Watch>(&mut self, ppn: Ppn, cx: &mut Context<'_, W>) {
        let filled = self.ftl.pad_reserved(&cx.plan.geometry, ppn);
        cx.counters.padded += 1;
        cx.notify(Happened::Padded { ppn, collects: false });
        if filled.is_some() {
            self.seal(filled, cx);
        }
        self.reserved_starts(ppn, cx);
    }

    fn reserved_starts<W: Watch>(&mut self, ppn: Ppn, cx: &Context<'_, W>) {
        let plane = cx.plan.geometry.plane_of(ppn);
        if !self.gc.triggered[plane.index()] {
            self.check_trigger(plane, cx);
            if self.gc.triggered[plane.index()] {
                // The write starts in any unit of the plane, and the first one collects.
                self.gc.call_unit(cx.plan.geometry.unit_of(plane));
            }
        }
        if self.alloc.stripes.are_awaited_in(plane)
            && self.ftl.reserved_pages(&cx.plan.geometry, plane) == 0
        {
            self.gc.call_unit(cx.plan.geometry.unit_of(plane));
        }
    }

    /// Writes wait for pages of blocks that planes share, and there are none: these planes need
    /// space.
    #[cold]
    pub fn request_space_of_stripes(&mut self, plan: &Plan) {
        let geometry = &plan.geometry;
        for plane in (0..geometry.planes).map(PlaneId) {
            let rests = !self.gc.triggered[plane.index()] && !self.gc.busy_planes[plane.index()];
            if rests && self.alloc.is_awaited(plan, plane) && !self.ftl.host_has_room(plane) {
                self.gc.request_space(plane, geometry);
                self.gc.call_unit(geometry.unit_of(plane));
            }
        }
    }

    /// The measured part begins: streams of random numbers from their start.
    pub fn start_measuring<W: Watch>(&mut self, cx: &Context<'_, W>) {
        self.forget_news();
        self.ftl.frontiers.start_measuring();
        self.ftl.blocks.start_measuring();
        self.ftl.forget_failed_programs();
        let errors = cx.plan.read_retry.as_ref().map(|rules| {
            let (seed, geometry) = (cx.plan.seed, &cx.plan.geometry);
            Box::new(PageErrors::new(
                rules,
                seed,
                geometry,
                (&self.ftl.blocks, &self.ftl.frontiers),
            ))
        });
        self.ftl.follow_copies(cx.plan.gc.background.follows_moves(), errors);
        self.gc.fallbacks = 0;
        self.alloc.start_measuring();
        self.gc.start_measuring(cx.plan.seed, &sight!(self, cx));
    }
}
