//! Service: the next operation of a free unit, and what follows when phases end.

use super::Sim;
use crate::arbiter::{Choice, Turn};
use crate::collect::Stage;
use crate::flash::{self, Class, Command, Due, Ended, Moved, Part, Phases};
use crate::host::{Op, OpKind};
use crate::ids::{BusId, PlaneId, Ppn, UnitId};
use crate::owner::Owner;
use crate::plan::Allocation;
use crate::verify::{Happened, Watch, What};

impl<W: Watch> Sim<W> {
    /// Starts the unit's next operation, if it has one. The only place where operations begin.
    #[inline]
    pub(super) fn start_unit(&mut self, unit: UnitId) {
        while self.flash.is_free(unit) {
            if self.instant.has_too_many_steps() {
                return;
            }
            if self.jobs.has_arrivals(unit)
                && !self.arbiter.is_suspended(unit)
                && let Some(cross_unit) = self.next_cross_unit(unit)
            {
                self.start_cross_unit(unit, cross_unit);
                continue;
            }
            let mut turn = Turn::default();
            loop {
                let choice = self.arbiter.next(unit, &mut turn, &mut view!(self));
                if choice == Choice::Nothing {
                    return;
                }
                let has_begun = self.act(unit, choice);
                self.end_at_once();
                if has_begun {
                    break;
                }
            }
        }
    }

    /// Does what the arbiter chose. Returns whether it came to anything.
    #[inline(always)]
    fn act(&mut self, unit: UnitId, choice: Choice) -> bool {
        match choice {
            Choice::Nothing => return false,
            Choice::TryCollect => return self.collect(unit),
            Choice::TryBackground => return self.work_ahead(unit),
            Choice::Step if self.arbiter.is_preemptive() => self.read_step(unit),
            Choice::Step => self.step_job(unit),
            Choice::Poll => self.poll(unit),
            Choice::ProgramStep => self.program_step(unit),
            Choice::PutBack => self.put_back(unit),
            Choice::Answer(op, list) => self.answer(unit, op, list),
            Choice::Merge(op, list) => self.merge(unit, op, list),
            Choice::Resume => self.resume(unit),
            Choice::Host(op, list) => self.start_host(unit, op, list),
            Choice::Short(op, list, plane) => return self.make_room(unit, plane, op, list),
        }
        true
    }

    /// Begins the collection of a plane that needs space, if one has a victim.
    #[inline(always)]
    fn collect(&mut self, unit: UnitId) -> bool {
        let victim = self.gc.victim_for(unit, &sight!(self));
        if let Some((plane, victim)) = victim {
            self.open_job(unit, plane, victim);
        }
        victim.is_some()
    }

    /// Works ahead while the drive is idle, if there is anything to do.
    #[inline(always)]
    fn work_ahead(&mut self, unit: UnitId) -> bool {
        if let Some((plane, victim)) = self.idle_victim(unit) {
            self.open_idle_job(unit, plane, victim);
            return true;
        }
        let page = self.next_ahead(unit);
        if let Some((plane, from)) = page {
            self.move_ahead(unit, plane, from);
        }
        page.is_some()
    }

    /// Whether a collection may begin.
    pub(super) fn may_open_job(&mut self, unit: UnitId) -> bool {
        view!(self).may_open_job(unit)
    }

    /// The next write of the unit finds no page: collect, go elsewhere, or wait. Returns whether
    /// the unit has begun something.
    #[cold]
    fn make_room(&mut self, unit: UnitId, plane: PlaneId, op: u32, list: u8) -> bool {
        match self.jobs[unit].stage {
            Stage::Closed => {}
            Stage::Sending => return false,
            _ => return self.act_step(unit),
        }
        self.gc.want_space(plane, &sight!(self));
        if self.gc.can_collect(&self.ftl, plane)
            && let Some(victim) = self.gc.pick_victim(plane, &sight!(self))
        {
            self.open_job(unit, plane, victim);
            return true;
        }
        let lpn = self.host.waiting.op(op).lpn;
        if self.plan.allocation == Allocation::Dynamic && !self.alloc.chooses_at_start() {
            if self.arbiter.is_preemptive() {
                self.send_elsewhere(unit, op, list);
                return false;
            }
            let other = self.alloc.least_busy_plane(&self.plan, &self.ftl, lpn);
            if other != plane && self.ftl.host_has_room(other) {
                self.take_from_queue(unit, op, list);
                self.place(op);
                // The operations that waited behind it may be served now.
                self.look_at(unit);
                return false;
            }
        }
        self.starve(unit, lpn);
        false
    }

