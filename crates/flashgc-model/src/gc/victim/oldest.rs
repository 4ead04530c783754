//! An index for policies that rank an older block before a younger one with as many valid pages.
//!
//! The candidates of a plane lie in rows, one for each count of valid pages, in no order; so a page
//! that becomes invalid moves its block in constant time. Each row has a bound, before which no
//! block of it dates. A choice calculates the rank that each row would have at its bound, and walks
//! only over rows whose rank there is not worse than the best block so far. A walk makes the bound
//! exact.

use super::Candidates;
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId};
use crate::memory::bytes_of;

const NONE: u32 = u32::MAX;

/// The rows of all planes.
#[derive(Clone)]
pub struct Oldest {
    rows_per_plane: u32,
    rows: Vec<Row>,
    links: Vec<Link>,
}

/// The blocks of a plane with one count of valid pages.
#[derive(Clone, Copy)]
struct Row {
    first: u32,
    /// No block of the row dates from before this time, in ns.
    bound_ns: u64,
}

/// The neighbours of a block in its row.
#[derive(Clone, Copy)]
struct Link {
    before: u32,
    after: u32,
    /// The block does not date from before this time, in ns.
    bound_ns: u64,
}

impl Oldest {
    /// Empty rows.
    pub fn new(geometry: &Geometry) -> Self {
        Oldest::of(geometry.planes, geometry.shape.data_pages(), geometry.blocks)
    }

    fn of(planes: u32, rows_per_plane: u32, blocks: u32) -> Self {
        let rows = planes as usize * rows_per_plane as usize;
        Oldest {
            rows_per_plane,
            rows: vec![Row { first: NONE, bound_ns: u64::MAX }; rows],
            links: vec![Link { before: NONE, after: NONE, bound_ns: 0 }; blocks as usize],
        }
    }

    /// A block without invalid pages is in no row.
    fn row(&self, plane: PlaneId, valid: u32) -> Option<usize> {
        let row = plane.index() * self.rows_per_plane as usize + valid as usize;
        (valid < self.rows_per_plane).then_some(row)
    }

    /// The block is a candidate with this count.
    pub fn insert(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        let Some(row) = self.row(plane, valid) else { return };
        let row = &mut self.rows[row];
        let link = &mut self.links[block.index()];
        let bound_ns = link.bound_ns;
        row.bound_ns = if row.first == NONE { bound_ns } else { row.bound_ns.min(bound_ns) };
        let after = std::mem::replace(&mut row.first, block.0);
        (link.before, link.after) = (NONE, after);
        if after != NONE {
            self.links[after as usize].before = block.0;
        }
    }

    /// The block, which is in no row, does not date from before this time, in ns.
    pub fn set_bound(&mut self, block: BlockId, bound_ns: u64) {
        self.links[block.index()].bound_ns = bound_ns;
    }

    /// The block has this count and leaves its row.
    pub fn remove(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        let Some(row) = self.row(plane, valid) else { return };
        let Link { before, after, .. } = self.links[block.index()];
        match before {
            NONE => self.rows[row].first = after,
            before => self.links[before as usize].after = after,
        }
        if after != NONE {
            self.links[after as usize].before = before;
        }
    }

    /// The first block of a plane by rank, the lowest number among equals, with at most
    /// `most_valid` valid pages. A rank is a function of the valid pages and of the time that a
    /// block dates from; it may not be later for an earlier time.
    pub fn first<R: Ord>(
        &mut self,
        plane: PlaneId,
        most_valid: u32,
        dates_from_ns: impl Fn(BlockId) -> u64,
        rank: impl Fn(u32, u64) -> R,
    ) -> Option<BlockId> {
        let rows = 0..self.rows_per_plane.min(most_valid.saturating_add(1));
        let at_bound = |this: &Self, valid: u32| {
            let row = this.rows[this.row(plane, valid)?];
            (row.first != NONE).then(|| rank(valid, row.bound_ns))
        };
        let likely =
            rows.clone().filter_map(|valid| Some((at_bound(self, valid)?, valid))).min()?;
        let mut best = self.walk(plane, likely.1, &dates_from_ns, &rank)?;
        for valid in rows.filter(|&valid| valid != likely.1) {
            if at_bound(self, valid).is_some_and(|bound| bound <= best.0) {
                let found = self.walk(plane, valid, &dates_from_ns, &rank)?;
                best = best.min(found);
            }
        }
        Some(best.1)
    }

