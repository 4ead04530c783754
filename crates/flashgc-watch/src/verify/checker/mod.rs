//! The checker: a second model of the drive, kept by other means, which must agree with the model.
//!
//! It relies on nothing that the translation layer reports. It keeps the content of every physical
//! page as (logical page, version), records programs, reads, erases and trims as they happen, and
//! asserts what must always hold. A failure panics with the instant and the page: it is an error of
//! the simulator, never of its input.

mod due;
mod jobs;
mod reads;

use super::bad_blocks::BadBlocks;
use super::blocking::Blocking;
use super::buffer::Held;
use super::closed::Closed;
use super::flush_commands::FlushCommands;
use super::places::Inside;
pub use super::promises::{ClosedBlocks, Promises};
use super::reclaims::Reclaims;
use super::rereads::Rereads;
pub use super::spans::Busy;
use super::spans::Spans;
use super::time_slices::Slices;
use super::times::Times;
use super::tokens::Accounts;
use super::{Cause, Happened, Watch, What};
use flashgc_model::device::Geometry;
use flashgc_model::drive::Drive;
use flashgc_model::ids::{BlockId, Lpn, PlaneId, Ppn, UnitId};
use flashgc_model::plan::Plan;
use flashgc_workload::HostOp;
use jobs::Emptied;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};

const ERASED: u32 = u32::MAX;
/// Data that was invalid before the checker saw it. No logical page has so high a number.
const OLD: u32 = u32::MAX - 1;

/// Content of a physical page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Content {
    pub(super) lpn: u32,
    pub(super) version: u32,
}

/// The state that is checked, and the checker's own counts that are compared at the end.
pub struct Checker {
    pub(super) geometry: Geometry,
    promises: Promises,
    pub(super) content: Vec<Content>,
    /// Pages programmed in each block since its erase, and the lowest that may come next.
    pub(super) programmed: Vec<u32>,
    /// The next page of each plane that shares a block, where pages are programmed in order.
    next_of_lane: Vec<u32>,
    /// The last version that the host gave each logical page.
    given: Vec<u32>,
    /// The newest version in flash; the write buffer may hold a newer one.
    pub(super) newest: Vec<u32>,
    pub(super) held: Held,
    closed: Option<Closed>,
    turns: Option<Slices>,
    reclaims: Option<Reclaims>,
    accounts: Option<Accounts>,
    /// Requests that came and were not served.
    outstanding: u64,
    /// The unit of each operation in a queue, where background work may begin under load.
    queued: Option<BTreeMap<u32, UnitId>>,
    inside: Option<Inside>,
    flush_commands: FlushCommands,
    times: Option<Times>,
    holds: Option<Blocking>,
    bad_blocks: Option<BadBlocks>,
    /// The flash page with the newest version of each logical page.
    pub(super) home: Vec<Ppn>,
    acknowledged: Vec<u32>,
    pub(super) trimmed: Vec<bool>,
    /// Operations that were accepted and are not done, by logical page. Never walked.
    waiting: FxHashMap<u32, VecDeque<u32>>,
    /// Copies that left each block since its erase.
    copied: Vec<u32>,
    /// Copies that left the blocks that the present collection has erased.
    emptied: Vec<Emptied>,
    is_measuring: bool,
    spans: Spans,
    /// Pages programmed for the host and for copies in the measured part.
    pub host_programs: u64,
    /// See `host_programs`; flushes of the write buffer.
    pub flushes: u64,
    /// See `host_programs`.
    pub copies: u64,
    /// See `host_programs`; pages that were pre-migrated.
    pub moved_ahead: u64,
    /// Slots that were programmed without data in the measured part.
    pub padded: u64,
    /// Pages of summaries that were added to full blocks in the measured part.
    pub summaries: u64,
    /// Blocks erased in the measured part.
    pub erases: u64,
    /// The number of reported events.
    pub reports: u64,
}

