//! Service: the next operation of a free unit, and the phases of operations.

use super::Sim;
use super::host::{Op, OpKind};
use crate::device::{LayerTimes, Phase, Phases, Worker};
use crate::gc::job::Stage;
use crate::gc::victim::{Candidates, VictimPolicy};
use crate::gc::{CopyChoice, CrossUnit};
use crate::ids::{BlockId, BusId, PlaneId, Ppn, UnitId};
use crate::plan::{Allocation, Plan, Served};
use crate::verify::{Happened, Watch, What};

/// The phases of every operation, calculated once.
pub(super) struct Recipes {
    /// By the number of planes that share the operation, less one.
    pub read: Vec<Phases>,
    pub program: Vec<Phases>,
    /// By the number of pages that move at once, less one. Pages that go to other units are only
    /// read here.
    pub copy: Vec<Phases>,
    /// The two halves of a copy, where requests may preempt between them.
    pub copy_read: Vec<Phases>,
    /// See `copy_read`.
    pub copy_program: Vec<Phases>,
    pub erase: Phases,
    /// A page that is pre-migrated inside its plane.
    pub move_ahead: Phases,
    /// The array time of each page, where layers differ; rows above have the nominal one.
    pub layers: Option<LayerTimes>,
}

impl Recipes {
    pub(super) fn new(plan: &Plan) -> Self {
        let timing = &plan.timing;
        let planes = plan.geometry.shape.multi_plane;
        let halves = (1..=plan.gc.copy.at_once()).filter(|_| plan.gc.preemption.is_some());
        let by_copyback = plan.gc.copy.stays_in_plane();
        let halves = halves.map(|pages| timing.halves(pages, by_copyback));
        let (copy_read, copy_program) = halves.unzip();
        Recipes {
            copy_read,
            copy_program,
            read: (1..=planes).map(|planes| timing.read(planes)).collect(),
            program: (1..=planes).map(|planes| timing.program(planes)).collect(),
            copy: (1..=plan.gc.copy.at_once())
                .map(|pages| match plan.gc.copy {
                    CopyChoice::Bus => timing.copy_over_bus(),
                    copy if copy.is_global() => timing.read(pages),
                    _ => timing.copyback(pages),
                })
                .collect(),
            erase: timing.erase(),
            move_ahead: match plan.gc.copy.stays_in_plane() {
                true => timing.copyback(1),
                false => timing.copy_over_bus(),
            },
            layers: LayerTimes::new(timing, &plan.geometry.shape),
        }
    }

    /// Time of one step of copies that nothing delays, without commands, in ns.
    #[inline(always)]
    pub(super) fn copy_ns(&self) -> u64 {
        self.copy[0].total_ns()
    }
}

/// The next operation of a free unit.
pub(super) enum Next {
    Nothing,
    /// A collection begins: the plane and its victim.
    Collect(PlaneId, BlockId),
    /// The same while the drive is idle.
    CollectIdle(PlaneId, BlockId),
    /// The open collection continues.
    Step,
    /// The collector polls the queue.
    Poll,
    /// The pages in the register are programmed.
    ProgramStep,
    /// A read of the host is answered from the register.
    Answer(u32, u8),
    /// A write of the host changes a page in the register.
    Merge(u32, u8),
    /// The collection's suspended operation continues.
    Resume,
    /// A page of another unit's collection is programmed.
    Program(CrossUnit),
    /// A page is pre-migrated: its plane, and its present place.
    MoveAhead(PlaneId, Ppn),
    /// A page operation of the host, from this list.
    Host(u32, u8),
}

