//! Blame: where the latency of each request went.
//!
//! Every instant between the arrival of a request and its end is its own work, or a wait for one
//! cause: that which holds the awaited unit, bus or place at this instant. A request of several
//! pages follows the page that is done last. The parts of a request add up to its latency, since
//! each fact about it accounts for the time since the fact before.
//!
//! Most operations wait for other work of the host and for nothing else: of these only that wait is
//! kept. The others have all their parts in a second slab.

mod parts;
mod table;
mod unit;

pub use parts::{Cause, Held, PARTS, Part, Parts};
pub use unit::BusWait;

use super::{Happened, Watch};
use crate::ids::UnitId;
use crate::plan::{Allocation, Plan};
use crate::stats::Latency;
use crate::workload::HostOp;
use serde_json::{Value, json};
use table::Table;
use unit::{Reading, Unit};

/// What a page operation does or waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It waits for the operation before it on its page.
    Ordered,
    /// It waits in the queue of a unit.
    Queued,
    /// It is a write, next in its queue, and finds no page that it may take.
    Starves,
    /// It has its unit, or the bus.
    Runs,
    /// A program of the collection carries it: a write merged into a copy.
    Merged,
    /// It was loaded beside a program of the collection, and is programmed after that.
    Loaded,
    /// It waits for a place in the write buffer, or for its access.
    AwaitsBuffer,
    /// It accesses the write buffer.
    Accesses,
}

/// A page operation of the host.
#[derive(Clone, Copy)]
struct Operation {
    state: State,
    /// Whether all but `host_ns` and its own work is in the slab of parts.
    has_parts: bool,
    unit: UnitId,
    request: u32,
    /// Until when its time is accounted for, in ns.
    until_ns: u64,
    /// Wait for other work of the host, in ns.
    host_ns: u64,
    /// Its own work, in ns.
    service_ns: u64,
    /// The clock of its unit at the start of its wait.
    reading: Reading,
}

/// Stands for the request of a flush, which has none.
const FLUSH: u32 = u32::MAX;

const NEW: Operation = Operation {
    state: State::Ordered,
    has_parts: false,
    unit: UnitId(0),
    request: FLUSH,
    until_ns: 0,
    host_ns: 0,
    service_ns: 0,
    reading: Reading::ZERO,
};

/// A request of the host.
#[derive(Clone, Copy, Default)]
struct Request {
    /// The operation that was done last.
    last: u32,
    /// The rest is kept where there is a link: until when its time is accounted for, in ns.
    until_ns: u64,
    host_ns: u64,
    service_ns: u64,
    /// The parts of its last operation, which are gone when its data has left.
    done: Option<Parts>,
}

/// The parts of the latencies of a run.
#[derive(Clone)]
pub struct Blame {
    units: Vec<Unit>,
    operations: Vec<Operation>,
    /// By operation.
    parts: Vec<Parts>,
    requests: Vec<Request>,
    has_link: bool,
    /// Where writes wait for any idle unit: how many units work for collections. The clock behind
    /// those of the units is of such writes, and shows a collection as long as there is any.
    collecting: Option<u32>,
    read: Table,
    write: Table,
}

/// The entry of a slab that grows with what it holds.
#[inline(always)]
fn entry<T: Copy>(slab: &mut Vec<T>, at: u32, new: T) -> &mut T {
    let at = at as usize;
    if slab.len() <= at {
        grow(slab, at, new);
    }
    &mut slab[at]
}

#[cold]
#[inline(never)]
fn grow<T: Copy>(slab: &mut Vec<T>, at: usize, new: T) {
    slab.resize((at + 1).next_power_of_two(), new);
}

impl Blame {
    /// Nothing yet.
    pub fn new(plan: &Plan) -> Self {
        let awaits_idle = plan.allocation == Allocation::WhenIdle;
        let mut units = vec![Unit::new(); plan.geometry.units as usize + usize::from(awaits_idle)];
        if awaits_idle && let Some(any) = units.last_mut() {
            any.begins(Held::ForHost, 0);
        }
        Blame {
            units,
            collecting: awaits_idle.then_some(0),
            operations: Vec::new(),
            parts: Vec::new(),
            requests: Vec::new(),
            has_link: plan.host_link.is_some() || plan.places.is_some(),
            read: Table::default(),
            write: Table::default(),
        }
    }

