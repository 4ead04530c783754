//! Preemption: the next operation of a unit where requests may preempt its open collection.
//!
//! Paper preemptible-gc, section III. A collection reads a page (`Reading`), keeps it in the
//! register (`Buffered`, point A), programs it (`Programming`), and is between copies (`Copying`,
//! point B). At B each request that may preempt goes first; at A each that needs the page in the
//! register, and where the device has a second page buffer all others too.
//!
//! The four states of section III-D: S0, no collection; S1, all requests may preempt; S2, the plane
//! is below its hard threshold and writes may not; S3, a write of high priority waits in S2 and no
//! request may preempt until the collection has ended and that write is served.

use super::Sim;
use super::owner::Owner;
use super::service::Next;
use crate::collect::Stage;
use crate::flash::{Kind, Phases, Suspended};
use crate::ftl::Stream;
use crate::gc::Role;
use crate::gc::{Preemption, Suspends};
use crate::host::{Op, OpKind};
use crate::ids::{PlaneId, Ppn, UnitId};
use crate::plan::{HIGH, Plan};
use crate::verify::{Happened, Watch};

/// The state of preemption for each unit.
#[derive(Clone, Default)]
pub(super) struct Entry {
    /// The collection's operation that is suspended.
    pub suspended: Option<Suspended>,
    /// Pages of the host that were bound at the register: merged, or loaded in parallel with a
    /// program. Only where pages matter for the price.
    pub host_pages: Vec<Ppn>,
    /// How often the operation under way was suspended.
    pub suspends: u32,
    /// Whether the queue was polled since the collection's last operation.
    pub polled: bool,
    /// Whether the pages in the register were read in parallel with a transfer of the host.
    pub read_ahead: bool,
    /// Whether the last operation was part of a collection.
    pub gc_was_last: bool,
    /// When the host's last operation here ended, in ns.
    host_end_ns: u64,
    /// When a request was last refused, in ns.
    refused_ns: u64,
    /// When an operation of a collection last ended here, in ns.
    job_end_ns: u64,
    /// Since when the host's operation that began last had waited for the collection alone, in ns.
    preempted_since_ns: u64,
    /// The same of the host's operation under way, or the merged write, if a collection delayed it.
    waits_since_ns: Option<u64>,
    /// The last write that was counted for finding no page, by its order of acceptance.
    exhausted: Option<u64>,
}

impl Entry {
    /// A collection has delayed an operation of the host since this time.
    fn was_delayed(&mut self, since_ns: u64) {
        self.waits_since_ns = Some(self.waits_since_ns.map_or(since_ns, |ns| ns.min(since_ns)));
    }

    /// The write that was loaded in parallel with a program of the collection had to wait for it.
    pub(super) fn loaded_write_waited(&mut self) {
        self.was_delayed(self.preempted_since_ns);
    }
}

/// The state of preemption; empty where no request preempts.
pub(super) struct Preempting {
    /// Whether requests may preempt at all.
    pub on: bool,
    /// The rules of preemption.
    pub rules: Preemption,
    /// By unit.
    pub units: Vec<Entry>,
    /// When each page operation was queued, in ns.
    queued_ns: Vec<u64>,
}

impl Preempting {
    pub(super) fn new(plan: &Plan) -> Self {
        let units = if plan.gc.preemption.is_some() { plan.geometry.units as usize } else { 0 };
        Preempting {
            on: plan.gc.preemption.is_some(),
            rules: plan.gc.preemption.unwrap_or(Preemption::BETWEEN_SLICES),
            units: vec![Entry::default(); units],
            queued_ns: Vec::new(),
        }
    }
}

