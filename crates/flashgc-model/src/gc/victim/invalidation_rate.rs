//! Invalidation rate: the block that becomes invalid most slowly, since waiting for it gains least.
//!
//! Paper on-demand-gc, equation 1: rate = ((N_inv - 1) / N_total) / (T_c - T_f). N_inv counts the
//! invalid pages of the block and N_total all its pages (the rows of Fig. 3 agree with that, its
//! prose does not); T_f is when its first page went invalid, while the block was open or later,
//! and T_c when the last one did. Blocks with nothing valid go first, the one whose T_f is
//! earliest before the others; a block with T_c = T_f has no rate, and goes last.
//!
//! The *block status table* has T_f and T_c, and every page that becomes invalid updates T_c. N_inv
//! is not stored: it follows from the block's number of valid pages. The candidates of each plane
//! are ordered by rate, so that the first one is the choice; a block changes its place when its
//! rate changes. With `now = true` every rate changes with time; among blocks with as many valid
//! pages the one whose T_f is earliest goes first then, which an index uses.

use super::fraction::Fraction;
use super::oldest::Oldest;
use super::policy::rows_pay;
use super::{Candidates, Choice, Flag, Loss, VictimPolicy};
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId};
use crate::memory::bytes_of;
use crate::rng::Random;
use flashgc_config::Reader;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// For the registry.
pub const CHOICE: Choice = Choice {
    name: "invalidation-rate",
    about: "the sealed block with the lowest invalidation rate, but blocks without valid pages \
            first",
    keys: &[&NOW],
    source: "paper on-demand-gc, equation 1 and Algorithm 1",
};

const NOW: Flag =
    Flag { name: "now", default: false, about: "rates up to now, not up to the last invalidation" };

/// The end of the time over which rates are measured.
#[derive(Clone, Debug, Serialize)]
pub struct Settings {
    now: bool,
}

impl Settings {
    /// From `[gc.victim.invalidation-rate]`.
    pub fn read(table: &Reader<'_>) -> Self {
        Settings { now: NOW.read(table) }
    }
}

/// A block in which no page is known to have become invalid.
const NEVER: u64 = u64::MAX;

/// The place of a candidate: a lower one goes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Rank {
    /// Nothing is valid, and the first page became invalid at this time, in ns.
    Empty { first_ns: u64 },
    /// Invalid pages after the first, over the time in which they became invalid, in ns.
    Rate(Fraction),
    /// No time has passed between its invalid pages, which have this number.
    None { invalid: Reverse<u32> },
}

/// A row of the block status table.
#[derive(Clone, Copy, Debug)]
struct Status {
    first_ns: u64,
    last_ns: u64,
}

impl Status {
    const NEW: Status = Status { first_ns: NEVER, last_ns: NEVER };

    /// The status with a later time in place of the time of the last invalid page.
    fn until(self, now_ns: u64) -> Status {
        let last_ns = if self.first_ns == NEVER { NEVER } else { now_ns };
        Status { last_ns, ..self }
    }

    fn rank(self, valid: u32, data_pages: u32) -> Rank {
        let invalid = data_pages - valid;
        let known = self.first_ns != NEVER;
        if valid == 0 {
            return Rank::Empty { first_ns: if known { self.first_ns } else { 0 } };
        }
        if !known || self.last_ns == self.first_ns || invalid == 0 {
            return Rank::None { invalid: Reverse(invalid) };
        }
        Rank::Rate(Fraction { over: (invalid - 1).into(), under: self.last_ns - self.first_ns })
    }
}

/// The block status table, and each plane's candidates in order.
#[derive(Clone)]
pub struct Policy {
    now: bool,
    data_pages: u32,
    blocks: Vec<Status>,
    planes: Vec<BTreeSet<(Rank, BlockId)>>,
    /// The most valid pages of the blocks that are in order; `None` before the first choice.
    most_valid: Option<u32>,
    /// With `now`: the candidates by valid pages, where that is shorter than a walk over them.
    index: Option<Oldest>,
}

impl Policy {
    /// A table in which nothing has gone invalid.
    pub fn new(settings: &Settings, geometry: &Geometry) -> Self {
        Policy {
            now: settings.now,
            data_pages: geometry.shape.data_pages(),
            blocks: vec![Status::NEW; geometry.blocks as usize],
            planes: vec![BTreeSet::new(); geometry.planes as usize],
            most_valid: None,
            index: (settings.now && rows_pay(geometry)).then(|| Oldest::new(geometry)),
        }
    }