    /// The parts of a read or a write that is done.
    pub fn parts_of(&self, request: u32) -> Parts {
        let request = &self.requests[request as usize];
        let mut parts = request.done.unwrap_or_else(|| self.parts_of_operation(request.last));
        parts[Part::Host as usize] += request.host_ns;
        parts[Part::Service as usize] += request.service_ns;
        parts
    }

    fn parts_of_operation(&self, op: u32) -> Parts {
        let operation = &self.operations[op as usize];
        let mut parts = match operation.has_parts {
            true => self.parts[op as usize],
            false => [0; PARTS],
        };
        parts[Part::Host as usize] += operation.host_ns;
        parts[Part::Service as usize] += operation.service_ns;
        parts
    }

    /// The report: for reads and for writes the parts of the mean and of percentiles, in ns.
    pub fn report(&self, read: &Latency, write: &Latency) -> Value {
        json!({ "read": self.read.report(read), "write": self.write.report(write) })
    }

    /// Accounts for the time of an operation since the last fact about it.
    #[inline(always)]
    fn settle(&mut self, op: u32, now_ns: u64) -> &mut Operation {
        let operation = entry(&mut self.operations, op, NEW);
        let length_ns = now_ns - operation.until_ns;
        operation.until_ns = now_ns;
        if length_ns > 0 {
            match operation.state {
                State::Ordered => operation.host_ns += length_ns,
                State::Accesses => operation.service_ns += length_ns,
                State::Runs if self.units[operation.unit.index()].waited == [0; 2] => {
                    operation.service_ns += length_ns;
                }
                _ => self.settle_rarely(op, length_ns, now_ns),
            }
        }
        &mut self.operations[op as usize]
    }

    /// Accounts for time that is neither an operation's own work nor other work of the host.
    #[cold]
    #[inline(never)]
    fn settle_rarely(&mut self, op: u32, length_ns: u64, now_ns: u64) {
        let Operation { state, unit, reading, request, .. } = self.operations[op as usize];
        if request == FLUSH {
            return;
        }
        let unit = self.units[unit.index()];
        let parts = self.parts_to_fill(op);
        match state {
            State::Runs => add_own(parts, length_ns, unit.waited),
            State::Merged | State::Loaded => {
                let mut carried = [0; PARTS];
                reading.add_wait(&unit.read(now_ns), length_ns, &mut carried);
                add_carried(parts, carried, state, unit.waited);
            }
            State::AwaitsBuffer => parts[Part::Buffer as usize] += length_ns,
            State::Accesses | State::Ordered => unreachable!("its time is no part of the slab"),
            State::Queued | State::Starves => {
                unreachable!("an operation leaves a queue before anything else happens to it")
            }
        }
    }

    /// The parts of an operation that are in the slab.
    fn parts_to_fill(&mut self, op: u32) -> &mut Parts {
        let operation = &mut self.operations[op as usize];
        let parts = entry(&mut self.parts, op, [0; PARTS]);
        if !operation.has_parts {
            operation.has_parts = true;
            *parts = [0; PARTS];
        }
        parts
    }

    /// A page of a request was accepted.
    #[inline(always)]
    fn accepted(&mut self, op: u32, request: u32, now_ns: u64) {
        if self.has_link {
            self.crosses(request, false, now_ns);
        }
        let operation = entry(&mut self.operations, op, NEW);
        operation.state = State::Ordered;
        operation.has_parts = false;
        operation.request = request;
        operation.until_ns = now_ns;
        (operation.host_ns, operation.service_ns) = (0, 0);
    }

    /// An operation waits in the queue of a unit.
    #[inline(always)]
    fn queued(&mut self, op: u32, unit: UnitId, now_ns: u64) {
        let reading = self.units[unit.index()].queued(now_ns);
        let operation = self.settle(op, now_ns);
        operation.state = State::Queued;
        operation.unit = unit;
        operation.reading = reading;
    }

    /// A write waits for any unit that is idle.
    #[cold]
    fn awaits_idle(&mut self, op: u32, now_ns: u64) {
        self.queued(op, UnitId(self.units.len() as u32 - 1), now_ns);
    }

