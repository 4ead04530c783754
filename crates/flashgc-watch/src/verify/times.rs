//! The checker's own account of array time: how long the pages of each operation take.
//!
//! It adds up the array time that a unit spends on pages that are read and programmed, and compares
//! when an operation ends. Where the pages of a block differ, each has a time of its own. A
//! suspended operation has the rest of its time left, and the time of resuming it.

mod failed;
mod joined;
mod pages;
mod register;
mod touched;
mod yielding;

use crate::verify::promises::Promises;
use crate::verify::rereads::Rereads;
use crate::verify::{Cause, Happened, What};
use flashgc_model::device::{Geometry, LayerMap, Timing};
use flashgc_model::ids::{BlockId, Ppn, UnitId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use touched::{Bound, HostPage};
use yielding::Yielded;

/// The work that a unit has under way.
#[derive(Clone, Default)]
struct Lane {
    host: Vec<HostPage>,
    /// Writes of the host that share the program of a collection.
    merged: Vec<HostPage>,
    read_out: Vec<Ppn>,
    bound: VecDeque<Bound>,
    /// The pages and the array time of the host's operation that has begun in parallel with the one
    /// under way, and whether it reads.
    beside: Option<bool>,
    next: Vec<HostPage>,
    next_ns: u64,
    /// Until when the array worked, in ns.
    array_until_ns: u64,
    /// Array time since the last operation ended, for the host and for collection, in ns.
    seen_ns: [u64; 2],
    /// The time that is left of a suspended operation of the collection, in ns.
    left: Option<(&'static str, u64)>,
    /// The victims of the collection.
    victims: Vec<BlockId>,
    /// By how much it may be rounded in all its phases, in ns: those that have passed count too.
    left_rounded_ns: u64,
    /// The name and the rounding of an operation that has ended within its rounding, in ns.
    nearly: Option<(&'static str, u64)>,
    /// The cost of resuming it, in ns.
    resumes_ns: u64,
    /// The pages of its program that was suspended.
    suspended: Vec<Ppn>,
    /// The program of the host that is suspended.
    yielded: Yielded,
    /// Whether the next transfer for the host answers a read from the register.
    answers: bool,
    /// The flash page that the collection read last, where it joins slots.
    last_read: Option<u32>,
}

impl Lane {
    /// The array has worked, on one operation at a time; a read during a transfer of the host
    /// belongs to the next operation.
    fn worked(&mut self, (from_ns, to_ns): (u64, u64), gc: bool) {
        assert!(from_ns >= self.array_until_ns, "an array did two things at {from_ns} ns");
        self.array_until_ns = to_ns;
        let seen_ns = match self.beside {
            Some(true) if !gc => &mut self.next_ns,
            _ => &mut self.seen_ns[usize::from(gc)],
        };
        *seen_ns += to_ns - from_ns;
    }

    /// The host's operation has ended: the one in parallel with it now occupies the unit.
    fn takes_over(&mut self) {
        self.beside = None;
        self.host = std::mem::take(&mut self.next);
        self.seen_ns[0] = std::mem::take(&mut self.next_ns);
    }

    /// A read that was suspended is not resumed: its pages were lost meanwhile.
    fn gives_up(&mut self) {
        assert!(self.left.is_none_or(|(of, _)| of == READ), "only reads are given up");
        self.read_out.clear();
        (self.left, self.nearly, self.resumes_ns) = (None, None, 0);
    }

    /// Whether an operation of this name can only be a continuation, since no pages of its own
    /// wait.
    fn only_goes_on(&self, name: &str, copies: u32) -> bool {
        match name {
            READ => self.read_out.is_empty(),
            PROGRAM if copies > 0 => self.bound.is_empty(),
            PROGRAM => self.merged.is_empty(),
            _ => false,
        }
    }
}

/// The halves of copies, and the erase: operations that may be suspended.
const READ: &str = "copy-read";
const PROGRAM: &str = "copy-program";
const ERASE: &str = "erase";
/// A read whose pages go to other units.
const READ_OUT: &str = "read-out";

/// Times of operations, unit by unit.
pub(super) struct Times {
    timing: Timing,
    /// The timing of collections and background tasks.
    collection: Timing,
    /// Pages of a whole block, and the time of each layer as a multiple of the nominal one.
    block_pages: u32,
    layers: Option<(LayerMap, Vec<f64>)>,
    /// Slots of a flash page, those that the array reads at once, and those that are programmed
    /// together.
    slots: u32,
    read_slots: u32,
    program_slots: u32,
    at_once: usize,
    /// Planes that share a block, whose pages lie in them in turn.
    shared_by: u32,
    /// Pages of the blocks whose copies form a list each.
    list_pages: u32,
    /// Whether the device has cache reads, and cache programs.
    cache: [bool; 2],
    /// Failed programs, by the program that has their data; those whose data has no page yet; and
    /// the most programs of any data.
    failed: BTreeMap<u32, Vec<Ppn>>,
    /// Blocks that are retired in place of being erased.
    failing: BTreeSet<BlockId>,
    homeless: Vec<Ppn>,
    most_programs: u64,
    /// The account of retries, where reads have errors.
    pub(super) rereads: Option<Rereads>,
    /// The units, and behind them the planes that read by themselves.
    lanes: Vec<Lane>,
    units: usize,
}

impl Times {
    /// Nothing is under way; a step of a collection moves this number of pages, of one block or of
    /// all.
    pub(super) fn new(
        geometry: &Geometry,
        [timing, collection]: [Timing; 2],
        promises: &Promises,
    ) -> Self {
        let shape = &geometry.shape;
        let layers = timing.layer_speed.map(|it| (it.layer_map, pages::slowness(it, shape.layers)));
        Times {
            timing,
            collection,
            block_pages: shape.pages_per_block * shape.sub_blocks,
            layers,
            slots: shape.slots,
            read_slots: shape.slots * shape.planes_in_step,
            shared_by: shape.lanes,
            program_slots: shape.slots * shape.pages_per_program,
            at_once: promises.at_once as usize,
            list_pages: if promises.by_block { shape.pages_per_block } else { u32::MAX },
            cache: promises.cache,
            failed: BTreeMap::new(),
            failing: BTreeSet::new(),
            homeless: Vec::new(),
            most_programs: 1,
            rereads: None,
            units: geometry.units as usize,
            lanes: vec![Lane::default(); (geometry.units + geometry.readers) as usize],
        }
    }

    /// Pages that are read together, in ns, and corrected by the controller or not.
    fn read_ns(&self, by: &Timing, corrects: bool, pages: impl Iterator<Item = Ppn>) -> u64 {
        let rereads = self.rereads.as_ref().filter(|_| corrects && by.retry.is_some());
        let own_ns = |ppn| {
            let ns = self.own_ns((ppn, self.nominal_read_ns(by, ppn)));
            ns + rereads.map_or(0, |rereads| rereads.added_ns(ppn, ns))
        };
        pages.map(own_ns).max().unwrap_or(0)
    }

    /// Whether the controller corrects the pages that copies read, where it joins no slots.
    fn corrects(&self) -> bool {
        self.rereads.as_ref().is_some_and(|rereads| rereads.corrects)
    }

    /// Pages that are programmed together, in ns. Where a program has two passes, the fine one of
    /// each word line comes as soon as it may, and at the end of the block at the latest.
    fn program_ns(&self, by: &Timing, mut pages: impl Iterator<Item = Ppn>) -> u64 {
        if let Some(passes) = by.passes {
            let page = pages.next().map_or(0, |slot| self.page_of(slot));
            let written = page / self.program_slots + 1;
            let is_last = written * self.program_slots * self.shared_by == self.block_pages;
            let fine = if is_last { written } else { written.saturating_sub(passes.lag) };
            let fine_before = (written - 1).saturating_sub(passes.lag);
            return passes.coarse_ns + u64::from(fine - fine_before) * passes.fine_ns;
        }
        let own_ns = |ppn| self.own_ns((ppn, by.program_ns));
        if self.failed.is_empty() {
            return pages.map(own_ns).max().unwrap_or(0);
        }
        self.tries_ns(pages, own_ns)
    }

    /// The flash pages of these slots, which are read one after the other where planes in step do
    /// not read them together, in ns.
    fn each_ns(&self, corrects: bool, slots: &[Ppn]) -> u64 {
        let together = slots.chunk_by(|a, b| a.0 / self.read_slots == b.0 / self.read_slots);
        together.map(|row| self.read_ns(&self.collection, corrects, row.iter().copied())).sum()
    }

    /// The summaries of the blocks that these pages fill, which are programmed together, in ns.
    fn summaries_ns(&self, by: &Timing, filled: Option<Ppn>) -> u64 {
        let (Some(summary), Some(ppn)) = (by.summary, filled) else { return 0 };
        let end = ppn.0 - ppn.0 % self.block_pages + self.block_pages;
        (end - summary.pages..end).map(|ppn| self.program_ns(by, std::iter::once(Ppn(ppn)))).sum()
    }

    /// Whether a program is full with this slot.
    fn ends_program(&self, slot: Ppn) -> bool {
        (slot.0 + 1).is_multiple_of(self.program_slots)
    }

    /// The time of the summaries where copies pay for them, in ns.
    fn summaries_of_copies_ns(&self, filled: Option<Ppn>) -> u64 {
        let by = &self.collection;
        let are_timed = by.summary.is_some_and(|summary| summary.timed_copies);
        self.summaries_ns(by, filled.filter(|_| are_timed))
    }

    /// Takes an event of the run; `fills` is whether a page was the last of its block.
    pub(super) fn observe(&mut self, now_ns: u64, happened: Happened, fills: bool, at: &Geometry) {
        let unit = |ppn: Ppn| at.unit_of_page(ppn);
        self.rereads.iter_mut().for_each(|rereads| rereads.observe(happened, at));
        self.observe_failures(happened, at);
        match happened {
            // The fill before took no time.
            Happened::MeasuringStarts => {
                self.lanes.fill(Lane::default());
                self.failed.clear();
            }
            Happened::Read { ppn, .. } => self.host(self.reader(ppn, at), ppn, false, false),
            Happened::Programmed {
                ppn,
                cause: Cause::Copy { from } | Cause::MoveAhead { from },
                ..
            } => {
                let lane = &mut self.lanes[unit(ppn).index()];
                lane.bound.push_back(Bound { from, to: ppn, fills });
            }
            Happened::Programmed { ppn, .. } => self.host(unit(ppn), ppn, true, fills),
            Happened::Padded { ppn, collects: false } => self.host(unit(ppn), ppn, true, fills),
            Happened::Padded { ppn, collects: true } => {
                let page = HostPage { ppn, programs: true, fills, pads: true };
                self.lanes[unit(ppn).index()].merged = vec![page];
            }
            Happened::InRegister { ppn } => {
                self.in_register([unit(ppn), self.reader(ppn, at)], ppn)
            }
            Happened::ReadOut { ppn, .. } => {
                let lane = &mut self.lanes[unit(ppn).index()];
                lane.read_out.push(ppn);
            }
            Happened::Kept { unit, copies } => {
                self.lanes[unit.index()].bound.drain(..copies as usize);
            }
            Happened::ReadGivenUp { unit } => self.lanes[unit.index()].gives_up(),
            Happened::Yields { unit, .. } => self.yields(now_ns, unit),
            Happened::GoesOn { unit, .. } => self.program_goes_on(now_ns, unit),
            Happened::BeginsBeside { unit, reads } => {
                assert!(
                    self.cache[usize::from(!reads)],
                    "unit {} has no such cache operation",
                    unit.0
                );
                self.lanes[unit.index()].beside = Some(reads);
            }
            Happened::Busy { what: What::Array, unit, from_ns, to_ns, gc } => {
                self.lanes[unit.index()].worked((from_ns, to_ns), gc);
            }
            Happened::Busy { what: What::Bus { .. }, unit, from_ns, to_ns, gc: false } => {
                self.answered(unit, (from_ns, to_ns));
            }
            Happened::Busy { what: What::Operation(name, copies), unit, gc, .. } => {
                match self.lanes[at.whole_unit(unit).index()].yielded.has_pages() {
                    true => self.works_meanwhile(now_ns, unit, (name, gc), at),
                    false => self.operation(now_ns, unit, (name, copies), at),
                }
            }
            _ => {}
        }
    }

    fn host(&mut self, unit: UnitId, ppn: Ppn, programs: bool, fills: bool) {
        let lane = &mut self.lanes[unit.index()];
        let pages = if lane.beside.is_some() { &mut lane.next } else { &mut lane.host };
        pages.push(HostPage { ppn, programs, fills, pads: false });
    }

    /// An operation has ended, or was suspended.
    fn operation(
        &mut self,
        now_ns: u64,
        unit: UnitId,
        (name, copies): (&'static str, u32),
        at: &Geometry,
    ) {
        let mut lane = std::mem::take(&mut self.lanes[unit.index()]);
        let is_host = matches!(name, "read" | "read-rest" | "program" | "flush");
        let seen_ns = std::mem::take(&mut lane.seen_ns[usize::from(!is_host)]);
        let (expected_ns, rounded) = match name {
            "poll" => (0, 0),
            "suspend" => {
                let (suspend_ns, resume_ns) =
                    self.timing.suspend.map_or((0, 0), |cost| (cost.suspend_ns, cost.resume_ns));
                lane.resumes_ns += resume_ns;
                let worked_ns = seen_ns.saturating_sub(suspend_ns);
                if worked_ns > 0 && !lane.read_out.is_empty() {
                    // A read in parallel with a transfer, suspended at the instant at which it got
                    // the unit.
                    let pages = std::mem::take(&mut lane.read_out);
                    let read_ns =
                        self.read_ns(&self.collection, self.corrects(), pages.into_iter());
                    let left_ns = read_ns.saturating_sub(worked_ns);
                    lane.left = Some((READ, left_ns));
                    (seen_ns, 0)
                } else {
                    (suspend_ns, 0)
                }
            }
            _ if is_host => {
                let of_plane = unit.index() >= self.units;
                if of_plane {
                    self.is_one_page(now_ns, &lane);
                }
                let of = if of_plane { &self.lanes[at.whole_unit(unit).index()] } else { &lane };
                self.reads_what_is_programmed(now_ns, &lane, of);
                let (ns, rounded) = self.host_ns(&mut lane);
                lane.takes_over();
                (ns + lane.yielded.ends(), rounded)
            }
            _ => self.job_ns(&mut lane, name, copies),
        };
        let suspends = self.timing.suspend.is_some() && matches!(name, READ | PROGRAM | ERASE);
        if suspends {
            lane.left_rounded_ns = rounded;
        }
        let left = Some((name, expected_ns.saturating_sub(seen_ns)));
        if suspends && seen_ns + rounded < expected_ns {
            lane.left = left;
        } else {
            // By the engine's rounding it may have at most the time left that rounding can move.
            // That stays so while the host is served.
            if suspends {
                lane.nearly = left.filter(|_| seen_ns < expected_ns + rounded);
            }
            if name == PROGRAM {
                lane.suspended.clear();
            }
            assert!(
                seen_ns.abs_diff(expected_ns) <= rounded,
                "at {now_ns} ns unit {} ended a {name} with {seen_ns} ns in the array, and its \
                 pages take {expected_ns} ns",
                unit.0
            );
        }
        self.lanes[unit.index()] = lane;
    }

    /// Array time of the host's operation, and by how much rounding may move it, in ns.
    fn host_ns(&self, lane: &mut Lane) -> (u64, u64) {
        let pages = std::mem::take(&mut lane.host);
        let filled = pages.iter().find(|page| page.fills).map(|page| page.ppn);
        // Slots that fill no program have waited in the controller.
        let is_last = |page: &&HostPage| page.programs && self.ends_program(page.ppn);
        let programs = pages.iter().any(|page| is_last(&page));
        let ppns =
            pages.iter().filter(|page| if programs { is_last(page) } else { !page.programs });
        let ppns = ppns.map(|page| page.ppn);
        let ns = match programs {
            true => self.program_ns(&self.timing, ppns),
            false => self.read_ns(&self.timing, true, ppns),
        };
        (
            ns + self.summaries_ns(&self.timing, filled),
            self.rounded(1 + filled.map_or(0, |_| self.summary_pages())),
        )
    }

    fn summary_pages(&self) -> u64 {
        self.timing.summary.map_or(0, |summary| summary.pages.into())
    }

    /// Each phase may be rounded the other way, where layers differ.
    fn rounded(&self, phases: u64) -> u64 {
        let reads = self.rereads.as_ref().map_or(1, Rereads::reads_max).max(self.most_programs);
        if self.layers.is_some() { phases * reads } else { 0 }
    }

    /// The time of an operation of a collection, and its rounding, in ns.
    fn job_ns(&mut self, lane: &mut Lane, name: &'static str, copies: u32) -> (u64, u64) {
        let nearly = lane.nearly.take().filter(|(of, _)| *of == name);
        if lane.left.is_none() && lane.only_goes_on(name, copies) {
            lane.left = nearly;
        }
        let resumes_ns = std::mem::take(&mut lane.resumes_ns);
        if let Some((of, left_ns)) = lane.left.take() {
            assert_eq!(of, name, "an operation was suspended, and another went on");
            let phases = if name == ERASE { 0 } else { 1 + self.summary_pages() };
            return (left_ns + resumes_ns, self.rounded(phases).max(lane.left_rounded_ns));
        }
        let first = |lane: &mut Lane, count: u32| -> Vec<Bound> {
            lane.bound.drain(..count as usize).collect()
        };
        let (ns, phases) = match name {
            ERASE => {
                lane.last_read = None;
                (self.erase_ns(lane), 0)
            }
            READ if self.program_slots > 1 => {
                let pages = std::mem::take(&mut lane.read_out);
                let phases = pages.len() as u64;
                (self.each_ns(true, &pages), phases)
            }
            READ_OUT if self.program_slots > 1 => {
                let pages = std::mem::take(&mut lane.read_out);
                (self.read_ns(&self.collection, true, pages.into_iter()), 1)
            }
            READ | READ_OUT => {
                let pages = std::mem::take(&mut lane.read_out);
                let corrects = self.corrects() || name == READ_OUT;
                (self.read_ns(&self.collection, corrects, pages.into_iter()), 1)
            }
            PROGRAM => {
                let copies = self.of_full_program(&first(lane, copies));
                self.program_register_ns(lane, &copies)
            }
            "program-copy" if self.program_slots > 1 => {
                // The controller joined them, of any number of units.
                let full = lane.bound.iter().position(|copy| self.ends_program(copy.to));
                let copies = first(lane, full.map_or(0, |last| last as u32 + 1));
                self.renew(&copies);
                self.register_ns(&self.of_full_program(&copies), &[])
            }
            "program-copy" => self.register_ns(&first(lane, 1), &[]),
            "copy" if self.program_slots > 1 => {
                let copies = first(lane, copies);
                self.joined_ns(&mut lane.last_read, &copies)
            }
            "copy" => self.step_ns(&first(lane, copies)),
            "collection" => {
                let (ns, phases) = self.all_ns(&lane.bound.drain(..).collect::<Vec<_>>());
                (ns + self.erase_ns(lane), phases)
            }
            // A background task has names of its own: a copy, or a read.
            _ => {
                let pages = std::mem::take(&mut lane.read_out);
                match lane.bound.pop_front() {
                    Some(copy) => self.step_ns(&[copy]),
                    None => {
                        let pages = pages.into_iter();
                        (self.read_ns(&self.collection, self.corrects(), pages), 1)
                    }
                }
            }
        };
        (ns + resumes_ns, self.rounded(phases))
    }

    /// Copies that are read and programmed together.
    fn step_ns(&self, copies: &[Bound]) -> (u64, u64) {
        let (ns, phases) = self.register_ns(copies, &[]);
        let from = copies.iter().map(|copy| copy.from);
        (self.read_ns(&self.collection, self.corrects(), from) + ns, 1 + phases)
    }
}
