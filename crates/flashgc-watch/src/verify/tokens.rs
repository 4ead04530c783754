//! The checker's own account of a collection that the writes of the host pay for.
//!
//! Two bounds of each unit's account are kept, from what happened alone. The upper one takes the
//! valid share at selection and the greatest urgency: a copy that it does not cover was made before
//! its time. The lower one takes the pages that are still valid and no urgency: with a copy or more
//! on it, no write of the host may begin.
//!
//! Nothing is promised of a collection whose planes were below a threshold that lets it run, or
//! during which a write waited for space.

use super::{Cause, Happened};
use flashgc_model::device::Geometry;
use flashgc_model::gc::{Space, Tokens};
use flashgc_model::ids::{BlockId, Ppn, UnitId};
use flashgc_model::plan::Plan;

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
    /// Erased blocks of a plane that the placement keeps for its classes, at most: they are not
    /// free.
    kept_blocks: u32,
}

impl Paid {
    /// The accounts of this plan; `None` where they are not checked.
    pub(super) fn of(plan: &Plan) -> Option<Self> {
        let gc = &plan.gc;
        let merges = gc.preemption.is_some_and(|rules| rules.merge);
        let has_more = gc.erase_blocks > 1
            || gc.sub_blocks.is_some()
            || gc.reserve_pages > 0
            || gc.copy.is_global()
            || plan.parity()
            || merges;
        let shape = &plan.geometry.shape;
        gc.tokens.filter(|_| !has_more).map(|rules| Paid {
            rules,
            hard: gc.trigger.hard,
            at_once: plan.copies_at_once(),
            slots: shape.program_slots,
            reserve_pages: shape.pages_of_blocks(gc.reserve_blocks.into()),
            kept_blocks: gc.always_open(),
        })
    }
}