    /// Where writes wait for any idle unit: one of them has a unit, or what a unit does changes.
    #[cold]
    fn sees_any(&mut self, now_ns: u64, happened: Happened) {
        match happened {
            Happened::Queued { op, .. } if self.operations[op as usize].state == State::Queued => {
                self.taken(op, now_ns);
            }
            Happened::Begins { unit, held } => self.works_for(unit, held, now_ns),
            Happened::Worked { unit, .. } => self.works_for(unit, Held::ForHost, now_ns),
            _ => {}
        }
    }

    /// A unit works for this from now on. The clock of the writes that wait for any unit shows the
    /// first of the collections that work at once.
    fn works_for(&mut self, unit: UnitId, held: Held, now_ns: u64) {
        let Some(collecting) = &mut self.collecting else { return };
        let collected = self.units[unit.index()].collects();
        let collects = matches!(held, Held::ForCollection { .. });
        let before = *collecting;
        *collecting = before + u32::from(collects) - u32::from(collected);
        let after = *collecting;
        let Some(any) = self.units.last_mut() else { return };
        if before > 0 && after == 0 {
            any.worked(BusWait::default(), now_ns);
            any.begins(Held::ForHost, now_ns);
        } else if before == 0 && after > 0 {
            // Until now a unit was idle, or at work for the host.
            any.worked(BusWait::default(), now_ns);
            any.begins(held, now_ns);
        }
    }

    /// An operation has left its queue and has the unit, or a part of it.
    #[inline(always)]
    fn taken(&mut self, op: u32, now_ns: u64) {
        let operation = &mut self.operations[op as usize];
        let reading = self.units[operation.unit.index()].taken(now_ns);
        let length_ns = now_ns - operation.until_ns;
        operation.until_ns = now_ns;
        let state = std::mem::replace(&mut operation.state, State::Runs);
        if operation.reading.is(&reading) {
            operation.host_ns += length_ns;
        } else {
            self.has_waited(op, state, &reading, length_ns);
        }
    }

    /// An operation has waited in a queue, not only for other work of the host.
    #[cold]
    #[inline(never)]
    fn has_waited(&mut self, op: u32, state: State, reading: &Reading, length_ns: u64) {
        let earlier = self.operations[op as usize].reading;
        let mut wait = [0; PARTS];
        earlier.add_wait(reading, length_ns, &mut wait);
        if state == State::Starves {
            // Whatever the unit does for collections frees the page.
            let host_ns = std::mem::take(&mut wait[Part::Host as usize]);
            let space_ns = wait.iter().sum();
            wait = [0; PARTS];
            wait[Part::Host as usize] = host_ns;
            wait[Part::Space as usize] = space_ns;
        }
        add(self.parts_to_fill(op), wait);
    }

    /// A write finds no page: its wait for the unit is over, and that for space begins.
    #[cold]
    fn finds_no_page(&mut self, op: u32, now_ns: u64) {
        let operation = &mut self.operations[op as usize];
        if operation.state != State::Queued {
            return;
        }
        let reading = self.units[operation.unit.index()].read(now_ns);
        let length_ns = now_ns - operation.until_ns;
        operation.until_ns = now_ns;
        operation.state = State::Starves;
        self.has_waited(op, State::Queued, &reading, length_ns);
        self.operations[op as usize].reading = reading;
    }

    /// An operation that has just left its queue is carried by the collection.
    #[cold]
    fn joins(&mut self, op: u32, state: State, now_ns: u64) {
        let operation = &mut self.operations[op as usize];
        operation.state = state;
        operation.reading = self.units[operation.unit.index()].read(now_ns);
    }

    /// An operation goes on to another state.
    #[cold]
    fn goes_on(&mut self, op: u32, state: State, now_ns: u64) {
        self.settle(op, now_ns).state = state;
    }

    /// A page of a request is done. The last one decides.
    #[inline(always)]
    fn done(&mut self, op: u32, now_ns: u64) {
        let operation = self.settle(op, now_ns);
        let request = std::mem::replace(&mut operation.request, FLUSH);
        entry(&mut self.requests, request, Request::default()).last = op;
        if self.has_link {
            self.requests[request as usize].done = Some(self.parts_of_operation(op));
            self.requests[request as usize].until_ns = now_ns;
        }
    }

