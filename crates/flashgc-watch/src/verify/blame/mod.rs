//! Blame: the parts of each request's latency.
//!
//! Every instant between the arrival of a request and its end is its own work, or a wait for one
//! cause: that which holds the awaited unit, bus or place at this instant. A request of several
//! pages follows the page that is done last. The parts of a request add up to its latency, since
//! each fact about it accounts for the time since the fact before.
//!
//! A wait in the queue of a unit is the difference of two readings of the unit's clock. Most
//! requests only wait in one queue, run and end: the code for these is inline, and the rest is not.

mod forced;
mod parts;
mod planes;
mod ramps;
mod table;
mod unit;

pub use parts::{Cause, Held, PARTS, Part, Parts, add, make_up};
pub use unit::BusWait;

use super::slab::entry;
use super::{Happened, Watch};
use crate::stats::{ByKind, Latency};
use flashgc_model::device::Geometry;
use flashgc_model::ids::UnitId;
use flashgc_model::plan::{Allocation, Plan};
use flashgc_workload::HostOp;
use forced::Forced;
use parts::add_own;
use serde_json::{Value, json};
use table::Table;
use unit::Unit;

/// The states of a page operation: work, or a wait.
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
    /// It is part of a program of the collection: a write merged into a copy.
    Merged,
    /// It was loaded during a program of the collection, and is programmed after that.
    Loaded,
    /// Its program is suspended for reads.
    Yields,
    /// It has begun in parallel with another operation of the host, which occupies the unit.
    Beside,
    /// It waits for a place in the write buffer, or for its access.
    AwaitsBuffer,
    /// It accesses the write buffer.
    Accesses,
}

/// A page operation of the host.
#[derive(Clone, Copy)]
struct Operation {
    state: State,
    unit: UnitId,
    request: u32,
    /// Until when its time is accounted for, in ns, unless it is in a queue.
    until_ns: u64,
    /// The additional time of its read retries, in ns.
    retries_ns: u64,
    /// Its time so far. In a queue, the clock of the unit at the start of the wait, less that time.
    parts: Parts,
}

/// Stands for the request of a flush, which has none.
const FLUSH: u32 = u32::MAX;

const NEW: Operation = Operation {
    state: State::Ordered,
    unit: UnitId(0),
    request: FLUSH,
    until_ns: 0,
    retries_ns: 0,
    parts: [0; PARTS],
};

/// The accounts of a request on a drive with a link.
#[derive(Clone, Copy)]
struct Crossing {
    /// Until when its time outside its page operations is accounted for, in ns, and its parts.
    until_ns: u64,
    parts: Parts,
    /// The parts of its last operation, which are gone when its data has left.
    done: Parts,
}

const NOT_YET: Crossing = Crossing { until_ns: 0, parts: [0; PARTS], done: [0; PARTS] };

/// The parts of the latencies of a run.
#[derive(Clone)]
pub struct Blame {
    units: Vec<Unit>,
    /// With independent plane reads: the unit of each reader, and the number of busy readers of
    /// each unit.
    unit_of_reader: Vec<UnitId>,
    reading: Vec<u32>,
    operations: Vec<Operation>,
    /// By operation: its parts before the wait under way, for waits that are divided in another way
    /// than waits in a queue.
    before: Vec<Parts>,
    /// By request: the operation that was done last.
    last: Vec<u32>,
    crossings: Vec<Crossing>,
    forced: Forced,
    has_link: bool,
    /// Where writes wait for any idle unit: the number of units that work for collections. One more
    /// clock, behind the clocks of the units, belongs to such writes, and shows a collection while
    /// there is any.
    collecting: Option<u32>,
    read: Table,
    write: Table,
    /// The job of each clone, where there are jobs.
    job_of_clone: Vec<u16>,
    /// The tables of each job, for reads and for writes.
    of_jobs: Vec<[Table; 2]>,
}

