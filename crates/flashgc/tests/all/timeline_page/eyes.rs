//! The watcher of a page: the checker, and the output of the page.

use flashgc::device::Geometry;
use flashgc::ids::{BlockId, UnitId};
use flashgc::plan::Plan;
use flashgc::verify::blame::{Blame, Parts};
use flashgc::verify::checker::Checker;
use flashgc::verify::{Cause, Happened, Watch, What};
use flashgc::workload::HostOp;
use std::collections::{BTreeMap, VecDeque};

/// The number of the host's link, in place of a unit.
pub const LINK: u32 = u32::MAX;
/// The number of the write buffer.
pub const BUFFER: u32 = u32::MAX - 1;

/// An operation on a unit, or a phase of one.
#[derive(Clone, Debug)]
pub struct Row {
    pub unit: u32,
    pub from_ns: u64,
    pub to_ns: u64,
    /// The operation and its page or block.
    pub words: String,
    /// For a phase: whether it was on the bus.
    pub on_bus: bool,
}

/// A page operation of the host, from its acceptance to its end.
#[derive(Clone, Copy, Debug)]
pub struct HostPage {
    pub accepted_ns: u64,
    pub done_ns: Option<u64>,
}

pub struct Eyes {
    pub checker: Option<Checker>,
    blame: Blame,
    /// The parts of each request that is done, by order of arrival.
    pub parts: Vec<Option<Parts>>,
    /// The latency of each, in ns.
    pub served: Vec<Option<u64>>,
    /// The place there of the requests under way.
    place_of_request: BTreeMap<u32, usize>,
    pub operations: Vec<Row>,
    pub phases: Vec<Row>,
    pub pages: Vec<HostPage>,
    pub programmed: Vec<bool>,
    geometry: Geometry,
    measuring: bool,
    /// Phases of the operations under way, for each unit: for the collection or for the host.
    open: Vec<Vec<(bool, Row)>>,
    /// The logical pages that each unit reads or writes for the host in one operation.
    host: Vec<Vec<u32>>,
    /// The number of pages among them that belong to the operation under way, where another has
    /// begun in parallel.
    beside: Vec<Option<usize>>,
    /// The logical pages that each unit reads for its collection.
    reads: Vec<Vec<u32>>,
    /// The words of the operation that each unit has suspended.
    suspended: Vec<Option<String>>,
    /// The logical pages of the program that each unit has suspended for reads.
    yielded: Vec<Vec<u32>>,
    /// Logical pages that were bound elsewhere and whose copies have not ended.
    copies: Vec<VecDeque<u32>>,
    /// By unit: copies of the program that fills, and copies of each full program.
    filling: Vec<usize>,
    full: Vec<VecDeque<usize>>,
    /// The place in `pages` of the operations under way.
    page_of_op: BTreeMap<u32, usize>,
}

impl Eyes {
    pub fn new(plan: &Plan) -> Self {
        let geometry = &plan.geometry;
        let units = (geometry.units + geometry.readers) as usize;
        Eyes {
            checker: Some(Checker::of(plan)),
            blame: Blame::new(plan),
            parts: Vec::new(),
            served: Vec::new(),
            place_of_request: BTreeMap::new(),
            operations: Vec::new(),
            phases: Vec::new(),
            pages: Vec::new(),
            programmed: vec![false; geometry.pages as usize],
            geometry: geometry.clone(),
            measuring: false,
            open: vec![Vec::new(); units],
            host: vec![Vec::new(); units],
            beside: vec![None; units],
            reads: vec![Vec::new(); units],
            suspended: vec![None; units],
            yielded: vec![Vec::new(); units],
            copies: vec![VecDeque::new(); units],
            filling: vec![0; units],
            full: vec![VecDeque::new(); units],
            page_of_op: BTreeMap::new(),
        }
    }

    fn erase(&mut self, block: BlockId) {
        let first = self.geometry.first_page(block).index();
        let pages = self.geometry.shape.pages_per_block as usize;
        self.programmed[first..first + pages].fill(false);
        if self.measuring {
            self.erased(block);
        }
    }

    fn copy(&mut self, unit: usize, ppn: flashgc::ids::Ppn, lpn: u32) {
        self.copies[unit].push_back(lpn);
        self.filling[unit] += 1;
        if self.geometry.shape.left_of_program(ppn) == 1 {
            let copies = std::mem::take(&mut self.filling[unit]);
            self.full[unit].push_back(copies);
        }
    }

    fn unit_of(&self, ppn: flashgc::ids::Ppn) -> usize {
        self.geometry.unit_of_page(ppn).index()
    }

