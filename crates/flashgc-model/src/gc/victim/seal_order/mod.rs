//! An index for policies that rank a block that was sealed earlier before one with as many valid
//! pages.
//!
//! The candidates of a plane lie in rows, one for each count of valid pages. A row is a set of
//! bits, one for each *turn*: the seals of a plane are numbered, and a turn is such a number. So a
//! page that becomes invalid moves one bit, the first bit of a row is its block that was sealed
//! first, and a choice reads one block of each row.

mod sealed;
#[cfg(test)]
mod tests;
mod weighted;

use super::Candidates;
use super::policy::rows_pay;
use crate::device::Geometry;
use crate::ids::{BlockId, PlaneId};
use crate::memory::bytes_of;

use sealed::SealedIn;
pub use weighted::LeastWeights;

const NONE: u32 = u32::MAX;

/// The rows of all planes.
#[derive(Clone)]
pub struct SealOrder {
    rows_per_plane: u32,
    blocks_per_plane: u32,
    words_per_row: usize,
    words_per_summary: usize,
    /// Rows of bits, by plane and count of valid pages.
    bits: Vec<u64>,
    /// For each word of a row, one bit: whether it holds any block. A long row is not walked.
    summaries: Vec<u64>,
    heads: Vec<Head>,
    turn_of: Vec<u32>,
    /// The block of each seal number, by plane.
    block_at: Vec<u32>,
    /// The next turn of each plane.
    next_turns: Vec<u32>,
    /// How often the turns of each plane were numbered anew.
    renumbered: Vec<u32>,
    /// Candidates, including those without invalid pages.
    sealed: SealedIn,
}

/// The first block of a row, and the time of its seal, once it has been read.
#[derive(Clone, Copy)]
struct Head {
    first: u32,
    dated: u32,
    sealed_at: u64,
}

impl SealOrder {
    /// Empty rows.
    pub fn new(geometry: &Geometry) -> Self {
        SealOrder::of(geometry.planes, geometry.shape.data_pages(), geometry.shape.blocks_per_plane)
    }

    fn of(planes: u32, rows_per_plane: u32, blocks_per_plane: u32) -> Self {
        // Twice the number of blocks, so that turns are seldom numbered anew.
        let words_per_row = (2 * blocks_per_plane as usize).div_ceil(64);
        let words_per_summary = words_per_row.div_ceil(64);
        let (planes, rows) = (planes as usize, planes as usize * rows_per_plane as usize);
        SealOrder {
            rows_per_plane,
            blocks_per_plane,
            words_per_row,
            words_per_summary,
            bits: vec![0; rows * words_per_row],
            summaries: vec![0; rows * words_per_summary],
            heads: vec![Head { first: NONE, dated: NONE, sealed_at: 0 }; rows],
            turn_of: vec![NONE; planes * blocks_per_plane as usize],
            block_at: vec![NONE; planes * words_per_row * 64],
            next_turns: vec![0; planes],
            renumbered: vec![0; planes],
            sealed: SealedIn::new(planes, words_per_row),
        }
    }

    fn turns_per_plane(&self) -> usize {
        self.words_per_row * 64
    }

    /// A block without invalid pages is in no row.
    #[inline(always)]
    fn row(&self, plane: PlaneId, valid: u32) -> Option<usize> {
        let row = plane.index() * self.rows_per_plane as usize + valid as usize;
        (valid < self.rows_per_plane).then_some(row)
    }

    /// A block was sealed, and is a candidate with this count.
    pub fn seal(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if self.next_turns[plane.index()] as usize == self.turns_per_plane() {
            self.number_anew(plane);
        }
        let turn = self.next_turns[plane.index()];
        self.next_turns[plane.index()] += 1;
        self.turn_of[block.index()] = turn;
        let at = plane.index() * self.turns_per_plane() + turn as usize;
        self.block_at[at] = block.0;
        self.sealed.add(plane, turn);
        if let Some(row) = self.row(plane, valid) {
            self.insert(row, turn);
        }
    }

    /// A candidate with this count is none any more.
    pub fn claim(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        let turn = std::mem::replace(&mut self.turn_of[block.index()], NONE);
        let at = plane.index() * self.turns_per_plane() + turn as usize;
        self.block_at[at] = NONE;
        self.sealed.remove(plane, turn);
        if let Some(row) = self.row(plane, valid) {
            self.remove(row, turn);
        }
    }

    /// A candidate has lost a valid page and has this count now.
    #[inline(always)]
    pub fn lower(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        let turn = self.turn_of[block.index()];
        if let Some(row) = self.row(plane, valid + 1) {
            self.remove(row, turn);
        }
        if let Some(row) = self.row(plane, valid) {
            self.insert(row, turn);
        }
    }

