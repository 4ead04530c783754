//! Tokens: an open collection advances in proportion to the writes of the host
//! (docs/schemes/tokens.md#the-account).
//!
//! 1. Each page that the host writes in a unit with an open collection pays for copies of it: the
//!    valid share of the victim over the invalid one, times the urgency.
//! 2. While a copy is paid, the collection continues and no write enters.
//! 3. Otherwise requests are served. Without any, the unit rests.
//! 4. Nothing has to be paid below the floor, while a write waits for space, and for the erase.
//!
//! Each unit has an account of its own: the space that its writes take and that its collection
//! frees is that of its planes. Where planes share their blocks, each unit pays for its part of the
//! victim: the units are written in turn, so that each takes its share of the space that is freed.

use super::view::View;
use crate::collect::{Job, Stage};
use crate::gc::{Role, Tokens as Rules};
use crate::ids::UnitId;
use crate::plan::Plan;
use crate::stats::Counters;

/// One copy, in the unit of accounts.
const COPY: i64 = 1 << 24;

/// The account of a unit.
#[derive(Clone, Default)]
struct Account {
    /// Copies that are paid and not made yet; below zero after a step of several copies.
    credit: i64,
    /// What a page of the host pays.
    price: i64,
    /// Copies of the open collection that are taken off the account.
    settled: u32,
    /// Whether its next step needs no payment.
    is_free: bool,
    /// Paid copies since the host's last page.
    since_write: u64,
}

/// The accounts of all units.
#[derive(Clone)]
pub struct Tokens {
    rules: Rules,
    /// The least credit: the copies of a step but one.
    least: i64,
    units: Vec<Account>,
}

impl Tokens {
    pub(super) fn new(rules: Rules, plan: &Plan) -> Self {
        let least = -COPY * (i64::from(plan.copies_at_once()) - 1);
        Tokens { rules, least, units: vec![Account::default(); plan.geometry.units as usize] }
    }

    /// The host has written a page.
    pub(super) fn wrote(&mut self, unit: UnitId, is_moving: bool) {
        let account = &mut self.units[unit.index()];
        account.credit = if is_moving { account.credit + account.price } else { 0 };
        account.since_write = 0;
    }

    /// Whether the next step of the unit's collection goes before the writes of the host.
    pub(super) fn owes(&mut self, unit: UnitId, view: &mut View<'_>) -> bool {
        match view.jobs[unit].stage() {
            Stage::Closed | Stage::Moved | Stage::Erased => return false,
            Stage::Copying => self.look(unit, view),
            _ => {}
        }
        let account = &self.units[unit.index()];
        account.is_free || account.credit >= COPY
    }

    /// The next step is made although it is not paid: a write waits for the space.
    pub(super) fn force(&mut self, unit: UnitId) {
        self.units[unit.index()].is_free = true;
    }

    /// Between two steps: takes the copies that were made off the account, and sets the price.
    fn look(&mut self, unit: UnitId, view: &mut View<'_>) {
        let least = self.least;
        let (job, account) = (&view.jobs[unit], &mut self.units[unit.index()]);
        account.settle(job.moved(), least, view.counters);
        let left = left(job, view);
        let is_short = view.is_short(unit, &self.rules.floor);
        account.is_free = left == 0 || is_short;
        account.price = price(job, left, &self.rules, view);
    }
}

impl Account {
    /// Takes the copies off the account that the collection has made since the last time.
    fn settle(&mut self, moved: u32, least: i64, counters: &mut Counters) {
        if moved < self.settled {
            // A collection that has just begun.
            self.settled = 0;
        }
        let made = u64::from(moved - self.settled);
        self.settled = moved;
        self.credit = (self.credit - COPY * made as i64).max(least);
        if self.is_free {
            counters.unpaid_copies += made;
        } else {
            self.since_write += made;
            let most = &mut counters.copies_between_writes_max;
            *most = (*most).max(self.since_write);
        }
    }
}

/// Valid pages that the collection still has to move in its unit. Those of a part are counted in
/// its list, so that some may have been rewritten.
fn left(job: &Job, view: &View<'_>) -> u64 {
    if view.plan.geometry.has_superblocks() {
        return job.copies_left();
    }
    job.victims().iter().map(|victim| u64::from(view.ftl.blocks.valid(victim.block))).sum()
}

/// The pages of a collection, as far as its unit moves them.
struct Share {
    /// Valid pages at first that the unit moves.
    valid: u64,
    /// Pages of the blocks that are erased, in all units.
    erased: u64,
    /// Those of them that were valid.
    all_valid: u64,
    /// The units that move them.
    units: u64,
}

impl Share {
    #[inline(always)]
    fn of(job: &Job, left: u64, view: &View<'_>) -> Share {
        if view.plan.geometry.has_superblocks() {
            return Share::of_part(job, view);
        }
        let valid = left + u64::from(job.moved());
        Share { valid, erased: erased(job, view), all_valid: valid, units: 1 }
    }

    /// Of the part of a unit.
    #[cold]
    #[inline(never)]
    fn of_part(job: &Job, view: &View<'_>) -> Share {
        let geometry = &view.plan.geometry;
        let whole = job.plane().map_or(job, |plane| &view.jobs[geometry.unit_of(plane)]);
        let (valid, units) = (job.listed(), geometry.erases_of_block());
        Share { valid, erased: erased(whole, view), all_valid: whole.valid_at_selection(), units }
    }
}

/// The pages that a collection erases.
#[inline(always)]
fn erased(job: &Job, view: &View<'_>) -> u64 {
    let victims = job.victims().iter().filter(|victim| victim.role == Role::Victim);
    victims.map(|victim| u64::from(view.plan.geometry.data_pages_of(victim.block))).sum()
}

/// The copies that a page of the host pays for, in the unit of accounts. Free space then stays as
/// it is: when the erase is due, the host has written as many pages as the collection wins.
fn price(job: &Job, left: u64, rules: &Rules, view: &View<'_>) -> i64 {
    let Share { valid, erased, all_valid, units } = Share::of(job, left, view);
    let won = erased.saturating_sub(all_valid).max(1);
    // The erase will have freed this part of its pages, as far as the copies are.
    let freed = erased * u64::from(job.moved()) / valid.max(1);
    let free = job.plane().map_or(0, |plane| u64::from(view.ftl.frontiers.free_pages(plane)));
    // Rounded up, so that the writes of a whole collection pay for all of it.
    let copies = u128::from(valid * units * COPY as u64) * u128::from(rules.urgency(free + freed));
    copies.div_ceil(u128::from(won) * 1000) as i64
}
