//! The checker's own account of a collection that the writes of the host pay for.
//!
//! Two bounds of each unit's account are kept, from what happened alone. The upper one takes the
//! valid share at selection and the greatest urgency: a copy that it does not cover was made before
//! its time. The lower one takes the pages that are still valid and no urgency: with a copy or more
//! on it, no write of the host may begin.
//!
//! Where planes share their blocks, each unit has the account of its part of the victim: its valid
//! pages at selection over its share of the invalid ones. What its writes pay after the last copy
//! of its part is forgotten. Only the lower bound is checked there: writes have pages before they
//! start, so that the floor is reached before the checker sees it.
//!
//! Nothing is promised of a collection whose planes were below a threshold that lets it run, or
//! during which a write waited for space.

use super::{Cause, Happened};
use flashgc_model::device::Geometry;
use flashgc_model::gc::{Space, Tokens};
use flashgc_model::ids::{BlockId, PlaneId, Ppn, UnitId};
use flashgc_model::plan::Plan;
use rustc_hash::FxHashMap;

/// One copy, in the unit of accounts.
const COPY: i128 = 1 << 32;
/// A price is at most this much above its exact value.
const ROUNDING: i128 = COPY >> 23;

/// The rules of a plan whose collections are paid for, and where nothing else lets them run or
/// lets writes pass.
#[derive(Clone, Copy, Debug)]
pub struct Paid {
    rules: Tokens,
    hard: Option<Space>,
    /// Copies of a step, at most.
    at_once: u32,
    /// Pages that a write of the host binds at once, at most.
    slots: u32,
    /// Erased pages that collection keeps for itself.
    reserve_pages: u64,
    /// Pages that writes may have got before they start, at most: they are not free.
    given_pages: u64,
    /// Erased blocks of a plane that the placement keeps for its classes, at most: they are not
    /// free.
    kept_blocks: u32,
}

impl Paid {
    /// The accounts of this plan; `None` where they are not checked.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let gc = &plan.gc;
        let shape = &plan.geometry.shape;
        // A page that is rewritten in the write buffer is lost before the checker knows.
        let joins_parts = shape.lanes > 1 && shape.program_slots > 1;
        let merges = gc.preemption.is_some_and(|rules| rules.merge);
        let has_more = gc.erase_blocks > 1
            || gc.sub_blocks.is_some()
            || gc.reserve_pages > 0
            || gc.copy.is_global()
            || plan.parity()
            || joins_parts
            || merges;
        gc.tokens.filter(|_| !has_more).map(|rules| Paid {
            rules,
            hard: gc.trigger.hard,
            at_once: plan.copies_at_once(),
            slots: shape.program_slots,
            reserve_pages: shape.pages_of_blocks(gc.reserve_blocks.into()),
            given_pages: if shape.lanes > 1 { shape.pages_of_blocks(1) } else { 0 },
            kept_blocks: gc.always_open(),
        })
    }
}

/// What a unit collects.
#[derive(Clone, Copy)]
struct Victim {
    block: BlockId,
    /// Its pages, and how many of them were valid when it was chosen.
    pages: u64,
    valid: u64,
    /// The valid ones that lie in the unit.
    own: u64,
    /// The units that have pages of it.
    units: u64,
}

impl Victim {
    /// What a page of the host pays for, without urgency, after the loss of this number of pages.
    fn price(&self, lost: u64) -> i128 {
        let own = self.own - lost.min(self.own);
        let valid = if self.units == 1 { own } else { self.valid };
        let won = self.pages.saturating_sub(valid).max(1);
        i128::from(own * self.units) * COPY / i128::from(won)
    }
}

/// The account of a unit.
#[derive(Clone, Default)]
struct Account {
    victim: Option<Victim>,
    /// Copies made, and pages of the victim that were lost without one.
    copied: u64,
    lost: u64,
    most: i128,
    least: i128,
    /// Whether nothing is promised of this collection.
    is_free: bool,
    /// Whether a write of the unit waits for space.
    awaits_space: bool,
}

impl Account {
    /// Whether a unit has moved its part before others have moved theirs.
    fn has_moved_its_part(&self) -> bool {
        let is_moved = |victim: Victim| victim.units > 1 && self.copied + self.lost >= victim.own;
        self.victim.is_some_and(is_moved)
    }

    /// Pages of the victim in the unit that were valid and are not copied yet, at most.
    fn left(&self) -> u64 {
        self.victim.map_or(0, |victim| victim.own.saturating_sub(self.copied))
    }
}

/// The block and the unit of a page.
fn part_of(geometry: &Geometry, page: Ppn) -> (BlockId, UnitId) {
    (geometry.block_of(page), geometry.unit_of_page(page))
}