impl<W: Watch> Sim<W> {
    /// Chooses the next operation of a free unit.
    #[inline(never)]
    pub(super) fn next_preempting(&mut self, unit: UnitId) -> Next {
        if self.preempting.units[unit.index()].suspended.is_some() {
            return self.next_while_suspended(unit);
        }
        if self.jobs.has_arrivals(unit)
            && let Some(cross_unit) = self.next_cross_unit(unit)
        {
            return Next::Program(cross_unit);
        }
        match self.jobs[unit].stage {
            Stage::Copying => self.next_at_b(unit),
            Stage::Buffered => self.next_at_a(unit),
            Stage::Closed => self.next_without_job(unit),
            // The pages of the step are being programmed in other units.
            Stage::Sending => self.next_of_host(unit),
            Stage::Whole | Stage::Reading | Stage::Programming | Stage::Erasing => {
                unreachable!("the unit works for its job")
            }
        }
    }

    /// State S0, or S1 before a collection begins: it begins first, since that takes no time.
    fn next_without_job(&mut self, unit: UnitId) -> Next {
        if let Some(op) = self.urgent_write(unit) {
            return Next::Host(op, HIGH);
        }
        if self.gc.unit_wants(unit)
            && self.may_open_job(unit)
            && let Some((plane, victim)) = self.gc.victim_for(unit, &sight!(self))
        {
            return Next::Collect(plane, victim);
        }
        self.next_of_host(unit)
    }

    fn next_of_host(&mut self, unit: UnitId) -> Next {
        if let Some((op, list)) = self.entrant(unit) {
            return Next::Host(op, list);
        }
        if let Some((plane, victim)) = self.idle_victim(unit) {
            return Next::CollectIdle(plane, victim);
        }
        if let Some(next) = self.next_ahead(unit) {
            return next;
        }
        let is_write = |op: u32| self.host.waiting.op(op).kind == OpKind::Write;
        let blocked =
            self.host.waiting.heads(unit).into_iter().flatten().find(|&(op, _)| is_write(op));
        let Some((op, list)) = blocked else { return Next::Nothing };
        let plane = self.host.waiting.op(op).plane;
        self.make_room(unit, plane, op, list).unwrap_or(Next::Nothing)
    }

    /// Point B, between copies: any request may preempt.
    fn next_at_b(&mut self, unit: UnitId) -> Next {
        if self.pacing.is_some() && !self.slice_goes_on(unit) {
            return self.next_between_slices(unit);
        }
        if !self.preempting.rules.between_copies {
            return Next::Step;
        }
        if self.must_poll(unit) {
            return Next::Poll;
        }
        let Some((op, list)) = self.entrant(unit) else { return Next::Step };
        if self.preempting.rules.merge && self.bring_forward(unit, op) {
            return Next::Step;
        }
        Next::Host(op, list)
    }

    /// Point A, a page in the register: requests that are served from there, and where there is a
    /// second page buffer all others.
    fn next_at_a(&mut self, unit: UnitId) -> Next {
        if self.preempting.units[unit.index()].read_ahead && self.entrant(unit).is_some() {
            self.put_back(unit);
            return self.next_at_b(unit);
        }
        if self.must_poll(unit) {
            return Next::Poll;
        }
        let has_second_buffer = self.preempting.rules.suspends == Suspends::Any;
        if (self.preempting.rules.merge || has_second_buffer)
            && let Some(next) = self.served_from_register(unit)
        {
            return next;
        }
        match self.entrant(unit) {
            Some((op, list)) if has_second_buffer => Next::Host(op, list),
            _ => Next::ProgramStep,
        }
    }

    fn must_poll(&self, unit: UnitId) -> bool {
        self.preempting.rules.poll_ns > 0 && !self.preempting.units[unit.index()].polled
    }

    /// The collector polls the queue.
    #[inline(never)]
    pub(super) fn poll(&mut self, unit: UnitId) {
        let phases = Phases::new().then(Kind::Rest, self.preempting.rules.poll_ns);
        self.preempting.units[unit.index()].polled = true;
        self.begin(unit, Owner::Polling, phases);
    }

