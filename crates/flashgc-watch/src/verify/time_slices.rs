//! The checker's own account of how long the host waits for a collection with time slices.
//!
//! A request that waits at a unit while its planes are above the floor is served after one time
//! slice: the operations of a collection that directly precede it, counted from when it was queued,
//! take no longer than a time slice and one step more. A step is an erase, or a whole copy: its
//! read and its program are two operations, and no time slice ends between them.

use super::{Cause, Happened, What};
use flashgc_model::device::Geometry;
use flashgc_model::gc::{Space, Suspends, TimeSlices};
use flashgc_model::ids::{BlockId, PlaneId, UnitId};
use flashgc_model::plan::Plan;

/// The operations of a unit for its collection, without a pause.
#[derive(Clone, Copy, Default)]
struct Run {
    since_ns: u64,
    end_ns: u64,
    /// The start of the step under way, in ns.
    step_since_ns: u64,
    /// Whether the step continues after the operation that ended last.
    in_step: bool,
    /// The longest of its steps, in ns.
    longest_ns: u64,
    /// The end of the last operation below the floor, in ns.
    below_until_ns: u64,
    /// The end of the last operation while [writes waited for space](Kept), which may be above the
    /// floor, in ns.
    full_until_ns: u64,
}

/// With no more erased space than this in a plane, a write waits for the end of the collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Kept {
    /// With several classes of copies: pages that the host leaves to an open collection.
    pages: u32,
    /// Under the odd/even rule: the remaining pages to copy may all be of one kind, so that they
    /// need twice the number of blocks, and one of these is open.
    blocks: u32,
}

/// The time slices of all units, and the erased space of the planes.
pub(super) struct Slices {
    rules: TimeSlices,
    units: Vec<Run>,
    queued_ns: Vec<u64>,
    /// The operation of the host that began last.
    last_started: u32,
    free_blocks: Vec<u32>,
    free_pages: Vec<u32>,
    kept: Kept,
}

/// The rules of a plan whose collections have time slices, and where nothing else makes requests
/// wait for them.
pub(super) fn promised(plan: &Plan) -> Option<(TimeSlices, Kept)> {
    let gc = &plan.gc;
    let suspends = gc.preemption.is_some_and(|preemption| preemption.suspends != Suspends::Nothing);
    let others = gc.trigger.hard.is_some() || gc.blocking.blocks || gc.sub_blocks.is_some();
    let rules = gc.time_slices.filter(|_| !suspends && !others && !gc.copy.is_global());
    let blocks = if gc.copy.parity() { 2 * gc.reserve_blocks + 1 } else { 0 };
    // Where the copies of a victim may go to any class, they may find no space in the open blocks
    // of all others, so that a write may wait with many erased pages.
    let is_any = gc.which_take_copies().is_none();
    let pages = if is_any { u32::MAX } else { pages_left_to_copies(plan) };
    let floor = |rules: TimeSlices| match rules.floor {
        // Erased blocks that are kept for classes are none to spare.
        Space::Blocks(blocks) => Space::Blocks(blocks + gc.always_open()),
        floor @ Space::Pages(_) => floor,
    };
    rules.map(|rules| (TimeSlices { floor: floor(rules), ..rules }, Kept { pages, blocks }))
}

/// Where copies have classes of their own: the reserve, the pages in open blocks of the host's
/// classes, which no copy can use, and the rest of a program of the host.
fn pages_left_to_copies(plan: &Plan) -> u32 {
    let (gc, shape) = (&plan.gc, &plan.geometry.shape);
    if gc.reserve_pages == 0 {
        return 0;
    }
    let copies = gc.which_take_copies().map_or(0, |classes| classes.len() as u32);
    let of_host = gc.classes() - copies;
    gc.reserve_pages + of_host * (shape.data_pages() - 1) + shape.program_slots - 1
}

impl Slices {
    /// Nothing was done yet.
    pub(super) fn new(geometry: &Geometry, (rules, kept): (TimeSlices, Kept)) -> Self {
        let planes = geometry.planes as usize;
        Slices {
            rules,
            units: vec![Run::default(); geometry.units as usize],
            queued_ns: Vec::new(),
            last_started: 0,
            free_blocks: vec![0; planes],
            free_pages: vec![0; planes],
            kept,
        }
    }