impl<W: Watch> Sim<W> {
    /// Starts the unit's next operation, if it has one. The only place where operations begin.
    #[inline]
    pub(super) fn start_unit(&mut self, unit: UnitId) {
        while self.units[unit.index()].worker == Worker::Nobody {
            if self.instant.has_too_many_steps() {
                return;
            }
            match self.next_for(unit) {
                Next::Nothing => return,
                Next::Collect(plane, victim) => self.open_job(unit, plane, victim),
                Next::CollectIdle(plane, victim) => self.open_idle_job(unit, plane, victim),
                Next::Step if self.preempting.on => self.read_step(unit),
                Next::Step => self.step_job(unit),
                Next::Poll => self.poll(unit),
                Next::ProgramStep => self.program_step(unit),
                Next::Answer(op, list) => self.answer(unit, op, list),
                Next::Merge(op, list) => self.merge(unit, op, list),
                Next::Resume => self.resume(unit),
                Next::Program(cross_unit) => self.start_cross_unit(unit, cross_unit),
                Next::MoveAhead(plane, from) => self.move_ahead(unit, plane, from),
                Next::Host(op, list) => self.start_host(unit, op, list),
            }
        }
    }

    /// Chooses by the device's order of service.
    #[inline]
    fn next_for(&mut self, unit: UnitId) -> Next {
        if self.preempting.on {
            return self.next_preempting(unit);
        }
        if self.units[unit.index()].cross_unit > 0
            && let Some(cross_unit) = self.next_cross_unit(unit)
        {
            return Next::Program(cross_unit);
        }
        if self.is_urgent(unit)
            && let Some((plane, victim)) = self.victim_for(unit)
        {
            return Next::Collect(plane, victim);
        }
        for at in 0..self.plan.service.order.len() {
            match self.plan.service.order[at] {
                Served::Gc => {
                    match self.gc.jobs[unit.index()].stage {
                        Stage::Closed => {}
                        // It continues when its pages have arrived.
                        Stage::Sending => continue,
                        _ => return Next::Step,
                    }
                    if self.units[unit.index()].wanting > 0
                        && self.may_open_job(unit)
                        && let Some((plane, victim)) = self.victim_for(unit)
                    {
                        return Next::Collect(plane, victim);
                    }
                }
                Served::Queue(list) => {
                    if self.units[unit.index()].waiting == 0 {
                        continue;
                    }
                    let Some(op) = self.queues.peek(&self.slabs.ops, unit, list) else { continue };
                    let kind = self.slabs.ops[op as usize].kind;
                    let plane = self.plane_to_start(op);
                    if kind != OpKind::Write || self.ftl.host_has_room(plane) {
                        return Next::Host(op, list);
                    }
                    if let Some(next) = self.make_room(unit, plane, op, list) {
                        return next;
                    }
                }
            }
        }
        match self.idle_victim(unit) {
            Some((plane, victim)) => Next::CollectIdle(plane, victim),
            None => self.next_ahead(unit).unwrap_or(Next::Nothing),
        }
    }

    /// Whether a plane of the unit is so short that collection goes before everything.
    #[inline(always)]
    fn is_urgent(&self, unit: UnitId) -> bool {
        let state = &self.units[unit.index()];
        let is_open = self.gc.jobs[unit.index()].is_open();
        if state.wanting == 0 || is_open || !self.may_open_job(unit) {
            return false;
        }
        let trigger = &self.plan.gc.trigger;
        let Some(hard) = trigger.hard else { return false };
        let planes = self.plan.geometry.planes_of(unit);
        planes.iter().any(|&plane| hard.is_short(&self.ftl, plane, trigger.inclusive))
    }

    /// Whether a collection may begin: always, or while a request waits at the unit. A write that
    /// waits for space anywhere is reason enough, since this unit may be the one that can free
    /// some.
    #[inline(always)]
    pub(super) fn may_open_job(&self, unit: UnitId) -> bool {
        self.plan.gc.trigger.idle_units
            || self.units[unit.index()].waiting > 0
            || !self.starved.is_empty()
    }