    fn is_kept(&self, valid: u32) -> bool {
        self.most_valid.is_some_and(|most| valid <= most) && valid < self.data_pages
    }

    fn rank(&self, block: BlockId, valid: u32) -> Rank {
        self.blocks[block.index()].rank(valid, self.data_pages)
    }

    /// The rank with the present time in place of the time of the last invalid page.
    fn rank_now(&self, block: BlockId, candidates: &Candidates<'_>) -> Rank {
        let status = self.blocks[block.index()];
        let status = if self.now { status.until(candidates.age_now_ns) } else { status };
        status.rank(candidates.valid(block), self.data_pages)
    }

    fn insert(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if !self.is_kept(valid) {
            return;
        }
        if let Some(index) = &mut self.index {
            index.set_bound(block, self.blocks[block.index()].first_ns);
            return index.insert(plane, block, valid);
        }
        let rank = self.rank(block, valid);
        self.planes[plane.index()].insert((rank, block));
    }

    fn remove(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if !self.is_kept(valid) {
            return;
        }
        if let Some(index) = &mut self.index {
            return index.remove(plane, block, valid);
        }
        let rank = self.rank(block, valid);
        let was_there = self.planes[plane.index()].remove(&(rank, block));
        debug_assert!(was_there, "block {} was not in order", block.0);
    }

    /// The first of a plane's candidates, by a walk over all of them.
    fn scan(&self, plane: PlaneId, candidates: &Candidates<'_>) -> Option<BlockId> {
        let sealed = candidates.sealed(plane).filter(|&b| candidates.invalid(b) > 0);
        sealed.min_by_key(|&block| (self.rank_now(block, candidates), block))
    }

    fn first_in_order(&mut self, plane: PlaneId, candidates: &Candidates<'_>) -> Option<BlockId> {
        if self.most_valid != Some(candidates.most_valid) {
            self.rebuild(candidates);
        }
        self.planes[plane.index()].first().map(|&(_, block)| block)
    }

    fn first_by_index(&mut self, plane: PlaneId, candidates: &Candidates<'_>) -> Option<BlockId> {
        let Policy { index, blocks, data_pages, most_valid, .. } = self;
        let index = index.as_mut()?;
        if most_valid.is_none() {
            *most_valid = Some(u32::MAX);
            index.fill(candidates, |block| blocks[block.index()].first_ns);
        }
        index.first(
            plane,
            candidates.most_valid,
            |block| blocks[block.index()].first_ns,
            |valid, first_ns| {
                let status = Status { first_ns, last_ns: NEVER };
                status.until(candidates.age_now_ns).rank(valid, *data_pages)
            },
        )
    }

    /// Orders the candidates of all planes.
    fn rebuild(&mut self, candidates: &Candidates<'_>) {
        self.most_valid = Some(candidates.most_valid);
        for plane in (0..candidates.geometry.planes).map(PlaneId) {
            self.planes[plane.index()].clear();
            for block in candidates.sealed(plane) {
                self.insert(plane, block, candidates.valid(block));
            }
        }
    }
}

