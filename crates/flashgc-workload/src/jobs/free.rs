//! The blocks that a pass has not visited yet, found in the order of their numbers.

const BITS: u64 = 64;

/// A set of visited blocks. A word of each level has a bit for each full word of the one below.
pub struct Free {
    blocks: u64,
    levels: Vec<Vec<u64>>,
}

impl Free {
    /// All of this number of blocks are free.
    pub fn new(blocks: u64) -> Self {
        let mut levels = Vec::new();
        let mut bits = blocks;
        loop {
            let words = bits.div_ceil(BITS);
            levels.push(vec![0u64; words as usize]);
            if words <= 1 {
                return Free { blocks, levels };
            }
            bits = words;
        }
    }

    /// All blocks are free again.
    pub fn clear(&mut self) {
        self.levels.iter_mut().for_each(|words| words.fill(0));
    }

    fn is_visited(&self, block: u64) -> bool {
        self.levels[0][(block / BITS) as usize] >> (block % BITS) & 1 == 1
    }

    /// This block, or the next free one, with the first behind the last.
    pub fn next(&self, block: u64) -> Option<u64> {
        self.from(block).or_else(|| self.from(0))
    }

    /// The first free block from this one on.
    fn from(&self, block: u64) -> Option<u64> {
        // Upwards until a word has a zero from there on, then downwards to it.
        let mut at = block;
        for (level, words) in self.levels.iter().enumerate() {
            if let Some(&word) = words.get((at / BITS) as usize) {
                let free = !word & (u64::MAX << (at % BITS));
                if free != 0 {
                    let found = at / BITS * BITS + u64::from(free.trailing_zeros());
                    return self.below(level, found);
                }
            }
            at = at / BITS + 1;
        }
        None
    }

    /// The first free block below this bit of a level.
    fn below(&self, level: usize, bit: u64) -> Option<u64> {
        let mut found = bit;
        for words in self.levels[..level].iter().rev() {
            let word = *words.get(found as usize)?;
            found = found * BITS + u64::from((!word).trailing_zeros());
        }
        (found < self.blocks).then_some(found)
    }

    /// Visits up to this number of blocks from a free one on, and returns the number of free ones.
    pub fn visit(&mut self, block: u64, most: u64) -> u64 {
        let end = block.saturating_add(most).min(self.blocks);
        let mut at = block;
        while at < end && !self.is_visited(at) {
            self.mark(at);
            at += 1;
        }
        at - block
    }

    fn mark(&mut self, block: u64) {
        let mut at = block;
        for words in &mut self.levels {
            let word = &mut words[(at / BITS) as usize];
            *word |= 1 << (at % BITS);
            if *word != u64::MAX {
                return;
            }
            at /= BITS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashgc_model::rng::Random;

    /// Against a list that is searched block by block.
    #[test]
    fn the_next_free_block_is_that_of_a_search() {
        let mut random = Random::named(1, "free");
        for blocks in [1u64, 2, 63, 64, 65, 128, 1000, 4096, 4097, 70_000] {
            let (mut free, mut visited) = (Free::new(blocks), vec![false; blocks as usize]);
            for _ in 0..2 {
                let mut left = blocks;
                while left > 0 {
                    let drawn = random.below(blocks);
                    let order = (drawn..blocks).chain(0..drawn);
                    let found = if blocks < 5000 || left + 50 > blocks {
                        order.into_iter().find(|&at| !visited[at as usize])
                    } else {
                        free.next(drawn)
                    };
                    assert_eq!(free.next(drawn), found, "{blocks}");
                    let first = found.expect("one is left");
                    assert!(!visited[first as usize], "{blocks}");
                    let count = free.visit(first, 1 + random.below(4));
                    for at in first..first + count {
                        assert!(!std::mem::replace(&mut visited[at as usize], true));
                    }
                    left -= count;
                }
                assert_eq!(free.next(0), None);
                free.clear();
                visited.fill(false);
            }
        }
    }
}