/// The accounts of all units.
pub(super) struct Accounts {
    paid: Paid,
    /// Whether time is simulated: before, nothing is paced.
    is_timed: bool,
    units: Vec<Account>,
    free_blocks: Vec<u32>,
    free_pages: Vec<u64>,
    /// Where planes share their blocks: the valid pages of each block in each unit.
    valid_in: FxHashMap<(BlockId, UnitId), u64>,
}

impl Accounts {
    /// Nothing was paid yet, on a drive with these pages.
    pub(super) fn new(geometry: &Geometry, paid: Paid) -> Self {
        let planes = geometry.planes as usize;
        Accounts {
            paid,
            is_timed: false,
            units: vec![Account::default(); geometry.units as usize],
            free_blocks: vec![0; planes],
            free_pages: vec![0; planes],
            valid_in: FxHashMap::default(),
        }
    }

    /// Takes an event of the run, on a drive with these numbers of pages written in each block and
    /// these homes of the logical pages.
    pub(super) fn observe(
        &mut self,
        geometry: &Geometry,
        (programmed, home): (&[u32], &[Ppn]),
        now_ns: u64,
        happened: Happened,
    ) {
        match happened {
            _ if !self.is_timed && !matches!(happened, Happened::MeasuringStarts) => {}
            Happened::MeasuringStarts => self.begin(geometry, programmed, home),
            Happened::FreeBlocks { plane, blocks } => self.free_blocks[plane.index()] = blocks,
            Happened::Opened { block } => {
                let plane = geometry.plane_of_block(block);
                let blocks = &mut self.free_blocks[plane.index()];
                *blocks = blocks.saturating_sub(1);
                self.look_at(geometry, plane);
            }
            Happened::Claimed { block, valid } => self.claimed(geometry, block, valid),
            Happened::Erased { block } => {
                let plane = geometry.plane_of_block(block);
                self.free_blocks[plane.index()] += 1;
                self.free_pages[plane.index()] += u64::from(geometry.data_pages_of(block));
                self.has_no_victim(geometry, plane);
            }
            Happened::ProgramFailed(ppn) => {
                let (block, at) = geometry.block_and_page(ppn);
                let plane = geometry.plane_of_block(block);
                let lost = u64::from(geometry.data_pages_of(block) - at);
                let pages = &mut self.free_pages[plane.index()];
                *pages = pages.saturating_sub(lost);
                // Space was lost without payment.
                for unit in geometry.units_of(plane) {
                    self.units[unit.index()].is_free = true;
                }
            }
            Happened::Retired(block, _) => {
                self.has_no_victim(geometry, geometry.plane_of_block(block));
            }
            Happened::Trimmed { lpn } => self.loses(geometry, home[lpn.index()]),
            Happened::Padded { ppn, .. } => self.takes_page(geometry, ppn),
            Happened::FindsNoPage { unit, .. } => {
                let account = &mut self.units[unit.index()];
                (account.awaits_space, account.is_free) = (true, true);
            }
            Happened::NeedNotPay { unit } => self.units[unit.index()].is_free = true,
            Happened::Starves { .. } => self.units.iter_mut().for_each(|unit| unit.is_free = true),
            Happened::Programmed { ppn, lpn, cause, current } => {
                match cause {
                    Cause::Host { .. } | Cause::Flush => {
                        self.wrote(now_ns, geometry.unit_of_page(ppn));
                        self.loses(geometry, home[lpn.index()]);
                    }
                    Cause::Copy { from } => {
                        self.copied(now_ns, geometry.unit_of_page(from));
                        if current {
                            self.leaves(geometry, from);
                        }
                    }
                    Cause::MoveAhead { from } if current => self.loses(geometry, from),
                    Cause::MoveAhead { .. } => {}
                }
                if current && geometry.has_superblocks() {
                    *self.valid_in.entry(part_of(geometry, ppn)).or_default() += 1;
                }
                self.takes_page(geometry, ppn);
            }
            _ => {}
        }
    }

    /// A page is written, with or without data.
    fn takes_page(&mut self, geometry: &Geometry, ppn: Ppn) {
        let plane = geometry.plane_of(ppn);
        let pages = &mut self.free_pages[plane.index()];
        *pages = pages.saturating_sub(1);
        self.look_at(geometry, plane);
    }

    /// The collection of a plane has ended.
    fn has_no_victim(&mut self, geometry: &Geometry, plane: PlaneId) {
        for unit in geometry.units_of(plane) {
            self.units[unit.index()].victim = None;
        }
    }