    /// Takes an event of the run, on a drive with these numbers of pages written in each block.
    pub(super) fn observe(
        &mut self,
        geometry: &Geometry,
        programmed: &[u32],
        now_ns: u64,
        happened: Happened,
    ) {
        let plane_of = |block: BlockId| geometry.plane_of_block(block);
        match happened {
            Happened::MeasuringStarts => self.begin(geometry, programmed),
            Happened::Queued { op, .. } => self.queued(now_ns, op),
            Happened::Started { op, .. } => self.last_started = op,
            Happened::Read { ppn, .. } => {
                let unit = geometry.unit_of(geometry.plane_of(ppn));
                self.started(now_ns, self.last_started, unit, false);
            }
            Happened::Programmed { ppn, cause, .. } => {
                let plane = geometry.plane_of(ppn);
                let pages = &mut self.free_pages[plane.index()];
                *pages = pages.saturating_sub(1);
                if let Cause::Host { op } = cause {
                    self.started(now_ns, op, geometry.unit_of(plane), true);
                }
            }
            Happened::ProgramFailed(ppn) => {
                let (block, at) = geometry.block_and_page(ppn);
                let lost = geometry.data_pages_of(block) - at;
                let pages = &mut self.free_pages[plane_of(block).index()];
                *pages = pages.saturating_sub(lost);
            }
            Happened::Opened { block } => {
                let blocks = &mut self.free_blocks[plane_of(block).index()];
                *blocks = blocks.saturating_sub(1);
            }
            Happened::Erased { block } => {
                self.free_blocks[plane_of(block).index()] += 1;
                self.free_pages[plane_of(block).index()] += geometry.data_pages_of(block);
            }
            Happened::Busy { what: What::Operation(name, _), unit, from_ns, to_ns, gc: true } => {
                let goes_on = matches!(name, "copy-read" | "poll");
                self.worked(geometry, unit, (from_ns, to_ns), goes_on);
            }
            _ => {}
        }
    }

    fn begin(&mut self, geometry: &Geometry, programmed: &[u32]) {
        self.free_blocks.fill(0);
        self.free_pages.fill(0);
        for (at, &written) in programmed.iter().enumerate() {
            let block = BlockId(at as u32);
            let plane = geometry.plane_of_block(block).index();
            self.free_blocks[plane] += u32::from(written == 0);
            self.free_pages[plane] += geometry.data_pages_of(block) - written;
        }
    }

    /// An operation of the host waits.
    fn queued(&mut self, now_ns: u64, op: u32) {
        let at = op as usize;
        if self.queued_ns.len() <= at {
            self.queued_ns.resize(at + 1, 0);
        }
        self.queued_ns[at] = now_ns;
    }

    /// A unit worked for its collection: an operation with which a step ends, or continues.
    fn worked(&mut self, geometry: &Geometry, unit: UnitId, span: (u64, u64), goes_on: bool) {
        let is_short = |&plane: &PlaneId| {
            let at = plane.index();
            match self.rules.floor {
                Space::Blocks(blocks) => self.free_blocks[at] < blocks,
                Space::Pages(pages) => self.free_pages[at] < pages,
            }
        };
        let is_below = geometry.planes_of(unit).iter().any(is_short);
        let is_full = |&plane: &PlaneId| {
            let (Kept { pages, blocks }, at) = (self.kept, plane.index());
            pages > 0 && self.free_pages[at] <= pages
                || blocks > 0 && self.free_blocks[at] <= blocks
        };
        let is_full = geometry.planes_of(unit).iter().any(is_full);
        let (from_ns, to_ns) = span;
        let run = &mut self.units[unit.index()];
        if run.end_ns != from_ns {
            let Run { below_until_ns, full_until_ns, .. } = *run;
            *run = Run { since_ns: from_ns, below_until_ns, full_until_ns, ..Run::default() };
        }
        run.end_ns = to_ns;
        if !run.in_step {
            run.step_since_ns = from_ns;
        }
        run.in_step = goes_on;
        run.longest_ns = run.longest_ns.max(to_ns - run.step_since_ns);
        if is_below {
            run.below_until_ns = to_ns;
        }
        if is_full {
            run.full_until_ns = to_ns;
        }
    }