    /// The request that may preempt now. Those that may not are recorded.
    pub(super) fn entrant(&mut self, unit: UnitId) -> Option<(u32, u8)> {
        if self.plan.gc.blocking.blocks {
            self.set_aside(unit);
        }
        if self.host.waiting.count(unit) == 0 {
            return None;
        }
        if self.is_shut(unit) {
            self.preempting.units[unit.index()].refused_ns = self.now_ns;
            return None;
        }
        let heads = self.host.waiting.heads(unit).into_iter().flatten();
        for (op, list) in heads {
            if self.host.waiting.op(op).kind != OpKind::Write || self.write_may_preempt(unit, op) {
                return Some((op, list));
            }
        }
        None
    }

    /// The write that may preempt now.
    pub(super) fn preempting_write(&mut self, unit: UnitId) -> Option<(u32, u8)> {
        if self.host.waiting.count(unit) == 0 || self.is_shut(unit) {
            return None;
        }
        let heads = self.host.waiting.heads(unit).into_iter().flatten();
        for (op, list) in heads {
            if self.host.waiting.op(op).kind == OpKind::Write {
                return self.write_may_preempt(unit, op).then_some((op, list));
            }
        }
        None
    }

    /// Whether a plane of the unit is above the hard threshold and has a page for the host.
    pub(super) fn plane_takes_write(&self, unit: UnitId, plane: PlaneId) -> bool {
        self.ftl.host_has_room(plane)
            && self.leaves_room(unit, plane)
            && !self.refuses_writes(unit, plane)
    }

    /// Whether a write finds its plane above the hard threshold, and a page there.
    fn write_may_preempt(&mut self, unit: UnitId, op: u32) -> bool {
        let plane = self.plane_to_start(op);
        let has_room = self.ftl.host_has_room(plane) && self.leaves_room(unit, plane);
        if has_room && !self.refuses_writes(unit, plane) {
            return true;
        }
        let entry = &mut self.preempting.units[unit.index()];
        entry.refused_ns = self.now_ns;
        let sequence = Some(self.host.waiting.op(op).sequence);
        if !has_room && entry.exhausted != sequence {
            entry.exhausted = sequence;
            self.counters.exhausted += 1;
        }
        false
    }

    /// A write that may not preempt goes to the best plane of its pool where it may now. That plane
    /// could refuse it again only after it gave pages to others, so that no write moves between
    /// planes forever.
    #[cold]
    pub(super) fn send_elsewhere(&mut self, unit: UnitId, op: u32, list: u8) -> Option<Next> {
        let lpn = self.host.waiting.op(op).lpn;
        let pool = self.plan.pools.of_page(&self.plan.geometry, lpn);
        let Some(other) =
            self.alloc.best_plane(&self.plan, &self.ftl, pool, |plane| self.takes_writes(plane))
        else {
            self.starve(unit, lpn);
            return None;
        };
        self.alloc.has_chosen(&self.plan, other);
        self.take_from_queue(unit, op, list);
        self.queue_at(op, other);
        // The operations that waited behind it may be served now.
        self.look_at(unit);
        None
    }

    /// Whether a write may preempt here now.
    fn takes_writes(&self, plane: PlaneId) -> bool {
        let unit = self.plan.geometry.unit_of(plane);
        self.ftl.host_has_room(plane)
            && self.leaves_room(unit, plane)
            && !self.refuses_writes(unit, plane)
            && !self.is_shut_as_queued(unit)
    }

    /// State S3 where writes find their plane when they are queued.
    fn is_shut_as_queued(&self, unit: UnitId) -> bool {
        let high = self.host.waiting.peek(unit, HIGH);
        let is_refused = |op| self.refuses_writes(unit, self.host.waiting.op(op).plane);
        self.jobs[unit].is_open() && high.is_some_and(is_refused)
    }