impl Blame {
    /// The parts of a run that has not begun.
    pub fn new(plan: &Plan) -> Self {
        let awaits_idle = plan.allocation == Allocation::WhenIdle;
        let Geometry { units, readers, .. } = plan.geometry;
        let unit_of = |reader| plan.geometry.whole_unit(UnitId(units + reader));
        let (unit_of_reader, reading) =
            ((0..readers).map(unit_of).collect(), vec![0; units as usize]);
        let count = (units + readers) as usize + usize::from(awaits_idle);
        let mut units = vec![Unit::new(); count];
        if awaits_idle && let Some(any) = units.last_mut() {
            any.begins(Held::ForHost, 0);
        }
        Blame {
            units,
            unit_of_reader,
            reading,
            collecting: awaits_idle.then_some(0),
            operations: Vec::new(),
            before: Vec::new(),
            last: Vec::new(),
            crossings: Vec::new(),
            forced: Forced::default(),
            has_link: plan.front.host_link.is_some()
                || plan.front.places.is_some()
                || plan.front.firmware.is_some()
                || plan.jobs.has_limits(),
            read: Table::default(),
            write: Table::default(),
            job_of_clone: plan.jobs.of_clone.clone(),
            of_jobs: vec![<[Table; 2]>::default(); plan.jobs.weights.len()],
        }
    }

    /// The parts of a read or a write that is done.
    pub fn parts_of(&self, request: u32) -> Parts {
        if let Some(parts) = self.forced.parts_of(request) {
            return parts;
        }
        if self.has_link {
            let Crossing { mut parts, done, .. } = self.crossings[request as usize];
            add(&mut parts, &done);
            return parts;
        }
        self.operations[self.last[request as usize] as usize].parts
    }

    /// The parts of a read or a write, where this event is its end.
    pub fn parts_if_any(&self, request: u32, happened: Happened) -> Option<Parts> {
        let Happened::Served { op, .. } = happened else { return None };
        op.has_parts().then(|| self.parts_of(request))
    }

    /// The report: for reads and for writes the parts of the mean and of percentiles, in ns.
    pub fn report(&self, read: &Latency, write: &Latency) -> Value {
        json!({ "read": self.read.report(read), "write": self.write.report(write) })
    }

    /// The parts of the latencies of one job, for reads and for writes, in ns.
    pub fn report_of_job(&self, job: usize, of: &ByKind) -> Value {
        let [reads, writes] = &self.of_jobs[job];
        json!({ "read": reads.report(&of.read), "write": writes.report(&of.write) })
    }

    /// Accounts for the time of an operation since the last fact about it.
    #[inline(never)]
    fn settle(&mut self, op: u32, now_ns: u64) {
        let operation = entry(&mut self.operations, op, NEW);
        let length_ns = now_ns - std::mem::replace(&mut operation.until_ns, now_ns);
        let Operation { state, unit, request, parts, .. } = operation;
        if *request == FLUSH {
            *parts = [0; PARTS];
            return;
        }
        match state {
            State::Ordered => {
                *parts = [0; PARTS];
                parts[Part::Host as usize] = length_ns;
            }
            State::Runs if length_ns == 0 => {}
            State::Runs => add_own(parts, length_ns, self.units[unit.index()].waited),
            State::Merged | State::Loaded => {
                let unit = &self.units[unit.index()];
                unit.read(now_ns, parts);
                // A merged write is programmed by the copy's own program; a loaded one waits for
                // that program and has one of its own.
                let own = if *state == State::Merged { Part::Copies } else { Part::Host };
                let own_ns = std::mem::take(&mut parts[own as usize]);
                add_own(parts, own_ns, unit.waited);
                add(parts, &self.before[op as usize]);
            }
            State::Beside | State::Yields => parts[Part::Host as usize] += length_ns,
            State::AwaitsBuffer => parts[Part::Buffer as usize] += length_ns,
            State::Accesses => parts[Part::Service as usize] += length_ns,
            State::Queued | State::Starves => {
                unreachable!("an operation leaves a queue before anything else happens to it")
            }
        }
    }

