//! A `Job`: one collection, from the choice of its victim to the end of its erase.

use super::timetable::{Progress, Unseen};
use crate::device::Geometry;
use crate::flash::Prices;
use crate::gc::{Copy, GcPlan, Victim};
use crate::ids::{PlaneId, Ppn};
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
    /// How far it is.
    pub stage: Stage,
    /// The plane that is collected.
    pub plane: Option<PlaneId>,
    /// The blocks that will be erased, all at once; then their neighbours.
    pub victims: Vec<Victim>,
    /// When the victim was chosen, in ns.
    pub selected_ns: u64,
    /// When blocking of the host began, in ns: earlier than the choice inside a batch.
    pub blocking_since_ns: u64,
    /// Valid pages of the victims when they were chosen.
    pub valid_at_selection: u32,
    /// Erased pages of the plane when the victim was chosen.
    pub free_pages_at_selection: u32,
    /// Whether the list of pages was fixed at the start, since nothing may interrupt.
    pub fixed: bool,
    /// The pages to move, in order.
    pub copies: Vec<Copy>,
    /// Where each list but the last ends: a step of several copies takes them from one list.
    pub lists: Vec<usize>,
    /// The copies that filled a block, by their place in the list.
    pub fills: Vec<u32>,
    /// The first copy that no step has taken yet.
    pub next: usize,
    /// Where the copies of whole programs end, which move without the controller.
    pub(super) whole_until: usize,
    /// The first of the other copies that no step has taken yet.
    pub(super) loose: usize,
    /// Where the copies end that the controller has or had, where it joins slots; the same before
    /// the step under way, and the slots that are read for it, of this number of array reads.
    pub(super) read_until: usize,
    pub(super) read_from: usize,
    pub(super) read: Vec<Ppn>,
    pub(super) read_pages: u32,
    /// The classes of the first copies, where they are asked before their pages are taken.
    pub(super) asked: Vec<u8>,
    /// Of a collection whose pages are fixed: the time of failed programs of a step, in ns, by the
    /// place where it ends.
    pub(super) failed: Vec<(usize, u64)>,
    /// The copies of the step under way, by their place in `copies`.
    pub step: Vec<usize>,
    /// Programs with which the step ends: the controller keeps slots that fill none.
    pub(super) programs: u32,
    /// Whether the program under way is that of copies made before, padded.
    pub(super) pads: bool,
    /// Where programs join pages and requests may preempt: the last page of the program under way,
    /// or of the last one.
    pub(super) joined: Option<Ppn>,
    /// Copies of the step that other units have not programmed yet.
    pub sent: u32,
    /// Steps that ended.
    pub steps: u32,
    /// Time in which an array worked for this collection, in ns.
    pub busy_ns: u64,
    /// Steps whose pages were read, where reads and programs are separate; flash pages that were
    /// read, where they hold several slots.
    pub reads: u32,
    /// Programs with merged host writes only.
    pub merged_programs: u32,
    /// Array time of suspending, resuming and of reads that were discarded, in ns.
    pub extra_ns: u64,
    /// Host writes that were merged into the step under way.
    pub merged: Vec<u32>,
    /// Blocks that they fill.
    pub host_fills: u32,
    /// Pages of the host that were bound at the register: merged, or loaded in parallel with a
    /// program. Only where pages matter for the price.
    pub host_pages: Vec<Ppn>,
    /// Whether the pages in the register were read in parallel with a transfer of the host.
    pub read_ahead: bool,
    /// Whether the controller corrects the pages that were read last.
    pub(super) corrects: bool,
    /// The copies that run unseen.
    pub(super) unseen: Unseen,
    /// The copy before which they end.
    pub(super) unseen_until: usize,
    /// Copies that ended.
    pub moved: u32,
    /// Copies of pages that the host rewrote or trimmed before they ended.
    pub wasted: u32,
    /// Those of them that may not have ended yet, by their place in the list.
    pub wasted_open: Vec<u32>,
    /// Blocks that the present batch may still collect, this one included.
    pub batch_left: u32,
    /// Pages that the host's open block had when the batch began, where copies go there too and
    /// single blocks are blocked.
    pub closed_pages: Range<u32>,
}

impl Job {
    /// Whether a collection is open.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.stage != Stage::Closed
    }

    /// Whether a collection is open that this unit has begun: not only a part of one.
    pub fn is_its_own(&self) -> bool {
        self.is_open() && !self.victims.is_empty()
    }

    /// Whether its copies run unseen.
    #[inline(always)]
    pub fn is_unseen(&self) -> bool {
        self.stage == Stage::Unseen
    }

    /// What its unseen copies have done by now (see [`Unseen::by`]).
    pub fn unseen_by(&self, now_ns: u64, is_behind: bool) -> Progress {
        self.unseen.by(now_ns, is_behind)
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
    pub fn has_in_register(&self, page: Ppn, plan: &Plan) -> bool {
        match self.stage {
            Stage::Programming => self.is_programming(page, plan),
            _ => self.step_pages().any(|copy| copy.from == page),
        }
    }

    /// Whether the program under way must end before the array can read a page: it is a page of the
    /// step, or one that was there before and is joined with them, or has its fine pass with them.
    pub fn is_programming(&self, page: Ppn, plan: &Plan) -> bool {
        let (geometry, slots) = (&plan.geometry, plan.geometry.shape.program_slots);
        let lag = plan.timing.passes.map_or(0, |passes| passes.lag);
        let is_joined = |last: Ppn| {
            page <= last
                && geometry.block_of(page) == geometry.block_of(last)
                && last.0 / slots - page.0 / slots <= lag
        };
        self.stage == Stage::Programming
            && (self.step_pages().any(|copy| copy.to == page) || self.joined.is_some_and(is_joined))
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
            return self.closed_pages.contains(&page.0);
        }
        let mut made = self.copies[..self.next].iter().rev().map(|copy| copy.to);
        let destination = made.find(|to| to.is_some()).map(|to| geometry.block_of(to));
        destination == Some(block) && !self.copies.iter().any(|copy| copy.to == page)
    }

    /// The host rewrote or trimmed the page of a copy that is under way.
    pub fn waste(&mut self, copy: usize) {
        self.wasted += 1;
        self.wasted_open.push(copy as u32);
    }

    /// The copies of the step under way.
    pub fn step_pages(&self) -> impl Iterator<Item = Copy> + Clone + '_ {
        self.step.iter().map(|&at| self.copies[at])
    }

    /// The page of a copy, and its class where that was asked.
    #[inline(always)]
    pub(super) fn to_copy(&self, copy: usize) -> (Ppn, Option<u8>) {
        (self.copies[copy].from, self.asked.get(copy).copied())
    }

    /// How many copies of the step under way filled a block.
    pub fn fills_of_step(&self) -> u32 {
        self.step.iter().filter(|&&at| self.fills_with(at)).count() as u32
    }

    /// Whether the copy at this place filled a block.
    pub fn fills_with(&self, at: usize) -> bool {
        self.fills.contains(&(at as u32))
    }

    /// Array time of all copies of a collection whose pages are fixed, in ns.
    pub(super) fn copies_ns(&self, prices: &Prices, at_once: u32) -> u64 {
        if !prices.asks_for_pages() {
            return u64::from(self.steps) * step_ns(prices, &[]);
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
        let mut left_ns = now_ns - self.selected_ns;
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
