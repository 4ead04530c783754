//! The hotness identifier: how often each logical page was updated recently, in little memory.
//!
//! Several hash functions name one counter each, in rows of their own; an update raises all of
//! them, and the smallest is the page's *degree* (paper speedup-gc, section III-B, after Hsieh, Kuo
//! and Chang 2006). After a fixed number of updates all counters are halved. The paper names
//! neither the size of the rows nor the decay nor the thresholds; with the defaults
//! (docs/schemes/speedup.md#the-sizes-of-the-counters) the memory agrees with the paper's.

use crate::ids::Lpn;
use crate::memory::{bytes_of, zeros};
use serde::Serialize;

/// Settings of the identifier.
#[derive(Clone, Debug, Serialize)]
pub struct HotnessSettings {
    /// Hash functions, each with a row of counters.
    pub hash_functions: u32,
    /// Counters of a row: a power of two.
    pub counters: u32,
    /// Number of updates after which all counters are halved.
    pub decay: u32,
    /// Whether an update raises only the smallest of its counters.
    pub conservative: bool,
    /// The degree from which on a page belongs to each hotness group, lowest first.
    pub thresholds: Vec<u8>,
}

/// The counters.
#[derive(Clone)]
pub struct Hotness {
    settings: HotnessSettings,
    counters: Vec<u8>,
    /// Updates until the next decay.
    until_decay: u32,
    /// Updates that were counted.
    pub updates: u64,
    /// Updates among them of hot pages.
    pub hot_updates: u64,
    /// Times that all counters were halved.
    pub decays: u64,
}

impl Hotness {
    /// No page was ever updated.
    pub fn new(settings: &HotnessSettings) -> Self {
        let counters = settings.hash_functions as usize * settings.counters as usize;
        Hotness {
            counters: zeros(counters),
            until_decay: settings.decay,
            updates: 0,
            hot_updates: 0,
            decays: 0,
            settings: settings.clone(),
        }
    }

    /// Where the counters of a page lie, one for each hash function.
    ///
    /// The functions are parts of the output of one mixing function for different seeds: four of 16
    /// bits each, or two of 32.
    #[inline(always)]
    fn each_place(settings: &HotnessSettings, lpn: Lpn, mut observe: impl FnMut(usize)) {
        let HotnessSettings { counters, hash_functions, .. } = *settings;
        let bits = if counters <= 1 << 16 { 16 } else { 32 };
        let (mut row, mut function) = (0, 0);
        while function < hash_functions {
            let mut hash = splitmix64(u64::from(lpn.0) ^ SEEDS[function as usize]);
            for _ in function..hash_functions.min(function + 64 / bits) {
                observe(row + (hash as u32 & (counters - 1)) as usize);
                hash >>= bits;
                row += counters as usize;
            }
            function += 64 / bits;
        }
    }

    /// The degree of a page: the smallest of its counters.
    pub fn degree(&self, lpn: Lpn) -> u8 {
        let mut degree = u8::MAX;
        Self::each_place(&self.settings, lpn, |at| degree = degree.min(self.counters[at]));
        degree
    }

    /// A page is updated: its counters rise. Returns its hotness group.
    pub fn update(&mut self, lpn: Lpn) -> usize {
        let degree = if self.settings.conservative {
            self.raise_least(lpn)
        } else {
            let mut degree = u8::MAX;
            Self::each_place(&self.settings, lpn, |at| {
                let counter = self.counters[at].saturating_add(1);
                self.counters[at] = counter;
                degree = degree.min(counter);
            });
            degree
        };
        self.updates += 1;
        self.until_decay -= 1;
        if self.until_decay == 0 {
            self.decay();
        }
        let group = self.group_of_degree(degree);
        self.hot_updates += u64::from(group > 0);
        group
    }

    /// Raises only the counters that are the smallest.
    fn raise_least(&mut self, lpn: Lpn) -> u8 {
        let degree = self.degree(lpn);
        Self::each_place(&self.settings, lpn, |at| {
            if self.counters[at] == degree {
                self.counters[at] = degree.saturating_add(1);
            }
        });
        degree.saturating_add(1)
    }

    #[cold]
    fn decay(&mut self) {
        self.counters.iter_mut().for_each(|counter| *counter /= 2);
        self.until_decay = self.settings.decay;
        self.decays += 1;
    }

    /// The hotness group of a degree: 0 for a cold page, then 1 and up.
    pub fn group_of_degree(&self, degree: u8) -> usize {
        self.settings.thresholds.iter().take_while(|&&threshold| threshold <= degree).count()
    }

    /// The hotness group of a page.
    pub fn group(&self, lpn: Lpn) -> usize {
        self.group_of_degree(self.degree(lpn))
    }