    /// A wait in the clock of the operation's unit begins that is divided in another way than one
    /// in a queue: its parts so far are put aside.
    #[cold]
    #[inline(never)]
    fn begins_wait(&mut self, op: u32, state: State, now_ns: u64) {
        let operation = &mut self.operations[op as usize];
        let before = std::mem::replace(&mut operation.parts, [0; PARTS]);
        operation.state = state;
        self.units[operation.unit.index()].read(now_ns, &mut operation.parts);
        *entry(&mut self.before, op, [0; PARTS]) = before;
    }

    /// A page of a request was accepted.
    #[inline(always)]
    fn accepted(&mut self, op: u32, request: u32, now_ns: u64) {
        if self.has_link {
            self.crosses(request, false, now_ns);
        }
        let operation = entry(&mut self.operations, op, NEW);
        operation.state = State::Ordered;
        operation.request = request;
        operation.until_ns = now_ns;
        operation.retries_ns = 0;
    }

    /// An operation waits in the queue of a unit.
    #[inline(always)]
    fn queued(&mut self, op: u32, unit: UnitId, now_ns: u64) {
        let is_new = self.operations.get(op as usize).is_some_and(|op| op.state == State::Ordered);
        if !is_new {
            self.waits_again(op, now_ns);
        }
        let operation = &mut self.operations[op as usize];
        operation.state = State::Queued;
        operation.unit = unit;
        let unit = &mut self.units[unit.index()];
        match is_new {
            true => unit.queued_first(operation.until_ns, now_ns, &mut operation.parts),
            false => unit.queued(now_ns, &mut operation.parts),
        }
    }

    /// A write waits for any unit that is idle.
    #[cold]
    #[inline(never)]
    fn awaits_idle(&mut self, op: u32, now_ns: u64) {
        self.queued(op, UnitId(self.units.len() as u32 - 1), now_ns);
    }

    /// An operation that was in another state returns to a queue; or a flush, which has no
    /// acceptance, enters one.
    #[cold]
    #[inline(never)]
    fn waits_again(&mut self, op: u32, now_ns: u64) {
        let state = self.operations.get(op as usize).map(|operation| operation.state);
        if state == Some(State::Queued) {
            // It waited for any idle unit, and has one.
            self.taken(op, now_ns);
        }
        self.settle(op, now_ns);
    }

    /// An operation of a unit or a reader begins.
    #[inline(always)]
    fn begins(&mut self, unit: UnitId, held: Held, now_ns: u64) {
        if unit.index() >= self.reading.len() {
            return self.begins_in_plane(unit, now_ns);
        }
        self.works_for(unit, held, now_ns);
        self.units[unit.index()].begins(held, now_ns);
    }

    /// An operation of a unit or a reader has ended, or was suspended.
    #[inline(always)]
    fn worked(&mut self, unit: UnitId, waited: BusWait, now_ns: u64) {
        if unit.index() >= self.reading.len() {
            return self.worked_in_plane(unit, waited, now_ns);
        }
        self.works_for(unit, Held::ForHost, now_ns);
        self.units[unit.index()].worked(waited, now_ns);
    }

    /// A unit works for this from now on, where writes wait for any idle unit.
    #[inline(always)]
    fn works_for(&mut self, unit: UnitId, held: Held, now_ns: u64) {
        if let Some(collecting) = self.collecting {
            self.one_works_for(collecting, unit, held, now_ns);
        }
    }

    /// The clock of the writes that wait for any unit shows the first of the collections that work
    /// at once.
    #[cold]
    #[inline(never)]
    fn one_works_for(&mut self, collecting: u32, unit: UnitId, held: Held, now_ns: u64) {
        let collected = self.units[unit.index()].collects();
        let collects = matches!(held, Held::ForCollection { .. });
        let after = collecting + u32::from(collects) - u32::from(collected);
        self.collecting = Some(after);
        let Some(any) = self.units.last_mut() else { return };
        if collecting > 0 && after == 0 {
            any.worked(BusWait::default(), now_ns);
            any.begins(Held::ForHost, now_ns);
        } else if collecting == 0 && after > 0 {
            // Until now a unit was idle, or occupied by the host.
            any.worked(BusWait::default(), now_ns);
            any.begins(held, now_ns);
        }
    }