    /// Whether the open collection has enough erased pages for the copies that are left when the
    /// host takes one. It may have opened the block of the reserve.
    fn leaves_room(&self, unit: UnitId, plane: PlaneId) -> bool {
        let job = &self.jobs[unit];
        if !job.is_open() || job.plane != Some(plane) {
            return true;
        }
        let by_pages = self.plan.gc.reserve_pages > 0;
        // Under the odd/even rule the host could take the pages that copies leave in their block.
        let is_apart = !self.plan.parity() || self.ftl.frontiers.host_has_own_room(plane);
        if self.plan.gc.separate_gc && is_apart && !by_pages {
            return true;
        }
        let under_way = matches!(job.stage, Stage::Reading | Stage::Buffered | Stage::Sending);
        let left = job.copies.len() - job.next + if under_way { job.step.len() } else { 0 };
        let left = left as u64;
        let frontiers = &self.ftl.frontiers;
        let geometry = &self.plan.geometry;
        let data_pages = u64::from(geometry.shape.data_pages());
        let pages_as = |is_of: fn(Role) -> bool| {
            let victims = job.victims.iter().filter(|victim| is_of(victim.role));
            victims.map(|victim| u64::from(geometry.data_pages_of(victim.block))).sum::<u64>()
        };
        // Blocks that were erased before count as erased, and must not be opened until the
        // collection has ended.
        let withheld = pages_as(|role| matches!(role, Role::Between | Role::FreeNeighbour));
        let won = pages_as(|role| role == Role::Victim);
        // A collection that found fewer victims than its maximum frees less than the next may need.
        let reserve = u64::from(self.plan.gc.reserve_blocks) * data_pages;
        let free = u64::from(frontiers.free_pages(plane));
        let missing = reserve.saturating_sub(won);
        if !self.plan.parity() {
            return free > left + missing.max(withheld + self.kept_beside(data_pages));
        }
        if by_pages {
            return false;
        }
        // All of them may be of one kind, and the open block may have none of it.
        let whole = u64::from(frontiers.free_blocks(plane).saturating_sub(1)) * data_pages;
        left + missing == 0 || whole > 2 * left + missing
    }

    /// Erased pages that other streams than that of a copy may keep to themselves at most.
    fn kept_beside(&self, data_pages: u64) -> u64 {
        let gc = &self.plan.gc;
        if gc.reserve_pages == 0 {
            return 0;
        }
        let groups = gc.hotness_groups.as_ref().map_or(0, |groups| u64::from(groups.groups()));
        groups.max(u64::from(gc.separate_gc)) * (data_pages - 1)
    }

    /// State S2: the plane is below its hard threshold, and a collection can free pages there.
    fn refuses_writes(&self, unit: UnitId, plane: PlaneId) -> bool {
        let trigger = &self.plan.gc.trigger;
        let job = &self.jobs[unit];
        trigger.hard.is_some_and(|hard| hard.is_short(&self.ftl, plane, trigger.inclusive))
            && (job.is_open() && job.plane == Some(plane) || self.gc.can_collect(&self.ftl, plane))
    }

    /// State S3: a write of high priority waits for the collection to end.
    fn is_shut(&mut self, unit: UnitId) -> bool {
        if !self.jobs[unit].is_open() {
            return false;
        }
        let Some(op) = self.host.waiting.peek(unit, HIGH) else { return false };
        let plane = self.plane_to_start(op);
        self.refuses_writes(unit, plane)
    }

    /// The end of S3: no collection is open, and the write of high priority goes before the next.
    fn urgent_write(&mut self, unit: UnitId) -> Option<u32> {
        let op = self.host.waiting.peek(unit, HIGH)?;
        let plane = self.plane_to_start(op);
        (self.refuses_writes(unit, plane) && self.ftl.host_has_room(plane)).then_some(op)
    }

    /// A request that waits alone for a page that the collection has yet to move: this page goes
    /// next, and the request is served from the register (section III-B).
    fn bring_forward(&mut self, unit: UnitId, op: u32) -> bool {
        let Op { lpn, kind, .. } = *self.host.waiting.op(op);
        // Other requests would wait for the program of a page that they do not need.
        if kind == OpKind::Write || self.host.waiting.count(unit) > 1 {
            return false;
        }
        let ppn = self.ftl.map.ppn_of(lpn);
        let job = &mut self.jobs[unit];
        if !ppn.is_some() || job.plane != Some(self.plan.geometry.plane_of(ppn)) {
            return false;
        }
        let end = if job.next < job.copies.len() { job.list_end(job.next) } else { return false };
        let found = job.copies[job.next..end].iter().position(|copy| copy.from == ppn);
        let Some(at) = found else { return false };
        job.copies.swap(job.next, job.next + at);
        true
    }