impl Checker {
    /// For an erased drive.
    pub fn new(geometry: &Geometry, promises: Promises) -> Self {
        let (logical, physical) = (geometry.exported_pages as usize, geometry.pages as usize);
        Checker {
            promises,
            content: vec![Content { lpn: ERASED, version: 0 }; physical],
            programmed: vec![0; geometry.blocks as usize],
            next_of_lane: vec![0; geometry.blocks as usize * geometry.lanes() as usize],
            given: vec![0; logical],
            newest: vec![0; logical],
            held: Held::default(),
            closed: Closed::new(geometry, promises.closes_blocks),
            reclaims: None,
            turns: promises.turns.map(|rules| Slices::new(geometry, rules)),
            accounts: promises.paid.map(|paid| Accounts::new(geometry, paid)),
            outstanding: 0,
            queued: promises.rests_by_unit.then(BTreeMap::new),
            inside: Inside::new(&promises),
            flush_commands: FlushCommands::default(),
            holds: promises.blocking.map(Blocking::new),
            bad_blocks: None,
            times: promises.timing.map(|timing| Times::new(geometry, timing, &promises)),
            home: vec![Ppn::NONE; logical],
            acknowledged: vec![0; logical],
            trimmed: vec![false; logical],
            waiting: FxHashMap::default(),
            copied: vec![0; geometry.blocks as usize],
            emptied: Vec::new(),
            is_measuring: false,
            spans: Spans::new(geometry, &promises),
            host_programs: 0,
            flushes: 0,
            copies: 0,
            moved_ahead: 0,
            padded: 0,
            summaries: 0,
            erases: 0,
            reports: 0,
            geometry: geometry.clone(),
        }
    }

    /// For an erased drive of this plan, whose jobs may have turns and limits.
    pub fn of(plan: &Plan) -> Self {
        let mut checker = Checker::new(&plan.geometry, Promises::of(plan));
        if let Some(times) = &mut checker.times {
            times.rereads = Rereads::of(plan);
        }
        checker.bad_blocks = BadBlocks::of(plan);
        checker.reclaims = Reclaims::of(plan);
        checker.inside.iter_mut().for_each(|inside| inside.take_turns(plan));
        checker
    }

    /// For a drive in this state, in which every page is in its first version.
    pub fn with_drive(plan: &Plan, drive: &Drive) -> Self {
        let (geometry, in_order) = (&plan.geometry, !plan.parity());
        let mut checker = Checker::of(plan);
        let (mut open, lanes) = (drive.open.iter(), geometry.lanes());
        for (at, plane) in drive.planes.iter().enumerate() {
            let first = at * geometry.shape.blocks_per_plane as usize;
            let held = (plane.sealed + plane.open) as usize;
            for (at, &block) in drive.order[first..first + held].iter().enumerate() {
                let open = if at < plane.sealed as usize { None } else { open.next() };
                // Pages that the odd/even rule skipped are lost where pages go in order.
                let is_written = |page: u32| {
                    open.is_none_or(|o| o.is_written(page) || (in_order && page < o.end()))
                };
                let lane_of =
                    |page| geometry.lane_of(Ppn(geometry.first_page(BlockId(block)).0 + page));
                let pages = 0..geometry.data_pages_of(BlockId(block));
                let pages = pages.filter(|&page| is_written(page));
                let first = geometry.first_page(BlockId(block)).0;
                for page in pages {
                    checker.content[(first + page) as usize].lpn = OLD;
                    checker.programmed[block as usize] += 1;
                    checker.next_of_lane[(block * lanes + lane_of(page)) as usize] += 1;
                }
            }
        }
        let rereads = checker.times.iter_mut().flat_map(|times| &mut times.rereads);
        rereads.for_each(|rereads| rereads.starts_with(&drive.erases));
        checker.starts_with_bad_blocks(plan, drive);
        for (lpn, &ppn) in drive.map.iter().enumerate().filter(|&(_, &ppn)| ppn != u32::MAX) {
            checker.content[ppn as usize] = Content { lpn: lpn as u32, version: 1 };
            (checker.given[lpn], checker.newest[lpn]) = (1, 1);
            checker.home[lpn] = Ppn(ppn);
        }
        checker
    }