    /// The next write of the unit finds no page: collect, go elsewhere, or wait.
    #[cold]
    pub(super) fn make_room(
        &mut self,
        unit: UnitId,
        plane: PlaneId,
        op: u32,
        list: u8,
    ) -> Option<Next> {
        match self.gc.jobs[unit.index()].stage {
            Stage::Closed => {}
            Stage::Sending => return None,
            _ => return Some(Next::Step),
        }
        self.want_space(plane);
        if self.gc.can_collect(&self.ftl, plane)
            && let Some(victim) = self.pick_victim(plane)
        {
            return Some(Next::Collect(plane, victim));
        }
        let lpn = self.slabs.ops[op as usize].lpn;
        if self.plan.allocation == Allocation::Dynamic && !self.chooses_at_start {
            if self.preempting.on {
                return self.send_elsewhere(unit, op, list);
            }
            let other = self.least_busy_plane(lpn);
            if other != plane && self.ftl.host_has_room(other) {
                self.take_from_queue(unit, op, list);
                self.enqueue(op);
                // The operations that waited behind it may be served now.
                self.look_at(unit);
                return None;
            }
        }
        self.starve(unit, lpn);
        None
    }

    /// The plane of an operation that is about to start. A write may find it only now.
    #[inline(always)]
    pub(super) fn plane_to_start(&mut self, op: u32) -> PlaneId {
        let Op { lpn, kind, plane, .. } = self.slabs.ops[op as usize];
        if !self.chooses_at_start || kind != OpKind::Write {
            return plane;
        }
        let chosen = self.fittest_plane(lpn);
        self.slabs.ops[op as usize].plane = chosen;
        chosen
    }

    /// Checks the units again whose write found no page.
    #[inline(always)]
    pub(super) fn look_at_starved(&mut self) {
        while let Some(unit) = self.starved.pop() {
            self.look_at(unit);
        }
    }

    /// A victim in one of the unit's planes that need space, each plane in its turn.
    pub(super) fn victim_for(&mut self, unit: UnitId) -> Option<(PlaneId, BlockId)> {
        for turn in self.turns_of(unit) {
            let plane = self.plan.geometry.planes_of(unit)[turn];
            if !self.gc.can_collect(&self.ftl, plane) {
                continue;
            }
            if let Some(victim) = self.pick_victim(plane) {
                self.had_turn(unit, turn);
                return Some((plane, victim));
            }
        }
        None
    }

    /// The planes of a unit in their turn, by their place among them.
    pub(super) fn turns_of(&self, unit: UnitId) -> impl Iterator<Item = usize> + use<W> {
        let count = self.plan.geometry.planes_of(unit).len();
        let first = self.units[unit.index()].next_plane as usize;
        (0..count).map(move |at| (first + at) % count)
    }

    /// The plane at this place is collected: the next in turn is the one after it.
    pub(super) fn had_turn(&mut self, unit: UnitId, turn: usize) {
        let count = self.plan.geometry.planes_of(unit).len();
        self.units[unit.index()].next_plane = ((turn + 1) % count) as u32;
    }

    /// The next victim of a plane.
    pub(super) fn pick_victim(&mut self, plane: PlaneId) -> Option<BlockId> {
        if self.gc.lists.is_some() {
            return self.pick_listed(plane);
        }
        self.ask_policy(plane, u32::MAX)
    }

    /// Asks the victim policy for a block with at most `most_valid` valid pages.
    pub(super) fn ask_policy(&mut self, plane: PlaneId, most_valid: u32) -> Option<BlockId> {
        let candidates = Candidates { most_valid, ..candidates!(self) };
        let victim = self.gc.victim.pick(plane, &candidates, &mut self.gc.random)?;
        let is_fit =
            self.ftl.blocks.is_sealed(victim) && self.plan.geometry.plane_of_block(victim) == plane;
        assert!(is_fit, "the victim policy named block {} of another plane or not full", victim.0);
        Some(victim)
    }

    #[inline(always)]
    pub(super) fn take_from_queue(&mut self, unit: UnitId, op: u32, list: u8) {
        let plane = self.slabs.ops[op as usize].plane;
        self.queues.pop(&self.slabs.ops, plane, list, op);
        if !self.groups.is_empty() {
            self.group_is_left(op);
        }
        self.units[unit.index()].waiting -= 1;
        self.loads[unit.index()] -= 1;
    }

