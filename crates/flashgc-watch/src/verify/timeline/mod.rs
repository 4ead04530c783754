//! The timeline of a run: the operations of each unit and bus, each request with its steps, and
//! links between a request and the work that it waited for.
//!
//! Entries leave as they end, so memory is bounded by the queues and not by the run.

mod entry;

pub use super::steps::Step;
pub use entry::{Counter, Entry, LINKS_MAX, Stretch, TimelineRequest, TimelineSink};

use super::requests::{RequestRow, Requests};
use super::slab::entry as place;
use super::steps::RequestSteps;
use super::unit_work::UnitWork;
use super::{Cause, Happened, What};
use flashgc_model::device::Geometry;
use flashgc_model::gc::JobRow;
use flashgc_model::ids::UnitId;

/// A unit.
struct Line {
    is_recorded: bool,
    work: UnitWork,
    /// Page operations in its queue, in the order in which they came.
    waiting: Vec<u32>,
    /// Page operations that left its queue for the operation that ends next.
    served: Vec<u32>,
    /// Links of its collection.
    links: Vec<u64>,
}

/// A page operation.
#[derive(Clone, Default)]
struct Operation {
    /// The request that it is a part of; a flush of the write buffer has none.
    request: Option<u32>,
    /// The unit in whose queue it is, or was, and since when, in ns.
    queue: Option<(UnitId, u64)>,
    /// The collection of the unit that it is linked to, by its number.
    collection: Option<u64>,
    links: Vec<u64>,
}

/// A request under way.
#[derive(Clone, Default)]
struct UnderWay {
    is_recorded: bool,
    links: Vec<u64>,
}

/// Hands out the entries of the window.
struct Outlet {
    from_ns: u64,
    to_ns: u64,
    entries_max: u64,
    left: u64,
    ends_ns: Option<u64>,
    sink: TimelineSink,
}

impl Outlet {
    #[inline]
    fn hand_out(&mut self, (from_ns, to_ns): (u64, u64), entry: Entry<'_>, links: &[u64]) {
        if to_ns < self.from_ns || from_ns >= self.to_ns {
            return;
        }
        let Some(left) = self.left.checked_sub(1) else {
            self.ends_ns.get_or_insert(to_ns);
            return;
        };
        self.left = left;
        (self.sink)(Stretch { from_ns, to_ns, entry, links });
    }
}

/// Records the timeline of a run.
pub struct Timeline {
    geometry: Geometry,
    outlet: Outlet,
    is_measuring: bool,
    is_in_window: bool,
    /// Whether all units are recorded.
    has_all: bool,
    buses: Vec<bool>,
    units: Vec<Line>,
    /// By reader: page operations that left the queue of the unit for the read that ends next.
    read: Vec<Vec<u32>>,
    steps: RequestSteps,
    operations: Vec<Operation>,
    requests: Vec<UnderWay>,
    links: u64,
    outstanding: u64,
    free_blocks: u64,
    /// Pages programmed for the host, and all.
    programmed: [u64; 2],
}

impl Timeline {
    /// A timeline before the run.
    pub fn new(request: TimelineRequest, geometry: &Geometry) -> Self {
        let TimelineRequest { from_ns, to_ns, units, entries_max, sink } = request;
        let is_recorded = |unit: u32| units.as_ref().is_none_or(|units| units.contains(&unit));
        let line = |unit| Line {
            is_recorded: is_recorded(unit),
            work: UnitWork::new(UnitId(unit)),
            waiting: Vec::new(),
            served: Vec::new(),
            links: Vec::new(),
        };
        let mut buses = vec![false; geometry.shape.channels as usize];
        for unit in (0..geometry.units).filter(|&unit| is_recorded(unit)) {
            buses[geometry.bus_of(UnitId(unit)).index()] = true;
        }
        Timeline {
            geometry: geometry.clone(),
            outlet: Outlet { from_ns, to_ns, entries_max, left: entries_max, ends_ns: None, sink },
            is_measuring: false,
            is_in_window: false,
            has_all: units.is_none(),
            buses,
            units: (0..geometry.units).map(line).collect(),
            read: vec![Vec::new(); geometry.readers as usize],
            steps: RequestSteps::default(),
            operations: Vec::new(),
            requests: Vec::new(),
            links: 0,
            outstanding: 0,
            free_blocks: 0,
            programmed: [0; 2],
        }
    }

    /// From when on entries are missing, since there were too many, in ns.
    pub fn ends_ns(&self) -> Option<u64> {
        self.outlet.ends_ns
    }

    /// The note of a report on an incomplete timeline.
    pub fn note(&self) -> Option<String> {
        let ends_s = self.ends_ns()? as f64 / 1e9;
        Some(format!(
            "the timeline ends after {ends_s:.3} s of the run, with {} entries, the maximum: \
             choose a later window, or some of the units",
            self.outlet.entries_max
        ))
    }