    #[inline(always)]
    fn flip(&mut self, row: usize, turn: u32) {
        let word = (turn / 64) as usize;
        let bits = &mut self.bits[row * self.words_per_row + word];
        *bits ^= 1 << (turn % 64);
        let summary = &mut self.summaries[row * self.words_per_summary + word / 64];
        let mask = 1 << (word % 64);
        *summary = if *bits == 0 { *summary & !mask } else { *summary | mask };
    }

    #[inline(always)]
    fn insert(&mut self, row: usize, turn: u32) {
        self.flip(row, turn);
        let head = &mut self.heads[row];
        head.first = head.first.min(turn);
    }

    #[inline(always)]
    fn remove(&mut self, row: usize, turn: u32) {
        self.flip(row, turn);
        if self.heads[row].first == turn {
            self.heads[row].first = self.next_in(row, turn).unwrap_or(NONE);
        }
    }

    /// The first turn of a row after this one.
    fn next_in(&self, row: usize, after: u32) -> Option<u32> {
        let from = after + 1;
        let word = (from / 64) as usize;
        let bits = &self.bits[row * self.words_per_row..][..self.words_per_row];
        let left = bits.get(word)? & (u64::MAX << (from % 64));
        if left != 0 {
            return Some(word as u32 * 64 + left.trailing_zeros());
        }
        let summaries = &self.summaries[row * self.words_per_summary..][..self.words_per_summary];
        let (first, later) = ((word + 1) / 64, (word + 1) % 64);
        let masked = |at: usize| match at == first {
            true => summaries[at] & (u64::MAX << later),
            false => summaries[at],
        };
        let at = (first..self.words_per_summary).find(|&at| masked(at) != 0)?;
        let word = at * 64 + masked(at).trailing_zeros() as usize;
        Some(word as u32 * 64 + bits[word].trailing_zeros())
    }

    /// The turns of a plane are used up: candidates are numbered from 0, in order.
    #[cold]
    fn number_anew(&mut self, plane: PlaneId) {
        let turns = self.turns_per_plane();
        let block_at = &mut self.block_at[plane.index() * turns..][..turns];
        self.sealed.clear(plane);
        let (mut renamed, mut next) = (vec![NONE; turns], 0);
        for turn in 0..turns {
            let block = std::mem::replace(&mut block_at[turn], NONE);
            if block != NONE {
                (renamed[turn], block_at[next as usize]) = (next, block);
                self.turn_of[block as usize] = next;
                self.sealed.add(plane, next);
                next += 1;
            }
        }
        debug_assert!(next <= self.blocks_per_plane, "no block has two of them");
        self.next_turns[plane.index()] = next;
        self.renumbered[plane.index()] += 1;
        let first = plane.index() * self.rows_per_plane as usize;
        for row in first..first + self.rows_per_plane as usize {
            let mut at = Some(self.heads[row].first).filter(|&turn| turn != NONE);
            // No new number is above its old one, so it is free by then.
            while let Some(turn) = at {
                at = self.next_in(row, turn);
                self.flip(row, turn);
                self.flip(row, renamed[turn as usize]);
            }
            let head = &mut self.heads[row];
            let first = if head.first == NONE { NONE } else { renamed[head.first as usize] };
            *head = Head { first, dated: NONE, sealed_at: 0 };
        }
    }

    /// The first block of a plane by rank, the lowest number among equals, with at most
    /// `most_valid` valid pages. A rank is a function of the valid pages and the time of the seal;
    /// it may not be later for an earlier time.
    #[inline(always)]
    pub fn first<R: Ord>(
        &mut self,
        plane: PlaneId,
        most_valid: u32,
        sealed_at: impl Fn(BlockId) -> u64,
        rank: impl Fn(u32, u64) -> R,
    ) -> Option<BlockId> {
        let turns = self.turns_per_plane();
        let first = plane.index() * self.rows_per_plane as usize;
        let block_of =
            |this: &Self, turn: u32| BlockId(this.block_at[plane.index() * turns + turn as usize]);
        let mut best: Option<(R, BlockId)> = None;
        for valid in 0..self.rows_per_plane.min(most_valid.saturating_add(1)) {
            let row = first + valid as usize;
            let mut head = self.heads[row];
            if head.first == NONE {
                continue;
            }
            if head.dated != head.first {
                head.sealed_at = sealed_at(block_of(self, head.first));
                head.dated = head.first;
                self.heads[row] = head;
            }
            let own = rank(valid, head.sealed_at);
            if best.as_ref().is_some_and(|best| own > best.0) {
                continue;
            }
            let mut block = block_of(self, head.first);
            let mut at = self.next_in(row, head.first);
            while let Some(turn) = at {
                let other = block_of(self, turn);
                if rank(valid, sealed_at(other)) != own {
                    break;
                }
                block = block.min(other);
                at = self.next_in(row, turn);
            }
            if best.as_ref().is_none_or(|best| (&own, block) < (&best.0, best.1)) {
                best = Some((own, block));
            }
        }
        best.map(|(_, block)| block)
    }

