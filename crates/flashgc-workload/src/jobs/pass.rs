//! Random passes: every block once, in random order, then again in another order.

use crate::permutation::Permutation;
use flashgc_model::rng::Random;

/// Draws the blocks of one pass after the other, the order of each as a whole.
pub struct Orders {
    order: Permutation,
    /// Blocks of this pass that were drawn.
    drawn: u64,
}

impl Orders {
    /// Over this number of blocks, at least one and below 2^62.
    pub fn new(blocks: u64, random: &mut Random) -> Self {
        Orders { order: Permutation::draw(blocks, random), drawn: 0 }
    }

    /// The next block.
    pub fn next(&mut self, random: &mut Random) -> u64 {
        if self.drawn == self.order.count() {
            *self = Orders::new(self.drawn, random);
        }
        self.drawn += 1;
        self.order.of(self.drawn - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_visits_every_block_once() {
        for blocks in [1u64, 2, 3, 7, 64, 65, 1000, 4096, 5000] {
            let mut random = Random::named(1, "pass");
            let mut passes = Orders::new(blocks, &mut random);
            let mut orders = Vec::new();
            for _ in 0..3 {
                let order: Vec<u64> = (0..blocks).map(|_| passes.next(&mut random)).collect();
                let mut sorted = order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, (0..blocks).collect::<Vec<_>>(), "{blocks} blocks");
                orders.push(order);
            }
            if blocks >= 64 {
                assert_ne!(orders[0], orders[1]);
                assert_ne!(orders[1], orders[2]);
            }
        }
    }

    /// The position of each block in a pass is uniform, and successive blocks are not neighbours
    /// more often than by chance: chi-squared over tenths of the pass and of the blocks.
    #[test]
    fn the_order_of_a_pass_is_random() {
        let (blocks, passes_drawn) = (1000u64, 200);
        let mut random = Random::named(2, "pass");
        let mut passes = Orders::new(blocks, &mut random);
        let mut counts = [[0u32; 10]; 10];
        let (mut neighbours, mut last) = (0u32, 0);
        for _ in 0..passes_drawn {
            for at in 0..blocks {
                let block = passes.next(&mut random);
                counts[(at / 100) as usize][(block / 100) as usize] += 1;
                neighbours += u32::from(block == last + 1);
                last = block;
            }
        }
        let due = f64::from(passes_drawn) * 10.0;
        let square = |&found: &u32| (f64::from(found) - due) * (f64::from(found) - due) / due;
        let sum: f64 = counts.iter().flatten().map(square).sum();
        assert!(sum < 81.0 + 5.0 * 12.8, "{sum}");
        assert!((100..320).contains(&neighbours), "{neighbours}");
    }
}