    /// Takes an event of the run; the end of a request comes by [`Timeline::served`].
    pub(super) fn observe(&mut self, now_ns: u64, happened: Happened, requests: &Requests) {
        match happened {
            Happened::MeasuringStarts => self.is_measuring = true,
            Happened::FreeBlocks { blocks, .. } => self.free_blocks += u64::from(blocks),
            _ if !self.is_measuring => {}
            _ => {
                self.enter(now_ns);
                self.steps.observe(now_ns, happened, requests);
                self.observe_host(now_ns, happened, requests);
                self.observe_drive(now_ns, happened);
            }
        }
    }

    /// The counters have their values when the window begins.
    fn enter(&mut self, now_ns: u64) {
        if self.is_in_window || now_ns < self.outlet.from_ns {
            return;
        }
        self.is_in_window = true;
        let from_ns = self.outlet.from_ns;
        self.count(from_ns, Counter::Outstanding);
        self.count(from_ns, Counter::FreeBlocks);
        self.count(from_ns, Counter::WriteAmplification);
        for unit in 0..self.geometry.units {
            self.count(from_ns, Counter::Waiting(UnitId(unit)));
        }
    }

    fn count(&mut self, now_ns: u64, counter: Counter) {
        let value = match counter {
            Counter::Outstanding => self.outstanding as f64,
            Counter::FreeBlocks => self.free_blocks as f64,
            Counter::WriteAmplification => match self.programmed {
                [0, _] => return,
                [host, all] => all as f64 / host as f64,
            },
            Counter::Waiting(unit) => {
                let line = &self.units[unit.index()];
                if !line.is_recorded {
                    return;
                }
                line.waiting.len() as f64
            }
        };
        self.outlet.hand_out((now_ns, now_ns), Entry::Count(counter, value), &[]);
    }

    fn observe_host(&mut self, now_ns: u64, happened: Happened, requests: &Requests) {
        match happened {
            Happened::Arrived { request, outstanding, .. } => {
                let entry = place(&mut self.requests, request, UnderWay::default());
                entry.is_recorded = self.has_all;
                entry.links.clear();
                self.outstanding = outstanding;
                self.count(now_ns, Counter::Outstanding);
            }
            Happened::Accepted { op, request, .. } => {
                let entry = place(&mut self.operations, op, Operation::default());
                entry.request = Some(request);
                entry.links.clear();
            }
            Happened::Queued { op, unit } => self.queued(op, unit, now_ns),
            Happened::Taken { op } => {
                if let Some(unit) = self.leaves_queue(op, now_ns) {
                    self.units[unit.index()].served.push(op);
                }
            }
            // The operation under way does not serve it.
            Happened::Beside { op } => self.leaves_served(op),
            Happened::ReadsInPlane { op, reader } => {
                self.leaves_served(op);
                if let Some(plane) = self.geometry.plane_of_reader(reader) {
                    self.read[plane as usize].push(op);
                }
            }
            Happened::TakesOver { op, unit } | Happened::GoesOn { op, unit, .. } => {
                self.units[unit.index()].served.push(op);
            }
            Happened::AwaitsBuffer { op } | Happened::AwaitsIdle { op } => self.leaves(op, now_ns),
            Happened::Done { op, .. } => self.done(op, now_ns),
            Happened::Crossed { request, op, from_ns, to_ns } => {
                let request = requests.number_of(request);
                self.outlet.hand_out((from_ns, to_ns), Entry::Link { request, op }, &[]);
            }
            _ => {}
        }
    }

    fn leaves_served(&mut self, op: u32) {
        for line in &mut self.units {
            line.served.retain(|&other| other != op);
        }
    }

    fn queued(&mut self, op: u32, unit: UnitId, now_ns: u64) {
        place(&mut self.operations, op, Operation::default());
        self.leaves(op, now_ns);
        let operation = &mut self.operations[op as usize];
        (operation.queue, operation.collection) = (Some((unit, now_ns)), None);
        let line = &mut self.units[unit.index()];
        line.waiting.push(op);
        if line.is_recorded
            && let Some(request) = operation.request
        {
            self.requests[request as usize].is_recorded = true;
        }
        self.count(now_ns, Counter::Waiting(unit));
    }

    /// A page operation waits in no queue, and no operation of a unit serves it.
    fn leaves(&mut self, op: u32, now_ns: u64) {
        self.leaves_queue(op, now_ns);
        let Some(operation) = self.operations.get_mut(op as usize) else { return };
        if let Some((unit, _)) = operation.queue.take() {
            self.units[unit.index()].served.retain(|&other| other != op);
        }
    }

    /// The unit in whose queue a page operation is or was.
    fn leaves_queue(&mut self, op: u32, now_ns: u64) -> Option<UnitId> {
        let (unit, _) = self.operations.get(op as usize)?.queue?;
        let waiting = &mut self.units[unit.index()].waiting;
        if let Some(at) = waiting.iter().position(|&other| other == op) {
            waiting.remove(at);
            self.count(now_ns, Counter::Waiting(unit));
        }
        Some(unit)
    }

    fn done(&mut self, op: u32, now_ns: u64) {
        self.leaves(op, now_ns);
        let Some(operation) = self.operations.get_mut(op as usize) else { return };
        if let Some(request) = operation.request.take() {
            self.requests[request as usize].links.append(&mut operation.links);
        }
    }

