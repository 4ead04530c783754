//! Programs of the host that reads suspend, under any rules for collections (Wu and He, "Reducing
//! SSD read latency via NAND flash program and erase suspension", FAST 2012).
//!
//! The program keeps its page buffer, and the reads use the second one. Until it continues, its
//! unit does nothing but read for the host. It is not suspended while the second buffer is taken:
//! by the data of a cache program, or by a collection.

use super::preemptive::Preemptive;
use super::run_to_end;
use super::view::{Choice, Turn, View};
use crate::collect::Stage;
use crate::flash::{Kind, Suspended};
use crate::ids::{Ppn, UnitId};
use crate::owner::Owner;
use crate::plan::{Plan, Served};

/// The arbiter of a device that suspends programs of the host.
#[derive(Clone)]
pub struct Programs {
    /// A program whose array time left is at most this continues to its end.
    min_left_ns: u64,
    /// The most suspensions of one program.
    most_suspends: u32,
    /// How long it takes to suspend a program, and to continue it, in ns.
    switches_ns: [u64; 2],
    /// How requests preempt collections, if they do.
    pub(super) preemptive: Option<Box<Preemptive>>,
    units: Vec<Entry>,
}

/// The program of the host in a unit.
#[derive(Clone, Default)]
struct Entry {
    /// How often it was suspended.
    suspends: u32,
    /// The rest of it while it is suspended.
    rest: Option<Rest>,
}

/// A suspended program.
#[derive(Clone)]
struct Rest {
    suspended: Suspended,
    /// A page of each of its writes.
    pages: Vec<Ppn>,
    /// Since when a collection delayed it, in ns.
    waits_since_ns: Option<u64>,
}

impl Programs {
    pub(super) fn new(preemptive: Option<Box<Preemptive>>, plan: &Plan) -> Self {
        let (cost, rules) = (plan.timing.suspend, plan.timing.host_programs());
        Programs {
            min_left_ns: rules.map_or(u64::MAX, |rules| rules.min_left_ns),
            most_suspends: rules.map_or(0, |rules| rules.most_suspends),
            switches_ns: cost.map_or([0; 2], |cost| [cost.suspend_ns, cost.resume_ns]),
            preemptive,
            units: vec![Entry::default(); plan.geometry.units as usize],
        }
    }

    /// The next step of a free unit.
    #[inline(never)]
    pub(super) fn next(&mut self, unit: UnitId, turn: &mut Turn, mut view: View<'_>) -> Choice {
        if self.is_suspended(unit) {
            return self.next_while_suspended(unit, &mut view);
        }
        match &mut self.preemptive {
            None => run_to_end::next(unit, turn, &mut view),
            Some(preemptive) => preemptive.next_or_without_job(unit, turn, view),
        }
    }

    /// A read that the array can serve now, or the program continues.
    pub(super) fn next_while_suspended(&mut self, unit: UnitId, view: &mut View<'_>) -> Choice {
        let next = self.next_read(unit, view);
        match next.filter(|&(op, _)| !self.keeps_out(unit, page_of(op, view), view.plan)) {
            Some((op, list)) => Choice::Host(op, list),
            None => Choice::GoOn,
        }
    }

    /// The read that would be the next operation of the host in its unit.
    fn next_read(&mut self, unit: UnitId, view: &mut View<'_>) -> Option<(u32, u8)> {
        let next = match &mut self.preemptive {
            None => first_of_host(unit, view),
            Some(preemptive) => preemptive.entrant(unit, view),
        };
        next.filter(|&(op, _)| view.waiting.op(op).kind.is_read())
    }

    /// Whether a read that waits suspends the program of the host under way, which has these pages.
    pub(super) fn may_suspend(&mut self, unit: UnitId, pages: &[Ppn], view: &mut View<'_>) -> bool {
        // While a cache program is put together, the pages of the one under way are put aside.
        let has_second = pages.is_empty() || holds_a_buffer(view.jobs[unit].stage());
        if has_second || !self.may_be_suspended(unit, view) {
            return false;
        }
        let Some((op, _)) = self.next_read(unit, view) else { return false };
        let (page, geometry) = (page_of(op, view), &view.plan.geometry);
        page.is_some()
            && geometry.unit_of_page(page) == unit
            && !view.ftl.is_in_controller(geometry, page)
            && !are_programmed_with(pages, page, view.plan)
    }