    /// An operation has left its queue and has the unit, or a part of it.
    #[inline(always)]
    fn taken(&mut self, op: u32, now_ns: u64) {
        let operation = &mut self.operations[op as usize];
        self.units[operation.unit.index()].taken(now_ns, &mut operation.parts);
        operation.until_ns = now_ns;
        if std::mem::replace(&mut operation.state, State::Runs) == State::Starves {
            self.has_starved(op);
        }
    }

    /// A write that found no page has left its queue: whatever the unit did for collections has
    /// freed the page.
    #[cold]
    #[inline(never)]
    fn has_starved(&mut self, op: u32) {
        let wait = &mut self.operations[op as usize].parts;
        let host_ns = std::mem::take(&mut wait[Part::Host as usize]);
        let space_ns: u64 = wait.iter().sum();
        *wait = self.before[op as usize];
        wait[Part::Host as usize] += host_ns;
        wait[Part::Space as usize] += space_ns;
    }

    /// A write finds no page: its wait for the unit is over, and that for space begins.
    #[cold]
    #[inline(never)]
    fn finds_no_page(&mut self, op: u32, now_ns: u64) {
        let operation = &mut self.operations[op as usize];
        if operation.state == State::Queued {
            let unit = &self.units[operation.unit.index()];
            unit.read(now_ns, &mut operation.parts);
            self.begins_wait(op, State::Starves, now_ns);
        }
    }

    /// An operation enters another state.
    #[cold]
    #[inline(never)]
    fn goes_on(&mut self, op: u32, state: State, now_ns: u64) {
        self.settle(op, now_ns);
        self.operations[op as usize].state = state;
    }

    /// A suspended program continues. The time until then, and that of resuming it, belongs to the
    /// reads.
    #[cold]
    #[inline(never)]
    fn is_resumed(&mut self, op: u32, resume_ns: u64, now_ns: u64) {
        self.goes_on(op, State::Runs, now_ns);
        let operation = &mut self.operations[op as usize];
        if operation.request != FLUSH {
            operation.parts[Part::Host as usize] += resume_ns;
        }
        operation.until_ns += resume_ns;
    }

    /// A page of a request is done. The last one decides.
    #[inline(always)]
    fn done(&mut self, op: u32, now_ns: u64) {
        let operation = &mut self.operations[op as usize];
        let request = operation.request;
        if operation.state == State::Runs && now_ns > operation.until_ns {
            let waited = self.units[operation.unit.index()].waited;
            add_own(&mut operation.parts, now_ns - operation.until_ns, waited);
        } else {
            self.settle(op, now_ns);
        }
        self.operations[op as usize].request = FLUSH;
        *entry(&mut self.last, request, 0) = op;
        if self.has_link {
            let Crossing { until_ns, done, .. } = &mut self.crossings[request as usize];
            (*until_ns, *done) = (now_ns, self.operations[op as usize].parts);
        }
    }

    #[inline(always)]
    fn served(&mut self, request: u32, clone: u16, op: HostOp, latency_ns: u64) {
        if !op.has_parts() {
            return;
        }
        let forced = self.forced.parts_of(request);
        let apart = forced.or_else(|| self.has_link.then(|| self.parts_of(request)));
        let last = self.last[request as usize];
        let operation = &self.operations[last as usize];
        let parts = apart.as_ref().unwrap_or(&operation.parts);
        let table = if op == HostOp::Read { &mut self.read } else { &mut self.write };
        // Time that overlaps with another operation belongs to the other one.
        let retries_ns = operation.retries_ns.min(parts[Part::Service as usize]);
        // The operation of a forced write may be another's by now.
        let retries_ns = if forced.is_some() { 0 } else { retries_ns };
        table.add(parts, retries_ns, latency_ns);
        if let Some(&job) = self.job_of_clone.get(usize::from(clone)) {
            let table = &mut self.of_jobs[usize::from(job)][usize::from(op == HostOp::Write)];
            table.add(parts, retries_ns, latency_ns);
        }
    }