    fn observe_drive(&mut self, now_ns: u64, happened: Happened) {
        match happened {
            Happened::Claimed { block, valid } => {
                let unit = self.geometry.unit_of(self.geometry.plane_of_block(block));
                self.units[unit.index()].work.claimed(&self.geometry, block, valid, now_ns);
            }
            Happened::JobClosed(row) => self.collected(&row, now_ns),
            Happened::Worked { unit, waited } | Happened::LeftBeside { unit, waited } => {
                let unit = self.geometry.whole_unit(unit);
                self.units[unit.index()].work.waited(waited);
            }
            Happened::Busy { what, unit, from_ns, to_ns, gc } if from_ns < to_ns => {
                self.busy(what, unit, (from_ns, to_ns), gc);
            }
            Happened::Programmed { cause, .. } => {
                let is_of_host = matches!(cause, Cause::Host { .. } | Cause::Flush);
                self.programmed[0] += u64::from(is_of_host);
                self.programmed[1] += 1;
            }
            Happened::Opened { .. } => {
                self.free_blocks -= 1;
                self.count(now_ns, Counter::FreeBlocks);
            }
            Happened::Erased { .. } => {
                self.free_blocks += 1;
                self.count(now_ns, Counter::FreeBlocks);
            }
            _ => {}
        }
    }

    fn busy(&mut self, what: What, unit: UnitId, span: (u64, u64), gc: bool) {
        let is_recorded = self.units[self.geometry.whole_unit(unit).index()].is_recorded;
        match what {
            What::Operation(name, copies) => self.worked(name, copies, unit, span, gc),
            What::Array if is_recorded => {
                self.outlet.hand_out(span, Entry::Array { unit, gc }, &[]);
            }
            What::Bus { .. } => {
                let bus = self.geometry.bus_of(unit);
                if self.buses[bus.index()] {
                    self.outlet.hand_out(span, Entry::Transfer { bus, unit, gc }, &[]);
                }
            }
            What::Array => {}
        }
    }

    /// An operation has ended. It is linked to the page operations that it served, and to those
    /// that waited for it; those that waited for a collection are linked to the whole of it.
    fn worked(
        &mut self,
        name: &'static str,
        copies: u32,
        unit: UnitId,
        span: (u64, u64),
        gc: bool,
    ) {
        let plane = self.geometry.plane_of_reader(unit);
        let unit = self.geometry.whole_unit(unit);
        let Timeline { units, read, operations, links: last, .. } = self;
        let line = &mut units[unit.index()];
        let work = line.work.worked(name, copies, span, (plane, gc), span.1);
        let served = match plane {
            Some(plane) => std::mem::take(&mut read[plane as usize]),
            None if gc => Vec::new(),
            None => std::mem::take(&mut line.served),
        };
        if !line.is_recorded {
            return;
        }
        let mut links = Vec::new();
        let linked = match work.collection {
            Some(_) => &mut line.links,
            None => &mut links,
        };
        let mut link = |operation: &mut Operation| {
            // The request of a flush is done.
            if operation.request.is_some() && linked.len() < LINKS_MAX {
                *last += 1;
                operation.links.push(*last);
                linked.push(*last);
            }
        };
        for op in served {
            link(&mut operations[op as usize]);
        }
        for &op in &line.waiting {
            let operation = &mut operations[op as usize];
            let has_waited = operation.queue.is_some_and(|(_, since_ns)| since_ns < span.1);
            let is_linked = work.collection.is_some() && operation.collection == work.collection;
            if has_waited && !is_linked {
                operation.collection = work.collection;
                link(operation);
            }
        }
        self.outlet.hand_out(span, Entry::Operation(&work), &links);
    }

    fn collected(&mut self, row: &JobRow, now_ns: u64) {
        let line = &mut self.units[row.unit as usize];
        let links = std::mem::take(&mut line.links);
        let Some(collection) = line.work.closed(now_ns) else { return };
        if line.is_recorded {
            let span = (collection.selected_ns, now_ns);
            let entry = Entry::Collection { collection, row: Some(row) };
            self.outlet.hand_out(span, entry, &links);
        }
        self.count(now_ns, Counter::WriteAmplification);
    }

    /// The run has ended: open collections leave.
    pub(super) fn end(&mut self, now_ns: u64) {
        for line in self.units.iter().filter(|line| line.is_recorded) {
            if let Some(collection) = line.work.open() {
                let span = (collection.selected_ns, now_ns);
                let entry = Entry::Collection { collection, row: None };
                self.outlet.hand_out(span, entry, &line.links);
            }
        }
    }

    /// A request is done.
    pub(super) fn served(&mut self, slot: u32, row: &RequestRow, outstanding: u64) {
        let request = &self.requests[slot as usize];
        if request.is_recorded {
            let under_way = self.steps.of(slot);
            let (pages, steps) = (under_way.pages, &under_way.steps[..]);
            let span = (row.arrival_ns, row.end_ns);
            self.outlet.hand_out(span, Entry::Request { row, slot, pages, steps }, &request.links);
        }
        self.outstanding = outstanding;
        self.count(row.end_ns, Counter::Outstanding);
    }
}