    /// Whether the page of an operation is one of the step under way.
    pub(super) fn is_in_register(&self, unit: UnitId, op: u32) -> bool {
        let ppn = self.ftl.map.ppn_of(self.host.waiting.op(op).lpn);
        let job = &self.jobs[unit];
        let is_bound = job.stage == Stage::Programming;
        ppn.is_some()
            && job.step.iter().any(|&at| {
                let copy = &job.copies[at];
                ppn == if is_bound { copy.to } else { copy.from }
            })
    }

    /// A request for a page in the register, at point A.
    fn served_from_register(&mut self, unit: UnitId) -> Option<Next> {
        if self.is_shut(unit) {
            return None;
        }
        let heads = self.host.waiting.heads(unit).into_iter().flatten();
        for (op, list) in heads.filter(|&(op, _)| self.is_in_register(unit, op)) {
            if self.host.waiting.op(op).kind != OpKind::Write {
                return Some(Next::Answer(op, list));
            }
            let plane = self.jobs[unit].plane;
            let has_room = plane.is_some_and(|plane| {
                let is_even = self.plan.parity() && self.plan.gc.separate_gc;
                self.ftl.host_has_room(plane) && (!is_even || self.leaves_room(unit, plane))
            });
            if self.preempting.rules.merge && has_room {
                return Some(Next::Merge(op, list));
            }
        }
        None
    }

    /// A read is answered with a page of the register: it needs the bus only.
    #[inline(never)]
    pub(super) fn answer(&mut self, unit: UnitId, op: u32, list: u8) {
        self.take_answer(unit, op, list);
        self.begin(unit, Owner::Answer(op), self.prices.answer());
    }

    /// Takes a read that the register answers out of its queue.
    pub(super) fn take_answer(&mut self, unit: UnitId, op: u32, list: u8) {
        self.take_from_queue(unit, op, list);
        self.note_preempted(unit, op);
        let lpn = self.host.waiting.op(op).lpn;
        let ppn = self.ftl.map.ppn_of(lpn);
        self.tell(Happened::Started { op, lpn });
        self.tell(Happened::Read { ppn, lpn });
        self.tell(Happened::InRegister { ppn });
        self.counters.merged_reads += 1;
    }

    /// An answer has left: the read is done, or the rest of its page is known.
    pub(super) fn answered(&mut self, op: u32) {
        if self.host.waiting.op(op).kind == OpKind::ReadRest {
            self.counters.rest_read += 1;
            self.host.waiting.becomes_write(op);
            return self.place(op);
        }
        self.page_done(op);
    }

    /// A write of a page in the register changes it there: one program serves both.
    #[inline(never)]
    pub(super) fn merge(&mut self, unit: UnitId, op: u32, list: u8) {
        let Some(plane) = self.jobs[unit].plane else { return };
        self.take_from_queue(unit, op, list);
        self.note_preempted(unit, op);
        self.host.waiting.set_plane(op, plane);
        let lpn = self.host.waiting.op(op).lpn;
        self.host.write_starts(op, lpn, &mut context!(self));
        // The page replaces the copy from which it is made, and so one of its parity: the pages
        // that are reserved for the collection's copies stay enough.
        let has_filled = if self.plan.parity() && !self.plan.gc.separate_gc {
            let parity = self.parity_of(self.ftl.map.ppn_of(lpn));
            self.write_page_to(plane, Stream::Host, lpn, op, parity)
        } else {
            self.write_page(plane, lpn, op)
        };
        self.tell(Happened::InRegister { ppn: self.ftl.map.ppn_of(lpn) });
        self.note_host_page(unit, op);
        let job = &mut self.jobs[unit];
        job.host_fills += u32::from(has_filled);
        job.merged.push(op);
        self.counters.merged_writes += 1;
    }

