//! The pages of a program are known when it begins, and with them its time.

use super::Sim;
use crate::background::Bound;
use crate::flash::{Phases, Prices};
use crate::ids::{Ppn, UnitId};
use crate::verify::Watch;

/// Adds the time of the pages that an operation programs, and that of failed programs before them.
#[inline(always)]
pub(super) fn price(
    phases: &mut Phases,
    prices: &Prices,
    to: impl Iterator<Item = Ppn>,
    fills: u32,
    failed_ns: u64,
) {
    prices.bind(phases, to, fills);
    phases.program_again(failed_ns);
}

/// The time of failed programs before these pages of copies, in ns.
#[inline(always)]
pub(super) fn failed_ns<W: Watch>(sim: &Sim<W>, pages: impl Iterator<Item = Ppn>) -> u64 {
    sim.store.ftl.failed_ns(pages, |page| sim.collection_prices.program_ns(page))
}

/// The program of a copy that a background task makes begins.
#[cold]
pub(super) fn of_background<W: Watch>(sim: &mut Sim<W>, task: u8, unit: UnitId) {
    let Bound { page, fills } = sim.background.bind(task, unit, &mut rest!(sim));
    sim.hear();
    let prices = &sim.collection_prices;
    let fills = prices.filled_by_copies(|| fills);
    let to = std::iter::once(page);
    let failed_ns = failed_ns(sim, to.clone());
    let price = |phases: &mut Phases| price(phases, prices, to, fills, failed_ns);
    let moved = sim.flash.bound(unit, price, sim.now_ns, &mut sim.events);
    sim.after_binding(unit, moved);
}
