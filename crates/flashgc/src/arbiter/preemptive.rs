//! Requests preempt collections (paper preemptible-gc, section III).
//!
//! A collection reads a page (`Reading`), keeps it in the register (`Buffered`, point A), programs
//! it (`Programming`), and is between copies (`Copying`, point B). At B each request that may
//! preempt goes first; at A each that needs the page in the register, and where the device has a
//! second page buffer all others too.
//!
//! The four states of section III-D: S0, no collection; S1, all requests may preempt; S2, the plane
//! is below its hard threshold and writes may not; S3, a write of high priority waits in S2 and no
//! request may preempt until the collection has ended and that write is served.

use super::notices::Entry;
use super::time_slices::TimeSlices;
use super::tokens::Tokens;
use super::view::{Choice, Turn, View};
use crate::collect::Stage;
use crate::gc::{Preemption, Suspends};
use crate::host::OpKind;
use crate::ids::{PlaneId, UnitId};
use crate::plan::{HIGH, Plan};

/// The state of preemption.
#[derive(Clone)]
pub struct Preemptive {
    /// The rules.
    pub(super) rules: Preemption,
    /// How long it takes to suspend an operation, and to continue it, in ns.
    pub(super) switches_ns: [u64; 2],
    /// By unit.
    pub(super) units: Vec<Entry>,
    /// The time slices of collections, where the scheme has them.
    pub(super) slices: Option<TimeSlices>,
    /// What the host has paid for collections, where they advance by tokens.
    pub(super) tokens: Option<Tokens>,
    /// When each page operation was queued, in ns.
    pub(super) queued_ns: Vec<u64>,
    /// Whether copies that no request can preempt run unseen.
    runs_unseen: bool,
}

impl Preemptive {
    pub(super) fn new(rules: Preemption, plan: &Plan, runs_unseen: bool) -> Self {
        // Readers have an entry for what delayed their read.
        let units = plan.geometry.units + plan.geometry.readers;
        let cost = plan.timing.suspend;
        Preemptive {
            rules,
            switches_ns: cost.map_or([0; 2], |cost| [cost.suspend_ns, cost.resume_ns]),
            units: vec![Entry::default(); units as usize],
            slices: plan.gc.time_slices.map(|rules| TimeSlices::new(rules, plan)),
            tokens: plan.gc.tokens.map(|rules| Tokens::new(rules, plan)),
            queued_ns: Vec::new(),
            runs_unseen,
        }
    }

    /// The next step of a free unit.
    #[inline(never)]
    pub(super) fn next(&mut self, unit: UnitId, turn: &mut Turn, view: &mut View<'_>) -> Choice {
        if turn.at > 0 {
            return self.next_of_host(unit, turn, view);
        }
        if self.units[unit.index()].suspended.is_some() {
            return self.next_while_suspended(unit, view);
        }
        match view.jobs[unit].stage() {
            Stage::Copying => self.next_at_b(unit, view),
            Stage::Buffered => self.next_at_a(unit, view),
            Stage::Closed => self.next_without_job(unit, turn, view),
            // Other units program the pages of the step, or are not as far with their parts.
            Stage::Sending | Stage::Moved | Stage::Erased => self.next_of_host(unit, turn, view),
            Stage::Whole | Stage::Unseen | Stage::Reading | Stage::Programming | Stage::Erasing => {
                unreachable!("the unit works for its job")
            }
        }
    }

    /// State S0, or S1 before a collection begins: it begins first, since that takes no time.
    fn next_without_job(&mut self, unit: UnitId, turn: &mut Turn, view: &mut View<'_>) -> Choice {
        if let Some(op) = self.urgent_write(unit, view) {
            return Choice::Host(op, HIGH);
        }
        if view.gc.has_needs(unit) && view.may_open_job(unit) {
            turn.at = 1;
            return view.collect_or_work(unit);
        }
        self.next_of_host(unit, turn, view)
    }