    /// The block's number in its plane, with the plane where a unit has several.
    fn block_words(&self, block: BlockId) -> String {
        let plane = self.geometry.plane_of_block(block);
        let local = block.0 - self.geometry.blocks_of(plane).start;
        if self.geometry.planes > self.geometry.units {
            return format!("plane {} block {local}", plane.0);
        }
        format!("block {local}")
    }

    /// Whether an operation is the rest of a suspended one: a new read has registered its pages.
    fn goes_on(&mut self, at: usize, name: &str) -> bool {
        if name == "copy-read" && !self.reads[at].is_empty() {
            self.suspended[at] = None;
        }
        self.suspended[at].as_ref().is_some_and(|words| words.starts_with(name))
    }

    fn busy(&mut self, what: What, unit: UnitId, from_ns: u64, to_ns: u64, gc: bool) {
        let at = unit.index();
        let row = |words, on_bus| Row { unit: unit.0, from_ns, to_ns, words, on_bus };
        let (name, copies) = match what {
            What::Bus { .. } => return self.open[at].push((gc, row(String::new(), true))),
            What::Array => return self.open[at].push((gc, row(String::new(), false))),
            What::Operation(name, copies) => (name, copies as usize),
        };
        let words = match name {
            "erase" | "suspend" | "poll" => name.into(),
            "copy-read" | "copy-program" if self.goes_on(at, name) => {
                self.suspended[at].take().unwrap_or_default()
            }
            "program" | "flush" if !self.yielded[at].is_empty() => {
                let pages: Vec<String> = self.yielded[at].iter().map(u32::to_string).collect();
                format!("{name} {}", pages.join(" "))
            }
            "copy-read" | "read-out" | "move-ahead" => {
                let pages = std::mem::take(&mut self.reads[at]);
                let pages: Vec<String> = pages.iter().map(u32::to_string).collect();
                format!("{name} {}", pages.join(" "))
            }
            "copy-program" if copies == 0 => {
                let pages = std::mem::take(&mut self.host[at]);
                let pages: Vec<String> = pages.iter().map(u32::to_string).collect();
                // Copies that were made before, padded.
                let is_padded = pages.is_empty();
                if is_padded { name.into() } else { format!("program {}", pages.join(" ")) }
            }
            "copy" | "copy-program" | "program-copy" => {
                let sent = (name == "program-copy").then(|| self.full[at].pop_front()).flatten();
                let copies = sent.unwrap_or(copies.min(self.copies[at].len()));
                let copies = self.copies[at].drain(..copies).map(|lpn| lpn.to_string());
                let copies: Vec<String> = copies.collect();
                format!("{name} {}", copies.join(" "))
            }
            "collection" => {
                let copies = std::mem::take(&mut self.copies[at]);
                let copies: Vec<String> = copies.iter().map(u32::to_string).collect();
                match copies.len() {
                    0 => "collection: no copy, erase".into(),
                    _ => format!("collection: copy {}, erase", copies.join(" ")),
                }
            }
            _ => {
                let own = self.beside[at].take().unwrap_or(self.host[at].len());
                let next = self.host[at].split_off(own);
                let pages = std::mem::replace(&mut self.host[at], next);
                let pages: Vec<String> = pages.iter().map(u32::to_string).collect();
                format!("{name} {}", pages.join(" "))
            }
        };
        if name == "suspend" && gc {
            let before = self.operations.iter().rfind(|row| row.unit == unit.0);
            let words = before.map(|row| row.words.clone()).filter(|words| words != "erase");
            self.suspended[at] = words;
        }
        // Phases in parallel with it belong to an operation of the other side.
        let beside = |(by_gc, _): &(bool, Row)| *by_gc != gc;
        let (others, own) = std::mem::take(&mut self.open[at]).into_iter().partition(beside);
        self.open[at] = others;
        for (_, mut phase) in own {
            phase.words.clone_from(&words);
            self.phases.push(phase);
        }
        if from_ns < to_ns {
            self.operations.push(row(words, false));
        }
    }

    /// The operation that has just ended on the block's unit erased it; of a superblock, the last
    /// erase in each of its units.
    fn erased(&mut self, block: BlockId) {
        let plane = self.geometry.plane_of_block(block);
        for unit in self.geometry.units_of(plane) {
            self.erased_in(unit, block);
        }
    }

