//! A bare event kernel: the minimum work of a simulator for a drive of this size.
//!
//! Each operation is three events of one of 32 units (a transfer, a program and the next arrival),
//! from a winner tree, and the random accesses of a write: the map's entry is replaced, the reverse
//! entry of the new page is written, and a valid bit and the count of its block change for the page
//! before and for the new one. It has no queues, no policies, no latencies, no checks and no
//! prefetches. A collection of the engine can be one event for many copies, each of which is a page
//! operation, so that a ratio can be below one.

use crate::clock;
use flashgc::rng::Random;

const UNITS: usize = 32;
const PAGES_PER_BLOCK: usize = 64;

/// The next event of each unit: node `i` holds the earlier of nodes `2i` and `2i + 1`.
struct Events {
    tree: [u64; 2 * UNITS],
}

impl Events {
    fn new() -> Self {
        let mut events = Events { tree: [u64::MAX; 2 * UNITS] };
        (0..UNITS).for_each(|unit| events.put(unit as u64));
        events
    }

    /// A time in ns, above the number of its unit in the lowest bits.
    fn put(&mut self, key: u64) {
        let mut node = UNITS + key as usize % UNITS;
        self.tree[node] = key;
        while node > 1 {
            self.tree[node / 2] = self.tree[node].min(self.tree[node ^ 1]);
            node /= 2;
        }
    }

    /// Posts the next event of the first event's unit, `later_ns` after it.
    fn replace_first(&mut self, later_ns: u64) {
        self.put(self.tree[1] + later_ns * UNITS as u64);
    }
}

/// The time of an operation on a drive of this many pages, in ns.
pub fn ns_per_operation(pages: usize, operations: u64) -> f64 {
    let mut to_page: Vec<u32> = (0..pages as u32).collect();
    let mut to_logical: Vec<u32> = (0..pages as u32).collect();
    let mut valid = vec![u64::MAX; pages / PAGES_PER_BLOCK];
    let mut counts = vec![PAGES_PER_BLOCK as u32; pages / PAGES_PER_BLOCK];
    let mut random = Random::named(1, "kernel");
    let mut events = Events::new();
    let mut next_page = 0;
    let begun = clock::now();
    for at in 0..3 * operations {
        events.replace_first(1_000 + random.below(200_000));
        if at % 3 > 0 {
            continue;
        }
        let logical = random.below(pages as u64) as usize;
        let before = std::mem::replace(&mut to_page[logical], next_page as u32) as usize;
        to_logical[next_page] = logical as u32;
        let (block, bit) = (before / PAGES_PER_BLOCK, before % PAGES_PER_BLOCK);
        counts[block] -= (valid[block] >> bit & 1) as u32;
        valid[block] &= !(1 << bit);
        let (block, bit) = (next_page / PAGES_PER_BLOCK, next_page % PAGES_PER_BLOCK);
        counts[block] += (!valid[block] >> bit & 1) as u32;
        valid[block] |= 1 << bit;
        next_page = (next_page + 1) % pages;
    }
    let ns = (clock::now() - begun).as_nanos() as f64;
    std::hint::black_box((to_logical, counts));
    ns / operations as f64
}
