//! Windows: the runs of sub-blocks of one block that one erase could free, and the benefit of each.
//!
//! A window begins and ends with a full sub-block; erased ones may lie between. With isolation by
//! software the valid pages of its two neighbour sub-blocks move too, unless these are erased or
//! hold nothing valid (paper speedup-gc, section II-A; docs/schemes/gsm.md#the-recycle-benefit). No
//! sub-block of a window may be open or under collection, and with isolation by software no
//! neighbour of it may be either: pages that are moved could land there.
//!
//! The *recycle benefit* of a window is its gain per cost: invalid pages per unit of time, the time
//! of moving its valid pages and those of its neighbours, and of one erase. A window whose
//! neighbours must move as many pages as it has invalid ones gains nothing, and is refused. So is
//! one that would lose even or odd pages where copies keep to these.

use super::Isolation;
use crate::device::Geometry;
use crate::ftl::blocks::{BlockState, Blocks};
use crate::ids::BlockId;
use std::cmp::Ordering;

/// Sub-blocks of a block, at most.
pub const SUB_BLOCKS_MAX: u32 = 64;

/// The cost of moving a page and of an erase, and whether an erase disturbs its neighbours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    copy: u64,
    erase: u64,
    isolation: Isolation,
    /// Whether copies keep to even and odd pages, so that a window must lose none of either kind.
    parity: bool,
}

impl Costs {
    /// Costs in common units of time: the largest in which both are whole, and coarser where the
    /// numbers would not fit a product.
    pub fn new(copy_ns: u64, erase_ns: u64, isolation: Isolation) -> Self {
        const MOST: u64 = 1 << 24;
        let unit_ns = greatest_common_divisor(copy_ns, erase_ns).max(1);
        let (mut copy, mut erase) = (copy_ns / unit_ns, erase_ns / unit_ns);
        while copy.max(erase) > MOST {
            (copy, erase) = (copy / 2, erase / 2);
        }
        Costs { copy, erase: erase.max(1), isolation, parity: false }
    }

    /// With or without the odd/even rule.
    pub fn with_parity(self, parity: bool) -> Self {
        Costs { parity, ..self }
    }

    fn of(&self, moves: u32) -> u64 {
        u64::from(moves) * self.copy + self.erase
    }

    /// The least benefit of any window in a block with this number of pages.
    pub fn least(&self, pages: u32) -> Benefit {
        Benefit { invalid: 1, cost: self.of(2 * pages) }
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Invalid pages freed per time, in the units of [`Costs`]. Compared exactly.
#[derive(Clone, Copy, Debug)]
pub struct Benefit {
    invalid: u32,
    cost: u64,
}

impl Benefit {
    /// Nothing is gained.
    pub const NONE: Benefit = Benefit { invalid: 0, cost: 1 };

    /// A benefit that is a plain number.
    pub fn of(number: u32) -> Self {
        Benefit { invalid: number, cost: 1 }
    }

    /// Invalid pages, and their cost.
    pub fn parts(&self) -> (u32, u64) {
        (self.invalid, self.cost)
    }

    /// From these.
    pub fn from_parts(invalid: u32, cost: u64) -> Self {
        Benefit { invalid, cost }
    }

    /// Whether anything is gained.
    pub fn is_some(&self) -> bool {
        self.invalid > 0
    }
}

impl Ord for Benefit {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        let (mine, its) =
            (u64::from(self.invalid) * other.cost, u64::from(other.invalid) * self.cost);
        mine.cmp(&its)
    }
}

impl PartialOrd for Benefit {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Benefit {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Benefit {}

/// A run of sub-blocks of one block, counted in the block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The first.
    pub first: u32,
    /// The last.
    pub last: u32,
    /// Invalid pages in it.
    pub invalid: u32,
    /// Valid pages in it and in its neighbours: all of them must move.
    pub moves: u32,
}

impl Window {
    /// Its recycle benefit.
    pub fn benefit(&self, costs: &Costs) -> Benefit {
        Benefit { invalid: self.invalid, cost: costs.of(self.moves) }
    }
}

/// The state of a sub-block for a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Full,
    Erased,
    /// It is being written, or a collection has claimed it.
    Shut,
}

#[derive(Clone, Copy, Debug)]
struct Part {
    kind: Kind,
    valid: u16,
    invalid: u16,
}

/// The even pages among those of a sub-block.
#[derive(Clone, Copy, Debug, Default)]
struct Even {
    valid: u16,
    invalid: u16,
}

/// The sub-blocks of one block, as windows need them.
#[derive(Clone)]
pub struct Parts {
    parts: [Part; SUB_BLOCKS_MAX as usize],
    count: usize,
    /// Those of each sub-block, under the odd/even rule only.
    even: Vec<Even>,
}

impl Default for Parts {
    fn default() -> Self {
        let nothing = Part { kind: Kind::Shut, valid: 0, invalid: 0 };
        Parts { parts: [nothing; SUB_BLOCKS_MAX as usize], count: 0, even: Vec::new() }
    }
}

impl Parts {
    /// Reads the parts of the block to which this sub-block belongs, in place of the previous ones.
    pub fn read(
        &mut self,
        geometry: &Geometry,
        blocks: &Blocks,
        costs: &Costs,
        sub_block: BlockId,
    ) {
        self.count = 0;
        for block in geometry.siblings_of(sub_block).map(BlockId) {
            let valid = blocks.valid(block);
            let (kind, invalid) = match blocks.state(block) {
                BlockState::Sealed => (Kind::Full, geometry.data_pages_of(block) - valid),
                BlockState::Free => (Kind::Erased, 0),
                BlockState::Open | BlockState::Victim | BlockState::Retired => (Kind::Shut, 0),
            };
            let (valid, invalid) = (valid as u16, invalid as u16);
            self.parts[self.count] = Part { kind, valid, invalid };
            self.count += 1;
        }
        if costs.parity {
            self.read_even(geometry, blocks, sub_block);
        }
    }

