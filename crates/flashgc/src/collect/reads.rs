//! The cost of the reads of a step and the retries of its pages.

use super::Collecting;
use crate::flash::{Op, Phases};
use crate::ids::{Ppn, UnitId};
use crate::operation::{self, Program};
use crate::verify::Watch;

/// The phases of an operation that reads the pages of the step: slots once for all of a flash
/// page.
#[inline(always)]
pub(super) fn price<W: Watch>(at: &Collecting<'_, W>, unit: UnitId, op: Op) -> Phases {
    if at.prices.depends_on_pages() {
        return price_by_pages(at, unit, op);
    }
    at.prices.nominal(op, at.jobs[unit].step.copies.len())
}

#[inline(never)]
fn price_by_pages<W: Watch>(at: &Collecting<'_, W>, unit: UnitId, op: Op) -> Phases {
    let (job, plan) = (&at.jobs[unit], at.cx.plan);
    let tables = (&at.store.ftl, &plan.geometry);
    if plan.geometry.shape.program_slots > 1 {
        let pages = job.joining.read.iter().copied();
        return operation::reading((op, job.joining.read.len()), pages, at.prices, tables);
    }
    let pages = job.step_pages().map(|copy| copy.from);
    operation::reading((op, job.step.copies.len()), pages, at.prices, tables)
}

/// An operation that reads the pages of the step begins: their retries are counted, if the
/// controller corrects them.
#[inline(always)]
pub(super) fn begin<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId, op: Op) {
    at.jobs[unit].step.corrects = op.corrects();
    if at.cx.plan.read_retry.is_some() && op.corrects() {
        count_retries(at, unit);
    }
}

#[inline(never)]
fn count_retries<W: Watch>(at: &mut Collecting<'_, W>, unit: UnitId) {
    let plan = at.cx.plan;
    let (job, counters) = (&at.jobs[unit], &mut at.cx.counters);
    let retries = |page| at.store.ftl.retries(&plan.geometry, page);
    if plan.geometry.shape.program_slots > 1 {
        let pages = job.joining.read.chunk_by(|&a, &b| at.prices.shares_flash_page(a, b));
        pages.for_each(|page| counters.add_retries(true, retries(page[0])));
    } else {
        let pages = job.step_pages().map(|copy| copy.from);
        pages.for_each(|page| counters.add_retries(true, retries(page)));
    }
    if W::OPERATIONS {
        let step = job.step_pages().map(|copy| copy.from);
        let read: Vec<Ppn> = match plan.geometry.shape.program_slots {
            1 => step.collect(),
            _ => job.joining.read.clone(),
        };
        read.into_iter().for_each(|page| at.store.notify_uncorrectable(page, &mut at.cx));
    }
}

/// Adds the time of the programs of a step whose pages are fixed.
pub(super) fn program<W: Watch>(at: &Collecting<'_, W>, unit: UnitId, phases: &mut Phases) {
    let pages = at.jobs[unit].step_pages().map(|copy| copy.to);
    Program { pages, fills: 0 }.price(at.prices, &at.store.ftl, phases);
}