    fn erased_in(&mut self, unit: UnitId, block: BlockId) {
        let words = self.block_words(block);
        let shares = self.geometry.has_superblocks();
        let is_its = |row: &Row| row.unit == unit.0 && (!shares || row.words == "erase");
        let last = self.operations.iter().rposition(is_its);
        // An erase of no length has no row.
        let erases = |&at: &usize| self.operations[at].words.contains("erase");
        let Some(at) = last.filter(erases) else { return };
        let Row { from_ns, to_ns, .. } = self.operations[at];
        let operation = std::iter::once(&mut self.operations[at]);
        let own =
            |row: &&mut Row| row.unit == unit.0 && row.from_ns >= from_ns && row.to_ns <= to_ns;
        for row in operation.chain(self.phases.iter_mut().filter(own)) {
            row.words = format!("{} {words}", row.words);
        }
    }

    fn serve(&mut self, place: usize, request: u32, op: HostOp, latency_ns: u64) {
        self.served[place] = Some(latency_ns);
        if op.has_parts() {
            let parts = self.blame.parts_of(request);
            assert_eq!(parts.iter().sum::<u64>(), latency_ns, "the parts of a latency");
            self.parts[place] = Some(parts);
        }
    }
}

impl Eyes {
    /// A program of the host is suspended, or continues. Each of its pages reports that.
    fn gives_way(&mut self, happened: Happened) {
        let (unit, is_first) = match happened {
            Happened::Yields { unit, .. } => (unit, self.yielded[unit.index()].is_empty()),
            Happened::GoesOn { unit, .. } => (unit, !self.yielded[unit.index()].is_empty()),
            _ => return,
        };
        if is_first {
            std::mem::swap(&mut self.yielded[unit.index()], &mut self.host[unit.index()]);
        }
    }
}

impl Eyes {
    pub fn observe(&mut self, now_ns: u64, happened: Happened) {
        if let Some(checker) = &mut self.checker {
            checker.observe(now_ns, happened);
        }
        self.blame.observe(now_ns, happened);
        match happened {
            Happened::Arrived { request, .. } => {
                self.place_of_request.insert(request, self.parts.len());
                self.parts.push(None);
                self.served.push(None);
            }
            Happened::Served { request, op, latency_ns, .. } => {
                self.serve(self.place_of_request[&request], request, op, latency_ns);
            }
            Happened::MeasuringStarts => self.measuring = true,
            Happened::Programmed { ppn, lpn, cause, .. } => {
                self.programmed[ppn.index()] = true;
                let unit = self.unit_of(ppn);
                match cause {
                    _ if !self.measuring => {}
                    Cause::Host { .. } | Cause::Flush => self.host[unit].push(lpn.0),
                    Cause::Copy { .. } => self.copy(unit, ppn, lpn.0),
                    // It was registered when it was read.
                    Cause::MoveAhead { .. } => {}
                }
            }
            Happened::Read { ppn, lpn } => {
                let unit = self.unit_of(ppn);
                self.host[unit].push(lpn.0);
            }
            Happened::ReadsInPlane { reader, .. } => {
                let unit = self.geometry.whole_unit(reader).index();
                let page = self.host[unit].pop().expect("the page that is read");
                self.host[reader.index()].push(page);
            }
            Happened::BeginsBeside { unit, .. } => {
                self.beside[unit.index()].get_or_insert(self.host[unit.index()].len());
            }
            Happened::ReadOut { ppn, lpn } => {
                let unit = self.unit_of(ppn);
                self.reads[unit].push(lpn.0);
            }
            Happened::Erased { block } => self.erase(block),
            Happened::Accepted { op, .. } => {
                self.page_of_op.insert(op, self.pages.len());
                self.pages.push(HostPage { accepted_ns: now_ns, done_ns: None });
            }
            Happened::Done { op, .. } => {
                if let Some(at) = self.page_of_op.remove(&op) {
                    self.pages[at].done_ns = Some(now_ns);
                }
            }
            Happened::Crossed { op, from_ns, to_ns, .. } => {
                let words = if op == HostOp::Write { "write goes in" } else { "read comes out" };
                let unit = LINK;
                let row = Row { unit, from_ns, to_ns, words: words.into(), on_bus: false };
                self.operations.push(row);
            }
            Happened::BufferAccessed { lpn, kind, from_ns, to_ns } => {
                let word = if kind == HostOp::Write { "write" } else { "read" };
                let (unit, words) = (BUFFER, format!("{word} {}", lpn.0));
                self.operations.push(Row { unit, from_ns, to_ns, words, on_bus: false });
            }
            Happened::Busy { what, unit, from_ns, to_ns, gc } => {
                self.busy(what, unit, from_ns, to_ns, gc);
            }
            _ => self.gives_way(happened),
        }
    }
}
