//! Service: the next operation of a free unit.

use super::Sim;
use crate::arbiter::{Choice, Turn};
use crate::background::Work;
use crate::collect::Stage;
use crate::flash::{Command, Moved, Op as FlashOp, Phases};
use crate::host::{Op, OpKind};
use crate::ids::{BlockId, Lpn, PlaneId, Ppn, UnitId};
use crate::owner::Owner;
use crate::plan::Allocation;
use crate::verify::{Cause, Happened, Watch};

impl<W: Watch> Sim<W> {
    /// Starts the unit's next operation, if it has one. The only place where operations begin.
    #[inline]
    pub(super) fn start_unit(&mut self, unit: UnitId) {
        while self.flash.is_free(unit) {
            if self.instant.has_too_many_steps() {
                return;
            }
            if self.jobs.has_arrivals(unit) && self.program_arrival(unit) {
                continue;
            }
            let mut turn = Turn::default();
            loop {
                let choice = self.arbiter.next(unit, &mut turn, view!(self));
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

    /// Programs a page that the collection of another unit has sent here, if there is one still.
    fn program_arrival(&mut self, unit: UnitId) -> bool {
        if self.arbiter.is_suspended(unit) {
            return false;
        }
        let command = collecting!(self).program_arrival(unit);
        self.hear();
        self.begins(unit, command)
    }

    /// Does what the arbiter chose. Returns whether it came to anything.
    #[inline(always)]
    fn act(&mut self, unit: UnitId, choice: Choice) -> bool {
        match choice {
            Choice::Nothing => return false,
            Choice::TryCollect => return self.collect(unit),
            Choice::TryBackground => return self.background.is_some() && self.work_ahead(unit),
            Choice::Step => self.step(unit),
            Choice::Poll => self.poll(unit),
            Choice::ProgramStep => self.program_step(unit),
            Choice::PutBack => collecting!(self).put_back(unit),
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
        let victim = self.store.victim_for(unit, &context!(self));
        if let Some((plane, victim)) = victim {
            self.open_job(unit, plane, victim);
        }
        victim.is_some()
    }

    fn open_job(&mut self, unit: UnitId, plane: PlaneId, victim: BlockId) {
        let command = collecting!(self).open(unit, plane, victim);
        self.hear();
        self.begins(unit, command);
    }

    /// Background work of an idle unit, if there is any.
    #[cold]
    fn work_ahead(&mut self, unit: UnitId) -> bool {
        match self.background.next(unit, &mut rest!(self)) {
            None => return false,
            Some(Work::Run(command)) => self.start_command(unit, command),
            Some(Work::Collect(plane, victim)) => {
                self.open_job(unit, plane, victim);
                // One block, whatever the batch size of the watermark is.
                self.jobs[unit].batch_left = 1;
            }
        }
        true
    }

    /// The open collection continues.
    fn step(&mut self, unit: UnitId) {
        if self.arbiter.is_preemptive() {
            let command = collecting!(self).read_step(unit);
            self.start_command(unit, command);
            return self.job_phase_overlaps(unit);
        }
        let command = collecting!(self).step(unit);
        self.hear();
        self.start_command(unit, command);
    }

    /// The next write of the unit finds no page: collect, go elsewhere, or wait. Returns whether
    /// the unit has begun something.
    #[cold]
    fn make_room(&mut self, unit: UnitId, plane: PlaneId, op: u32, list: u8) -> bool {
        match self.jobs[unit].stage {
            Stage::Closed => {}
            Stage::Sending => return false,
            _ => {
                self.step(unit);
                return true;
            }
        }
        if let Some(victim) = self.store.want_space(plane, &context!(self)) {
            self.open_job(unit, plane, victim);
            return true;
        }
        let lpn = self.host.waiting.op(op).lpn;
        if self.plan.allocation == Allocation::Dynamic && !self.store.alloc.chooses_at_start() {
            if self.arbiter.is_preemptive() {
                self.send_elsewhere(unit, op, list);
                return false;
            }
            let other = self.store.alloc.least_busy_plane(&self.plan, &self.store.ftl, lpn);
            if other != plane && self.store.ftl.host_has_room(other) {
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
        self.store.alloc.has_chosen(&self.plan, other);
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

    /// The next write of the unit finds no page anywhere.
    fn starve(&mut self, unit: UnitId, lpn: Lpn) {
        self.starved.push(unit);
        self.hurry_all();
        if self.plan.allocation == Allocation::Dynamic {
            self.store.want_space_in_pool(lpn, &context!(self));
            self.hear();
        }
    }

    #[inline(always)]
    pub(super) fn take_from_queue(&mut self, unit: UnitId, op: u32, list: u8) {
        self.host.waiting.take(op, list);
        if self.store.alloc.has_groups() {
            let Op { lpn, sequence, .. } = *self.host.waiting.op(op);
            self.store.alloc.leaves_queue(&self.plan, lpn, sequence);
        }
        self.store.alloc.one_less(unit);
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
            self.prices.programming(FlashOp::Program, shared + 1, pages, filled)
        } else {
            self.prices.reading(FlashOp::Read, shared + 1, pages)
        };
        self.begin(unit, Owner::Host(op), phases);
    }

    /// The page of an operation of the host that has begun.
    #[inline(always)]
    pub(super) fn page_of(&self, op: u32) -> Ppn {
        self.store.ftl.map.ppn_of(self.host.waiting.op(op).lpn)
    }

    /// Takes a page operation out of its queue and starts its part of an array operation. Returns
    /// its plane, or `None` where it needs no array or went to another unit.
    #[inline(always)]
    pub(super) fn start_page(&mut self, unit: UnitId, op: u32, list: u8) -> Option<PlaneId> {
        self.take_from_queue(unit, op, list);
        self.host_begins(unit, op);
        let Op { lpn, kind, plane, next, .. } = *self.host.waiting.op(op);
        if let Some(next) = self.host.waiting.get(next) {
            // What the next write in a queue needs, one operation in advance.
            self.store.prefetch_old(next.lpn, &self.plan);
        }
        if kind == OpKind::Write {
            self.host.write_starts(op, lpn, &mut context!(self));
            if self.store.alloc.chooses_at_start() {
                self.store.alloc.has_chosen(&self.plan, plane);
            }
            if self.write_page(plane, lpn, op) {
                self.units[unit.index()].filled += 1;
            }
            return Some(plane);
        }
        let ppn = self.store.ftl.map.ppn_of(lpn);
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

    /// A write of the host takes its page. Returns whether that filled its block.
    #[inline(always)]
    fn write_page(&mut self, plane: PlaneId, lpn: Lpn, op: u32) -> bool {
        let cause = self.cause_of(op);
        let has_filled = self.store.write_page(plane, lpn, cause, &mut context!(self));
        self.hear();
        has_filled
    }

    /// Why a page operation programs its page, for the watcher.
    #[inline(always)]
    pub(super) fn cause_of(&self, op: u32) -> Cause {
        if W::ACTIVE && self.host.is_flush(op) { Cause::Flush } else { Cause::Host { op } }
    }

    /// Begins an operation on a free unit.
    #[inline(always)]
    pub(super) fn begin(&mut self, unit: UnitId, owner: Owner, phases: Phases) {
        self.start_command(unit, Command::new(owner, owner.class(), phases));
    }

    /// Begins a command, if there is one. Returns whether there is.
    #[inline(always)]
    pub(super) fn begins(&mut self, unit: UnitId, command: Option<Command<Owner>>) -> bool {
        let Some(command) = command else { return false };
        self.start_command(unit, command);
        true
    }

    #[inline(always)]
    pub(super) fn start_command(&mut self, unit: UnitId, command: Command<Owner>) {
        self.store.alloc.one_more(unit);
        let moved = self.flash.start(unit, command, self.now_ns, &mut self.events);
        self.has_begun(unit, moved);
    }

    /// A command has begun. One of no length has ended already, and waits to be read.
    #[inline(always)]
    pub(super) fn has_begun(&mut self, unit: UnitId, moved: Moved<Owner>) {
        if let Moved::Ended(ended) = moved {
            self.at_once.push_back((unit, ended));
        }
    }
}