    /// Appends the state to save to these numbers: four counters in each.
    pub fn keep(&self, numbers: &mut Vec<u32>) {
        numbers.push(self.until_decay);
        let packed = self.counters.chunks(4).map(|four| {
            let mut bytes = [0; 4];
            bytes[..four.len()].copy_from_slice(four);
            u32::from_le_bytes(bytes)
        });
        numbers.extend(packed);
    }

    /// Takes the saved counters from the front of these numbers; `None` where they do not fit.
    pub fn take_kept(&mut self, numbers: &mut std::slice::Iter<'_, u32>) -> Option<()> {
        let until = *numbers.next()?;
        self.until_decay = (1..=self.settings.decay).contains(&until).then_some(until)?;
        for four in self.counters.chunks_mut(4) {
            let bytes = numbers.next()?.to_le_bytes();
            four.copy_from_slice(&bytes[..four.len()]);
        }
        Some(())
    }

    /// Counting for the report begins.
    pub fn start_counting(&mut self) {
        (self.updates, self.hot_updates, self.decays) = (0, 0, 0);
    }

    /// Bytes of the counters.
    pub fn bytes(&self) -> u64 {
        bytes_of(&self.counters)
    }
}

/// Hash functions, at most.
pub const HASH_FUNCTIONS_MAX: u32 = 16;

/// A seed for each hash function: the SplitMix64 sequence from 1.
const SEEDS: [u64; HASH_FUNCTIONS_MAX as usize] = seeds();

const fn seeds() -> [u64; HASH_FUNCTIONS_MAX as usize] {
    let mut seeds = [0; HASH_FUNCTIONS_MAX as usize];
    let mut at = 0;
    while at < seeds.len() {
        seeds[at] = splitmix64(at as u64 + 1);
        at += 1;
    }
    seeds
}

/// The output function of Steele, Lea and Flood's generator, which spreads any number.
#[inline(always)]
const fn splitmix64(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> HotnessSettings {
        HotnessSettings {
            hash_functions: 7,
            counters: 1 << 16,
            decay: 81_920,
            conservative: false,
            thresholds: vec![2, 4, 8, 16, 32, 64, 128],
        }
    }

    /// Paper speedup-gc, Fig. 6: four hash functions, and the smallest counter is five.
    #[test]
    fn a_page_of_degree_five_is_in_the_second_group() {
        let mut hotness = Hotness::new(&HotnessSettings { hash_functions: 4, ..settings() });
        for _ in 0..4 {
            hotness.update(Lpn(77));
        }
        // Other pages share some of its counters and never all.
        let mut places = Vec::new();
        Hotness::each_place(&hotness.settings, Lpn(77), |at| places.push(at));
        for (&place, more) in places.iter().take(3).zip([3, 6, 9]) {
            hotness.counters[place] += more;
        }
        assert_eq!(hotness.update(Lpn(77)), 2);
        assert_eq!(hotness.degree(Lpn(77)), 5);
    }

    #[test]
    fn groups_begin_at_their_thresholds() {
        let hotness = Hotness::new(&settings());
        let groups: Vec<usize> =
            [0, 1, 2, 3, 4, 7, 8, 127, 128, 255].map(|d| hotness.group_of_degree(d)).to_vec();
        assert_eq!(groups, [0, 0, 1, 1, 2, 2, 3, 6, 7, 7]);
    }

    #[test]
    fn counters_saturate_and_decay_by_half() {
        let mut hotness = Hotness::new(&HotnessSettings { decay: 300, ..settings() });
        (0..299).for_each(|_| {
            hotness.update(Lpn(1));
        });
        assert_eq!(hotness.degree(Lpn(1)), 255);
        hotness.update(Lpn(1));
        assert_eq!((hotness.degree(Lpn(1)), hotness.decays), (127, 1));
        assert_eq!(hotness.bytes(), 458_752);
    }

    /// The degree of a page is never too small, and seldom too large.
    #[test]
    fn degrees_are_the_counts_but_for_rare_collisions() {
        for conservative in [false, true] {
            let settings = HotnessSettings { decay: u32::MAX, conservative, ..settings() };
            let mut hotness = Hotness::new(&settings);
            for round in 1..=5u8 {
                for lpn in 0..10_000 {
                    hotness.update(Lpn(lpn * 7919));
                }
                let degrees = (0..10_000).map(|lpn| hotness.degree(Lpn(lpn * 7919)));
                let too_high = degrees.filter(|&degree| degree != round).count();
                assert!(too_high < 20, "{too_high} of 10,000");
            }
        }
    }
}