    /// Starts a page operation of the host, and those that can share its array time.
    #[inline(always)]
    fn start_host(&mut self, unit: UnitId, op: u32, list: u8) {
        let kind = self.slabs.ops[op as usize].kind;
        let Some(plane) = self.start_page(unit, op, list) else { return };
        let mut shared = 0;
        if self.plan.geometry.shape.multi_plane > 1 {
            self.share(unit, plane, kind == OpKind::Write, list);
            shared = self.units[unit.index()].group.len();
        }
        let recipe = if kind == OpKind::Write { &self.recipes.program } else { &self.recipes.read };
        let mut phases = recipe[shared];
        if self.recipes.layers.is_some() {
            self.time_host(unit, op, &mut phases);
        }
        let filled = self.units[unit.index()].filled;
        if filled > 0 {
            self.plan.timing.add_summaries(&mut phases, filled);
        }
        self.begin(unit, Worker::Host(op), phases);
    }

    /// Takes a page operation out of its queue and starts its part of an array operation. Returns
    /// its plane, or `None` where it needs no array or went to another unit.
    #[inline(always)]
    pub(super) fn start_page(&mut self, unit: UnitId, op: u32, list: u8) -> Option<PlaneId> {
        self.take_from_queue(unit, op, list);
        if self.preempting.on {
            self.note_preempted(unit, op);
        }
        let Op { lpn, kind, plane, next, .. } = self.slabs.ops[op as usize];
        self.prefetch_for(next);
        if kind == OpKind::Write {
            self.write_starts(op, lpn);
            if self.chooses_at_start {
                self.has_chosen(plane);
            }
            if self.write_page(plane, lpn, op) {
                self.units[unit.index()].filled += 1;
            }
            return Some(plane);
        }
        let ppn = self.ftl.map.ppn_of(lpn);
        if kind == OpKind::Trim || !ppn.is_some() {
            self.touches_no_flash(op);
            return None;
        }
        let plane = self.plan.geometry.plane_of(ppn);
        if self.plan.geometry.unit_of(plane) != unit {
            // The page has moved since the read was queued.
            self.enqueue(op);
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
        if let Some(next) = self.slabs.ops.get(op as usize) {
            self.prefetch_old(next.lpn);
        }
    }

    /// Begins an operation on a free unit.
    #[inline(always)]
    pub(super) fn begin(&mut self, unit: UnitId, worker: Worker, phases: Phases) {
        let state = &mut self.units[unit.index()];
        debug_assert!(state.worker == Worker::Nobody);
        state.worker = worker;
        state.phases = phases;
        state.at = 0;
        state.since_ns = self.now_ns;
        self.loads[unit.index()] += 1;
        self.begin_phase(unit);
    }

    #[inline(always)]
    pub(super) fn begin_phase(&mut self, unit: UnitId) {
        let state = &mut self.units[unit.index()];
        state.phase_since_ns = self.now_ns;
        match state.phases.get(state.at) {
            Some(Phase::Array(ns)) => self.events.post(unit.index(), self.now_ns + ns),
            Some(Phase::Bus(ns)) => {
                let bus = self.plan.geometry.bus_of(unit);
                if self.buses[bus.index()].holder.is_none() {
                    self.grant(bus, unit, ns);
                } else {
                    self.buses[bus.index()].waiting.push_back(unit);
                }
            }
            None => self.operation_ended(unit),
        }
    }

    #[inline(always)]
    pub(super) fn grant(&mut self, bus: BusId, unit: UnitId, ns: u64) {
        let state = &mut self.buses[bus.index()];
        state.holder = Some(unit);
        state.since_ns = self.now_ns;
        self.events.post(self.units.len() + bus.index(), self.now_ns + ns);
    }

    /// A transfer has ended: the bus goes to the unit that has waited longest.
    #[inline(always)]
    pub(super) fn transfer_ended(&mut self, bus: BusId) {
        if self.preempting.on {
            return self.transfer_ended_preempting(bus);
        }
        let state = &mut self.buses[bus.index()];
        let unit = state.holder.take().expect("a transfer that ends has a unit");
        let spent_ns = self.now_ns - state.since_ns;
        let gc = self.units[unit.index()].worker.is_gc();
        state.spent.add(gc, spent_ns);
        let since_ns = state.since_ns;
        let next = state.waiting.pop_front();
        self.tell_busy(What::Bus, unit, since_ns, gc);
        if let Some(next) = next {
            let waiting = &self.units[next.index()];
            if let Some(Phase::Bus(ns)) = waiting.phases.get(waiting.at) {
                self.grant(bus, next, ns);
            }
        }
        self.advance(unit);
    }

    /// An array phase has ended.
    #[inline(always)]
    pub(super) fn array_ended(&mut self, unit: UnitId) {
        if self.preempting.on {
            return self.array_ended_preempting(unit);
        }
        let state = &self.units[unit.index()];
        let since_ns = state.phase_since_ns;
        let gc = state.worker.is_gc();
        if gc {
            self.job_worked(unit, self.now_ns - since_ns);
        }
        self.tell_busy(What::Array, unit, since_ns, gc);
        self.advance(unit);
    }

    #[inline(always)]
    fn advance(&mut self, unit: UnitId) {
        let state = &mut self.units[unit.index()];
        state.at += 1;
        match state.worker {
            Worker::Gc => self.job_phase_begins(unit),
            Worker::Ahead => self.ahead_phase_begins(unit),
            _ => {}
        }
        self.begin_phase(unit);
    }

    #[inline(always)]
    fn operation_ended(&mut self, unit: UnitId) {
        let state = &mut self.units[unit.index()];
        let worker = state.worker;
        let since_ns = state.since_ns;
        let spent_ns = self.now_ns - since_ns;
        state.spent.add(worker.is_gc(), spent_ns);
        self.tell_operation(unit, since_ns);
        self.units[unit.index()].worker = Worker::Nobody;
        self.loads[unit.index()] -= 1;
        if self.preempting.on {
            self.preempting_ended(unit, worker, spent_ns);
            return self.look_at(unit);
        }
        match worker {
            Worker::Host(op) => {
                self.summaries_ended(unit);
                self.host_operation_ended(op);
                if !self.units[unit.index()].group.is_empty() {
                    self.group_ended(unit);
                }
            }
            Worker::Gc => self.job_operation_ended(unit),
            Worker::CrossUnit => self.cross_unit_ended(unit),
            Worker::Ahead => self.pre_migrated(unit),
            Worker::Nobody | Worker::Suspending | Worker::Polling => {
                unreachable!("an operation that ends has a worker")
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
        let pages = self.plan.geometry.shape.summary_pages;
        self.counters.overhead += u64::from(filled) * u64::from(pages);
    }

    #[inline(always)]
    pub(super) fn host_operation_ended(&mut self, op: u32) {
        match self.slabs.ops[op as usize].kind {
            OpKind::Read => self.counters.array_reads += 1,
            OpKind::Write => self.counters.array_programs += 1,
            OpKind::ReadRest => {
                self.counters.array_reads += 1;
                self.counters.rest_read += 1;
                self.slabs.ops[op as usize].kind = OpKind::Write;
                return self.enqueue(op);
            }
            OpKind::Trim => unreachable!("a trim needs no unit"),
        }
        self.page_done(op);
    }

    #[inline(always)]
    pub(super) fn tell_operation(&mut self, unit: UnitId, from_ns: u64) {
        if W::ACTIVE {
            let name = self.operation_name(unit);
            let copies = self.gc.jobs[unit.index()].step.len() as u32;
            let gc = self.units[unit.index()].worker.is_gc();
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

    fn operation_name(&self, unit: UnitId) -> &'static str {
        match self.units[unit.index()].worker {
            Worker::Host(op) => match self.slabs.ops[op as usize].kind {
                OpKind::Read => "read",
                OpKind::ReadRest => "read-rest",
                _ if self.is_flush(op) => "flush",
                _ => "program",
            },
            Worker::CrossUnit => "program-copy",
            Worker::Ahead => "move-ahead",
            Worker::Suspending => "suspend",
            Worker::Polling => "poll",
            _ => self.job_operation_name(unit),
        }
    }
}