    /// An operation of the host begins: checks how long it waited for the collection just before.
    fn started(&self, now_ns: u64, op: u32, unit: UnitId, is_write: bool) {
        let run = self.units[unit.index()];
        if run.end_ns != now_ns {
            return;
        }
        let queued_ns = self.queued_ns.get(op as usize).copied().unwrap_or(0);
        let since_ns = run.since_ns.max(queued_ns).max(run.below_until_ns);
        let since_ns = since_ns.max(if is_write { run.full_until_ns } else { 0 });
        let stall_ns = now_ns.saturating_sub(since_ns);
        assert!(
            stall_ns <= self.rules.length_ns + run.longest_ns,
            "at {now_ns} ns an operation of the host had waited {stall_ns} ns for a job above its \
             floor, whose turns take {} ns",
            self.rules.length_ns
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashgc_model::device::{Level, Shape};

    fn turns(floor: u32) -> (Geometry, Slices) {
        let geometry = Geometry::new(Shape::small(Level::Die));
        let rules = TimeSlices {
            length_ns: 1_000,
            floor: Space::Blocks(floor),
            per_gap: 1,
            extra_blocks: 0,
        };
        let mut turns = Slices::new(&geometry, (rules, Kept::default()));
        turns.begin(&geometry, &vec![0; geometry.blocks as usize]);
        (geometry, turns)
    }

    #[test]
    fn a_request_waits_for_one_turn_and_an_operation() {
        let (geometry, mut turns) = turns(2);
        turns.queued(0, 7);
        turns.worked(&geometry, UnitId(0), (0, 600), false);
        turns.worked(&geometry, UnitId(0), (600, 1_600), false);
        turns.started(1_600, 7, UnitId(0), true);
        // On another unit nothing went before.
        turns.started(1_600, 7, UnitId(1), true);
    }

    #[test]
    #[should_panic(expected = "had waited 2100 ns for a job above its floor")]
    fn a_request_that_waits_for_longer_is_noticed() {
        let (geometry, mut turns) = turns(2);
        turns.queued(0, 7);
        for from_ns in [0, 700, 1_400] {
            turns.worked(&geometry, UnitId(0), (from_ns, from_ns + 700), false);
        }
        turns.started(2_100, 7, UnitId(0), true);
    }

    /// At the reserve a write waits for space, and a read for one time slice.
    #[test]
    fn a_write_waits_for_space_at_the_reserve_in_pages() {
        let (geometry, mut turns) = turns(0);
        turns.kept.pages = u32::MAX;
        turns.queued(0, 7);
        for from_ns in [0, 700, 1_400] {
            turns.worked(&geometry, UnitId(0), (from_ns, from_ns + 700), false);
        }
        turns.started(2_100, 7, UnitId(0), true);
    }

    /// Under the odd/even rule a write waits with three erased blocks, where copies have one.
    #[test]
    fn a_write_waits_for_both_kinds_of_pages() {
        for (blocks, op) in [(3, 7), (4, 8)] {
            let (geometry, mut turns) = turns(0);
            turns.kept.blocks = 3;
            turns.free_blocks.fill(blocks);
            turns.queued(0, op);
            for from_ns in [0, 700, 1_400] {
                turns.worked(&geometry, UnitId(0), (from_ns, from_ns + 700), false);
            }
            assert_eq!(turns.units[0].full_until_ns, if blocks == 3 { 2_100 } else { 0 });
        }
    }

    #[test]
    #[should_panic(expected = "had waited 2100 ns for a job above its floor")]
    fn a_read_waits_for_one_turn_at_the_reserve() {
        let (geometry, mut turns) = turns(0);
        turns.kept.pages = u32::MAX;
        turns.queued(0, 7);
        for from_ns in [0, 700, 1_400] {
            turns.worked(&geometry, UnitId(0), (from_ns, from_ns + 700), false);
        }
        turns.started(2_100, 7, UnitId(0), false);
    }

    /// A time slice of 1,000 ns and a copy of 300 and 900 ns: the copy does not end between its
    /// two.
    #[test]
    fn a_whole_copy_is_one_step() {
        let (geometry, mut turns) = turns(2);
        turns.queued(0, 7);
        turns.worked(&geometry, UnitId(0), (0, 1_000), false);
        turns.worked(&geometry, UnitId(0), (1_000, 1_300), true);
        turns.worked(&geometry, UnitId(0), (1_300, 2_200), false);
        turns.started(2_200, 7, UnitId(0), true);
    }

    #[test]
    #[should_panic(expected = "had waited 2400 ns for a job above its floor")]
    fn two_copies_are_two_steps() {
        let (geometry, mut turns) = turns(2);
        turns.queued(0, 7);
        for from_ns in [0, 1_200] {
            turns.worked(&geometry, UnitId(0), (from_ns, from_ns + 300), true);
            turns.worked(&geometry, UnitId(0), (from_ns + 300, from_ns + 1_200), false);
        }
        turns.started(2_400, 7, UnitId(0), true);
    }

    #[test]
    fn below_the_floor_nothing_is_promised() {
        let (geometry, mut turns) = turns(4);
        let pages = vec![0; geometry.blocks as usize];
        turns.observe(&geometry, &pages, 0, Happened::Opened { block: BlockId(0) });
        turns.queued(0, 7);
        for from_ns in [0, 700, 1_400] {
            turns.worked(&geometry, UnitId(0), (from_ns, from_ns + 700), false);
        }
        turns.started(2_100, 7, UnitId(0), true);
    }
}