/// The account of a unit.
#[derive(Clone, Default)]
struct Account {
    /// The victim, its pages, and how many of them were valid when it was chosen.
    victim: Option<(BlockId, u64, u64)>,
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

/// The accounts of all units.
pub(super) struct Accounts {
    paid: Paid,
    /// Whether time is simulated: before, nothing is paced.
    is_timed: bool,
    units: Vec<Account>,
    free_blocks: Vec<u32>,
    free_pages: Vec<u64>,
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
        }
    }

    /// Takes an event of the run, on a drive with these numbers of pages written in each block and
    /// these homes of the logical pages.
    pub(super) fn see(
        &mut self,
        geometry: &Geometry,
        (programmed, home): (&[u32], &[Ppn]),
        now_ns: u64,
        happened: Happened,
    ) {
        match happened {
            _ if !self.is_timed && !matches!(happened, Happened::MeasuringStarts) => {}
            Happened::MeasuringStarts => self.begin(geometry, programmed),
            Happened::FreeBlocks { plane, blocks } => self.free_blocks[plane.index()] = blocks,
            Happened::Opened { block } => {
                let plane = geometry.plane_of_block(block);
                let blocks = &mut self.free_blocks[plane.index()];
                *blocks = blocks.saturating_sub(1);
                self.look(geometry, geometry.unit_of(plane));
            }
            Happened::Claimed { block, valid } => self.claimed(geometry, block, valid),
            Happened::Erased { block } => {
                let plane = geometry.plane_of_block(block);
                self.free_blocks[plane.index()] += 1;
                self.free_pages[plane.index()] += u64::from(geometry.data_pages_of(block));
                self.units[geometry.unit_of(plane).index()].victim = None;
            }
            Happened::ProgramFailed(ppn) => {
                let (block, at) = geometry.block_and_page(ppn);
                let plane = geometry.plane_of_block(block);
                let lost = u64::from(geometry.data_pages_of(block) - at);
                let pages = &mut self.free_pages[plane.index()];
                *pages = pages.saturating_sub(lost);
                // Space was lost without payment.
                self.units[geometry.unit_of(plane).index()].is_free = true;
            }
            Happened::Retired(block, _) => {
                let unit = geometry.unit_of(geometry.plane_of_block(block));
                self.units[unit.index()].victim = None;
            }
            Happened::Trimmed { lpn } => self.loses(geometry, home[lpn.index()]),
            Happened::Padded { ppn, .. } => {
                let plane = geometry.plane_of(ppn);
                let pages = &mut self.free_pages[plane.index()];
                *pages = pages.saturating_sub(1);
                self.look(geometry, geometry.unit_of(plane));
            }
            Happened::FindsNoPage { unit, .. } => {
                let account = &mut self.units[unit.index()];
                (account.awaits_space, account.is_free) = (true, true);
            }
            Happened::Starves { .. } => self.units.iter_mut().for_each(|unit| unit.is_free = true),
            Happened::Programmed { ppn, lpn, cause, current } => {
                let plane = geometry.plane_of(ppn);
                let pages = &mut self.free_pages[plane.index()];
                *pages = pages.saturating_sub(1);
                match cause {
                    Cause::Host { .. } | Cause::Flush => {
                        self.wrote(now_ns, geometry.unit_of(plane));
                        self.loses(geometry, home[lpn.index()]);
                    }
                    Cause::Copy { .. } => self.copied(now_ns, geometry.unit_of(plane)),
                    Cause::MoveAhead { from } if current => self.loses(geometry, from),
                    Cause::MoveAhead { .. } => {}
                }
                self.look(geometry, geometry.unit_of(plane));
            }
            _ => {}
        }
    }

    fn begin(&mut self, geometry: &Geometry, programmed: &[u32]) {
        self.is_timed = true;
        self.free_pages.fill(0);
        for (at, &written) in programmed.iter().enumerate() {
            let block = BlockId(at as u32);
            let plane = geometry.plane_of_block(block).index();
            self.free_pages[plane] += u64::from(geometry.data_pages_of(block) - written);
        }
    }

    fn claimed(&mut self, geometry: &Geometry, block: BlockId, valid: u32) {
        let unit = geometry.unit_of(geometry.plane_of_block(block));
        let account = &mut self.units[unit.index()];
        let pages = geometry.data_pages_of(block);
        account.victim = Some((block, pages.into(), valid.into()));
        (account.copied, account.lost, account.is_free) = (0, 0, account.awaits_space);
        self.look(geometry, unit);
    }

    /// Whether a plane of the unit is so short that its collection needs no payment.
    fn look(&mut self, geometry: &Geometry, unit: UnitId) {
        let Accounts { paid, units, free_blocks, free_pages, .. } = self;
        let account = &mut units[unit.index()];
        let left = account.victim.map_or(0, |(_, _, valid)| valid.saturating_sub(account.copied));
        account.is_free |= geometry.planes_of(unit).iter().any(|plane| {
            let (blocks, pages) = (free_blocks[plane.index()], free_pages[plane.index()]);
            // A threshold itself may count as below it.
            let is_at = |space: Space, more: u32| match space {
                Space::Blocks(limit) => blocks < limit + more + paid.kept_blocks,
                Space::Pages(limit) => pages < u64::from(limit + more),
            };
            is_at(paid.rules.floor, 0)
                || paid.hard.is_some_and(|hard| is_at(hard, 1))
                || pages <= left + paid.reserve_pages
        });
    }

    /// A page was lost: perhaps one that a collection has yet to move.
    fn loses(&mut self, geometry: &Geometry, page: Ppn) {
        if !page.is_some() {
            return;
        }
        let block = geometry.block_of(page);
        let unit = geometry.unit_of(geometry.plane_of_block(block));
        let account = &mut self.units[unit.index()];
        if account.victim.is_some_and(|(victim, ..)| victim == block) {
            account.lost += 1;
        }
    }

    fn wrote(&mut self, now_ns: u64, unit: UnitId) {
        let Paid { rules, slots, .. } = self.paid;
        let account = &mut self.units[unit.index()];
        account.awaits_space = false;
        let Some((_, pages, valid)) = account.victim else {
            (account.most, account.least) = (0, 0);
            return;
        };
        let price = |valid: u64| i128::from(valid) * COPY / i128::from((pages - valid).max(1));
        let least = price(valid - account.lost.min(valid));
        assert!(
            account.is_free || account.least < COPY + i128::from(slots - 1) * price(valid),
            "at {now_ns} ns a write of the host began in unit {}, but at least {:.1} copies were \
             paid that go before it",
            unit.0,
            account.least as f64 / COPY as f64
        );
        account.most += price(valid) * i128::from(rules.urgency_max_milli) / 1000 + ROUNDING;
        if !account.is_free {
            account.least += least;
        }
    }

    fn copied(&mut self, now_ns: u64, unit: UnitId) {
        let least = -COPY * i128::from(self.paid.at_once - 1);
        let account = &mut self.units[unit.index()];
        account.copied += 1;
        account.most -= COPY;
        account.least = if account.is_free { least } else { (account.least - COPY).max(least) };
        assert!(
            account.is_free || account.most >= least,
            "at {now_ns} ns the collection of unit {} made a copy that no write had paid for",
            unit.0
        );
        account.most = account.most.max(least);
    }
}
