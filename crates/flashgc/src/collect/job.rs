//! A `Job`: one collection, from the choice of its victim to the end of its erase.

use super::timetable::Unseen;
use crate::device::Geometry;
use crate::flash::Prices;
use crate::gc::{Copy, GcPlan, Victim};
use crate::ids::{PlaneId, Ppn};
use crate::operation::Riders;
use crate::plan::Plan;
use std::ops::Range;

/// The progress of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Stage {
    /// No collection is open.
    #[default]
    Closed,
    /// All copies and the erase run as one operation.
    Whole,
    /// Pages are being moved, step by step.
    Copying,
    /// All copies that are left run one after the other, unseen.
    Unseen,
    /// The pages of a step were read, and are being programmed in other units.
    Sending,
    /// The pages of a step are being read into their registers, where requests may preempt and a
    /// step is two operations.
    Reading,
    /// They are in the registers: point A.
    Buffered,
    /// They are being programmed.
    Programming,
    /// The victim is being erased.
    Erasing,
    /// The pages of the victim in this unit have moved, and not those in every other one.
    Moved,
    /// The part of the victim in this unit is erased, and not that in every other one.
    Erased,
}

/// The collection of one unit.
#[derive(Clone, Debug, Default)]
pub struct Job {
    pub(super) stage: Stage,
    /// The plane that is collected.
    pub(super) plane: Option<PlaneId>,
    /// The blocks that will be erased, all at once; then their neighbours.
    pub(super) victims: Vec<Victim>,
    /// Whether the list of pages was fixed at the start, since nothing may interrupt.
    pub(super) fixed: bool,
    /// The pages to move, in order.
    pub(super) copies: Vec<Copy>,
    /// Where each list but the last ends: a step of several copies takes them from one list.
    pub(super) lists: Vec<usize>,
    /// The copies that filled a block, by their place in the list.
    pub(super) fills: Vec<u32>,
    /// Of a collection whose pages are fixed: the time of failed programs of a step, in ns, by the
    /// place where it ends.
    pub(super) failed: Vec<(usize, u64)>,
    /// The first copy that no step has taken yet.
    pub(super) next: usize,
    pub(super) step: Step,
    /// Where programs join slots.
    pub(super) joining: Joining,
    /// The copies that run unseen.
    pub(super) unseen: Unseen,
    /// The copy before which they end.
    pub(super) unseen_until: usize,
    /// Copies of pages that the host rewrote or trimmed and that may not have ended yet, by their
    /// place in the list.
    pub(super) wasted_open: Vec<u32>,
    pub(super) record: Record,
    pub(super) batch: OpenBatch,
}

/// The step under way: copies that are read together and programmed together.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    /// The copies, by their place in the list.
    pub(super) copies: Vec<usize>,
    /// Programs with which the step ends: the controller keeps slots that fill none.
    pub(super) programs: u32,
    /// Whether the program under way is that of copies made before, padded.
    pub(super) pads: bool,
    /// Where programs join pages and requests may preempt: the last page of the program under way,
    /// or of the last one.
    pub(super) joined: Option<Ppn>,
    /// Copies that other units have not programmed yet.
    pub(super) sent: u32,
    /// Writes of the host that were merged into it.
    pub(super) riders: Riders,
    /// Whether its pages were read in parallel with a transfer of the host.
    pub(super) read_ahead: bool,
    /// Whether the controller corrects the pages that were read last.
    pub(super) corrects: bool,
}

/// The copies of a collection whose programs join slots.
#[derive(Clone, Debug, Default)]
pub(super) struct Joining {
    /// Where the copies of whole programs end, which move without the controller.
    pub(super) whole_until: usize,
    /// The first of the other copies that no step has taken yet.
    pub(super) loose: usize,
    /// Where the copies end that the controller has or had; the same before the step under way.
    pub(super) read_until: usize,
    pub(super) read_from: usize,
    /// The slots that are read for the step under way, and in how many array reads.
    pub(super) read: Vec<Ppn>,
    pub(super) read_pages: u32,
    /// The classes of the first copies, where they are asked before their pages are taken.
    pub(super) requested: Vec<u8>,
}

