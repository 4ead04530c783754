//! The common part of the simulation: commands are given to the flash, units are put on the list of
//! those to check, and what a change has left is passed on.

use super::Sim;
use crate::background::Bound;
use crate::collect::{self, At, Stage};
use crate::flash::{Class, Command, Ended, Kind, Moved, Part, Phases};
use crate::ftl::Fact;
use crate::host::{self, OpKind};
use crate::ids::{BusId, Ppn, UnitId};
use crate::measure::Seen;
use crate::operation::{self, Program};
use crate::owner::Owner;
use crate::verify::blame::{self, Held};
use crate::verify::{Happened, Watch, What};

/// The kind of work of a transfer.
#[inline]
pub(super) fn on_bus(part: &Part<Owner>) -> What {
    What::Bus { is_command: part.kind == Kind::Command, requested_ns: part.requested_ns }
}

impl<W: Watch> Sim<W> {
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
        self.look_into_bus(unit);
        self.store.alloc.one_more(unit);
        let moved = self.flash.start(unit, command, self.now_ns, &mut self.events);
        self.notify_beginning(unit, command.owner, &moved);
        self.has_begun(unit, moved);
    }

    /// The program of copies begins: they bind.
    #[inline(always)]
    pub(super) fn pages_are_due(&mut self, unit: UnitId) {
        if let Some(Owner::Background(task)) = self.flash.owner(unit) {
            return self.binds_ahead(task, unit);
        }
        collecting!(self).bind_step(unit);
        self.pass_facts();
        let (job, prices) = (&self.jobs[unit], &self.collection_prices);
        let fills = prices.filled_by_copies(|| job.fills_of_step());
        let price = |phases: &mut Phases| {
            if fills > 0 || prices.programs_depend_on_pages() {
                let pages = job.programmed(&self.plan.geometry.shape);
                Program { pages, fills }.price(prices, &self.store.ftl, phases);
            }
        };
        let moved = self.flash.bound(unit, price, self.now_ns, &mut self.events);
        self.after_binding(unit, moved);
    }

    /// The program of a copy that a background task makes begins.
    #[cold]
    fn binds_ahead(&mut self, task: u8, unit: UnitId) {
        let Bound { page, fills } = self.background.bind(task, unit, &mut rest!(self));
        self.pass_facts();
        let prices = &self.collection_prices;
        let fills = prices.filled_by_copies(|| fills);
        let program = Program { pages: std::iter::once(page), fills };
        let price = |phases: &mut Phases| program.price(prices, &self.store.ftl, phases);
        let moved = self.flash.bound(unit, price, self.now_ns, &mut self.events);
        self.after_binding(unit, moved);
    }

    /// The pages of a program are bound. One of no length ends its operation, whose end is read
    /// after the next start.
    #[inline(always)]
    fn after_binding(&mut self, unit: UnitId, moved: Moved<Owner>) {
        match moved {
            Moved::Ended(ended) => {
                self.notify_worked(unit);
                self.takes_no_time(unit, ended);
            }
            Moved::Runs => {}
            Moved::NeedsPages => unreachable!("the pages of a program are bound once"),
        }
    }

    /// A command has begun.
    #[inline(always)]
    pub(super) fn has_begun(&mut self, unit: UnitId, moved: Moved<Owner>) {
        if !matches!(moved, Moved::Runs) {
            self.has_begun_at_its_end(unit, moved);
        }
    }

    /// A command without a phase before its program needs its pages at once. One of no length has
    /// ended already, and waits to be read.
    #[cold]
    #[inline(never)]
    fn has_begun_at_its_end(&mut self, unit: UnitId, moved: Moved<Owner>) {
        match moved {
            Moved::Runs => {}
            Moved::NeedsPages => self.pages_are_due(unit),
            Moved::Ended(ended) => self.takes_no_time(unit, ended),
        }
    }

    /// The rest of an operation takes no time: it ends in this instant.
    #[cold]
    pub(super) fn takes_no_time(&mut self, unit: UnitId, ended: Ended<Owner>) {
        self.at_once.ends(unit, ended);
    }

    #[inline(always)]
    pub(super) fn take_from_queue(&mut self, unit: UnitId, op: u32, list: u8) {
        self.host.waiting.take(unit, op, list);
        let waiting = &self.host.waiting;
        self.store.alloc.leaves_queue(&self.plan, || {
            let host::Op { lpn, sequence, .. } = *waiting.op(op);
            (lpn, sequence)
        });
        self.store.alloc.one_less(unit);
        self.notify(Happened::Taken { op });
    }

    /// An operation of the host begins.
    #[inline]
    pub(super) fn host_begins(&mut self, unit: UnitId, op: u32) {
        let rooms = (&self.flash, &self.jobs);
        self.arbiter.host_begins((unit, op), rooms, self.now_ns, &mut self.counters);
    }

    /// A write of the host has taken its pages in a unit, which may pay for copies.
    #[inline(always)]
    pub(super) fn has_bound(&mut self, unit: UnitId, bound: operation::Bound) {
        for _ in 0..bound.pays {
            self.arbiter.wrote(unit, &self.jobs);
        }
        self.pass_facts();
    }

    /// The page of an operation of the host that has begun.
    #[inline(always)]
    pub(super) fn page_of(&self, op: u32) -> Ppn {
        self.store.ftl.map.ppn_of(self.host.waiting.op(op).lpn)
    }

    /// Puts a unit on the list of units to check.
    #[inline(always)]
    pub(super) fn look_at(&mut self, unit: UnitId) {
        let state = &mut self.units[unit.index()];
        if !state.listed && (self.flash.is_free(unit) || self.switches.begins_beside) {
            state.listed = true;
            self.ready.push(unit);
        }
    }

    /// Passes on what a change of the store has left: units to check, and facts for collections and
    /// background work. To be called after each call that changes pages.
    #[inline(always)]
    pub(super) fn pass_facts(&mut self) {
        if self.has_news() {
            self.pass_all();
        }
    }

    /// Whether a change of pages, or the host, has left something that was not passed on.
    #[inline(always)]
    pub(super) fn has_news(&self) -> bool {
        self.host.has_called() || self.store.has_called() || self.store.has_news()
    }

    #[inline(never)]
    fn pass_all(&mut self) {
        while let Some(unit) = self.host.next_called().or_else(|| self.store.next_called()) {
            self.look_at(unit);
        }
        if self.store.has_news() {
            self.pass_only_facts();
        }
    }

    #[cold]
    pub(super) fn pass_only_facts(&mut self) {
        if self.store.has_moved() {
            self.pass_moved();
        }
        while let Some(lost) = self.store.next_lost() {
            self.background.page_lost(lost, &mut context!(self));
            if self.store.gc.busy_planes[lost.plane.index()] {
                collecting!(self).loses(lost.plane, lost.page);
            }
        }
    }

    fn pass_moved(&mut self) {
        let mut is_read_only = false;
        for fact in self.store.moved() {
            is_read_only |= fact == Fact::ReadOnly;
            self.background.pass_facts(fact);
        }
        if is_read_only && !self.switches.outlives_writes {
            self.host.end_source(&mut context!(self));
        }
    }

    /// All rooms, read-only.
    pub fn seen(&self) -> Seen<'_> {
        let (plan, now_ns) = (&self.plan, self.now_ns);
        let (flash, prices) = (&self.flash, &self.collection_prices);
        Seen {
            plan,
            now_ns,
            store: &self.store,
            flash,
            prices,
            jobs: &self.jobs,
            undone: self.background.undone(&At { plan, now_ns, flash, prices }),
            host: &self.host,
            counters: &self.counters,
            measure: &self.measure,
        }
    }

    /// Reports an event to the watcher, if there is one.
    #[inline(always)]
    pub(super) fn notify(&mut self, happened: Happened) {
        self.watch.observe(self.now_ns, happened);
    }

    #[inline(always)]
    pub(super) fn notify_operation(&mut self, unit: UnitId, owner: Owner, from_ns: u64) {
        if W::OPERATIONS && self.watch.needs_names() {
            self.notify_named(unit, owner, from_ns);
        }
    }

    /// Cold, as it is for watchers in detail.
    #[cold]
    #[inline(never)]
    fn notify_named(&mut self, unit: UnitId, owner: Owner, from_ns: u64) {
        let name = self.operation_name(unit, owner);
        let copies = self.copies_of_step(unit);
        let gc = owner.class() == Class::Gc;
        self.notify_busy(What::Operation(name, copies), unit, from_ns, gc);
    }

    /// The copies of the step under way of a unit; a reader has none.
    fn copies_of_step(&self, unit: UnitId) -> u32 {
        if self.plan.geometry.is_reader(unit) { 0 } else { self.jobs[unit].copies_of_step() }
    }

    /// Reports for what a unit begins to work. A command of no length takes no unit, and its end
    /// may be read after the start of the next one.
    #[inline(always)]
    pub(super) fn notify_beginning(&mut self, unit: UnitId, owner: Owner, moved: &Moved<Owner>) {
        if W::OPERATIONS && !matches!(moved, Moved::Ended(_)) {
            let held = match owner {
                Owner::Host(_) | Owner::Answer(_) | Owner::Planes | Owner::Yielding => {
                    Held::ForHost
                }
                _ => self.held_by_collection(unit, owner),
            };
            self.notify(Happened::Begins { unit, held });
        }
    }

    /// Reports that the operation of a unit has ended, or was suspended.
    #[inline(always)]
    pub(super) fn notify_worked(&mut self, unit: UnitId) {
        if W::OPERATIONS {
            let waited = self.flash.waited_for_bus(unit);
            self.notify(Happened::Worked { unit, waited });
        }
    }

    #[inline(never)]
    fn held_by_collection(&self, unit: UnitId, owner: Owner) -> Held {
        let cause = match owner {
            Owner::Suspending | Owner::Polling => blame::Cause::Switch,
            Owner::Collection if self.jobs[unit].stage() == Stage::Erasing => blame::Cause::Erase,
            _ => blame::Cause::Copies,
        };
        let (kind, ns) = self.flash.first_phase(unit).map_or((Kind::Rest, 0), |p| (p.kind, p.ns));
        match kind {
            Kind::Collection if self.jobs[unit].stage() == Stage::Whole => {
                let victims = self.jobs[unit].victims();
                let erase = collect::erase(victims, &self.store, &self.collection_prices);
                let first_ns = ns - erase.total_ns();
                let (first, then) = (blame::Cause::Copies, blame::Cause::Erase);
                Held::ForCollection { first, first_ns, then }
            }
            Kind::Switch => {
                let first = blame::Cause::Switch;
                Held::ForCollection { first, first_ns: ns, then: cause }
            }
            _ => Held::ForCollection { first: cause, first_ns: 0, then: cause },
        }
    }

    #[inline(always)]
    pub(super) fn notify_busy(&mut self, what: What, unit: UnitId, from_ns: u64, gc: bool) {
        if W::OPERATIONS && self.watch.needs_names() {
            let to_ns = self.now_ns;
            self.watch.observe(to_ns, Happened::Busy { what, unit, from_ns, to_ns, gc });
        }
    }

    /// The work under way, as if it ended now.
    pub(super) fn under_way(&self) -> Vec<Happened> {
        let (mut facts, to_ns) = (Vec::new(), self.now_ns);
        let mut add = |what, unit, class, from_ns| {
            let gc = class == Class::Gc;
            facts.push(Happened::Busy { what, unit, from_ns, to_ns, gc });
        };
        let geometry = &self.plan.geometry;
        for unit in geometry.units_and_readers() {
            // Where planes read by themselves, the readers of the unit work.
            let by_itself = |(owner, _): &(Owner, _)| *owner != Owner::Planes;
            if let Some((owner, class)) = self.flash.under_way(unit).filter(by_itself) {
                let copies = self.copies_of_step(unit);
                let what = What::Operation(self.operation_name(unit, owner), copies);
                add(what, unit, class, self.flash.since_ns(unit));
            }
            if let Some((class, since_ns)) = self.flash.array_under_way(unit) {
                add(What::Array, unit, class, since_ns);
            }
        }
        for bus in (0..self.plan.geometry.shape.channels).map(BusId) {
            if let Some(part) = self.flash.transferred(bus) {
                add(on_bus(&part), part.unit, part.class, part.since_ns);
            }
        }
        facts
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
            Owner::Planes => "reads",
            Owner::Background(task) => self.background.name_of(task),
            Owner::Suspending | Owner::Yielding => "suspend",
            Owner::Polling => "poll",
            Owner::Collection => match self.jobs[unit].stage() {
                Stage::Whole => "collection",
                Stage::Erasing => "erase",
                Stage::Reading => "copy-read",
                Stage::Programming => "copy-program",
                _ if self.plan.gc.copy.is_sent() => "read-out",
                _ => "copy",
            },
        }
    }
}
