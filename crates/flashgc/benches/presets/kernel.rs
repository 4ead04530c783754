//! A bare event kernel: what a simulator of a drive of this size cannot do without.
//!
//! Each operation is three events of one of 32 units (a transfer, a program and the next arrival),
//! taken from a binary heap, and the random accesses of a write: the map's entry is replaced, the
//! reverse entry of the new page is written, and a valid bit and the count of its block change for
//! the page before and for the new one. It has no queues, no policies, no latencies and no checks.

use flashgc::rng::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Instant;

const UNITS: u64 = 32;
const PAGES_PER_BLOCK: usize = 64;

/// The time of an operation on a drive of this many pages, in ns.
pub fn ns_per_operation(pages: usize, operations: u64) -> f64 {
    let mut to_page: Vec<u32> = (0..pages as u32).collect();
    let mut to_logical: Vec<u32> = (0..pages as u32).collect();
    let mut valid = vec![u64::MAX; pages / PAGES_PER_BLOCK];
    let mut counts = vec![PAGES_PER_BLOCK as u32; pages / PAGES_PER_BLOCK];
    let mut random = Random::named(1, "kernel");
    let mut events: BinaryHeap<Reverse<(u64, u64)>> = (0..UNITS).map(|u| Reverse((u, u))).collect();
    let mut next_page = 0;
    let begun = Instant::now();
    for at in 0..3 * operations {
        let Some(Reverse((now_ns, unit))) = events.pop() else { break };
        events.push(Reverse((now_ns + 1_000 + random.below(200_000), unit)));
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
    let ns = begun.elapsed().as_nanos() as f64;
    std::hint::black_box((to_logical, counts));
    ns / operations as f64
}