    /// The checker for a run that continues with the drive in this state: each page must be where
    /// it was.
    pub fn go_on_with(&self, plan: &Plan, drive: &Drive) -> Self {
        let next = Checker::with_drive(plan, drive);
        assert!(next.home == self.home, "a page moved while the drive changed hands");
        next
    }

    /// Busy time of units, buses and arrays, as the checker saw it.
    pub fn busy(&self) -> Busy {
        self.spans.busy
    }

    fn place(&self, ppn: Ppn) -> (PlaneId, BlockId) {
        let block = self.geometry.block_of(ppn);
        (self.geometry.plane_of_block(block), block)
    }

    fn program(&mut self, now_ns: u64, ppn: Ppn, lpn: Lpn, cause: Cause, current: bool) {
        self.takes(now_ns, ppn);
        let version = match cause {
            Cause::Host { .. } => {
                assert!(
                    self.held.version(lpn).is_none(),
                    "at {now_ns} ns a write of logical page {} went past the write buffer",
                    lpn.0
                );
                self.host_programs += 1;
                self.written(lpn)
            }
            Cause::Flush => self.flush(now_ns, lpn),
            Cause::Copy { from } => {
                self.copies += 1;
                self.copied[self.geometry.block_of(from).index()] += 1;
                self.copy(now_ns, from, ppn, lpn, (current, self.promises.in_plane))
            }
            Cause::MoveAhead { from } => {
                self.moved_ahead += 1;
                self.copy(now_ns, from, ppn, lpn, (current, true))
            }
        };
        self.content[ppn.index()] = Content { lpn: lpn.0, version };
        if current {
            self.home[lpn.index()] = ppn;
        }
    }

    /// A page is taken: it is erased, and the next of its block.
    fn takes(&mut self, now_ns: u64, ppn: Ppn) {
        let (block, page) = self.geometry.block_and_page(ppn);
        assert_eq!(
            self.content[ppn.index()].lpn,
            ERASED,
            "at {now_ns} ns page {} was programmed without an erase",
            ppn.0
        );
        if self.promises.in_order {
            // Where planes share a block, each of them programs its pages in order.
            let lane = block.0 * self.geometry.lanes() + self.geometry.lane_of(ppn);
            let next = &mut self.next_of_lane[lane as usize];
            assert_eq!(
                *next,
                self.geometry.shape.page_of_lane(page),
                "at {now_ns} ns page {page} of block {} was programmed out of order",
                block.0
            );
            *next += 1;
        }
        let shape = &self.geometry.shape;
        assert!(
            page < self.geometry.data_pages_of(block),
            "at {now_ns} ns page {page} of block {}, which is for no data, was given some",
            block.0
        );
        self.programmed[block.index()] += 1;
        if self.programmed[block.index()] == self.geometry.data_pages_of(block) {
            self.summaries += u64::from(shape.summary_pages);
        }
    }

    /// Where a scheme blocks single blocks, the host does not write to the block that copies fill.
    /// The block to which a page is pre-migrated is not blocked.
    fn keeps_out(&mut self, now_ns: u64, ppn: Ppn, cause: Cause) {
        let (plane, block) = self.place(ppn);
        let Some(closed) = &mut self.closed else { return };
        closed.programmed(plane, block);
        match cause {
            Cause::MoveAhead { .. } => {}
            Cause::Copy { .. } => closed.copied(plane, block, ppn),
            Cause::Host { .. } | Cause::Flush => closed.written(now_ns, plane, block),
        }
    }

    /// A collection has taken a block.
    fn claimed(&mut self, block: BlockId) {
        let Checker { programmed, geometry, closed, .. } = self;
        let written = |block: BlockId| {
            let pages = programmed[block.index()];
            (pages < geometry.data_pages_of(block)).then_some(pages)
        };
        let plane = geometry.plane_of_block(block);
        closed.iter_mut().for_each(|closed| closed.claimed(plane, block, written));
    }