    /// Whether a unit is at a program of the host that can be suspended now.
    fn may_be_suspended(&self, unit: UnitId, view: &View<'_>) -> bool {
        let flash = view.flash;
        let programs = matches!(flash.owner(unit), Some(Owner::Host(_)))
            && flash.phase(unit).is_some_and(|phase| phase.kind == Kind::Program);
        programs
            && view.waiting.count(unit) > 0
            && self.units[unit.index()].suspends < self.most_suspends
            && flash.left_ns(unit, view.now_ns).is_some_and(|ns| ns > self.min_left_ns)
    }

    /// Whether a program of the host is suspended in a unit.
    #[inline]
    pub(super) fn is_suspended(&self, unit: UnitId) -> bool {
        self.units[unit.index()].rest.is_some()
    }

    /// Whether a page can be read only after the program that is suspended in a unit.
    pub(super) fn keeps_out(&self, unit: UnitId, page: Ppn, plan: &Plan) -> bool {
        let rest = self.units[unit.index()].rest.as_ref();
        rest.is_some_and(|rest| are_programmed_with(&rest.pages, page, plan))
    }

    /// The program of the host was suspended. Returns how long that takes, in ns.
    pub(super) fn suspended(&mut self, unit: UnitId, rest: Suspended, pages: &[Ppn]) -> u64 {
        let delayed = self.preemptive.as_mut();
        let waits_since_ns = delayed.and_then(|it| it.put_delay_aside(unit));
        let entry = &mut self.units[unit.index()];
        entry.suspends += 1;
        entry.rest = Some(Rest { suspended: rest, pages: pages.to_vec(), waits_since_ns });
        self.switches_ns[0]
    }

    /// The suspended program continues: how long that takes, in ns, and the rest of it.
    pub(super) fn resumed(&mut self, unit: UnitId) -> Option<(u64, Suspended)> {
        let Rest { suspended, waits_since_ns, .. } = self.units[unit.index()].rest.take()?;
        if let Some(preemptive) = &mut self.preemptive {
            preemptive.has_delay_again(unit, waits_since_ns);
        }
        Some((self.switches_ns[1], suspended))
    }

    /// An operation has ended: if it was the program, its suspensions no longer count.
    pub(super) fn ended(&mut self, unit: UnitId, owner: Owner) {
        let entry = &mut self.units[unit.index()];
        if matches!(owner, Owner::Host(_)) && entry.rest.is_none() {
            entry.suspends = 0;
        }
    }
}

/// Whether a collection has pages in a buffer of the unit, or in its suspended operation.
fn holds_a_buffer(stage: Stage) -> bool {
    !matches!(stage, Stage::Closed | Stage::Copying | Stage::Sending | Stage::Moved | Stage::Erased)
}

/// Where collections run to their end: the operation of the host that goes before its others in a
/// unit, and its list.
fn first_of_host(unit: UnitId, view: &View<'_>) -> Option<(u32, u8)> {
    view.plan.service.order.iter().find_map(|&served| match served {
        Served::Queue(list) => view.waiting.peek(unit, list).map(|op| (op, list)),
        Served::Gc => None,
    })
}

fn page_of(op: u32, view: &View<'_>) -> Ppn {
    view.ftl.map.ppn_of(view.waiting.op(op).lpn)
}

/// Whether the array can read a page only after the program of these: it is one of them, is joined
/// with them, or has its fine pass with them.
fn are_programmed_with(pages: &[Ppn], page: Ppn, plan: &Plan) -> bool {
    let (geometry, shape) = (&plan.geometry, &plan.geometry.shape);
    let lag = plan.timing.passes.map_or(0, |passes| passes.lag);
    let number = |page: Ppn| {
        let (_, in_block) = geometry.block_and_page(page);
        shape.page_of_lane(in_block) / shape.program_slots
    };
    let is_with = |last: Ppn| {
        last.is_some()
            && geometry.block_of(page) == geometry.block_of(last)
            && geometry.lane_of(page) == geometry.lane_of(last)
            && number(last).checked_sub(number(page)).is_some_and(|behind| behind <= lag)
    };
    page.is_some() && pages.iter().any(|&last| is_with(last))
}
