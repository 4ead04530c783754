//! The pages of a program are known when it begins, and with them its time.

use super::Sim;
use crate::flash::{Phases, Prices};
use crate::ids::Ppn;
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