    #[inline(always)]
    fn served(&mut self, request: u32, op: HostOp, latency_ns: u64) {
        if op == HostOp::Trim {
            return;
        }
        let Operation { has_parts, service_ns, host_ns, .. } =
            self.operations[self.requests[request as usize].last as usize];
        let parts = (self.has_link || has_parts).then(|| self.parts_of(request));
        let table = if op == HostOp::Read { &mut self.read } else { &mut self.write };
        match parts {
            Some(parts) => table.add(&parts, latency_ns),
            None => table.add_plain(service_ns, host_ns, latency_ns),
        }
    }

    /// A request begins to cross the host's link, or has crossed it, or its pages are accepted.
    #[cold]
    fn crosses(&mut self, request: u32, is_under_way: bool, now_ns: u64) {
        let request = &mut self.requests[request as usize];
        let part = if is_under_way { &mut request.service_ns } else { &mut request.host_ns };
        *part += now_ns - request.until_ns;
        request.until_ns = now_ns;
    }
}

/// Adds the time in which the collection carried a write: a merged one is programmed by the copy's
/// own program; a loaded one waits for that program and has one of its own.
fn add_carried(parts: &mut Parts, mut carried: Parts, state: State, waited: BusWait) {
    let own = if state == State::Merged { Part::Copies } else { Part::Host };
    let own_ns = std::mem::take(&mut carried[own as usize]);
    add_own(&mut carried, own_ns, waited);
    add(parts, carried);
}

/// Adds the time of a request's own work: what it did not wait for the bus is service.
fn add_own(parts: &mut Parts, own_ns: u64, waited: BusWait) {
    parts[Part::Host as usize] += waited[0];
    parts[Part::Bus as usize] += waited[1];
    parts[Part::Service as usize] += own_ns - waited[0] - waited[1];
}

fn add(sums: &mut Parts, parts: Parts) {
    for (sum, part) in sums.iter_mut().zip(parts) {
        *sum += part;
    }
}

impl Watch for Blame {
    const ACTIVE: bool = true;
    const NAMES: bool = false;

    fn blame(&self) -> Option<&Blame> {
        Some(self)
    }

    #[inline(always)]
    fn see(&mut self, now_ns: u64, happened: Happened) {
        if self.collecting.is_some() {
            self.sees_any(now_ns, happened);
        }
        match happened {
            Happened::AwaitsIdle { op } => self.awaits_idle(op, now_ns),
            Happened::Arrived { request, .. } if self.has_link => {
                let new = Request { until_ns: now_ns, ..Request::default() };
                *entry(&mut self.requests, request, new) = new;
            }
            Happened::Accepted { op, request, .. } => self.accepted(op, request, now_ns),
            Happened::Queued { op, unit } => self.queued(op, unit, now_ns),
            Happened::Taken { op } => self.taken(op, now_ns),
            Happened::Merged { op } => self.joins(op, State::Merged, now_ns),
            Happened::Loaded { op } => self.joins(op, State::Loaded, now_ns),
            Happened::FindsNoPage { op } => self.finds_no_page(op, now_ns),
            Happened::Starves { unit } => self.units[unit.index()].starves(now_ns),
            Happened::Begins { unit, held } => self.units[unit.index()].begins(held, now_ns),
            Happened::LeftBeside { unit, waited } | Happened::Loading { unit, waited } => {
                self.units[unit.index()].waited = waited;
            }
            Happened::Worked { unit, waited } => self.units[unit.index()].worked(waited, now_ns),
            Happened::AwaitsBuffer { op } => self.goes_on(op, State::AwaitsBuffer, now_ns),
            Happened::AccessesBuffer { op } => self.goes_on(op, State::Accesses, now_ns),
            Happened::Done { op, .. } => self.done(op, now_ns),
            Happened::Crosses { request } => self.crosses(request, false, now_ns),
            Happened::Crossed { request, .. } => self.crosses(request, true, now_ns),
            Happened::Served { request, op, latency_ns, .. } => {
                self.served(request, op, latency_ns);
            }
            _ => {}
        }
    }
}