    /// A page moves: the version that it has.
    fn copy(
        &self,
        now_ns: u64,
        from: Ppn,
        to: Ppn,
        lpn: Lpn,
        (current, in_plane): (bool, bool),
    ) -> u32 {
        let source = self.content[from.index()];
        assert_eq!(source.lpn, lpn.0, "at {now_ns} ns a copy moved the wrong data");
        assert!(
            !in_plane || self.geometry.plane_of(from) == self.geometry.plane_of(to),
            "at {now_ns} ns a copy left its plane"
        );
        let is_newest = !self.trimmed[lpn.index()] && source.version == self.newest[lpn.index()];
        assert!(
            !current || is_newest,
            "at {now_ns} ns a copy of logical page {} was called current but is old",
            lpn.0
        );
        source.version
    }

    /// A new version of a page goes to flash at once.
    fn written(&mut self, lpn: Lpn) -> u32 {
        self.given[lpn.index()] += 1;
        self.newest[lpn.index()] = self.given[lpn.index()];
        self.trimmed[lpn.index()] = false;
        self.newest[lpn.index()]
    }

    /// Counts arrivals and ends of requests.
    fn observe_request(&mut self, now_ns: u64, happened: Happened) {
        match happened {
            Happened::Arrived { .. } => self.outstanding += 1,
            Happened::Served { .. } => self.outstanding -= 1,
            _ => {}
        }
        if let Some(inside) = &mut self.inside {
            inside.observe(now_ns, happened);
        }
    }

    fn started(&mut self, now_ns: u64, op: u32, lpn: Lpn) {
        assert_eq!(
            self.waiting.get(&lpn.0).and_then(VecDeque::front),
            Some(&op),
            "at {now_ns} ns an operation on logical page {} overtook an earlier one",
            lpn.0
        );
    }

    /// Follows the flush commands that wait.
    fn observe_flush(&mut self, now_ns: u64, happened: Happened) {
        match happened {
            Happened::FlushComes { request } => {
                let held = self.held.pages().filter(|_| self.promises.drains);
                self.flush_commands.comes(request, held);
            }
            Happened::Served { request, op: HostOp::Flush, .. } => {
                self.flush_commands.served(now_ns, request);
            }
            Happened::Arrived { request, fua: true, .. } if self.promises.drains => {
                self.flush_commands.forced_comes(request);
            }
            Happened::Accepted { op, request, .. } => self.flush_commands.accepted(op, request),
            Happened::Done { op, lpn, kind: HostOp::Write } => {
                self.flush_commands.done(op, lpn, self.given[lpn.index()]);
            }
            Happened::Served { request, op: HostOp::Write, .. } => {
                self.flush_commands.write_served(now_ns, request);
            }
            Happened::Flushed { lpn } | Happened::FlushedAndKept { lpn } => {
                self.survives(now_ns, lpn);
                let home = self.home[lpn.index()];
                let version = if home.is_some() { self.content[home.index()].version } else { 0 };
                self.flush_commands.programmed(lpn, version);
            }
            Happened::Trimmed { lpn } => self.flush_commands.trimmed(lpn),
            _ => {}
        }
    }

    fn done(&mut self, now_ns: u64, op: u32, lpn: Lpn, kind: HostOp) {
        let queue = self.waiting.entry(lpn.0).or_default();
        let front = queue.pop_front();
        if queue.is_empty() {
            self.waiting.remove(&lpn.0);
        }
        assert_eq!(front, Some(op), "at {now_ns} ns operations on page {} ended askew", lpn.0);
        if kind == HostOp::Write {
            let (held, given) = (self.held.version(lpn), self.given[lpn.index()]);
            assert!(
                held.unwrap_or(self.newest[lpn.index()]) == given,
                "at {now_ns} ns a write of logical page {} was acknowledged and lies nowhere",
                lpn.0
            );
            self.acknowledged[lpn.index()] = given;
        }
    }

    fn start_measuring(&mut self) {
        (self.host_programs, self.copies, self.erases) = (0, 0, 0);
        (self.flushes, self.moved_ahead, self.padded) = (0, 0, 0);
        self.is_measuring = true;
        self.closed.iter_mut().for_each(Closed::starts_measuring);
        // A sub-block that was emptied next to another and not erased.
        self.copied.fill(0);
        self.summaries = 0;
    }