    #[cold]
    fn read_even(&mut self, geometry: &Geometry, blocks: &Blocks, sub_block: BlockId) {
        let even = |block| {
            let valid = blocks.valid_even(block) as u16;
            Even { valid, invalid: geometry.data_pages_of(block).div_ceil(2) as u16 - valid }
        };
        self.even.clear();
        self.even.extend(geometry.siblings_of(sub_block).map(|block| even(BlockId(block))));
    }

    /// Whether a window has as many invalid even pages as its neighbours have valid ones that move,
    /// and as many odd ones: else each such collection leaves copies fewer of one kind.
    #[cold]
    fn keeps_both_kinds(&self, first: usize, last: usize, isolation: Isolation) -> bool {
        let (mut even, mut odd) = (0, 0);
        for (part, of_it) in self.parts[first..=last].iter().zip(&self.even[first..=last]) {
            if part.kind == Kind::Full {
                even += i32::from(of_it.invalid);
                odd += i32::from(part.invalid) - i32::from(of_it.invalid);
            }
        }
        for at in [first.wrapping_sub(1), last + 1] {
            let moves = self.beside(at, isolation).unwrap_or(0);
            if moves > 0 {
                even -= i32::from(self.even[at].valid);
                odd -= moves as i32 - i32::from(self.even[at].valid);
            }
        }
        even >= 0 && odd >= 0
    }

    fn at(&self, at: usize) -> Option<&Part> {
        self.parts[..self.count].get(at)
    }

    /// The valid pages that must move if a window ends next to this sub-block, `None` if none may.
    #[inline]
    fn beside(&self, at: usize, isolation: Isolation) -> Option<u32> {
        match self.at(at) {
            Some(part) if isolation == Isolation::Software => {
                (part.kind != Kind::Shut).then_some(part.valid.into())
            }
            _ => Some(0),
        }
    }

    /// Whether an erased sub-block lies in a window.
    pub fn has_erased(&self, window: Window) -> bool {
        let parts = &self.parts[window.first as usize..=window.last as usize];
        parts.iter().any(|part| part.kind == Kind::Erased)
    }

    /// The window with the greatest recycle benefit; the shortest among equals, as in Fig. 2b of
    /// paper speedup-gc, then the lowest.
    pub fn best(&self, costs: &Costs) -> Option<Window> {
        let mut best: Option<Window> = None;
        let (mut best_invalid, mut best_cost, mut best_length) = (0, 1, usize::MAX);
        for first in 0..self.count {
            let before = self.beside(first.wrapping_sub(1), costs.isolation);
            let Some(before) = before.filter(|_| self.parts[first].kind == Kind::Full) else {
                continue;
            };
            let (mut moves, mut invalid) = (before, 0);
            for (at, part) in self.parts[first..self.count].iter().enumerate() {
                if part.kind == Kind::Shut {
                    break;
                }
                moves += u32::from(part.valid);
                invalid += u32::from(part.invalid);
                let Some(behind) = self.beside(first + at + 1, costs.isolation) else { continue };
                let cost = costs.of(moves + behind);
                let mine = u64::from(invalid) * best_cost;
                let its = u64::from(best_invalid) * cost;
                // Windows come in order of their first, so that among equals only a shorter one
                // goes before.
                let is_better = mine > its || (mine == its && at < best_length);
                let wins = part.kind == Kind::Full && invalid > before + behind;
                let keeps = || self.keeps_both_kinds(first, first + at, costs.isolation);
                if is_better && wins && (!costs.parity || keeps()) {
                    let (first, last) = (first as u32, (first + at) as u32);
                    best = Some(Window { first, last, invalid, moves: moves + behind });
                    (best_invalid, best_cost, best_length) = (invalid, cost, at);
                }
            }
        }
        best
    }