    /// A request begins to cross the host's link, or has crossed it, or its pages are accepted; or
    /// the firmware begins with its command, or has handled it.
    #[cold]
    #[inline(never)]
    fn crosses(&mut self, request: u32, is_under_way: bool, now_ns: u64) {
        let Crossing { until_ns, parts, .. } = &mut self.crossings[request as usize];
        let part = if is_under_way { Part::Service } else { Part::Host };
        parts[part as usize] += now_ns - *until_ns;
        *until_ns = now_ns;
    }
}

impl Watch for Blame {
    #[inline(always)]
    fn observe(&mut self, now_ns: u64, happened: Happened) {
        match happened {
            Happened::RampEnds { job } => self.ramp_ends(job),
            Happened::AwaitsIdle { op } => self.awaits_idle(op, now_ns),
            Happened::Arrived { request, .. } if self.has_link || !self.forced.is_empty() => {
                // The write that waited for flash is done, and its place in the slab is reused.
                self.forced.forget(request);
                let new = Crossing { until_ns: now_ns, ..NOT_YET };
                *entry(&mut self.crossings, request, NOT_YET) = new;
            }
            Happened::Accepted { op, request, .. } => self.accepted(op, request, now_ns),
            Happened::Queued { op, unit } => self.queued(op, unit, now_ns),
            Happened::Taken { op } => self.taken(op, now_ns),
            Happened::Merged { op } => self.begins_wait(op, State::Merged, now_ns),
            Happened::Loaded { op } => self.begins_wait(op, State::Loaded, now_ns),
            Happened::Beside { op } => self.goes_on(op, State::Beside, now_ns),
            Happened::TakesOver { op, .. } => self.goes_on(op, State::Runs, now_ns),
            Happened::Yields { op, .. } => self.goes_on(op, State::Yields, now_ns),
            Happened::GoesOn { op, resume_ns, .. } => self.is_resumed(op, resume_ns, now_ns),
            Happened::Retries { op, added_ns } => {
                self.operations[op as usize].retries_ns += added_ns;
            }
            Happened::FindsNoPage { op, .. } => self.finds_no_page(op, now_ns),
            Happened::Starves { unit } => self.units[unit.index()].starves(now_ns),
            Happened::Begins { unit, held } => self.begins(unit, held, now_ns),
            Happened::ReadsInPlane { op, reader } => self.operations[op as usize].unit = reader,
            Happened::LeftBeside { unit, waited } | Happened::Loading { unit, waited } => {
                self.units[unit.index()].waited = waited;
            }
            Happened::Worked { unit, waited } => self.worked(unit, waited, now_ns),
            Happened::AwaitsBuffer { op } => self.goes_on(op, State::AwaitsBuffer, now_ns),
            Happened::AccessesBuffer { op } => self.goes_on(op, State::Accesses, now_ns),
            Happened::Done { op, .. } => self.done(op, now_ns),
            Happened::Crosses { request }
            | Happened::Handles { request }
            | Happened::Admitted { request } => {
                self.crosses(request, false, now_ns);
            }
            Happened::Crossed { request, .. } | Happened::Handled { request, .. } => {
                self.crosses(request, true, now_ns);
            }
            Happened::AwaitsFlash { request } => {
                self.forced.waits(request, now_ns, self.parts_of(request));
            }
            Happened::Served { request, job, op, latency_ns, .. } => {
                self.forced.survives(request, now_ns);
                self.served(request, job, op, latency_ns);
            }
            _ => {}
        }
    }
}
