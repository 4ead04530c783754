//! Choices by a weight of each block, besides its valid pages and the time of its seal.

use super::{NONE, SealOrder};
use crate::ids::{BlockId, PlaneId};
use crate::memory::bytes_of;

/// Turns of a word, and of a word of words.
const WORD: usize = 64;
const GROUP: usize = WORD * WORD;

impl SealOrder {
    /// The first block of a plane by a rank that a weight of each block decides as well, the lowest
    /// number among equals, with at most `most_valid` valid pages. A rank is a function of the
    /// valid pages, of a block, and of a weight in place of its own; it may not be later for a
    /// block that was sealed earlier, or for a smaller weight.
    pub fn first_weighted<R: Ord>(
        &self,
        plane: PlaneId,
        most_valid: u32,
        least: &LeastWeights,
        weight: impl Fn(BlockId) -> u64,
        rank: impl Fn(u32, BlockId, u64) -> R,
    ) -> Option<BlockId> {
        let turns = self.turns_per_plane();
        let block_of = |turn: u32| BlockId(self.block_at[plane.index() * turns + turn as usize]);
        let first = plane.index() * self.rows_per_plane as usize;
        let rows = || {
            let rows = 0..self.rows_per_plane.min(most_valid.saturating_add(1));
            let heads = rows.map(|valid| (valid, self.heads[first + valid as usize].first));
            heads.filter(|&(_, turn)| turn != NONE)
        };
        let key = |valid, turn| {
            let block = block_of(turn);
            (rank(valid, block, weight(block)), block)
        };
        let mut best = rows().map(|(valid, turn)| key(valid, turn)).min()?;
        let least = &least.planes[plane.index()];
        for (valid, head) in rows() {
            let mut at = Some(head);
            while let Some(turn) = at {
                // No later block with at least this weight ranks before the best so far.
                let is_behind = |weight| rank(valid, block_of(turn), weight) > best.0;
                let (word, group) = (turn as usize / WORD, turn as usize / GROUP);
                let last = if is_behind(least.all) {
                    break;
                } else if is_behind(least.groups[group]) {
                    ((group + 1) * GROUP - 1) as u32
                } else if is_behind(least.words[word]) {
                    ((word + 1) * WORD - 1) as u32
                } else {
                    best = best.min(key(valid, turn));
                    turn
                };
                at = self.next_in(first + valid as usize, last);
            }
        }
        Some(best.1)
    }
}

/// The least weight of the blocks in each word of turns: one that has not changed since they were
/// sealed.
#[derive(Clone)]
pub struct LeastWeights {
    planes: Vec<Least>,
}

/// Those of a plane, where no block counts until its turn has been read.
#[derive(Clone)]
struct Least {
    /// Turns before this one have been read.
    read_to: u32,
    renumbered: u32,
    all: u64,
    /// Of each 64 words.
    groups: Vec<u64>,
    words: Vec<u64>,
}

impl LeastWeights {
    /// Weights of which none has been read.
    pub fn new(order: &SealOrder) -> Self {
        let words = vec![u64::MAX; order.words_per_row];
        let groups = vec![u64::MAX; order.words_per_summary];
        let least = Least { read_to: 0, renumbered: 0, all: u64::MAX, groups, words };
        LeastWeights { planes: vec![least; order.next_turns.len()] }
    }

    /// Reads the weights of blocks that were sealed since the last call.
    pub fn update(&mut self, plane: PlaneId, order: &SealOrder, weight: impl Fn(BlockId) -> u64) {
        let least = &mut self.planes[plane.index()];
        if least.renumbered != order.renumbered[plane.index()] {
            (least.read_to, least.renumbered) = (0, order.renumbered[plane.index()]);
            least.words.fill(u64::MAX);
            least.groups.fill(u64::MAX);
        }
        let block_at = &order.block_at[plane.index() * order.turns_per_plane()..];
        let next = order.next_turns[plane.index()];
        let unread = std::mem::replace(&mut least.read_to, next) as usize..next as usize;
        for (turn, &block) in unread.clone().zip(&block_at[unread]).filter(|it| *it.1 != NONE) {
            let weight = weight(BlockId(block));
            let (word, group) = (&mut least.words[turn / WORD], &mut least.groups[turn / GROUP]);
            (*word, *group) = (weight.min(*word), weight.min(*group));
        }
        least.all = least.groups.iter().copied().min().unwrap_or(u64::MAX);
    }

    /// Bytes of its tables.
    pub fn table_bytes(&self) -> u64 {
        let tables = self.planes.iter().map(|own| bytes_of(&own.groups) + bytes_of(&own.words));
        bytes_of(&self.planes) + tables.sum::<u64>()
    }
}