    fn observe_times(&mut self, now_ns: u64, happened: Happened) {
        let Some(times) = &mut self.times else { return };
        let fills = matches!(happened, Happened::Programmed { ppn, .. } if {
            let block = self.geometry.block_of(ppn);
            self.programmed[block.index()] == self.geometry.data_pages_of(block)
        });
        times.observe(now_ns, happened, fills, &self.geometry);
    }
}

impl Watch for Checker {
    fn observe(&mut self, now_ns: u64, happened: Happened) {
        self.reports += 1;
        self.observe_bad_blocks(now_ns, happened);
        self.observe_pace(now_ns, happened);
        self.observe_waits(now_ns, happened);
        self.spans.observe(now_ns, happened);
        match happened {
            Happened::MeasuringStarts => self.start_measuring(),
            Happened::Accepted { op, lpn, .. } => {
                self.observe_request(now_ns, happened);
                self.waiting.entry(lpn.0).or_default().push_back(op);
            }
            Happened::Started { op, lpn } => self.started(now_ns, op, lpn),
            Happened::Done { op, lpn, kind } => self.done(now_ns, op, lpn, kind),
            Happened::Programmed { ppn, lpn, cause, current } => {
                self.keeps_out(now_ns, ppn, cause);
                self.program(now_ns, ppn, lpn, cause, current);
            }
            Happened::Read { ppn, lpn } => {
                let plane = self.geometry.plane_of(ppn);
                let page = self.geometry.block_and_page(ppn);
                self.closed.iter().for_each(|closed| closed.read(now_ns, plane, page, ppn));
                self.read_in_flash(now_ns, ppn, lpn);
            }
            Happened::Padded { ppn, .. } => self.padded(now_ns, ppn),
            Happened::ReadBegun { ppn, lpn } => self.read_begun(now_ns, ppn, lpn),
            Happened::ReadOut { ppn, lpn } => self.read_out(now_ns, ppn, lpn),
            Happened::ReadNothing { lpn } => self.read_nothing(now_ns, lpn),
            Happened::ReadBuffered { lpn } => self.read_buffered(now_ns, lpn),
            Happened::BufferAccessed { lpn, kind, from_ns, to_ns } => {
                self.accessed(lpn, kind, (from_ns, to_ns));
            }
            Happened::Flushed { lpn } => self.flushed(now_ns, lpn),
            Happened::Trimmed { lpn } => {
                self.held.leaves(lpn);
                self.trimmed[lpn.index()] = true;
                self.home[lpn.index()] = Ppn::NONE;
            }
            Happened::Claimed { block, .. } => self.claimed(block),
            Happened::Erased { block } => {
                let plane = self.geometry.plane_of_block(block);
                self.closed.iter_mut().for_each(|closed| closed.erased(plane, block));
                self.erase(now_ns, block);
            }
            Happened::Busy { what, unit, from_ns, to_ns, gc } => {
                let at = match what {
                    What::Bus { .. } => self.geometry.bus_of(unit).index(),
                    _ => unit.index(),
                };
                self.spans.busy(what, at, (from_ns, to_ns), gc);
            }
            Happened::JobClosed(row) => self.job_closed(&row),
            Happened::BatchEnded { plane } => {
                self.closed.iter_mut().for_each(|closed| closed.batch_ended(now_ns, plane));
            }
            Happened::Arrived { .. }
            | Happened::Admitted { .. }
            | Happened::ComesIn { .. }
            | Happened::Handles { .. }
            | Happened::Handled { .. }
            | Happened::Crosses { .. }
            | Happened::Served { .. } => self.observe_request(now_ns, happened),
            Happened::WorksAhead { plane } => self.rests(now_ns, plane),
            // Facts for other watchers.
            _ => {}
        }
        self.observe_times(now_ns, happened);
        self.holds.iter_mut().for_each(|holds| holds.observe(now_ns, happened, &self.geometry));
    }
}