    fn act_step(&mut self, unit: UnitId) -> bool {
        if self.arbiter.is_preemptive() {
            self.read_step(unit)
        } else {
            self.step_job(unit)
        }
        true
    }

    /// A write that may not preempt goes to the best plane of its pool where it may now. That plane
    /// could refuse it again only after it gave pages to others, so that no write moves between
    /// planes forever.
    #[cold]
    fn send_elsewhere(&mut self, unit: UnitId, op: u32, list: u8) {
        let lpn = self.host.waiting.op(op).lpn;
        let pool = self.plan.pools.of_page(&self.plan.geometry, lpn);
        let view = view!(self);
        let takes = |plane| view.takes_writes(plane);
        let other = view.alloc.best_plane(view.plan, view.ftl, pool, takes);
        let Some(other) = other else { return self.starve(unit, lpn) };
        self.alloc.has_chosen(&self.plan, other);
        self.take_from_queue(unit, op, list);
        self.queue_at(op, other);
        // The operations that waited behind it may be served now.
        self.look_at(unit);
    }

    /// Checks the units again whose write found no page.
    #[inline(always)]
    pub(super) fn look_at_starved(&mut self) {
        while let Some(unit) = self.starved.pop() {
            self.look_at(unit);
        }
    }

    #[inline(always)]
    pub(super) fn take_from_queue(&mut self, unit: UnitId, op: u32, list: u8) {
        self.host.waiting.take(op, list);
        if self.alloc.has_groups() {
            let Op { lpn, sequence, .. } = *self.host.waiting.op(op);
            self.alloc.leaves_queue(&self.plan, lpn, sequence);
        }
        self.alloc.one_less(unit);
    }

    /// Starts a page operation of the host, and those that can share its array time.
    #[inline(always)]
    fn start_host(&mut self, unit: UnitId, op: u32, list: u8) {
        let kind = self.host.waiting.op(op).kind;
        let Some(plane) = self.start_page(unit, op, list) else { return };
        let mut shared = 0;
        if self.plan.geometry.shape.multi_plane > 1 {
            self.share(unit, plane, kind == OpKind::Write, list);
            shared = self.units[unit.index()].group.len();
        }
        let group = self.units[unit.index()].group.iter().copied();
        let pages = std::iter::once(op).chain(group).map(|op| self.page_of(op));
        let filled = self.units[unit.index()].filled;
        let phases = if kind == OpKind::Write {
            self.prices.programming(flash::Op::Program, shared + 1, pages, filled)
        } else {
            self.prices.reading(flash::Op::Read, shared + 1, pages)
        };
        self.begin(unit, Owner::Host(op), phases);
    }

    /// The page of an operation of the host that has begun.
    #[inline(always)]
    pub(super) fn page_of(&self, op: u32) -> Ppn {
        self.ftl.map.ppn_of(self.host.waiting.op(op).lpn)
    }

    /// Takes a page operation out of its queue and starts its part of an array operation. Returns
    /// its plane, or `None` where it needs no array or went to another unit.
    #[inline(always)]
    pub(super) fn start_page(&mut self, unit: UnitId, op: u32, list: u8) -> Option<PlaneId> {
        self.take_from_queue(unit, op, list);
        self.host_begins(unit, op);
        let Op { lpn, kind, plane, next, .. } = *self.host.waiting.op(op);
        self.prefetch_for(next);
        if kind == OpKind::Write {
            self.host.write_starts(op, lpn, &mut context!(self));
            if self.alloc.chooses_at_start() {
                self.alloc.has_chosen(&self.plan, plane);
            }
            if self.write_page(plane, lpn, op) {
                self.units[unit.index()].filled += 1;
            }
            return Some(plane);
        }
        let ppn = self.ftl.map.ppn_of(lpn);
        if kind == OpKind::Trim || !ppn.is_some() {
            if self.serve_without_flash(op) {
                self.place(op);
            }
            return None;
        }
        let plane = self.plan.geometry.plane_of(ppn);
        if self.plan.geometry.unit_of(plane) != unit {
            // The page has moved since the read was queued.
            self.place(op);
            return None;
        }
        self.tell(Happened::Started { op, lpn });
        self.tell(Happened::Read { ppn, lpn });
        Some(plane)
    }

