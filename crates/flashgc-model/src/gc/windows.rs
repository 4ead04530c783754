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
//! neighbours must move as many pages as it has invalid ones gains nothing, and is refused.

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
        Costs { copy, erase: erase.max(1), isolation }
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

/// The sub-blocks of one block, as windows need them.
#[derive(Clone)]
pub struct Parts {
    parts: [Part; SUB_BLOCKS_MAX as usize],
    count: usize,
}

impl Default for Parts {
    fn default() -> Self {
        let nothing = Part { kind: Kind::Shut, valid: 0, invalid: 0 };
        Parts { parts: [nothing; SUB_BLOCKS_MAX as usize], count: 0 }
    }
}

impl Parts {
    /// Reads the parts of the block to which this sub-block belongs, in place of the previous ones.
    pub fn read(&mut self, geometry: &Geometry, blocks: &Blocks, sub_block: BlockId) {
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
                if is_better && wins {
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
        // A window without a gain is seldom the best.
        match window.invalid > window.moves - own {
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
mod tests {
    use super::*;
    use crate::rng::Random;

    const COPY_NS: u64 = 760_000;
    const ERASE_NS: u64 = 3_500_000;

    fn parts(of: &[(Kind, u16, u16)]) -> Parts {
        let mut parts = Parts::default();
        for &(kind, valid, invalid) in of {
            parts.parts[parts.count] = Part { kind, valid, invalid };
            parts.count += 1;
        }
        parts
    }

    fn software() -> Costs {
        Costs::new(COPY_NS, ERASE_NS, Isolation::Software)
    }

    /// Paper speedup-gc, Fig. 2b: sub-blocks 2 and 3 are the window, and five pages move: one that
    /// is left in sub-block 2, and four of its neighbours, in sub-blocks 1 and 4.
    #[test]
    fn five_pages_move_from_a_window_isolated_by_software() {
        let block = parts(&[
            (Kind::Full, 2, 0),
            (Kind::Full, 1, 5),
            (Kind::Full, 0, 6),
            (Kind::Full, 2, 0),
        ]);
        let best = block.best(&software()).expect("a window");
        assert_eq!(best, Window { first: 1, last: 2, invalid: 11, moves: 5 });
        // The neighbours hold no invalid page: to erase them too would gain no more.
        let wider = Window { first: 0, last: 3, ..best };
        assert_eq!(wider.benefit(&software()), best.benefit(&software()));
    }

    #[test]
    fn a_window_that_wins_no_page_is_refused() {
        // Three pages of the neighbours would move for the only invalid ones.
        let block = parts(&[(Kind::Full, 2, 0), (Kind::Full, 0, 3), (Kind::Shut, 0, 0)]);
        assert_eq!(block.best(&software()), None);
        let block = parts(&[(Kind::Full, 3, 0), (Kind::Full, 0, 3), (Kind::Erased, 0, 0)]);
        // Alone the second would gain nothing; both together gain three pages.
        let best = block.best(&software()).expect("a window");
        assert_eq!((best.first, best.last, best.moves), (0, 1, 3));
    }

    #[test]
    fn benefits_are_compared_in_common_units() {
        let costs = software();
        assert_eq!((costs.copy, costs.erase), (38, 175));
        let window = Window { first: 0, last: 0, invalid: 9, moves: 5 };
        // 9 / (5 * 0.76 + 3.5) pages per ms.
        assert_eq!(window.benefit(&costs), Benefit { invalid: 9, cost: 365 });
        assert!(Benefit::of(1) > window.benefit(&costs) && window.benefit(&costs) > Benefit::NONE);
        let coarse = Costs::new(999_999_999_999, 999_999_999_998, Isolation::Hardware);
        assert!(coarse.copy <= 1 << 24 && coarse.copy == coarse.erase);
    }

    fn random_block(random: &mut Random, pages: u64) -> Parts {
        let mut parts = Parts { count: 1 + random.below(16) as usize, ..Parts::default() };
        let shuts = random.below(3) == 0;
        for at in 0..parts.count {
            let valid = random.below(pages + 1) as u16;
            parts.parts[at] = match random.below(12) {
                0 => Part { kind: Kind::Erased, valid: 0, invalid: 0 },
                1 if shuts => Part { kind: Kind::Shut, valid, invalid: 0 },
                _ => Part { kind: Kind::Full, valid, invalid: pages as u16 - valid },
            };
        }
        parts
    }

    /// Every window, from the definition.
    fn all_windows(parts: &Parts, isolation: Isolation) -> Vec<(Window, u32)> {
        let mut found = Vec::new();
        for first in 0..parts.count {
            for last in first..parts.count {
                let inside = &parts.parts[first..=last];
                let beside: Vec<&Part> = [first.wrapping_sub(1), last + 1]
                    .iter()
                    .filter_map(|&at| parts.at(at))
                    .filter(|_| isolation == Isolation::Software)
                    .collect();
                let ends = [inside[0].kind, inside[inside.len() - 1].kind];
                if ends != [Kind::Full; 2]
                    || inside.iter().chain(beside.iter().copied()).any(|p| p.kind == Kind::Shut)
                {
                    continue;
                }
                let sum = |parts: &mut dyn Iterator<Item = u16>| parts.map(u32::from).sum::<u32>();
                let near = sum(&mut beside.iter().map(|part| part.valid));
                let invalid = sum(&mut inside.iter().map(|part| part.invalid));
                let moves = near + sum(&mut inside.iter().map(|part| part.valid));
                let (first, last) = (first as u32, last as u32);
                found.push((Window { first, last, invalid, moves }, near));
            }
        }
        found
    }

    #[test]
    fn the_best_window_is_that_of_all_windows() {
        let mut random = Random::named(3, "windows");
        for round in 0..20_000 {
            let isolation = [Isolation::Software, Isolation::Hardware][round % 2];
            let costs = Costs::new(COPY_NS, ERASE_NS, isolation);
            let block = random_block(&mut random, [4, 48][round / 2 % 2]);
            let all = all_windows(&block, isolation);
            let rank = |w: &Window| {
                let length = w.last - w.first;
                (w.benefit(&costs), std::cmp::Reverse((length, w.first)))
            };
            let winning = all.iter().filter(|(w, beside)| w.invalid > *beside).map(|(w, _)| *w);
            let best = winning.max_by_key(rank);
            assert_eq!(block.best(&costs), best);
            let guess = Benefit { invalid: random.below(20) as u32, cost: 1 + random.below(900) };
            let benefit = |w: Option<Window>| w.map(|w| w.benefit(&costs));
            assert_eq!(benefit(block.near_best(guess, &costs)), benefit(best));
            let peak = all.iter().map(|(w, _)| w.benefit(&costs)).max();
            assert_eq!(benefit(block.peak(guess, &costs)), peak);
            let reaches = block.reaches(guess, &costs).is_some();
            assert_eq!(reaches, peak.is_some_and(|peak| peak >= guess));
        }
    }

    /// However its pages become invalid, a block this far from a benefit does not reach it sooner.
    #[test]
    fn no_block_reaches_a_benefit_sooner_than_its_distance_says() {
        let mut random = Random::named(4, "windows");
        for round in 0..4000 {
            let isolation = [Isolation::Software, Isolation::Hardware][round % 2];
            let costs = Costs::new(COPY_NS, ERASE_NS, isolation);
            let mut block = random_block(&mut random, 12);
            let level =
                Benefit { invalid: 1 + random.below(30) as u32, cost: 1 + random.below(900) };
            let Some(mut distance) = block.distance(level, &costs) else { continue };
            loop {
                let peak = block.peak(level, &costs).map(|window| window.benefit(&costs));
                assert_eq!(distance == 0, peak >= Some(level));
                let valid: Vec<usize> = (0..block.count)
                    .filter(|&at| block.parts[at].kind == Kind::Full && block.parts[at].valid > 0)
                    .collect();
                if distance == 0 || valid.is_empty() {
                    break;
                }
                let part = &mut block.parts[valid[random.below(valid.len() as u64) as usize]];
                (part.valid, part.invalid) = (part.valid - 1, part.invalid + 1);
                let now = block.distance(level, &costs).expect("it has windows");
                assert!(now + 1 >= distance, "{now} after {distance}");
                distance = now;
            }
        }
    }
}