    /// An operation was queued: records when, and checks whether it suspends the unit's operation.
    #[inline(never)]
    pub(super) fn note_queued(&mut self, unit: UnitId, op: u32) {
        let at = op as usize;
        if self.preempting.queued_ns.len() <= at {
            self.preempting.queued_ns.resize(at + 1, 0);
        }
        self.preempting.queued_ns[at] = self.now_ns;
        self.tell(Happened::Queued { op, unit });
        self.knock(unit, op);
    }

    /// An operation of the host begins: records how long it waited for the collection alone.
    #[inline(never)]
    pub(super) fn note_preempted(&mut self, unit: UnitId, op: u32) {
        let entry = &mut self.preempting.units[unit.index()];
        let since_ns = self.preempting.queued_ns[op as usize];
        let since_ns = since_ns.max(entry.host_end_ns).max(entry.refused_ns);
        if let Some(pacing) = &self.pacing {
            let stall_ns = self.now_ns.saturating_sub(since_ns.max(pacing.below_until_ns(unit)));
            self.counters.stall_max_ns = self.counters.stall_max_ns.max(stall_ns);
        }
        let wait_ns = self.now_ns.saturating_sub(since_ns);
        self.counters.gc_wait_max_ns = self.counters.gc_wait_max_ns.max(wait_ns);
        entry.preempted_since_ns = since_ns;
        if entry.job_end_ns > since_ns {
            entry.was_delayed(since_ns);
        }
        if std::mem::take(&mut entry.gc_was_last) && self.jobs[unit].is_open() {
            self.counters.preempted += 1;
        }
    }

    /// The host's operation has ended: if a collection delayed it, records for how long, without
    /// the requests before it.
    pub(super) fn note_left(&mut self, unit: UnitId) {
        let entry = &mut self.preempting.units[unit.index()];
        entry.host_end_ns = self.now_ns;
        if let Some(since_ns) = entry.waits_since_ns.take() {
            let response_ns = self.now_ns - since_ns;
            self.counters.gc_response_max_ns = self.counters.gc_response_max_ns.max(response_ns);
        }
    }

    /// An operation has ended on a unit with preemption.
    #[inline(never)]
    pub(super) fn preempting_ended(&mut self, unit: UnitId, owner: Owner, spent_ns: u64) {
        let entry = &mut self.preempting.units[unit.index()];
        if let Owner::Host(op) | Owner::Answer(op) = owner {
            entry.gc_was_last = false;
            self.gap_begins(unit, op);
            self.note_left(unit);
            self.summaries_ended(unit);
            if let Owner::Answer(op) = owner {
                self.answered(op);
            } else {
                self.host_operation_ended(op);
                self.group_ended(unit);
            }
            return self.second_takes_over(unit);
        }
        if owner == Owner::PreMigration {
            return self.pre_migrated(unit);
        }
        entry.gc_was_last = true;
        self.counters.gc_blocking_ns += spent_ns;
        self.slice_worked(unit, owner, spent_ns);
        let entry = &mut self.preempting.units[unit.index()];
        entry.job_end_ns = self.now_ns;
        match owner {
            Owner::Collection => {
                entry.suspends = 0;
                entry.polled = false;
                self.job_operation_ended(unit);
                self.second_takes_over(unit);
            }
            Owner::CrossUnit => self.cross_unit_ended(unit),
            _ => {}
        }
    }

    /// A write of the host was bound at the register. Its page is noted now: a page from the write
    /// buffer may be trimmed before it is programmed.
    #[inline]
    pub(super) fn note_host_page(&mut self, unit: UnitId, op: u32) {
        if self.prices.asks_for_pages() {
            let page = self.page_of(op);
            self.preempting.units[unit.index()].host_pages.push(page);
        }
    }
}