/// When a collection began, and its work until now.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    /// When the victim was chosen, in ns.
    pub(super) selected_ns: u64,
    /// Valid pages of the victims at that time.
    pub(super) valid_at_selection: u32,
    /// Erased pages of the plane at that time.
    pub(super) free_pages_at_selection: u32,
    /// Steps that ended.
    pub(super) steps: u32,
    /// Time in which an array worked for this collection, in ns.
    pub(super) busy_ns: u64,
    /// Steps whose pages were read, where reads and programs are separate; flash pages that were
    /// read, where they hold several slots.
    pub(super) reads: u32,
    /// Programs with merged host writes only.
    pub(super) merged_programs: u32,
    /// Array time of suspending, resuming and of reads that were discarded, in ns.
    pub(super) extra_ns: u64,
    /// Copies that ended.
    pub(super) moved: u32,
    /// Copies of pages that the host rewrote or trimmed before they ended.
    pub(super) wasted: u32,
}

/// The batch of which a collection is a part.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenBatch {
    /// Blocks that it may still collect, those of the present collection included.
    pub(super) left: u32,
    /// When blocking of the host began, in ns: earlier than the choice of later victims.
    pub(super) blocking_since_ns: u64,
    /// Pages that the host's open block had when the batch began, where copies go there too and
    /// single blocks are blocked.
    pub(super) closed_pages: Range<u32>,
}

impl Joining {
    /// Another collection begins.
    pub(super) fn restart(&mut self) {
        (self.whole_until, self.loose, self.read_until, self.read_pages) = (0, 0, 0, 1);
        self.requested.clear();
    }
}

impl Job {
    /// The part of a unit in a collection of this plane that another unit has begun.
    pub(super) fn part_of(plane: PlaneId, now_ns: u64) -> Self {
        let step = Step { programs: 1, ..Step::default() };
        let record = Record { selected_ns: now_ns, ..Record::default() };
        Job { stage: Stage::Copying, plane: Some(plane), step, record, ..Job::default() }
    }

    /// How far it is.
    #[inline(always)]
    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// The plane that is collected, or was collected last.
    #[inline(always)]
    pub fn plane(&self) -> Option<PlaneId> {
        self.plane
    }

    /// Whether this plane is being collected.
    #[inline(always)]
    pub fn collects(&self, plane: PlaneId) -> bool {
        self.is_open() && self.plane == Some(plane)
    }

    /// The blocks that will be erased, all at once; then their neighbours.
    #[inline(always)]
    pub fn victims(&self) -> &[Victim] {
        &self.victims
    }

    /// When the victim was chosen, in ns.
    pub fn selected_ns(&self) -> u64 {
        self.record.selected_ns
    }

    /// Valid pages of the victims at that time.
    pub fn valid_at_selection(&self) -> u64 {
        u64::from(self.record.valid_at_selection)
    }

    /// The pages to move, as they were listed.
    pub fn listed(&self) -> u64 {
        self.copies.len() as u64
    }

    /// Copies that ended.
    pub fn moved(&self) -> u32 {
        self.record.moved
    }

    /// Copies of the step under way.
    pub fn copies_of_step(&self) -> u32 {
        self.step.copies.len() as u32
    }

    /// Copies that have not taken their page, as far as pages of the list were valid.
    pub fn copies_left(&self) -> u64 {
        let is_read = matches!(self.stage, Stage::Reading | Stage::Buffered | Stage::Sending);
        let of_step = if is_read { self.step.copies.len() } else { 0 };
        (self.copies.len() - self.next + of_step) as u64
    }

    /// Whether the pages in the register were read in parallel with a transfer of the host.
    pub fn has_read_ahead(&self) -> bool {
        self.step.read_ahead
    }

    /// Whether a page lies in the open block of the host, as far as the collection closes it.
    pub fn closes_of_open_block(&self, page: Ppn) -> bool {
        self.batch.closed_pages.contains(&page.0)
    }

    /// The batch ends with this collection.
    pub fn ends_batch(&mut self) {
        self.batch.left = 1;
    }

    /// Its operation was suspended, or continues: this much array time is spent on that, in ns.
    pub fn switched(&mut self, ns: u64) {
        self.record.extra_ns += ns;
    }