    /// A window with the greatest recycle benefit of those with a gain, found from a benefit that
    /// is likely to be near it. Among equal windows, any may be returned.
    pub fn near_best(&self, guess: Benefit, costs: &Costs) -> Option<Window> {
        let window = self.peak(guess, costs)?;
        let parts = &self.parts[window.first as usize..=window.last as usize];
        let own: u32 = parts.iter().map(|part| u32::from(part.valid)).sum();
        let (first, last) = (window.first as usize, window.last as usize);
        let keeps = !costs.parity || self.keeps_both_kinds(first, last, costs.isolation);
        // A window without a gain is seldom the best.
        match window.invalid > window.moves - own && keeps {
            true => Some(window),
            false => self.best(costs),
        }
    }

    /// A window with the greatest recycle benefit of all, even if none has a gain: each round takes
    /// the window with the greatest value at the benefit of the last one (Dinkelbach).
    pub fn peak(&self, guess: Benefit, costs: &Costs) -> Option<Window> {
        let mut level = guess;
        loop {
            let (worth, first, last) = self.greatest(level, costs)?;
            let window = self.window(first, last, costs.isolation);
            if worth == 0 {
                return Some(window);
            }
            level = window.benefit(costs);
        }
    }

    /// Whether some window has at least this benefit, and then whether an erased sub-block lies in
    /// the one that is worth most at it.
    pub fn reaches(&self, level: Benefit, costs: &Costs) -> Option<bool> {
        let (_, first, last) = self.greatest(level, costs).filter(|&(worth, ..)| worth >= 0)?;
        Some(self.parts[first..=last].iter().any(|part| part.kind == Kind::Erased))
    }

    fn window(&self, first: usize, last: usize, isolation: Isolation) -> Window {
        let (mut invalid, mut moves) = (0, 0);
        for part in &self.parts[first..=last] {
            invalid += u32::from(part.invalid);
            moves += u32::from(part.valid);
        }
        for at in [first.wrapping_sub(1), last + 1] {
            moves += self.beside(at, isolation).unwrap_or(0);
        }
        Window { first: first as u32, last: last as u32, invalid, moves }
    }

    /// The least number of the block's valid pages that must become invalid before any of its
    /// windows reaches this benefit; 0 if one may have reached it. `None` where there is no window.
    pub fn distance(&self, level: Benefit, costs: &Costs) -> Option<u32> {
        let (worth, ..) = self.greatest(level, costs)?;
        // A page that becomes invalid raises the worth of a window by at most this.
        let by = level.cost as i64 + i64::from(level.invalid) * costs.copy as i64;
        let short = (-worth).max(0);
        let pages = short / by + i64::from(short % by > 0);
        Some(u32::try_from(pages).unwrap_or(u32::MAX))
    }

    /// The window that is worth most at this benefit: its worth, its first and its last sub-block.
    ///
    /// At benefit a / b a window is worth b * invalid - a * cost: not less than zero if it has
    /// reached it. The greatest worth is found in one walk, as the greatest sum of a run.
    fn greatest(&self, level: Benefit, costs: &Costs) -> Option<(i64, usize, usize)> {
        // Below every sum: these stay within 58 bits (see `Costs::new`).
        const NONE: i64 = -(1 << 60);
        let (a, b) = (i64::from(level.invalid), level.cost as i64);
        let copy = a * costs.copy as i64;
        // The cost for a window of having this sub-block as a neighbour.
        let beside = |part: &Part| match (costs.isolation, part.kind) {
            (Isolation::Hardware, _) => 0,
            (Isolation::Software, Kind::Shut) => -NONE,
            (Isolation::Software, _) => copy * i64::from(part.valid),
        };
        let parts = &self.parts[..self.count];
        let (mut run, mut first, mut before) = (NONE, 0, 0);
        let mut greatest = (NONE, 0, 0);
        for (at, part) in parts.iter().enumerate() {
            match part.kind {
                Kind::Shut => run = NONE,
                Kind::Erased => {}
                Kind::Full => {
                    if -before > run {
                        (run, first) = (-before, at);
                    }
                    run += b * i64::from(part.invalid) - copy * i64::from(part.valid);
                    let sum = run - parts.get(at + 1).map_or(0, beside);
                    if sum > greatest.0 {
                        greatest = (sum, first, at);
                    }
                }
            }
            before = beside(part);
        }
        let (sum, first, last) = greatest;
        (sum > NONE / 2).then_some((sum - a * costs.erase as i64, first, last))
    }
}

#[cfg(test)]
mod tests;