    /// Brings the data that the next write in a queue needs into the cache, one operation in
    /// advance.
    #[inline(always)]
    fn prefetch_for(&self, op: u32) {
        if let Some(next) = self.host.waiting.get(op) {
            self.prefetch_old(next.lpn);
        }
    }

    /// Begins an operation on a free unit.
    #[inline(always)]
    pub(super) fn begin(&mut self, unit: UnitId, owner: Owner, phases: Phases) {
        self.start_command(unit, Command::new(owner, owner.class(), phases));
    }

    /// Begins an operation whose program needs to know its pages only when it starts.
    #[inline(always)]
    pub(super) fn begin_unbound(&mut self, unit: UnitId, owner: Owner, phases: Phases) {
        let binds_at = phases.program_at();
        self.start_command(
            unit,
            Command { binds_at, ..Command::new(owner, owner.class(), phases) },
        );
    }

    #[inline(always)]
    pub(super) fn start_command(&mut self, unit: UnitId, command: Command<Owner>) {
        self.alloc.one_more(unit);
        let moved = self.flash.start(unit, command, self.now_ns, &mut self.events);
        self.has_begun(unit, moved);
    }

    /// A transfer has ended.
    #[inline(always)]
    pub(super) fn transfer_ended(&mut self, bus: BusId) {
        let part = self.flash.transfer_ended(bus, self.now_ns, &mut self.events);
        self.tell_busy(What::Bus, part.unit, part.since_ns, part.class == Class::Gc);
        self.part_ended(part);
    }

    /// A phase that needs no bus has ended.
    #[inline(always)]
    pub(super) fn array_ended(&mut self, unit: UnitId) {
        let part = self.flash.array_ended(unit);
        if part.kind.is_in_array() {
            if part.class == Class::Gc {
                self.job_worked(unit, part.owner, self.now_ns - part.since_ns);
            }
            self.tell_busy(What::Array, unit, part.since_ns, part.class == Class::Gc);
        }
        self.part_ended(part);
    }

    /// A phase has ended. Where the next one of the operation runs, other work may begin beside it.
    #[inline(always)]
    fn part_ended(&mut self, part: Part<Owner>) {
        match part.due {
            Due::Operation => {
                let moved = self.flash.goes_on(part.unit, self.now_ns, &mut self.events);
                self.follow(part.unit, moved);
                let ended = matches!(moved, Moved::Ended(_));
                if self.arbiter.is_preemptive() && !ended {
                    self.phase_begun(part.unit, part.owner);
                }
            }
            Due::Loaded => {}
            Due::Left(owner) => self.left_beside(part.unit, owner),
        }
    }

    /// A command has begun. One of no length has ended already, and waits to be read.
    #[inline(always)]
    pub(super) fn has_begun(&mut self, unit: UnitId, moved: Moved<Owner>) {
        if let Moved::Ended(ended) = moved {
            self.at_once.push_back((unit, ended));
        }
    }

    /// Reads the commands that ended as they began.
    #[inline(always)]
    pub(super) fn end_at_once(&mut self) {
        while let Some((unit, ended)) = self.next_at_once() {
            self.operation_ended(unit, ended);
        }
    }

    #[inline(always)]
    fn next_at_once(&mut self) -> Option<(UnitId, Ended<Owner>)> {
        if self.at_once.is_empty() { None } else { self.at_once.pop_front() }
    }