    /// Whether a collection is open.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.stage != Stage::Closed
    }

    /// Whether the unit has a collection with copies to make: a part may have none left before the
    /// others.
    #[inline(always)]
    pub fn is_moving(&self) -> bool {
        !matches!(self.stage, Stage::Closed | Stage::Moved | Stage::Erased)
    }

    /// Whether a collection is open that this unit has begun: not only a part of one.
    pub fn is_its_own(&self) -> bool {
        self.is_open() && !self.victims.is_empty()
    }

    /// A write of the host is merged into the step under way: it was bound at the register, in this
    /// page where that matters for the price, and may have filled a block.
    pub fn merges(&mut self, op: u32, page: Option<Ppn>, has_filled: bool) {
        self.step.riders.ops.push(op);
        self.step.riders.pages.extend(page);
        self.step.riders.fills += u32::from(has_filled);
    }

    /// Whether there are writes in the step under way.
    pub fn has_merged(&self) -> bool {
        !self.step.riders.ops.is_empty()
    }

    /// The writes that were merged into a step which has ended.
    pub fn take_riders(&mut self) -> Riders {
        std::mem::take(&mut self.step.riders)
    }

    /// Whether it is open and has not come to its erase.
    pub fn moves_pages(&self) -> bool {
        !matches!(self.stage, Stage::Closed | Stage::Erasing)
    }

    /// Whether its copies run unseen.
    #[inline(always)]
    pub fn is_unseen(&self) -> bool {
        self.stage == Stage::Unseen
    }

    /// Where the step ends that begins with this copy: `at_once` copies at most, all of one list.
    pub fn step_end(&self, first: usize, at_once: u32) -> usize {
        self.list_end(first).min(first + at_once as usize)
    }

    /// The end of the list that this copy belongs to.
    pub fn list_end(&self, copy: usize) -> usize {
        let end = self.lists.iter().copied().find(|&end| end > copy);
        end.unwrap_or(self.copies.len())
    }

    /// The ends of the steps of a collection whose pages are fixed.
    pub fn step_ends(&self, at_once: u32) -> impl Iterator<Item = usize> + '_ {
        let first = self.step_end(0, at_once);
        let ends = std::iter::successors(Some(first), move |&end| {
            (end < self.copies.len()).then(|| self.step_end(end, at_once))
        });
        ends.take_while(|&end| end > 0)
    }

    /// The pages of the next step: those of one list that are still valid, in order.
    pub fn next_pages(
        &self,
        at_once: u32,
        is_valid: impl Fn(Ppn) -> bool + Clone,
    ) -> impl Iterator<Item = Ppn> {
        let from = |at: usize| self.copies[at].from;
        let is_fit = move |&at: &usize| is_valid(from(at));
        let first = (self.next..self.copies.len()).find(is_fit.clone());
        let list = first.map_or(0..0, |first| first..self.list_end(first));
        list.filter(is_fit).take(at_once as usize).map(from)
    }

    /// A page that no step has taken yet goes next. Returns whether there is one, in the list that
    /// is being moved.
    pub fn bring_forward(&mut self, from: Ppn) -> bool {
        let next = self.next;
        let end = if next < self.copies.len() { self.list_end(next) } else { return false };
        let found = self.copies[next..end].iter().position(|copy| copy.from == from);
        if let Some(at) = found {
            self.copies.swap(next, next + at);
        }
        found.is_some()
    }

    /// Whether a page is one of the step under way, and so in the register.
    #[inline]
    pub fn has_in_register(&self, page: Ppn, plan: &Plan) -> bool {
        match self.stage {
            Stage::Programming => self.is_programming(page, plan),
            _ => self.step_pages().any(|copy| copy.from == page),
        }
    }

    /// Whether the program under way must end before the array can read a page: it is a page of the
    /// step, or one that was there before and is joined with them, or has its fine pass with them.
    #[inline]
    pub fn is_programming(&self, page: Ppn, plan: &Plan) -> bool {
        self.stage == Stage::Programming && self.step_programs(page, plan)
    }

    fn step_programs(&self, page: Ppn, plan: &Plan) -> bool {
        let (geometry, slots) = (&plan.geometry, plan.geometry.shape.program_slots);
        let lag = plan.timing.passes.map_or(0, |passes| passes.lag);
        let is_joined = |last: Ppn| {
            page <= last
                && geometry.block_of(page) == geometry.block_of(last)
                && last.0 / slots - page.0 / slots <= lag
        };
        self.step_pages().any(|copy| copy.to == page) || self.step.joined.is_some_and(is_joined)
    }

    /// Whether a page lies in a block that the collection closes where single blocks are blocked: a
    /// victim, or the destination of the last copy. A page that the collection itself has moved is
    /// open (docs/schemes/bbgc.md#the-two-closed-blocks).
    pub fn closes(&self, page: Ppn, gc: &GcPlan, geometry: &Geometry) -> bool {
        if !self.is_open() {
            return false;
        }
        let block = geometry.block_of(page);
        if self.victims.iter().any(|victim| victim.block == block) {
            return true;
        }
        if gc.closes_open_block() {
            return self.batch.closed_pages.contains(&page.0);
        }
        let mut made = self.copies[..self.next].iter().rev().map(|copy| copy.to);
        let destination = made.find(|to| to.is_some()).map(|to| geometry.block_of(to));
        destination == Some(block) && !self.copies.iter().any(|copy| copy.to == page)
    }

    /// The host rewrote or trimmed the page of a copy that is under way.
    pub fn waste(&mut self, copy: usize) {
        self.record.wasted += 1;
        self.wasted_open.push(copy as u32);
    }

    /// The copy of the step under way that goes to this page of another unit, by its place in the
    /// list.
    pub(super) fn sent_to(&self, page: Ppn) -> Option<usize> {
        let mut step = self.step.copies.iter().copied();
        step.find(|&at| self.stage == Stage::Sending && self.copies[at].to == page)
    }

    /// The copies of the step under way.
    pub fn step_pages(&self) -> impl DoubleEndedIterator<Item = Copy> + Clone + '_ {
        self.step.copies.iter().map(|&at| self.copies[at])
    }

    /// The page of a copy, and its class where that was asked.
    #[inline(always)]
    pub(super) fn to_copy(&self, copy: usize) -> (Ppn, Option<u8>) {
        (self.copies[copy].from, self.joining.requested.get(copy).copied())
    }

    /// How many copies of the step under way filled a block.
    #[inline]
    pub fn fills_of_step(&self) -> u32 {
        self.step.copies.iter().filter(|&&at| self.fills_with(at)).count() as u32
    }

    /// Whether the copy at this place filled a block.
    #[inline]
    pub fn fills_with(&self, at: usize) -> bool {
        self.fills.contains(&(at as u32))
    }

    /// Array time of all copies of a collection whose pages are fixed, in ns.
    pub(super) fn copies_ns(&self, prices: &Prices, at_once: u32) -> u64 {
        if !prices.needs_pages() {
            return u64::from(self.record.steps) * step_ns(prices, &[]);
        }
        let mut first = 0;
        let mut sum_ns = 0;
        for end in self.step_ends(at_once) {
            sum_ns += self.step_ns(prices, first, end);
            first = end;
        }
        sum_ns
    }

    /// How many copies a collection whose pages are fixed has made by now.
    pub(super) fn copies_made(&self, prices: &Prices, at_once: u32, now_ns: u64) -> usize {
        let mut left_ns = now_ns - self.record.selected_ns;
        let mut made = 0;
        for end in self.step_ends(at_once) {
            let ns = self.step_ns(prices, made, end);
            if left_ns < ns {
                break;
            }
            left_ns -= ns;
            made = end;
        }
        made
    }
}

impl Job {
    /// Array time of the copies of a step, with the failed programs before them, in ns.
    fn step_ns(&self, prices: &Prices, first: usize, end: usize) -> u64 {
        let again = self.failed.iter().find(|&&(at, _)| at == end);
        step_ns(prices, &self.copies[first..end]) + again.map_or(0, |&(_, ns)| ns)
    }
}

/// Array time of copies that move together, in ns.
fn step_ns(prices: &Prices, copies: &[Copy]) -> u64 {
    prices.copies_ns(copies.iter().map(|copy| (copy.from, copy.to)))
}