    fn next_of_host(&mut self, unit: UnitId, turn: &mut Turn, view: &mut View<'_>) -> Choice {
        if turn.at < 2 {
            if let Some((op, list)) = self.entrant(unit, view) {
                return Choice::Host(op, list);
            }
            turn.at = 2;
            if turn.works_ahead {
                return Choice::TryBackground;
            }
        }
        if turn.at > 2 {
            return Choice::Nothing;
        }
        turn.at = 3;
        if view.plan.geometry.has_superblocks() {
            // Its page is known: it waits for the collection to end.
            return Choice::Nothing;
        }
        let blocked = view.waiting.heads(unit).into_iter().flatten();
        let blocked = blocked.into_iter().find(|&(op, _)| view.is_write(op));
        let Some((op, list)) = blocked else { return Choice::Nothing };
        Choice::Short(op, list, view.waiting.op(op).plane)
    }

    /// Point B, between copies: any request may preempt.
    fn next_at_b(&mut self, unit: UnitId, view: &mut View<'_>) -> Choice {
        if let Some(choice) = self.next_as_paced(unit, view) {
            return choice;
        }
        if !self.rules.between_copies {
            return Choice::Step;
        }
        if self.must_poll(unit) {
            return Choice::Poll;
        }
        let Some((op, list)) = self.entrant(unit, view) else {
            let is_unseen = self.runs_unseen && self.stay_refused(unit, view);
            return if is_unseen { Choice::Steps } else { Choice::Step };
        };
        if self.rules.merge && bring_forward(unit, op, view) {
            return Choice::Step;
        }
        Choice::Host(op, list)
    }

    /// Point A, a page in the register: requests that are served from there, and where there is a
    /// second page buffer all others.
    fn next_at_a(&mut self, unit: UnitId, view: &mut View<'_>) -> Choice {
        // A write that was merged is nowhere but in the register.
        let may_put_back = view.jobs[unit].has_read_ahead() && !view.jobs[unit].has_merged();
        if may_put_back && self.entrant(unit, view).is_some() {
            return Choice::PutBack;
        }
        if self.must_poll(unit) {
            return Choice::Poll;
        }
        let has_second_buffer = self.rules.suspends == Suspends::Any;
        if (self.rules.merge || has_second_buffer)
            && let Some(served) = self.served_from_register(unit, view)
        {
            return served;
        }
        match self.entrant(unit, view) {
            Some((op, list)) if has_second_buffer => Choice::Host(op, list),
            _ => Choice::ProgramStep,
        }
    }

    fn must_poll(&self, unit: UnitId) -> bool {
        self.rules.poll_ns > 0 && !self.units[unit.index()].polled
    }

    /// The next operation of a unit whose collection has a suspended operation.
    fn next_while_suspended(&mut self, unit: UnitId, view: &mut View<'_>) -> Choice {
        let Some((op, list)) = self.entrant(unit, view) else { return Choice::Resume };
        if view.is_write(op) || !is_in_register(unit, op, view) {
            return Choice::Host(op, list);
        }
        match view.jobs[unit].stage() {
            Stage::Reading => Choice::Resume,
            _ => Choice::Answer(op, list),
        }
    }

    /// The request that may preempt now. Those that may not are recorded.
    #[inline(always)]
    pub(super) fn entrant(&mut self, unit: UnitId, view: &mut View<'_>) -> Option<(u32, u8)> {
        if view.plan.gc.blocking.blocks {
            self.set_aside(unit, view);
        }
        if view.waiting.count(unit) == 0 { None } else { self.entrant_of_some(unit, view) }
    }

    #[inline(never)]
    fn entrant_of_some(&mut self, unit: UnitId, view: &mut View<'_>) -> Option<(u32, u8)> {
        if let Some((op, list)) = view.waiting.only_head(unit) {
            let may_preempt = !view.is_write(op) || self.write_may_preempt(unit, op, view);
            return may_preempt.then_some((op, list));
        }
        self.entrant_of_several(unit, view)
    }

    #[inline(never)]
    fn entrant_of_several(&mut self, unit: UnitId, view: &mut View<'_>) -> Option<(u32, u8)> {
        if self.is_shut(unit, view) {
            self.units[unit.index()].refused_ns = view.now_ns;
            return None;
        }
        let heads = view.waiting.heads(unit).into_iter().flatten();
        for (op, list) in heads {
            if !view.is_write(op) || self.write_may_preempt(unit, op, view) {
                return Some((op, list));
            }
        }
        None
    }