    /// The candidates of a plane.
    pub fn candidates(&self, plane: PlaneId) -> u32 {
        self.sealed.of(plane)
    }

    /// The block with the fewest valid pages among the `count` candidates of a plane that were
    /// sealed first, the lowest number among equals; `None` where all of them are valid throughout.
    pub fn fewest_of_first(&self, plane: PlaneId, count: u32) -> Option<BlockId> {
        let turns = self.turns_per_plane();
        let block_at = &self.block_at[plane.index() * turns..][..turns];
        let last = self.turn_of_nth(plane, count)?;
        let first = plane.index() * self.rows_per_plane as usize;
        let mut rows = first..first + self.rows_per_plane as usize;
        let row = rows.find(|&row| self.heads[row].first <= last)?;
        let next = |&turn: &u32| self.next_in(row, turn);
        let own = std::iter::successors(Some(self.heads[row].first), next);
        own.take_while(|&turn| turn <= last).map(|turn| BlockId(block_at[turn as usize])).min()
    }

    /// The turn of the n-th candidate of a plane, counted from 1.
    fn turn_of_nth(&self, plane: PlaneId, n: u32) -> Option<u32> {
        let turns = self.turns_per_plane();
        let (word, left) = self.sealed.find(plane, n.checked_sub(1)?)?;
        let block_at = &self.block_at[plane.index() * turns..];
        let mut own = (word * 64..word * 64 + 64).filter(|&turn| block_at[turn] != NONE);
        own.nth(left as usize).map(|turn| turn as u32)
    }

    /// Takes in the sealed blocks of all planes, of which none is in a row.
    pub fn fill(&mut self, candidates: &Candidates<'_>, sealed_at: impl Fn(BlockId) -> u64) {
        let all = Candidates { most_valid: u32::MAX, ..*candidates };
        for plane in (0..all.geometry.planes).map(PlaneId) {
            let mut sealed: Vec<BlockId> = all.sealed(plane).collect();
            sealed.sort_unstable_by_key(|&block| (sealed_at(block), block));
            for block in sealed {
                self.seal(plane, block, all.valid(block));
            }
        }
    }

    /// Bytes of its tables.
    pub fn table_bytes(&self) -> u64 {
        let words = bytes_of(&self.bits) + bytes_of(&self.summaries);
        let turns = bytes_of(&self.turn_of) + bytes_of(&self.block_at);
        words + bytes_of(&self.heads) + turns + self.sealed.table_bytes()
    }
}

/// The order of a policy, where its rows are shorter than a walk over the blocks. The first choice
/// fills it.
#[derive(Clone)]
pub struct Index {
    order: Option<SealOrder>,
    is_filled: bool,
}

impl Index {
    /// An empty order.
    pub fn new(geometry: &Geometry) -> Self {
        Index { order: rows_pay(geometry).then(|| SealOrder::new(geometry)), is_filled: false }
    }

    #[inline(always)]
    fn filled(&mut self) -> Option<&mut SealOrder> {
        self.order.as_mut().filter(|_| self.is_filled)
    }

    /// As [`SealOrder::seal`], once it is filled.
    pub fn seal(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if let Some(order) = self.filled() {
            order.seal(plane, block, valid);
        }
    }

    /// As [`SealOrder::claim`], once it is filled.
    pub fn claim(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if let Some(order) = self.filled() {
            order.claim(plane, block, valid);
        }
    }

    /// As [`SealOrder::lower`], once it is filled.
    pub fn lower(&mut self, plane: PlaneId, block: BlockId, valid: u32) {
        if let Some(order) = self.filled() {
            order.lower(plane, block, valid);
        }
    }

    /// The order for a choice; `None` where a walk is needed. It has the blocks that placement
    /// excludes, too.
    pub fn for_choice(
        &mut self,
        candidates: &Candidates<'_>,
        sealed_at: impl Fn(BlockId) -> u64,
    ) -> Option<&mut SealOrder> {
        let order = self.order.as_mut().filter(|_| candidates.only.is_none())?;
        if !std::mem::replace(&mut self.is_filled, true) {
            order.fill(candidates, sealed_at);
        }
        Some(order)
    }

    /// Bytes of its tables.
    pub fn table_bytes(&self) -> u64 {
        self.order.as_ref().map_or(0, SealOrder::table_bytes)
    }
}