    /// The first block of a row that has any, and its rank. The bound of the row is exact then.
    fn walk<R: Ord>(
        &mut self,
        plane: PlaneId,
        valid: u32,
        dates_from_ns: &impl Fn(BlockId) -> u64,
        rank: &impl Fn(u32, u64) -> R,
    ) -> Option<(R, BlockId)> {
        let row = self.row(plane, valid)?;
        let mut bound_ns = u64::MAX;
        let mut best: Option<(R, BlockId)> = None;
        let mut at = self.rows[row].first;
        while at != NONE {
            let block = BlockId(at);
            let from_ns = dates_from_ns(block);
            bound_ns = bound_ns.min(from_ns);
            let found = (rank(valid, from_ns), block);
            if best.as_ref().is_none_or(|best| found < *best) {
                best = Some(found);
            }
            let link = &mut self.links[block.index()];
            link.bound_ns = from_ns;
            at = link.after;
        }
        self.rows[row].bound_ns = bound_ns;
        best
    }

    /// Takes in the sealed blocks of all planes, of which none is in a row.
    pub fn fill(&mut self, candidates: &Candidates<'_>, dates_from_ns: impl Fn(BlockId) -> u64) {
        let all = Candidates { most_valid: u32::MAX, ..*candidates };
        for plane in (0..all.geometry.planes).map(PlaneId) {
            for block in all.sealed(plane) {
                self.set_bound(block, dates_from_ns(block));
                self.insert(plane, block, all.valid(block));
            }
        }
    }

    /// Takes all blocks out.
    pub fn clear(&mut self) {
        self.rows.fill(Row { first: NONE, bound_ns: u64::MAX });
    }

    /// Bytes of its tables.
    pub fn table_bytes(&self) -> u64 {
        bytes_of(&self.rows) + bytes_of(&self.links)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Random;
    use std::cmp::Reverse;

    const BLOCKS: u32 = 100;
    const PAGES: u32 = 6;

    /// The valid pages of each block and the time that it dates from, where it is a candidate.
    type Model = Vec<Option<(u32, u64)>>;

    /// The score of cost-benefit, the gain over the work, in whole numbers; and a score by rate, in
    /// which all blocks with one invalid page are equal.
    fn ranks(now: u64) -> [impl Fn(u32, u64) -> Reverse<u64>; 2] {
        let score = move |is_rate: bool, valid: u32, from: u64| {
            let invalid = u64::from(PAGES - valid);
            let gained = if is_rate {
                1_000_000 - (invalid - 1) * 10_000 / (now - from + 1)
            } else {
                invalid * (now - from) * 60 / u64::from(PAGES + valid)
            };
            Reverse(gained)
        };
        [false, true].map(|is_rate| move |valid, from| score(is_rate, valid, from))
    }

    fn hold(index: &mut Oldest, model: &Model, now: u64, most_valid: u32) {
        for rank in ranks(now) {
            let ranked = model.iter().enumerate().filter_map(|(block, candidate)| {
                let (valid, from) = candidate.filter(|&(v, _)| v < PAGES && v <= most_valid)?;
                Some((rank(valid, from), BlockId(block as u32)))
            });
            let from = |block: BlockId| model[block.index()].expect("only candidates are asked").1;
            let found = index.first(PlaneId(0), most_valid, from, &rank);
            assert_eq!(found, ranked.min().map(|(_, block)| block));
        }
    }

    /// Random histories: blocks are sealed, lose pages, are claimed, and some are put back with
    /// their old time. The index finds what a walk over all blocks finds.
    #[test]
    fn an_index_finds_what_a_walk_over_all_blocks_finds() {
        let mut random = Random::named(1, "oldest");
        let plane = PlaneId(0);
        let mut index = Oldest::of(1, PAGES, BLOCKS);
        let mut model: Model = vec![None; BLOCKS as usize];
        let mut requested_at = 0;
        for now in 1..20_000 {
            let block = BlockId(random.below(u64::from(BLOCKS)) as u32);
            match model[block.index()] {
                None => {
                    index.set_bound(block, requested_at);
                    let valid = random.below(u64::from(PAGES) + 1) as u32;
                    index.insert(plane, block, valid);
                    model[block.index()] = Some((valid, now));
                }
                Some((valid, from)) if valid > 0 && random.below(4) > 0 => {
                    index.remove(plane, block, valid);
                    index.insert(plane, block, valid - 1);
                    model[block.index()] = Some((valid - 1, from));
                }
                Some((valid, _)) => {
                    index.remove(plane, block, valid);
                    if random.below(3) == 0 {
                        index.insert(plane, block, valid);
                    } else {
                        model[block.index()] = None;
                    }
                }
            }
            if random.below(5) == 0 {
                hold(&mut index, &model, now, random.below(u64::from(PAGES) + 2) as u32);
                requested_at = now;
            }
        }
    }
}