    /// Whether a write may be loaded at point A while the copy is programmed.
    #[inline(always)]
    pub(super) fn may_load(&self, unit: UnitId) -> bool {
        self.rules.suspends != Suspends::Any && self.units[unit.index()].suspends == 0
    }

    /// Whether a read of the host leaves over the bus, where nothing waits and the collection is
    /// between copies: its next pages are read.
    pub(super) fn reads_ahead(&mut self, unit: UnitId, view: &mut View<'_>) -> bool {
        let [is_first, is_last] = view.flash.is_first_or_last_phase(unit);
        let on_bus = view.flash.phase(unit).is_none_or(|phase| phase.kind.is_on_bus());
        let is_alone = view.flash.second(unit).is_none();
        let is_suspended = self.units[unit.index()].suspended.is_some();
        is_last && !is_first && on_bus && is_alone && !is_suspended && !self.is_unpaid(unit, view)
    }

    /// The write that may preempt now.
    pub(super) fn preempting_write(
        &mut self,
        unit: UnitId,
        view: &mut View<'_>,
    ) -> Option<(u32, u8)> {
        if view.waiting.count(unit) == 0 || self.is_shut(unit, view) {
            return None;
        }
        let heads = view.waiting.heads(unit).into_iter().flatten();
        for (op, list) in heads {
            if view.is_write(op) {
                return self.write_may_preempt(unit, op, view).then_some((op, list));
            }
        }
        None
    }

    /// The reads that are next stand aside as far as they touch a block that the unit's collection
    /// closes (docs/schemes/bbgc.md#the-two-closed-blocks).
    fn set_aside(&mut self, unit: UnitId, view: &mut View<'_>) {
        let geometry = &view.plan.geometry;
        while let Some(op) = view.waiting.peek(unit, crate::plan::READS) {
            let ppn = view.ftl.map.ppn_of(view.waiting.op(op).lpn);
            if !ppn.is_some() || !view.jobs[unit].closes(ppn, &view.plan.gc, geometry) {
                return;
            }
            view.waiting.take(unit, op, crate::plan::READS);
            view.alloc.one_less(unit);
            self.units[unit.index()].aside.push(op);
            view.counters.blocked += 1;
        }
    }

    /// A request for a page in the register, at point A.
    fn served_from_register(&mut self, unit: UnitId, view: &mut View<'_>) -> Option<Choice> {
        if view.waiting.count(unit) == 0 || self.is_shut(unit, view) {
            return None;
        }
        let heads = view.waiting.heads(unit).into_iter().flatten();
        for (op, list) in heads.filter(|&(op, _)| is_in_register(unit, op, view)) {
            if !view.is_write(op) {
                return Some(Choice::Answer(op, list));
            }
            let plane = view.jobs[unit].plane();
            let has_room = plane.is_some_and(|plane| self.merge_has_room(unit, plane, view));
            if self.rules.merge && has_room {
                return Some(Choice::Merge(op, list));
            }
        }
        None
    }

    fn merge_has_room(&self, unit: UnitId, plane: PlaneId, view: &View<'_>) -> bool {
        let is_even = view.plan.parity() && view.plan.gc.separate_gc;
        view.ftl.host_has_room(plane) && (!is_even || view.leaves_room(unit, plane))
    }
}

/// A request that waits alone for a page that the collection has yet to move: this page goes next,
/// and the request is served from the register (section III-B).
fn bring_forward(unit: UnitId, op: u32, view: &mut View<'_>) -> bool {
    let op = view.waiting.op(op);
    // Other requests would wait for the program of a page that they do not need.
    if op.kind == OpKind::Write || view.waiting.count(unit) > 1 {
        return false;
    }
    let ppn = view.ftl.map.ppn_of(op.lpn);
    ppn.is_some()
        && view.jobs[unit].plane() == Some(view.plan.geometry.plane_of(ppn))
        && view.jobs[unit].bring_forward(ppn)
}

/// Whether the page of an operation is one of the step under way.
#[inline]
pub(super) fn is_in_register(unit: UnitId, op: u32, view: &View<'_>) -> bool {
    let ppn = view.ftl.map.ppn_of(view.waiting.op(op).lpn);
    ppn.is_some() && view.jobs[unit].has_in_register(ppn, view.plan)
}