    /// What follows when a command has moved on.
    #[inline(always)]
    fn follow(&mut self, unit: UnitId, moved: Moved<Owner>) {
        match moved {
            Moved::Runs => {}
            Moved::Ended(ended) => self.operation_ended(unit, ended),
            Moved::NeedsPages => self.pages_are_due(unit),
        }
    }

    /// The program of copies begins: they bind.
    #[inline(always)]
    fn pages_are_due(&mut self, unit: UnitId) {
        match self.flash.owner(unit) {
            Some(Owner::PreMigration) => self.bind_ahead(unit),
            _ => self.bind_step(unit),
        }
    }

    #[inline(always)]
    fn operation_ended(&mut self, unit: UnitId, ended: Ended<Owner>) {
        let Ended { owner, since_ns } = ended;
        self.tell_operation(unit, owner, since_ns);
        self.alloc.one_less(unit);
        if self.arbiter.is_preemptive() {
            self.preempting_ended(unit, owner, self.now_ns - since_ns);
            return self.look_at(unit);
        }
        match owner {
            Owner::Host(op) => {
                self.summaries_ended(unit);
                self.host_operation_ended(op);
                if !self.units[unit.index()].group.is_empty() {
                    self.group_ended(unit);
                }
            }
            Owner::Collection => self.job_operation_ended(unit),
            Owner::CrossUnit => self.cross_unit_ended(unit),
            Owner::PreMigration => self.pre_migrated(unit),
            Owner::Answer(_) | Owner::Suspending | Owner::Polling => {
                unreachable!("only preemption has these")
            }
        }
        self.look_at(unit);
    }

    /// The operations that shared an array operation are done, in their order.
    pub(super) fn group_ended(&mut self, unit: UnitId) {
        let mut group = std::mem::take(&mut self.units[unit.index()].group);
        for op in group.drain(..) {
            self.host_operation_ended(op);
        }
        self.units[unit.index()].group = group;
    }

    /// The summaries that an operation of the host wrote are done.
    #[inline(always)]
    pub(super) fn summaries_ended(&mut self, unit: UnitId) {
        let filled = std::mem::take(&mut self.units[unit.index()].filled);
        self.count_summaries(u64::from(filled));
    }

    #[inline(always)]
    pub(super) fn host_operation_ended(&mut self, op: u32) {
        match self.host.waiting.op(op).kind {
            OpKind::Read => self.counters.array_reads += 1,
            OpKind::Write => self.counters.array_programs += 1,
            OpKind::ReadRest => {
                self.counters.array_reads += 1;
                self.counters.rest_read += 1;
                self.host.waiting.becomes_write(op);
                return self.place(op);
            }
            OpKind::Trim => unreachable!("a trim needs no unit"),
        }
        self.page_done(op);
        self.place_flushes();
    }

    #[inline(always)]
    pub(super) fn tell_operation(&mut self, unit: UnitId, owner: Owner, from_ns: u64) {
        if W::ACTIVE {
            let name = self.operation_name(unit, owner);
            let copies = self.jobs[unit].step.len() as u32;
            let gc = owner.class() == Class::Gc;
            self.tell_busy(What::Operation(name, copies), unit, from_ns, gc);
        }
    }

    #[inline(always)]
    pub(super) fn tell_busy(&mut self, what: What, unit: UnitId, from_ns: u64, gc: bool) {
        if W::ACTIVE {
            let to_ns = self.now_ns;
            self.watch.see(to_ns, Happened::Busy { what, unit, from_ns, to_ns, gc });
        }
    }

    fn operation_name(&self, unit: UnitId, owner: Owner) -> &'static str {
        match owner {
            Owner::Host(op) | Owner::Answer(op) => match self.host.waiting.op(op).kind {
                OpKind::Read => "read",
                OpKind::ReadRest => "read-rest",
                _ if self.host.is_flush(op) => "flush",
                _ => "program",
            },
            Owner::CrossUnit => "program-copy",
            Owner::PreMigration => "move-ahead",
            Owner::Suspending => "suspend",
            Owner::Polling => "poll",
            Owner::Collection => self.job_operation_name(unit),
        }
    }
}