impl VictimPolicy for Policy {
    fn sealed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.insert(plane, block, valid);
    }

    fn claimed(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        self.remove(plane, block, valid);
        self.blocks[block.index()] = Status::NEW;
    }

    fn keeps_times(&self) -> bool {
        true
    }

    fn lost(&mut self, plane: PlaneId, block: BlockId, loss: Loss) {
        if loss.is_sealed {
            self.remove(plane, block, loss.valid + 1);
        }
        let status = &mut self.blocks[block.index()];
        if status.first_ns == NEVER {
            status.first_ns = loss.at_ns;
        }
        status.last_ns = loss.at_ns;
        if loss.is_sealed {
            self.insert(plane, block, loss.valid);
        }
    }

    /// Pages that became invalid earlier are counted as if the first had done so when its block was
    /// sealed, and the last just now.
    fn measuring_begins(&mut self, candidates: &Candidates<'_>) {
        self.blocks.fill(Status::NEW);
        for plane in (0..candidates.geometry.planes).map(PlaneId) {
            for block in candidates.sealed(plane).filter(|&b| candidates.invalid(b) > 0) {
                let last_ns = candidates.age_now_ns;
                let first_ns = last_ns - candidates.age_ns(block);
                self.blocks[block.index()] = Status { first_ns, last_ns };
            }
        }
        self.most_valid = None;
        self.planes.iter_mut().for_each(BTreeSet::clear);
        if let Some(index) = &mut self.index {
            index.clear();
        }
    }

    fn before(&self, a: BlockId, b: BlockId, candidates: &Candidates<'_>) -> bool {
        (self.rank_now(a, candidates), a) < (self.rank_now(b, candidates), b)
    }

    fn pick(
        &mut self,
        plane: PlaneId,
        candidates: &Candidates<'_>,
        _random: &mut Random,
    ) -> Option<BlockId> {
        let first = match self.index {
            // The index and the order have the blocks that placement excludes, too.
            _ if candidates.only.is_some() => return self.scan(plane, candidates),
            Some(_) => self.first_by_index(plane, candidates),
            None if self.now => return self.scan(plane, candidates),
            None => self.first_in_order(plane, candidates),
        };
        candidates.compare(first, || self.scan(plane, candidates));
        first
    }

    fn table_bytes(&self) -> u64 {
        // An entry, and the room that the nodes of the trees leave free.
        let entry_bytes = std::mem::size_of::<(Rank, BlockId)>() as u64 * 3 / 2;
        let entries: u64 = self.planes.iter().map(|plane| plane.len() as u64).sum();
        let rows = self.index.as_ref().map_or(0, Oldest::table_bytes);
        bytes_of(&self.blocks) + entries * entry_bytes + rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Pages per block and second, as in Fig. 3.
    fn rate(invalid: u32, first_ms: u64, last_ms: u64) -> f64 {
        let status = Status { first_ns: first_ms * MS, last_ns: last_ms * MS };
        match status.rank(128 - invalid, 128) {
            Rank::Rate(rate) => rate.over as f64 / 128.0 / (rate.under as f64 / 1e9),
            rank => panic!("{rank:?}"),
        }
    }

    /// Fig. 3 of paper on-demand-gc: 78.1, 39.1 and 53.1 % of 128 pages. It prints 1.18 for the
    /// second.
    #[test]
    fn the_table_of_figure_three() {
        for (invalid, first_ms, last_ms, expected, printed) in
            [(100, 50, 786, 1.051, 1.05), (50, 333, 655, 1.189, 1.19), (68, 600, 2090, 0.351, 0.35)]
        {
            let found = rate(invalid, first_ms, last_ms);
            assert!((found - expected).abs() < 5e-4, "{found}");
            assert!((found - printed).abs() < 5e-3, "{found}");
        }
    }

    fn rank(invalid: u32, first_ms: u64, last_ms: u64) -> Rank {
        Status { first_ns: first_ms * MS, last_ns: last_ms * MS }.rank(128 - invalid, 128)
    }

    /// Fig. 4: A, 71 % invalid at a rate of 10, and B, 90 % at 0.1. B goes first, though not for
    /// its share: it does so with 71 % too.
    #[test]
    fn the_choice_of_figure_four() {
        let a = rank(91, 0, 70);
        assert!(rank(115, 0, 8906) < a);
        assert!(rank(91, 0, 7031) < a);
        // A block that is about to be empty waits for it.
        assert!(rank(91, 0, 7031) < rank(127, 0, 98));
    }

    #[test]
    fn empty_blocks_go_first_and_those_without_a_rate_last() {
        let ranks = [
            rank(128, 5, 6),
            rank(128, 7, 7),
            rank(10, 0, 90_000),
            rank(120, 0, 10),
            rank(100, 4, 4),
            rank(1, 4, 4),
            Status::NEW.rank(128, 128),
        ];
        assert!(ranks.windows(2).all(|pair| pair[0] < pair[1]), "{ranks:?}");
        assert_eq!(Status::NEW.rank(0, 128), rank(128, 0, 1));
    }

    #[test]
    fn equal_rates_are_equal_however_they_came_about() {
        assert_eq!(rank(11, 0, 100), rank(21, 100, 300));
        assert!(rank(11, 0, 100) < rank(22, 100, 300));
        let long = Status { first_ns: 0, last_ns: u64::MAX >> 1 };
        assert!(long.rank(1, 65_535) < rank(2, 0, 100_000_000));
    }
}