    fn begin(&mut self, geometry: &Geometry, programmed: &[u32], home: &[Ppn]) {
        self.is_timed = true;
        if geometry.has_superblocks() {
            self.valid_in.clear();
            for &page in home.iter().filter(|page| page.is_some()) {
                *self.valid_in.entry(part_of(geometry, page)).or_default() += 1;
            }
        }
        self.free_pages.fill(0);
        for (at, &written) in programmed.iter().enumerate() {
            let block = BlockId(at as u32);
            let plane = geometry.plane_of_block(block).index();
            self.free_pages[plane] += u64::from(geometry.data_pages_of(block) - written);
        }
    }

    fn claimed(&mut self, geometry: &Geometry, block: BlockId, valid: u32) {
        let plane = geometry.plane_of_block(block);
        let (pages, valid) = (geometry.data_pages_of(block).into(), u64::from(valid));
        let parts = geometry.units_of(plane);
        for &unit in &parts {
            let own = match geometry.has_superblocks() {
                true => self.valid_in.get(&(block, unit)).copied().unwrap_or(0),
                false => valid,
            };
            let account = &mut self.units[unit.index()];
            account.victim = Some(Victim { block, pages, valid, own, units: parts.len() as u64 });
            (account.copied, account.lost, account.is_free) = (0, 0, account.awaits_space);
        }
        self.look_at(geometry, plane);
    }

    /// Whether a plane is so short that the collections of its units need no payment.
    fn look_at(&mut self, geometry: &Geometry, plane: PlaneId) {
        let Accounts { paid, units, free_blocks, free_pages, .. } = self;
        let parts = geometry.units_of(plane);
        let left: u64 = parts.iter().map(|unit| units[unit.index()].left()).sum();
        let is_short = geometry.planes_of(parts[0]).iter().any(|plane| {
            let blocks = free_blocks[plane.index()];
            let pages = free_pages[plane.index()].saturating_sub(paid.given_pages);
            // A threshold itself may count as below it.
            let is_at = |space: Space, more: u32| match space {
                Space::Blocks(limit) => blocks < limit + more + paid.kept_blocks,
                Space::Pages(limit) => pages < u64::from(limit + more),
            };
            is_at(paid.rules.floor, 0)
                || paid.hard.is_some_and(|hard| is_at(hard, 1))
                || pages <= left + paid.reserve_pages
        });
        parts.iter().for_each(|unit| units[unit.index()].is_free |= is_short);
    }

    /// A page was lost: perhaps one that a collection has yet to move.
    fn loses(&mut self, geometry: &Geometry, page: Ppn) {
        if !page.is_some() {
            return;
        }
        let (block, unit) = part_of(geometry, page);
        let account = &mut self.units[unit.index()];
        if account.victim.is_some_and(|victim| victim.block == block) {
            account.lost += 1;
        }
        self.leaves(geometry, page);
    }

    /// The data of a page is elsewhere, or nowhere.
    fn leaves(&mut self, geometry: &Geometry, page: Ppn) {
        if let Some(valid) = self.valid_in.get_mut(&part_of(geometry, page)) {
            *valid = valid.saturating_sub(1);
        }
    }

    fn wrote(&mut self, now_ns: u64, unit: UnitId) {
        let Paid { rules, slots, .. } = self.paid;
        let account = &mut self.units[unit.index()];
        account.awaits_space = false;
        let Some(victim) = account.victim else {
            (account.most, account.least) = (0, 0);
            return;
        };
        let (most, least) = (victim.price(0), victim.price(account.lost));
        let has_moved = account.has_moved_its_part();
        assert!(
            account.is_free || has_moved || account.least < COPY + i128::from(slots - 1) * most,
            "at {now_ns} ns a write of the host began in unit {}, but at least {:.1} copies were \
             paid that go before it",
            unit.0,
            account.least as f64 / COPY as f64
        );
        if has_moved {
            account.least = 0;
        } else if !account.is_free {
            account.least += least;
        }
        account.most += most * i128::from(rules.urgency_max_milli) / 1000 + ROUNDING;
    }

    fn copied(&mut self, now_ns: u64, unit: UnitId) {
        let least = -COPY * i128::from(self.paid.at_once - 1);
        let account = &mut self.units[unit.index()];
        account.copied += 1;
        account.most -= COPY;
        account.least = if account.is_free { least } else { (account.least - COPY).max(least) };
        let is_part = account.victim.is_some_and(|victim| victim.units > 1);
        assert!(
            account.is_free || is_part || account.most >= least,
            "at {now_ns} ns the collection of unit {} made a copy that no write had paid for",
            unit.0
        );
        account.most = account.most.max(least);
    }
}
